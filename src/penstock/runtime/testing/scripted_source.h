#pragma once

#include <atomic>
#include <charconv>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/runtime/source.h"

namespace penstock::runtime {

/// Splits of numbered records ("0:0", "0:1", ... of split 0), without files. Thread-safe.
class ScriptedSource final : public Source {
 public:
  ScriptedSource(size_t splits, size_t recordsPerSplit)
      : splits_(splits), recordsPerSplit_(recordsPerSplit) {}

  /// Every split hands out `records` and then nothing, as a stream that has not ended, until
  /// `resume`.
  void pauseAfter(size_t records) { limit_.store(records); }
  void resume() { limit_.store(std::numeric_limits<size_t>::max()); }
  void setIdentity(std::string identity) { identity_ = std::move(identity); }
  void setRestorable(bool restorable) { restorable_ = restorable; }
  /// Reading split `split` fails with DATA_LOSS after `records` of it.
  void failSplit(size_t split, size_t records) {
    failingSplit_ = split;
    failAfter_ = records;
  }

  std::string identity() const override { return identity_; }
  absl::Status checkIdentity(std::string_view stored) const override {
    if (stored == identity_) return absl::OkStatus();
    return base::makeStatus(absl::StatusCode::kFailedPrecondition, "the input was {}, it is {}",
                            stored, identity_);
  }
  absl::Status checkRestorable() const override {
    return restorable_ ? absl::OkStatus() : base::invalidArgument("a stream");
  }
  std::vector<std::string> splits() const override {
    std::vector<std::string> splits;
    for (size_t at = 0; at < splits_; ++at) splits.push_back(std::to_string(at));
    return splits;
  }
  absl::StatusOr<std::unique_ptr<SplitReader>> createReader(std::string_view split,
                                                            std::string_view position,
                                                            const Wakeup& wakeup) override {
    return std::make_unique<Reader>(*this, toNumber(split), toNumber(position), wakeup);
  }

 private:
  static size_t toNumber(std::string_view text) {
    size_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }

  class Reader final : public SplitReader {
   public:
    Reader(const ScriptedSource& source, size_t split, size_t next, const Wakeup& wakeup)
        : source_(source), split_(split), next_(next), wakeup_(wakeup) {}

    absl::StatusOr<State> read(RecordBatch& batch, base::MonotonicTime deadline) override {
      batch.records.clear();
      if (split_ == source_.failingSplit_ && next_ >= source_.failAfter_) {
        return absl::DataLossError("the input is damaged");
      }
      if (next_ == source_.recordsPerSplit_) return State::kEnd;
      if (next_ >= source_.limit_.load()) {
        [[maybe_unused]] const Wakeup::Reason reason = wakeup_.wait(-1, deadline);
        return State::kNothingYet;
      }
      record_ = std::to_string(split_) + ":" + std::to_string(next_++);
      batch.records.emplace_back(record_);
      batch.inputBytes = 10;
      return State::kBatch;
    }
    std::string position() const override { return next_ == 0 ? "" : std::to_string(next_); }

   private:
    const ScriptedSource& source_;
    size_t split_;
    size_t next_;
    const Wakeup& wakeup_;
    std::string record_;
  };

  const size_t splits_;
  const size_t recordsPerSplit_;
  std::atomic<size_t> limit_{std::numeric_limits<size_t>::max()};
  std::string identity_ = "scripted";
  bool restorable_ = true;
  size_t failingSplit_ = std::numeric_limits<size_t>::max();
  size_t failAfter_ = 0;
};

}  // namespace penstock::runtime
