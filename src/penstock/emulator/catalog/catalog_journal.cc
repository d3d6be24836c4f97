#include "penstock/emulator/catalog/catalog_journal.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <memory>
#include <system_error>

namespace penstock::emulator {
namespace {

constexpr size_t kChecksumDigits = 8;

uint32_t checksumOf(std::string_view line) {
  return static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(line.data()), static_cast<uInt>(line.size())));
}

std::string framed(std::string_view line) {
  return fmt::format("{:08x} {}\n", checksumOf(line), line);
}

/// The line without its frame; nothing when the checksum does not match.
bool unframe(std::string_view text, std::string_view& line) {
  if (text.size() <= kChecksumDigits || text[kChecksumDigits] != ' ') return false;
  uint32_t checksum = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + kChecksumDigits, checksum, 16);
  if (error != std::errc() || end != text.data() + kChecksumDigits) return false;
  line = text.substr(kChecksumDigits + 1);
  return checksumOf(line) == checksum;
}

absl::Status writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      return base::makeStatus(absl::StatusCode::kInternal, "{}",
                              std::generic_category().message(errno));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

}  // namespace

CatalogJournal::CatalogJournal(std::filesystem::path path) : path_(std::move(path)) {}

CatalogJournal::~CatalogJournal() {
  if (file_ >= 0) ::close(file_);
}

absl::Status CatalogJournal::systemError(std::string_view action) const {
  return base::makeStatus(absl::StatusCode::kInternal, "cannot {} {}: {}", action, path_.string(),
                          std::generic_category().message(errno));
}

absl::StatusOr<std::unique_ptr<CatalogJournal>> CatalogJournal::open(
    const std::filesystem::path& path, const LineVisitor& visitor) {
  std::unique_ptr<CatalogJournal> journal(new CatalogJournal(path));
  PENSTOCK_RETURN_IF_ERROR(journal->openForAppend());
  PENSTOCK_ASSIGN_OR_RETURN(const std::string content, journal->readAll());
  const std::string_view all = content;
  for (size_t start = 0; start < all.size();) {
    const size_t end = all.find('\n', start);
    std::string_view line;
    if (end == std::string_view::npos || !unframe(all.substr(start, end - start), line)) {
      if (end != std::string_view::npos && end + 1 < all.size()) {
        return base::makeStatus(absl::StatusCode::kDataLoss, "{} is damaged at byte {}",
                                path.string(), start);
      }
      if (::ftruncate(journal->file_, static_cast<off_t>(start)) != 0)
        return journal->systemError("cut");
      break;
    }
    PENSTOCK_RETURN_IF_ERROR(
        base::withContext(visitor(line), fmt::format("{} byte {}", path.string(), start)));
    start = end + 1;
    journal->size_ = start;
    ++journal->lineCount_;
  }
  return journal;
}

absl::StatusOr<std::string> CatalogJournal::readAll() const {
  std::error_code error;
  std::string content(std::filesystem::file_size(path_, error), '\0');
  std::ifstream input(path_, std::ios::binary);
  if (error || !input.read(content.data(), static_cast<std::streamsize>(content.size()))) {
    return systemError("read");
  }
  return content;
}

absl::Status CatalogJournal::openForAppend() {
  const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return systemError("open");
  if (file_ >= 0) ::close(file_);
  file_ = file;
  return absl::OkStatus();
}

absl::Status CatalogJournal::append(std::string_view line) {
  const std::string text = framed(line);
  if (absl::Status status = writeAll(file_, text); !status.ok()) {
    // What was written of the line must go, or the next one would stand behind half of it.
    if (::ftruncate(file_, static_cast<off_t>(size_)) != 0) return systemError("cut");
    return base::withContext(status, "cannot write " + path_.string());
  }
  size_ += text.size();
  ++lineCount_;
  return absl::OkStatus();
}

absl::Status CatalogJournal::replace(std::span<const std::string> lines) {
  std::string content;
  for (const std::string& line : lines) content += framed(line);
  const std::filesystem::path temporary = path_.string() + ".new";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return systemError("replace");
  const absl::Status written = writeAll(file, content);
  ::close(file);
  PENSTOCK_RETURN_IF_ERROR(base::withContext(written, "cannot write " + temporary.string()));
  if (::rename(temporary.c_str(), path_.c_str()) != 0) return systemError("replace");
  PENSTOCK_RETURN_IF_ERROR(openForAppend());
  size_ = content.size();
  lineCount_ = lines.size();
  return absl::OkStatus();
}

}  // namespace penstock::emulator
