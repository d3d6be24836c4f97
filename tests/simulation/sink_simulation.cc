#include "sink_simulation.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>

#include "penstock/base/chunk_pool.h"
#include "penstock/bigquery/sink/append_pool.h"
#include "penstock/bigquery/sink/default_stream_writer.h"
#include "process_watch.h"
#include "record.h"
#include "simulated_service.h"
#include "world.h"

namespace penstock::simulation {
namespace {

using bigquery::DefaultStreamWriter;
using connector::Admission;
using connector::DestinationId;
using connector::Progress;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A subtask: its input, its position, its writer, and what it knows is durable.
class WriterSubtask {
 public:
  WriterSubtask(World& world, SimulatedService& service, std::shared_ptr<bigquery::AppendPool> pool,
                const bigquery::SinkOptions& options, std::vector<Record> input, int tables,
                SeedReport& report)
      : world_(world),
        service_(service),
        pool_(std::move(pool)),
        options_(options),
        input_(std::move(input)),
        tables_(tables),
        report_(report) {
    open();
  }

  [[nodiscard]] bool finished() const { return finished_; }

  /// Does a little; returns when to come back at the latest (an event may make it earlier).
  base::MonotonicTime run() {
    if (finished_) return base::kNever;
    for (int steps = 0; steps < 40; ++steps) {
      const Progress progress = writer_->poll();
      if (progress.state == Progress::State::kFailed) {
        ++report_.failedWriters;
        answerNow();
        restart();
        continue;
      }
      if (answerLate(progress)) return base::kNever;  // comes back when the host answers
      if (flushing_) {
        if (progress.state != Progress::State::kDone) return progress.wakeAt;
        flushing_ = false;
        onCheckpoint();
        if (finished_) return base::kNever;
        continue;
      }
      if (position_ == input_.size() || sinceCheckpoint_ >= checkpointEvery_) {
        writer_->beginFlush(position_ == input_.size());
        flushing_ = true;
        continue;
      }
      if (!writeOne()) {
        if (writer_->poll().state == Progress::State::kDone && writeOne()) continue;
        return writer_->poll().wakeAt;
      }
    }
    return world_.clock().now() + milliseconds(1);
  }

  /// The process dies: what was not checkpointed is read again by a new writer.
  void restart() {
    ++report_.restarts;
    ++generation_;
    writer_.reset();
    flushing_ = false;
    waitingForHost_ = false;
    position_ = checkpointed_;
    sinceCheckpoint_ = 0;
    open();
  }

  [[nodiscard]] const std::map<std::string, int>& handled() const { return handled_; }
  [[nodiscard]] bool restarted() const { return generation_ > 0; }
  [[nodiscard]] const std::vector<Record>& input() const { return input_; }
  [[nodiscard]] base::MetricGroup& metrics() { return *metrics_; }
  void close() {
    writer_->beginClose();
    writer_.reset();
  }

 private:
  void open() {
    metrics_ = std::make_shared<base::MetricGroup>();
    DefaultStreamWriter::Dependencies dependencies;
    dependencies.pool = pool_;
    dependencies.admin = service_.tableAdmin();
    dependencies.clock = &world_.clock();
    dependencies.random = base::seededRandom(world_.random().next());
    dependencies.metrics = metrics_;
    auto writer = DefaultStreamWriter::create(options_, std::move(dependencies));
    if (!writer.ok()) {
      report_.violations.push_back("cannot create a writer: " + base::describe(writer.status()));
      finished_ = true;
      return;
    }
    writer_ = *std::move(writer);
    ids_.clear();
    for (int table = 0; table < tables_; ++table) {
      bigquery::DestinationSetup setup;
      setup.table = {"p", "d", tableName(table)};
      setup.schema = bigquery::TableSchema{{{"c", bigquery::ColumnType::kString}}};
      google::protobuf::DescriptorProto descriptor;
      descriptor.set_name(tableName(table));  // so that the service can tell whose schema it sees
      setup.descriptor = descriptor.SerializeAsString();
      ids_.push_back(*writer_->registerDestination(std::move(setup)));
    }
  }

