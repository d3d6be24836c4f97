#include "penstock/emulator/service/row_validator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "penstock/base/random.h"
#include "penstock/emulator/storage/row_store.h"
#include "penstock/emulator/testing/row_bytes.h"

namespace penstock::emulator {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptorProto;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Type = FieldDescriptorProto::Type;

Type protoTypeOf(FieldType type) {
  switch (type) {
    case FieldType::kBool:
      return FieldDescriptorProto::TYPE_BOOL;
    case FieldType::kFloat64:
      return FieldDescriptorProto::TYPE_DOUBLE;
    case FieldType::kDate:
      return FieldDescriptorProto::TYPE_INT32;
    case FieldType::kInt64:
    case FieldType::kTimestamp:
    case FieldType::kTime:
    case FieldType::kDatetime:
      return FieldDescriptorProto::TYPE_INT64;
    case FieldType::kBytes:
    case FieldType::kNumeric:
    case FieldType::kBignumeric:
      return FieldDescriptorProto::TYPE_BYTES;
    case FieldType::kStruct:
    case FieldType::kRange:
      return FieldDescriptorProto::TYPE_MESSAGE;
    default:
      return FieldDescriptorProto::TYPE_STRING;
  }
}

/// The descriptor of BQT-004: fields in the columns' order and of their preferred types.
DescriptorProto descriptorOf(const std::vector<Field>& columns, const std::string& name = "Row") {
  DescriptorProto descriptor;
  descriptor.set_name(name);
  for (size_t index = 0; index < columns.size(); ++index) {
    FieldDescriptorProto& field = *descriptor.add_field();
    field.set_name(columns[index].name);
    field.set_number(static_cast<int>(index) + 1);
    field.set_type(protoTypeOf(columns[index].type));
    field.set_label(columns[index].mode == FieldMode::kRepeated
                        ? FieldDescriptorProto::LABEL_REPEATED
                        : FieldDescriptorProto::LABEL_OPTIONAL);
    std::vector<Field> inner = columns[index].fields;
    if (columns[index].type == FieldType::kRange) {
      inner = {column("start", *columns[index].rangeElementType),
               column("end", *columns[index].rangeElementType)};
    }
    if (inner.empty()) continue;
    *descriptor.add_nested_type() = descriptorOf(inner, name + "_" + columns[index].name);
    field.set_type_name(name + "_" + columns[index].name);
  }
  return descriptor;
}

RowValidator validatorFor(const std::vector<Field>& columns, const DescriptorProto& descriptor) {
  absl::StatusOr<std::shared_ptr<const RowPlan>> plan =
      RowPlan::compile(descriptor, Schema{columns});
  EXPECT_TRUE(plan.ok()) << plan.status();
  return RowValidator(std::make_shared<const RowChecks>(*std::move(plan)));
}
RowValidator validatorFor(const std::vector<Field>& columns) {
  return validatorFor(columns, descriptorOf(columns));
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string number(int field, int64_t value) {
  return varint(static_cast<uint64_t>(field) << 3) + varint(static_cast<uint64_t>(value));
}
std::string text(int field, std::string_view value) {
  return varint(static_cast<uint64_t>(field) << 3 | 2) + varint(value.size()) + std::string(value);
}

/// "" when the row is fine.
std::string verdict(RowValidator& validator, std::string_view row) {
  const std::optional<std::string> problem = validator.check(row);
  EXPECT_EQ(problem, validator.checkClosely(row));
  return problem.value_or("");
}
std::string verdictOn(const Field& field, std::string_view row) {
  RowValidator validator = validatorFor({field});
  return verdict(validator, row);
}

// BQT-090 to BQT-093, and the vectors of the serializers' page.
TEST(RowValidator, ChecksTheRangesOfCivilValues) {
  const Field date = column("d", FieldType::kDate);
  EXPECT_EQ(verdictOn(date, number(1, 20660)), "");
  EXPECT_EQ(verdictOn(date, number(1, -719162)), "");
  EXPECT_THAT(verdictOn(date, number(1, -719163)), HasSubstr("d: DATE"));
  EXPECT_THAT(verdictOn(date, number(1, 2932897)), HasSubstr("out of range"));

  const Field timestamp = column("t", FieldType::kTimestamp);
  EXPECT_EQ(verdictOn(timestamp, number(1, 253402300799999999)), "");
  EXPECT_THAT(verdictOn(timestamp, number(1, 253402300800000000)), HasSubstr("t: TIMESTAMP"));
  EXPECT_THAT(verdictOn(timestamp, number(1, -62135596800000001)), HasSubstr("out of range"));

  const Field time = column("t", FieldType::kTime);
  EXPECT_EQ(verdictOn(time, number(1, 4432787541)), "");
  EXPECT_THAT(verdictOn(time, number(1, int64_t{24} << 32)), HasSubstr("packed TIME"));
  EXPECT_THAT(verdictOn(time, number(1, int64_t{1} << 37)), HasSubstr("packed TIME"));
  EXPECT_THAT(verdictOn(time, number(1, 1000000)), HasSubstr("packed TIME"));

  const Field datetime = column("t", FieldType::kDatetime);
  EXPECT_EQ(verdictOn(datetime, number(1, 142601439875102805)), "");
  EXPECT_THAT(verdictOn(datetime, number(1, 1)), HasSubstr("packed DATETIME"));
  // 2026-02-30T00:00:00
  const int64_t noSuchDay = (int64_t{2026} << 26 | 2 << 22 | 30 << 17) << 20;
  EXPECT_THAT(verdictOn(datetime, number(1, noSuchDay)), HasSubstr("packed DATETIME"));
}

// BQT-094
TEST(RowValidator, ChecksDecimals) {
  Field numeric = column("n", FieldType::kNumeric);
  const std::string max("\xFF\xFF\xFF\xFF\x3F\x22\x8A\x09\x7A\xC4\x86\x5A\xA8\x4C\x3B\x4B", 16);
  const std::string tooMuch(std::string(4, '\0') + max.substr(4, 0) +
                            std::string("\x40\x22\x8A\x09\x7A\xC4\x86\x5A\xA8\x4C\x3B\x4B", 12));
  EXPECT_EQ(verdictOn(numeric, text(1, max)), "");
  EXPECT_THAT(verdictOn(numeric, text(1, tooMuch)), HasSubstr("n: "));
  EXPECT_THAT(verdictOn(numeric, text(1, "")), HasSubstr("n: "));
  EXPECT_EQ(verdictOn(numeric, text(1, std::string(1, '\0'))), "");

  numeric.precision = 5;
  numeric.scale = 2;
  EXPECT_EQ(verdictOn(numeric, text(1, "\x80\x7C\x81\x4A")), "");  // 1.25
  // 1000.00 has four digits before the point.
  EXPECT_THAT(verdictOn(numeric, text(1, std::string("\x00\x10\xA5\xD4\xE8\x00", 6))),
              AllOf(HasSubstr("n: the value 1000 does not fit"), HasSubstr("(5, 2)")));
  EXPECT_THAT(verdictOn(numeric, text(1, std::string("\x80\x00", 2))), HasSubstr("0.000000128"));

  const Field big = column("b", FieldType::kBignumeric);
  EXPECT_EQ(verdictOn(big, text(1, std::string(31, '\xFF') + '\x7F')), "");
  EXPECT_THAT(verdictOn(big, text(1, std::string(32, '\xFF') + '\x7F')), HasSubstr("b: "));
}

TEST(RowValidator, AsksForRequiredColumnsOfEveryMessageThatIsThere) {
  Field inner = column("inner", FieldType::kStruct);
  inner.fields = {column("must", FieldType::kInt64, FieldMode::kRequired),
                  column("may", FieldType::kInt64)};
  RowValidator validator =
      validatorFor({column("id", FieldType::kInt64, FieldMode::kRequired), inner});
  EXPECT_EQ(verdict(validator, number(1, 7)), "");  // an absent STRUCT is not looked into (BQT-007)
  EXPECT_EQ(verdict(validator, number(1, 7) + text(2, number(1, 1))), "");
  EXPECT_THAT(verdict(validator, ""), AllOf(HasSubstr("id: "), HasSubstr("REQUIRED")));
  EXPECT_THAT(verdict(validator, number(1, 7) + text(2, number(2, 1))), HasSubstr("inner.must: "));
  EXPECT_THAT(verdict(validator, number(1, 7) + text(2, "")), HasSubstr("inner.must: "));
}

TEST(RowValidator, AsksForRequiredColumnsThatTheWriterHasNoFieldFor) {
  const std::vector<Field> columns{column("a", FieldType::kInt64),
                                   column("must", FieldType::kInt64, FieldMode::kRequired)};
  RowValidator validator = validatorFor(columns, descriptorOf({columns[0]}));
  EXPECT_THAT(verdict(validator, number(1, 1)), HasSubstr("must: "));
}

TEST(RowValidator, HoldsTextToItsLengthInCharactersAndBytesToTheirs) {
  Field name = column("s", FieldType::kString);
  name.maxLength = 3;
  EXPECT_EQ(verdictOn(name, text(1, "abc")), "");
  EXPECT_EQ(verdictOn(name, text(1, "äöü")), "");
  EXPECT_THAT(verdictOn(name, text(1, "abcd")),
              AllOf(HasSubstr("s: "), HasSubstr("4 characters"), HasSubstr("STRING(3)")));
  EXPECT_THAT(verdictOn(name, text(1, "ab\xC3")), HasSubstr("UTF-8"));

  Field raw = column("b", FieldType::kBytes);
  raw.maxLength = 3;
  EXPECT_EQ(verdictOn(raw, text(1, "\xFF\xFE\xFD")), "");
  EXPECT_THAT(verdictOn(raw, text(1, "äö")), HasSubstr("4 bytes"));
}

TEST(RowValidator, ReadsJsonGeographyAndIntervalTexts) {
  const Field json = column("j", FieldType::kJson);
  EXPECT_EQ(verdictOn(json, text(1, R"({"k":[1,null,"x"]})")), "");
  EXPECT_EQ(verdictOn(json, text(1, "null")), "");
  EXPECT_THAT(verdictOn(json, text(1, "{bad")), HasSubstr("j: the value is not a JSON document"));
  const Field geography = column("g", FieldType::kGeography);
  EXPECT_EQ(verdictOn(geography, text(1, "POINT(1 2)")), "");
  EXPECT_THAT(verdictOn(geography, text(1, "POINT(1)")), HasSubstr("g: "));
  const Field interval = column("i", FieldType::kInterval);
  EXPECT_EQ(verdictOn(interval, text(1, "1-2 3 4:5:6.789")), "");
  EXPECT_THAT(verdictOn(interval, text(1, "yesterday")), HasSubstr("i: "));
}

TEST(RowValidator, WantsTheStartOfARangeBeforeItsEnd) {
  Field range = column("r", FieldType::kRange);
  range.rangeElementType = FieldType::kDate;
  EXPECT_EQ(verdictOn(range, text(1, number(1, 0) + number(2, 20660))), "");
  EXPECT_EQ(verdictOn(range, text(1, number(2, 20660))), "");  // unbounded below
  EXPECT_EQ(verdictOn(range, text(1, "")), "");
  EXPECT_THAT(verdictOn(range, text(1, number(1, 5) + number(2, 5))), HasSubstr("r: "));
}

TEST(RowValidator, TakesRepeatedColumnsPackedAndUnpackedAndJudgesEachElement) {
  const std::vector<Field> columns{column("d", FieldType::kDate, FieldMode::kRepeated)};
  RowValidator validator = validatorFor(columns);
  EXPECT_EQ(verdict(validator, ""), "");
  EXPECT_EQ(verdict(validator, number(1, 5) + number(1, 6)), "");
  EXPECT_EQ(verdict(validator, text(1, varint(5) + varint(6))), "");
  EXPECT_THAT(verdict(validator, number(1, 5) + number(1, 2932897)), HasSubstr("d: "));
  EXPECT_THAT(verdict(validator, text(1, varint(5) + varint(2932897))), HasSubstr("d: "));
}

TEST(RowValidator, RefusesRowsThatCannotBeParsed) {
  RowValidator validator = validatorFor({column("s", FieldType::kString)});
  EXPECT_THAT(verdict(validator, "\x0A"), HasSubstr("cannot be parsed"));
  EXPECT_THAT(verdict(validator,
                      "\x0A\x05"
                      "abc"),
              HasSubstr("cannot be parsed"));
  EXPECT_THAT(verdict(validator, std::string(12, '\xFF')), HasSubstr("cannot be parsed"));
  EXPECT_EQ(verdict(validator, number(9, 5)), "");  // an unknown field is nothing bad
}

// The wire type and the order of what is there must not matter to the verdict; nor the quick look.
TEST(RowValidator, ComesToOneVerdictWithAndWithoutTheQuickLook) {
  Field inner = column("s", FieldType::kStruct, FieldMode::kRepeated);
  inner.fields = {column("a", FieldType::kString, FieldMode::kRequired),
                  column("b", FieldType::kNumeric)};
  Field limited = column("t", FieldType::kString);
  limited.maxLength = 4;
  const std::vector<Field> columns{column("i", FieldType::kInt64, FieldMode::kRequired),
                                   limited,
                                   column("d", FieldType::kDate),
                                   column("f", FieldType::kFloat64),
                                   column("dt", FieldType::kDatetime),
                                   inner,
                                   column("j", FieldType::kJson)};
  RowValidator validator = validatorFor(columns);
  const std::vector<std::string> parts{number(1, 5),
                                       text(2, "abc"),
                                       number(3, 20000),
                                       varint(4 << 3 | 1) + std::string(8, '\x40'),
                                       number(5, 142601439875102805),
                                       text(6, text(1, "x") + text(2, "\x80\x7C\x81\x4A")),
                                       text(7, "[1]"),
                                       number(7, 1),
                                       number(9, 1),
                                       text(6, text(2, "\x01"))};
  const auto random = base::seededRandom(17);
  int good = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string row;
    for (const std::string& part : parts) {
      if (random->chance(0.5)) row += part;
    }
    // Bytes changed at random reach what the parts do not.
    if (!row.empty() && random->chance(0.5)) {
      row[random->below(row.size())] = static_cast<char>(random->next());
    }
    const std::optional<std::string> closely = validator.checkClosely(row);
    if (!closely.has_value()) ++good;
    ASSERT_EQ(validator.check(row), closely);
  }
  EXPECT_GT(good, 2000);
  EXPECT_LT(good, 18000);
}

TEST(QuickCheck, PassesWhatWritersSendSoThatNothingIsDecoded) {
  const std::vector<Field> columns{column("s", FieldType::kString, FieldMode::kRequired),
                                   column("i", FieldType::kInt64),
                                   column("f", FieldType::kFloat64),
                                   column("t", FieldType::kTimestamp),
                                   column("n", FieldType::kNumeric),
                                   column("r", FieldType::kInt64, FieldMode::kRepeated)};
  const auto plan = *RowPlan::compile(descriptorOf(columns), Schema{columns});
  const QuickCheck check(*plan);
  const std::string fixed = varint(3 << 3 | 1) + std::string(8, '\x3F');
  EXPECT_TRUE(check.passes(text(1, "äbc") + number(2, -1) + fixed + number(4, 1785027723456789) +
                           text(5, "\x80\x7C\x81\x4A") + number(6, 1) + number(6, 2)));
  EXPECT_FALSE(check.passes(number(2, -1)));          // a REQUIRED column is missing
  EXPECT_FALSE(check.passes(text(1, "a") + "\x10"));  // cut short
  EXPECT_FALSE(check.passes(text(1, "a") + "\x1A"));
}

TEST(QuickCheck, LeavesMessagesWithVeryManyRequiredColumnsToTheDecoder) {
  std::vector<Field> columns;
  std::string row;
  for (int index = 1; index <= 70; ++index) {
    columns.push_back(column("c" + std::to_string(index), FieldType::kInt64, FieldMode::kRequired));
    row += number(index, 1);
  }
  RowValidator validator = validatorFor(columns);
  EXPECT_EQ(verdict(validator, row), "");
  EXPECT_THAT(verdict(validator, row.substr(0, row.size() - 3)), HasSubstr("c70: "));
}

}  // namespace
}  // namespace penstock::emulator
