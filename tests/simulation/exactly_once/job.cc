#include "exactly_once/job.h"

#include <algorithm>
#include <utility>

namespace penstock::simulation {

using bigquery::StreamCommitter;
using connector::Progress;
using std::chrono::milliseconds;
using std::chrono::seconds;

Job::Job(World& world, SimulatedService& service, const Plan& plan, Ledger& ledger,
         std::vector<std::string>& violations)
    : world_(world), service_(service), plan_(plan), ledger_(ledger), violations_(violations) {
  stored_.positions.resize(plan.input.size());
  start();
}

Job::~Job() {
  *alive_ = false;
  stop();
}

// --- runs

void Job::start() {
  down_ = false;
  stepsToCrash_ = crashesDone_ < plan_.crashes.size() ? plan_.crashes[crashesDone_] : -1;
  const auto parallelism = static_cast<int>(1 + world_.random().below(4));
  if (parallelism_ != 0 && parallelism != parallelism_) ++counts_.rescaled;
  parallelism_ = parallelism;
  if (pools_.empty()) {
    bounds_ = std::make_shared<bigquery::ProcessBounds>();
    pools_ = {bigquery::AppendPool::create(service_.appendCalls(), world_.clock(),
                                           base::seededRandom(world_.random().next()), bounds_)};
    watch_ = std::make_unique<ProcessWatch>(pools_, *bounds_);
  }
  positions_ = stored_.positions;
  splits_.clear();
  for (size_t split = 0; split < plan_.input.size(); ++split) splits_.push_back(split);
  unconfirmed_.assign(stored_.committables.begin(), stored_.committables.end());
  confirmed_ = 0;
  stored_.committablesEnd = unconfirmed_.size();
  startCommitter();
  world_.note("run {}: {} subtasks, checkpoint {}, {} states, {} committables", run_ + 1,
              parallelism_, stored_.number, stored_.states.size(), unconfirmed_.size());
  counts_.restores += stored_.states.empty() ? 0 : 1;
  counts_.recommits += unconfirmed_.empty() ? 0 : 1;
  if (stored_.number > 0) commit();
  writersWait_ = commitOpen_ && world_.random().chance(0.5);
  if (!writersWait_) startWriters();
}

void Job::startCommitter() {
  StreamCommitter::Dependencies dependencies;
  dependencies.streams = service_.streamAdmin();
  dependencies.clock = &world_.clock();
  dependencies.random = base::seededRandom(world_.random().next());
  auto committer = StreamCommitter::create(plan_.options, std::move(dependencies));
  if (!committer.ok()) {
    violations_.push_back("cannot create a committer: " + base::describe(committer.status()));
    return;
  }
  committer_ = *std::move(committer);
}

void Job::startWriters() {
  // Each state goes to some subtask, whichever it came from.
  std::vector<std::vector<connector::WriterState>> states(static_cast<size_t>(parallelism_));
  for (const connector::WriterState& state : stored_.states) {
    states[world_.random().below(states.size())].push_back(state);
  }
  const Subtask::Job job{world_,      service_,       plan_,   ledger_,
                         violations_, pools_.front(), splits_, stored_.positions};
  for (int index = 0; index < parallelism_; ++index) {
    subtasks_.push_back(
        std::make_unique<Subtask>(job, index, parallelism_, states[static_cast<size_t>(index)]));
  }
  nextCheckpoint_ = world_.clock().now() + world_.between(milliseconds(0), milliseconds(800));
}

void Job::stop() {
  for (const auto& subtask : subtasks_) counts_.retries += subtask->retries();
  subtasks_.clear();
  committer_.reset();
  checkpoint_.reset();
  unconfirmed_.clear();
  commitOpen_ = false;
  promised_.reset();
  last_ = false;
  writersWait_ = false;
  ++run_;
}

bool Job::crashesNow() { return stepsToCrash_ >= 0 && stepsToCrash_-- == 0; }

void Job::crash() {
  world_.note("crash");
  ++counts_.crashes;
  ++crashesDone_;
  stop();
  watch_.reset();
  pools_.clear();
  bounds_.reset();
  restartLater();
}

void Job::failOver(const absl::Status& why) {
  world_.note("the job fails: {}", base::describe(why));
  ++counts_.failures;
  // The process, and with it the pool, may live on.
  const bool processLives = world_.random().chance(0.5);
  if (processLives && world_.random().chance(0.5)) {
    for (const auto& subtask : subtasks_) subtask->close();
  }
  stop();
  if (processLives) {
    watch_->checkNothingIsLeft(violations_);
  } else {
    watch_.reset();
    pools_.clear();
    bounds_.reset();
  }
  restartLater();
}

void Job::restartLater() {
  down_ = true;
  for (auto& [name, stream] : service_.tables().streams()) {
    if (service_.strikes(Fault::kBrokenAtRestart)) {
      stream.broken = bigquery::StorageErrorCode::kStreamFinalized;
    }
  }
  world_.after(SimulatedService::kAfterlife + world_.between(milliseconds(1), seconds(2)),
               [this, alive = alive_] {
                 if (*alive) start();
               });
}

base::MonotonicTime Job::run() {
  if (down_ || finished_) return base::kNever;
  base::MonotonicTime next = base::kNever;
  runSubtasks(next);
  if (down_) return base::kNever;
  runCommitter(next);
  if (down_ || finished_) return base::kNever;
  coordinate(next);
  watch_->look(subtasks_.size(), violations_, /*dedicated=*/true);
  return next;
}

void Job::runSubtasks(base::MonotonicTime& next) {
  // Several passes: what one subtask does to the pool may be mail for another that has just run.
  for (int pass = 0; pass < 2; ++pass) {
    next = base::kNever;
    const size_t first = subtasks_.empty() ? 0 : world_.random().below(subtasks_.size());
    for (size_t turn = 0; turn < subtasks_.size(); ++turn) {
      const size_t index = (first + turn) % subtasks_.size();
      Subtask& subtask = *subtasks_[index];
      next = std::min(next, subtask.run());
      if (crashesNow()) return crash();
      if (!subtask.failure().ok()) return failOver(subtask.failure());
      if (std::optional<SubtaskPart> part = subtask.takePart()) collect(index, *std::move(part));
    }
  }
}

// --- checkpoints

bool Job::allIdle() const {
  return !subtasks_.empty() && std::all_of(subtasks_.begin(), subtasks_.end(),
                                           [](const auto& subtask) { return subtask->idle(); });
}

void Job::coordinate(base::MonotonicTime& next) {
  if (subtasks_.empty() || checkpoint_.has_value() || last_) return;
  if (allIdle()) {
    // The usual end; or another checkpoint first, with nothing to read any more.
    beginCheckpoint(!plan_.hostIsOdd || world_.random().chance(0.5));
  } else if (world_.clock().now() >= nextCheckpoint_) {
    beginCheckpoint(false);
  }
  next = std::min(next, checkpoint_.has_value() ? world_.clock().now() : nextCheckpoint_);
}

void Job::beginCheckpoint(bool endOfInput) {
  checkpoint_.emplace();
  CheckpointUnderWay& checkpoint = *checkpoint_;
  checkpoint.content.number = ++numbers_;
  checkpoint.content.endOfInput = endOfInput;
  checkpoint.content.allPrepared = true;
  checkpoint.answered.resize(subtasks_.size());
  checkpoint.givenUp = plan_.hostIsOdd && !endOfInput && world_.random().chance(0.3);
  world_.note("checkpoint {}{}{}", numbers_, endOfInput ? ", the last" : "",
              checkpoint.givenUp ? ", which will be given up" : "");
  for (const auto& subtask : subtasks_) {
    subtask->begin(numbers_, drawSteps(endOfInput, checkpoint.givenUp));
  }
}

std::vector<Step> Job::drawSteps(bool endOfInput, bool givenUp) {
  const Step flush = endOfInput ? Step::kFlushEndOfInput : Step::kFlush;
  std::vector<Step> steps = {flush, Step::kPrepare, Step::kSnapshot};
  if (!plan_.hostIsOdd) return steps;
  base::Random& random = world_.random();
  if (givenUp) {
    // Whatever it had come to.
    std::erase_if(steps, [&](Step) { return random.chance(0.4); });
    if (random.chance(0.2)) std::reverse(steps.begin(), steps.end());
    return steps;
  }
  using Steps = std::vector<Step>;
  const Steps kOdd[] = {
      {flush, Step::kPrepare, Step::kSnapshot},
      {flush, Step::kPrepare, Step::kPrepare, Step::kSnapshot},
      {flush, Step::kPrepare, Step::kSnapshot, Step::kSnapshot},
      {flush, Step::kPrepare, Step::kSnapshot, Step::kPrepare},
      {Step::kPrepare, flush, Step::kPrepare, Step::kSnapshot},
      {flush, Step::kSnapshot, Step::kPrepare, Step::kSnapshot},
      {Step::kSnapshot, flush, Step::kPrepare, Step::kSnapshot},
      {flush, Step::kPrepare, flush, Step::kSnapshot},
      // At the end of the input everything must have been prepared.
      {flush, Step::kSnapshot},
      {flush, Step::kSnapshot, Step::kPrepare},
      {Step::kPrepare, flush, Step::kSnapshot},
  };
  constexpr size_t kNotAtTheEnd = 3;
  return kOdd[random.below(std::size(kOdd) - (endOfInput ? kNotAtTheEnd : 0))];
}

void Job::collect(size_t subtask, SubtaskPart part) {
  CheckpointUnderWay& checkpoint = *checkpoint_;
  checkpoint.answered[subtask] = true;
  for (connector::Committable& committable : part.committables) {
    unconfirmed_.push_back(std::move(committable));
  }
  if (!checkpoint.givenUp) {
    for (const auto& [split, position] : part.positions) positions_[split] = position;
    StoredCheckpoint& content = checkpoint.content;
    content.states.insert(content.states.end(), part.states.begin(), part.states.end());
    content.allPrepared = content.allPrepared && part.allPrepared;
  }
  if (std::find(checkpoint.answered.begin(), checkpoint.answered.end(), false) ==
      checkpoint.answered.end()) {
    onAllAnswered();
  }
}

void Job::onAllAnswered() {
  nextCheckpoint_ = world_.clock().now() + world_.between(milliseconds(1), milliseconds(800));
  if (checkpoint_->givenUp) {
    ++counts_.givenUp;
    checkpoint_.reset();
    return;
  }
  StoredCheckpoint& content = checkpoint_->content;
  content.positions = positions_;
  content.committables.assign(unconfirmed_.begin(), unconfirmed_.end());
  content.committablesEnd = confirmed_ + unconfirmed_.size();
  world_.after(world_.between(milliseconds(0), milliseconds(100)),
               [this, alive = alive_, run = run_] {
                 if (*alive && run == run_) store();
               });
}

void Job::store() {
  stored_ = std::move(checkpoint_->content);
  world_.note("checkpoint {} is stored: {} states, {} committables", stored_.number,
              stored_.states.size(), stored_.committables.size());
  checkpoint_.reset();
  ledger_.onCovered(stored_.positions);
  ++counts_.checkpoints;
  commit();
}

// --- commits

void Job::commit() {
  if (commitOpen_) return;  // then these are next
  commitOpen_ = true;
  committing_ = stored_.committablesEnd - confirmed_;
  committed_ = stored_.number;
  promised_ = stored_.allPrepared ? std::optional(stored_.positions) : std::nullopt;
  last_ = stored_.endOfInput;
  const std::vector<connector::Committable> committables(
      unconfirmed_.begin(), unconfirmed_.begin() + static_cast<ptrdiff_t>(committing_));
  committer_->beginCommit(committables);
}

void Job::runCommitter(base::MonotonicTime& next) {
  while (commitOpen_) {
    const Progress progress = committer_->poll();
    if (crashesNow()) return crash();
    if (progress.state == Progress::State::kFailed) return failOver(progress.status);
    if (progress.state != Progress::State::kDone) {
      next = std::min(next, progress.wakeAt);
      return;
    }
    onCommitted();
    if (crashesNow()) return crash();
  }
}

void Job::onCommitted() {
  if (promised_.has_value()) ledger_.onCommitted(*promised_);
  unconfirmed_.erase(unconfirmed_.begin(),
                     unconfirmed_.begin() + static_cast<ptrdiff_t>(committing_));
  confirmed_ += committing_;
  commitOpen_ = false;
  if (last_) {
    finished_ = true;
    return;
  }
  if (std::exchange(writersWait_, false)) startWriters();
  if (committed_ != stored_.number) commit();
}

void Job::close() {
  for (const auto& subtask : subtasks_) subtask->close();
  if (committer_ != nullptr) committer_->beginClose();
  stop();
  if (watch_ != nullptr) watch_->checkNothingIsLeft(violations_);
}

}  // namespace penstock::simulation
