#include "penstock/emulator/service/grpc_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/emulator/testing/grpc_server_fixture.h"

namespace penstock::emulator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(GrpcServerTest, StoresRowsAndAcknowledgesThemWithoutAnOffset) {
  AppendCall call(*stub_);
  const auto response = call.append(request({row("a", 1), row("bc", 2)}));
  EXPECT_TRUE(response.has_append_result()) << response.ShortDebugString();
  EXPECT_FALSE(response.append_result().has_offset());
  EXPECT_EQ(response.write_stream(), kStream);
  EXPECT_THAT(stored(), ElementsAre(row("a", 1), row("bc", 2)));
  EXPECT_FALSE(call.header("x-penstock-emulator").empty());  // BQW-193
  EXPECT_TRUE(call.finish().ok());
}

// As Go and Java do it; the short name as Java's writers by table name use it.
TEST_F(GrpcServerTest, TakesLaterRequestsWithoutStreamAndSchema) {
  AppendCall call(*stub_);
  call.append(request({row("a", 1)}, kShortStream));
  const auto response = call.append(request({row("b", 2)}, "", /*schema=*/false));
  EXPECT_TRUE(response.has_append_result()) << response.ShortDebugString();
  EXPECT_EQ(response.write_stream(), kShortStream);
  EXPECT_THAT(stored(), ElementsAre(row("a", 1), row("b", 2)));
  EXPECT_TRUE(call.finish().ok());
}

