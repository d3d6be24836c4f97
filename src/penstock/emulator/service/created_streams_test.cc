#include <gmock/gmock.h>
#include <google/rpc/status.pb.h>
#include <gtest/gtest.h>

#include "penstock/emulator/testing/grpc_server_fixture.h"

namespace penstock::emulator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kTableName = "projects/p/datasets/d/tables/t";

api::StorageError errorIn(const google::rpc::Status& status) {
  api::StorageError error;
  if (status.details_size() == 1) status.details(0).UnpackTo(&error);
  return error;
}
api::StorageError::StorageErrorCode codeOf(const api::AppendRowsResponse& response) {
  return errorIn(response.error()).code();
}
/// The StorageError in the details of a call's status.
api::StorageError::StorageErrorCode codeOf(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.code(), status.error_code());
  return errorIn(details).code();
}

class CreatedStreamsTest : public GrpcServerTest {
 protected:
  grpc::Status create(const std::string& parent, api::WriteStream::Type type,
                      api::WriteStream& stream) {
    grpc::ClientContext context;
    api::CreateWriteStreamRequest request;
    request.set_parent(parent);
    request.mutable_write_stream()->set_type(type);
    return stub_->CreateWriteStream(&context, request, &stream);
  }
  std::string create(api::WriteStream::Type type) {
    api::WriteStream stream;
    const grpc::Status status = create(kTableName, type, stream);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return stream.name();
  }
  grpc::Status get(const std::string& name, api::WriteStreamView view, api::WriteStream& stream) {
    grpc::ClientContext context;
    api::GetWriteStreamRequest request;
    request.set_name(name);
    request.set_view(view);
    return stub_->GetWriteStream(&context, request, &stream);
  }
  grpc::Status finalize(const std::string& name, int64_t& rows) {
    grpc::ClientContext context;
    api::FinalizeWriteStreamRequest request;
    request.set_name(name);
    api::FinalizeWriteStreamResponse response;
    const grpc::Status status = stub_->FinalizeWriteStream(&context, request, &response);
    rows = response.row_count();
    return status;
  }
  int64_t finalize(const std::string& name) {
    int64_t rows = 0;
    const grpc::Status status = finalize(name, rows);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return rows;
  }
  grpc::Status flush(const std::string& name, std::optional<int64_t> offset) {
    grpc::ClientContext context;
    return flush(name, offset, context);
  }
  grpc::Status flush(const std::string& name, std::optional<int64_t> offset,
                     grpc::ClientContext& context) {
    api::FlushRowsRequest request;
    request.set_write_stream(name);
    if (offset.has_value()) request.mutable_offset()->set_value(*offset);
    api::FlushRowsResponse response;
    const grpc::Status status = stub_->FlushRows(&context, request, &response);
    EXPECT_EQ(response.offset(), status.ok() ? offset.value_or(0) : 0);
    return status;
  }
  grpc::Status commit(const std::vector<std::string>& names,
                      api::BatchCommitWriteStreamsResponse& response,
                      const std::string& parent = kTableName) {
    grpc::ClientContext context;
    api::BatchCommitWriteStreamsRequest request;
    request.set_parent(parent);
    for (const std::string& name : names) request.add_write_streams(name);
    return stub_->BatchCommitWriteStreams(&context, request, &response);
  }

  static api::AppendRowsRequest at(int64_t offset, api::AppendRowsRequest request) {
    request.mutable_offset()->set_value(offset);
    return request;
  }
};

