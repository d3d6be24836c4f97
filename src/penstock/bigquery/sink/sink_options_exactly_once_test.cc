#include <gmock/gmock.h>

#include "penstock/bigquery/sink/sink_options.h"
#include "penstock/bigquery/sink/testing/rows_and_columns.h"

namespace penstock::bigquery {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

SinkOptions exactlyOnce() {
  SinkOptions options;
  options.writeMethod = WriteMethod::kStorageApiExactlyOnce;
  options.bufferedStreamOptions.emplace();
  return options;
}

// Section 2.1: each group of stream options goes with its method only.
TEST(ExactlyOnceOptions, GoWithTheirMethodOnly) {
  EXPECT_TRUE(validate(exactlyOnce()).ok());
  SinkOptions options = exactlyOnce();
  options.bufferedStreamOptions.reset();
  EXPECT_THAT(errorText(validate(options)), HasSubstr("bufferedStreamOptions is required"));
  options = exactlyOnce();
  options.writeMethod = WriteMethod::kStorageApiAtLeastOnce;
  EXPECT_THAT(errorText(validate(options)), HasSubstr("bufferedStreamOptions applies only"));
  options = exactlyOnce();
  options.defaultStreamOptions.recoveryMaxAttempts = 3;
  EXPECT_THAT(errorText(validate(options)), HasSubstr("defaultStreamOptions does not apply"));
}

// Section 2.2: the same bounds as those of the default stream.
TEST(ExactlyOnceOptions, HaveTheBoundsOfTheDefaultStream) {
  SinkOptions options = exactlyOnce();
  options.bufferedStreamOptions->maxAppendRequestBytes = 0;
  EXPECT_THAT(errorText(validate(options)), HasSubstr("maxAppendRequestBytes must be > 0: '0 B'"));
  options = exactlyOnce();
  options.bufferedStreamOptions->recoveryMaxBackoff = std::chrono::milliseconds(1);
  EXPECT_THAT(errorText(validate(options)),
              AllOf(HasSubstr("recoveryMaxBackoff"), HasSubstr("recoveryInitialBackoff")));
}

TEST(ExactlyOnceOptions, ComeFromTheSameKeys) {
  const auto options = parseSinkOptions({{"sink.write-method", "STORAGE_API_EXACTLY_ONCE"},
                                         {"sink.max-append-request-bytes", "1 KiB"},
                                         {"sink.destination-idle-timeout", "5 s"}});
  ASSERT_TRUE(options.ok()) << base::describe(options.status());
  BufferedStreamOptions expected;
  expected.maxAppendRequestBytes = 1024;
  expected.destinationIdleTimeout = seconds(5);
  EXPECT_EQ(options->bufferedStreamOptions, expected);
  EXPECT_EQ(options->defaultStreamOptions, DefaultStreamOptions());
}

TEST(ExactlyOnceOptions, KeysOfTheDefaultStreamAloneAreNamed) {
  const std::pair<const char*, const char*> keys[] = {
      {"sink.max-inflight-requests", "5"},      {"sink.max-inflight-bytes", "5 MiB"},
      {"sink.min-connections-per-region", "1"}, {"sink.max-connections-per-region", "5"},
      {"sink.per-destination-metrics", "true"}, {"sink.flush-interval", "1 s"}};
  for (const auto& [key, value] : keys) {
    const auto options = parseSinkOptions({{"sink.write-method", "exactly-once"}, {key, value}});
    EXPECT_THAT(errorText(options.status()), HasSubstr(std::string(key) + " does not apply"));
  }
}

// Section 2.2: what the writer goes by, with the fixed limits of its connections.
TEST(ExactlyOnceOptions, AreWhatTheWriterGoesBy) {
  SinkOptions options = exactlyOnce();
  options.bufferedStreamOptions->recoveryMaxAttempts = 3;
  const DefaultStreamOptions effective = exactlyOnceOptions(options).defaultStreamOptions;
  EXPECT_EQ(effective.recoveryMaxAttempts, 3);
  EXPECT_EQ(effective.maxInflightRequests, 1000);
  EXPECT_EQ(effective.maxInflightBytes, int64_t{100} << 20);
}

}  // namespace
}  // namespace penstock::bigquery
