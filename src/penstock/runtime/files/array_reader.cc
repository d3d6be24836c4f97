#include <algorithm>
#include <string>
#include <utility>

#include "penstock/runtime/files/array_scanner.h"
#include "penstock/runtime/files/batch_lines.h"
#include "penstock/runtime/files/read_buffer.h"
#include "penstock/runtime/files/record_reader.h"

namespace penstock::runtime {
namespace {

class ArrayReader final : public SplitReader, public RecordOrigins {
 public:
  ArrayReader(RecordReaderInput input, const RecordReaderOptions& options)
      : file_(*input.file),
        lineIndex_(input.lines),
        wakeup_(input.wakeup),
        buffer_(std::move(input.content), input.start.offset, options.bufferBytes),
        scanner_(input.start.offset, input.start.elements > 0),
        maxRecordBytes_(options.maxRecordBytes),
        behind_(input.start),
        bufferLines_(input.start.lines),
        batchLines_(input.lines) {}

  absl::StatusOr<State> read(RecordBatch& batch, base::MonotonicTime deadline) override {
    batch.records.clear();
    batch.inputBytes = 0;
    batch.origins = this;
    batch.defect.clear();
    if (!broken_.ok()) return broken_;
    if (finished_) return State::kEnd;
    if (!std::exchange(elementsLeft_, false)) {
      PENSTOCK_ASSIGN_OR_RETURN(const ByteStream::State state,
                                buffer_.fill(ReadWait{deadline, wakeup_}));
      if (state == ByteStream::State::kNothingYet) return State::kNothingYet;
    }
    batchElements_ = behind_.elements;
    batchLines_.reset(buffer_.data(), buffer_.offset(), bufferLines_);
    const uint64_t before = behind_.offset;
    takeElements(batch);
    batch.inputBytes = behind_.offset - before;
    if (!batch.records.empty()) return State::kBatch;
    if (!broken_.ok()) return broken_;
    return finished_ ? State::kEnd : State::kNothingYet;
  }

  std::string position() const override {
    if (behind_.elements == 0) return {};
    return behind_.toText();
  }

  std::string describe(const RecordBatch& batch, size_t index) const override {
    const uint64_t element = batchElements_ + index + 1;
    const char* record = batch.records[index].data();
    const std::string place =
        record == longHead_.data() ? describeLongBegin() : batchLines_.describe(record);
    return fmt::format("{} element {} ({})", file_.path, element, place);
  }

  std::function<std::string(size_t)> describeLater(const RecordBatch&) const override {
    return [&file = file_, before = batchElements_](size_t index) {
      return fmt::format("{} element {}", file.path, before + index + 1);
    };
  }

 private:
  /// Hands out the elements that are there to their end: all of them, or those before an over-long
  /// one, or that one alone.
  void takeElements(RecordBatch& batch) {
    while (true) {
      if (!std::exchange(elementHeldBack_, false)) {
        const absl::StatusOr<ArrayScanner::Step> step =
            scanner_.next(buffer_.data(), buffer_.offset(), buffer_.size(), buffer_.ended());
        if (!step.ok()) {
          // The records before come first; the next call says this.
          broken_ = placed(step.status());
          return;
        }
        finished_ = *step == ArrayScanner::Step::kEnd;
        if (*step != ArrayScanner::Step::kElement) break;
      }
      elementsLeft_ = !addElement(batch);
      if (elementsLeft_) break;
    }
    if (finished_) behind_.offset = scanner_.at();
    const bool keepElement =
        elementHeldBack_ || (scanner_.inElement() && !skipping_ && !beginSkipIfTooLong());
    consumeTo(keepElement ? scanner_.elementBegin() : scanner_.at());
  }

