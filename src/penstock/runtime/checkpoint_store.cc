#include "penstock/runtime/checkpoint_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fstream>
#include <system_error>
#include <utility>

#include "penstock/runtime/system_error.h"

namespace penstock::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolderPrefix = "chk-";
constexpr std::string_view kTemporaryPrefix = ".tmp-";
constexpr const char* kMetadataFile = "metadata";
constexpr const char* kLockFile = ".lock";

absl::Status fileError(std::string_view action, const fs::path& path, int error) {
  return systemError(error,
                     fmt::format("checkpoint directory: cannot {} {}", action, path.string()));
}

/// A file descriptor that closes itself.
class OwnedFd {
 public:
  explicit OwnedFd(int fd) : fd_(fd) {}
  ~OwnedFd() {
    if (fd_ >= 0) ::close(fd_);
  }
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

absl::StatusOr<std::string> readFile(const fs::path& path) {
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return fileError("open", path, errno);
  std::string content;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fileError("read", path, errno);
    if (got == 0) return content;
    content.append(buffer.data(), static_cast<size_t>(got));
  }
}

absl::Status syncFolder(const fs::path& path) {
  const OwnedFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) return fileError("open", path, errno);
  if (::fsync(folder.get()) != 0) return fileError("sync", path, errno);
  return absl::OkStatus();
}

absl::Status writeFileDurably(const fs::path& path, std::string_view content) {
  const OwnedFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0) return fileError("write", path, errno);
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fileError("write", path, errno);
    content.remove_prefix(static_cast<size_t>(written));
  }
  if (::fsync(file.get()) != 0) return fileError("sync", path, errno);
  return absl::OkStatus();
}

/// The numbers of the checkpoints in `directory`, rising.
absl::StatusOr<std::vector<int64_t>> listNumbers(const fs::path& directory) {
  std::vector<int64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(kFolderPrefix)) continue;
    int64_t number = 0;
    const char* last = name.data() + name.size();
    const auto [parsed, failure] =
        std::from_chars(name.data() + kFolderPrefix.size(), last, number);
    if (failure == std::errc() && parsed == last && number > 0) numbers.push_back(number);
  }
  if (error) return fileError("list", directory, error.value());
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

fs::path folderOf(const fs::path& directory, int64_t number) {
  return directory / fmt::format("{}{}", kFolderPrefix, number);
}

/// The checkpoint in `folder`; an error names the file.
absl::StatusOr<Checkpoint> readCheckpoint(const fs::path& folder, int64_t number) {
  const fs::path file = folder / kMetadataFile;
  PENSTOCK_ASSIGN_OR_RETURN(const std::string text, readFile(file));
  absl::StatusOr<Checkpoint> checkpoint = decodeCheckpoint(text);
  if (checkpoint.ok() && checkpoint->number != number) {
    checkpoint = base::makeStatus(absl::StatusCode::kDataLoss,
                                  "the checkpoint is damaged: it says that it is number {}",
                                  checkpoint->number);
  }
  if (!checkpoint.ok()) return base::withContext(checkpoint.status(), file.string());
  return checkpoint;
}

/// Not "remove it": the file is what is left to find out with.
constexpr std::string_view kStartOver =
    "give an empty directory to start over, which loads all of the input again, beside what is in "
    "the table already";

/// What to do about the checkpoint in `folder`, which cannot be read, given the one before it.
std::string adviceToGoBack(const fs::path& folder, const fs::path& before, int64_t number) {
  const absl::StatusOr<Checkpoint> checkpoint = readCheckpoint(before, number);
  const bool commits =
      checkpoint.ok() && (!checkpoint->committables.empty() || !checkpoint->writerStates.empty());
  constexpr std::string_view kAdvice =
      "remove {} to continue from {}, the one before it (what came after that is loaded again{}), "
      "or {}";
  return fmt::format(kAdvice, folder.string(), before.string(),
                     commits ? ", so rows that were committed since would be there twice" : "",
                     kStartOver);
}

base::WallTime writtenAt(const fs::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) return {};
  return base::WallTime(std::chrono::seconds(found.st_mtim.tv_sec) +
                        std::chrono::nanoseconds(found.st_mtim.tv_nsec));
}

/// What a crash between two steps of `write` left behind.
absl::Status removeTemporaries(const fs::path& directory) {
  std::vector<fs::path> leftovers;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with(kTemporaryPrefix)) {
      leftovers.push_back(at->path());
    }
  }
  for (const fs::path& leftover : leftovers) {
    if (!error) fs::remove_all(leftover, error);
  }
  return error ? fileError("clean up", directory, error.value()) : absl::OkStatus();
}

/// Whether a process holds the lock, told without trying it: a job that starts at that moment would
/// find it taken.
bool isLocked(const fs::path& lockFile) {
  struct stat found {};
  if (::stat(lockFile.c_str(), &found) != 0) return false;
  const std::string inode = fmt::format(":{} ", found.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    if (line.find("FLOCK") != std::string::npos && line.find(inode) != std::string::npos)
      return true;
  }
  return false;
}

