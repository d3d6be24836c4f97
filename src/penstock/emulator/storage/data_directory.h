#pragma once

#include <memory>
#include <string>

#include "penstock/base/status.h"

namespace penstock::emulator {

/// The directory that holds everything an emulator keeps, locked against a second process for as
/// long as the object lives (the kernel lets go of the lock however the process ends).
class DataDirectory {
 public:
  /// Creates `path` and its parents when missing and locks it; an empty `path` makes a temporary
  /// directory, removed with the object. Errors: kFailedPrecondition (held by another process:
  /// names the directory and the process; or written in a format that this version does not know),
  /// kInvalidArgument (cannot be created or written to).
  static absl::StatusOr<std::unique_ptr<DataDirectory>> open(const std::string& path);
  ~DataDirectory();
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Where the row store works.
  [[nodiscard]] std::string rowsPath() const { return path_ + "/rows"; }
  /// Where the catalog works; exists.
  [[nodiscard]] std::string catalogPath() const { return path_ + "/catalog"; }

 private:
  DataDirectory(std::string path, bool temporary) : path_(std::move(path)), temporary_(temporary) {}
  absl::Status lock();
  absl::Status prepare();

  std::string path_;
  bool temporary_ = false;
  int lockFile_ = -1;
};

}  // namespace penstock::emulator
