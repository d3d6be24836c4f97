#include "exactly_once/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace penstock::simulation {
namespace {

using std::chrono::milliseconds;

FaultRates drawRates(base::Random& random) {
  FaultRates rates;
  const double level = random.below(5) == 0 ? 0 : random.uniform() * 0.15;
  for (size_t i = 0; i < kFaults; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (fault == Fault::kBrokenAtRestart || fault == Fault::kHandlerRefuses) continue;
    rates[fault] = random.chance(0.5) ? level * random.uniform() : 0;
  }
  // These end the job each time, or last for minutes: rare, or nothing else is seen.
  for (const Fault fault : {Fault::kFinalEnd, Fault::kBrokenStream, Fault::kIntruder}) {
    rates[fault] *= 0.1;
  }
  rates[Fault::kSilence] *= 0.05;
  rates[Fault::kSlow] *= 0.2;
  // These can happen only a few times.
  for (const Fault fault : {Fault::kMaskAfterCreate, Fault::kFlushMasked}) {
    if (rates[fault] > 0) rates[fault] = 0.5;
  }
  return rates;
}

Input drawInput(base::Random& random, int tables, int records) {
  Input input(1 + random.below(4));
  const bool withBadRows = random.chance(0.7);
  for (size_t split = 0; split < input.size(); ++split) {
    const auto count = static_cast<int>(random.below(80));
    for (int i = 0; i < count; ++i) {
      Record record;
      record.table = static_cast<int>(random.below(static_cast<uint64_t>(tables)));
      const char* kind = "good";
      if (withBadRows && random.chance(0.08)) kind = "bad";
      if (withBadRows && random.chance(0.03)) {
        kind = "unserializable";
        record.serializable = false;
      }
      if (random.chance(0.02)) kind = "skipped";
      record.text = fmt::format("{}{}@{}#{}", kind, i, tableName(record.table), split);
      if (i < records) input[split].push_back(std::move(record));
    }
  }
  return input;
}

bigquery::SinkOptions drawOptions(base::Random& random) {
  bigquery::SinkOptions options;
  options.writeMethod = bigquery::WriteMethod::kStorageApiExactlyOnce;
  options.bufferedStreamOptions.emplace();
  bigquery::BufferedStreamOptions& buffered = *options.bufferedStreamOptions;
  buffered.maxAppendRequestBytes = static_cast<int64_t>(1 + random.below(200));
  if (random.chance(0.5)) options.maxBufferedBytes = static_cast<int64_t>(1 + random.below(1500));
  if (random.chance(0.3)) options.location = "us";
  if (random.chance(0.3)) buffered.retryMaxAttempts = 1;
  if (random.chance(0.3)) {
    buffered.destinationIdleTimeout = milliseconds(1 + random.below(5000));
  }
  return options;
}

std::vector<int> drawCrashes(base::Random& random, const Excerpt& excerpt) {
  std::vector<int> crashes(random.chance(0.2) ? 0 : random.below(5));
  // Few steps as often as many.
  for (int& steps : crashes) {
    steps = static_cast<int>(random.below(uint64_t{2} << random.below(11)));
  }
  const auto most = static_cast<size_t>(excerpt.crashes);
  if (crashes.size() > most) crashes.resize(most);
  if (excerpt.lastCrash >= 0 && !crashes.empty()) {
    crashes.back() = std::min(crashes.back(), excerpt.lastCrash);
  }
  return crashes;
}

}  // namespace

Plan drawPlan(base::Random& random, const Excerpt& excerpt) {
  Plan plan;
  plan.options = drawOptions(random);
  plan.rates = drawRates(random);
  plan.tables = static_cast<int>(1 + random.below(3));
  plan.input = drawInput(random, plan.tables, excerpt.records);
  const bool mayLackColumns = random.chance(0.15);
  for (int table = 0; table < plan.tables; ++table) {
    plan.exist.push_back(random.chance(0.5));
    plan.lackColumn.push_back(mayLackColumns && random.chance(0.5));
  }
  if (mayLackColumns) plan.options.schemaUpdateOptions.allowNewFields = true;
  if (random.chance(0.2)) {
    plan.exist.assign(plan.exist.size(), true);
    plan.options.createDisposition = bigquery::CreateDisposition::kCreateNever;
  }
  plan.checksRowsFirst = random.chance(0.3);
  plan.hostIsOdd = random.chance(0.6);
  plan.hostIsSlow = random.chance(0.5);
  if (random.chance(0.2)) plan.rates[Fault::kHandlerRefuses] = 0.1;
  plan.crashes = drawCrashes(random, excerpt);
  if (random.chance(0.3)) plan.rates[Fault::kBrokenAtRestart] = 0.3;
  for (size_t i = 0; i < kFaults; ++i) {
    if (!excerpt.has(static_cast<Fault>(i))) plan.rates[static_cast<Fault>(i)] = 0;
  }
  return plan;
}

}  // namespace penstock::simulation
