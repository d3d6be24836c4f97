#include "penstock/bigquery/transport/stream_admin_client.h"

#include <utility>

#include "penstock/bigquery/transport/unary_call.h"
#include "penstock/gcp/rest_client.h"

namespace penstock::bigquery {
namespace {

namespace storage = google::cloud::bigquery::storage::v1;

StreamError streamError(const CallStatus& answer) { return {answer.status, answer.storageError}; }

}  // namespace

StreamAdminClient::StreamAdminClient(std::shared_ptr<const gcp::ChannelSource> channels)
    : service_(std::make_shared<UnaryService>(std::move(channels))) {}

StreamAdminClient::~StreamAdminClient() = default;

void StreamAdminClient::createStream(const TableName& table, base::Duration timeout,
                                     CreateCallback callback) {
  storage::CreateWriteStreamRequest request;
  request.set_parent(table.resource());
  request.mutable_write_stream()->set_type(storage::WriteStream::BUFFERED);
  const UnaryOptions options{.routing = "parent=" + gcp::urlEncode(table.resource()),
                             .timeout = timeout};
  UnaryCall<storage::CreateWriteStreamRequest, storage::WriteStream>::start(
      service_, &UnaryService::Stub::AsyncCreateWriteStream, std::move(request), options,
      [callback = std::move(callback)](const CallStatus& answer, const storage::WriteStream& stream,
                                       const grpc::ClientContext&) {
        callback(streamError(answer), {stream.name(), stream.location()});
      });
}

void StreamAdminClient::flushRows(const std::string& stream, int64_t offset, base::Duration timeout,
                                  FlushCallback callback) {
  storage::FlushRowsRequest request;
  request.set_write_stream(stream);
  request.mutable_offset()->set_value(offset);
  const UnaryOptions options{.routing = "write_stream=" + gcp::urlEncode(stream),
                             .timeout = timeout};
  UnaryCall<storage::FlushRowsRequest, storage::FlushRowsResponse>::start(
      service_, &UnaryService::Stub::AsyncFlushRows, std::move(request), options,
      [callback = std::move(callback)](
          const CallStatus& answer, const storage::FlushRowsResponse& response,
          const grpc::ClientContext&) { callback(streamError(answer), response.offset()); });
}

}  // namespace penstock::bigquery
