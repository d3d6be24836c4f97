#include <algorithm>
#include <string>
#include <utility>

#include "penstock/runtime/files/read_buffer.h"
#include "penstock/runtime/files/record_reader.h"

namespace penstock::runtime {
namespace {

constexpr uint64_t kMaxMessageBytes = INT32_MAX;
constexpr size_t kMaxLengthBytes = 10;

/// What stands at a place where a message should begin.
struct Prefix {
  enum class Kind { kLength, kCutOff, kMalformed } kind = Kind::kCutOff;
  size_t bytes = 0;
  uint64_t length = 0;  ///< of the message behind it
};

Prefix readPrefix(const char* at, size_t size) {
  Prefix prefix;
  for (unsigned shift = 0; prefix.bytes < size; shift += 7) {
    if (prefix.bytes == kMaxLengthBytes) return {Prefix::Kind::kMalformed};
    const auto byte = static_cast<uint8_t>(at[prefix.bytes++]);
    prefix.length |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte >= 0x80) continue;
    prefix.kind =
        prefix.length > kMaxMessageBytes ? Prefix::Kind::kMalformed : Prefix::Kind::kLength;
    return prefix;
  }
  return prefix;
}

/// Bytes that a length takes in front of its message.
uint64_t prefixBytes(uint64_t length) {
  uint64_t bytes = 1;
  for (; length >= 0x80; length >>= 7) ++bytes;
  return bytes;
}

class DelimitedReader final : public SplitReader, public RecordOrigins {
 public:
  DelimitedReader(RecordReaderInput input, const RecordReaderOptions& options)
      : file_(*input.file),
        wakeup_(input.wakeup),
        buffer_(std::move(input.content), input.start.offset, options.bufferBytes),
        maxRecordBytes_(options.maxRecordBytes),
        position_{input.start.offset, input.start.elements, 0} {}

  absl::StatusOr<State> read(RecordBatch& batch, base::MonotonicTime deadline) override {
    batch.records.clear();
    batch.inputBytes = 0;
    batch.origins = this;
    batch.defect.clear();
    messagesBefore_ = position_.elements;
    if (!broken_.ok()) return broken_;
    if (!std::exchange(messagesLeft_, false)) {
      PENSTOCK_ASSIGN_OR_RETURN(const ByteStream::State state,
                                buffer_.fill(ReadWait{deadline, wakeup_}));
      if (state == ByteStream::State::kNothingYet) return State::kNothingYet;
    }
    const uint64_t before = position_.offset;
    if (bytesToSkip_ > 0) {
      skipOn(batch);
    } else {
      takeMessages(batch);
    }
    batch.inputBytes = position_.offset - before;
    if (!batch.records.empty()) return State::kBatch;
    if (!broken_.ok()) return broken_;
    const bool isAtEnd = buffer_.ended() && buffer_.size() == 0 && bytesToSkip_ == 0;
    return isAtEnd ? State::kEnd : State::kNothingYet;
  }

  std::string position() const override { return position_.toText(); }

  std::string describe(const RecordBatch& batch, size_t index) const override {
    const std::string_view record = batch.records[index];
    const uint64_t begin = batch.defect.empty()
                               ? batchOffset_ + static_cast<uint64_t>(record.data() - batchBegin_) -
                                     prefixBytes(record.size())
                               : longBegin_;
    return describePlace(messagesBefore_ + index + 1, begin);
  }

  std::function<std::string(size_t)> describeLater(const RecordBatch&) const override {
    return [&file = file_, before = messagesBefore_](size_t index) {
      return fmt::format("{} message {}", file.path, before + index + 1);
    };
  }

 private:
  std::string describePlace(uint64_t message, uint64_t begin) const {
    return fmt::format("{} message {} (byte {})", file_.path, message, begin);
  }

