#include "apps/penstock/writer_sink.h"

#include <utility>

namespace penstock::command {

WriterSink::WriterSink(std::unique_ptr<bigquery::BlockingWriter> writer,
                       std::shared_ptr<RowPlaces> places, std::atomic<bool>& failed)
    : writer_(std::move(writer)), places_(std::move(places)), failed_(failed) {}

absl::Status WriterSink::write(const runtime::RecordBatch& batch) {
  if (!batch.defect.empty()) return noted(writeDefect(batch));
  return noted(writeRecords(batch, places_->add(batch)));
}

absl::StatusOr<base::MonotonicTime> WriterSink::poll() {
  absl::StatusOr<base::MonotonicTime> wakeAt = writer_->poll();
  if (!wakeAt.ok()) return noted(wakeAt.status());
  return wakeAt;
}

absl::Status WriterSink::flush(bool endOfInput) {
  const absl::Status status = noted(writer_->flush(endOfInput));
  if (status.ok()) places_->settled();
  return status;
}

absl::StatusOr<std::vector<connector::Committable>> WriterSink::prepareCommit() {
  auto committables = writer_->prepareCommit();
  if (!committables.ok()) return noted(committables.status());
  return committables;
}

absl::StatusOr<std::vector<connector::WriterState>> WriterSink::snapshotState(
    connector::CheckpointId checkpoint) {
  auto states = writer_->snapshotState(checkpoint);
  if (!states.ok()) return noted(states.status());
  return states;
}

absl::Status WriterSink::close() { return noted(writer_->close()); }

void WriterSink::cancel() { writer_->cancel(); }

absl::Status WriterSink::noted(absl::Status status) {
  if (!status.ok()) failed_.store(true);
  return status;
}

}  // namespace penstock::command
