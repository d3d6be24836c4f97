#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"
#include "penstock/runtime/input_file.h"
#include "penstock/runtime/wakeup.h"

namespace penstock::runtime {

/// How long a read may wait for a stream that has nothing yet.
struct ReadWait {
  base::MonotonicTime deadline = base::kNever;
  const Wakeup* wakeup = nullptr;  ///< null: nothing but the deadline ends the wait
};

/// Bytes in order, from a file or out of another stream. One thread at a time.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  enum class State { kData, kNothingYet, kEnd };
  struct Piece {
    State state = State::kEnd;
    size_t size = 0;  ///< above 0 for kData, else 0
  };
  /// Up to `capacity` bytes (above 0) into `to`. Errors name the file.
  [[nodiscard]] virtual absl::StatusOr<Piece> read(char* to, size_t capacity,
                                                   const ReadWait& wait) = 0;
};

/// Owns a file descriptor.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

/// Opens for reading; the error names the path and what the system says.
[[nodiscard]] absl::StatusOr<FileDescriptor> openForReading(const std::string& path);

/// Bytes [begin, size) of a regular file of `size` bytes as it was found; a file that has become
/// shorter is an error.
[[nodiscard]] std::unique_ptr<ByteStream> makeFileStream(FileDescriptor file, std::string name,
                                                         uint64_t begin, uint64_t size);

/// A pipe, socket or terminal.
[[nodiscard]] std::unique_ptr<ByteStream> makePipeStream(FileDescriptor file, std::string name);

/// `prefix`, then `rest`.
[[nodiscard]] std::unique_ptr<ByteStream> makePrefixedStream(std::string prefix,
                                                             std::unique_ptr<ByteStream> rest);

/// `stream` without its next `bytes` bytes. They are read and dropped on the way, a piece at each
/// call, with kNothingYet in between: a long way can be given up. A stream that ends before is an
/// error.
[[nodiscard]] std::unique_ptr<ByteStream> makeSkippingStream(std::unique_ptr<ByteStream> stream,
                                                             std::string name, uint64_t bytes);

/// The uncompressed bytes of `compressed`: every gzip member or zstd frame in it, to its end. Data
/// that is cut off, altered or followed by something else is an error.
[[nodiscard]] std::unique_ptr<ByteStream> makeDecompressedStream(
    Compression compression, std::unique_ptr<ByteStream> compressed, std::string name);

}  // namespace penstock::runtime
