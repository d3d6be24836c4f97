#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"
#include "penstock/connector/writer_core.h"

namespace penstock::runtime {

/// How far one split was read when a checkpoint was taken.
struct SplitProgress {
  std::string split;
  std::string position;  ///< empty: not begun
  bool finished = false;
};

/// What a checkpoint says.
struct Checkpoint {
  connector::CheckpointId number = 0;  ///< from 1, rising
  std::string jobIdentity;
  std::string sourceIdentity;
  bool finished = false;  ///< all input is read and flushed
  uint64_t records = 0;   ///< covered, over all runs of the job
  uint64_t bytes = 0;     ///< of input, uncompressed
  std::vector<SplitProgress> splits;
  std::vector<connector::WriterState> writerStates;
  std::vector<connector::Committable> committables;
};

/// The text of a checkpoint's metadata file: a head line `penstock-checkpoint VERSION CRC32 LENGTH`
/// (CRC32 in eight hexadecimal digits, over the LENGTH bytes that follow) and a JSON document.
[[nodiscard]] std::string encodeCheckpoint(const Checkpoint& checkpoint);
/// The reverse. DATA_LOSS if the text is cut, altered or not one of ours; UNIMPLEMENTED if a newer
/// version wrote it. The message does not name the file.
[[nodiscard]] absl::StatusOr<Checkpoint> decodeCheckpoint(std::string_view text);

/// One checkpoint of a directory, as it lies there.
struct StoredCheckpoint {
  connector::CheckpointId number = 0;
  std::filesystem::path folder;
  base::WallTime writtenAt;  ///< by the file system; the epoch when it cannot tell
  /// What it says, or why it cannot be read; the error names the file.
  absl::StatusOr<Checkpoint> content;
};

/// What a checkpoint directory holds.
struct CheckpointListing {
  std::vector<StoredCheckpoint> checkpoints;  ///< by number, rising
  /// The process that has the directory, as it wrote itself down; none: nobody has it.
  std::optional<std::string> holder;
};

/// Checkpoints in a directory, one folder `chk-<number>` each. A checkpoint appears whole or not at
/// all: it is written under a temporary name, synced, and renamed. One process at a time; one
/// thread at a time.
class CheckpointStore {
 public:
  static constexpr int kFormatVersion = 1;

  /// Makes `directory` if it is missing and locks it. Keeps the newest `kept` checkpoints. Errors:
  /// FAILED_PRECONDITION if another process has it, otherwise what the file system says; all name
  /// the path.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<CheckpointStore>> open(
      const std::filesystem::path& directory, int kept);
  /// What `directory` holds, without changing or locking it; a job may be at work in it meanwhile.
  /// NOT_FOUND if there is no such directory.
  [[nodiscard]] static absl::StatusOr<CheckpointListing> list(
      const std::filesystem::path& directory);

  ~CheckpointStore();
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;

  /// The newest checkpoint; none in a fresh directory. One that cannot be read is an error that
  /// names the file and what to do: never skipped for an older one.
  [[nodiscard]] absl::StatusOr<std::optional<Checkpoint>> newest() const;

  /// Stores `checkpoint` durably, then removes the ones that are no longer kept.
  [[nodiscard]] absl::Status write(const Checkpoint& checkpoint);

 private:
  CheckpointStore(std::filesystem::path directory, int kept, int lockFd);
  [[nodiscard]] absl::Status removeOld();

  std::filesystem::path directory_;
  int kept_;
  int lockFd_;
};

}  // namespace penstock::runtime
