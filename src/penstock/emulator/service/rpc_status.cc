#include "penstock/emulator/service/rpc_status.h"

#include <google/cloud/bigquery/storage/v1/storage.pb.h>

#include "penstock/emulator/storage/stream_error.h"

namespace penstock::emulator {

namespace api = google::cloud::bigquery::storage::v1;

namespace {
constexpr const char* kStorageErrorTrailer = "google.cloud.bigquery.storage.v1.storageerror-bin";
}  // namespace

google::rpc::Status toRpcStatus(const absl::Status& status, std::string_view entity) {
  google::rpc::Status rpc;
  rpc.set_code(static_cast<int>(status.code()));
  rpc.set_message(entity.empty() ? std::string(base::messageOf(status))
                                 : fmt::format("{} Entity: {}", base::messageOf(status), entity));
  const StreamErrorCode code = streamErrorCodeOf(status);
  if (code == StreamErrorCode::kNone) return rpc;
  api::StorageError details;
  details.set_code(static_cast<api::StorageError::StorageErrorCode>(code));
  details.set_entity(std::string(entity));
  details.set_error_message(rpc.message());
  rpc.add_details()->PackFrom(details);
  return rpc;
}

grpc::Status endOfCall(const absl::Status& status, std::string_view entity,
                       grpc::CallbackServerContext& context) {
  if (status.ok()) return grpc::Status::OK;
  const google::rpc::Status rpc = toRpcStatus(status, entity);
  for (const google::protobuf::Any& details : rpc.details()) {
    api::StorageError error;
    if (details.UnpackTo(&error)) {
      context.AddTrailingMetadata(kStorageErrorTrailer, error.SerializeAsString());
    }
  }
  return {static_cast<grpc::StatusCode>(rpc.code()), rpc.message(), rpc.SerializeAsString()};
}

absl::Status failureOf(const FaultRule& rule) {
  absl::Status failure(rule.code, rule.message);
  api::StorageError::StorageErrorCode code{};
  if (!api::StorageError::StorageErrorCode_Parse(rule.storageError, &code)) return failure;
  return withStreamErrorCode(std::move(failure), static_cast<StreamErrorCode>(code));
}

}  // namespace penstock::emulator
