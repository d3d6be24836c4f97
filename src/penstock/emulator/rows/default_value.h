#pragma once

#include <google/protobuf/descriptor.pb.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/random.h"
#include "penstock/base/status.h"
#include "penstock/emulator/catalog/schema.h"

namespace penstock::emulator {

/// What a column's default value expression gives: a literal, an array of literals, or one of the
/// functions that the service allows. Immutable; any thread.
class DefaultValue {
 public:
  /// Reads `field.defaultValueExpression`, which is not empty. kInvalidArgument (names the column
  /// and the expression) when it is not SQL of this kind or its type does not go with the column's;
  /// kUnimplemented for defaults of RANGE and STRUCT columns, whose only default here is NULL.
  static absl::StatusOr<DefaultValue> parse(const Field& field);

  /// NULL, or an empty array: a row without the field has it already.
  [[nodiscard]] bool isNull() const { return elements_.empty(); }

  /// Appends the value to a row's bytes as the field of this number and of the type that
  /// describe() gives; nothing for NULL and for an empty array.
  void appendTo(uint32_t number, base::WallTime now, base::Random& random, std::string& row) const;

  /// How appendTo() writes the value: type and label of a row's field.
  void describe(google::protobuf::FieldDescriptorProto& field) const;

 private:
  enum class Function : uint8_t {
    kNone,
    kCurrentDate,
    kCurrentDatetime,
    kCurrentTime,
    kCurrentTimestamp,
    kGenerateUuid,
    kRand,
    kSessionUser,
  };
  class Parser;
  struct Element {
    Function function = Function::kNone;
    std::string text;     ///< of a literal, as the column's type is written
    int64_t integer = 0;  ///< INT64, BOOL
    double real = 0;      ///< FLOAT64
  };

  static std::string textOf(Function function, base::WallTime now, base::Random& random);
  void appendElement(const Element& element, uint32_t number, base::WallTime now,
                     base::Random& random, std::string& row) const;

  FieldType type_ = FieldType::kString;
  bool repeated_ = false;
  std::vector<Element> elements_;  ///< at most one unless repeated; none = NULL
};

}  // namespace penstock::emulator
