#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exactly_once/excerpt.h"
#include "fault.h"
#include "penstock/base/random.h"
#include "penstock/bigquery/sink/sink_options.h"
#include "record.h"

namespace penstock::simulation {

/// How far each split of the input is read.
using Positions = std::vector<size_t>;
using Input = std::vector<std::vector<Record>>;  // by split

/// What is decided before a seed begins.
struct Plan {
  bigquery::SinkOptions options;
  FaultRates rates;
  Input input;
  int tables = 1;
  std::vector<bool> exist;       ///< the tables that are there from the start
  std::vector<bool> lackColumn;  ///< of them: those that do not have all columns yet
  bool checksRowsFirst = false;  ///< see SimulatedTables
  bool hostIsOdd = false;        ///< prepares and snapshots in no usual order, gives up checkpoints
  bool hostIsSlow = false;       ///< answers late
  std::vector<int> crashes;      ///< after so many steps of the run each
};

[[nodiscard]] Plan drawPlan(base::Random& random, const Excerpt& excerpt);

}  // namespace penstock::simulation
