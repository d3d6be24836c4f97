#pragma once

#include <string>
#include <vector>

#include "penstock/base/option.h"
#include "penstock/bigquery/schema/protobuf_schema_options.h"
#include "penstock/bigquery/serializers/protobuf_message_serializer.h"

namespace penstock::bigquery {

/// How protobuf messages become rows, for hosts whose users write text. A program sets
/// ProtoSchemaOptions and ProtobufMessageOptions themselves.
struct ProtobufOptions {
  /// See ProtoSchemaOptions; of the options on fields each is `NUMBER` or `FULL.NAME=NUMBER`.
  std::vector<std::string> jsonFieldPaths;
  std::vector<std::string> jsonFieldOptions;
  std::vector<std::string> geographyFieldPaths;
  std::vector<std::string> geographyFieldOptions;
  bool deriveRequiredColumns = false;
  /// See ProtobufMessageOptions.
  bool rejectUnknownFields = false;

  bool operator==(const ProtobufOptions&) const = default;

  /// What they say of columns. Errors name the option, as `spelling` writes it, and the value.
  [[nodiscard]] absl::StatusOr<ProtoSchemaOptions> schemaOptions(
      base::OptionSpelling spelling) const;
  [[nodiscard]] ProtobufMessageOptions messageOptions() const {
    return {.rejectUnknownFields = rejectUnknownFields};
  }
};

/// All of them by key, `protobuf.json-field-paths`.
[[nodiscard]] const base::OptionSet<ProtobufOptions>& protobufOptionSet();

}  // namespace penstock::bigquery
