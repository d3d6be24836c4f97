#pragma once

#include <memory>
#include <vector>

#include "apps/penstock/row_places.h"
#include "penstock/bigquery/sink/blocking_writer.h"
#include "penstock/runtime/subtask_sink.h"

namespace penstock::command {

/// One subtask's way from records to the tables, but for what makes rows of them.
class WriterSink : public runtime::SubtaskSink {
 public:
  [[nodiscard]] absl::Status write(const runtime::RecordBatch& batch) final;
  [[nodiscard]] absl::StatusOr<base::MonotonicTime> poll() final;
  [[nodiscard]] absl::Status flush(bool endOfInput) final;
  [[nodiscard]] absl::StatusOr<std::vector<connector::Committable>> prepareCommit() final;
  [[nodiscard]] absl::StatusOr<std::vector<connector::WriterState>> snapshotState(
      connector::CheckpointId checkpoint) final;
  [[nodiscard]] absl::Status close() final;
  void cancel() final;

 protected:
  /// `places` is told of every batch, and when all are settled.
  WriterSink(std::unique_ptr<bigquery::BlockingWriter> writer, std::shared_ptr<RowPlaces> places);

  /// `first` is the origin of the first record, the others' follow it.
  virtual absl::Status writeRecords(const runtime::RecordBatch& batch,
                                    connector::RowOrigin first) = 0;
  /// A record that the source could not deliver whole: a failure, for the handler.
  virtual absl::Status writeDefect(const runtime::RecordBatch& batch) = 0;

  [[nodiscard]] bigquery::BlockingWriter& writer() { return *writer_; }

 private:
  std::unique_ptr<bigquery::BlockingWriter> writer_;
  std::shared_ptr<RowPlaces> places_;
};

}  // namespace penstock::command
