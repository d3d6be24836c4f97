#include "penstock/emulator/catalog/schema_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "penstock/emulator/catalog/schema_json.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;

Schema schemaOf(const char* fields) {
  return parseSchema({{"fields", json::parse(fields)}}).value();
}

/// "ok", or the part of the refusal behind the table's name.
std::string verdict(const char* live, const char* wanted) {
  const absl::StatusOr<Schema> changed = changedSchema("p:d.t", schemaOf(live), schemaOf(wanted));
  if (changed.ok()) return "ok";
  EXPECT_EQ(changed.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string_view prefix = "Provided Schema does not match Table p:d.t. ";
  std::string message(base::messageOf(changed.status()));
  EXPECT_TRUE(message.starts_with(prefix)) << message;
  return message.substr(std::min(prefix.size(), message.size()));
}

/// The verdict on a change of one column `c`.
std::string change(const std::string& from, const std::string& to) {
  const auto field = [](const std::string& rest) { return R"([{"name": "c", )" + rest + "}]"; };
  return verdict(field(from).c_str(), field(to).c_str());
}

TEST(SchemaChange, AddsColumnsAtTheEndOfTheirLevel) {
  const Schema live = schemaOf(R"([{"name": "Id", "type": "INTEGER"},
      {"name": "s", "type": "RECORD", "fields": [{"name": "x", "type": "STRING"}]}])");
  const Schema wanted = schemaOf(R"([{"name": "first", "type": "DATE", "mode": "REPEATED"},
      {"name": "s", "type": "RECORD", "fields": [{"name": "before", "type": "STRING"},
                                                 {"name": "X", "type": "STRING"}]},
      {"name": "ID", "type": "INT64", "description": "now with words"}])");
  const Schema changed = changedSchema("p:d.t", live, wanted).value();
  EXPECT_EQ(changed, schemaOf(R"([
      {"name": "Id", "type": "INTEGER", "description": "now with words"},
      {"name": "s", "type": "RECORD", "fields": [{"name": "x", "type": "STRING"},
                                                 {"name": "before", "type": "STRING"}]},
      {"name": "first", "type": "DATE", "mode": "REPEATED"}])"));
  EXPECT_EQ(changedSchema("p:d.t", changed, changed).value(), changed);
}

TEST(SchemaChange, RefusesToAddRequiredColumns) {
  EXPECT_EQ(verdict("[]", R"([{"name": "c", "type": "STRING", "mode": "REQUIRED"}])"),
            "Cannot add required fields to an existing schema. (field: c)");
  EXPECT_EQ(
      verdict(R"([{"name": "s", "type": "RECORD", "fields": [{"name": "x", "type": "DATE"}]}])",
              R"([{"name": "s", "type": "RECORD", "fields": [{"name": "x", "type": "DATE"},
                        {"name": "y", "type": "DATE", "mode": "REQUIRED"}]}])"),
      "Cannot add required fields to an existing schema. (field: s.y)");
  // Inside of a RECORD that is new itself it asks nothing of the rows that are there.
  EXPECT_EQ(verdict("[]", R"([{"name": "s", "type": "RECORD", "fields": [
                        {"name": "y", "type": "DATE", "mode": "REQUIRED"}]}])"),
            "ok");
}

TEST(SchemaChange, RefusesToDropColumns) {
  EXPECT_EQ(verdict(R"([{"name": "a", "type": "STRING"}, {"name": "b", "type": "STRING"}])",
                    R"([{"name": "a", "type": "STRING"}])"),
            "Field b is missing in new schema");
  EXPECT_EQ(
      verdict(R"([{"name": "s", "type": "RECORD", "fields": [{"name": "x", "type": "DATE"},
                        {"name": "y", "type": "DATE"}]}])",
              R"([{"name": "s", "type": "RECORD", "fields": [{"name": "x", "type": "DATE"}]}])"),
      "Field s.y is missing in new schema");
}

