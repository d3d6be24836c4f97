#include "penstock/bigquery/sink/destination_context.h"

#include <utility>

#include "penstock/bigquery/schema/row_descriptor.h"

namespace penstock::bigquery {
namespace {

/// What the reader of an error can do about it.
std::string_view hintFor(const absl::Status& status, Verdict verdict,
                         const DestinationContext& context) {
  switch (verdict) {
    case Verdict::kMissingTable:
      // BQW-154: a masked denial does not say that the table is missing.
      if (context.options().createDisposition == CreateDisposition::kCreateNever &&
          status.code() == absl::StatusCode::kNotFound) {
        return "; the table does not exist and createDisposition is CREATE_NEVER: create it, or "
               "use CREATE_IF_NEEDED";
      }
      return "; the table may not exist or may not be writable: check its name, and that the "
             "credentials may update its data (bigquery.tables.updateData)";
    case Verdict::kSchemaMismatch:
      if (context.maySchemaChange()) {
        return "; the table's columns have been brought in line with the rows, and the service "
               "does not go by them yet: run again from the last checkpoint in a while";
      }
      if (context.options().schemaUpdateOptions.enabled()) {
        return "; the rows have fields that the table has not, and they cannot be added: only a "
               "row descriptor was given, no schema";
      }
      return "; the rows have fields that the table has not: add the columns to the table, set "
             "allowNewFields to have them added, or leave the fields out";
    case Verdict::kTransient:
    case Verdict::kStaleWriter:
    case Verdict::kClosedWriter:
      return "; nothing acknowledged is lost: run again from the last checkpoint when the service "
             "answers";
    default:
      return {};
  }
}

}  // namespace

void DestinationContext::replaceSchema(std::optional<TableSchema> schema, std::string descriptor) {
  setup_.schema = std::move(schema);
  setup_.descriptor = std::move(descriptor);
  target_.reset();
}

absl::Status DestinationContext::prepareTarget() {
  if (setup_.descriptor.empty()) {
    absl::StatusOr<std::string> derived = rowDescriptor(*setup_.schema);
    PENSTOCK_RETURN_IF_ERROR(
        base::withContext(derived.status(), fmt::format("schema of {}", setup_.table.dotted())));
    setup_.descriptor = *std::move(derived);
  }
  auto target = std::make_shared<StreamTarget>();
  target->stream = setup_.table.defaultStream();
  target->descriptor = setup_.descriptor;
  target->missingValues = shared().missingValues;
  target_ = std::move(target);
  return absl::OkStatus();
}

connector::FailedRecord DestinationContext::failedRecord(std::string_view row,
                                                         connector::RowOrigin origin) const {
  connector::FailedRecord failure;
  failure.connector = "bigquery";
  failure.destination = setup_.table.dotted();
  failure.payload = std::string(row);
  failure.rowOrigin = origin;
  if (target_) {
    failure.descriptor = std::shared_ptr<const std::string>(target_, &target_->descriptor);
  }
  return failure;
}

Remedy DestinationContext::remedyFor(Verdict verdict) const {
  switch (verdict) {  // first match
    case Verdict::kMissingTable:
      return options().createDisposition == CreateDisposition::kCreateIfNeeded ? Remedy::kCreate
                                                                               : Remedy::kFail;
    case Verdict::kSchemaMismatch:
      return maySchemaChange() ? Remedy::kReconcile : Remedy::kFail;
    case Verdict::kRowErrors:
      return Remedy::kRoute;
    case Verdict::kTransient:
    case Verdict::kStaleWriter:
    case Verdict::kClosedWriter:
      return Remedy::kRetry;
    default:
      return Remedy::kFail;
  }
}

void DestinationContext::ask(std::vector<connector::FailedRecord> failures) {
  countErrors(failures.size());
  host_.needsAttention(id_);
  host_.askAbout(id_, std::move(failures));
}

void DestinationContext::countSent(const connector::RowBatch& rows) {
  shared().recordsSend->add(rows.rowCount());
  shared().bytesSend->add(rows.rowBytes());
  addTo(recordsSend_, "recordsSend", rows.rowCount());
}

void DestinationContext::countErrors(size_t records) { addTo(sendErrors_, "sendErrors", records); }

void DestinationContext::addTo(base::Counter*& counter, const char* name, size_t records) {
  if (!options().defaultStreamOptions.perDestinationMetrics) return;
  if (counter == nullptr) {
    counter =
        &shared().metrics->counter(fmt::format("destination.{}.{}", setup_.table.dotted(), name));
  }
  counter->add(records);
}

absl::Status DestinationContext::withOrigin(absl::Status status) const {
  return setup_.origin.empty() ? status : base::withContext(status, setup_.origin);
}

void DestinationContext::fail(const absl::Status& status, Verdict verdict, std::string_view story) {
  absl::Status failure = base::makeStatus(
      status.code(), "append to {} (AppendRows, default stream) failed{}: {}{}",
      setup_.table.dotted(), story, base::describe(status), hintFor(status, verdict, *this));
  if (verdict == Verdict::kMissingTable) failure = withOrigin(std::move(failure));
  host_.fail(std::move(failure));
}

}  // namespace penstock::bigquery
