#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "penstock/runtime/files/batch_lines.h"
#include "penstock/runtime/files/content_kind.h"
#include "penstock/runtime/files/read_buffer.h"
#include "penstock/runtime/files/record_reader.h"

namespace penstock::runtime {
namespace {

class LineReader final : public SplitReader, public RecordOrigins {
 public:
  LineReader(RecordReaderInput input, bool align, uint64_t rangeEnd,
             const RecordReaderOptions& options)
      : file_(*input.file),
        countLines_(input.lines == nullptr),
        wakeup_(input.wakeup),
        buffer_(std::move(input.content), input.start.offset, options.bufferBytes),
        maxRecordBytes_(options.maxRecordBytes),
        rangeEnd_(rangeEnd),
        aligning_(align),
        finished_(!align && input.start.offset >= rangeEnd),
        linesBefore_(input.start.lines),
        batchLines_(input.lines) {}

  absl::StatusOr<State> read(RecordBatch& batch, base::MonotonicTime deadline) override {
    batch.records.clear();
    batch.inputBytes = 0;
    batch.origins = this;
    batch.defect.clear();
    linesBefore_ += std::exchange(linesInBatch_, 0);
    if (finished_) return State::kEnd;
    if (!std::exchange(linesLeft_, false)) {
      PENSTOCK_ASSIGN_OR_RETURN(const ByteStream::State state,
                                buffer_.fill(ReadWait{deadline, wakeup_}));
      if (state == ByteStream::State::kNothingYet) return State::kNothingYet;
    }
    if (aligning_ && !align()) return finished_ ? State::kEnd : State::kNothingYet;
    if (skippedBytes_ > 0) {
      if (!skipOn(batch)) return State::kNothingYet;
    } else {
      takeLines(batch);
      if (batch.inputBytes == 0 && !finished_) beginSkipIfTooLong();
    }
    if (batch.inputBytes > 0) return State::kBatch;
    return finished_ ? State::kEnd : State::kNothingYet;
  }

  std::string position() const override {
    if (aligning_) return {};
    return ReaderPosition{buffer_.offset() - skippedBytes_, 0,
                          countLines_ ? linesBefore_ + linesInBatch_ : 0}
        .toText();
  }

  std::string describe(const RecordBatch& batch, size_t index) const override {
    const char* record = batch.records[index].data();
    if (record == longHead_.data()) record = batchLines_.at(batchLines_.offset());
    return fmt::format("{} {}", file_.path, batchLines_.describe(record));
  }

  std::function<std::string(size_t)> describeLater(const RecordBatch& batch) const override {
    return [&file = file_, lines = batchLines_.later(),
            numbers = numbersBetweenBlankLines(batch)](size_t index) {
      return fmt::format("{} {}", file.path,
                         lines.describe(numbers.empty() ? index : numbers.at(index)));
    };
  }

 private:
  /// The number of each record's line within the batch, from 0; empty when that is its index, as it
  /// is without blank lines.
  std::vector<uint32_t> numbersBetweenBlankLines(const RecordBatch& batch) const {
    std::vector<uint32_t> numbers;
    if (!batch.defect.empty() || linesInBatch_ == batch.records.size()) return numbers;
    numbers.reserve(batch.records.size());
    const char* at = batchLines_.at(batchLines_.offset());
    uint32_t number = 0;
    for (const std::string_view record : batch.records) {
      number += static_cast<uint32_t>(std::count(at, record.data(), '\n'));
      at = record.data();
      numbers.push_back(number);
    }
    return numbers;
  }

  /// Drops the rest of the line that the range begins in. False: its end is not there yet.
  bool align() {
    const void* lineEnd = std::memchr(buffer_.data(), '\n', buffer_.size());
    if (lineEnd == nullptr) {
      buffer_.consume(buffer_.size());
      finished_ = buffer_.ended() || buffer_.offset() >= rangeEnd_;
      return false;
    }
    buffer_.consume(static_cast<size_t>(static_cast<const char*>(lineEnd) - buffer_.data()) + 1);
    aligning_ = false;
    finished_ = buffer_.offset() >= rangeEnd_;
    return !finished_;
  }

