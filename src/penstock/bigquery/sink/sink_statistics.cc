#include "penstock/bigquery/sink/sink_statistics.h"

#include <algorithm>
#include <bit>

namespace penstock::bigquery {

using std::chrono::microseconds;

void LatencyHistogram::add(base::Duration duration) {
  const auto micros =
      std::max<int64_t>(0, std::chrono::duration_cast<microseconds>(duration).count());
  const size_t bucket = std::bit_width(static_cast<uint64_t>(micros));  // below 2^bucket us
  ++buckets_[std::min(bucket, kBuckets - 1)];
  ++count_;
  sum_ += duration;
  longest_ = std::max(longest_, duration);
}

base::Duration LatencyHistogram::mean() const {
  return count_ == 0 ? base::Duration{} : sum_ / static_cast<int64_t>(count_);
}

base::Duration LatencyHistogram::quantile(double share) const {
  const auto wanted = static_cast<uint64_t>(share * static_cast<double>(count_));
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += buckets_[bucket];
    if (seen > wanted) {
      return std::min<base::Duration>(microseconds(int64_t{1} << bucket), longest_);
    }
  }
  return longest_;
}

}  // namespace penstock::bigquery
