#pragma once

#include <google/protobuf/descriptor.h>

/// Message types that stand for one value (BQT-017). Internal: it shows protobuf.
namespace penstock::bigquery {

enum class ProtobufWellKnown {
  kNone,
  kTimestamp,
  kDuration,
  kFieldMask,
  kWrapper,  ///< Int64Value and so on: one field `value`
  kStruct,
  kValue,
  kListValue,
  kAny,
};

/// What `type` is, by its full name, as descriptors of another pool are other objects, and by its
/// shape: a message that only has the name is kNone.
[[nodiscard]] ProtobufWellKnown wellKnownType(const google::protobuf::Descriptor& type);

/// Whether it is the message of a map's entries, with the key and the value of one. Descriptors
/// from outside may call any message an entry.
[[nodiscard]] bool isMapEntry(const google::protobuf::Descriptor& type);

/// Whether it becomes a JSON column without being marked.
[[nodiscard]] inline bool isJsonType(ProtobufWellKnown type) {
  return type == ProtobufWellKnown::kStruct || type == ProtobufWellKnown::kValue ||
         type == ProtobufWellKnown::kListValue;
}

}  // namespace penstock::bigquery