  /// Consumes the lines that are there to their end: all of them, or those before an over-long one,
  /// or that one alone.
  void takeLines(RecordBatch& batch) {
    const char* const begin = buffer_.data();
    const char* const end = begin + buffer_.size();
    const char* const stop =  // no line begins at or after it
        rangeEnd_ - buffer_.offset() < buffer_.size() ? begin + (rangeEnd_ - buffer_.offset())
                                                      : end;
    const char* at = begin;
    const char* searched = begin + searchedBytes_;
    batchLines_.reset(begin, buffer_.offset(), linesBefore_);
    searchedBytes_ = 0;
    while (at < stop) {
      const void* found = std::memchr(searched, '\n', static_cast<size_t>(end - searched));
      if (found == nullptr && !buffer_.ended()) {
        searchedBytes_ = static_cast<size_t>(end - at);
        break;
      }
      const char* lineEnd = found != nullptr ? static_cast<const char*>(found) : end;
      linesLeft_ = !addLine(batch, std::string_view(at, static_cast<size_t>(lineEnd - at)));
      if (linesLeft_ && batch.defect.empty()) break;
      at = found != nullptr ? lineEnd + 1 : end;
      searched = at;
      ++linesInBatch_;
      if (linesLeft_) break;
    }
    batch.inputBytes = static_cast<uint64_t>(at - begin);
    buffer_.consume(static_cast<size_t>(at - begin));
    finished_ = buffer_.offset() >= rangeEnd_ || (buffer_.ended() && buffer_.size() == 0);
  }

  /// False: the batch ends, before this line or (with a defect) behind it.
  bool addLine(RecordBatch& batch, std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (isBlank(line.front()) && std::all_of(line.begin(), line.end(), isBlank))) {
      return true;
    }
    if (line.size() <= maxRecordBytes_) {
      batch.records.push_back(line);
      return true;
    }
    if (batch.records.empty()) {
      batch.defect = describeTooLong("line", line.size(), maxRecordBytes_);
      batch.records.push_back(line.substr(0, kKeptHeadBytes));
    }
    return false;
  }

  /// Part of a line that is too long already: its rest is not kept.
  void beginSkipIfTooLong() {
    if (buffer_.size() <= maxRecordBytes_ + 1) return;  // one more may be the CR of the line end
    longHead_.assign(buffer_.data(), std::min(buffer_.size(), kKeptHeadBytes));
    longHead_.append(kRecordPadding, '\0');
    skippedBytes_ = buffer_.size();
    searchedBytes_ = 0;
    lastSkippedByte_ = buffer_.data()[buffer_.size() - 1];
    buffer_.consume(buffer_.size());
  }

  /// Goes on in an over-long line. True: its end came, and the batch is its defect.
  bool skipOn(RecordBatch& batch) {
    const void* found = std::memchr(buffer_.data(), '\n', buffer_.size());
    if (found == nullptr && !buffer_.ended()) {
      skippedBytes_ += buffer_.size();
      if (buffer_.size() > 0) lastSkippedByte_ = buffer_.data()[buffer_.size() - 1];
      buffer_.consume(buffer_.size());
      return false;
    }
    const size_t rest = found != nullptr
                            ? static_cast<size_t>(static_cast<const char*>(found) - buffer_.data())
                            : buffer_.size();
    const char last = rest > 0 ? buffer_.data()[rest - 1] : lastSkippedByte_;
    const uint64_t length = skippedBytes_ + rest - (last == '\r' ? 1 : 0);
    const size_t consumed = rest + (found != nullptr ? 1 : 0);
    batchLines_.reset(buffer_.data(), buffer_.offset() - skippedBytes_, linesBefore_);
    batch.defect = describeTooLong("line", length, maxRecordBytes_);
    batch.records.push_back(
        std::string_view(longHead_).substr(0, longHead_.size() - kRecordPadding));
    batch.inputBytes = skippedBytes_ + consumed;
    buffer_.consume(consumed);
    skippedBytes_ = 0;
    linesInBatch_ = 1;
    finished_ = buffer_.offset() >= rangeEnd_ || (buffer_.ended() && buffer_.size() == 0);
    return true;
  }

  const InputFile& file_;
  const bool countLines_;
  const Wakeup* wakeup_;
  ReadBuffer buffer_;
  const uint64_t maxRecordBytes_;
  const uint64_t rangeEnd_;
  bool aligning_;
  bool finished_;
  bool linesLeft_ = false;  // a batch ended early: its buffer holds more
  size_t searchedBytes_ =
      0;  // of the partial line at the buffer's front, known to hold no line end

  uint64_t skippedBytes_ = 0;  // of the over-long line that is being skipped; 0: none is
  char lastSkippedByte_ = '\0';
  std::string longHead_;

  uint64_t linesBefore_;  // the current batch
  uint64_t linesInBatch_ = 0;
  mutable BatchLines batchLines_;
};

}  // namespace

std::string describeTooLong(std::string_view kind, uint64_t bytes, uint64_t limit) {
  return fmt::format("the {} is {} bytes long, at most {} are taken", kind, bytes, limit);
}

std::unique_ptr<SplitReader> makeLineReader(RecordReaderInput input, bool align, uint64_t rangeEnd,
                                            const RecordReaderOptions& options) {
  return std::make_unique<LineReader>(std::move(input), align, rangeEnd, options);
}

}  // namespace penstock::runtime
