#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/emulator/rows/default_value.h"
#include "penstock/emulator/storage/row_store.h"

namespace penstock::emulator {

/// Gives rows the default values of columns that they lack. The filled rows have a descriptor of
/// their own: the writer's with one more field for each such column. Immutable; any thread.
class DefaultFiller {
 public:
  /// `columns`: those of the table's whose missing values become the default; each has one.
  /// kInvalidArgument when the descriptor is none, or an expression is wrong.
  static absl::StatusOr<std::shared_ptr<const DefaultFiller>> make(
      const RowDescriptor& writer, const std::vector<const Field*>& columns);

  /// A serialized google.protobuf.DescriptorProto.
  [[nodiscard]] const std::string& descriptor() const { return descriptor_; }

  /// The row with what it lacks behind it; as it is when it is no message.
  void fill(std::string_view row, base::WallTime now, base::Random& random,
            std::string& filled) const;

 private:
  struct Column {
    uint32_t writerNumber = 0;  ///< of the writer's field; 0 = there is none
    uint32_t number = 0;        ///< of the default's
    DefaultValue value;
  };
  [[nodiscard]] bool isAdded(uint32_t number) const;

  std::string descriptor_;
  std::vector<Column> columns_;
};

}  // namespace penstock::emulator
