#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "penstock/bigquery/sink/buffered_stream_destination.h"
#include "penstock/bigquery/sink/stream_writer.h"

namespace penstock::bigquery {

extern template class StreamWriter<BufferedStreamDestination>;

/// The exactly-once writer (STORAGE_API_EXACTLY_ONCE): rows of any number of destinations, each on
/// a BUFFERED stream of its own, which lives from checkpoint to checkpoint. Rows become visible
/// when a StreamCommitter has flushed what takeCommittables() gave. A core; see
/// connector::WriterCore for the rules of calling it, and
/// docs/decisions/0017-exactly-once-writer.md for what its host has to do.
class BufferedStreamWriter final : public StreamWriter<BufferedStreamDestination> {
 public:
  /// CreateWriteStream answers slowly when asked for many at a time.
  static constexpr size_t kMostCreations = 16;

  struct Dependencies : WriterDependencies {
    std::shared_ptr<StreamAdmin> streams;
    int subtaskIndex = 0;
    int parallelism = 1;
  };

  /// Checks the options again (BASE-005). `restored`: what a checkpoint says, any number of
  /// destinations of any writers of the sink; of several of one table one goes on (BQW-130). An
  /// error says which of them cannot be read.
  static absl::StatusOr<std::unique_ptr<BufferedStreamWriter>> create(
      const SinkOptions& options, Dependencies dependencies,
      std::span<const connector::WriterState> restored = {});

  // StorageWriter
  absl::StatusOr<connector::DestinationId> registerDestination(DestinationSetup setup) override;

  // connector::WriterCore
  void beginPrepareCommit() override;
  std::vector<connector::Committable> takeCommittables() override;
  std::vector<connector::WriterState> snapshotState(connector::CheckpointId checkpoint) override;

 private:
  BufferedStreamWriter(const SinkOptions& options, Dependencies dependencies);

  absl::Status restore(std::span<const connector::WriterState> states);
  void adopt(BufferedStreamState state);
  void keepOwed(const BufferedStreamState& state);

  // BufferedStreamHost
  void createStream(connector::DestinationId destination, const TableName& table) override;

  void onStreamCreated(StreamCreated& event) override;
  void closeIdleDestinations() override;
  void beginCreation(connector::DestinationId destination, const TableName& table);
  void warnOfManyConnections();

  const std::shared_ptr<StreamAdmin> streams_;
  const int subtask_;
  const int parallelism_;

  /// Restored, and without a row so far.
  std::map<TableName, BufferedStreamState> restored_;
  base::MonotonicTime restoredAt_ = base::kNever;
  /// Streams that nobody appends to any more, with rows that no committable has named.
  struct Owed {
    BufferedStreamState state;
    bool prepared = false;
  };
  std::vector<Owed> owed_;
  bool prepareBegun_ = false;

  size_t creations_ = 0;  // under way
  std::deque<connector::DestinationId> waitingForCreation_;
  bool warned_ = false;
};

}  // namespace penstock::bigquery
