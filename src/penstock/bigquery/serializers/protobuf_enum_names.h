#pragma once

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::bigquery {

/// The names of an enum's values by their numbers (BQT-016): the first declared one of a number
/// with several.
class ProtobufEnumNames {
 public:
  explicit ProtobufEnumNames(const google::protobuf::EnumDescriptor& type);

  /// Empty: the enum has no such number.
  [[nodiscard]] std::string_view find(int32_t number) const {
    const auto index = static_cast<uint32_t>(number);
    if (index < small_.size()) return small_[index];
    return findFar(number);
  }
  /// What a number of an open enum without a name is called.
  [[nodiscard]] std::string unknownName(int32_t number) const;

 private:
  [[nodiscard]] std::string_view findFar(int32_t number) const;

  std::string typeName_;
  std::map<int32_t, std::string> names_;
  std::vector<std::string_view> small_;  // by number, from 0; into names_
};

/// One of each enum. What it gives out lives as long as it does.
class ProtobufEnumTable {
 public:
  [[nodiscard]] const ProtobufEnumNames* of(const google::protobuf::EnumDescriptor& type);

 private:
  std::map<const google::protobuf::EnumDescriptor*, std::unique_ptr<ProtobufEnumNames>> names_;
};

}  // namespace penstock::bigquery
