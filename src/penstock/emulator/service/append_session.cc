#include "penstock/emulator/service/append_session.h"

#include "penstock/emulator/catalog/schema_proto.h"
#include "penstock/emulator/service/rpc_status.h"
#include "penstock/emulator/service/table_age.h"

namespace penstock::emulator {
namespace {

namespace api = google::cloud::bigquery::storage::v1;

constexpr std::string_view kRowErrorsMessage =
    "Errors found while processing rows. Please refer to the row_errors field for details. The "
    "list "
    "may not be complete because of the size limitations.";

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

absl::Status AppendSession::accept(std::string_view request) {
  requestBytes_ = request.size();
  PENSTOCK_RETURN_IF_ERROR(request_.parse(request));
  requestStream_ = request_.writeStream.empty() ? openStream_ : std::string(request_.writeStream);
  if (requestStream_ != namedStream_) {
    namedStream_ = requestStream_;
    name_ = StreamName::parse(requestStream_);
    resource_ = name_.ok() ? name_->text() : requestStream_;
  }
  return absl::OkStatus();
}

AppendSession::Response AppendSession::refusal(const absl::Status& status) const {
  Response response;
  response.set_write_stream(requestStream_);
  *response.mutable_error() = toRpcStatus(status, requestStream_);
  return response;
}

absl::StatusOr<AppendSession::Response> AppendSession::apply(bool oldSchema) {
  if (requestBytes_ > kMaxAppendRequestBytes) {
    return refusal(base::invalidArgument(
        "The request has {} bytes, more than the limit of {} bytes of an AppendRows request.",
        requestBytes_, kMaxAppendRequestBytes));
  }
  if (const absl::Status opened = open(oldSchema); !opened.ok()) {
    if (!open_) return opened;
    return refusal(opened);
  }
  return store();
}

void AppendSession::takeHeader() { (void)open(/*oldSchema=*/false); }

absl::Status AppendSession::open(bool oldSchema) {
  PENSTOCK_RETURN_IF_ERROR(resolveStream(oldSchema));
  PENSTOCK_RETURN_IF_ERROR(checkSupported());
  PENSTOCK_RETURN_IF_ERROR(adoptSchema());
  open_ = true;
  return absl::OkStatus();
}

absl::Status AppendSession::resolveStream(bool oldSchema) {
  if (requestStream_.empty()) {
    return base::invalidArgument(
        "The first request of an AppendRows call must name its stream in "
        "write_stream.");
  }
  if (!name_.ok()) return name_.status();
  PENSTOCK_RETURN_IF_ERROR(checkSameStream());
  std::shared_ptr<const Table> table = catalog_.findTable(name_->table);
  if (table == nullptr) return missingTable();
  if (oldSchema) table = beforeItsChange(std::move(table));
  const bool sameTable = table_ != nullptr && table->id == table_->id;
  const bool sameStream = requestStream_ == openStream_;
  if (name_->isDefault()) {
    stream_.reset();
  } else if (!sameStream || !sameTable) {
    PENSTOCK_ASSIGN_OR_RETURN(stream_, rows_.findStream(table->id, name_->stream));
  }
  if (!sameStream) descriptor_.reset();  // the new stream brings its own schema
  if (!sameTable || table->schemaVersion != table_->schemaVersion) checks_.reset();
  table_ = std::move(table);
  openStream_ = requestStream_;
  noteSchemaVersion();
  return absl::OkStatus();
}

/// Only default streams share a connection.
absl::Status AppendSession::checkSameStream() const {
  if (!open_ || requestStream_ == openStream_ || (stream_ == nullptr && name_->isDefault())) {
    return absl::OkStatus();
  }
  return base::invalidArgument(
      "This AppendRows call writes to {}: only default streams share a call, open another one.",
      openStream_);
}

absl::Status AppendSession::missingTable() const {
  // Who has written to a stream of the table knows that it was there.
  if (open_ && stream_ != nullptr) {
    return streamError(
        StreamErrorCode::kTableNotFound,
        fmt::format("Table {} was deleted, and its streams with it.", name_->table.text()));
  }
  return maskedMissing(name_->table);
}

absl::Status AppendSession::checkSupported() const {
  if (stream_ == nullptr && request_.offset.has_value()) {
    return base::invalidArgument("The default stream takes no offset: leave offset unset.");
  }
  if (request_.hasArrowRows) {
    return base::notSupported("Rows in Arrow form are not supported yet by this emulator.");
  }
  return absl::OkStatus();
}

absl::Status AppendSession::adoptSchema() {
  if (request_.descriptor.has_value()) {
    if (descriptor_ == nullptr || descriptor_->bytes != *request_.descriptor) {
      PENSTOCK_ASSIGN_OR_RETURN(descriptor_, rows_.internDescriptor(*request_.descriptor));
      checks_.reset();
    }
  } else if (descriptor_ == nullptr) {
    return base::invalidArgument(
        "The first request of an AppendRows call, and one that changes the stream, must bring "
        "proto_rows.writer_schema.");
  }
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<const Field*> columnsToFill,
                            missingValues_.columnsToFill(request_, table_->schema));
  std::string names;
  for (const Field* column : columnsToFill) names += column->name + "\n";
  if (names != filledColumns_) {
    filledColumns_ = std::move(names);
    checks_.reset();
  }
  return checks_ == nullptr ? compileChecks(columnsToFill) : absl::OkStatus();
}

absl::Status AppendSession::compileChecks(const std::vector<const Field*>& columnsToFill) {
  filler_.reset();
  storedDescriptor_ = descriptor_;
  if (!columnsToFill.empty()) {
    PENSTOCK_ASSIGN_OR_RETURN(filler_, DefaultFiller::make(*descriptor_, columnsToFill));
    PENSTOCK_ASSIGN_OR_RETURN(storedDescriptor_, rows_.internDescriptor(filler_->descriptor()));
  }
  PENSTOCK_ASSIGN_OR_RETURN(checks_, checksCache_.find(*storedDescriptor_, *table_));
  validator_ = std::make_unique<RowValidator>(checks_);
  return absl::OkStatus();
}

/// Who appended before the table's schema changed is told of the new one, once.
void AppendSession::noteSchemaVersion() {
  const auto [known, isFirst] = toldVersions_.try_emplace(table_->id, table_->schemaVersion);
  schemaIsNews_ = !isFirst && known->second != table_->schemaVersion;
}

std::optional<AppendSession::Response> AppendSession::refuseExtraFields() const {
  const std::vector<std::string>& extra = checks_->plan->extraFields();
  if (extra.empty()) return std::nullopt;
  for (const std::string& field : extra) {
    const std::string name = foldedName(field);
    if (name != "_change_type" && name != "_change_sequence_number") continue;
    return refusal(base::notSupported(
        "Change data capture ({}) is not supported yet by this emulator.", field));
  }
  return refusal(streamError(
      StreamErrorCode::kSchemaMismatchExtraFields,
      fmt::format("Schema mismatch: the writer's schema has fields that table {} has no column "
                  "for: {}.",
                  table_->reference.text(), list(extra))));
}

AppendSession::Response AppendSession::store() {
  Response response = storeRows();
  if (schemaIsNews_) {
    *response.mutable_updated_schema() = toSchemaProto(table_->schema);
    toldVersions_[table_->id] = table_->schemaVersion;
  }
  return response;
}

AppendSession::Response AppendSession::storeRows() {
  if (stream_ != nullptr) {
    const absl::Status fits = stream_->checkAppend(request_.offset);
    if (!fits.ok()) return refusal(fits);
  }
  if (std::optional<Response> refused = refuseExtraFields()) return *std::move(refused);
  Response response;
  const absl::Status judged =
      requestRows_.judge(request_.rows, *validator_, filler_.get(), clock_.wallNow(), *random_,
                         *response.mutable_row_errors());
  if (!judged.ok()) return refusal(judged);
  response.set_write_stream(requestStream_);
  if (requestRows_.badRows() > 0) {
    const absl::Status refused = absl::InvalidArgumentError(
        absl::string_view(kRowErrorsMessage.data(), kRowErrorsMessage.size()));
    *response.mutable_error() = toRpcStatus(refused, requestStream_);
    return response;
  }
  auto& result = *response.mutable_append_result();
  absl::Status stored;
  if (stream_ == nullptr) {
    stored = rows_.append(table_->id, *storedDescriptor_, requestRows_.framed());
  } else {
    const absl::StatusOr<uint64_t> offset =
        rows_.append(*stream_, request_.offset, *storedDescriptor_, requestRows_.framed());
    stored = offset.status();
    result.mutable_offset()->set_value(static_cast<int64_t>(offset.value_or(0)));
  }
  if (stored.ok()) return response;
  const bool dropped = absl::IsNotFound(stored);  // since it was looked up
  return refusal(dropped ? missingTable() : stored);
}

}  // namespace penstock::emulator
