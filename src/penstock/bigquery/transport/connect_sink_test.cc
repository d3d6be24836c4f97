#include <gtest/gtest.h>

#include <fstream>

#include "penstock/bigquery/sink/sink_connections.h"
#include "penstock/gcp/testing/temporary_file.h"

namespace penstock::bigquery {
namespace {

SinkOptions emulatorAt(uint16_t port) {
  SinkOptions options;
  options.emulatorEndpoint = base::Endpoint{"127.0.0.1", port};
  options.emulatorRestEndpoint = base::Endpoint{"127.0.0.1", port};
  return options;
}

// BQW-058
TEST(ConnectSink, SinksOfOneEndpointShareTheirConnections) {
  const auto first = connectSink(emulatorAt(1));
  ASSERT_TRUE(first.ok()) << base::describe(first.status());
  SinkOptions options = emulatorAt(1);
  options.defaultStreamOptions.maxInflightRequests = 5;  // does not make it another place
  const auto second = connectSink(options);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(first->pool, second->pool);
  EXPECT_EQ(first->admin, second->admin);
  EXPECT_TRUE(second->emulator);
  const auto elsewhere = connectSink(emulatorAt(2));
  ASSERT_TRUE(elsewhere.ok());
  EXPECT_NE(first->pool, elsewhere->pool);
}

// BQW-058, BASE-008: files are read again for each sink; another content is another identity.
TEST(ConnectSink, AReplacedFileIsAnotherIdentity) {
  const gcp::testing::TemporaryFile file("-----BEGIN CERTIFICATE-----\none");
  SinkOptions options = emulatorAt(1);
  options.caFile = file.path();
  const auto first = connectSink(options);
  ASSERT_TRUE(first.ok()) << base::describe(first.status());
  EXPECT_EQ(first->pool, connectSink(options)->pool);
  std::ofstream(file.path(), std::ios::binary) << "-----BEGIN CERTIFICATE-----\ntwo";
  const auto second = connectSink(options);
  ASSERT_TRUE(second.ok());
  EXPECT_NE(first->pool, second->pool);
}

// BQW-058: nothing is kept for its own sake.
TEST(ConnectSink, ConnectionsEndWithTheLastSink) {
  std::weak_ptr<AppendPool> pool;
  std::weak_ptr<TableAdmin> admin;
  {
    auto first = connectSink(emulatorAt(3));
    ASSERT_TRUE(first.ok());
    const auto second = connectSink(emulatorAt(3));
    pool = first->pool;
    admin = first->admin;
    first = absl::CancelledError("the first sink has closed");
    EXPECT_FALSE(pool.expired());
  }
  EXPECT_TRUE(pool.expired());
  EXPECT_TRUE(admin.expired());
  EXPECT_TRUE(connectSink(emulatorAt(3)).ok()) << "made anew";
}

// BASE-009
TEST(ConnectSink, AnUnreadableKeyFileIsAnErrorEachTime) {
  SinkOptions options;
  options.serviceAccountKeyFile = "/no/such/file";
  for (int sink = 0; sink < 2; ++sink) {
    const auto connections = connectSink(options);
    EXPECT_FALSE(connections.ok());
    EXPECT_EQ(std::string(base::messageOf(connections.status())).find("/no/such/file"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace penstock::bigquery
