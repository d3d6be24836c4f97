#include "penstock/bigquery/schema/schema_fingerprint.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace penstock::bigquery {
namespace {

TableSchema sample() {
  return TableSchema{{
      {.name = "a", .type = ColumnType::kString},
      {.name = "s",
       .type = ColumnType::kStruct,
       .fields = {{.name = "x", .type = ColumnType::kInt64},
                  {.name = "y", .type = ColumnType::kBool}}},
  }};
}

TEST(SchemaFingerprint, ChangesWithEveryPartOfTheSchema) {  // BQT-009
  const std::function<void(TableSchema&)> kChanges[] = {
      [](TableSchema&) {},
      [](TableSchema& s) { s.columns[0].name = "b"; },
      [](TableSchema& s) { s.columns[0].name = "A"; },
      [](TableSchema& s) { s.columns[0].type = ColumnType::kJson; },
      [](TableSchema& s) { s.columns[0].mode = ColumnMode::kRequired; },
      [](TableSchema& s) { s.columns[0].mode = ColumnMode::kRepeated; },
      [](TableSchema& s) { s.columns[0].precision = 1; },
      [](TableSchema& s) { s.columns[0].scale = 1; },
      [](TableSchema& s) { s.columns[0].maxLength = 1; },
      [](TableSchema& s) { s.columns[0].description = "d"; },
      [](TableSchema& s) { s.columns[0].defaultValueExpression = "d"; },
      [](TableSchema& s) { s.columns[0].rangeElementType = ColumnType::kDate; },
      [](TableSchema& s) { s.columns[0].timestampPrecision = 12; },
      [](TableSchema& s) { std::swap(s.columns[0], s.columns[1]); },
      [](TableSchema& s) { s.columns.push_back({.name = "z", .type = ColumnType::kBool}); },
      [](TableSchema& s) { s.columns[1].fields[0].type = ColumnType::kDouble; },
      [](TableSchema& s) { s.columns[1].fields.pop_back(); },
      [](TableSchema& s) {  // the same columns, the last one a level higher
        s.columns.push_back(s.columns[1].fields.back());
        s.columns[1].fields.pop_back();
      },
  };
  std::set<uint64_t> seen;
  for (const auto& change : kChanges) {
    TableSchema schema = sample();
    change(schema);
    EXPECT_TRUE(seen.insert(schemaFingerprint(schema)).second) << seen.size();
  }
}

TEST(SchemaFingerprint, IsTheSameForEqualSchemasInEveryProcess) {  // BQT-009
  EXPECT_EQ(schemaFingerprint(sample()), schemaFingerprint(sample()));
  EXPECT_EQ(schemaFingerprint(TableSchema{}), 0xA8C7F832281A39C5U);
}

}  // namespace
}  // namespace penstock::bigquery
