#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "penstock/bigquery/sink/destination_host.h"
#include "penstock/bigquery/sink/request_limits.h"
#include "penstock/bigquery/sink/statistics_board.h"
#include "penstock/connector/writer_core.h"

namespace penstock::bigquery {

/// A writer over the Storage Write API, whatever streams it appends to: what the blocking writer
/// and other hosts of one of the write methods use of it. The way of a row whose destination takes
/// rows and whose batch is below its limits is here, so that it costs no virtual call. See
/// connector::WriterCore for the rules of calling it.
class StorageWriter : public connector::WriterCore {
 public:
  /// Interns a destination; the same table gives the same id, its first setup stays. Nothing is
  /// asked of the service before the first row, unless the schema must be read from the table.
  virtual absl::StatusOr<connector::DestinationId> registerDestination(DestinationSetup setup) = 0;
  /// The destination's columns, or null while they are being read from the table (admit answers
  /// kWouldWait).
  [[nodiscard]] virtual const TableSchema* schemaOf(connector::DestinationId destination) const = 0;
  [[nodiscard]] virtual const TableName& tableOf(connector::DestinationId destination) const = 0;

  /// Where other threads ask for statistics; outlives the writer.
  [[nodiscard]] virtual std::shared_ptr<StatisticsBoard> statisticsBoard() const = 0;

  /// Rows of the destination have other columns from the next one on (BQW-163): rows written before
  /// are sent and awaited first, so admit answers kWouldWait for a while. An empty descriptor
  /// follows from the schema; without a schema the table can no longer be created.
  virtual void changeSchema(connector::DestinationId destination, std::optional<TableSchema> schema,
                            std::string descriptor) = 0;
  /// Whether something has happened that poll() would act on or report.
  [[nodiscard]] bool hasNews() const {
    return !failure_.ok() || signal_->load(std::memory_order_acquire);
  }

  /// A failed record that belongs to no row being written, with a destination's name filled in.
  [[nodiscard]] connector::FailedRecord failureFor(connector::DestinationId destination) const {
    connector::FailedRecord failure;
    failure.connector = "bigquery";
    failure.destination = tableOf(destination).dotted();
    return failure;
  }

  // connector::WriterCore
  connector::Admission admit(connector::DestinationId destination) final {
    if (destination == hot_.destination && ++rowsSinceWork_ < kRowsBetweenTimers &&
        !signal_->load(std::memory_order_acquire)) {
      return connector::Admission::kAccepted;
    }
    return admitSlowly(destination);
  }
  connector::RowEncoder& beginRow(connector::DestinationId destination) final {
    rowDestination_ = destination;
    rowBatch_ = destination == hot_.destination ? hot_.batch : &batchOf(destination);
    row_ = &rowBatch_->beginRow();
    return *row_;
  }
  void commitRow(connector::RowOrigin origin) final {
    connector::RowBatch& batch = *std::exchange(rowBatch_, nullptr);
    batch.commitRow(origin);
    if (&batch != hot_.batch || batch.framedBytes() > hot_.maxFramedBytes ||
        batch.rowCount() >= kMaxRowsPerAppend) {
      afterCommit();
    } else {
      batch.prefetchBehind();
    }
  }
  /// Rows that are bytes already, in order, as admit, beginRow and commitRow would take them one by
  /// one, at less cost. Returns how many were taken; when not all, the next is not admitted now.
  /// `first` is the first row's origin, the others' follow it.
  virtual size_t takeRows(connector::DestinationId destination,
                          std::span<const std::string_view> rows, connector::RowOrigin first) = 0;
  void failRow(connector::FailedRecord failure) final {
    // An unroutable record belongs to no destination and pauses none.
    failRow(rowBatch_ != nullptr ? rowDestination_ : connector::kNoDestination, std::move(failure));
  }
  /// The same of a record for `destination` of which no row may have been begun.
  virtual void failRow(connector::DestinationId destination, connector::FailedRecord failure) = 0;
  /// With thousands of destinations all that the next row of one touches has left the cache, and
  /// each part says where the next is: has them brought in together. May be wrong or left out.
  void prefetch(connector::DestinationId destination) const {
    if (destination != hot_.destination) prefetchCold(destination);
  }

 protected:
  // Timers are looked at once in this many rows on the hot path; reading the clock costs as much as
  // a row.
  static constexpr uint32_t kRowsBetweenTimers = 256;

  /// `signal`: set when something has arrived; outlives the writer.
  explicit StorageWriter(const std::atomic<bool>* signal) : signal_(signal) {}

  /// Admission of a row about which something needs to be asked.
  virtual connector::Admission admitSlowly(connector::DestinationId destination) = 0;
  virtual connector::RowBatch& batchOf(connector::DestinationId destination) = 0;
  /// After a row about whose batch something needs to be asked.
  virtual void afterCommit() = 0;
  virtual void prefetchCold(connector::DestinationId destination) const = 0;

  /// The destination of the row committed last, while it is open, takes rows, and its batch is
  /// below its limits: nothing else needs to be asked about the next row.
  struct Hot {
    connector::DestinationId destination = connector::kNoDestination;
    connector::RowBatch* batch = nullptr;
    size_t maxFramedBytes = 0;
  };
  Hot hot_;
  connector::DestinationId rowDestination_{};
  connector::RowBatch* rowBatch_ = nullptr;  // the open row's, or null
  connector::RowEncoder* row_ = nullptr;     // of the row begun last
  uint32_t rowsSinceWork_ = 0;
  absl::Status failure_;  // the captured error; the first one stays (BQW-043)

 private:
  const std::atomic<bool>* const signal_;
};

}  // namespace penstock::bigquery
