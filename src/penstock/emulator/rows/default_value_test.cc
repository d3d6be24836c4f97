#include "penstock/emulator/rows/default_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/emulator/rows/civil_time.h"
#include "penstock/emulator/rows/decimal.h"
#include "penstock/emulator/rows/row_decoder.h"

namespace penstock::emulator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// 2026-07-26T01:02:03.456789Z
constexpr base::WallTime kNow{std::chrono::microseconds(1785027723456789)};

Field columnWithDefault(FieldType type, const std::string& expression,
                        FieldMode mode = FieldMode::kNullable) {
  Field field;
  field.name = "c";
  field.type = type;
  field.mode = mode;
  field.defaultValueExpression = expression;
  return field;
}

/// A row of one column that holds the default, decoded.
class DefaultRow {
 public:
  explicit DefaultRow(const Field& field) {
    const absl::StatusOr<DefaultValue> value = DefaultValue::parse(field);
    EXPECT_TRUE(value.ok()) << value.status();
    google::protobuf::DescriptorProto descriptor;
    descriptor.set_name("Row");
    descriptor.add_field()->set_name("c");
    descriptor.mutable_field(0)->set_number(300);
    value->describe(*descriptor.mutable_field(0));
    value->appendTo(300, kNow, *base::seededRandom(1), bytes_);
    auto plan = RowPlan::compile(descriptor, Schema{{field}});
    EXPECT_TRUE(plan.ok()) << plan.status();
    decoder_ = std::make_unique<RowDecoder>(*plan);
    const std::optional<RowProblem> problem = decoder_->decode(bytes_);
    EXPECT_FALSE(problem.has_value()) << problem->message;
  }
  [[nodiscard]] const RowNode& value() const { return decoder_->node(decoder_->root().firstChild); }
  [[nodiscard]] std::string text() const { return std::string(value().text); }
  [[nodiscard]] std::vector<RowNode> elements() const {
    std::vector<RowNode> found;
    for (uint32_t index = value().firstChild; index != RowNode::kNone;
         index = decoder_->node(index).nextSibling) {
      found.push_back(decoder_->node(index));
    }
    return found;
  }

 private:
  std::string bytes_;
  std::unique_ptr<RowDecoder> decoder_;
};

absl::Status problemOf(FieldType type, const std::string& expression,
                       FieldMode mode = FieldMode::kNullable) {
  return DefaultValue::parse(columnWithDefault(type, expression, mode)).status();
}

TEST(DefaultValue, ReadsLiteralsOfEveryType) {
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kString, " 'a\\'b' ")).text(), "a'b");
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kString, "\"\"\"two\nlines\"\"\"")).text(),
            "two\nlines");
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kString, "r'\\d'")).text(), "\\d");
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kString, "''")).text(), "");
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kBytes, "b'\\xff\\x00'")).text(),
            std::string("\xFF\0", 2));
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kInt64, "-12")).value().integer, -12);
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kInt64, "0x1F")).value().integer, 31);
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kFloat64, "1.5e-3")).value().real, 0.0015);
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kFloat64, "7")).value().real, 7);
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kBool, "true")).value().integer, 1);
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kBool, "FALSE")).value().integer, 0);
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kDate, "DATE '2026-07-26'")).value().integer,
            *dateFromText("2026-07-26"));
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kDate, "'2026-07-26'")).value().integer,
            *dateFromText("2026-07-26"));
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kTime, "TIME \"01:02:03\"")).value().integer,
            *timeFromText("01:02:03"));
  EXPECT_EQ(
      DefaultRow(columnWithDefault(FieldType::kDatetime, "DATE '2026-07-26'")).value().integer,
      *datetimeFromText("2026-07-26"));
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kTimestamp,
                                         "TIMESTAMP '2026-07-26 01:02:03.456789+00'"))
                .value()
                .integer,
            1785027723456789);
  EXPECT_EQ(decimalText(DefaultRow(columnWithDefault(FieldType::kNumeric, "1.25")).value().decimal,
                        kNumericType),
            "1.25");
  EXPECT_EQ(
      decimalText(
          DefaultRow(columnWithDefault(FieldType::kBignumeric, "NUMERIC '-3'")).value().decimal,
          kBignumericType),
      "-3");
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kJson, "JSON '{\"k\": 1}'")).text(),
            "{\"k\": 1}");
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kGeography, "ST_GEOGPOINT(-1.5, 2)")).text(),
            "POINT(-1.5 2)");
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kString, "NULL")).value().kind,
            RowNode::Kind::kNull);
  EXPECT_TRUE(DefaultValue::parse(columnWithDefault(FieldType::kStruct, "NULL"))->isNull());
}

