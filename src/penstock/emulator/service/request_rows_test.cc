#include "penstock/emulator/service/request_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/emulator/storage/segment.h"

namespace penstock::emulator {
namespace {

using ::testing::ElementsAre;

/// Rows of one column, `name`, in field 1.
class RequestRowsTest : public ::testing::Test {
 protected:
  RequestRowsTest() {
    Field name;
    name.name = "name";
    schema_.fields = {name};
    descriptor_.set_name("Row");
    google::protobuf::FieldDescriptorProto& field = *descriptor_.add_field();
    field.set_name("name");
    field.set_number(1);
    field.set_type(google::protobuf::FieldDescriptorProto::TYPE_STRING);
  }

  absl::Status judge(std::string_view piece) {
    pieces_ = {piece};
    RowValidator validator(
        std::make_shared<const RowChecks>(*RowPlan::compile(descriptor_, schema_)));
    return rows_.judge(pieces_, validator, nullptr, {}, *random_, errors_);
  }

  std::vector<std::string> stored() {
    std::string bytes;
    for (const std::string_view piece : rows_.framed().pieces) bytes += piece;
    std::vector<std::string> rows;
    EXPECT_TRUE(visitFramedRows(bytes, [&](std::string_view row) {
                  rows.emplace_back(row);
                  return absl::OkStatus();
                }).ok());
    return rows;
  }

  Schema schema_;
  google::protobuf::DescriptorProto descriptor_;
  std::vector<std::string_view> pieces_;
  std::unique_ptr<base::Random> random_ = base::seededRandom(1);
  RequestRows rows_;
  RequestRows::Errors errors_;
};

using namespace std::string_view_literals;
constexpr std::string_view kRowA = "\x0A\x03\x0A\x01\x61"sv;
constexpr std::string_view kRowB = "\x0A\x03\x0A\x01\x62"sv;
constexpr std::string_view kA = "\x0A\x01\x61"sv;
constexpr std::string_view kB = "\x0A\x01\x62"sv;

std::string between(std::string_view unknown) {
  return std::string(kRowA).append(unknown).append(kRowB);
}

TEST_F(RequestRowsTest, StoresRowsAsTheyArrived) {
  const std::string piece = between("");
  ASSERT_TRUE(judge(piece).ok());
  EXPECT_THAT(stored(), ElementsAre(kA, kB));
  EXPECT_EQ(rows_.framed().rowCount, 2u);
}

// What protobuf takes for an unknown field is none of the rows, whatever its number is.
TEST_F(RequestRowsTest, LeavesOutUnknownFieldsBetweenRows) {
  for (const std::string_view unknown : {
           "\x10\x06"sv,                // field 2, a varint
           "\x12\x02\xE6\x1E"sv,        // field 2, bytes
           "\x08\x06"sv,                // the rows' own number, but a varint
           "\x09\x0A\0\0\0\0\0\0\0"sv,  // and eight bytes
           "\x0D\x0A\0\0\0"sv,          // and four
       }) {
    const std::string piece = between(unknown);
    ASSERT_TRUE(judge(piece).ok());
    EXPECT_THAT(stored(), ElementsAre(kA, kB)) << testing::PrintToString(unknown);
    EXPECT_EQ(rows_.badRows(), 0u);
  }
}

TEST_F(RequestRowsTest, RefusesWhatBeginsNoRow) {
  EXPECT_EQ(judge("\x0A\x05zz").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(judge("\x08").code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace penstock::emulator
