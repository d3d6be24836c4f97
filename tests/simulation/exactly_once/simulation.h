#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exactly_once/excerpt.h"
#include "exactly_once/job.h"

namespace penstock::simulation {

/// What one schedule showed.
struct ExactlyOnceReport {
  Excerpt excerpt;
  std::vector<std::string> violations;  ///< empty: every promise was kept
  JobCounts counts;
  int records = 0;
  int faults = 0;
  int streams = 0;

  [[nodiscard]] std::string describe() const;
};

/// Plays one seeded schedule of the exactly-once sink: a job of several subtasks, each with a
/// BufferedStreamWriter, a StreamCommitter and a host as decision 0017 describes it, with faults on
/// every call, records that are refused, checkpoints in and out of their usual order, crashes at
/// any step, and restarts with another parallelism. Checks that a row becomes visible once, not
/// before a stored checkpoint covers it, and at the latest when the job is done; that what does not
/// belong in a table is with the handler; and that memory, permits and connections come back.
/// `trace`: what happened, if it is not null.
ExactlyOnceReport playExactlyOnce(const Excerpt& excerpt,
                                  std::vector<std::string>* trace = nullptr);

/// The least of a failing schedule that still fails: fewer records, faults and crashes.
Excerpt shrink(const Excerpt& failing);

/// A failing schedule for people: what it breaks, how to play it again, the least of it that still
/// fails, and what happens then.
std::string explain(const ExactlyOnceReport& failed);

}  // namespace penstock::simulation
