#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "penstock/base/status.h"

namespace penstock::emulator {

/// An open file, closed with the object. Errors name the path: kNotFound (no such file),
/// kResourceExhausted (no space, no descriptor), else kInternal.
class File {
 public:
  File() = default;
  File(File&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}
  File& operator=(File&& other) noexcept;
  ~File() { close(); }

  /// Opens for reading only.
  static absl::StatusOr<File> openForReading(const std::string& path);
  /// Opens for reading and writing, created when missing.
  static absl::StatusOr<File> openForWriting(const std::string& path);
  /// Opens a file that is there for reading and writing.
  static absl::StatusOr<File> openForChange(const std::string& path);

  [[nodiscard]] bool isOpen() const { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  void close();

  [[nodiscard]] absl::StatusOr<uint64_t> size() const;
  /// Writes all pieces one after another from `offset` on.
  absl::Status writeAt(uint64_t offset, std::span<const std::string_view> pieces);
  /// Reads up to `size` bytes at `offset` into `buffer`; fewer only at the file's end.
  [[nodiscard]] absl::StatusOr<size_t> readAt(uint64_t offset, char* buffer, size_t size) const;
  absl::Status truncate(uint64_t size);

 private:
  static absl::StatusOr<File> open(const std::string& path, int flags);

  int descriptor_ = -1;
  std::string path_;
};

/// What errno says about `action` on `path`, as the classes of File.
[[nodiscard]] absl::Status fileError(std::string_view action, std::string_view path, int error);

/// The whole of a small file.
[[nodiscard]] absl::StatusOr<std::string> readWholeFile(const std::string& path);

/// Puts `content` at `path` in one step: another name first, then renamed.
[[nodiscard]] absl::Status writeWholeFile(const std::string& path, std::string_view content);

}  // namespace penstock::emulator
