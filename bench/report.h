#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/measurement.h"

namespace penstock::bench {

/// The figures of one benchmark: medians over its repetitions.
struct Result {
  std::string name;
  double rowsPerSecond = 0;
  double megabytesPerSecond = 0;  ///< of 10^6 bytes
  double cpuNanosecondsPerRow = 0;
  double allocationsPerRow = 0;         ///< operator new from the program's own code
  double libraryAllocationsPerRow = 0;  ///< from shared libraries
  /// CPU per row over the limit's of the same size, the median over neighbouring repetitions; none
  /// where there is no limit to compare with.
  std::optional<double> ratioToLimit;
  /// Rows per second over the limit's, likewise.
  std::optional<double> rateOfLimit;
  /// Row bytes of the average request, where they are reported.
  std::optional<double> requestBytes;
  /// CPU per row over that of the same rows to one table in requests of the default size.
  std::optional<double> ratioToFullRequests;
  /// What is to be reached, for people: "ratio <= 1.6", and whether it is.
  std::string target;
  bool reached = true;
};

[[nodiscard]] double median(std::vector<double> values);

/// `limit`: the limit's repetitions, taken right before these one by one; empty = none.
[[nodiscard]] Result summarize(std::string name, const std::vector<Measurement>& repetitions,
                               const std::vector<Measurement>& limit = {});

/// The processor, its number, the system, the compiler, the load of the machine.
[[nodiscard]] std::string describeMachine();

/// As a table for people.
[[nodiscard]] std::string formatTable(const std::vector<Result>& results);
/// As the JSON list that build/bench-report.json holds.
[[nodiscard]] std::string formatJson(const std::vector<Result>& results);

}  // namespace penstock::bench
