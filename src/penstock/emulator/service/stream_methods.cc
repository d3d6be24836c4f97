#include "penstock/emulator/service/stream_methods.h"

#include <chrono>
#include <set>
#include <string>

#include "penstock/emulator/catalog/schema_proto.h"
#include "penstock/emulator/service/table_age.h"
#include "penstock/emulator/storage/write_stream.h"

namespace penstock::emulator {
namespace {

namespace api = google::cloud::bigquery::storage::v1;

void setTimestamp(int64_t micros, google::protobuf::Timestamp& timestamp) {
  timestamp.set_seconds(micros / 1'000'000);
  timestamp.set_nanos(static_cast<int32_t>(micros % 1'000'000 * 1000));
}

void describe(const StreamName& name, const Table& table, bool withSchema,
              api::WriteStream& stream) {
  stream.set_name(name.text());
  stream.set_write_mode(api::WriteStream::INSERT);
  stream.set_location(table.location);
  if (withSchema) *stream.mutable_table_schema() = toSchemaProto(table.schema);
}

void describe(const StreamView& view, api::WriteStream& stream) {
  stream.set_type(static_cast<api::WriteStream::Type>(view.type));
  setTimestamp(view.createdMicros, *stream.mutable_create_time());
  if (view.type == StreamType::kCommitted) *stream.mutable_commit_time() = stream.create_time();
  if (view.committed) setTimestamp(view.committedMicros, *stream.mutable_commit_time());
}

absl::Status notForDefaultStreams(std::string_view method) {
  return streamError(StreamErrorCode::kInvalidStreamType,
                     fmt::format("{} is not supported on the default stream.", method));
}

absl::Status checkParent(const api::BatchCommitWriteStreamsRequest& request) {
  if (request.write_streams().empty()) {
    return base::invalidArgument("write_streams must name at least one stream to commit.");
  }
  std::set<std::string_view> seen;
  for (const std::string& stream : request.write_streams()) {
    PENSTOCK_ASSIGN_OR_RETURN(const StreamName name, StreamName::parse(stream));
    if (name.tableResource() != request.parent()) {
      return base::invalidArgument("Stream {} does not belong to the parent {}.", stream,
                                   request.parent());
    }
    if (!seen.insert(stream).second) {
      return base::invalidArgument("Stream {} is listed twice.", stream);
    }
  }
  return absl::OkStatus();
}

void addProblem(const absl::Status& problem, const std::string& stream,
                api::BatchCommitWriteStreamsResponse& response) {
  if (problem.ok()) return;
  api::StorageError& error = *response.add_stream_errors();
  error.set_code(static_cast<api::StorageError::StorageErrorCode>(streamErrorCodeOf(problem)));
  error.set_entity(stream);
  error.set_error_message(std::string(base::messageOf(problem)));
}

}  // namespace

int64_t StreamMethods::nowMicros() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(clock_.wallNow().time_since_epoch())
      .count();
}

absl::Status StreamMethods::createWriteStream(const api::CreateWriteStreamRequest& request,
                                              api::WriteStream& response) {
  PENSTOCK_ASSIGN_OR_RETURN(const TableReference parent, parseTableResource(request.parent()));
  const api::WriteStream::Type type = request.write_stream().type();
  if (type == api::WriteStream::TYPE_UNSPECIFIED || !api::WriteStream::Type_IsValid(type)) {
    return base::invalidArgument(
        "The type of the stream must be COMMITTED, PENDING or BUFFERED: set write_stream.type.");
  }
  const std::shared_ptr<const Table> table = catalog_.findTable(parent);
  if (table == nullptr) return maskedMissing(parent, kPermissionToUpdate);
  PENSTOCK_ASSIGN_OR_RETURN(
      const WriteStreamPtr stream,
      rows_.createStream(table->id, static_cast<StreamType>(type), nowMicros()));
  PENSTOCK_ASSIGN_OR_RETURN(const StreamView view, stream->view());
  describe(StreamName{parent, stream->id()}, *table, /*withSchema=*/true, response);
  describe(view, response);
  return absl::OkStatus();
}

