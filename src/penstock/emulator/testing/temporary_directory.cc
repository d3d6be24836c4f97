#include "penstock/emulator/testing/temporary_directory.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace penstock::emulator {

TemporaryDirectory::TemporaryDirectory()
    : path_((std::filesystem::temp_directory_path() / "penstock-test-XXXXXX").string()) {
  if (::mkdtemp(path_.data()) == nullptr) {
    std::perror("mkdtemp");
    std::abort();
  }
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace penstock::emulator
