#include "apps/penstock/text_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "penstock/runtime/files/content_kind.h"

namespace penstock::command {

absl::StatusOr<std::string> readTextFile(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return base::invalidArgument("this is a directory; name a file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || file.bad()) {
    return base::invalidArgument("cannot read it: {}",
                                 std::generic_category().message(errno == 0 ? EIO : errno));
  }
  std::string contents = text.str();
  if (const auto encoding = runtime::wideEncodingOf(contents)) {
    return base::invalidArgument("it is encoded in {}; only UTF-8 is read: convert it first",
                                 *encoding);
  }
  if (runtime::startsWithUtf8Mark(contents)) contents.erase(0, 3);
  return contents;
}

}  // namespace penstock::command
