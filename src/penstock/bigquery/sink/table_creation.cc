#include "penstock/bigquery/sink/table_creation.h"

#include <utility>

#include "penstock/bigquery/sink/table_create_options.h"

namespace penstock::bigquery {

TableCreation::TableCreation(DestinationContext& context, absl::Status verdict)
    : context_(context), verdict_(std::move(verdict)) {
  if (!context_.setup().schema.has_value()) {
    fail(base::makeStatus(verdict_.code(),
                          "table {} cannot be created, since only a row descriptor was given, no "
                          "schema. It was to be created because writing to it answered {}",
                          context_.table().dotted(), base::describe(verdict_)));
  } else if (context_.setup().askForCreateOptions) {
    state_ = State::kAskingOptions;
    context_.host().ask(context_.id(), connector::Question::Kind::kCreateOptions);
  } else {
    create();
  }
}

void TableCreation::onCreateOptions(std::string_view document) {
  if (state_ != State::kAskingOptions) return;
  absl::StatusOr<TableCreateOptions> options = parseTableCreateOptions(document);
  absl::Status status = options.ok() ? validateTableCreation(*options) : options.status();
  if (!status.ok()) {
    fail(base::withContext(
        status, fmt::format("creation options given for {}", context_.table().dotted())));
    return;
  }
  options_ = *std::move(options);
  create();
}

void TableCreation::create() {
  state_ = State::kCreating;
  resumeAt_ = base::kNever;
  context_.host().createTable(context_.id(), context_.table(), *context_.setup().schema,
                              options_ ? *options_ : context_.options().tableCreateOptions);
}

void TableCreation::onTableCreated(const AdminError& error) {
  if (state_ != State::kCreating) return;
  constexpr int kExists = 409;  // someone else was first, and that is as good
  if (error.status.ok() || error.httpCode == kExists) {
    state_ = State::kDone;
    return;
  }
  const base::RetrySchedule schedule = context_.recoverySchedule();
  if (isPassing(error) && schedule.allowsAnotherAfter(attempt_)) {
    state_ = State::kPausing;
    resumeAt_ = context_.afterBackoff(schedule, attempt_++);
    context_.host().needsAttention(context_.id());
    return;
  }
  fail(base::makeStatus(error.status.code(),
                        "cannot create table {} (tables.insert, attempt {}): {}. It was to be "
                        "created because writing to it answered {}",
                        context_.table().dotted(), attempt_, base::messageOf(error.status),
                        base::describe(verdict_)));
}

void TableCreation::advance() {
  if (state_ == State::kPausing && context_.now() >= resumeAt_) create();
}

void TableCreation::fail(absl::Status status) {
  context_.host().fail(context_.withOrigin(std::move(status)));
}

}  // namespace penstock::bigquery