TEST(DefaultValue, ReadsArrays) {
  const DefaultRow numbers(columnWithDefault(FieldType::kInt64, "[1, -2,3]", FieldMode::kRepeated));
  ASSERT_EQ(numbers.elements().size(), 3u);
  EXPECT_EQ(numbers.elements()[1].integer, -2);
  const DefaultRow texts(
      columnWithDefault(FieldType::kString, "ARRAY['a', 'b']", FieldMode::kRepeated));
  ASSERT_EQ(texts.elements().size(), 2u);
  EXPECT_EQ(texts.elements()[1].text, "b");
  EXPECT_TRUE(DefaultRow(columnWithDefault(FieldType::kString, "[]", FieldMode::kRepeated))
                  .elements()
                  .empty());
}

TEST(DefaultValue, CallsTheFunctionsThatTheServiceAllows) {
  EXPECT_EQ(
      DefaultRow(columnWithDefault(FieldType::kTimestamp, "CURRENT_TIMESTAMP()")).value().integer,
      1785027723456789);
  EXPECT_EQ(
      DefaultRow(columnWithDefault(FieldType::kTimestamp, "current_timestamp")).value().integer,
      1785027723456789);
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kDate, "CURRENT_DATE()")).value().integer,
            *dateFromText("2026-07-26"));
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kDatetime, "CURRENT_DATETIME")).value().integer,
            1785027723456789);
  EXPECT_EQ(DefaultRow(columnWithDefault(FieldType::kTime, "CURRENT_TIME()")).value().integer,
            *timeFromText("01:02:03.456789"));
  EXPECT_THAT(DefaultRow(columnWithDefault(FieldType::kString, "GENERATE_UUID()")).text(),
              MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  const double random = DefaultRow(columnWithDefault(FieldType::kFloat64, "RAND()")).value().real;
  EXPECT_GE(random, 0);
  EXPECT_LT(random, 1);
  EXPECT_THAT(DefaultRow(columnWithDefault(FieldType::kString, "SESSION_USER()")).text(),
              HasSubstr("@"));
}

TEST(DefaultValue, SaysWhatIsWrongWithAnExpression) {
  const absl::Status status = problemOf(FieldType::kInt64, "CURRENT_DATE()");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("column c"), HasSubstr("CURRENT_DATE()"), HasSubstr("INTEGER")));
  for (const auto& [type, expression] : std::vector<std::pair<FieldType, std::string>>{
           {FieldType::kInt64, "'1'"},
           {FieldType::kInt64, "1.5"},
           {FieldType::kInt64, "99999999999999999999"},
           {FieldType::kString, "1"},
           {FieldType::kString, "'open"},
           {FieldType::kString, "'a' 'b'"},
           {FieldType::kString, "'\\q'"},
           {FieldType::kString, "'\\"},
           {FieldType::kString, "b'a'"},
           {FieldType::kString, "CONCAT('a', 'b')"},
           {FieldType::kString, "GENERATE_UUID"},
           {FieldType::kString, " "},
           {FieldType::kDate, "TIMESTAMP '2026-07-26'"},
           {FieldType::kDate, "DATE 2026"},
           {FieldType::kTimestamp, "CURRENT_TIMESTAMP(1)"},
           {FieldType::kGeography, "ST_GEOGPOINT(1)"},
           {FieldType::kBool, "1"}}) {
    EXPECT_EQ(problemOf(type, expression).code(), absl::StatusCode::kInvalidArgument)
        << restTypeName(type) << " " << expression;
  }
  EXPECT_EQ(problemOf(FieldType::kInt64, "1", FieldMode::kRepeated).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(problemOf(FieldType::kInt64, "[1", FieldMode::kRepeated).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(problemOf(FieldType::kStruct, "STRUCT(1)").code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace penstock::emulator
