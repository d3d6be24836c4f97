#include "bench/measurement.h"

#include <sys/resource.h>

namespace penstock::bench {
namespace {

double cpuSecondsOfProcess() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

Meter::Meter()
    : wall_(base::systemClock().now()),
      cpuSeconds_(cpuSecondsOfProcess()),
      allocations_(allocationCounts()) {}

Measurement Meter::finish(double rows, double bytes) const {
  const AllocationCounts now = allocationCounts();
  const std::chrono::duration<double> wall = base::systemClock().now() - wall_;
  return {.rows = rows,
          .bytes = bytes,
          .wallSeconds = wall.count(),
          .cpuSeconds = cpuSecondsOfProcess() - cpuSeconds_,
          .allocations = {.own = now.own - allocations_.own,
                          .library = now.library - allocations_.library}};
}

}  // namespace penstock::bench
