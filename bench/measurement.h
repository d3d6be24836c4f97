#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/allocation_counter.h"
#include "penstock/base/clock.h"
#include "penstock/base/status.h"

namespace penstock::bench {

/// One repetition: what happened between two moments in steady state.
struct Measurement {
  double rows = 0;
  double bytes = 0;  ///< of the rows, or of the documents they came from
  double wallSeconds = 0;
  double cpuSeconds = 0;  ///< of the whole process, all threads
  AllocationCounts allocations;
  double requestBytes = 0;  ///< row bytes of the average request, where that is of interest

  [[nodiscard]] double rowsPerSecond() const { return rows / wallSeconds; }
  [[nodiscard]] double cpuNanosecondsPerRow() const { return cpuSeconds * 1e9 / rows; }
};

/// Takes the process's figures at its construction and again at `finish`.
class Meter {
 public:
  Meter();
  [[nodiscard]] Measurement finish(double rows, double bytes) const;

 private:
  base::MonotonicTime wall_;
  double cpuSeconds_;
  AllocationCounts allocations_;
};

/// Something measured. Not thread-safe.
class Benchmark {
 public:
  virtual ~Benchmark() = default;
  /// One repetition: warms up, then measures for about `duration`.
  virtual absl::StatusOr<Measurement> run(base::Duration duration) = 0;
};

/// Requests of both sides: what the sink's default collects into one append.
inline constexpr int64_t kRequestRowBytes = int64_t{512} << 10;

/// Slices laid out beforehand, sent to `server` by a plain loop around a generic stub.
[[nodiscard]] std::unique_ptr<Benchmark> wireLimitBenchmark(std::string server, size_t rowBytes);
/// Requests of valid rows of 100 bytes, laid out beforehand, sent to `server` by the same loop.
[[nodiscard]] std::unique_ptr<Benchmark> appendBenchmark(std::string server);
/// The same requests to an emulator in a process of its own, which validates and stores the rows.
[[nodiscard]] std::unique_ptr<Benchmark> emulatorAppendBenchmark();
/// Rows that are bytes already, written through the public sink API.
[[nodiscard]] std::unique_ptr<Benchmark> serializedSinkBenchmark(std::string server,
                                                                 size_t rowBytes, bool inBatches);
/// Documents of about 1 KB and 20 columns, written through the public sink API.
[[nodiscard]] std::unique_ptr<Benchmark> jsonSinkBenchmark(std::string server);
/// How the records of a benchmark are spread over its tables.
enum class TableChoice {
  kRoundRobin,
  kZipf,  ///< the nth table gets 1/n as many as the first
};
/// What the requests of a many-table benchmark have come to, for the one it is compared with.
struct RequestSize {
  double rowBytes = 0;  ///< 0 = not known yet
};
/// The same documents spread over 10,000 tables, with the sink's defaults.
[[nodiscard]] std::unique_ptr<Benchmark> manyTablesBenchmark(std::string server, TableChoice choice,
                                                             std::shared_ptr<RequestSize> requests);
/// The same to one table through the same resolver, in requests as large as `requests` says; null:
/// of the sink's default size.
[[nodiscard]] std::unique_ptr<Benchmark> oneTableBenchmark(std::string server, TableChoice choice,
                                                           std::shared_ptr<RequestSize> requests);
/// Messages of a compiled-in type with five columns and about 70 bytes, written through the public
/// sink API.
[[nodiscard]] std::unique_ptr<Benchmark> protobufSinkBenchmark(std::string server);
/// The same messages turned into rows on one core, without a network.
[[nodiscard]] std::unique_ptr<Benchmark> protobufSerializerBenchmark();
/// The JSON documents turned into rows on one core, without a network.
[[nodiscard]] std::unique_ptr<Benchmark> jsonSerializerBenchmark();
/// Valid rows of 100 bytes through the public sink API to an emulator in a process of its own, with
/// a checkpoint a second.
[[nodiscard]] std::unique_ptr<Benchmark> checkpointedSinkBenchmark(bool exactlyOnce);
/// Commits of 1,000 tables with a new row each; its "rows" are tables.
[[nodiscard]] std::unique_ptr<Benchmark> commitBenchmark();
/// The same FlushRows calls alone, 32 in flight.
[[nodiscard]] std::unique_ptr<Benchmark> bareFlushBenchmark();

}  // namespace penstock::bench
