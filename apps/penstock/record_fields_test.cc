#include "apps/penstock/record_fields.h"

#include <gmock/gmock.h>

namespace penstock::command {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Records in one buffer, as a reader hands them out.
class RecordFieldsTest : public ::testing::Test {
 protected:
  void look(const std::vector<DestinationTemplate::FieldPath>& fields,
            const std::vector<std::string>& records) {
    fields_ = std::make_unique<RecordFields>(fields);
    buffer_.clear();
    for (const std::string& record : records) buffer_ += record + "\n";
    buffer_.append(formats::kJsonPadding, ' ');
    records_.clear();
    size_t at = 0;
    for (const std::string& record : records) {
      records_.push_back(std::string_view(buffer_).substr(at, record.size()));
      at += record.size() + 1;
    }
    fields_->beginBatch(records_);
  }
  std::vector<std::string> values(size_t record) {
    const auto read = fields_->read(record, why_);
    return {read.begin(), read.end()};
  }
  std::string why(size_t record) {
    EXPECT_THAT(values(record), ElementsAre());
    return why_;
  }

  std::unique_ptr<RecordFields> fields_;
  std::string buffer_;
  std::vector<std::string_view> records_;
  std::string why_;
};

TEST_F(RecordFieldsTest, ReadsTextsNumbersAndTruthValues) {
  look({{"a"}}, {R"({"a":"x\u00e4","b":[{"a":1}]})", R"({"b":{"a":2},"a":-7})", R"({"a":true})",
                 R"({ "a" : 1.50 })", R"({"\u0061":false})"});
  EXPECT_THAT(values(0), ElementsAre("xä"));
  EXPECT_THAT(values(1), ElementsAre("-7"));
  EXPECT_THAT(values(2), ElementsAre("true"));
  EXPECT_THAT(values(3), ElementsAre("1.50"));
  EXPECT_THAT(values(4), ElementsAre("false"));
}

TEST_F(RecordFieldsTest, ReadsFieldsOfObjectsInAnyOrder) {
  look({{"a", "b"}, {"c"}, {"a", "d"}},
       {R"({"x":{"b":0},"c":"3","a":{"b":"1","e":[],"d":"2"}})", R"({"a":{"d":2,"b":1},"c":3})"});
  EXPECT_THAT(values(0), ElementsAre("1", "3", "2"));
  EXPECT_THAT(values(1), ElementsAre("1", "3", "2"));
}

TEST_F(RecordFieldsTest, SaysWhyThereIsNoValue) {
  look({{"a", "b"}}, {R"({"a":{"c":1}})", R"({})", R"({"a":{"b":null}})", R"({"a":{"b":""}})",
                      R"({"a":{"b":[1]}})", R"({"a":{"b":{}}})", R"({"a":5})", "[1]", "{\"a\":{",
                      R"({"a":tru,"b":1})", R"({"a":{"b":01}})", R"({"x":"\q","a":{"b":1}})"});
  EXPECT_EQ(why(0), "the record has no field 'a.b'");
  EXPECT_EQ(why(1), "the record has no field 'a.b'");
  EXPECT_EQ(why(2), "the field 'a.b' is null");
  EXPECT_EQ(why(3), "the field 'a.b' is an empty text");
  EXPECT_EQ(why(4), "the field 'a.b' is an array");
  EXPECT_EQ(why(5), "the field 'a.b' is an object");
  EXPECT_EQ(why(6), "the record has no field 'a.b'");
  EXPECT_EQ(why(7), "the record is not a JSON object");
  for (const size_t record : {8, 9, 10, 11}) {
    EXPECT_THAT(why(record), HasSubstr("the record is malformed")) << record;
  }
}

TEST_F(RecordFieldsTest, ABrokenRecordTakesNothingFromTheNextOne) {
  look({{"a"}}, {R"({"b":1,)", R"({"a":"mine"})", R"({"b":)", R"({"a":"mine"})", R"({"b":{"c":1)",
                 R"("a":"mine"})"});
  for (const size_t record : {0, 2, 4}) {
    EXPECT_THAT(why(record), HasSubstr("malformed")) << record;
  }
  EXPECT_THAT(values(1), ElementsAre("mine"));
  EXPECT_THAT(values(3), ElementsAre("mine"));
}

}  // namespace
}  // namespace penstock::command
