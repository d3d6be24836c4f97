#include "penstock/emulator/storage/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "penstock/emulator/storage/file.h"

namespace penstock::emulator {
namespace {

// Format 1 had no streams: what is in it is good in format 2, but not the other way round.
constexpr std::string_view kFormat = "penstock-emulator 2\n";
constexpr std::string_view kFormatWithoutStreams = "penstock-emulator 1\n";

absl::StatusOr<std::string> makeTemporaryDirectory() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) {
    return base::invalidArgument("no directory for temporary files: {}", error.message());
  }
  std::string name = (parent / "penstock-emulator-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return base::invalidArgument("cannot make a temporary data directory in {}: {}",
                                 parent.string(), std::generic_category().message(errno));
  }
  return name;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DataDirectory>> DataDirectory::open(const std::string& path) {
  const bool temporary = path.empty();
  std::string place = path;
  if (temporary) {
    PENSTOCK_ASSIGN_OR_RETURN(place, makeTemporaryDirectory());
  }
  std::unique_ptr<DataDirectory> directory(new DataDirectory(place, temporary));
  PENSTOCK_RETURN_IF_ERROR(directory->lock());
  PENSTOCK_RETURN_IF_ERROR(directory->prepare());
  return directory;
}

DataDirectory::~DataDirectory() {
  if (temporary_) {
    std::error_code ignored;  // a directory for temporary files is cleaned by the system, too
    std::filesystem::remove_all(path_, ignored);
  }
  if (lockFile_ >= 0) ::close(lockFile_);
}

absl::Status DataDirectory::lock() {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) {
    return base::invalidArgument("cannot create the data directory {}: {}", path_, error.message());
  }
  const std::string lockPath = path_ + "/LOCK";
  lockFile_ = ::open(lockPath.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lockFile_ < 0) {
    return base::invalidArgument("cannot write to the data directory {}: {}", path_,
                                 std::generic_category().message(errno));
  }
  if (::flock(lockFile_, LOCK_EX | LOCK_NB) != 0) {
    absl::StatusOr<std::string> holder = readWholeFile(lockPath);
    const std::string process =
        holder.ok() && !holder->empty() ? "process " + *holder : std::string("another process");
    return base::makeStatus(absl::StatusCode::kFailedPrecondition,
                            "the data directory {} is in use by {}: stop it, or choose another "
                            "directory",
                            path_, process);
  }
  const std::string pid = std::to_string(::getpid());
  if (::ftruncate(lockFile_, 0) != 0 ||
      ::pwrite(lockFile_, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return fileError("write to", lockPath, errno);
  }
  return absl::OkStatus();
}

absl::Status DataDirectory::prepare() {
  const std::string formatPath = path_ + "/FORMAT";
  absl::StatusOr<std::string> format = readWholeFile(formatPath);
  const bool isNew = format.status().code() == absl::StatusCode::kNotFound;
  if (isNew || (format.ok() && *format == kFormatWithoutStreams)) {
    PENSTOCK_RETURN_IF_ERROR(writeWholeFile(formatPath, kFormat));
  } else if (!format.ok()) {
    return format.status();
  } else if (*format != kFormat) {
    return base::makeStatus(absl::StatusCode::kFailedPrecondition,
                            "the data directory {} is of another format than this version of "
                            "Penstock reads ({}): choose another directory, or the version that "
                            "wrote it",
                            path_, formatPath);
  }
  for (const std::string& folder : {rowsPath(), catalogPath()}) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
      return base::invalidArgument("cannot create {} in the data directory: {}", folder,
                                   error.message());
    }
  }
  return absl::OkStatus();
}

}  // namespace penstock::emulator
