#include "penstock/emulator/rest/field_selection.h"

#include <algorithm>
#include <string>

namespace penstock::emulator {
namespace {

using Columns = std::vector<FieldSelection::Column>;

Columns everything(const std::vector<Field>& fields) {
  Columns columns;
  for (uint32_t i = 0; i < fields.size(); ++i) columns.push_back({i, everything(fields[i].fields)});
  return columns;
}

/// Adds one path to the columns chosen so far, keeping them in order.
absl::Status addPath(std::string_view path, std::string_view whole,
                     const std::vector<Field>& fields, Columns& columns) {
  const size_t dot = path.find('.');
  const Field* field = findField(fields, path.substr(0, dot));
  if (field == nullptr)
    return base::invalidArgument("Invalid field name \"{}\" in selectedFields", whole);
  const auto index = static_cast<uint32_t>(field - fields.data());
  auto place = std::lower_bound(
      columns.begin(), columns.end(), index,
      [](const FieldSelection::Column& column, uint32_t wanted) { return column.index < wanted; });
  if (place == columns.end() || place->index != index) place = columns.insert(place, {index, {}});
  if (dot != std::string_view::npos)
    return addPath(path.substr(dot + 1), whole, field->fields, place->children);
  place->children = everything(field->fields);
  return absl::OkStatus();
}

std::vector<Field> cut(const std::vector<Field>& fields, const Columns& columns) {
  std::vector<Field> result;
  for (const FieldSelection::Column& column : columns) {
    Field& field = result.emplace_back(fields[column.index]);
    field.fields = cut(fields[column.index].fields, column.children);
  }
  return result;
}

}  // namespace

FieldSelection FieldSelection::all(const Schema& schema) { return {everything(schema.fields)}; }

absl::StatusOr<FieldSelection> FieldSelection::parse(std::string_view selectedFields,
                                                     const Schema& schema) {
  FieldSelection selection;
  while (!selectedFields.empty()) {
    const size_t comma = std::min(selectedFields.find(','), selectedFields.size());
    const std::string_view path = selectedFields.substr(0, comma);
    if (!path.empty())
      PENSTOCK_RETURN_IF_ERROR(addPath(path, path, schema.fields, selection.columns));
    selectedFields.remove_prefix(std::min(comma + 1, selectedFields.size()));
  }
  return selection;
}

Schema selectedSchema(const Schema& schema, const FieldSelection& selection) {
  return {cut(schema.fields, selection.columns)};
}

}  // namespace penstock::emulator
