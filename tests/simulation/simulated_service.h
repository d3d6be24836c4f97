#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fault.h"
#include "penstock/bigquery/sink/append_call.h"
#include "penstock/bigquery/sink/stream_admin.h"
#include "penstock/bigquery/sink/table_admin.h"
#include "simulated_tables.h"
#include "world.h"

namespace penstock::simulation {

/// BigQuery as the sink sees it: SimulatedTables behind connections and calls that each take their
/// time and go wrong in every way there is. Outlives the processes that use it: what they had sent
/// when they ended may still be applied for up to kAfterlife.
class SimulatedService {
 public:
  /// A killed process's sockets are closed by its kernel: nobody comes back sooner than that.
  static constexpr base::Duration kAfterlife = std::chrono::milliseconds(50);

  SimulatedService(World& world, const FaultRates& rates) : world_(world), rates_(rates) {}

  std::shared_ptr<bigquery::AppendCallFactory> appendCalls();
  std::shared_ptr<bigquery::TableAdmin> tableAdmin();
  /// Of one committer or writer: it flushes a stream once at a time.
  std::shared_ptr<bigquery::StreamAdmin> streamAdmin();

  SimulatedTables& tables() { return tables_; }
  /// How many times each row is in the table.
  [[nodiscard]] const std::map<std::string, int>& rows(const std::string& resource) {
    return tables_.createTable(resource).rows;
  }
  /// From here on nothing goes wrong.
  void heal() { rates_ = FaultRates{}; }
  /// No more than the first `most` faults strike; what happens until then stays the same.
  void limitFaults(int most) { mostFaults_ = most; }
  [[nodiscard]] int faults() const { return faults_; }
  [[nodiscard]] int lostAnswers() const { return lostAnswers_; }
  /// A row arrived for a table it was not written for, or bytes were not as they should be.
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

  // For the calls of the service.
  World& world() { return world_; }
  /// Whether it goes wrong this time.
  bool strikes(Fault fault);
  [[nodiscard]] bool mayStrike(Fault fault) const { return rates_[fault] > 0; }
  [[nodiscard]] absl::Status passingError();
  void countLostAnswer() { ++lostAnswers_; }
  void violated(std::string what) { violations_.push_back(std::move(what)); }

 private:
  World& world_;
  FaultRates rates_;
  SimulatedTables tables_;
  int faults_ = 0;
  int mostFaults_ = INT_MAX;
  int lostAnswers_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace penstock::simulation
