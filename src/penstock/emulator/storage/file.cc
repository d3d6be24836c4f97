#include "penstock/emulator/storage/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace penstock::emulator {

absl::Status fileError(std::string_view action, std::string_view path, int error) {
  absl::StatusCode code = absl::StatusCode::kInternal;
  if (error == ENOENT) code = absl::StatusCode::kNotFound;
  if (error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE) {
    code = absl::StatusCode::kResourceExhausted;
  }
  return base::makeStatus(code, "cannot {} {}: {}", action, path,
                          std::generic_category().message(error));
}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    path_ = std::move(other.path_);
  }
  return *this;
}

void File::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

absl::StatusOr<File> File::open(const std::string& path, int flags) {
  File file;
  do {
    file.descriptor_ = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  } while (file.descriptor_ < 0 && errno == EINTR);
  if (file.descriptor_ < 0) return fileError("open", path, errno);
  file.path_ = path;
  return file;
}

absl::StatusOr<File> File::openForReading(const std::string& path) { return open(path, O_RDONLY); }

absl::StatusOr<File> File::openForWriting(const std::string& path) {
  return open(path, O_RDWR | O_CREAT);
}

absl::StatusOr<File> File::openForChange(const std::string& path) { return open(path, O_RDWR); }

absl::StatusOr<uint64_t> File::size() const {
  struct stat information {};
  if (::fstat(descriptor_, &information) != 0) return fileError("examine", path_, errno);
  return static_cast<uint64_t>(information.st_size);
}

absl::Status File::writeAt(uint64_t offset, std::span<const std::string_view> pieces) {
  constexpr size_t kPiecesPerCall = 256;  // below every system's IOV_MAX
  std::array<iovec, kPiecesPerCall> vectors;
  size_t piece = 0;
  size_t skip = 0;  // bytes of pieces[piece] that are written
  while (piece < pieces.size()) {
    size_t count = 0;
    for (size_t at = piece; at < pieces.size() && count < kPiecesPerCall; ++at) {
      const std::string_view rest = pieces[at].substr(at == piece ? skip : 0);
      if (!rest.empty()) vectors[count++] = {const_cast<char*>(rest.data()), rest.size()};
    }
    if (count == 0) {
      // Only empty pieces, in a run of at most kPiecesPerCall non-empty ones: nothing is left.
      return absl::OkStatus();
    }
    const ssize_t written =
        ::pwritev(descriptor_, vectors.data(), static_cast<int>(count), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      return fileError("write to", path_, errno);
    }
    offset += static_cast<uint64_t>(written);
    size_t left = static_cast<size_t>(written);
    while (piece < pieces.size() && left >= pieces[piece].size() - skip) {
      left -= pieces[piece].size() - skip;
      skip = 0;
      ++piece;
    }
    skip += left;
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> File::readAt(uint64_t offset, char* buffer, size_t size) const {
  size_t done = 0;
  while (done < size) {
    const ssize_t count =
        ::pread(descriptor_, buffer + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0) {
      if (errno == EINTR) continue;
      return fileError("read", path_, errno);
    }
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

absl::Status File::truncate(uint64_t size) {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
    return fileError("cut", path_, errno);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> readWholeFile(const std::string& path) {
  PENSTOCK_ASSIGN_OR_RETURN(const File file, File::openForReading(path));
  PENSTOCK_ASSIGN_OR_RETURN(const uint64_t size, file.size());
  std::string content(size, '\0');
  PENSTOCK_ASSIGN_OR_RETURN(const size_t count, file.readAt(0, content.data(), content.size()));
  content.resize(count);
  return content;
}

absl::Status writeWholeFile(const std::string& path, std::string_view content) {
  static std::atomic<uint64_t> counter{0};
  const std::string temporary = fmt::format("{}.{}.{}.tmp", path, ::getpid(), ++counter);
  {
    PENSTOCK_ASSIGN_OR_RETURN(File file, File::openForWriting(temporary));
    PENSTOCK_RETURN_IF_ERROR(file.writeAt(0, std::array{content}));
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return fileError("name", path, errno);
  return absl::OkStatus();
}

}  // namespace penstock::emulator
