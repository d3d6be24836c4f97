#include "exactly_once/subtask.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.pb.h>

#include <iterator>
#include <utility>

namespace penstock::simulation {

using bigquery::BufferedStreamWriter;
using connector::Progress;
using std::chrono::milliseconds;

Subtask::Subtask(const Job& job, int index, int parallelism,
                 std::span<const connector::WriterState> states)
    : job_(job), index_(index) {
  BufferedStreamWriter::Dependencies dependencies;
  dependencies.pool = job_.pool;
  dependencies.admin = job_.service.tableAdmin();
  dependencies.clock = &job_.world.clock();
  dependencies.random = base::seededRandom(job_.world.random().next());
  dependencies.metrics = metrics_;
  dependencies.streams = job_.service.streamAdmin();
  dependencies.subtaskIndex = index;
  dependencies.parallelism = parallelism;
  auto writer = BufferedStreamWriter::create(job_.plan.options, std::move(dependencies), states);
  if (!writer.ok()) {
    job_.violations.push_back("cannot create a writer: " + base::describe(writer.status()));
    failure_ = writer.status();
    return;
  }
  writer_ = *std::move(writer);
  registerDestinations();
}

Subtask::~Subtask() { *alive_ = false; }

void Subtask::registerDestinations() {
  for (int table = 0; table < job_.plan.tables; ++table) {
    bigquery::DestinationSetup setup;
    setup.table = {"p", "d", tableName(table)};
    setup.schema = bigquery::TableSchema{{{"c", bigquery::ColumnType::kString}}};
    google::protobuf::DescriptorProto descriptor;
    descriptor.set_name(tableName(table));  // so that the service can tell whose schema it sees
    setup.descriptor = descriptor.SerializeAsString();
    ids_.push_back(*writer_->registerDestination(std::move(setup)));
  }
}

uint64_t Subtask::retries() const {
  return static_cast<uint64_t>(metrics_->snapshot().counters.at("appendRetries"));
}

void Subtask::begin(connector::CheckpointId checkpoint, std::vector<Step> steps) {
  checkpoint_ = checkpoint;
  steps_.assign(steps.begin(), steps.end());
  part_.emplace();
}

std::optional<SubtaskPart> Subtask::takePart() {
  if (!steps_.empty()) return std::nullopt;
  return std::exchange(part_, std::nullopt);
}

base::MonotonicTime Subtask::run() {
  if (!failure_.ok()) return base::kNever;
  for (int turns = 0; turns < 40; ++turns) {
    const Progress progress = writer_->poll();
    if (progress.state == Progress::State::kFailed) {
      failure_ = progress.status;
      job_.world.note("subtask {} fails: {}", index_, base::describe(failure_));
      return base::kNever;
    }
    if (waitingForHost_) return base::kNever;  // comes back when the host answers
    if (progress.state == Progress::State::kNeedsHost) {
      askHost();
      continue;
    }
    if (!steps_.empty()) {
      if (!takeStep(progress)) return progress.wakeAt;
      continue;
    }
    if (!nextRecord()) return progress.wakeAt;
    if (!writeOne()) return writer_->poll().wakeAt;
    // Now and then others get their turn between two records.
    if (job_.world.random().chance(0.1)) break;
  }
  return job_.world.clock().now() + milliseconds(1);
}

bool Subtask::takeStep(const Progress& progress) {
  const Step step = steps_.front();
  if (!stepBegun_) {
    stepBegun_ = true;
    if (step == Step::kPrepare) {
      writer_->beginPrepareCommit();
    } else if (step != Step::kSnapshot) {
      endOfInput_ = endOfInput_ || step == Step::kFlushEndOfInput;
      writer_->beginFlush(endOfInput_);
    }
    return true;  // the next poll carries it on
  }
  if (progress.state != Progress::State::kDone) return false;
  stepBegun_ = false;
  steps_.pop_front();
  if (step == Step::kPrepare) {
    std::vector<connector::Committable> committables = writer_->takeCommittables();
    job_.world.note("subtask {} prepares: {} committables", index_, committables.size());
    allPrepared_ = flushed_;
    // Behind the snapshot they speak of the same rows: they may go with it, or wait for the next.
    const bool goesAlong = part_->snapshotTaken && flushed_ && job_.world.random().chance(0.5);
    if (goesAlong) part_->allPrepared = true;
    std::move(committables.begin(), committables.end(),
              std::back_inserter(goesAlong ? part_->committables : prepared_));
  } else if (step == Step::kSnapshot) {
    part_->states = writer_->snapshotState(checkpoint_);
    job_.world.note("subtask {} snapshots {}: {} states", index_, checkpoint_,
                    part_->states.size());
    part_->positions = positions_;
    std::move(prepared_.begin(), prepared_.end(), std::back_inserter(part_->committables));
    prepared_.clear();
    part_->snapshotTaken = true;
    part_->allPrepared = allPrepared_;
  } else {
    flushed_ = true;
    checkFlushed();
  }
  return true;
}

void Subtask::checkFlushed() {
  const auto snapshot = metrics_->snapshot();
  if (snapshot.gauges.at("inFlightAppends") != 0 || snapshot.gauges.at("bufferedBytes") != 0) {
    job_.violations.push_back(fmt::format("after a flush: inFlightAppends {}, bufferedBytes {}",
                                          snapshot.gauges.at("inFlightAppends"),
                                          snapshot.gauges.at("bufferedBytes")));
  }
}

bool Subtask::nextRecord() {
  if (endOfInput_) return false;
  while (true) {
    if (split_.has_value()) {
      if (positions_[*split_] < job_.plan.input[*split_].size()) return true;
      split_.reset();
    }
    if (job_.splits.empty()) return false;
    split_ = job_.splits.front();
    job_.splits.pop_front();
    positions_[*split_] = job_.restored[*split_];
  }
}

bool Subtask::writeOne() {
  size_t& position = positions_[*split_];
  const Record& record = job_.plan.input[*split_][position];
  const connector::DestinationId id = ids_[static_cast<size_t>(record.table)];
  if (writer_->admit(id) != connector::Admission::kAccepted) return false;
  connector::RowEncoder& row = writer_->beginRow(id);
  row.append(record.text);
  if (record.isSkipped()) {
    writer_->discardRow();
  } else if (record.serializable) {
    writer_->commitRow(connector::RowOrigin::kUnknown);
  } else {
    connector::FailedRecord failure = writer_->failureFor(id);
    failure.errorMessage = record.text;
    writer_->failRow(std::move(failure));
  }
  ++position;
  flushed_ = false;
  allPrepared_ = false;
  return true;
}

void Subtask::askHost() {
  if (!job_.plan.hostIsSlow || job_.world.random().chance(0.5)) return answerNow();
  waitingForHost_ = true;
  job_.world.after(job_.world.between(milliseconds(1), milliseconds(500)), [this, alive = alive_] {
    if (!*alive) return;
    waitingForHost_ = false;
    answerNow();
  });
}

void Subtask::answerNow() {
  while (!writer_->questions().empty()) {
    const connector::Question question = writer_->questions().front();
    connector::Answer answer;
    for (const connector::FailedRecord& failure : question.failures) {
      job_.ledger.onHandled(failure.payload.value_or(failure.errorMessage));
      if (job_.service.strikes(Fault::kHandlerRefuses)) {
        answer.status = absl::AbortedError("the handler refuses");
      }
    }
    writer_->answer(question.id, std::move(answer));
  }
}

}  // namespace penstock::simulation
