#include "penstock/emulator/rest/field_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "penstock/emulator/catalog/schema_json.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;

Schema nestedSchema() {
  return parseSchema(json::parse(R"({"fields": [{"name": "a", "type": "STRING"},
      {"name": "s", "type": "RECORD", "fields": [{"name": "x", "type": "FLOAT"}, {"name": "y", "type": "DATE"}]},
      {"name": "z", "type": "BOOLEAN"}]})"))
      .value();
}

std::string namesOf(const std::vector<Field>& fields) {
  std::string names;
  for (const Field& field : fields) {
    if (!names.empty()) names += ",";
    names += field.name;
    if (!field.fields.empty()) names += "(" + namesOf(field.fields) + ")";
  }
  return names;
}

std::string selected(std::string_view text) {
  const Schema schema = nestedSchema();
  const absl::StatusOr<FieldSelection> selection = FieldSelection::parse(text, schema);
  if (!selection.ok()) return std::string(base::messageOf(selection.status()));
  return namesOf(selectedSchema(schema, *selection).fields);
}

TEST(FieldSelection, KeepsTheSchemasOrderAndTheNamedFields) {
  EXPECT_EQ(selected("z,a"), "a,z");
  EXPECT_EQ(selected("s"), "s(x,y)");
  EXPECT_EQ(selected("s.y"), "s(y)");
  EXPECT_EQ(selected("S.Y,s.x,Z"), "s(x,y),z");
  EXPECT_EQ(selected("s.y,s"), "s(x,y)");
}

TEST(FieldSelection, RefusesAFieldThatThereIsNot) {
  EXPECT_EQ(selected("a,nope"), "Invalid field name \"nope\" in selectedFields");
  EXPECT_EQ(selected("s.nope"), "Invalid field name \"s.nope\" in selectedFields");
  EXPECT_EQ(selected("a.b"), "Invalid field name \"a.b\" in selectedFields");
}

}  // namespace
}  // namespace penstock::emulator
