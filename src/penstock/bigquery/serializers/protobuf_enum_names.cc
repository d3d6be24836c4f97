#include "penstock/bigquery/serializers/protobuf_enum_names.h"

#include <fmt/format.h>

namespace penstock::bigquery {
namespace {

constexpr int32_t kSmallEnumNumbers = 256;

}  // namespace

ProtobufEnumNames::ProtobufEnumNames(const google::protobuf::EnumDescriptor& type)
    : typeName_(type.name()) {
  for (int i = 0; i < type.value_count(); ++i) {
    names_.emplace(type.value(i)->number(), type.value(i)->name());
  }
  for (const auto& [number, name] : names_) {
    if (number < 0 || number >= kSmallEnumNumbers) continue;
    small_.resize(static_cast<size_t>(number) + 1);
    small_.back() = name;
  }
}

std::string_view ProtobufEnumNames::findFar(int32_t number) const {
  const auto found = names_.find(number);
  return found == names_.end() ? std::string_view() : std::string_view(found->second);
}

std::string ProtobufEnumNames::unknownName(int32_t number) const {
  return fmt::format("UNKNOWN_ENUM_VALUE_{}_{}", typeName_, number);
}

const ProtobufEnumNames* ProtobufEnumTable::of(const google::protobuf::EnumDescriptor& type) {
  std::unique_ptr<ProtobufEnumNames>& names = names_[&type];
  if (names == nullptr) names = std::make_unique<ProtobufEnumNames>(type);
  return names.get();
}

}  // namespace penstock::bigquery
