#pragma once

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace penstock::gcp::testing {

/// A file with the given content, removed with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    const int file = ::mkstemp(path_.data());
    if (file >= 0) ::close(file);
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/penstock-test-XXXXXX";
};

}  // namespace penstock::gcp::testing