absl::Status StreamMethods::getWriteStream(const api::GetWriteStreamRequest& request,
                                           bool oldSchema, api::WriteStream& response) {
  PENSTOCK_ASSIGN_OR_RETURN(const StreamName name, StreamName::parse(request.name()));
  std::shared_ptr<const Table> table = catalog_.findTable(name.table);
  if (table == nullptr) return maskedMissing(name.table);
  if (oldSchema) table = beforeItsChange(std::move(table));
  StreamView view;
  view.createdMicros = table->creationMillis * 1000;
  if (!name.isDefault()) {
    PENSTOCK_ASSIGN_OR_RETURN(const WriteStreamPtr stream,
                              rows_.findStream(table->id, name.stream));
    PENSTOCK_ASSIGN_OR_RETURN(view, stream->view());
  }
  describe(name, *table, request.view() == api::FULL, response);
  describe(view, response);
  return absl::OkStatus();
}

absl::StatusOr<WriteStreamPtr> StreamMethods::findCreated(const StreamName& name,
                                                          std::string_view method) {
  if (name.isDefault()) return notForDefaultStreams(method);
  const std::shared_ptr<const Table> table = catalog_.findTable(name.table);
  if (table == nullptr) return maskedMissing(name.table, kPermissionToUpdate);
  return rows_.findStream(table->id, name.stream);
}

absl::Status StreamMethods::finalizeWriteStream(const api::FinalizeWriteStreamRequest& request,
                                                api::FinalizeWriteStreamResponse& response) {
  PENSTOCK_ASSIGN_OR_RETURN(const StreamName name, StreamName::parse(request.name()));
  PENSTOCK_ASSIGN_OR_RETURN(const WriteStreamPtr stream, findCreated(name, "FinalizeWriteStream"));
  PENSTOCK_ASSIGN_OR_RETURN(const uint64_t rows, stream->finalize());
  response.set_row_count(static_cast<int64_t>(rows));
  return absl::OkStatus();
}

absl::Status StreamMethods::flushRows(const api::FlushRowsRequest& request,
                                      api::FlushRowsResponse& response) {
  PENSTOCK_ASSIGN_OR_RETURN(const StreamName name, StreamName::parse(request.write_stream()));
  PENSTOCK_ASSIGN_OR_RETURN(const WriteStreamPtr stream, findCreated(name, "FlushRows"));
  // Some clients leave the field out for offset 0.
  const int64_t offset = request.offset().value();
  PENSTOCK_RETURN_IF_ERROR(stream->flush(offset));
  response.set_offset(offset);
  return absl::OkStatus();
}

absl::Status StreamMethods::batchCommitWriteStreams(
    const api::BatchCommitWriteStreamsRequest& request,
    api::BatchCommitWriteStreamsResponse& response) {
  PENSTOCK_ASSIGN_OR_RETURN(const TableReference parent, parseTableResource(request.parent()));
  PENSTOCK_RETURN_IF_ERROR(checkParent(request));
  const std::shared_ptr<const Table> table = catalog_.findTable(parent);
  if (table == nullptr) return maskedMissing(parent, kPermissionToUpdate);
  std::vector<WriteStreamPtr> streams;
  for (const std::string& text : request.write_streams()) {
    PENSTOCK_ASSIGN_OR_RETURN(const StreamName name, StreamName::parse(text));
    const absl::StatusOr<WriteStreamPtr> stream = findCreated(name, "BatchCommitWriteStreams");
    const absl::Status problem = stream.ok() ? (*stream)->checkCommit() : stream.status();
    if (!problem.ok() && streamErrorCodeOf(problem) == StreamErrorCode::kNone) return problem;
    addProblem(problem, text, response);
    if (stream.ok()) streams.push_back(*stream);
  }
  if (!response.stream_errors().empty()) return absl::OkStatus();
  const int64_t now = nowMicros();
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<absl::Status> problems,
                            rows_.commitStreams(table->id, streams, now));
  // Another call may have come in between.
  for (size_t index = 0; index < problems.size(); ++index) {
    addProblem(problems[index], request.write_streams(static_cast<int>(index)), response);
  }
  if (response.stream_errors().empty()) setTimestamp(now, *response.mutable_commit_time());
  return absl::OkStatus();
}

}  // namespace penstock::emulator
