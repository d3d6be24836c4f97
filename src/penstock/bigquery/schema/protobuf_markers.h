#pragma once

#include <absl/status/statusor.h>
#include <google/protobuf/descriptor.h>

#include <map>
#include <set>
#include <string>

#include "penstock/bigquery/schema/protobuf_schema_options.h"

/// Which fields are marked as JSON or GEOGRAPHY (BQT-015, BQT-020 to BQT-022). Internal: it shows
/// protobuf.
namespace penstock::bigquery {

enum class ProtobufMark { kNone, kJson, kGeography };

/// Answers for the fields of one message type, and remembers which listed paths it met.
class ProtobufMarkers {
 public:
  /// Errors are configuration errors: numbers out of range, one number marked both ways, a blank
  /// path.
  [[nodiscard]] static absl::StatusOr<ProtobufMarkers> create(const ProtoSchemaOptions& options);

  /// The mark of the field at `path`. An error: it is marked both ways, an option on it is not a
  /// singular bool, or it cannot be marked that way.
  [[nodiscard]] absl::StatusOr<ProtobufMark> markOf(const google::protobuf::FieldDescriptor& field,
                                                    const std::string& path);

  /// Listed paths that no field had: an error that names all of them (BQT-021).
  [[nodiscard]] absl::Status checkAllPathsMet(const std::string& messageName) const;

 private:
  struct Kind {
    std::set<std::string> paths;
    std::map<int, std::string> options;  // number: full name or empty
  };

  ProtobufMarkers() = default;
  [[nodiscard]] static absl::Status readOptions(const std::vector<ProtobufFieldOption>& from,
                                                const char* name, Kind* kind);
  [[nodiscard]] absl::StatusOr<bool> isMarked(const Kind& kind,
                                              const google::protobuf::FieldDescriptor& field,
                                              const std::string& path);

  Kind json_;
  Kind geography_;
  std::set<std::string> met_;
};

}  // namespace penstock::bigquery
