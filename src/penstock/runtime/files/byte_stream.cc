#include "penstock/runtime/files/byte_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "penstock/runtime/system_error.h"

namespace penstock::runtime {
namespace {

absl::Status readError(const std::string& name, int error) {
  return systemError(error, fmt::format("cannot read {}", name));
}

class FileStream final : public ByteStream {
 public:
  FileStream(FileDescriptor file, std::string name, uint64_t begin, uint64_t size)
      : file_(std::move(file)), name_(std::move(name)), at_(begin), size_(size) {
    ::posix_fadvise(file_.get(), static_cast<off_t>(begin), 0, POSIX_FADV_SEQUENTIAL);
  }

  absl::StatusOr<Piece> read(char* to, size_t capacity, const ReadWait&) override {
    if (at_ >= size_) return Piece{State::kEnd, 0};
    capacity = std::min<uint64_t>(capacity, size_ - at_);
    while (true) {
      const ssize_t got = ::pread(file_.get(), to, capacity, static_cast<off_t>(at_));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return readError(name_, errno);
      if (got == 0) {
        return base::makeStatus(
            absl::StatusCode::kDataLoss,
            "{} was changed while it was read: it ends at byte {}, {} were there "
            "when the load began",
            name_, at_, size_);
      }
      at_ += static_cast<uint64_t>(got);
      return Piece{State::kData, static_cast<size_t>(got)};
    }
  }

 private:
  FileDescriptor file_;
  std::string name_;
  uint64_t at_;
  uint64_t size_;
};

class PipeStream final : public ByteStream {
 public:
  PipeStream(FileDescriptor file, std::string name)
      : file_(std::move(file)), name_(std::move(name)) {}

  absl::StatusOr<Piece> read(char* to, size_t capacity, const ReadWait& wait) override {
    if (ended_) return Piece{State::kEnd, 0};
    const Wakeup& wakeup = wait.wakeup != nullptr ? *wait.wakeup : unnotified_;
    if (wakeup.wait(file_.get(), wait.deadline) != Wakeup::Reason::kReadable) {
      return Piece{State::kNothingYet, 0};
    }
    const ssize_t got = ::read(file_.get(), to, capacity);
    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) {
      return Piece{State::kNothingYet, 0};
    }
    if (got < 0) return readError(name_, errno);
    if (got == 0) {
      ended_ = true;  // a terminal would go on after its end-of-file key
      return Piece{State::kEnd, 0};
    }
    return Piece{State::kData, static_cast<size_t>(got)};
  }

 private:
  FileDescriptor file_;
  std::string name_;
  Wakeup unnotified_;
  bool ended_ = false;
};

class PrefixedStream final : public ByteStream {
 public:
  PrefixedStream(std::string prefix, std::unique_ptr<ByteStream> rest)
      : prefix_(std::move(prefix)), rest_(std::move(rest)) {}

  absl::StatusOr<Piece> read(char* to, size_t capacity, const ReadWait& wait) override {
    if (at_ == prefix_.size()) return rest_->read(to, capacity, wait);
    const size_t size = std::min(capacity, prefix_.size() - at_);
    std::memcpy(to, prefix_.data() + at_, size);
    at_ += size;
    if (at_ == prefix_.size()) {
      std::string().swap(prefix_);
      at_ = 0;
    }
    return Piece{State::kData, size};
  }

 private:
  std::string prefix_;
  size_t at_ = 0;
  std::unique_ptr<ByteStream> rest_;
};

class SkippingStream final : public ByteStream {
 public:
  SkippingStream(std::unique_ptr<ByteStream> stream, std::string name, uint64_t bytes)
      : stream_(std::move(stream)), name_(std::move(name)), left_(bytes) {}

  absl::StatusOr<Piece> read(char* to, size_t capacity, const ReadWait& wait) override {
    if (left_ == 0) return stream_->read(to, capacity, wait);
    PENSTOCK_ASSIGN_OR_RETURN(const Piece piece,
                              stream_->read(to, std::min<uint64_t>(capacity, left_), wait));
    left_ -= piece.size;
    if (piece.state != State::kEnd) return Piece{State::kNothingYet, 0};
    return base::makeStatus(absl::StatusCode::kDataLoss,
                            "{} ends {} uncompressed bytes before the position to continue from",
                            name_, left_);
  }

 private:
  std::unique_ptr<ByteStream> stream_;
  std::string name_;
  uint64_t left_;
};

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

absl::StatusOr<FileDescriptor> openForReading(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() >= 0) return file;
  return systemError(errno, fmt::format("cannot open {}", path));
}

std::unique_ptr<ByteStream> makeFileStream(FileDescriptor file, std::string name, uint64_t begin,
                                           uint64_t size) {
  return std::make_unique<FileStream>(std::move(file), std::move(name), begin, size);
}

std::unique_ptr<ByteStream> makePipeStream(FileDescriptor file, std::string name) {
  return std::make_unique<PipeStream>(std::move(file), std::move(name));
}

std::unique_ptr<ByteStream> makeSkippingStream(std::unique_ptr<ByteStream> stream, std::string name,
                                               uint64_t bytes) {
  return std::make_unique<SkippingStream>(std::move(stream), std::move(name), bytes);
}

std::unique_ptr<ByteStream> makePrefixedStream(std::string prefix,
                                               std::unique_ptr<ByteStream> rest) {
  return std::make_unique<PrefixedStream>(std::move(prefix), std::move(rest));
}

}  // namespace penstock::runtime