/// "Held by process 4711", as far as the lock file tells.
std::string describeHolder(const fs::path& lockFile) {
  const absl::StatusOr<std::string> content = readFile(lockFile);
  if (!content.ok() || content->empty()) return "another process";
  return fmt::format("process {}", content->substr(0, content->find('\n')));
}

absl::StatusOr<int> lockDirectory(const fs::path& directory) {
  const fs::path path = directory / kLockFile;
  OwnedFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (file.get() < 0) return fileError("open", path, errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fileError("lock", path, errno);
    return base::makeStatus(
        absl::StatusCode::kFailedPrecondition,
        "checkpoint directory {} is in use by {}: wait for it to end, or give this job a directory "
        "of its own",
        directory.string(), describeHolder(path));
  }
  const std::string holder = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), holder.data(), holder.size(), 0) !=
                                             static_cast<ssize_t>(holder.size())) {
    return fileError("write", path, errno);
  }
  return file.release();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CheckpointStore>> CheckpointStore::open(const fs::path& directory,
                                                                       int kept) {
  if (kept < 1) return base::invalidArgument("at least one checkpoint must be kept, not {}", kept);
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return fileError("make", directory, error.value());
  PENSTOCK_ASSIGN_OR_RETURN(const int lockFd, lockDirectory(directory));
  std::unique_ptr<CheckpointStore> store(new CheckpointStore(directory, kept, lockFd));
  PENSTOCK_RETURN_IF_ERROR(removeTemporaries(directory));
  return store;
}

CheckpointStore::CheckpointStore(fs::path directory, int kept, int lockFd)
    : directory_(std::move(directory)), kept_(kept), lockFd_(lockFd) {}

CheckpointStore::~CheckpointStore() { ::close(lockFd_); }

absl::StatusOr<std::optional<Checkpoint>> CheckpointStore::newest() const {
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, listNumbers(directory_));
  if (numbers.empty()) return std::optional<Checkpoint>();
  const fs::path folder = folderOf(directory_, numbers.back());
  absl::StatusOr<Checkpoint> checkpoint = readCheckpoint(folder, numbers.back());
  if (checkpoint.ok()) return std::optional<Checkpoint>(*std::move(checkpoint));
  const std::string advice =
      numbers.size() > 1 ? adviceToGoBack(folder, folderOf(directory_, numbers[numbers.size() - 2]),
                                          numbers[numbers.size() - 2])
                         : fmt::format("no older one is kept: {}", kStartOver);
  return absl::Status(checkpoint.status().code(),
                      fmt::format("{}; {}", base::messageOf(checkpoint.status()), advice));
}

absl::StatusOr<CheckpointListing> CheckpointStore::list(const fs::path& directory) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, listNumbers(directory));
  CheckpointListing listing;
  for (const int64_t number : numbers) {
    const fs::path folder = folderOf(directory, number);
    listing.checkpoints.push_back(
        {number, folder, writtenAt(folder / kMetadataFile), readCheckpoint(folder, number)});
  }
  if (isLocked(directory / kLockFile)) listing.holder = describeHolder(directory / kLockFile);
  return listing;
}

absl::Status CheckpointStore::write(const Checkpoint& checkpoint) {
  const fs::path target = folderOf(directory_, checkpoint.number);
  const fs::path temporary = directory_ / fmt::format("{}{}", kTemporaryPrefix, checkpoint.number);
  std::error_code error;
  fs::remove_all(temporary, error);
  if (!error) fs::create_directory(temporary, error);
  if (error) return fileError("make", temporary, error.value());
  PENSTOCK_RETURN_IF_ERROR(
      writeFileDurably(temporary / kMetadataFile, encodeCheckpoint(checkpoint)));
  PENSTOCK_RETURN_IF_ERROR(syncFolder(temporary));
  if (::rename(temporary.c_str(), target.c_str()) != 0) return fileError("make", target, errno);
  PENSTOCK_RETURN_IF_ERROR(syncFolder(directory_));
  return removeOld();
}

absl::Status CheckpointStore::removeOld() {
  PENSTOCK_ASSIGN_OR_RETURN(std::vector<int64_t> numbers, listNumbers(directory_));
  const size_t kept = static_cast<size_t>(kept_);
  if (numbers.size() <= kept) return absl::OkStatus();
  numbers.resize(numbers.size() - kept);
  for (const int64_t number : numbers) {
    // Renamed first: a crash in between must not leave half a checkpoint under a checkpoint's name.
    const fs::path folder = folderOf(directory_, number);
    const fs::path doomed = directory_ / fmt::format("{}old-{}", kTemporaryPrefix, number);
    if (::rename(folder.c_str(), doomed.c_str()) != 0) return fileError("remove", folder, errno);
    std::error_code error;
    fs::remove_all(doomed, error);
    if (error) return fileError("remove", doomed, error.value());
  }
  return absl::OkStatus();
}

}  // namespace penstock::runtime
