#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "penstock/runtime/files/byte_stream.h"

namespace penstock::runtime {
namespace {

constexpr size_t kCompressedBufferBytes = 64 * 1024;

/// The compressed bytes that are read but not yet used.
class CompressedInput {
 public:
  CompressedInput(std::unique_ptr<ByteStream> stream, std::string name)
      : stream_(std::move(stream)), name_(std::move(name)), buffer_(kCompressedBufferBytes) {}

  /// Makes `size()` positive unless the state says why not.
  absl::StatusOr<ByteStream::State> fill(const ReadWait& wait) {
    if (size_ > 0) return ByteStream::State::kData;
    absl::StatusOr<ByteStream::Piece> piece = stream_->read(buffer_.data(), buffer_.size(), wait);
    if (!piece.ok()) return std::move(piece).status();
    data_ = buffer_.data();
    size_ = piece->size;
    return piece->state;
  }

  [[nodiscard]] char* data() { return data_; }
  [[nodiscard]] size_t size() const { return size_; }
  void consume(size_t bytes) {
    data_ += bytes;
    size_ -= bytes;
    consumed_ += bytes;
  }

  [[nodiscard]] absl::Status cutOff(std::string_view kind) const {
    return base::makeStatus(absl::StatusCode::kDataLoss,
                            "{} is cut off: its {} data ends before its end mark, after {} bytes",
                            name_, kind, consumed_);
  }
  [[nodiscard]] absl::Status damaged(std::string_view kind, std::string_view reason) const {
    return base::makeStatus(absl::StatusCode::kDataLoss,
                            "{} is damaged: its {} data cannot be read near byte {}: {}", name_,
                            kind, consumed_, reason);
  }

 private:
  std::unique_ptr<ByteStream> stream_;
  std::string name_;
  std::vector<char> buffer_;
  char* data_ = nullptr;
  size_t size_ = 0;
  uint64_t consumed_ = 0;
};

class GzipStream final : public ByteStream {
 public:
  GzipStream(std::unique_ptr<ByteStream> compressed, std::string name)
      : input_(std::move(compressed), std::move(name)) {
    ready_ = inflateInit2(&inflater_, MAX_WBITS + 16) == Z_OK;
  }
  ~GzipStream() override {
    if (ready_) inflateEnd(&inflater_);
  }

  absl::StatusOr<Piece> read(char* to, size_t capacity, const ReadWait& wait) override {
    if (!ready_) return absl::ResourceExhaustedError("no memory to decompress gzip");
    while (true) {
      if (!outputPending_) {
        PENSTOCK_ASSIGN_OR_RETURN(const State state, input_.fill(wait));
        if (state == State::kEnd && memberOpen_) return input_.cutOff("gzip");
        if (state != State::kData) return Piece{state, 0};
        if (!memberOpen_) {
          PENSTOCK_RETURN_IF_ERROR(beginMember());
          if (!memberOpen_) continue;
        }
      }
      PENSTOCK_ASSIGN_OR_RETURN(const size_t size, inflateSome(to, capacity));
      if (size > 0) return Piece{State::kData, size};
    }
  }

 private:
  /// Between members: another one, or zeros that some tools pad the last one with.
  absl::Status beginMember() {
    if (membersRead_ > 0) {
      while (input_.size() > 0 && *input_.data() == '\0') {
        input_.consume(1);
        padded_ = true;
      }
      if (input_.size() == 0) return absl::OkStatus();
      if (padded_ || static_cast<unsigned char>(*input_.data()) != 0x1f) {
        return input_.damaged("gzip", "after its end mark comes something that is not gzip");
      }
      inflateReset(&inflater_);
    }
    memberOpen_ = true;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> inflateSome(char* to, size_t capacity) {
    const uInt room = static_cast<uInt>(std::min<size_t>(capacity, 1U << 30));
    inflater_.next_in = reinterpret_cast<Bytef*>(input_.data());
    inflater_.avail_in = static_cast<uInt>(input_.size());
    inflater_.next_out = reinterpret_cast<Bytef*>(to);
    inflater_.avail_out = room;
    const int result = inflate(&inflater_, Z_NO_FLUSH);
    input_.consume(input_.size() - inflater_.avail_in);
    if (result == Z_STREAM_END) {
      memberOpen_ = false;
      ++membersRead_;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return input_.damaged("gzip", inflater_.msg != nullptr ? inflater_.msg : "invalid data");
    }
    // A full output buffer may hide more that needs no further input.
    outputPending_ = memberOpen_ && inflater_.avail_out == 0;
    return room - inflater_.avail_out;
  }

  CompressedInput input_;
  z_stream inflater_ = {};
  bool ready_ = false;
  bool memberOpen_ = false;
  bool padded_ = false;
  bool outputPending_ = false;
  uint64_t membersRead_ = 0;
};

class ZstdStream final : public ByteStream {
 public:
  ZstdStream(std::unique_ptr<ByteStream> compressed, std::string name)
      : input_(std::move(compressed), std::move(name)), decompressor_(ZSTD_createDStream()) {}
  ~ZstdStream() override { ZSTD_freeDStream(decompressor_); }

  absl::StatusOr<Piece> read(char* to, size_t capacity, const ReadWait& wait) override {
    if (decompressor_ == nullptr) {
      return absl::ResourceExhaustedError("no memory to decompress zstd");
    }
    while (true) {
      if (!outputPending_) {
        PENSTOCK_ASSIGN_OR_RETURN(const State state, input_.fill(wait));
        if (state == State::kEnd && frameOpen_) return input_.cutOff("zstd");
        if (state != State::kData) return Piece{state, 0};
      }
      ZSTD_inBuffer in = {input_.data(), input_.size(), 0};
      ZSTD_outBuffer out = {to, capacity, 0};
      const size_t result = ZSTD_decompressStream(decompressor_, &out, &in);
      input_.consume(in.pos);
      if (ZSTD_isError(result) != 0) return input_.damaged("zstd", ZSTD_getErrorName(result));
      frameOpen_ = result != 0;
      // A full output buffer may hide more that needs no further input.
      outputPending_ = frameOpen_ && out.pos == out.size;
      if (out.pos > 0) return Piece{State::kData, out.pos};
    }
  }

 private:
  CompressedInput input_;
  ZSTD_DStream* decompressor_;
  bool frameOpen_ = false;
  bool outputPending_ = false;
};

}  // namespace

std::unique_ptr<ByteStream> makeDecompressedStream(Compression compression,
                                                   std::unique_ptr<ByteStream> compressed,
                                                   std::string name) {
  switch (compression) {
    case Compression::kGzip:
      return std::make_unique<GzipStream>(std::move(compressed), std::move(name));
    case Compression::kZstd:
      return std::make_unique<ZstdStream>(std::move(compressed), std::move(name));
    case Compression::kNone:
      break;
  }
  return compressed;
}

}  // namespace penstock::runtime
