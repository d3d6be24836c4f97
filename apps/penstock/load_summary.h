#pragma once

#include <cstdint>
#include <string>

#include "penstock/base/clock.h"

namespace penstock::command {

/// What a load came to. Rows and bytes are of this run.
struct LoadSummary {
  enum class Result { kLoaded, kNothingToLoad, kAlreadyLoaded, kStopped, kFailed };
  Result result = Result::kFailed;
  std::string target;         ///< "BigQuery", "emulator at ...", "embedded emulator in ..."
  std::string table;          ///< PROJECT.DATASET.TABLE
  uint64_t rowsWritten = 0;   ///< of a failed load: handed to the service, the last may be missing
  uint64_t rowsDropped = 0;   ///< failed records that --on-error drop let go
  uint64_t bytesRead = 0;     ///< of input, uncompressed
  uint64_t rowsRestored = 0;  ///< written by earlier runs, per the checkpoint continued from
  uint64_t checkpoints = 0;
  base::Duration elapsed{};
  int exitCode = 0;
  std::string error;  ///< empty if there was none

  [[nodiscard]] double rowsPerSecond() const;
};

/// One sentence for people.
[[nodiscard]] std::string summaryText(const LoadSummary& summary);

/// One line of JSON; docs/command.md lists its fields.
[[nodiscard]] std::string summaryJson(const LoadSummary& summary);

/// "1,234,567".
[[nodiscard]] std::string withThousands(uint64_t number);
/// "1,234 records", "1 record".
[[nodiscard]] std::string counted(uint64_t count, std::string_view noun);

}  // namespace penstock::command