  bool writeOne() {
    const Record& record = input_[position_];
    const DestinationId id = ids_[static_cast<size_t>(record.table)];
    if (writer_->admit(id) != Admission::kAccepted) return false;
    connector::RowEncoder& row = writer_->beginRow(id);
    row.append(record.text);
    if (record.serializable) {
      writer_->commitRow(connector::RowOrigin::kUnknown);
    } else {
      connector::FailedRecord failure = writer_->failureFor(id);
      failure.errorMessage = record.text;
      writer_->failRow(std::move(failure));
    }
    ++position_;
    ++sinceCheckpoint_;
    return true;
  }

  bool answerLate(const Progress& progress) {
    if (waitingForHost_) return true;
    if (progress.state != Progress::State::kNeedsHost) return false;
    if (world_.random().chance(0.5)) {
      answerNow();
      return false;
    }
    waitingForHost_ = true;
    world_.after(world_.between(milliseconds(1), milliseconds(500)), [this, g = generation_] {
      if (g != generation_ || writer_ == nullptr) return;
      waitingForHost_ = false;
      answerNow();
    });
    return true;
  }

  void answerNow() {
    while (!writer_->questions().empty()) {
      const connector::Question question = writer_->questions().front();
      for (const connector::FailedRecord& failure : question.failures) {
        ++handled_[failure.payload.value_or(failure.errorMessage)];
      }
      writer_->answer(question.id, {});
    }
  }

  void onCheckpoint() {
    for (size_t i = checkpointed_; i < position_; ++i) {
      const Record& record = input_[i];
      const bool good = record.text.rfind("good", 0) == 0;
      if (good && !service_.rows(resourceOf(record.table)).contains(record.text)) {
        report_.violations.push_back("lost at a checkpoint: " + record.text);
      }
      if (!good && !handled_.contains(record.text)) {
        report_.violations.push_back("never reached the handler: " + record.text);
      }
    }
    const auto snapshot = metrics_->snapshot();
    if (snapshot.gauges.at("inFlightBatches") != 0 || snapshot.gauges.at("bufferedBytes") != 0) {
      report_.violations.push_back(
          fmt::format("after a flush: inFlightBatches {}, bufferedBytes {}",
                      snapshot.gauges.at("inFlightBatches"), snapshot.gauges.at("bufferedBytes")));
    }
    report_.retries += static_cast<int>(snapshot.counters.at("appendRetries"));
    checkpointed_ = position_;
    sinceCheckpoint_ = 0;
    checkpointEvery_ = 1 + world_.random().below(60);
    finished_ = position_ == input_.size();
  }

