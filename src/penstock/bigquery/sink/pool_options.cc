#include "penstock/bigquery/sink/pool_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "penstock/base/byte_size.h"
#include "penstock/base/duration.h"
#include "penstock/bigquery/sink/sink_options.h"

namespace penstock::bigquery {
namespace {

int clamped(int64_t value) {
  return static_cast<int>(std::min<int64_t>(value, std::numeric_limits<int>::max()));
}

/// Collects the options in which two sinks differ.
class Differences {
 public:
  template <typename Value, typename Show>
  void compare(const char* key, const Value& inForce, const Value& asked, Show show) {
    if (inForce == asked) return;
    found_.push_back({key, show(asked), show(inForce)});
  }
  std::vector<OptionConflict> take() { return std::move(found_); }

 private:
  std::vector<OptionConflict> found_;
};

template <typename Number>
std::string number(Number value) {
  return fmt::format("{}", value);
}

}  // namespace

PoolOptions poolOptions(const SinkOptions& options) {
  const DefaultStreamOptions& stream = options.defaultStreamOptions;
  PoolOptions result;
  result.connection.maxInflightRequests = clamped(stream.maxInflightRequests);
  result.connection.maxInflightBytes = stream.maxInflightBytes;
  result.connection.retryInitialDelay = stream.retryInitialDelay;
  result.connection.retryDelayMultiplier = stream.retryDelayMultiplier;
  result.connection.retryMaxDelay = stream.retryMaxDelay;
  result.connection.retryMaxAttempts = clamped(stream.retryMaxAttempts);
  result.connection.maxRetryDuration = stream.maxRetryDuration;
  result.process.minConnections = clamped(stream.minConnectionsPerRegion);
  result.process.maxConnections = clamped(stream.maxConnectionsPerRegion);
  result.process.maxBufferedBytes = options.maxBufferedBytes;
  return result;
}

std::vector<OptionConflict> conflicts(const ConnectionLimits& inForce,
                                      const ConnectionLimits& asked) {
  const auto bytes = [](int64_t value) { return base::formatByteSize(value); };
  const auto duration = [](base::Duration value) { return base::formatDuration(value); };
  Differences differences;
  differences.compare("sink.max-inflight-requests", inForce.maxInflightRequests,
                      asked.maxInflightRequests, number<int>);
  differences.compare("sink.max-inflight-bytes", inForce.maxInflightBytes, asked.maxInflightBytes,
                      bytes);
  differences.compare("sink.retry-initial-delay", inForce.retryInitialDelay,
                      asked.retryInitialDelay, duration);
  differences.compare("sink.retry-delay-multiplier", inForce.retryDelayMultiplier,
                      asked.retryDelayMultiplier, number<double>);
  differences.compare("sink.retry-max-delay", inForce.retryMaxDelay, asked.retryMaxDelay, duration);
  differences.compare("sink.retry-max-attempts", inForce.retryMaxAttempts, asked.retryMaxAttempts,
                      number<int>);
  differences.compare("sink.max-retry-duration", inForce.maxRetryDuration, asked.maxRetryDuration,
                      duration);
  return differences.take();
}

std::vector<OptionConflict> conflicts(const ProcessLimits& inForce, const ProcessLimits& asked) {
  const auto bytes = [](int64_t value) { return base::formatByteSize(value); };
  Differences differences;
  differences.compare("sink.min-connections-per-region", inForce.minConnections,
                      asked.minConnections, number<int>);
  differences.compare("sink.max-connections-per-region", inForce.maxConnections,
                      asked.maxConnections, number<int>);
  differences.compare("sink.max-buffered-bytes", inForce.maxBufferedBytes, asked.maxBufferedBytes,
                      bytes);
  return differences.take();
}

}  // namespace penstock::bigquery
