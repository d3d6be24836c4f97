#include "penstock/bigquery/transport/append_response.h"

#include <google/cloud/bigquery/storage/v1/storage.pb.h>
#include <google/rpc/status.pb.h>
#include <gtest/gtest.h>

namespace penstock::bigquery {
namespace {

namespace storage = google::cloud::bigquery::storage::v1;

TEST(AppendResponse, ReadsAnAcknowledgementWithAndWithoutOffset) {
  storage::AppendRowsResponse message;
  message.mutable_append_result();
  message.set_write_stream("projects/p/datasets/d/tables/t/streams/_default");
  AppendResponse response = decodeAppendResponse(message.SerializeAsString());
  EXPECT_TRUE(response.status.ok());
  EXPECT_FALSE(response.offset.has_value());

  message.mutable_append_result()->mutable_offset();  // zero, which takes no bytes on the wire
  response = decodeAppendResponse(message.SerializeAsString());
  EXPECT_EQ(response.offset, 0);

  message.mutable_append_result()->mutable_offset()->set_value(int64_t{1} << 40);
  response = decodeAppendResponse(message.SerializeAsString());
  EXPECT_EQ(response.offset, int64_t{1} << 40);
}

TEST(AppendResponse, ReadsErrorStorageErrorAndRowErrors) {
  storage::StorageError storageError;
  storageError.set_code(storage::StorageError::SCHEMA_MISMATCH_EXTRA_FIELDS);
  storage::AppendRowsResponse message;
  message.mutable_error()->set_code(3);
  message.mutable_error()->set_message("extra field");
  message.mutable_error()->add_details()->PackFrom(storageError);
  auto* rowError = message.add_row_errors();
  rowError->set_index(5);
  rowError->set_message("bad value");

  const AppendResponse response = decodeAppendResponse(message.SerializeAsString());
  EXPECT_EQ(response.status, absl::InvalidArgumentError("extra field"));
  EXPECT_EQ(response.storageError, StorageErrorCode::kSchemaMismatchExtraFields);
  ASSERT_EQ(response.rowErrors.size(), 1u);
  EXPECT_EQ(response.rowErrors[0].index, 5);
  EXPECT_EQ(response.rowErrors[0].message, "bad value");
}

TEST(AppendResponse, AnAcknowledgementMayCarryANewSchema) {
  storage::AppendRowsResponse message;
  message.mutable_append_result()->mutable_offset()->set_value(3);
  message.mutable_updated_schema()->add_fields()->set_name("added");
  const AppendResponse response = decodeAppendResponse(message.SerializeAsString());
  EXPECT_TRUE(response.status.ok());
  EXPECT_EQ(response.offset, 3);
  storage::TableSchema schema;
  ASSERT_TRUE(response.updatedSchema && schema.ParseFromString(*response.updatedSchema));
  EXPECT_EQ(schema.fields(0).name(), "added");
}

TEST(AppendResponse, BytesThatAreNoResponseAreAnInternalError) {
  EXPECT_EQ(decodeAppendResponse("\x0a\xff").status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(decodeAppendResponse("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff").status.code(),
            absl::StatusCode::kInternal);
}

TEST(AppendResponse, EveryTruncationOfAnAcknowledgementIsRefusedOrShorter) {
  storage::AppendRowsResponse message;
  message.mutable_append_result()->mutable_offset()->set_value(77);
  message.set_write_stream("s");
  const std::string whole = message.SerializeAsString();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    storage::AppendRowsResponse parsed;
    EXPECT_EQ(decodeAppendResponse(cut).status.ok(), parsed.ParseFromString(cut)) << size;
  }
}

TEST(CallStatus, ACodeThatGrpcDoesNotDefineIsNotTransient) {  // BQW-041
  const CallStatus result = decodeCallStatus(99, "odd", "");
  EXPECT_EQ(result.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(base::messageOf(result.status).find("99"), std::string_view::npos);
}

TEST(CallStatus, FindsTheStorageErrorAmongTheDetails) {
  storage::StorageError storageError;
  storageError.set_code(storage::StorageError::STREAM_NOT_FOUND);
  google::rpc::Status detailed;
  detailed.add_details()->set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
  detailed.add_details()->PackFrom(storageError);
  const CallStatus result = decodeCallStatus(5, "gone", detailed.SerializeAsString());
  EXPECT_EQ(result.status, absl::NotFoundError("gone"));
  EXPECT_EQ(result.storageError, StorageErrorCode::kStreamNotFound);
  EXPECT_EQ(decodeCallStatus(5, "gone", "\xff").storageError, StorageErrorCode::kNone);
}

}  // namespace
}  // namespace penstock::bigquery
