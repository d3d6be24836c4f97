#include "penstock/bigquery/sink/sink_options.h"

#include <gmock/gmock.h>

namespace penstock::bigquery {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const std::map<std::string, std::string>& values) {
  const auto options = parseSinkOptions(values);
  return options.ok() ? "accepted" : std::string(base::messageOf(options.status()));
}

TEST(SinkOptions, HaveTheDefaultsOfTheSpecification) {
  const SinkOptions options;
  EXPECT_EQ(options.createDisposition, CreateDisposition::kCreateIfNeeded);
  const DefaultStreamOptions& stream = options.defaultStreamOptions;
  EXPECT_EQ(stream.maxAppendRequestBytes, 512 * 1024);
  EXPECT_EQ(stream.recoveryInitialBackoff, 500ms);
  EXPECT_EQ(stream.recoveryMaxBackoff, 10s);
  EXPECT_EQ(stream.recoveryMaxAttempts, 10);
  EXPECT_EQ(stream.retryInitialDelay, 500ms);
  EXPECT_EQ(stream.retryDelayMultiplier, 2.0);
  EXPECT_EQ(stream.retryMaxDelay, 30s);
  EXPECT_EQ(stream.retryMaxAttempts, 5);
  EXPECT_EQ(stream.maxRetryDuration, 5min);
  EXPECT_EQ(stream.maxInflightRequests, 100);
  EXPECT_EQ(stream.maxInflightBytes, 100 * 1024 * 1024);
  EXPECT_FALSE(stream.perDestinationMetrics);
  EXPECT_FALSE(stream.flushInterval.has_value());
  EXPECT_EQ(stream.destinationIdleTimeout, 1h);
  EXPECT_EQ(options.defaultMissingValueInterpretation, MissingValueInterpretation::kUnset);
  EXPECT_TRUE(validate(options).ok());
  EXPECT_EQ(parseSinkOptions({})->defaultStreamOptions, stream);
}

TEST(SinkOptions, ParseFromAMap) {
  const auto options =
      parseSinkOptions({{"sink.create-disposition", "create-never"},
                        {"sink.location", "EU"},
                        {"sink.emulator-endpoint", "localhost:9060"},
                        {"sink.emulator-rest-endpoint", "[::1]:9050"},
                        {"sink.max-append-request-bytes", "1 MiB"},
                        {"sink.max-retry-duration", "0"},
                        {"sink.time-partitioning-type", "day"},
                        {"sink.time-partitioning-field", "ts"},
                        {"sink.time-partitioning-expiration", "90 d"},
                        {"sink.clustered-fields", "a,b"},
                        {"sink.flush-interval", "2 s"},
                        {"sink.destination-idle-timeout", "5 min"},
                        {"sink.default-missing-value-interpretation", "default-value"},
                        {"sink.missing-value-interpretations", "a=NULL_VALUE"},
                        {"sink.per-destination-metrics", "true"}});
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_EQ(options->createDisposition, CreateDisposition::kCreateNever);
  EXPECT_EQ(options->location, "EU");
  EXPECT_EQ(options->emulatorEndpoint->text(), "localhost:9060");
  EXPECT_EQ(options->emulatorRestEndpoint->text(), "[::1]:9050");
  EXPECT_EQ(options->defaultStreamOptions.maxAppendRequestBytes, 1 << 20);
  EXPECT_EQ(options->defaultStreamOptions.maxRetryDuration, 0s);
  EXPECT_EQ(options->tableCreateOptions.timePartitioningType, "DAY");
  EXPECT_EQ(options->tableCreateOptions.timePartitioningExpiration, 24h * 90);
  EXPECT_THAT(options->tableCreateOptions.clusteredFields, ::testing::ElementsAre("a", "b"));
  EXPECT_TRUE(options->defaultStreamOptions.perDestinationMetrics);
  EXPECT_EQ(options->defaultStreamOptions.flushInterval, 2s);
  EXPECT_EQ(options->defaultStreamOptions.destinationIdleTimeout, 5min);
  EXPECT_EQ(options->defaultMissingValueInterpretation, MissingValueInterpretation::kDefaultValue);
  EXPECT_THAT(options->missingValueInterpretations, ::testing::ElementsAre("a=NULL_VALUE"));
}

TEST(SinkOptions, EachIllegalValueIsRefusedNamingItsOption) {  // Sink scenario 1
  const std::pair<const char*, const char*> bad[] = {
      {"sink.write-method", "INSERT_ALL"},
      {"sink.create-disposition", "CREATE_SOMETIMES"},
      {"sink.location", " "},
      {"sink.service-account-key-file", ""},
      {"sink.emulator-endpoint", "localhost"},
      {"sink.emulator-rest-endpoint", "http ://x:1"},
      {"sink.max-append-request-bytes", "0"},
      {"sink.recovery-initial-backoff", "0"},
      {"sink.recovery-max-backoff", "999 us"},
      {"sink.recovery-max-attempts", "0"},
      {"sink.retry-initial-delay", "1 us"},
      {"sink.retry-delay-multiplier", "0.5"},
      {"sink.retry-max-delay", "1 us"},
      {"sink.retry-max-attempts", "-1"},
      {"sink.max-retry-duration", "0.5 ms"},
      {"sink.max-inflight-requests", "0"},
      {"sink.max-inflight-bytes", "-5"},
      {"sink.min-connections-per-region", "0"},
      {"sink.max-connections-per-region", "-1"},
      {"sink.max-buffered-bytes", "0"},  // BQW-033
      {"sink.time-partitioning-type", "WEEK"},
      {"sink.clustered-fields", "a, ,b"},
      {"sink.flush-interval", "0"},
      {"sink.flush-interval", "0.9 ms"},
      {"sink.destination-idle-timeout", "0"},
      {"sink.default-missing-value-interpretation", "ZERO"},
      {"sink.missing-value-interpretations", "a"},
      {"sink.missing-value-interpretations", "=NULL_VALUE"},
      {"sink.missing-value-interpretations", "a=NULL"},
  };
  for (const auto& [key, text] : bad) {
    EXPECT_THAT(refusal({{key, text}}), AllOf(HasSubstr(key), HasSubstr(text)));
  }
}

