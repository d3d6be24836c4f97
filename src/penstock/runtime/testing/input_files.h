#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/runtime/source.h"

namespace penstock::runtime {

/// A folder of a test's own, removed with everything in it at the end.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// The path of `name` in it.
  [[nodiscard]] std::string at(std::string_view name) const;
  /// Writes a file (and the folders above it) and returns its path.
  std::string write(std::string_view name, std::string_view content) const;

 private:
  std::string path_;
};

[[nodiscard]] std::string gzipped(std::string_view content);
[[nodiscard]] std::string zstdCompressed(std::string_view content);
[[nodiscard]] std::string contentOf(const std::string& path);

/// What a reader handed out.
struct ReadRecords {
  std::vector<std::string> records;
  std::vector<std::string> origins;
  std::vector<std::string> laterOrigins;  ///< asked when the batches were gone; "" of a defect
  std::vector<std::string> defects;       ///< one a record; empty: none
  absl::Status status;                    ///< of the read that ended it
};

/// What ended the reading; empty if nothing did.
[[nodiscard]] std::string errorOf(const ReadRecords& read);

/// Reads `reader` to its end or its first error.
[[nodiscard]] ReadRecords readToEnd(SplitReader& reader);

/// Opens `inputs` and reads all splits, one after the other; `status` may be that of the opening.
[[nodiscard]] ReadRecords readInputs(const std::vector<std::string>& inputs,
                                     const struct FileSourceOptions& options);
[[nodiscard]] ReadRecords readInputs(const std::vector<std::string>& inputs);

}  // namespace penstock::runtime