  World& world_;
  SimulatedService& service_;
  std::shared_ptr<bigquery::AppendPool> pool_;
  const bigquery::SinkOptions& options_;
  const std::vector<Record> input_;
  const int tables_;
  SeedReport& report_;
  std::shared_ptr<base::MetricGroup> metrics_;
  std::unique_ptr<DefaultStreamWriter> writer_;
  std::vector<DestinationId> ids_;
  size_t position_ = 0;
  size_t checkpointed_ = 0;
  size_t sinceCheckpoint_ = 0;
  size_t checkpointEvery_ = 20;
  bool flushing_ = false;
  bool waitingForHost_ = false;
  bool finished_ = false;
  int generation_ = 0;
  std::map<std::string, int> handled_;
};

FaultRates drawSinkRates(base::Random& random) {
  FaultRates rates;
  const double level = random.below(5) == 0 ? 0 : random.uniform() * 0.15;
  for (const Fault fault :
       {Fault::kErrorAnswer, Fault::kCutBefore, Fault::kCutAfter, Fault::kFinalEnd,
        Fault::kIdleClose, Fault::kBrokenStream, Fault::kLookUpError, Fault::kCreateTableError}) {
    rates[fault] = random.chance(0.6) ? level * random.uniform() : 0;
  }
  rates[Fault::kFinalEnd] *= 0.1;  // ends the job each time: rare, or nothing else is seen
  rates[Fault::kSilence] = random.chance(0.2) ? level * 0.05 : 0;
  rates[Fault::kMaskAfterCreate] = random.chance(0.5) ? 0.5 : 0;
  return rates;
}

std::vector<Record> drawInput(base::Random& random, int subtask, int tables, SeedReport& report) {
  std::vector<Record> input;
  const auto count = static_cast<int>(20 + random.below(180));
  const bool withBadRows = random.chance(0.7);
  for (int i = 0; i < count; ++i) {
    Record record;
    record.table = static_cast<int>(random.below(static_cast<uint64_t>(tables)));
    const char* kind = "good";
    if (withBadRows && random.chance(0.06)) kind = "bad";
    if (withBadRows && random.chance(0.03)) {
      kind = "unserializable";
      record.serializable = false;
    }
    if (kind[0] != 'g') ++report.badRows;
    record.text = fmt::format("{}{}@{}#{}", kind, i, tableName(record.table), subtask);
    input.push_back(std::move(record));
  }
  report.rowsWritten += count;
  return input;
}

bigquery::SinkOptions drawSinkOptions(base::Random& random) {
  bigquery::SinkOptions options;
  options.defaultStreamOptions.maxAppendRequestBytes = static_cast<int64_t>(1 + random.below(200));
  options.defaultStreamOptions.maxInflightRequests = static_cast<int64_t>(1 + random.below(6));
  options.defaultStreamOptions.minConnectionsPerRegion = static_cast<int64_t>(1 + random.below(3));
  options.defaultStreamOptions.maxConnectionsPerRegion =
      options.defaultStreamOptions.minConnectionsPerRegion + static_cast<int64_t>(random.below(4));
  if (random.chance(0.5)) options.maxBufferedBytes = static_cast<int64_t>(1 + random.below(1500));
  if (random.chance(0.3)) options.location = "us";
  if (random.chance(0.3)) options.defaultStreamOptions.retryMaxAttempts = 1;
  if (random.chance(0.3)) {
    options.defaultStreamOptions.flushInterval = milliseconds(1 + random.below(2000));
  }
  if (random.chance(0.3)) {
    options.defaultStreamOptions.destinationIdleTimeout = milliseconds(1 + random.below(5000));
  }
  return options;
}

/// Each subtask runs until it waits; then time moves on to the next thing that happens.
void runToTheEnd(World& world, SimulatedService& service, ProcessWatch& watch,
                 std::vector<std::unique_ptr<WriterSubtask>>& subtasks, SeedReport& report) {
  base::Random& random = world.random();
  const bool mayCrash = random.chance(0.4);
  const base::MonotonicTime start = world.clock().now();
  bool healed = false;
  for (int64_t round = 0;; ++round) {
    base::MonotonicTime next = base::kNever;
    bool allFinished = true;
    for (auto& subtask : subtasks) {
      if (mayCrash && !healed && !subtask->finished() && random.chance(0.002)) subtask->restart();
    }
    // Several passes: what one subtask does to the pool may be mail for another that has just run.
    for (int pass = 0; pass < 3; ++pass) {
      next = base::kNever;
      allFinished = true;
      for (auto& subtask : subtasks) {
        next = std::min(next, subtask->run());
        allFinished = allFinished && subtask->finished();
      }
    }
    watch.look(subtasks.size(), report.violations);
    if (allFinished || !report.violations.empty()) return;
    if (!healed && world.clock().now() - start > std::chrono::minutes(20)) {
      service.heal();
      healed = true;
    }
    if (world.clock().now() - start > std::chrono::hours(48) || round > 3'000'000) {
      report.violations.push_back("never finished: somebody waits for ever");
      return;
    }
    const base::MonotonicTime event = world.nextEvent();
    if (event == base::kNever && next == base::kNever) {
      report.violations.push_back("nothing is going to happen, and the input is not finished");
      return;
    }
    world.runNext(std::min(event, next));
  }
}

void checkTheEnd(SimulatedService& service, std::vector<std::unique_ptr<WriterSubtask>>& subtasks,
                 SeedReport& report) {
  for (auto& subtask : subtasks) {
    std::set<std::string> known;
    for (const Record& record : subtask->input()) known.insert(record.text);
    for (const auto& [text, times] : subtask->handled()) {
      if (!known.contains(text)) report.violations.push_back("the handler got a stranger: " + text);
      if (text.rfind("good", 0) == 0) {
        report.violations.push_back("a good row was routed: " + text);
      }
      if (times != 1 && !subtask->restarted()) {
        report.violations.push_back(fmt::format("handled {} times: {}", times, text));
      }
    }
    for (const Record& record : subtask->input()) {
      const auto& rows = service.rows(resourceOf(record.table));
      const auto row = rows.find(record.text);
      if (record.text.rfind("good", 0) != 0) {
        if (row != rows.end()) report.violations.push_back("a bad row landed: " + record.text);
      } else if (row == rows.end()) {
        report.violations.push_back("lost: " + record.text);
      } else if (row->second > 1 && report.lostAnswers == 0 && report.restarts == 0 &&
                 report.retries == 0) {
        report.violations.push_back("doubled without a reason: " + record.text);
      }
    }
  }
}

}  // namespace

std::string SeedReport::describe() const {
  std::string text = fmt::format(
      "seed {}: {} rows ({} bad), {} re-appends, {} lost answers, {} restarts, {} failed writers",
      seed, rowsWritten, badRows, retries, lostAnswers, restarts, failedWriters);
  for (size_t i = 0; i < violations.size() && i < 10; ++i) text += "\n  " + violations[i];
  return text;
}

SeedReport playSinkSeed(uint64_t seed) {
  SeedReport report;
  report.seed = seed;
  const size_t chunksBefore = base::ChunkPool::process().chunksInUse();
  {
    World world(seed);
    base::Random& random = world.random();
    SimulatedService service(world, drawSinkRates(random));
    const int tables = static_cast<int>(1 + random.below(4));
    for (int table = 0; table < tables; ++table) {
      if (random.chance(0.6)) service.tables().createTable(resourceOf(table));
    }
    const bigquery::SinkOptions options = drawSinkOptions(random);
    // Sinks of one identity share a pool; those of two share what counts for the process.
    const auto bounds = std::make_shared<bigquery::ProcessBounds>();
    std::vector<std::shared_ptr<bigquery::AppendPool>> pools;
    for (int i = random.chance(0.2) ? 2 : 1; i > 0; --i) {
      pools.push_back(bigquery::AppendPool::create(service.appendCalls(), world.clock(),
                                                   base::seededRandom(random.next()), bounds));
    }
    std::vector<std::unique_ptr<WriterSubtask>> subtasks;
    const auto count = static_cast<int>(1 + random.below(3));
    for (int i = 0; i < count; ++i) {
      subtasks.push_back(std::make_unique<WriterSubtask>(
          world, service, pools[static_cast<size_t>(i) % pools.size()], options,
          drawInput(random, i, tables, report), tables, report));
    }
    ProcessWatch watch(pools, *bounds);
    runToTheEnd(world, service, watch, subtasks, report);
    report.lostAnswers = service.lostAnswers();
    checkTheEnd(service, subtasks, report);
    for (auto& subtask : subtasks) subtask->close();
    for (const std::string& violation : service.violations()) {
      report.violations.push_back(violation);
    }
    watch.checkNothingIsLeft(report.violations);
    report.grown += watch.grown() ? 1 : 0;
    report.atTheBound += watch.boundReached() ? 1 : 0;
    // What is still scheduled (answers of calls that were given up) must find nobody.
    while (world.runNext(base::kNever)) {
    }
  }
  if (base::ChunkPool::process().chunksInUse() != chunksBefore) {
    report.violations.push_back("chunks are left");
  }
  return report;
}

}  // namespace penstock::simulation
