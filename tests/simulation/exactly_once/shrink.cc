#include <fmt/format.h>

#include <algorithm>

#include "exactly_once/simulation.h"

namespace penstock::simulation {
namespace {

bool fails(const Excerpt& excerpt) { return !playExactlyOnce(excerpt).violations.empty(); }

/// Makes `number`, a member of `excerpt` that is at most `most`, as small as it can be.
template <typename Member>
bool lower(Excerpt& excerpt, Member member, int most) {
  bool lowered = false;
  // Halves first, single steps then; a schedule that fails with less may not fail with half of it.
  for (int step = std::max(1, most / 2); step > 0; step /= 2) {
    while (true) {
      Excerpt less = excerpt;
      less.*member = std::min(less.*member, most) - step;
      if (less.*member < 0 || !fails(less)) break;
      excerpt = less;
      lowered = true;
    }
  }
  return lowered;
}

bool leaveOutFaults(Excerpt& excerpt) {
  bool less = false;
  for (size_t i = 0; i < kFaults; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (!excerpt.has(fault)) continue;
    Excerpt without = excerpt;
    without.leaveOut(fault);
    if (!fails(without)) continue;
    excerpt = without;
    less = true;
  }
  return less;
}

}  // namespace

Excerpt shrink(const Excerpt& failing) {
  constexpr int kMostPasses = 4;
  constexpr int kMostRecords = 128;
  constexpr int kMostSteps = 4096;
  Excerpt excerpt = failing;
  bool less = true;
  for (int pass = 0; pass < kMostPasses && less; ++pass) {
    const ExactlyOnceReport report = playExactlyOnce(excerpt);
    less = lower(excerpt, &Excerpt::crashes, report.counts.crashes);
    less = lower(excerpt, &Excerpt::faults, playExactlyOnce(excerpt).faults) || less;
    less = leaveOutFaults(excerpt) || less;
    less = lower(excerpt, &Excerpt::records, std::min(excerpt.records, kMostRecords)) || less;
    if (report.counts.crashes > 0) {
      const int last = excerpt.lastCrash < 0 ? kMostSteps : excerpt.lastCrash;
      less = lower(excerpt, &Excerpt::lastCrash, last) || less;
    }
  }
  return excerpt;
}

std::string explain(const ExactlyOnceReport& failed) {
  constexpr size_t kMostLines = 120;
  std::vector<std::string> trace;
  const ExactlyOnceReport least = playExactlyOnce(shrink(failed.excerpt), &trace);
  std::string text = fmt::format("{}\nThe least of it that fails, PENSTOCK_SCHEDULE='{}':\n{}\n",
                                 failed.describe(), least.excerpt.text(), least.describe());
  const size_t begin = trace.size() > kMostLines ? trace.size() - kMostLines : 0;
  if (begin > 0) text += fmt::format("({} lines before)\n", begin);
  for (size_t line = begin; line < trace.size(); ++line) text += trace[line] + "\n";
  return text;
}

}  // namespace penstock::simulation
