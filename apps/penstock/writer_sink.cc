#include "apps/penstock/writer_sink.h"

#include <utility>

namespace penstock::command {

WriterSink::WriterSink(std::unique_ptr<bigquery::BlockingWriter> writer,
                       std::shared_ptr<RowPlaces> places)
    : writer_(std::move(writer)), places_(std::move(places)) {}

absl::Status WriterSink::write(const runtime::RecordBatch& batch) {
  if (!batch.defect.empty()) return writeDefect(batch);
  return writeRecords(batch, places_->add(batch));
}

absl::StatusOr<base::MonotonicTime> WriterSink::poll() { return writer_->poll(); }

absl::Status WriterSink::flush(bool endOfInput) {
  const absl::Status status = writer_->flush(endOfInput);
  if (status.ok()) places_->settled();
  return status;
}

absl::StatusOr<std::vector<connector::Committable>> WriterSink::prepareCommit() {
  return writer_->prepareCommit();
}

absl::StatusOr<std::vector<connector::WriterState>> WriterSink::snapshotState(
    connector::CheckpointId checkpoint) {
  return writer_->snapshotState(checkpoint);
}

absl::Status WriterSink::close() { return writer_->close(); }

void WriterSink::cancel() { writer_->cancel(); }

}  // namespace penstock::command
