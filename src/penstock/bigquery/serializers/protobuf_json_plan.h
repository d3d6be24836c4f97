#pragma once

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "penstock/bigquery/serializers/protobuf_enum_names.h"
#include "penstock/bigquery/serializers/protobuf_kind.h"

/// What message types become before the first of them is written as protobuf JSON (BQT-018).
/// Internal: it shows protobuf.
namespace penstock::bigquery {

struct ProtobufJsonLevel;

/// How a message is written.
enum class ProtobufJsonForm : uint8_t {
  kObject,
  kTimestamp,
  kDuration,
  kFieldMask,
  kWrapper,    ///< its one value
  kStruct,     ///< its one map
  kValue,      ///< the member that is set
  kListValue,  ///< its one array
  kAny,        ///< `{}`, or an error
};

struct ProtobufJsonField {
  uint32_t number = 0;
  uint32_t wireType = 0;  ///< of one value
  ProtobufKind kind = ProtobufKind::kInt32;
  bool isRepeated = false;
  bool isMap = false;
  bool hasPresence = false;
  bool isClosedEnum = false;
  bool isOfValue = false;  ///< of google.protobuf.Value: JSON's own numbers
  uint64_t oneofBit = 0;   ///< one of 64 that the members of a oneof share
  const ProtobufJsonLevel* level = nullptr;
  const ProtobufEnumNames* enumNames = nullptr;
  std::string key;  ///< `"lowerCamelCase":`
  std::string name;
};

struct ProtobufJsonLevel {
  ProtobufJsonForm form = ProtobufJsonForm::kObject;
  std::vector<ProtobufJsonField> fields;  ///< by number
  std::string typeName;

  [[nodiscard]] const ProtobufJsonField* find(uint32_t number) const;
};

/// Levels of message types, each once: types may contain themselves.
class ProtobufJsonPlan {
 public:
  explicit ProtobufJsonPlan(ProtobufEnumTable* enums) : enums_(enums) {}

  [[nodiscard]] const ProtobufJsonLevel* of(const google::protobuf::Descriptor& type);

 private:
  ProtobufJsonField makeField(const google::protobuf::FieldDescriptor& field);

  ProtobufEnumTable* const enums_;
  std::map<const google::protobuf::Descriptor*, std::unique_ptr<ProtobufJsonLevel>> levels_;
};

}  // namespace penstock::bigquery
