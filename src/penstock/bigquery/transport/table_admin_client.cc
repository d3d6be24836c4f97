#include "penstock/bigquery/transport/table_admin_client.h"

#include <google/cloud/bigquery/storage/v1/storage.grpc.pb.h>
#include <grpcpp/channel.h>

#include <utility>

#include "penstock/bigquery/schema/schema_proto.h"
#include "penstock/bigquery/transport/append_response.h"
#include "penstock/bigquery/transport/table_resource.h"
#include "penstock/gcp/channel.h"
#include "penstock/gcp/completion_loop.h"
#include "penstock/gcp/rest_client.h"

namespace penstock::bigquery {
namespace {

namespace storage = google::cloud::bigquery::storage::v1;

constexpr char kEmulatorHeader[] = "x-penstock-emulator";
constexpr base::Duration kChangeTimeout = std::chrono::seconds(60);

std::chrono::system_clock::time_point deadlineIn(base::Duration timeout) {
  constexpr base::Duration kLongest = std::chrono::hours(24 * 365);
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(
             std::min(timeout, kLongest));
}

AdminError adminError(const gcp::RestResponse& response, std::string_view method,
                      const TableName& table) {
  if (response.status.ok()) return {};
  return {
      .status = base::withContext(response.status, fmt::format("{} of {}", method, table.dotted())),
      .httpCode = response.httpCode,
      .reason = response.reason};
}

}  // namespace

class TableAdminClient::StreamService {
 public:
  explicit StreamService(std::shared_ptr<const gcp::ChannelSource> source)
      : source_(std::move(source)),
        stub_(storage::BigQueryWrite::NewStub(source_->makeChannel())) {}

  [[nodiscard]] const gcp::ChannelSource& source() const { return *source_; }
  [[nodiscard]] storage::BigQueryWrite::Stub& stub() { return *stub_; }
  [[nodiscard]] grpc::CompletionQueue& queue() { return loop_.queue(); }

 private:
  const std::shared_ptr<const gcp::ChannelSource> source_;
  gcp::CompletionLoop loop_;
  const std::unique_ptr<storage::BigQueryWrite::Stub> stub_;
};

namespace {

using StreamService = TableAdminClient::StreamService;

/// One GetWriteStream call; owns itself from `begin` until it has answered.
class GetWriteStreamCall final : public gcp::Completion {
 public:
  GetWriteStreamCall(std::shared_ptr<StreamService> service, const std::string& stream,
                     bool fullView, base::Duration timeout, bool failFast,
                     TableAdmin::StreamCallback callback)
      : service_(std::move(service)), callback_(std::move(callback)) {
    request_.set_name(stream);
    request_.set_view(fullView ? storage::FULL : storage::BASIC);
    context_.set_deadline(deadlineIn(timeout));
    context_.set_wait_for_ready(!failFast);
    context_.AddMetadata("x-goog-request-params", "name=" + gcp::urlEncode(stream));
  }

  static void start(std::unique_ptr<GetWriteStreamCall> call) {
    const std::shared_ptr<gcp::TokenSource>& tokens = call->service_->source().tokens();
    if (tokens == nullptr) return begin(std::move(call));
    if (const std::optional<gcp::Authorization> token = tokens->current()) {
      gcp::authorize(*token, &call->context_);
      return begin(std::move(call));
    }
    tokens->fetch([shared = std::make_shared<std::unique_ptr<GetWriteStreamCall>>(std::move(call))](
                      const absl::StatusOr<gcp::Authorization>& token) {
      if (!token.ok()) return (*shared)->callback_(token.status());
      gcp::authorize(*token, &(*shared)->context_);
      begin(std::move(*shared));
    });
  }

  void complete(bool) override {
    const std::unique_ptr<GetWriteStreamCall> self(this);
    callback_(answer());
  }

 private:
  static void begin(std::unique_ptr<GetWriteStreamCall> call) {
    GetWriteStreamCall* running = call.release();
    running->reader_ = running->service_->stub().AsyncGetWriteStream(
        &running->context_, running->request_, &running->service_->queue());
    running->reader_->Finish(&running->response_, &running->status_, running);
  }

  absl::StatusOr<WriteStreamInfo> answer() {
    if (!status_.ok()) return failure();
    WriteStreamInfo info{.name = response_.name(), .location = response_.location()};
    info.announcesPenstock = context_.GetServerInitialMetadata().count(kEmulatorHeader) != 0;
    if (response_.has_table_schema()) {
      PENSTOCK_ASSIGN_OR_RETURN(info.schema, schemaFromProto(response_.table_schema()));
    }
    return info;
  }

  absl::Status failure() {
    absl::Status status = decodeCallStatus(static_cast<int>(status_.error_code()),
                                           status_.error_message(), status_.error_details())
                              .status;
    const bool nobodyAnswered = status.code() == absl::StatusCode::kUnavailable ||
                                status.code() == absl::StatusCode::kDeadlineExceeded;
    if (!nobodyAnswered) return status;
    return base::withContext(
        status, fmt::format("no answer from {}", service_->source().endpoint().target));
  }

  const std::shared_ptr<StreamService> service_;
  TableAdmin::StreamCallback callback_;
  storage::GetWriteStreamRequest request_;
  storage::WriteStream response_;
  grpc::Status status_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<storage::WriteStream>> reader_;
};

}  // namespace

TableAdminClient::TableAdminClient(std::shared_ptr<const gcp::ChannelSource> channels,
                                   std::shared_ptr<gcp::RestClient> rest)
    : streams_(std::make_shared<StreamService>(std::move(channels))), rest_(std::move(rest)) {}

TableAdminClient::~TableAdminClient() = default;

void TableAdminClient::getWriteStream(const std::string& stream, bool fullView,
                                      base::Duration timeout, bool failFast,
                                      StreamCallback callback) {
  GetWriteStreamCall::start(std::make_unique<GetWriteStreamCall>(
      streams_, stream, fullView, timeout, failFast, std::move(callback)));
}

void TableAdminClient::getTable(const TableName& table, base::Duration timeout,
                                TableCallback callback) {
  rest_->call({.path = tablePath(table), .timeout = timeout},
              [table, callback = std::move(callback)](const gcp::RestResponse& response) {
                AdminError error = adminError(response, "tables.get", table);
                if (!error.status.ok()) return callback(std::move(error), {});
                absl::StatusOr<TableInfo> info = parseTableResource(response.body);
                if (!info.ok()) {
                  error.status = base::withContext(info.status(), table.dotted());
                  error.httpCode = response.httpCode;
                  return callback(std::move(error), {});
                }
                callback({}, *std::move(info));
              });
}

void TableAdminClient::updateSchema(const TableName& table, const std::string& etag,
                                    const std::string& schemaJson, DoneCallback callback) {
  rest_->call({.method = "PATCH",
               .path = tablePath(table),
               .body = schemaPatch(schemaJson),
               .ifMatch = etag,
               .timeout = kChangeTimeout},
              [table, callback = std::move(callback)](const gcp::RestResponse& response) {
                callback(adminError(response, "tables.patch", table));
              });
}

void TableAdminClient::createTable(const TableName& table, const TableSchema& schema,
                                   const TableCreateOptions& options, DoneCallback callback) {
  rest_->call({.method = "POST",
               .path = tablesPath(table),
               .body = newTableResource(table, schema, options),
               .timeout = kChangeTimeout},
              [table, callback = std::move(callback)](const gcp::RestResponse& response) {
                callback(adminError(response, "tables.insert", table));
              });
}

}  // namespace penstock::bigquery
