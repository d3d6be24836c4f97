#include "penstock/bigquery/serializers/protobuf_canonicalizer.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include <limits>
#include <memory>
#include <set>
#include <vector>

namespace penstock::bigquery {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string keyOf(const Message& entry) {
  const FieldDescriptor* key = entry.GetDescriptor()->map_key();
  const Reflection& reflection = *entry.GetReflection();
  switch (key->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(reflection.GetInt32(entry, key));
    case FieldDescriptor::CPPTYPE_INT64:
      return std::to_string(reflection.GetInt64(entry, key));
    case FieldDescriptor::CPPTYPE_UINT32:
      return std::to_string(reflection.GetUInt32(entry, key));
    case FieldDescriptor::CPPTYPE_UINT64:
      return std::to_string(reflection.GetUInt64(entry, key));
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(entry, key) ? "true" : "false";
    default:
      return reflection.GetString(entry, key);
  }
}

/// Leaves the last entry of every key: a message without generated code keeps all that were read.
void keepLastEntries(Message* message, const FieldDescriptor* map) {
  const Reflection& reflection = *message->GetReflection();
  const int numEntries = reflection.FieldSize(*message, map);
  std::set<std::string> keys;
  std::vector<bool> isLast(static_cast<size_t>(numEntries));
  for (int i = numEntries - 1; i >= 0; --i) {
    isLast[static_cast<size_t>(i)] =
        keys.insert(keyOf(reflection.GetRepeatedMessage(*message, map, i))).second;
  }
  int numKept = 0;
  for (int i = 0; i < numEntries; ++i) {
    if (!isLast[static_cast<size_t>(i)]) continue;
    if (i != numKept) reflection.SwapElements(message, map, numKept, i);
    ++numKept;
  }
  while (reflection.FieldSize(*message, map) > numKept) reflection.RemoveLast(message, map);
}

/// Leaves what the message type knows, also within the entries of maps, which
/// Message::DiscardUnknownFields passes over.
void clean(Message* message, std::string* unknownField) {
  const Reflection& reflection = *message->GetReflection();
  const google::protobuf::Descriptor& type = *message->GetDescriptor();
  google::protobuf::UnknownFieldSet& unknown = *reflection.MutableUnknownFields(message);
  for (int i = 0; i < unknown.field_count() && unknownField->empty(); ++i) {
    // A known number is that of a closed enum's value without a name.
    const int number = unknown.field(i).number();
    if (type.FindFieldByNumber(number) != nullptr) continue;
    *unknownField = fmt::format("message {} has no field {}", type.full_name(), number);
  }
  unknown.Clear();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(*message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (field->is_map()) keepLastEntries(message, field);
    if (!field->is_repeated()) {
      clean(reflection.MutableMessage(message, field), unknownField);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(*message, field); ++i) {
      clean(reflection.MutableRepeatedMessage(message, field, i), unknownField);
    }
  }
}

}  // namespace

bool ProtobufCanonicalizer::rewrite(std::string_view message, std::string* canonical) {
  if (message.size() > std::numeric_limits<int>::max()) return false;
  const std::unique_ptr<Message> parsed(prototype_.New());
  if (!parsed->ParsePartialFromArray(message.data(), static_cast<int>(message.size()))) {
    return false;
  }
  unknownField_.clear();
  clean(parsed.get(), &unknownField_);
  return parsed->SerializePartialToString(canonical);
}

}  // namespace penstock::bigquery
