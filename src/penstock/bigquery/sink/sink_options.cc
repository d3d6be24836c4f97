#include "penstock/bigquery/sink/sink_options.h"

#include <algorithm>

#include "penstock/base/duration.h"
#include "penstock/bigquery/sink/missing_values.h"

namespace penstock::bigquery {
namespace {

using base::OptionRule;
using base::OptionSpelling;
using base::OptionType;
using SinkOptionSet = base::OptionSet<SinkOptions>;

constexpr const char* kExactlyOnce = "STORAGE_API_EXACTLY_ONCE";

void addDestinationOptions(SinkOptionSet& set) {
  const std::string group = "Writing";
  set.addChoice(
      {.key = "sink.write-method",
       .group = group,
       .description = "How rows get into the table.",
       .laterChoices = {"FILE_LOADS"}},
      std::vector<std::pair<std::string, WriteMethod>>{
          {"STORAGE_API_AT_LEAST_ONCE", WriteMethod::kStorageApiAtLeastOnce},
          {kExactlyOnce, WriteMethod::kStorageApiExactlyOnce}},
      [](auto& options) -> auto& { return options.writeMethod; });
  set.addChoice(
      {.key = "sink.create-disposition",
       .group = group,
       .description = "What happens when the table does not exist: create it, or fail."},
      std::vector<std::pair<std::string, CreateDisposition>>{
          {"CREATE_IF_NEEDED", CreateDisposition::kCreateIfNeeded},
          {"CREATE_NEVER", CreateDisposition::kCreateNever}},
      [](auto& options) -> auto& { return options.createDisposition; });
  set.add(
      {.key = "sink.location",
       .group = group,
       .rule = OptionRule::kNotBlank,
       .description =
           "Location of the destinations, like US or europe-west1; saves looking it up."},
      [](auto& options) -> auto& { return options.location; });
  set.addChoice(
      {.key = "sink.default-missing-value-interpretation",
       .group = group,
       .description = "What a column is that a row leaves out; unset: NULL, the service's way."},
      std::vector<std::pair<std::string, MissingValueInterpretation>>{
          {"NULL_VALUE", MissingValueInterpretation::kNullValue},
          {"DEFAULT_VALUE", MissingValueInterpretation::kDefaultValue}},
      [](auto& options) -> auto& { return options.defaultMissingValueInterpretation; });
  set.add(
      {.key = "sink.missing-value-interpretations",
       .group = group,
       .rule = OptionRule::kNotBlank,
       .description = "The same for single columns: COLUMN=DEFAULT_VALUE,OTHER=NULL_VALUE."},
      [](auto& options) -> auto& { return options.missingValueInterpretations; });
}

void addTableOptions(SinkOptionSet& set) {
  const std::string group = "Creating tables";
  set.add(
      {.key = "sink.time-partitioning-type",
       .group = group,
       .type = OptionType::kChoice,
       .description = "Partition a created table by time, one partition per unit.",
       .choices = {"HOUR", "DAY", "MONTH", "YEAR"}},
      [](auto& options) -> auto& { return options.tableCreateOptions.timePartitioningType; });
  set.add(
      {.key = "sink.time-partitioning-field",
       .group = group,
       .rule = OptionRule::kNotBlank,
       .description = "Column that a created table is partitioned by; unset: time of ingestion."},
      [](auto& options) -> auto& { return options.tableCreateOptions.timePartitioningField; });
  set.add(
      {.key = "sink.time-partitioning-expiration",
       .group = group,
       .rule = OptionRule::kAtLeastOneMillisecond,
       .description = "Age at which partitions of a created table are deleted."},
      [](auto& options) -> auto& { return options.tableCreateOptions.timePartitioningExpiration; });
  set.add(
      {.key = "sink.clustered-fields",
       .group = group,
       .rule = OptionRule::kNotBlank,
       .description = "One to four columns that a created table is clustered by."},
      [](auto& options) -> auto& { return options.tableCreateOptions.clusteredFields; });
}

void addSchemaUpdateOptions(SinkOptionSet& set) {
  const std::string group = "Changing tables";
  set.add(
      {.key = "sink.allow-new-fields",
       .group = group,
       .description = "Add columns that the rows have and the table lacks."},
      [](auto& options) -> auto& { return options.schemaUpdateOptions.allowNewFields; });
  set.add(
      {.key = "sink.allow-field-relaxation",
       .group = group,
       .description = "Make columns NULLABLE that are REQUIRED in the table and not in the rows."},
      [](auto& options) -> auto& { return options.schemaUpdateOptions.allowFieldRelaxation; });
}

void addConnectionOptions(SinkOptionSet& set) {
  const std::string group = "Connection";
  set.add(
      {.key = "sink.service-account-key-file",
       .group = group,
       .rule = OptionRule::kNotBlank,
       .description = "JSON key of a service account; unset: application-default credentials."},
      [](auto& options) -> auto& { return options.serviceAccountKeyFile; });
  set.add(
      {.key = "sink.emulator-endpoint",
       .group = group,
       .description = "gRPC address of an emulator: plaintext, no credentials."},
      [](auto& options) -> auto& { return options.emulatorEndpoint; });
  set.add(
      {.key = "sink.emulator-rest-endpoint",
       .group = group,
       .description = "REST address of an emulator: plain http, no credentials."},
      [](auto& options) -> auto& { return options.emulatorRestEndpoint; });
  set.add(
      {.key = "sink.service-endpoint",
       .group = group,
       .description = "Another TLS address for gRPC, for private endpoints."},
      [](auto& options) -> auto& { return options.serviceEndpoint; });
  set.add(
      {.key = "sink.service-rest-endpoint",
       .group = group,
       .description = "Another TLS address for REST, for private endpoints."},
      [](auto& options) -> auto& { return options.serviceRestEndpoint; });
  set.add(
      {.key = "sink.ca-file",
       .group = group,
       .rule = OptionRule::kNotBlank,
       .description = "PEM file of the certificate authorities to trust; unset: the system's."},
      [](auto& options) -> auto& { return options.caFile; });
}

void addBatchingOptions(SinkOptionSet& set) {
  const std::string group = "Batching and limits";
  set.add(
      {.key = "sink.max-append-request-bytes",
       .group = group,
       .type = OptionType::kByteSize,
       .rule = OptionRule::kPositive,
       .description = "Row bytes collected before an append is sent."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.maxAppendRequestBytes; });
  set.add(
      {.key = "sink.max-inflight-requests",
       .group = group,
       .rule = OptionRule::kPositive,
       .description = "Requests queued or unanswered per connection."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.maxInflightRequests; });
  set.add(
      {.key = "sink.max-inflight-bytes",
       .group = group,
       .type = OptionType::kByteSize,
       .rule = OptionRule::kPositive,
       .description = "Bytes queued or unanswered per connection."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.maxInflightBytes; });
  set.add(
      {.key = "sink.min-connections-per-region",
       .group = group,
       .rule = OptionRule::kPositive,
       .description = "Connections to a location, for the whole process, before load adds more."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.minConnectionsPerRegion; });
  set.add(
      {.key = "sink.max-connections-per-region",
       .group = group,
       .rule = OptionRule::kPositive,
       .description = "Most connections to a location, for the whole process."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.maxConnectionsPerRegion; });
  set.add(
      {.key = "sink.max-buffered-bytes",
       .group = group,
       .type = OptionType::kByteSize,
       .rule = OptionRule::kPositive,
       .description = "Row bytes unsent or unacknowledged in the whole process."},
      [](auto& options) -> auto& { return options.maxBufferedBytes; });
  set.add(
      {.key = "sink.flush-interval",
       .group = group,
       .rule = OptionRule::kAtLeastOneMillisecond,
       .description = "Flush on a timer, for rows that no checkpoint sends; unset: off."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.flushInterval; });
  set.add(
      {.key = "sink.destination-idle-timeout",
       .group = group,
       .rule = OptionRule::kPositive,
       .description = "A table without rows for longer is let go until its next row."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.destinationIdleTimeout; });
  set.add(
      {.key = "sink.per-destination-metrics",
       .group = group,
       .description = "Count rows and errors per table as well."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.perDestinationMetrics; });
}

void addRetryOptions(SinkOptionSet& set) {
  const std::string group = "Retry and recovery";
  set.add(
      {.key = "sink.recovery-initial-backoff",
       .group = group,
       .rule = OptionRule::kAtLeastOneMillisecond,
       .description =
           "Wait after the first failed attempt to repair a destination; doubles each time."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.recoveryInitialBackoff; });
  set.add(
      {.key = "sink.recovery-max-backoff",
       .group = group,
       .rule = OptionRule::kAtLeastOneMillisecond,
       .description = "Longest wait between repair attempts; at least the initial one."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.recoveryMaxBackoff; });
  set.add(
      {.key = "sink.recovery-max-attempts",
       .group = group,
       .rule = OptionRule::kPositive,
       .description = "Repair attempts before the write fails."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.recoveryMaxAttempts; });
  set.add(
      {.key = "sink.retry-initial-delay",
       .group = group,
       .rule = OptionRule::kZeroOrAtLeastOneMillisecond,
       .description = "Wait before a request is resent in its stream; 0 = none."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.retryInitialDelay; });
  set.add(
      {.key = "sink.retry-delay-multiplier",
       .group = group,
       .rule = OptionRule::kAtLeastOne,
       .description = "Factor from one such wait to the next."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.retryDelayMultiplier; });
  set.add(
      {.key = "sink.retry-max-delay",
       .group = group,
       .rule = OptionRule::kZeroOrAtLeastOneMillisecond,
       .description = "Longest such wait, at least the initial one; 0 = never wait."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.retryMaxDelay; });
  set.add(
      {.key = "sink.retry-max-attempts",
       .group = group,
       .rule = OptionRule::kPositive,
       .description = "Resends of one request in its stream."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.retryMaxAttempts; });
  set.add(
      {.key = "sink.max-retry-duration",
       .group = group,
       .rule = OptionRule::kZeroOrAtLeastOneMillisecond,
       .description = "How long to reconnect without any response before giving up; 0 = no limit."},
      [](auto& options) -> auto& { return options.defaultStreamOptions.maxRetryDuration; });
}

SinkOptionSet makeSinkOptionSet() {
  SinkOptionSet set;
  addDestinationOptions(set);
  addTableOptions(set);
  addSchemaUpdateOptions(set);
  addConnectionOptions(set);
  addBatchingOptions(set);
  addRetryOptions(set);
  return set;
}

/// Names options in messages as the caller spells them.
class Names {
 public:
  explicit Names(OptionSpelling spelling) : spelling_(spelling) {}
  [[nodiscard]] std::string operator()(std::string_view key) const {
    return base::OptionDefinition{.key = std::string(key)}.name(spelling_);
  }

