#include "exactly_once/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "penstock/base/chunk_pool.h"

namespace penstock::simulation {
namespace {

constexpr base::Duration kFaultsEnd = std::chrono::minutes(20);
constexpr int kMostFailures = 40;
constexpr base::Duration kEnd = std::chrono::hours(48);
constexpr int64_t kMostRounds = 1'000'000;

void runToTheEnd(World& world, SimulatedService& service, Job& job, ExactlyOnceReport& report) {
  const base::MonotonicTime start = world.clock().now();
  bool healed = false;
  int failuresThen = 0;
  for (int64_t round = 0;; ++round) {
    const base::MonotonicTime next = job.run();
    if (job.finished() || !report.violations.empty() || !service.violations().empty()) return;
    const base::Duration time = world.clock().now() - start;
    if (!healed && (time > kFaultsEnd || job.counts().failures > kMostFailures)) {
      world.note("from here on nothing goes wrong");
      service.heal();
      healed = true;
      failuresThen = job.counts().failures;
    }
    if (job.counts().failures > 2 * kMostFailures + failuresThen) {
      report.violations.push_back("the job fails again and again, though nothing goes wrong");
      return;
    }
    if (time > kEnd || round > kMostRounds) {
      report.violations.push_back("never finished: somebody waits for ever");
      return;
    }
    const base::MonotonicTime event = world.nextEvent();
    if (event == base::kNever && next == base::kNever) {
      report.violations.push_back("nothing is going to happen, and the input is not finished");
      return;
    }
    world.runNext(std::min(event, next));
  }
}

void createTables(SimulatedService& service, const Plan& plan) {
  for (int table = 0; table < plan.tables; ++table) {
    if (!plan.exist[static_cast<size_t>(table)]) continue;
    service.tables().createTable(resourceOf(table)).lacksColumn =
        plan.lackColumn[static_cast<size_t>(table)];
  }
}

}  // namespace

ExactlyOnceReport playExactlyOnce(const Excerpt& excerpt, std::vector<std::string>* trace) {
  ExactlyOnceReport report;
  report.excerpt = excerpt;
  const size_t chunksBefore = base::ChunkPool::process().chunksInUse();
  {
    World world(excerpt.seed);
    if (trace != nullptr) world.traceInto(*trace);
    const Plan plan = drawPlan(world.random(), excerpt);
    SimulatedService service(world, plan.rates);
    service.limitFaults(excerpt.faults);
    createTables(service, plan);
    if (plan.checksRowsFirst) service.tables().checkRowsFirst();
    Ledger ledger(plan.input, report.violations);
    service.tables().setOnVisible([&ledger](const std::string& row) { ledger.onVisible(row); });
    {
      Job job(world, service, plan, ledger, report.violations);
      runToTheEnd(world, service, job, report);
      if (job.finished()) ledger.checkEnd(job.restarted());
      job.close();
      report.counts = job.counts();
    }
    // What is still scheduled (answers of calls that were given up) must find nobody.
    while (world.runNext(base::kNever)) {
    }
    for (const auto& split : plan.input) report.records += static_cast<int>(split.size());
    report.faults = service.faults();
    report.streams = static_cast<int>(service.tables().streams().size());
    for (const std::string& violation : service.violations()) {
      report.violations.push_back(violation);
    }
  }
  if (base::ChunkPool::process().chunksInUse() != chunksBefore) {
    report.violations.push_back("chunks are left");
  }
  return report;
}

std::string ExactlyOnceReport::describe() const {
  std::string text = fmt::format(
      "seed {}: {} records, {} faults, {} crashes, {} failures, {} checkpoints ({} more given up), "
      "{} streams",
      excerpt.text(), records, faults, counts.crashes, counts.failures, counts.checkpoints,
      counts.givenUp, streams);
  for (size_t i = 0; i < violations.size() && i < 10; ++i) text += "\n  " + violations[i];
  return text;
}

}  // namespace penstock::simulation