  /// False: the batch ends, before this element (which is held back) or, with a defect, behind it.
  bool addElement(RecordBatch& batch) {
    const uint64_t length = scanner_.elementEnd() - scanner_.elementBegin();
    const bool tooLong = length > maxRecordBytes_;
    elementHeldBack_ = tooLong && !batch.records.empty();
    if (elementHeldBack_) return false;
    if (lineIndex_ == nullptr) {
      // Between batches the separators behind the last element are consumed and counted already.
      const bool inBuffer = behind_.offset >= buffer_.offset();
      behind_.lines =
          (inBuffer ? behind_.lines : bufferLines_) +
          countLines(inBuffer ? behind_.offset : buffer_.offset(), scanner_.elementEnd());
    }
    behind_.offset = scanner_.elementEnd();
    ++behind_.elements;
    if (!tooLong) {
      batch.records.emplace_back(at(scanner_.elementBegin()), length);
      return true;
    }
    batch.defect = describeTooLong("element", length, maxRecordBytes_);
    if (std::exchange(skipping_, false)) {
      batch.records.push_back(
          std::string_view(longHead_).substr(0, longHead_.size() - kRecordPadding));
    } else {
      batch.records.emplace_back(at(scanner_.elementBegin()),
                                 std::min<uint64_t>(length, kKeptHeadBytes));
    }
    return false;
  }

  /// `status` with file and place in front.
  absl::Status placed(const absl::Status& status) const {
    const uint64_t offset = scanner_.errorAt();
    std::string place;
    if (lineIndex_ != nullptr) {
      const auto found = lineIndex_->placeOf(offset);
      place = found.has_value() ? fmt::format("line {} column {}", found->line, found->column)
                                : fmt::format("byte {}", offset);
    } else if (offset < batchLines_.offset()) {
      place = describeLongBegin();  // the file ends in an element whose begin is not kept
    } else {
      place = batchLines_.describe(batchLines_.at(offset));
    }
    return absl::Status(status.code(),
                        fmt::format("{} {}: {}", file_.path, place, base::messageOf(status)));
  }

  std::string describeLongBegin() const {
    if (lineIndex_ == nullptr) return fmt::format("line {}", longLine_);
    const auto place = lineIndex_->placeOf(longBegin_);
    return place.has_value() ? fmt::format("line {}", place->line)
                             : fmt::format("byte {}", longBegin_);
  }

  /// With an element open: whether it is too long already. Then only its head is kept.
  bool beginSkipIfTooLong() {
    const uint64_t length = scanner_.at() - scanner_.elementBegin();
    if (length <= maxRecordBytes_) return false;
    skipping_ = true;
    longBegin_ = scanner_.elementBegin();
    longLine_ = bufferLines_ + countLines(buffer_.offset(), longBegin_) + 1;
    longHead_.assign(at(longBegin_), std::min<uint64_t>(length, kKeptHeadBytes));
    longHead_.append(kRecordPadding, '\0');
    return true;
  }

  void consumeTo(uint64_t offset) {
    if (lineIndex_ == nullptr) bufferLines_ += countLines(buffer_.offset(), offset);
    buffer_.consume(offset - buffer_.offset());
  }

  const char* at(uint64_t offset) const { return buffer_.data() + (offset - buffer_.offset()); }

  uint64_t countLines(uint64_t from, uint64_t to) const {
    return static_cast<uint64_t>(std::count(at(from), at(to), '\n'));
  }

  const InputFile& file_;
  LineIndex* lineIndex_;
  const Wakeup* wakeup_;
  ReadBuffer buffer_;
  ArrayScanner scanner_;
  const uint64_t maxRecordBytes_;
  ReaderPosition behind_;  // the last element handed out
  uint64_t bufferLines_;   // line ends before buffer_.offset(); counted without a line index only
  bool finished_ = false;
  bool elementsLeft_ = false;     // a batch ended early: its buffer may hold more
  bool elementHeldBack_ = false;  // found by the scanner, not handed out yet
  absl::Status broken_;

  bool skipping_ = false;  // the open element is too long; its head is kept
  uint64_t longBegin_ = 0;
  uint64_t longLine_ = 0;
  std::string longHead_;

  mutable BatchLines batchLines_;  // the current batch
  uint64_t batchElements_ = 0;     // elements before it
};

}  // namespace

std::unique_ptr<SplitReader> makeArrayReader(RecordReaderInput input,
                                             const RecordReaderOptions& options) {
  return std::make_unique<ArrayReader>(std::move(input), options);
}

}  // namespace penstock::runtime
