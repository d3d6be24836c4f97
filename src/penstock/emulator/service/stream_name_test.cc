#include "penstock/emulator/service/stream_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/emulator/service/connection_cut.h"
#include "penstock/emulator/service/listening_port.h"

namespace penstock::emulator {
namespace {

using ::testing::HasSubstr;

TEST(StreamName, ReadsBothFormsOfTheDefaultStream) {
  for (const char* text : {"projects/p/datasets/d/tables/t/streams/_default",
                           "projects/p/datasets/d/tables/t/_default"}) {
    const auto name = StreamName::parse(text);
    ASSERT_TRUE(name.ok()) << name.status();
    EXPECT_TRUE(name->isDefault());
    EXPECT_EQ(name->table, (TableReference{"p", "d", "t"}));
    EXPECT_EQ(name->text(), "projects/p/datasets/d/tables/t/streams/_default");
  }
  const auto created = StreamName::parse("projects/a.com:p/datasets/d/tables/t/streams/Cic");
  ASSERT_TRUE(created.ok());
  EXPECT_FALSE(created->isDefault());
  EXPECT_EQ(created->table.project, "a.com:p");
}

TEST(StreamName, RefusesOtherNamesAndShowsThem) {
  for (const std::string text :
       {"", "p.d.t", "projects/p/datasets/d/tables/t", "projects/p/datasets/d/tables/t/streams",
        "projects/p/datasets/d/tables/t/streams/", "projects/p/datasets/d/tables/t/other",
        "projects/p/datasets/d/tables//streams/_default", "projects//datasets/d/tables/t/_default",
        "projects/p/datasets/d/tables/t/streams/s/more",
        "tables/p/datasets/d/projects/t/_default"}) {
    const auto name = StreamName::parse(text);
    EXPECT_EQ(name.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(name.status().message()), HasSubstr("\"" + text + "\""));
  }
}

TEST(PeerPort, IsReadFromTheAddressesThatGrpcWrites) {
  EXPECT_EQ(portOfPeer("ipv4:127.0.0.1:4711"), 4711);
  EXPECT_EQ(portOfPeer("ipv6:%5B::1%5D:80"), 80);
  EXPECT_EQ(portOfPeer("unix:"), -1);
  EXPECT_EQ(portOfPeer(""), -1);
}

TEST(HostAndPort, PutsAnIpv6AddressInBrackets) {
  EXPECT_EQ(hostAndPort("127.0.0.1", 9060), "127.0.0.1:9060");
  EXPECT_EQ(hostAndPort("::1", 9060), "[::1]:9060");
  EXPECT_EQ(hostAndPort("[::1]", 9060), "[::1]:9060");
}

}  // namespace
}  // namespace penstock::emulator
