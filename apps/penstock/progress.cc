#include "apps/penstock/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/penstock/load_summary.h"
#include "penstock/base/byte_size.h"
#include "penstock/base/duration.h"

namespace penstock::command {
std::string progressText(const LoadProgress& progress, double rowsPerSecond) {
  std::string text;
  if (progress.totalBytes && *progress.totalBytes > 0) {
    const double share =
        static_cast<double>(progress.bytes) / static_cast<double>(*progress.totalBytes);
    text = fmt::format("{:3.0f} %  ", std::clamp(share, 0.0, 1.0) * 100);
  }
  text += fmt::format("{}  {}  {} rows/s  {} in flight  {}", counted(progress.rows, "row"),
                      base::approximateByteSize(static_cast<double>(progress.bytes)),
                      withThousands(static_cast<uint64_t>(rowsPerSecond)), progress.inFlight,
                      counted(progress.checkpoints, "checkpoint"));
  if (progress.dropped > 0) text += fmt::format("  {} dropped", withThousands(progress.dropped));
  return text;
}

void ProgressReporter::report(const LoadProgress& progress, base::MonotonicTime now) {
  const double elapsed = base::inSeconds(now - lastTime_);
  if (elapsed > 0) {
    const double current =
        static_cast<double>(progress.rows - std::min(lastRows_, progress.rows)) / elapsed;
    constexpr double kWeightOfNow = 0.3;
    rowsPerSecond_ =
        lastTime_ == start_ ? current : rowsPerSecond_ + kWeightOfNow * (current - rowsPerSecond_);
    lastTime_ = now;
    lastRows_ = progress.rows;
  }
  const std::string text = progressText(progress, rowsPerSecond_);
  if (console_.showsTransient()) {
    console_.transient(text);
  } else if (now >= nextLog_) {
    console_.note(text);
    nextLog_ = now + kLogInterval;
  }
}

void ProgressReporter::finish() { console_.transient(""); }

}  // namespace penstock::command