 private:
  OptionSpelling spelling_;
};

absl::Status refuseTogether(const Names& names, std::string_view one, std::string_view other,
                            std::string_view why) {
  // Names only: one of the values may be the path of a key file, which no message shows (BASE-009).
  return base::invalidArgument("{} and {} cannot be set together ({})", names(one), names(other),
                               why);
}

/// Credentials, emulator and private endpoints exclude each other.
absl::Status checkEndpoints(const SinkOptions& options, const Names& names) {
  const std::pair<const char*, const std::optional<base::Endpoint>*> emulators[] = {
      {"sink.emulator-endpoint", &options.emulatorEndpoint},
      {"sink.emulator-rest-endpoint", &options.emulatorRestEndpoint}};
  const std::pair<const char*, const std::optional<base::Endpoint>*> services[] = {
      {"sink.service-endpoint", &options.serviceEndpoint},
      {"sink.service-rest-endpoint", &options.serviceRestEndpoint}};
  for (const auto& [emulatorKey, emulator] : emulators) {
    if (!*emulator) continue;
    if (options.serviceAccountKeyFile) {
      return refuseTogether(names, "sink.service-account-key-file", emulatorKey,
                            "an emulator takes no credentials");
    }
    for (const auto& [serviceKey, service] : services) {
      if (!*service) continue;
      return refuseTogether(names, serviceKey, emulatorKey,
                            "one is the service, the other an emulator");
    }
  }
  return absl::OkStatus();
}

absl::Status checkRetries(const DefaultStreamOptions& stream, const Names& names) {
  const auto checkOrder = [&names](std::string_view upperKey, base::Duration upper,
                                   std::string_view lowerKey, base::Duration lower) {
    if (upper >= lower) return absl::OkStatus();
    return base::invalidArgument("{} must be at least {}: '{}' is less than '{}'", names(upperKey),
                                 names(lowerKey), base::formatDuration(upper),
                                 base::formatDuration(lower));
  };
  PENSTOCK_RETURN_IF_ERROR(checkOrder("sink.recovery-max-backoff", stream.recoveryMaxBackoff,
                                      "sink.recovery-initial-backoff",
                                      stream.recoveryInitialBackoff));
  if (stream.retryMaxDelay == base::Duration::zero()) return absl::OkStatus();
  return checkOrder("sink.retry-max-delay", stream.retryMaxDelay, "sink.retry-initial-delay",
                    stream.retryInitialDelay);
}

/// What both kinds of streams have.
StreamOptions& asStream(StreamOptions& options) { return options; }

/// Which of the two groups of stream options goes with which method.
absl::Status checkStreamOptions(const SinkOptions& options, const Names& names) {
  const bool exactlyOnce = options.writeMethod == WriteMethod::kStorageApiExactlyOnce;
  if (exactlyOnce && !options.bufferedStreamOptions.has_value()) {
    return base::invalidArgument(
        "bufferedStreamOptions is required with {} {}: an empty one, {{}}, takes the defaults",
        names("sink.write-method"), kExactlyOnce);
  }
  if (!exactlyOnce && options.bufferedStreamOptions.has_value()) {
    return base::invalidArgument("bufferedStreamOptions applies only with {} {}",
                                 names("sink.write-method"), kExactlyOnce);
  }
  if (exactlyOnce && !(options.defaultStreamOptions == DefaultStreamOptions())) {
    return base::invalidArgument(
        "defaultStreamOptions does not apply with {} {}: set bufferedStreamOptions",
        names("sink.write-method"), kExactlyOnce);
  }
  return absl::OkStatus();
}

absl::Status checkConnections(const DefaultStreamOptions& stream, const Names& names) {
  if (stream.maxConnectionsPerRegion >= stream.minConnectionsPerRegion) return absl::OkStatus();
  return base::invalidArgument("{} must be at least {}: '{}' is less than '{}'",
                               names("sink.max-connections-per-region"),
                               names("sink.min-connections-per-region"),
                               stream.maxConnectionsPerRegion, stream.minConnectionsPerRegion);
}

absl::Status checkTableCreation(const TableCreateOptions& create, const Names& names) {
  if (create.timePartitioningType.empty()) {
    if (!create.timePartitioningField.empty()) {
      return base::invalidArgument("{} needs {}: '{}'", names("sink.time-partitioning-field"),
                                   names("sink.time-partitioning-type"),
                                   create.timePartitioningField);
    }
    if (create.timePartitioningExpiration) {
      return base::invalidArgument("{} needs {}: '{}'", names("sink.time-partitioning-expiration"),
                                   names("sink.time-partitioning-type"),
                                   base::formatDuration(*create.timePartitioningExpiration));
    }
  }
  constexpr size_t kMostClusteredFields = 4;
  if (create.clusteredFields.size() > kMostClusteredFields) {
    return base::invalidArgument("{} takes at most {} columns: '{}'",
                                 names("sink.clustered-fields"), kMostClusteredFields,
                                 fmt::join(create.clusteredFields, ","));
  }
  return absl::OkStatus();
}

}  // namespace

const base::OptionSet<SinkOptions>& sinkOptionSet() {
  static const SinkOptionSet* set = new SinkOptionSet(makeSinkOptionSet());
  return *set;
}

SinkOptions exactlyOnceOptions(SinkOptions options) {
  constexpr int64_t kInflightRequests = 1000;
  constexpr int64_t kInflightBytes = int64_t{100} << 20;
  asStream(options.defaultStreamOptions) =
      options.bufferedStreamOptions.value_or(BufferedStreamOptions());
  options.defaultStreamOptions.maxInflightRequests = kInflightRequests;
  options.defaultStreamOptions.maxInflightBytes = kInflightBytes;
  return options;
}

absl::Status applyWriteMethod(SinkOptions& options, OptionSpelling spelling) {
  if (options.writeMethod != WriteMethod::kStorageApiExactlyOnce ||
      options.bufferedStreamOptions.has_value()) {
    return absl::OkStatus();
  }
  const DefaultStreamOptions& given = options.defaultStreamOptions;
  const DefaultStreamOptions unset;
  const std::pair<const char*, bool> ofTheDefaultStream[] = {
      {"sink.max-inflight-requests", given.maxInflightRequests != unset.maxInflightRequests},
      {"sink.max-inflight-bytes", given.maxInflightBytes != unset.maxInflightBytes},
      {"sink.min-connections-per-region",
       given.minConnectionsPerRegion != unset.minConnectionsPerRegion},
      {"sink.max-connections-per-region",
       given.maxConnectionsPerRegion != unset.maxConnectionsPerRegion},
      {"sink.flush-interval", given.flushInterval.has_value()},
      {"sink.per-destination-metrics", given.perDestinationMetrics}};
  const Names names(spelling);
  for (const auto& [key, isSet] : ofTheDefaultStream) {
    if (!isSet) continue;
    return base::invalidArgument("{} does not apply with {} {}", names(key),
                                 names("sink.write-method"), kExactlyOnce);
  }
  asStream(options.bufferedStreamOptions.emplace()) = given;
  options.defaultStreamOptions = {};
  return absl::OkStatus();
}

absl::StatusOr<SinkOptions> parseSinkOptions(const std::map<std::string, std::string>& values) {
  SinkOptions options;
  PENSTOCK_RETURN_IF_ERROR(sinkOptionSet().set(options, values));
  PENSTOCK_RETURN_IF_ERROR(applyWriteMethod(options, OptionSpelling::kKey));
  PENSTOCK_RETURN_IF_ERROR(validate(options, OptionSpelling::kKey));
  return options;
}

absl::Status validate(const SinkOptions& options, OptionSpelling spelling) {
  const Names names(spelling);
  PENSTOCK_RETURN_IF_ERROR(checkStreamOptions(options, names));
  if (options.bufferedStreamOptions.has_value()) {
    // The same bounds, in the places where each definition looks.
    SinkOptions buffered = options;
    asStream(buffered.defaultStreamOptions) = *options.bufferedStreamOptions;
    PENSTOCK_RETURN_IF_ERROR(sinkOptionSet().check(buffered, spelling));
    PENSTOCK_RETURN_IF_ERROR(checkRetries(buffered.defaultStreamOptions, names));
  }
  PENSTOCK_RETURN_IF_ERROR(sinkOptionSet().check(options, spelling));
  PENSTOCK_RETURN_IF_ERROR(checkEndpoints(options, names));
  PENSTOCK_RETURN_IF_ERROR(checkRetries(options.defaultStreamOptions, names));
  PENSTOCK_RETURN_IF_ERROR(checkConnections(options.defaultStreamOptions, names));
  PENSTOCK_RETURN_IF_ERROR(checkMissingValues(options.missingValueInterpretations,
                                              names("sink.missing-value-interpretations")));
  return checkTableCreation(options.tableCreateOptions, names);
}

absl::Status validateTableCreation(const TableCreateOptions& create, OptionSpelling spelling) {
  SinkOptions options;
  options.tableCreateOptions = create;
  return validate(options, spelling);
}

}  // namespace penstock::bigquery