  /// Hands out the messages that are there to their end: all of them, or those before an over-long
  /// one.
  void takeMessages(RecordBatch& batch) {
    batchBegin_ = buffer_.data();
    batchOffset_ = buffer_.offset();
    const char* at = batchBegin_;
    const char* const end = at + buffer_.size();
    while (at != end) {
      const auto left = static_cast<uint64_t>(end - at);
      const Prefix prefix = readPrefix(at, left);
      if (prefix.kind == Prefix::Kind::kLength && prefix.length > maxRecordBytes_) {
        messagesLeft_ = !batch.records.empty();
        if (!messagesLeft_) beginSkip(prefix, batch);
        return;
      }
      const bool isWhole =
          prefix.kind == Prefix::Kind::kLength && left - prefix.bytes >= prefix.length;
      if (!isWhole) {
        if (prefix.kind == Prefix::Kind::kMalformed) {
          fail(
              "its length is not that of a message: the file is not length-delimited protobuf, or "
              "is damaged before this place");
        } else if (buffer_.ended()) {
          fail(prefix.kind == Prefix::Kind::kCutOff
                   ? "the file ends within its length"
                   : fmt::format("the file ends within it: {} of {} bytes are there",
                                 left - prefix.bytes, prefix.length));
        }
        return;
      }
      batch.records.emplace_back(at + prefix.bytes, prefix.length);
      consume(prefix.bytes + prefix.length);
      at += prefix.bytes + prefix.length;
      ++position_.elements;
    }
  }

  void consume(uint64_t bytes) {
    buffer_.consume(bytes);
    position_.offset += bytes;
  }

  /// What comes before is handed out first; the next call says this.
  void fail(const std::string& reason) {
    broken_ = base::invalidArgument(
        "{}: {}", describePlace(position_.elements + 1, position_.offset), reason);
  }

  /// The message in front is too long: only its head is kept.
  void beginSkip(const Prefix& prefix, RecordBatch& batch) {
    longBegin_ = position_.offset;
    longLength_ = prefix.length;
    bytesToSkip_ = prefix.bytes + prefix.length;
    const size_t head = std::min<uint64_t>({buffer_.size() - prefix.bytes, kKeptHeadBytes});
    longHead_.assign(buffer_.data() + prefix.bytes, head);
    longHead_.append(kRecordPadding, '\0');
    skipOn(batch);
  }

  /// Goes on in an over-long message. At its end the batch is its defect.
  void skipOn(RecordBatch& batch) {
    const uint64_t skipped = std::min<uint64_t>(bytesToSkip_, buffer_.size());
    buffer_.consume(skipped);
    bytesToSkip_ -= skipped;
    if (bytesToSkip_ > 0) {
      if (buffer_.ended()) fail("the file ends within it");
      return;
    }
    position_.offset = buffer_.offset();
    ++position_.elements;
    messagesLeft_ = true;
    batch.defect = describeTooLong("message", longLength_, maxRecordBytes_);
    batch.records.push_back(
        std::string_view(longHead_).substr(0, longHead_.size() - kRecordPadding));
  }

  const InputFile& file_;
  const Wakeup* wakeup_;
  ReadBuffer buffer_;
  const uint64_t maxRecordBytes_;
  ReaderPosition position_;    // behind the last message handed out
  bool messagesLeft_ = false;  // a batch ended early: its buffer may hold more
  absl::Status broken_;

  uint64_t bytesToSkip_ = 0;  // of an over-long message; 0: none is skipped
  uint64_t longBegin_ = 0;
  uint64_t longLength_ = 0;
  std::string longHead_;

  const char* batchBegin_ = nullptr;  // the current batch
  uint64_t batchOffset_ = 0;
  uint64_t messagesBefore_ = 0;
};

}  // namespace

std::unique_ptr<SplitReader> makeDelimitedReader(RecordReaderInput input,
                                                 const RecordReaderOptions& options) {
  return std::make_unique<DelimitedReader>(std::move(input), options);
}

}  // namespace penstock::runtime
