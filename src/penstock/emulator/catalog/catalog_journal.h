#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "penstock/base/status.h"

namespace penstock::emulator {

/// An append-only file of lines, each with a checksum in front. A line is the operating system's
/// before append() returns, so a killed process leaves whole lines and at most one torn one at the
/// end, which open() cuts. Not thread-safe.
class CatalogJournal {
 public:
  using LineVisitor = std::function<absl::Status(std::string_view line)>;

  /// Reads the file at `path` line by line. kDataLoss when a line in front of the last is not
  /// whole.
  static absl::StatusOr<std::unique_ptr<CatalogJournal>> open(const std::filesystem::path& path,
                                                              const LineVisitor& visitor);
  ~CatalogJournal();
  CatalogJournal(const CatalogJournal&) = delete;
  CatalogJournal& operator=(const CatalogJournal&) = delete;

  /// Adds a line (without line breaks in it). On an error nothing of it stays.
  absl::Status append(std::string_view line);
  /// Replaces the whole content, through a temporary file and a rename.
  absl::Status replace(std::span<const std::string> lines);
  [[nodiscard]] size_t lineCount() const { return lineCount_; }

 private:
  explicit CatalogJournal(std::filesystem::path path);
  absl::Status openForAppend();
  [[nodiscard]] absl::StatusOr<std::string> readAll() const;
  [[nodiscard]] absl::Status systemError(std::string_view action) const;

  std::filesystem::path path_;
  int file_ = -1;
  size_t size_ = 0;  ///< of the whole lines
  size_t lineCount_ = 0;
};

}  // namespace penstock::emulator
