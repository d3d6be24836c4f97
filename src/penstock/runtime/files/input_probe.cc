#include "penstock/runtime/files/input_probe.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "penstock/runtime/files/content_kind.h"
#include "penstock/runtime/system_error.h"

namespace penstock::runtime {
namespace {

constexpr size_t kHashedHeadBytes = 64 * 1024;
constexpr size_t kProbePieceBytes = 4096;
constexpr size_t kMaxBlankHead = size_t{16}
                                 << 20;  // what is read ahead of a stream is held in memory

/// FNV-1a, 64 bits: tells a changed head from an unchanged one; not meant against an adversary.
uint64_t hashOf(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3U;
  return hash;
}

/// The first bytes of a stream, read on demand.
class Head {
 public:
  Head(ByteStream& stream, std::string_view name) : stream_(stream), name_(name) {}

  /// Reads on until `size` bytes are there or the stream ends.
  absl::Status ensure(size_t size) {
    while (bytes_.size() < size && !ended_) PENSTOCK_RETURN_IF_ERROR(readMore());
    return absl::OkStatus();
  }
  /// The offset of the first non-blank byte at or after `from`, or the size of all if there is
  /// none.
  absl::StatusOr<size_t> findContent(size_t from) {
    while (true) {
      while (from < bytes_.size() && isBlank(bytes_[from])) ++from;
      if (from < bytes_.size() || ended_) return from;
      if (from >= kMaxBlankHead) {
        return base::invalidArgument("{} begins with more than {} MiB of blanks", name_,
                                     kMaxBlankHead >> 20);
      }
      PENSTOCK_RETURN_IF_ERROR(readMore());
    }
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  absl::Status readMore() {
    const size_t before = bytes_.size();
    bytes_.resize(before + kProbePieceBytes);
    absl::StatusOr<ByteStream::Piece> piece =
        stream_.read(bytes_.data() + before, kProbePieceBytes, ReadWait());
    bytes_.resize(before + (piece.ok() ? piece->size : 0));
    if (!piece.ok()) return std::move(piece).status();
    ended_ = piece->state == ByteStream::State::kEnd;
    return absl::OkStatus();
  }

  ByteStream& stream_;
  std::string_view name_;
  std::string bytes_;
  bool ended_ = false;
};

absl::StatusOr<FileDescriptor> openInput(const std::string& path) {
  if (path != "-") return openForReading(path);
  FileDescriptor file(::dup(STDIN_FILENO));
  if (file.get() < 0) {
    return systemError(errno, "standard input cannot be read");
  }
  return file;
}

std::string absolutePathOf(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

/// Fills in compression and head hash, and returns the stream with the head put back.
absl::StatusOr<std::unique_ptr<ByteStream>> probeRaw(std::unique_ptr<ByteStream> raw,
                                                     InputFile& file) {
  Head head(*raw, file.path);
  PENSTOCK_RETURN_IF_ERROR(head.ensure(file.stream ? kMagicBytes : kHashedHeadBytes));
  if (!file.stream) {
    file.headHash = hashOf(std::string_view(head.bytes()).substr(0, kHashedHeadBytes));
  }
  file.compression = compressionOf(head.bytes());
  return makePrefixedStream(head.take(), std::move(raw));
}

absl::Status refuse(const InputFile& file, const std::string& found) {
  return base::invalidArgument(
      "{} is not JSON: it begins with {}; expected {{ (newline-delimited JSON) or [ (one JSON "
      "array)",
      file.path, found);
}

/// Whether the first line holds a bracket and nothing else: objects written over several lines.
absl::StatusOr<bool> isSpreadOverLines(Head& head, size_t bracket) {
  PENSTOCK_RETURN_IF_ERROR(head.ensure(bracket + 2));
  const std::string_view rest = std::string_view(head.bytes()).substr(bracket + 1);
  const std::string_view line = rest.substr(0, rest.find('\n'));
  return line.size() < rest.size() && std::all_of(line.begin(), line.end(), isBlank);
}

/// Fills in format and content begin from the uncompressed head.
absl::Status probeContent(Head& head, ProbedInput& probed) {
  InputFile& file = probed.file;
  PENSTOCK_RETURN_IF_ERROR(head.ensure(kMagicBytes));
  if (const auto encoding = wideEncodingOf(head.bytes()); encoding.has_value()) {
    return base::invalidArgument("{} is encoded in {}; only UTF-8 is read: convert it first",
                                 file.path, *encoding);
  }
  file.contentBegin = startsWithUtf8Mark(head.bytes()) ? 3 : 0;
  PENSTOCK_ASSIGN_OR_RETURN(const size_t first, head.findContent(file.contentBegin));
  if (first == head.bytes().size()) {
    file.format = FileFormat::kEmpty;
    return absl::OkStatus();
  }
  switch (head.bytes()[first]) {
    case '{': {
      file.format = FileFormat::kNewlineDelimited;
      PENSTOCK_ASSIGN_OR_RETURN(const bool spread, isSpreadOverLines(head, first));
      if (spread) {
        probed.notice = fmt::format(
            "{}: its first line is only {{ : each object must stand on one line (jq -c . FILE "
            "rewrites it)",
            file.path);
      }
      return absl::OkStatus();
    }
    case '[':
      file.format = FileFormat::kArray;
      return absl::OkStatus();
    default:
      break;
  }
  PENSTOCK_RETURN_IF_ERROR(head.ensure(first + 100));
  return refuse(file, describeForeignContent(std::string_view(head.bytes()).substr(first)));
}

/// Messages have no mark that tells them from other bytes: the reader finds out.
absl::Status probeMessages(Head& head, ProbedInput& probed) {
  PENSTOCK_RETURN_IF_ERROR(head.ensure(1));
  probed.file.format = head.bytes().empty() ? FileFormat::kEmpty : FileFormat::kLengthDelimited;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ProbedInput> probeInput(const std::string& path, RecordFormat format) {
  PENSTOCK_ASSIGN_OR_RETURN(FileDescriptor descriptor, openInput(path));
  ProbedInput probed;
  InputFile& file = probed.file;
  file.path = path == "-" ? "standard input" : path;
  file.absolutePath = path == "-" ? path : absolutePathOf(path);
  struct stat status = {};
  if (::fstat(descriptor.get(), &status) != 0) {
    return systemError(errno, fmt::format("cannot read {}", file.path));
  }
  file.stream = path == "-" || !S_ISREG(status.st_mode);
  file.device = status.st_dev;
  file.inode = status.st_ino;
  file.size = file.stream ? 0 : static_cast<uint64_t>(status.st_size);
  std::unique_ptr<ByteStream> stream =
      file.stream ? makePipeStream(std::move(descriptor), file.path)
                  : makeFileStream(std::move(descriptor), file.path, 0, file.size);
  PENSTOCK_ASSIGN_OR_RETURN(stream, probeRaw(std::move(stream), file));
  stream = makeDecompressedStream(file.compression, std::move(stream), file.path);

  Head head(*stream, file.path);
  PENSTOCK_RETURN_IF_ERROR(format == RecordFormat::kJson ? probeContent(head, probed)
                                                         : probeMessages(head, probed));
  if (file.stream) {
    probed.content = makePrefixedStream(head.take().substr(file.contentBegin), std::move(stream));
  }
  return probed;
}

absl::StatusOr<std::unique_ptr<ByteStream>> openContent(const InputFile& file, uint64_t offset) {
  PENSTOCK_ASSIGN_OR_RETURN(FileDescriptor descriptor, openForReading(file.path));
  struct stat status = {};
  if (::fstat(descriptor.get(), &status) != 0 || status.st_dev != file.device ||
      status.st_ino != file.inode) {
    return base::makeStatus(absl::StatusCode::kFailedPrecondition,
                            "{} was replaced while it was read", file.path);
  }
  if (static_cast<uint64_t>(status.st_size) < file.size) {  // what was added to it is not read
    return base::makeStatus(absl::StatusCode::kFailedPrecondition,
                            "{} was changed while it was read: it has {} bytes, {} were there when "
                            "the load began",
                            file.path, status.st_size, file.size);
  }
  if (file.compression == Compression::kNone) {
    return makeFileStream(std::move(descriptor), file.path, offset, file.size);
  }
  return makeSkippingStream(
      makeDecompressedStream(file.compression,
                             makeFileStream(std::move(descriptor), file.path, 0, file.size),
                             file.path),
      file.path, offset);
}

}  // namespace penstock::runtime
