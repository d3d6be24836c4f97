#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/runtime/source.h"

namespace penstock::runtime {

/// Reads another source at the pace of the checkpoints, so that a job lasts for many of them: some
/// batches, then nothing until the next checkpoint is complete.
class PacedSource final : public Source {
 public:
  /// A reader hands out `batches` between two checkpoints.
  PacedSource(Source& source, int batches) : source_(source), batchesPerCheckpoint_(batches) {}
  /// How many checkpoints the running job has completed.
  void setCheckpoints(std::function<uint64_t()> completed) { completed_ = std::move(completed); }

  std::string identity() const override { return source_.identity(); }
  absl::Status checkIdentity(std::string_view stored) const override {
    return source_.checkIdentity(stored);
  }
  absl::Status checkRestorable() const override { return source_.checkRestorable(); }
  std::vector<std::string> splits() const override { return source_.splits(); }
  absl::StatusOr<std::unique_ptr<SplitReader>> createReader(std::string_view split,
                                                            std::string_view position,
                                                            const Wakeup& wakeup) override {
    PENSTOCK_ASSIGN_OR_RETURN(std::unique_ptr<SplitReader> reader,
                              source_.createReader(split, position, wakeup));
    return std::make_unique<Reader>(*this, std::move(reader), wakeup);
  }

 private:
  class Reader final : public SplitReader {
   public:
    Reader(const PacedSource& source, std::unique_ptr<SplitReader> reader, const Wakeup& wakeup)
        : source_(source), reader_(std::move(reader)), wakeup_(wakeup) {}
    absl::StatusOr<State> read(RecordBatch& batch, base::MonotonicTime deadline) override {
      const uint64_t checkpoints = source_.completed_();
      if (checkpoints != checkpoints_) {
        checkpoints_ = checkpoints;
        batches_ = 0;
      }
      if (batches_ == source_.batchesPerCheckpoint_) {
        const auto soon = base::systemClock().now() + std::chrono::milliseconds(1);
        [[maybe_unused]] const Wakeup::Reason reason = wakeup_.wait(-1, soon);
        return State::kNothingYet;
      }
      ++batches_;
      return reader_->read(batch, deadline);
    }
    std::string position() const override { return reader_->position(); }

   private:
    const PacedSource& source_;
    std::unique_ptr<SplitReader> reader_;
    const Wakeup& wakeup_;
    uint64_t checkpoints_ = 0;
    int batches_ = 0;
  };

  Source& source_;
  const int batchesPerCheckpoint_;
  std::function<uint64_t()> completed_;
};

}  // namespace penstock::runtime
