#include "penstock/bigquery/sink/schema_reconciliation.h"

#include <algorithm>
#include <utility>

#include "penstock/bigquery/schema/extend_schema_json.h"
#include "penstock/bigquery/schema/schema_union.h"

namespace penstock::bigquery {
namespace {

constexpr std::string_view kDenied =
    "; the credentials need bigquery.tables.get and bigquery.tables.update on the table";

/// Someone else changed the table first, or it is changed too often for now.
bool isLostRace(const AdminError& error) {
  return error.httpCode == 404 || error.httpCode == 409 || error.httpCode == 412 ||
         error.reason == "conditionNotMet" || error.reason == "rateLimitExceeded";
}

/// The table of `t$20260101`: a partition has no columns of its own.
TableName withoutPartition(TableName table) {
  table.table.resize(std::min(table.table.find('$'), table.table.size()));
  return table;
}

}  // namespace

SchemaReconciliation::SchemaReconciliation(DestinationContext& context)
    : context_(context), table_(withoutPartition(context.table())) {
  read();
}

void SchemaReconciliation::read() {
  state_ = State::kReading;
  resumeAt_ = base::kNever;
  context_.host().readTable(context_.id(), table_);
}

void SchemaReconciliation::onTable(const AdminError& error, const TableInfo& table) {
  if (state_ != State::kReading) return;
  if (error.status.ok()) {
    unite(table);
  } else if (error.httpCode == 404) {
    fail(absl::StatusCode::kNotFound, base::messageOf(error.status));
    state_ = State::kTableGone;
  } else if (error.reason == "rateLimitExceeded") {
    raceLost(error);
  } else {
    onError(error);
  }
}

void SchemaReconciliation::unite(const TableInfo& table) {
  if (!table.type.empty() && table.type != "TABLE") {
    fail(absl::StatusCode::kFailedPrecondition,
         fmt::format("it is of type {}, and only native tables are changed", table.type));
    return;
  }
  const absl::StatusOr<TableSchema> united =
      uniteSchemas(table.schema, *context_.setup().schema, context_.options().schemaUpdateOptions);
  if (!united.ok()) {
    fail(united.status().code(), base::messageOf(united.status()));
    return;
  }
  if (*united == table.schema) {
    state_ = State::kDone;
    return;
  }
  const absl::StatusOr<std::string> document = extendSchemaJson(table.schemaJson, *united);
  if (!document.ok()) {
    fail(document.status().code(), base::messageOf(document.status()));
    return;
  }
  state_ = State::kUpdating;
  context_.host().updateSchema(context_.id(), table_, table.etag, *document);
}

void SchemaReconciliation::onUpdated(const AdminError& error) {
  if (state_ != State::kUpdating) return;
  if (error.status.ok()) {
    context_.shared().schemaReconciliations->add();
    changed_ = true;
    state_ = State::kDone;
  } else if (isLostRace(error)) {
    raceLost(error);
  } else {
    onError(error);
  }
}

void SchemaReconciliation::raceLost(const AdminError& error) {
  if (++racesLost_ == kRaces) {
    fail(error.status.code(),
         fmt::format("others changed the table first, {} times: {}", kRaces,
                     base::messageOf(error.status)),
         "; run again when the table is changed less often");
    return;
  }
  const base::Duration moment(static_cast<int64_t>(context_.shared().random->uniform() *
                                                   static_cast<double>(kLongestPause.count())));
  pause(base::deadlineAfter(context_.now(), moment));
}

void SchemaReconciliation::onError(const AdminError& error) {
  const base::RetrySchedule schedule = context_.recoverySchedule();
  // An update whose answer was lost may have been made: the next reading shows.
  if (isPassing(error) && schedule.allowsAnotherAfter(attempt_)) {
    pause(context_.afterBackoff(schedule, attempt_++));
    return;
  }
  const bool denied = error.httpCode == 401 || error.httpCode == 403;
  fail(error.status.code(), fmt::format("{} (attempt {})", base::messageOf(error.status), attempt_),
       denied ? kDenied : std::string_view());
}

void SchemaReconciliation::pause(base::MonotonicTime until) {
  state_ = State::kPausing;
  resumeAt_ = until;
  context_.host().needsAttention(context_.id());
}

void SchemaReconciliation::advance() {
  if (state_ == State::kPausing && context_.now() >= resumeAt_) read();
}

void SchemaReconciliation::fail(absl::StatusCode code, std::string_view why,
                                std::string_view hint) {
  state_ = State::kFailed;
  failure_ = base::makeStatus(code, "cannot bring the columns of {} in line with the rows: {}{}",
                              context_.table().dotted(), why, hint);
}

}  // namespace penstock::bigquery
