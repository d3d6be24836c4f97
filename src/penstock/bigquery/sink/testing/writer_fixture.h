#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/testing/manual_clock.h"
#include "penstock/bigquery/sink/default_stream_writer.h"
#include "penstock/bigquery/sink/sink_connections.h"
#include "penstock/bigquery/sink/testing/scripted_service.h"

namespace penstock::bigquery {

/// A default-stream writer over scripted calls, a scripted admin and a clock that the test moves.
class WriterTest : public testing::Test {
 protected:
  using Admission = connector::Admission;
  using State = connector::Progress::State;

  /// One connection, so that a test finds every request in the last call.
  WriterTest() {
    options_.defaultStreamOptions.minConnectionsPerRegion = 1;
    options_.defaultStreamOptions.maxConnectionsPerRegion = 1;
  }

  void start() {
    pool_ = AppendPool::create(calls_, clock_, base::seededRandom(1));
    DefaultStreamWriter::Dependencies dependencies;
    dependencies.pool = pool_;
    dependencies.admin = admin_;
    dependencies.clock = &clock_;
    dependencies.random = base::seededRandom(2);
    dependencies.metrics = metrics_;
    dependencies.emulator = emulator_;
    auto writer = DefaultStreamWriter::create(options_, std::move(dependencies));
    ASSERT_TRUE(writer.ok()) << base::describe(writer.status());
    writer_ = *std::move(writer);
    first_ = add("t1");
  }

  connector::DestinationId add(const std::string& table, bool withSchema = true) {
    DestinationSetup setup;
    setup.table = {"p", "d", table};
    if (withSchema) setup.schema = TableSchema{{{"c", ColumnType::kString}}};
    if (withSchema) setup.descriptor = "descriptor of " + table;
    return *writer_->registerDestination(std::move(setup));
  }

  void write(connector::DestinationId destination, std::string_view row) {
    ASSERT_EQ(writer_->admit(destination), Admission::kAccepted);
    writer_->beginRow(destination).append(row);
    writer_->commitRow(connector::RowOrigin::kUnknown);
  }
  void write(std::string_view row) { write(first_, row); }
  connector::Progress poll() { return writer_->poll(); }

  /// The stream is open and `rows`, each a request of its own, are written.
  void sendEach(const std::vector<std::string>& rows) {
    for (const std::string& row : rows) {
      write(row);
      writer_->beginFlush(false);
      if (!admin_->streams.empty()) admin_->answerLocation("us");
      poll();
    }
  }

  /// Every write of the last call so far leaves; returns the rows of all its requests.
  std::vector<std::vector<std::string>> written() {
    auto& call = calls_->last();
    for (size_t seen = SIZE_MAX; seen != call.writes.size();) {
      seen = call.writes.size();
      if (writesDone_[&call] < seen) {
        ++writesDone_[&call];
        call.events->onWriteDone(true);
      }
      poll();
      if (writesDone_[&call] < call.writes.size()) seen = SIZE_MAX;
    }
    std::vector<std::vector<std::string>> rows;
    for (const auto& write : call.writes) rows.push_back(write.rows);
    return rows;
  }
  void refuseRows(const std::vector<int64_t>& indexes,
                  absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
    AppendResponse response;
    response.status = absl::Status(code, "refused rows");
    for (const int64_t index : indexes) {
      response.rowErrors.push_back({index, "bad value " + std::to_string(index)});
    }
    calls_->last().answer(std::move(response));
  }
  /// Answers every question with `status`; returns what was asked about.
  std::vector<connector::FailedRecord> answerAll(absl::Status status = absl::OkStatus()) {
    std::vector<connector::FailedRecord> failures;
    while (!writer_->questions().empty()) {
      const connector::Question question = writer_->questions().front();
      failures.insert(failures.end(), question.failures.begin(), question.failures.end());
      writer_->answer(question.id, {status, {}});
    }
    return failures;
  }
  /// Time passes, in steps, as timers ask for it.
  void pass(base::Duration time) {
    const base::MonotonicTime until = clock_.now() + time;
    while (clock_.now() < until) {
      const base::MonotonicTime next = std::min(poll().wakeAt, until);
      clock_.advanceTo(std::max(next, clock_.now() + std::chrono::milliseconds(1)));
      poll();
    }
  }
  uint64_t counter(const std::string& name) { return metrics_->counter(name).value(); }
  int64_t gauge(const std::string& name) { return metrics_->gauge(name).value(); }

  base::ManualClock clock_;
  SinkOptions options_;
  bool emulator_ = false;
  std::shared_ptr<ScriptedCalls> calls_ = std::make_shared<ScriptedCalls>();
  std::shared_ptr<ScriptedAdmin> admin_ = std::make_shared<ScriptedAdmin>();
  std::shared_ptr<base::MetricGroup> metrics_ = std::make_shared<base::MetricGroup>();
  std::shared_ptr<AppendPool> pool_;
  std::unique_ptr<DefaultStreamWriter> writer_;
  connector::DestinationId first_{};
  std::map<const ScriptedCalls::Call*, size_t> writesDone_;
};

}  // namespace penstock::bigquery
