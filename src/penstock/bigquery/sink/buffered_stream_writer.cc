#include "penstock/bigquery/sink/buffered_stream_writer.h"

#include <algorithm>
#include <utility>

#include "penstock/base/log.h"
#include "penstock/bigquery/sink/stream_writer_definitions.h"

namespace penstock::bigquery {

template class StreamWriter<BufferedStreamDestination>;

using connector::DestinationId;

absl::StatusOr<std::unique_ptr<BufferedStreamWriter>> BufferedStreamWriter::create(
    const SinkOptions& options, Dependencies dependencies,
    std::span<const connector::WriterState> restored) {
  PENSTOCK_RETURN_IF_ERROR(validate(options));
  std::unique_ptr<BufferedStreamWriter> writer(
      new BufferedStreamWriter(exactlyOnceOptions(options), std::move(dependencies)));
  PENSTOCK_RETURN_IF_ERROR(writer->restore(restored));
  return writer;
}

BufferedStreamWriter::BufferedStreamWriter(const SinkOptions& options, Dependencies dependencies)
    : StreamWriter(options, std::move(static_cast<WriterDependencies&>(dependencies))),
      streams_(std::move(dependencies.streams)),
      subtask_(dependencies.subtaskIndex),
      parallelism_(dependencies.parallelism) {
  shared_.inFlightBatches = &shared_.metrics->gauge("inFlightAppends");
}

// --- restore

absl::Status BufferedStreamWriter::restore(std::span<const connector::WriterState> states) {
  for (size_t index = 0; index < states.size(); ++index) {
    absl::StatusOr<BufferedStreamState> state = decodeState(states[index]);
    if (!state.ok()) {
      return base::withContext(state.status(), fmt::format("writer state {} of {} to restore",
                                                           index + 1, states.size()));
    }
    if (!state->stream.empty()) adopt(*std::move(state));
  }
  if (states.empty()) return absl::OkStatus();
  restoredAt_ = shared_.clock->now();
  nextIdleLook_ =
      base::deadlineAfter(restoredAt_, options_.defaultStreamOptions.destinationIdleTimeout);
  return absl::OkStatus();
}

void BufferedStreamWriter::adopt(BufferedStreamState state) {
  const auto [place, isFirst] = restored_.try_emplace(state.table, state);
  if (isFirst) return;
  BufferedStreamState& known = place->second;
  // The newest goes on, of equally new ones the first by name: the same on every restore (BQW-130).
  const bool better = state.checkpoint != known.checkpoint ? state.checkpoint > known.checkpoint
                                                           : state.stream < known.stream;
  if (better) std::swap(state, known);
  if (state.stream != known.stream) keepOwed(state);
}

void BufferedStreamWriter::keepOwed(const BufferedStreamState& state) {
  if (state.preparedOffset < state.nextOffset) owed_.push_back({state});
}

absl::StatusOr<DestinationId> BufferedStreamWriter::registerDestination(DestinationSetup setup) {
  const auto restored = restored_.find(setup.table);
  PENSTOCK_ASSIGN_OR_RETURN(const DestinationId id,
                            StreamWriter::registerDestination(std::move(setup)));
  if (restored != restored_.end()) {
    at(id).restore(restored->second);
    restored_.erase(restored);
  }
  return id;
}

// --- checkpoints

void BufferedStreamWriter::beginPrepareCommit() {
  // Nothing is waited for: what has landed by now is what can be committed.
  forgetOpenBatches();
  prepareBegun_ = !closed_;
}

std::vector<connector::Committable> BufferedStreamWriter::takeCommittables() {
  std::vector<connector::Committable> committables;
  if (!std::exchange(prepareBegun_, false) || !failure_.ok()) return committables;
  for (const auto& destination : destinations_) {
    for (const BufferedStreamState& state : destination->takeAbandoned()) keepOwed(state);
    if (const auto committable = destination->prepare(subtask_)) {
      committables.push_back(encodeCommittable(*committable));
    }
  }
  for (Owed& owed : owed_) {
    owed.prepared = true;
    committables.push_back(
        encodeCommittable({owed.state.stream, owed.state.nextOffset - 1, subtask_}));
  }
  for (auto& [table, state] : restored_) {
    if (state.preparedOffset == state.nextOffset) continue;
    state.preparedOffset = state.nextOffset;
    committables.push_back(encodeCommittable({state.stream, state.nextOffset - 1, subtask_}));
  }
  return committables;
}

std::vector<connector::WriterState> BufferedStreamWriter::snapshotState(
    connector::CheckpointId checkpoint) {
  std::vector<connector::WriterState> states;
  forgetOpenBatches();
  for (const auto& destination : destinations_) {
    for (const BufferedStreamState& state : destination->takeAbandoned()) keepOwed(state);
    if (const auto state = destination->snapshot(checkpoint)) {
      states.push_back(encodeState(*state));
    }
  }
  for (auto& [table, state] : restored_) {
    state.checkpoint = checkpoint;
    states.push_back(encodeState(state));
  }
  // With the committables of this checkpoint these have been seen through. The others keep the
  // checkpoint they came from, so that no stream gives way to them.
  std::erase_if(owed_, [](const Owed& owed) { return owed.prepared; });
  for (const Owed& owed : owed_) states.push_back(encodeState(owed.state));
  return states;
}

void BufferedStreamWriter::closeIdleDestinations() {
  StreamWriter::closeIdleDestinations();
  if (restored_.empty()) return;
  const base::MonotonicTime until =
      base::deadlineAfter(restoredAt_, options_.defaultStreamOptions.destinationIdleTimeout);
  if (shared_.clock->now() > until) {
    std::erase_if(restored_, [](const auto& entry) {
      return entry.second.preparedOffset == entry.second.nextOffset;
    });
  }
  if (!restored_.empty()) nextIdleLook_ = std::min(nextIdleLook_, until);
}

// --- streams

void BufferedStreamWriter::createStream(DestinationId destination, const TableName& table) {
  warnOfManyConnections();
  if (creations_ < kMostCreations) {
    beginCreation(destination, table);
  } else {
    waitingForCreation_.push_back(destination);
  }
}

void BufferedStreamWriter::beginCreation(DestinationId destination, const TableName& table) {
  ++creations_;
  streams_->createStream(
      table, kRequestTimeout,
      [inbox = inbox_, destination](StreamError error, CreatedStream stream) {
        inbox->post(StreamCreated{destination, std::move(error), std::move(stream)});
      });
}

void BufferedStreamWriter::onStreamCreated(StreamCreated& event) {
  --creations_;
  if (!waitingForCreation_.empty() && failure_.ok()) {
    const DestinationId next = waitingForCreation_.front();
    waitingForCreation_.pop_front();
    beginCreation(next, at(next).table());
  }
  at(event.destination).onStreamCreated(event.error, std::move(event.stream));
}

void BufferedStreamWriter::warnOfManyConnections() {
  // Each active destination of each subtask has a connection, and the service allows about 1,000 in
  // most regions (BQW-060).
  constexpr size_t kMany = 800;
  const auto times = static_cast<size_t>(parallelism_);
  if (warned_ || destinations_.size() * times < kMany) return;
  const auto active = static_cast<size_t>(
      std::count_if(destinations_.begin(), destinations_.end(),
                    [](const auto& destination) { return destination->hasStream(); }));
  if (active * times < kMany) return;
  warned_ = true;
  base::logWarning(
      "{} tables are written exactly once by each of {} subtasks, on a connection each: the "
      "service allows about 1,000 connections at a time in most regions (10,000 in US and EU)",
      active + 1, parallelism_);
}

}  // namespace penstock::bigquery