TEST_F(CreatedStreamsTest, DescribesAStreamAsTheServiceDoes) {
  api::WriteStream made;
  ASSERT_TRUE(create(kTableName, api::WriteStream::PENDING, made).ok());
  EXPECT_THAT(made.name(), StartsWith(std::string(kTableName) + "/streams/"));
  EXPECT_EQ(made.type(), api::WriteStream::PENDING);
  EXPECT_EQ(made.write_mode(), api::WriteStream::INSERT);
  EXPECT_EQ(made.location(), "EU");
  EXPECT_EQ(made.table_schema().fields_size(), 2);
  EXPECT_GT(made.create_time().seconds(), 0);
  EXPECT_FALSE(made.has_commit_time());

  api::WriteStream basic;
  ASSERT_TRUE(get(made.name(), api::BASIC, basic).ok());
  EXPECT_FALSE(basic.has_table_schema());
  EXPECT_EQ(basic.type(), api::WriteStream::PENDING);
  EXPECT_EQ(basic.create_time().nanos(), made.create_time().nanos());
  api::WriteStream full;
  ASSERT_TRUE(get(made.name(), api::FULL, full).ok());
  EXPECT_EQ(full.table_schema().fields(0).name(), "name");

  api::WriteStream committed;
  ASSERT_TRUE(create(kTableName, api::WriteStream::COMMITTED, committed).ok());
  EXPECT_EQ(committed.commit_time().seconds(), committed.create_time().seconds());
  EXPECT_NE(committed.name(), made.name());
}

