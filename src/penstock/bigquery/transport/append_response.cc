#include "penstock/bigquery/transport/append_response.h"

#include <google/cloud/bigquery/storage/v1/storage.pb.h>
#include <google/rpc/status.pb.h>

namespace penstock::bigquery {
namespace {

namespace storage = google::cloud::bigquery::storage::v1;

constexpr int kLastDefinedCode = 16;  // UNAUTHENTICATED

/// Reads protobuf's wire format; any step past the end makes it, and all that follows, fail.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool atEnd() const { return bytes_.empty(); }

  bool readVarint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) return false;
      const auto byte = static_cast<uint8_t>(bytes_.front());
      bytes_.remove_prefix(1);
      *value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool readBytes(std::string_view* value) {
    uint64_t size = 0;
    if (!readVarint(&size) || size > bytes_.size()) return false;
    *value = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return true;
  }

 private:
  std::string_view bytes_;
};

constexpr uint64_t kAppendResultTag = (1 << 3) | 2;
constexpr uint64_t kWriteStreamTag = (5 << 3) | 2;
constexpr uint64_t kOffsetTag = (1 << 3) | 2;
constexpr uint64_t kInt64ValueTag = (1 << 3) | 0;

bool readOffset(std::string_view appendResult, std::optional<int64_t>* offset) {
  WireReader result(appendResult);
  while (!result.atEnd()) {
    uint64_t tag = 0;
    std::string_view wrapped;
    if (!result.readVarint(&tag) || tag != kOffsetTag || !result.readBytes(&wrapped)) return false;
    uint64_t value = 0;
    WireReader wrapper(wrapped);
    while (!wrapper.atEnd()) {
      if (!wrapper.readVarint(&tag) || tag != kInt64ValueTag || !wrapper.readVarint(&value))
        return false;
    }
    *offset = static_cast<int64_t>(value);
  }
  return true;
}

/// False when the response holds anything but an acknowledgement and the stream's name.
bool decodeAcknowledgement(std::string_view bytes, AppendResponse* response) {
  WireReader reader(bytes);
  bool acknowledged = false;
  while (!reader.atEnd()) {
    uint64_t tag = 0;
    std::string_view value;
    if (!reader.readVarint(&tag)) return false;
    if (tag != kAppendResultTag && tag != kWriteStreamTag) return false;
    if (!reader.readBytes(&value)) return false;
    if (tag != kAppendResultTag) continue;
    acknowledged = true;
    if (!readOffset(value, &response->offset)) return false;
  }
  return acknowledged;
}

StorageErrorCode storageErrorCode(storage::StorageError::StorageErrorCode code) {
  switch (code) {
    case storage::StorageError::TABLE_NOT_FOUND:
      return StorageErrorCode::kTableNotFound;
    case storage::StorageError::STREAM_ALREADY_COMMITTED:
      return StorageErrorCode::kStreamAlreadyCommitted;
    case storage::StorageError::STREAM_NOT_FOUND:
      return StorageErrorCode::kStreamNotFound;
    case storage::StorageError::INVALID_STREAM_TYPE:
      return StorageErrorCode::kInvalidStreamType;
    case storage::StorageError::INVALID_STREAM_STATE:
      return StorageErrorCode::kInvalidStreamState;
    case storage::StorageError::STREAM_FINALIZED:
      return StorageErrorCode::kStreamFinalized;
    case storage::StorageError::SCHEMA_MISMATCH_EXTRA_FIELDS:
      return StorageErrorCode::kSchemaMismatchExtraFields;
    case storage::StorageError::OFFSET_ALREADY_EXISTS:
      return StorageErrorCode::kOffsetAlreadyExists;
    case storage::StorageError::OFFSET_OUT_OF_RANGE:
      return StorageErrorCode::kOffsetOutOfRange;
    default:
      return StorageErrorCode::kOther;
  }
}

StorageErrorCode findStorageError(const google::rpc::Status& status) {
  for (const google::protobuf::Any& detail : status.details()) {
    storage::StorageError error;
    if (detail.Is<storage::StorageError>() && detail.UnpackTo(&error)) {
      return storageErrorCode(error.code());
    }
  }
  return StorageErrorCode::kNone;
}

absl::Status statusOf(int code, std::string_view message) {
  if (code == 0) return absl::OkStatus();
  if (code < 0 || code > kLastDefinedCode) {
    return base::makeStatus(absl::StatusCode::kDataLoss,
                            "the service answered with code {}, which gRPC does not define: {}",
                            code, message);
  }
  return {static_cast<absl::StatusCode>(code), absl::string_view(message.data(), message.size())};
}

}  // namespace

AppendResponse decodeAppendResponse(std::string_view bytes) {
  AppendResponse response;
  if (decodeAcknowledgement(bytes, &response)) return response;
  response = {};

  storage::AppendRowsResponse message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    response.status = base::makeStatus(absl::StatusCode::kInternal,
                                       "the service's answer to an append ({} bytes) is not an "
                                       "AppendRowsResponse",
                                       bytes.size());
    return response;
  }
  if (message.has_error()) {
    response.status = statusOf(message.error().code(), message.error().message());
    response.storageError = findStorageError(message.error());
  }
  if (message.append_result().has_offset()) {
    response.offset = message.append_result().offset().value();
  }
  for (const storage::RowError& error : message.row_errors()) {
    response.rowErrors.push_back({error.index(), error.message()});
  }
  if (message.has_updated_schema()) {
    response.updatedSchema = message.updated_schema().SerializeAsString();
  }
  return response;
}

CallStatus decodeCallStatus(int code, std::string_view message, std::string_view details) {
  CallStatus result{statusOf(code, message), StorageErrorCode::kNone};
  google::rpc::Status detailed;
  if (!details.empty() &&
      detailed.ParseFromArray(details.data(), static_cast<int>(details.size()))) {
    result.storageError = findStorageError(detailed);
  }
  return result;
}

}  // namespace penstock::bigquery
