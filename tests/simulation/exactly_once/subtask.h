#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exactly_once/ledger.h"
#include "exactly_once/plan.h"
#include "penstock/bigquery/sink/append_pool.h"
#include "penstock/bigquery/sink/buffered_stream_writer.h"
#include "simulated_service.h"

namespace penstock::simulation {

/// What a host asks of a subtask at a checkpoint, in the order in which it comes.
enum class Step { kFlush, kFlushEndOfInput, kPrepare, kSnapshot };

/// What a subtask says of itself at a checkpoint.
struct SubtaskPart {
  std::map<size_t, size_t> positions;  ///< of the splits it has read from
  std::vector<connector::WriterState> states;
  /// Of all prepares that these states cover.
  std::vector<connector::Committable> committables;
  bool snapshotTaken = false;
  /// Everything that the states cover is named by a committable.
  bool allPrepared = false;
};

/// One subtask of the job: reads splits, one after the other, and writes them with a writer of its
/// own.
class Subtask {
 public:
  struct Job {
    World& world;
    SimulatedService& service;
    const Plan& plan;
    Ledger& ledger;
    std::vector<std::string>& violations;
    std::shared_ptr<bigquery::AppendPool> pool;
    std::deque<size_t>& splits;  ///< that nobody reads yet
    const Positions& restored;
  };

  Subtask(const Job& job, int index, int parallelism,
          std::span<const connector::WriterState> states);
  ~Subtask();

  /// A checkpoint begins; its part is there some time after.
  void begin(connector::CheckpointId checkpoint, std::vector<Step> steps);
  [[nodiscard]] std::optional<SubtaskPart> takePart();

  /// Does a little; returns when to come back at the latest (an event may make it earlier).
  base::MonotonicTime run();
  /// There is nothing left to read.
  [[nodiscard]] bool idle() const { return !split_.has_value() && job_.splits.empty(); }
  [[nodiscard]] const absl::Status& failure() const { return failure_; }
  [[nodiscard]] uint64_t retries() const;
  /// A host that ends in good order closes its writers.
  void close() { writer_->beginClose(); }

 private:
  void registerDestinations();
  /// False: comes back later.
  bool takeStep(const connector::Progress& progress);
  bool writeOne();
  bool nextRecord();
  void askHost();
  void answerNow();
  void checkFlushed();

  Job job_;
  const int index_;
  std::shared_ptr<base::MetricGroup> metrics_ = std::make_shared<base::MetricGroup>();
  std::unique_ptr<bigquery::BufferedStreamWriter> writer_;
  std::vector<connector::DestinationId> ids_;
  absl::Status failure_;

  std::optional<size_t> split_;  // that it reads
  std::map<size_t, size_t> positions_;
  bool endOfInput_ = false;  // said so

  connector::CheckpointId checkpoint_ = 0;
  std::deque<Step> steps_;
  bool stepBegun_ = false;
  std::optional<SubtaskPart> part_;
  std::vector<connector::Committable> prepared_;  // that no states cover yet
  bool flushed_ = true;                           // nothing was written since
  bool allPrepared_ = false;                      // nothing was written since

  bool waitingForHost_ = false;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace penstock::simulation