TEST_F(CreatedStreamsTest, RefusesToCreateAStreamWithoutATypeOrTable) {
  api::WriteStream stream;
  EXPECT_EQ(create(kTableName, api::WriteStream::TYPE_UNSPECIFIED, stream).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(create("projects/p/tables/t", api::WriteStream::BUFFERED, stream).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  const grpc::Status missing =
      create("projects/p/datasets/d/tables/missing", api::WriteStream::BUFFERED, stream);
  EXPECT_EQ(missing.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(missing.error_message(), HasSubstr("TABLES_UPDATE_DATA"));
  EXPECT_THAT(missing.error_message(), HasSubstr("or it may not exist"));
}

TEST_F(CreatedStreamsTest, HoldsAppendsToTheOffset) {
  const std::string name = create(api::WriteStream::COMMITTED);
  AppendCall call(*stub_);
  auto response = call.append(at(0, request({row("a", 1), row("b", 2)}, name)));
  EXPECT_EQ(response.append_result().offset().value(), 0);
  EXPECT_EQ(response.write_stream(), name);
  // Without an offset: at the end, and the answer says where.
  response = call.append(request({row("c", 3)}, "", false));
  EXPECT_TRUE(response.append_result().has_offset());
  EXPECT_EQ(response.append_result().offset().value(), 2);

  response = call.append(at(1, request({row("x", 1)}, "", false)));
  EXPECT_EQ(response.error().code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(codeOf(response), api::StorageError::OFFSET_ALREADY_EXISTS);
  EXPECT_EQ(errorIn(response.error()).entity(), name);
  EXPECT_THAT(response.error().message(), HasSubstr("expected offset 3, received 1"));
  response = call.append(at(9, request({row("x", 1)}, "", false)));
  EXPECT_EQ(response.error().code(), grpc::StatusCode::OUT_OF_RANGE);
  EXPECT_EQ(codeOf(response), api::StorageError::OFFSET_OUT_OF_RANGE);
  response = call.append(at(3, request({row("d", 4)}, "", false)));
  EXPECT_EQ(response.append_result().offset().value(), 3);
  EXPECT_THAT(stored(), ElementsAre(row("a", 1), row("b", 2), row("c", 3), row("d", 4)));
  EXPECT_TRUE(call.finish().ok());
}

TEST_F(CreatedStreamsTest, LeavesTheOffsetWhereItWasWhenARowIsBad) {
  const std::string name = create(api::WriteStream::BUFFERED);
  AppendCall call(*stub_);
  auto response = call.append(at(0, request({row("a", 1), "\x0A\x01x"}, name)));
  EXPECT_EQ(response.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(response.row_errors(), SizeIs(1));
  EXPECT_TRUE(call.append(at(0, request({row("a", 1)}, name))).has_append_result());
  EXPECT_EQ(call.append(at(1, request({row("b", 2)}, name))).append_result().offset().value(), 1);
}

TEST_F(CreatedStreamsTest, FlushesABufferedStream) {
  const std::string name = create(api::WriteStream::BUFFERED);
  AppendCall call(*stub_);
  ASSERT_TRUE(call.append(at(0, request({row("a", 1), row("b", 2)}, name))).has_append_result());
  EXPECT_THAT(stored(), IsEmpty());
  EXPECT_TRUE(flush(name, std::nullopt).ok());  // as Node.js sends offset 0
  EXPECT_THAT(stored(), ElementsAre(row("a", 1)));

  grpc::Status status = flush(name, 0);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(codeOf(status), api::StorageError::OFFSET_ALREADY_EXISTS);
  status = flush(name, 2);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::OUT_OF_RANGE);
  EXPECT_EQ(codeOf(status), api::StorageError::OFFSET_OUT_OF_RANGE);
  EXPECT_THAT(status.error_message(), HasSubstr(name));
  EXPECT_TRUE(flush(name, 1).ok());
  EXPECT_THAT(stored(), ElementsAre(row("a", 1), row("b", 2)));

  EXPECT_EQ(finalize(name), 2);
  EXPECT_EQ(codeOf(flush(name, 1)), api::StorageError::STREAM_FINALIZED);
  const auto response = call.append(at(2, request({row("c", 3)}, "", false)));
  EXPECT_EQ(codeOf(response), api::StorageError::STREAM_FINALIZED);
  EXPECT_THAT(stored(), SizeIs(2));
}

TEST_F(CreatedStreamsTest, CommitsPendingStreamsTogether) {
  const std::string first = create(api::WriteStream::PENDING);
  const std::string second = create(api::WriteStream::PENDING);
  for (const std::string& name : {first, second}) {
    AppendCall call(*stub_);
    ASSERT_TRUE(call.append(at(0, request({row("a", 1)}, name))).has_append_result());
  }
  EXPECT_EQ(finalize(first), 1);
  const std::string committed = create(api::WriteStream::COMMITTED);
  const std::string missing = std::string(kTableName) + "/streams/Cic";

  api::BatchCommitWriteStreamsResponse response;
  ASSERT_TRUE(commit({first, second, committed, missing, kStream}, response).ok());
  EXPECT_FALSE(response.has_commit_time());
  ASSERT_THAT(response.stream_errors(), SizeIs(4));
  EXPECT_EQ(response.stream_errors(0).entity(), second);
  EXPECT_EQ(response.stream_errors(0).code(), api::StorageError::INVALID_STREAM_STATE);
  EXPECT_EQ(response.stream_errors(1).code(), api::StorageError::INVALID_STREAM_TYPE);
  EXPECT_EQ(response.stream_errors(2).entity(), missing);
  EXPECT_EQ(response.stream_errors(2).code(), api::StorageError::STREAM_NOT_FOUND);
  EXPECT_EQ(response.stream_errors(3).code(), api::StorageError::INVALID_STREAM_TYPE);
  EXPECT_THAT(stored(), IsEmpty());

  EXPECT_EQ(finalize(second), 1);
  response.Clear();
  ASSERT_TRUE(commit({first, second}, response).ok());
  EXPECT_TRUE(response.has_commit_time());
  EXPECT_THAT(response.stream_errors(), IsEmpty());
  EXPECT_THAT(stored(), SizeIs(2));
  api::WriteStream described;
  ASSERT_TRUE(get(first, api::BASIC, described).ok());
  EXPECT_EQ(described.commit_time().seconds(), response.commit_time().seconds());
  EXPECT_EQ(described.commit_time().nanos(), response.commit_time().nanos());

  response.Clear();
  ASSERT_TRUE(commit({second}, response).ok());
  ASSERT_THAT(response.stream_errors(), SizeIs(1));
  EXPECT_EQ(response.stream_errors(0).code(), api::StorageError::STREAM_ALREADY_COMMITTED);
  EXPECT_THAT(stored(), SizeIs(2));
}

TEST_F(CreatedStreamsTest, RefusesACommitThatNamesWrongStreams) {
  createTable("other");
  const std::string name = create(api::WriteStream::PENDING);
  finalize(name);
  api::BatchCommitWriteStreamsResponse response;
  EXPECT_EQ(commit({}, response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(commit({name, name}, response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const std::string other = "projects/p/datasets/d/tables/other";
  grpc::Status status = commit({name}, response, other);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("does not belong"));
  const std::string missing = "projects/p/datasets/d/tables/missing";
  status = commit({missing + "/streams/Cic"}, response, missing);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(CreatedStreamsTest, RefusesWhatTheDefaultStreamDoesNotTake) {
  int64_t rows = 0;
  EXPECT_EQ(codeOf(finalize(kStream, rows)), api::StorageError::INVALID_STREAM_TYPE);
  EXPECT_EQ(codeOf(flush(kShortStream, 0)), api::StorageError::INVALID_STREAM_TYPE);
  EXPECT_EQ(codeOf(flush(create(api::WriteStream::PENDING), 0)),
            api::StorageError::INVALID_STREAM_TYPE);
}

TEST_F(CreatedStreamsTest, TellsAStreamThatIsNotThere) {
  const std::string missing = std::string(kTableName) + "/streams/Cic";
  int64_t rows = 0;
  api::WriteStream stream;
  for (const grpc::Status& status :
       {finalize(missing, rows), flush(missing, 0), get(missing, api::BASIC, stream),
        AppendCall(*stub_).endedBy(request({row("a", 1)}, missing))}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
    EXPECT_EQ(codeOf(status), api::StorageError::STREAM_NOT_FOUND);
    EXPECT_THAT(status.error_message(), HasSubstr(missing));
  }
}

// Where Google's Java and Node.js clients look for it.
TEST_F(CreatedStreamsTest, PutsTheStorageErrorIntoATrailer) {
  grpc::ClientContext context;
  EXPECT_FALSE(flush(create(api::WriteStream::BUFFERED), 5, context).ok());
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find("google.cloud.bigquery.storage.v1.storageerror-bin");
  ASSERT_NE(found, trailers.end());
  api::StorageError error;
  ASSERT_TRUE(error.ParseFromArray(found->second.data(), static_cast<int>(found->second.size())));
  EXPECT_EQ(error.code(), api::StorageError::OFFSET_OUT_OF_RANGE);
}

TEST_F(CreatedStreamsTest, SharesACallBetweenDefaultStreamsOnly) {
  const std::string first = create(api::WriteStream::COMMITTED);
  const std::string second = create(api::WriteStream::COMMITTED);
  AppendCall created(*stub_);
  created.append(request({row("a", 1)}, first));
  for (const std::string& other : {second, std::string(kStream)}) {
    const auto response = created.append(request({row("b", 2)}, other));
    EXPECT_EQ(response.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(response.error().message(), HasSubstr("only default streams share"));
  }
  EXPECT_TRUE(created.append(request({row("c", 3)}, first)).has_append_result());

  AppendCall defaults(*stub_);
  defaults.append(request({row("d", 4)}));
  EXPECT_EQ(defaults.append(request({row("b", 2)}, second)).error().code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(stored(), ElementsAre(row("a", 1), row("c", 3), row("d", 4)));
}

TEST_F(CreatedStreamsTest, LosesItsStreamsWithTheTable) {
  const std::string name = create(api::WriteStream::COMMITTED);
  AppendCall call(*stub_);
  call.append(request({row("a", 1)}, name));
  ASSERT_TRUE(catalog_->deleteTable(table_->reference).ok());
  ASSERT_TRUE(rows_->drop(table_->id).ok());
  auto response = call.append(request({row("b", 2)}, name));
  EXPECT_EQ(response.error().code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(codeOf(response), api::StorageError::TABLE_NOT_FOUND);
  api::WriteStream stream;
  EXPECT_EQ(get(name, api::BASIC, stream).error_code(), grpc::StatusCode::PERMISSION_DENIED);

  const auto again = createTable("t");
  response = call.append(request({row("b", 2)}, name));
  EXPECT_EQ(response.error().code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(codeOf(response), api::StorageError::STREAM_NOT_FOUND);
  EXPECT_EQ(codeOf(get(name, api::BASIC, stream)), api::StorageError::STREAM_NOT_FOUND);
  EXPECT_THAT(stored(again->id), IsEmpty());
}

TEST_F(CreatedStreamsTest, AttachesTheStorageErrorOfAFaultRule) {
  FaultRule rule;
  rule.method = "FlushRows";
  rule.code = absl::StatusCode::kInvalidArgument;
  rule.storageError = "STREAM_FINALIZED";
  ASSERT_TRUE(faults_.add(rule).ok());
  const grpc::Status status = flush(create(api::WriteStream::BUFFERED), 0);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(codeOf(status), api::StorageError::STREAM_FINALIZED);
}

}  // namespace
}  // namespace penstock::emulator
