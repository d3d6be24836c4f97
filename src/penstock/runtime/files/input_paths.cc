#include "penstock/runtime/files/input_paths.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "penstock/runtime/system_error.h"

namespace penstock::runtime {
namespace {

namespace fs = std::filesystem;

absl::Status pathError(std::string_view action, const std::string& path, int error) {
  return systemError(error, fmt::format("cannot {} {}", action, path));
}

class InputFinder {
 public:
  absl::Status add(const std::string& argument) {
    if (argument == "-") return addStandardInput();
    if (argument.empty()) return base::invalidArgument("an input file's name is empty");
    struct stat status = {};
    if (::stat(argument.c_str(), &status) == 0) return addExisting(argument, status);
    const int error = errno;
    if (error == ENOENT && argument.find_first_of("*?[") != std::string::npos) {
      return addPattern(argument);
    }
    return pathError("open", argument, error);
  }

  InputPaths take() { return std::move(found_); }

 private:
  using Identity = std::pair<dev_t, ino_t>;

  absl::Status addStandardInput() {
    if (std::find(found_.paths.begin(), found_.paths.end(), "-") != found_.paths.end()) {
      return base::invalidArgument("standard input (-) is given twice; it can be read only once");
    }
    found_.paths.emplace_back("-");
    return absl::OkStatus();
  }

  absl::Status addExisting(const std::string& path, const struct stat& status) {
    if (!S_ISDIR(status.st_mode)) {
      addFile(path, status);
      return absl::OkStatus();
    }
    const size_t before = reached_;
    leftOut_ = 0;
    PENSTOCK_RETURN_IF_ERROR(addFolder(path, status));
    if (leftOut_ > 0) {
      found_.notices.push_back(
          fmt::format("{}: {} with names that begin with . or _, or that are no files, left out",
                      path, leftOut_));
    }
    if (reached_ == before) {
      return base::makeStatus(absl::StatusCode::kNotFound, "the folder {} holds no file to load",
                              path);
    }
    return absl::OkStatus();
  }

  void addFile(const std::string& path, const struct stat& status) {
    ++reached_;
    if (S_ISREG(status.st_mode) && !files_.insert({status.st_dev, status.st_ino}).second) {
      found_.notices.push_back(fmt::format("{} is given more than once; it is read once", path));
      return;
    }
    found_.paths.push_back(path);
  }

  absl::Status addFolder(const std::string& path, const struct stat& status) {
    const Identity identity{status.st_dev, status.st_ino};
    if (!open_.insert(identity).second) return absl::OkStatus();  // a link back up
    std::vector<fs::path> entries;
    std::error_code error;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      entries.push_back(at->path());
    }
    if (error) return pathError("list the folder", path, error.value());
    std::sort(entries.begin(), entries.end());
    for (const fs::path& entry : entries) PENSTOCK_RETURN_IF_ERROR(addEntry(entry));
    open_.erase(identity);
    return absl::OkStatus();
  }

  absl::Status addEntry(const fs::path& entry) {
    const std::string name = entry.filename().string();
    if (name.starts_with('.') || name.starts_with('_')) {
      ++leftOut_;
      return absl::OkStatus();
    }
    struct stat status = {};
    if (::stat(entry.c_str(), &status) != 0) return pathError("open", entry.string(), errno);
    if (S_ISDIR(status.st_mode)) return addFolder(entry.string(), status);
    if (S_ISREG(status.st_mode)) {
      addFile(entry.string(), status);
    } else {
      ++leftOut_;
    }
    return absl::OkStatus();
  }

  absl::Status addPattern(const std::string& pattern) {
    glob_t matches = {};
    // Asked for no user's home, it reads no shared state. NOLINTNEXTLINE(concurrency-mt-unsafe)
    const int result = ::glob(pattern.c_str(), GLOB_ERR, nullptr, &matches);
    std::vector<std::string> paths(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
    ::globfree(&matches);
    if (result == GLOB_NOMATCH) {
      return base::makeStatus(absl::StatusCode::kNotFound, "no file matches {}", pattern);
    }
    if (result != 0) return pathError("list what matches", pattern, errno != 0 ? errno : ENOMEM);
    for (const std::string& path : paths) {
      struct stat status = {};
      if (::stat(path.c_str(), &status) != 0) return pathError("open", path, errno);
      PENSTOCK_RETURN_IF_ERROR(addExisting(path, status));
    }
    return absl::OkStatus();
  }

  InputPaths found_;
  std::set<Identity> files_;
  std::set<Identity> open_;  // folders being walked
  size_t reached_ = 0;       // files, those given before included
  size_t leftOut_ = 0;
};

}  // namespace

absl::StatusOr<InputPaths> findInputs(std::span<const std::string> arguments) {
  if (arguments.empty()) return base::invalidArgument("no input is given");
  InputFinder finder;
  for (const std::string& argument : arguments) PENSTOCK_RETURN_IF_ERROR(finder.add(argument));
  return finder.take();
}

}  // namespace penstock::runtime
