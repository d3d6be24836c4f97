#include "penstock/bigquery/sink/table_columns.h"

#include <utility>

#include "penstock/base/log.h"
#include "penstock/bigquery/schema/schema_fingerprint.h"
#include "penstock/bigquery/schema/storage_schema.h"

namespace penstock::bigquery {

bool TableColumns::start() {
  if (context_.setup().schema.has_value() || !context_.setup().descriptor.empty()) return false;
  reading_ = true;
  read();
  return true;
}

void TableColumns::read() {
  retryAt_ = base::kNever;
  context_.host().getWriteStream(context_.id(), context_.table().defaultStream(),
                                 /*fullView=*/true);
}

void TableColumns::onRead(absl::StatusOr<WriteStreamInfo> info) {
  if (!reading_) return;
  absl::Status status = info.status();
  if (status.ok() && info->schema.has_value() && !info->schema->columns.empty()) {
    context_.setSchema(*std::move(info->schema));
    reading_ = false;
    return;
  }
  if (status.ok()) status = absl::NotFoundError("the service gave no schema for the table");
  const base::RetrySchedule schedule = context_.recoverySchedule();
  if (classify(status) == Verdict::kTransient && schedule.allowsAnotherAfter(attempt_)) {
    retryAt_ = context_.afterBackoff(schedule, attempt_++);
    context_.host().needsAttention(context_.id());
    return;
  }
  context_.host().fail(context_.withOrigin(
      base::makeStatus(status.code(),
                       "cannot read the schema of {} (GetWriteStream): {}. A table that does not "
                       "exist can only be created with a schema: give one, or create the table "
                       "first",
                       context_.table().dotted(), base::messageOf(status))));
}

void TableColumns::advance() {
  if (reading_ && context_.now() >= retryAt_) read();
}

void TableColumns::noteUpdated(const std::string& serialized) {
  if (!context_.setup().followTable) return;
  absl::StatusOr<TableSchema> schema = parseStorageSchema(serialized);
  if (!schema.ok()) {
    base::logWarning(
        "{}: rows keep the columns they have, since the table's new ones cannot be read: {}",
        context_.table().dotted(), base::messageOf(schema.status()));
    return;
  }
  note(*std::move(schema));
}

void TableColumns::note(TableSchema schema) {
  if (!context_.setup().followTable || reading_) return;
  // Told by several answers, and of columns that are in use already.
  const std::optional<TableSchema>& known =
      change_.has_value() ? change_->schema : context_.setup().schema;
  if (known.has_value() && schemaFingerprint(*known) == schemaFingerprint(schema)) return;
  change_ = Change{std::move(schema), {}, /*tellHost=*/true};
}

}  // namespace penstock::bigquery
