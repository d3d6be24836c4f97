#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/runtime/input_file.h"
#include "penstock/runtime/source.h"

namespace penstock::runtime {

struct FileSourceOptions {
  RecordFormat format = RecordFormat::kJson;
  /// The longest record taken, in bytes, its line end not counted. A longer one is a record with a
  /// defect; it is skipped without being held in memory.
  uint64_t maxRecordBytes = uint64_t{10} << 20;
  /// Plain newline-delimited files are cut into ranges of about this size, so that subtasks share a
  /// file and a restore may use another parallelism. Very large files get larger ranges: at most
  /// 1024 a file.
  uint64_t splitBytes = uint64_t{16} << 20;
  /// Bytes read at a time by each reader; its buffer grows beyond that only for longer records.
  uint64_t bufferBytes = uint64_t{256} << 10;
};

/// Records from files: JSON, newline-delimited or as one array, or length-delimited protobuf
/// messages; plain, gzip or zstd (recognised by content, never by name), standard input as `-`.
///
/// Everything that refuses a whole file is found when the source is opened, before the first record
/// of any file: a missing or unreadable one, JSON that does not begin with `{` or `[`, UTF-16,
/// UTF-32.
class FileSource final : public Source {
 public:
  /// Resolves `inputs`: files; folders, with everything below them (names that begin with `.` or
  /// `_` are left out); patterns with `*`, `?`, `[...]`; `-`. A file reached twice is read once.
  /// Errors name the path.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<FileSource>> open(
      std::span<const std::string> inputs, FileSourceOptions options = {});
  ~FileSource() override;

  /// In the order of reading. Empty files are listed, with format kEmpty.
  [[nodiscard]] const std::vector<InputFile>& files() const;
  /// Bytes of all files as they lie on disk (compressed); standard input counts as 0.
  [[nodiscard]] uint64_t totalBytes() const;
  /// What reading said besides errors, one line each, for people: empty files, files left out of a
  /// folder or given twice.
  [[nodiscard]] const std::vector<std::string>& notices() const;

  /// All records in order, on the caller's thread, for inferring a schema. Of standard input and
  /// other streams only the whole records within their first `streamPrefixBytes`; readers hand
  /// those out again later. Ends early with the first error that `visit` returns. Call before the
  /// first reader is created.
  [[nodiscard]] absl::Status scan(uint64_t streamPrefixBytes,
                                  const std::function<absl::Status(const RecordBatch&)>& visit);

  // Source
  [[nodiscard]] std::string identity() const override;
  [[nodiscard]] absl::Status checkIdentity(std::string_view stored) const override;
  [[nodiscard]] absl::Status checkRestorable() const override;
  [[nodiscard]] std::vector<std::string> splits() const override;
  [[nodiscard]] absl::StatusOr<std::unique_ptr<SplitReader>> createReader(
      std::string_view split, std::string_view position, const Wakeup& wakeup) override;

 private:
  class Implementation;
  explicit FileSource(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace penstock::runtime