TEST_F(GrpcServerTest, SwitchesBetweenTablesOnOneConnection) {
  const auto other = createTable("other");
  const std::string otherStream = "projects/p/datasets/d/tables/other/streams/_default";
  AppendCall call(*stub_);
  call.append(request({row("a", 1)}));
  EXPECT_EQ(call.append(request({row("b", 2)}, otherStream)).write_stream(), otherStream);
  call.append(request({row("c", 3)}));
  EXPECT_THAT(stored(), ElementsAre(row("a", 1), row("c", 3)));
  EXPECT_THAT(stored(other->id), ElementsAre(row("b", 2)));

  const auto response = call.append(request({row("d", 4)}, otherStream, /*schema=*/false));
  EXPECT_EQ(response.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(response.error().message(), HasSubstr("writer_schema"));
}

TEST_F(GrpcServerTest, RefusesARequestWithABadRowWholeAndListsEveryBadRow) {
  AppendCall call(*stub_);
  const auto response = call.append(
      request({row("good", 1), "\x0A\x01x", row("\xFF", 2), row("good", 3), "\x0A\x09"}));
  EXPECT_EQ(response.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  ASSERT_EQ(response.row_errors_size(), 3);
  EXPECT_EQ(response.row_errors(0).index(), 1);
  EXPECT_EQ(response.row_errors(0).code(), api::RowError::FIELDS_ERROR);
  EXPECT_THAT(response.row_errors(0).message(), AllOf(HasSubstr("n: "), HasSubstr("REQUIRED")));
  EXPECT_EQ(response.row_errors(1).index(), 2);
  EXPECT_THAT(response.row_errors(1).message(), AllOf(HasSubstr("name: "), HasSubstr("UTF-8")));
  EXPECT_EQ(response.row_errors(2).index(), 4);
  EXPECT_THAT(stored(), IsEmpty());

  EXPECT_TRUE(call.append(request({row("good", 1)})).has_append_result());  // the call goes on
  EXPECT_TRUE(call.finish().ok());
}

TEST_F(GrpcServerTest, MasksAMissingTableAsTheServiceDoes) {
  const std::string missing = "projects/p/datasets/d/tables/missing/streams/_default";
  AppendCall first(*stub_);
  const grpc::Status status = first.endedBy(request({row("a", 1)}, missing));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(),
              AllOf(HasSubstr("TABLES_GET"), HasSubstr("projects/p/datasets/d/tables/missing"),
                    HasSubstr("or it may not exist")));

  // On a connection that serves another table, only the request is refused.
  AppendCall second(*stub_);
  second.append(request({row("a", 1)}));
  const auto response = second.append(request({row("a", 1)}, missing));
  EXPECT_EQ(response.error().code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(response.write_stream(), missing);
  EXPECT_TRUE(second.append(request({row("b", 2)})).has_append_result());
}

TEST_F(GrpcServerTest, NoticesATableThatIsDroppedAndMadeAnewUnderAnOpenConnection) {
  AppendCall call(*stub_);
  call.append(request({row("a", 1)}));
  ASSERT_TRUE(catalog_->deleteTable(table_->reference).ok());
  ASSERT_TRUE(rows_->drop(table_->id).ok());
  EXPECT_EQ(call.append(request({row("b", 2)}, "", false)).error().code(),
            grpc::StatusCode::PERMISSION_DENIED);

  const auto again = createTable("t");
  EXPECT_TRUE(call.append(request({row("c", 3)}, "", false)).has_append_result());
  EXPECT_THAT(stored(again->id), ElementsAre(row("c", 3)));
}

TEST_F(GrpcServerTest, SaysWhatIsMissingFromAFirstRequest) {
  AppendCall noStream(*stub_);
  grpc::Status status = noStream.endedBy(request({row("a", 1)}, ""));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("write_stream"));

  AppendCall noSchema(*stub_);
  status = noSchema.endedBy(request({row("a", 1)}, kStream, /*schema=*/false));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("writer_schema"));

  AppendCall badName(*stub_);
  status = badName.endedBy(request({row("a", 1)}, "projects/p/tables/t"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("projects/p/tables/t"));

  EXPECT_THAT(stored(), IsEmpty());
}

TEST_F(GrpcServerTest, RefusesAnOffsetOnTheDefaultStreamAlsoZero) {
  AppendCall call(*stub_);
  call.append(request({row("a", 1)}));
  auto withOffset = request({row("b", 2)});
  withOffset.mutable_offset()->set_value(0);
  const auto response = call.append(withOffset);
  EXPECT_EQ(response.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(response.error().message(), HasSubstr("offset"));
}

TEST_F(GrpcServerTest, TellsExtraFieldsByTheStorageErrorInTheDetails) {
  AppendCall call(*stub_);
  auto extra = request({row("a", 1)});
  addField(*extra.mutable_proto_rows()->mutable_writer_schema()->mutable_proto_descriptor(),
           "surplus", 3, FieldDescriptorProto::TYPE_STRING);
  const auto response = call.append(extra);
  EXPECT_EQ(response.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(response.error().message(), HasSubstr("surplus"));
  ASSERT_EQ(response.error().details_size(), 1);
  api::StorageError details;
  ASSERT_TRUE(response.error().details(0).UnpackTo(&details));
  EXPECT_EQ(details.code(), api::StorageError::SCHEMA_MISMATCH_EXTRA_FIELDS);
  EXPECT_EQ(details.entity(), kStream);
  EXPECT_THAT(stored(), IsEmpty());
}

TEST_F(GrpcServerTest, AnswersChangeDataCaptureAsNotSupportedYet) {
  auto change = request({row("a", 1)});
  addField(*change.mutable_proto_rows()->mutable_writer_schema()->mutable_proto_descriptor(),
           "_CHANGE_TYPE", 3, FieldDescriptorProto::TYPE_STRING);
  AppendCall call(*stub_);
  const auto response = call.append(change);
  EXPECT_EQ(response.error().code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(response.error().message(), HasSubstr("not supported yet"));
}

TEST_F(GrpcServerTest, RefusesAFieldWhoseTypeItsColumnDoesNotTake) {
  auto wrong = request({});
  wrong.mutable_proto_rows()
      ->mutable_writer_schema()
      ->mutable_proto_descriptor()
      ->mutable_field(1)
      ->set_type(FieldDescriptorProto::TYPE_STRING);
  AppendCall call(*stub_);
  call.append(request({}));
  const auto response = call.append(wrong);
  EXPECT_EQ(response.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(response.error().message(), AllOf(HasSubstr("at n,"), HasSubstr("INTEGER")));
}

// An answer stays below the 4 MiB that clients receive by default.
TEST_F(GrpcServerTest, ListsVeryManyBadRows) {
  AppendCall call(*stub_);
  const auto response = call.append(request(std::vector<std::string>(100'000, "\x0A\x01x")));
  ASSERT_EQ(response.row_errors_size(), 100'000);
  EXPECT_EQ(response.row_errors(99'999).index(), 99'999);
  EXPECT_LT(response.ByteSizeLong(), 4u << 20);
}

TEST_F(GrpcServerTest, RefusesARequestOverTheLimitAndGoesOn) {
  AppendCall call(*stub_);
  call.append(request({row("a", 1)}));
  std::string huge = "\x10\x01\x0A\x80\x80\xC0\x05";  // n = 1, name of 11 MiB
  huge.append(11 << 20, 'x');
  const auto response = call.append(request({huge}));
  EXPECT_EQ(response.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(response.error().message(), HasSubstr("10485760"));
  EXPECT_TRUE(call.append(request({row("b", 2)})).has_append_result());
}

TEST_F(GrpcServerTest, AcceptsARequestWithoutRows) {
  AppendCall call(*stub_);
  EXPECT_TRUE(call.append(request({})).has_append_result());
  EXPECT_THAT(stored(), IsEmpty());
}

TEST_F(GrpcServerTest, ReframesRowsThatUnknownFieldsStandBetween) {
  api::AppendRowsRequest sent = request({row("a", 1), row("b", 2)});
  auto& rows = *sent.mutable_proto_rows()->mutable_rows();
  rows.GetReflection()->MutableUnknownFields(&rows)->AddVarint(9, 7);
  AppendCall call(*stub_);
  EXPECT_TRUE(call.append(sent).has_append_result());
  EXPECT_THAT(stored(), ElementsAre(row("a", 1), row("b", 2)));
}

TEST_F(GrpcServerTest, DescribesTheDefaultStreamByBothNames) {
  for (const char* name : {kStream, kShortStream}) {
    grpc::ClientContext context;
    api::GetWriteStreamRequest request;
    request.set_name(name);
    api::WriteStream stream;
    const grpc::Status status = stub_->GetWriteStream(&context, request, &stream);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(stream.name(), kStream);
    EXPECT_EQ(stream.type(), api::WriteStream::COMMITTED);
    EXPECT_EQ(stream.location(), "EU");
    EXPECT_FALSE(stream.has_table_schema());  // the basic view
    EXPECT_EQ(context.GetServerInitialMetadata().count("x-penstock-emulator"), 1u);
  }
  grpc::ClientContext context;
  api::GetWriteStreamRequest request;
  request.set_name(kStream);
  request.set_view(api::FULL);
  api::WriteStream stream;
  ASSERT_TRUE(stub_->GetWriteStream(&context, request, &stream).ok());
  ASSERT_EQ(stream.table_schema().fields_size(), 2);
  EXPECT_EQ(stream.table_schema().fields(1).name(), "n");
  EXPECT_EQ(stream.table_schema().fields(1).type(), api::TableFieldSchema::INT64);
  EXPECT_EQ(stream.table_schema().fields(1).mode(), api::TableFieldSchema::REQUIRED);
}

TEST_F(GrpcServerTest, MasksAMissingTableInGetWriteStream) {
  grpc::ClientContext context;
  api::GetWriteStreamRequest request;
  request.set_name("projects/p/datasets/d/tables/missing/streams/_default");
  api::WriteStream stream;
  const grpc::Status status = stub_->GetWriteStream(&context, request, &stream);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), HasSubstr("or it may not exist"));
}

// BQW-060: the service's limit, past which a client's calls wait.
TEST_F(GrpcServerTest, ServesAHundredStreamsOnOneConnection) {
  std::vector<std::unique_ptr<AppendCall>> calls;
  for (int index = 0; index < 100; ++index) {
    calls.push_back(std::make_unique<AppendCall>(*stub_));
    ASSERT_TRUE(calls.back()->append(request({row("a", 1)})).has_append_result());
  }
  AppendCall waiting(*stub_, std::chrono::milliseconds(200));
  waiting.send(request({row("b", 2)}));
  api::AppendRowsResponse response;
  EXPECT_FALSE(waiting.receive(response));
  EXPECT_EQ(waiting.finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(stored(), SizeIs(100));

  calls.pop_back();
  AppendCall next(*stub_);
  EXPECT_TRUE(next.append(request({row("c", 3)})).has_append_result());
}

TEST_F(GrpcServerTest, ReportsAPortThatIsTaken) {
  const auto second = GrpcServer::start("127.0.0.1", server_->port(), {*catalog_, *rows_, faults_});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace penstock::emulator