TEST(SchemaChange, RelaxesAModeAndNeverTightensIt) {
  const std::string required = R"("type": "STRING", "mode": "REQUIRED")";
  const std::string nullable = R"("type": "STRING", "mode": "NULLABLE")";
  const std::string repeated = R"("type": "STRING", "mode": "REPEATED")";
  EXPECT_EQ(change(required, nullable), "ok");
  EXPECT_EQ(change(required, R"("type": "STRING")"), "ok");  // a mode left out is NULLABLE
  EXPECT_EQ(change(nullable, required), "Field c has changed mode from NULLABLE to REQUIRED");
  EXPECT_EQ(change(nullable, repeated), "Field c has changed mode from NULLABLE to REPEATED");
  EXPECT_EQ(change(repeated, nullable), "Field c has changed mode from REPEATED to NULLABLE");
  EXPECT_EQ(change(required, repeated), "Field c has changed mode from REQUIRED to REPEATED");
}

TEST(SchemaChange, KeepsTypesAndLetsTheirParametersGrow) {
  EXPECT_EQ(change(R"("type": "STRING")", R"("type": "INTEGER")"),
            "Field c has changed type from STRING to INTEGER");
  EXPECT_EQ(change(R"("type": "INTEGER")", R"("type": "NUMERIC")"),
            "Field c has changed type from INTEGER to NUMERIC");
  EXPECT_EQ(change(R"("type": "STRING", "maxLength": 5)", R"("type": "STRING", "maxLength": 9)"),
            "ok");
  EXPECT_EQ(change(R"("type": "BYTES", "maxLength": 5)", R"("type": "BYTES")"), "ok");
  EXPECT_EQ(change(R"("type": "STRING", "maxLength": 9)", R"("type": "STRING", "maxLength": 5)"),
            "Field c has changed type from STRING(9) to STRING(5)");
  EXPECT_EQ(change(R"("type": "STRING")", R"("type": "STRING", "maxLength": 5)"),
            "Field c has changed type from STRING to STRING(5)");
  const std::string small = R"("type": "NUMERIC", "precision": 10, "scale": 2)";
  EXPECT_EQ(change(small, R"("type": "NUMERIC", "precision": 12, "scale": 4)"), "ok");
  EXPECT_EQ(change(small, R"("type": "NUMERIC")"), "ok");
  EXPECT_EQ(change(small, R"("type": "NUMERIC", "precision": 11, "scale": 4)"),
            "Field c has changed type from NUMERIC(10, 2) to NUMERIC(11, 4)");
  EXPECT_EQ(change(small, R"("type": "NUMERIC", "precision": 10)"),
            "Field c has changed type from NUMERIC(10, 2) to NUMERIC(10)");
  EXPECT_EQ(change(R"("type": "NUMERIC")", small),
            "Field c has changed type from NUMERIC to NUMERIC(10, 2)");
  EXPECT_EQ(change(R"("type": "RANGE", "rangeElementType": {"type": "DATE"})",
                   R"("type": "RANGE", "rangeElementType": {"type": "DATETIME"})"),
            "Field c has changed type from RANGE<DATE> to RANGE<DATETIME>");
  EXPECT_EQ(change(R"("type": "TIMESTAMP")", R"("type": "TIMESTAMP", "timestampPrecision": 6)"),
            "ok");
  EXPECT_EQ(change(R"("type": "TIMESTAMP")", R"("type": "TIMESTAMP", "timestampPrecision": 12)"),
            "Field c has changed type from TIMESTAMP to TIMESTAMP(12)");
}

// What only REST knows of a column survives a client that leaves it out.
TEST(SchemaChange, LeavesPolicyTagsAloneUntilTheyAreTakenAway) {
  const Schema tagged = schemaOf(
      R"([{"name": "c", "type": "STRING", "policyTags": {"names": ["tag"]}, "collation": "und:ci"}])");
  const Schema kept =
      changedSchema("p:d.t", tagged, schemaOf(R"([{"name": "c", "type": "STRING"}])")).value();
  EXPECT_EQ(kept.fields[0].policyTags, tagged.fields[0].policyTags);
  const Schema bare =
      changedSchema("p:d.t", tagged,
                    schemaOf(R"([{"name": "c", "type": "STRING", "policyTags": {"names": []}}])"))
          .value();
  EXPECT_EQ(bare.fields[0].policyTags, "");
}

}  // namespace
}  // namespace penstock::emulator
