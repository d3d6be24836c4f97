#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/penstock/destination_template.h"
#include "apps/penstock/record_failures.h"
#include "penstock/bigquery/serializers/protobuf_options.h"
#include "penstock/runtime/local_executor.h"

namespace penstock::command {

/// Records that are length-delimited protobuf messages.
struct ProtobufRecords {
  std::string descriptorSetFile;
  std::string messageName;
  bigquery::ProtobufOptions options;
};

/// What a load is to do, apart from the sink's options: from the flags of `load` or from the file
/// of `run`.
struct LoadPlan {
  std::vector<std::string> inputs;  ///< files, folders, patterns, "-"
  DestinationTemplate destination;
  /// The records are messages of this type; none: JSON.
  std::optional<ProtobufRecords> protobuf;
  std::string schemaFile;  ///< empty: none
  bool autodetect = false;
  OnError onError = OnError::kFail;
  bool ignoreUnknownFields = false;
  runtime::LocalExecutorOptions executor;

  /// What these settings are called where they were given, for messages: "--to", or
  /// "pipeline.yaml:7:10: table".
  struct Names {
    std::string destination = "--to";
    std::string schema = "--schema";
    std::string autodetect = "--autodetect";
    std::string descriptorSet = "--descriptor-set";
    std::string message = "--message";
  };
  Names names;
};

// Values of the plan from text. Errors name the setting, as `name` says it was given, and the
// value.
[[nodiscard]] absl::StatusOr<OnError> parseOnError(std::string_view name, const std::string& text);
[[nodiscard]] absl::StatusOr<base::Duration> parseCheckpointInterval(std::string_view name,
                                                                     const std::string& text);
[[nodiscard]] absl::Status checkParallelism(std::string_view name, int64_t parallelism);
/// Standard input cannot be read again from a checkpoint; `name` is what gave its directory.
[[nodiscard]] absl::Status checkCanContinue(const LoadPlan& plan, std::string_view name);

}  // namespace penstock::command
