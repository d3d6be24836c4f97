#include "penstock/emulator/service/append_request.h"

#include <gmock/gmock.h>
#include <google/cloud/bigquery/storage/v1/storage.pb.h>
#include <gtest/gtest.h>

namespace penstock::emulator {
namespace {

namespace api = google::cloud::bigquery::storage::v1;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

api::AppendRowsRequest withRows(const std::vector<std::string>& rows) {
  api::AppendRowsRequest request;
  for (const std::string& row : rows) {
    request.mutable_proto_rows()->mutable_rows()->add_serialized_rows(row);
  }
  return request;
}

TEST(AppendRequest, FindsEveryPart) {
  api::AppendRowsRequest sent = withRows({"a", "bc"});
  sent.set_write_stream("stream");
  sent.set_trace_id("trace");
  sent.mutable_offset()->set_value(-5);
  sent.mutable_proto_rows()->mutable_writer_schema()->mutable_proto_descriptor()->set_name("Row");
  const std::string bytes = sent.SerializeAsString();
  AppendRequest request;
  ASSERT_TRUE(request.parse(bytes).ok());
  EXPECT_EQ(request.writeStream, "stream");
  EXPECT_EQ(request.traceId, "trace");
  EXPECT_EQ(request.offset, -5);
  EXPECT_EQ(request.descriptor,
            sent.proto_rows().writer_schema().proto_descriptor().SerializeAsString());
  EXPECT_THAT(request.rows, ElementsAre(sent.proto_rows().rows().SerializeAsString()));
  EXPECT_TRUE(request.hasProtoRows);
  EXPECT_FALSE(request.hasArrowRows);
  EXPECT_FALSE(request.defaultMissingValue.has_value());
  EXPECT_THAT(request.missingValues, IsEmpty());

  ASSERT_TRUE(request.parse("").ok());
  EXPECT_EQ(request.writeStream, "");
  EXPECT_FALSE(request.offset.has_value());
  EXPECT_FALSE(request.descriptor.has_value());
  EXPECT_THAT(request.rows, IsEmpty());
}

TEST(AppendRequest, TellsAnOffsetOfZeroFromNone) {
  api::AppendRowsRequest sent;
  sent.mutable_offset()->set_value(0);
  const std::string bytes = sent.SerializeAsString();
  AppendRequest request;
  ASSERT_TRUE(request.parse(bytes).ok());
  EXPECT_EQ(request.offset, 0);
}

// A message that comes in pieces is what protobuf makes of them.
TEST(AppendRequest, MergesPartsThatComeTwice) {
  api::AppendRowsRequest first = withRows({"a"});
  auto& descriptor =
      *first.mutable_proto_rows()->mutable_writer_schema()->mutable_proto_descriptor();
  descriptor.set_name("Row");
  api::AppendRowsRequest second = withRows({"b"});
  second.mutable_proto_rows()
      ->mutable_writer_schema()
      ->mutable_proto_descriptor()
      ->add_field()
      ->set_name("column");
  const std::string bytes = first.SerializeAsString() + second.SerializeAsString();
  AppendRequest request;
  ASSERT_TRUE(request.parse(bytes).ok());
  api::AppendRowsRequest whole;
  ASSERT_TRUE(whole.ParseFromString(bytes));
  ASSERT_TRUE(request.descriptor.has_value());
  EXPECT_EQ(*request.descriptor,
            whole.proto_rows().writer_schema().proto_descriptor().SerializeAsString());
  std::string rows;
  for (const std::string_view piece : request.rows) rows += piece;
  EXPECT_EQ(rows, whole.proto_rows().rows().SerializeAsString());
}

TEST(AppendRequest, MergesAnOffsetThatComesTwice) {
  const std::string bytes("\x12\x02\x08\x1E\x12\x00", 6);  // the second has no value
  AppendRequest request;
  ASSERT_TRUE(request.parse(bytes).ok());
  EXPECT_EQ(request.offset, 30);
}

TEST(AppendRequest, ForgetsProtoRowsThatArrowRowsReplace) {
  api::AppendRowsRequest arrow;
  arrow.mutable_arrow_rows();
  const std::string bytes = withRows({"a"}).SerializeAsString() + arrow.SerializeAsString() +
                            withRows({"b"}).SerializeAsString();
  AppendRequest request;
  ASSERT_TRUE(request.parse(bytes).ok());
  EXPECT_TRUE(request.hasProtoRows);
  EXPECT_THAT(request.rows, ElementsAre(withRows({"b"}).proto_rows().rows().SerializeAsString()));
}

TEST(AppendRequest, SeesArrowRows) {
  api::AppendRowsRequest sent;
  sent.mutable_arrow_rows()->mutable_rows()->set_serialized_record_batch("x");
  const std::string bytes = sent.SerializeAsString();
  AppendRequest request;
  ASSERT_TRUE(request.parse(bytes).ok());
  EXPECT_TRUE(request.hasArrowRows);
  ASSERT_TRUE(request.parse("").ok());
  EXPECT_FALSE(request.hasArrowRows);
}

TEST(AppendRequest, SeesHowMissingValuesAreTaken) {
  api::AppendRowsRequest sent;
  sent.set_default_missing_value_interpretation(api::AppendRowsRequest::DEFAULT_VALUE);
  (*sent.mutable_missing_value_interpretations())["a"] = api::AppendRowsRequest::NULL_VALUE;
  (*sent.mutable_missing_value_interpretations())["b"] = api::AppendRowsRequest::DEFAULT_VALUE;
  const std::string bytes = sent.SerializeAsString();
  AppendRequest request;
  ASSERT_TRUE(request.parse(bytes).ok());
  EXPECT_EQ(request.defaultMissingValue, MissingValue::kDefault);
  EXPECT_THAT(request.missingValues, UnorderedElementsAre(Pair("a", MissingValue::kNull),
                                                          Pair("b", MissingValue::kDefault)));
}

TEST(AppendRequest, RefusesWhatIsCutShort) {
  api::AppendRowsRequest sent = withRows({"row"});
  sent.set_write_stream("stream");
  sent.mutable_proto_rows()->mutable_writer_schema()->mutable_proto_descriptor()->set_name("Row");
  const std::string bytes = sent.SerializeAsString();
  int whole = 0;
  AppendRequest request;
  for (size_t length = 0; length < bytes.size(); ++length) {
    api::AppendRowsRequest reference;
    const bool expected = reference.ParseFromString(bytes.substr(0, length));
    whole += expected ? 1 : 0;
    EXPECT_EQ(request.parse(std::string_view(bytes).substr(0, length)).ok(), expected) << length;
  }
  EXPECT_EQ(whole, 2);  // nothing, and the stream's name alone
}

}  // namespace
}  // namespace penstock::emulator
