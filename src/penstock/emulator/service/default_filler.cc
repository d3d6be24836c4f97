#include "penstock/emulator/service/default_filler.h"

#include <google/cloud/bigquery/storage/v1/annotations.pb.h>

#include <algorithm>

#include "penstock/emulator/rows/row_plan.h"
#include "penstock/emulator/rows/wire_reader.h"

namespace penstock::emulator {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptorProto;
namespace api = google::cloud::bigquery::storage::v1;

/// Field numbers that protobuf keeps for itself.
constexpr int kFirstReserved = 19000;
constexpr int kLastReserved = 19999;

int numberBehind(const DescriptorProto& descriptor) {
  int highest = 0;
  for (const FieldDescriptorProto& field : descriptor.field()) {
    highest = std::max(highest, field.number());
  }
  return highest + 1 >= kFirstReserved ? std::max(highest, kLastReserved) + 1 : highest + 1;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const DefaultFiller>> DefaultFiller::make(
    const RowDescriptor& writer, const std::vector<const Field*>& columns) {
  auto filler = std::make_shared<DefaultFiller>();
  DescriptorProto descriptor;
  if (!descriptor.ParsePartialFromString(writer.bytes)) {
    return base::invalidArgument(
        "Invalid proto schema: writer_schema.proto_descriptor cannot be parsed");
  }
  for (const Field* column : columns) {
    PENSTOCK_ASSIGN_OR_RETURN(DefaultValue value, DefaultValue::parse(*column));
    if (value.isNull()) continue;
    const std::string name = foldedName(column->name);
    const auto own = std::find_if(
        descriptor.field().begin(), descriptor.field().end(),
        [&](const FieldDescriptorProto& field) { return foldedName(columnNameOf(field)) == name; });
    const auto writerNumber =
        own == descriptor.field().end() ? 0U : static_cast<uint32_t>(own->number());
    const int number = numberBehind(descriptor);
    FieldDescriptorProto& added = *descriptor.add_field();
    added.set_number(number);
    added.set_name(fmt::format("default_{}", number));
    added.set_json_name(kDefaultValueMark);
    added.mutable_options()->SetExtension(api::column_name, column->name);
    value.describe(added);
    filler->columns_.push_back({writerNumber, static_cast<uint32_t>(number), std::move(value)});
  }
  filler->descriptor_ = descriptor.SerializePartialAsString();
  return filler;
}

bool DefaultFiller::isAdded(uint32_t number) const {
  return std::any_of(columns_.begin(), columns_.end(),
                     [&](const Column& column) { return column.number == number; });
}

void DefaultFiller::fill(std::string_view row, base::WallTime now, base::Random& random,
                         std::string& filled) const {
  filled.clear();
  std::vector<bool> present(columns_.size());
  WireReader reader(row);
  while (!reader.atEnd()) {
    const char* const start = reader.position();
    uint32_t number = 0;
    uint32_t wireType = 0;
    if (!reader.readTag(number, wireType) || !reader.skip(number, wireType)) {
      filled = row;
      return;
    }
    for (size_t index = 0; index < columns_.size(); ++index) {
      if (columns_[index].writerNumber == number) present[index] = true;
    }
    // A field that the writer's descriptor does not have must not be taken for a default.
    if (!isAdded(number)) filled.append(start, reader.position());
  }
  for (size_t index = 0; index < columns_.size(); ++index) {
    if (present[index]) continue;
    columns_[index].value.appendTo(columns_[index].number, now, random, filled);
  }
}

}  // namespace penstock::emulator