TEST(SinkOptions, KeyFileAndEmulatorExcludeEachOther) {  // BASE-002, BASE-008 scenario 3
  SinkOptions keyFirst;
  keyFirst.serviceAccountKeyFile = "key.json";
  keyFirst.emulatorEndpoint = base::Endpoint{"h", 1};
  EXPECT_THAT(std::string(base::messageOf(validate(keyFirst))),
              AllOf(HasSubstr("serviceAccountKeyFile"), HasSubstr("emulatorEndpoint"),
                    testing::Not(HasSubstr("key.json"))));  // BASE-009
  SinkOptions restOnly;
  restOnly.emulatorRestEndpoint = base::Endpoint{"h", 1};
  restOnly.serviceAccountKeyFile = "key.json";
  EXPECT_THAT(std::string(base::messageOf(validate(restOnly))),
              AllOf(HasSubstr("serviceAccountKeyFile"), HasSubstr("emulatorRestEndpoint")));
}

TEST(SinkOptions, AnEmulatorIsNotAPrivateEndpointOfTheService) {  // BASE-046
  EXPECT_THAT(refusal({{"sink.emulator-endpoint", "h:1"}, {"sink.service-rest-endpoint", "i:2"}}),
              AllOf(HasSubstr("sink.service-rest-endpoint"), HasSubstr("sink.emulator-endpoint")));
}

TEST(SinkOptions, MaximaAreNotBelowTheirInitialValues) {
  EXPECT_THAT(
      refusal({{"sink.recovery-max-backoff", "1 ms"}}),
      AllOf(HasSubstr("sink.recovery-max-backoff"), HasSubstr("sink.recovery-initial-backoff"),
            HasSubstr("'1 ms'"), HasSubstr("'500 ms'")));
  EXPECT_THAT(refusal({{"sink.retry-max-delay", "1 ms"}}),
              AllOf(HasSubstr("sink.retry-max-delay"), HasSubstr("sink.retry-initial-delay")));
  EXPECT_THAT(
      refusal({{"sink.max-connections-per-region", "1"}}),
      AllOf(HasSubstr("sink.max-connections-per-region"),
            HasSubstr("sink.min-connections-per-region"), HasSubstr("'1'"), HasSubstr("'2'")));
  EXPECT_EQ(refusal({{"sink.retry-max-delay", "0"}}), "accepted") << "0 clamps every delay to none";
}

TEST(SinkOptions, ANameMayBeGivenOneMissingValueOnly) {  // BQW-194
  EXPECT_THAT(refusal({{"sink.missing-value-interpretations", "a=NULL_VALUE,a=DEFAULT_VALUE"}}),
              AllOf(HasSubstr("sink.missing-value-interpretations"), HasSubstr("twice")));
}

TEST(SinkOptions, ALifetimeAndMoreIsRefusedWithItsBound) {  // BASE-003, scenario 6
  EXPECT_THAT(refusal({{"sink.destination-idle-timeout", "300000 d"}}), HasSubstr("292 years"));
  EXPECT_EQ(refusal({{"sink.destination-idle-timeout", "9223372036854775807 ns"}}), "accepted");
}

TEST(SinkOptions, CreationOptionsNeedEachOther) {
  EXPECT_THAT(
      refusal({{"sink.time-partitioning-expiration", "1 d"}}),
      AllOf(HasSubstr("time-partitioning-expiration"), HasSubstr("time-partitioning-type")));
  EXPECT_THAT(refusal({{"sink.time-partitioning-field", "ts"}}),
              AllOf(HasSubstr("time-partitioning-field"), HasSubstr("time-partitioning-type")));
  EXPECT_THAT(refusal({{"sink.clustered-fields", "a,b,c,d,e"}}),
              AllOf(HasSubstr("clustered-fields"), HasSubstr("at most 4")));
}

TEST(SinkOptions, ValidateChecksAStructThatBypassedTheParser) {  // BASE-005
  SinkOptions options;
  options.defaultStreamOptions.maxInflightRequests = 0;
  EXPECT_EQ(base::messageOf(validate(options)), "maxInflightRequests must be > 0: '0'");
  options = {};
  options.tableCreateOptions.timePartitioningType = "WEEK";
  EXPECT_THAT(std::string(base::messageOf(validate(options))), HasSubstr("timePartitioningType"));
}

TEST(SinkOptions, LaterOptionsAnswerNotSupportedYet) {
  for (const auto& [key, text] :
       std::map<std::string, std::string>{{"sink.write-method", "FILE_LOADS"}}) {
    const auto options = parseSinkOptions({{key, text}});
    EXPECT_EQ(options.status().code(), absl::StatusCode::kUnimplemented) << key;
    EXPECT_THAT(std::string(base::messageOf(options.status())),
                AllOf(HasSubstr(key), HasSubstr("not supported yet")));
  }
}

TEST(SinkOptions, EveryDefinitionIsComplete) {
  for (const base::OptionDefinition& definition : sinkOptionSet().definitions()) {
    EXPECT_TRUE(definition.key.starts_with("sink.")) << definition.key;
    EXPECT_TRUE(definition.description.ends_with('.')) << definition.key;
    EXPECT_FALSE(definition.group.empty()) << definition.key;
  }
}

}  // namespace
}  // namespace penstock::bigquery
