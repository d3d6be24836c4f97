#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"
#include "penstock/bigquery/sink/append_call.h"
#include "penstock/bigquery/table_name.h"

/// Everything the sink asks about streams of its own besides appending to them. Asynchronous: each
/// request is begun, its answer comes through the callback, on any thread, exactly once, never from
/// inside the request. One attempt each: the cores own the schedules. No stream is ever finalized
/// (BQW-004), so nothing here can.
namespace penstock::bigquery {

/// How one request ended.
struct StreamError {
  absl::Status status;  ///< OK = no error
  StorageErrorCode storageError = StorageErrorCode::kNone;
};

struct CreatedStream {
  std::string name;
  std::string location;
};

class StreamAdmin {
 public:
  virtual ~StreamAdmin() = default;

  using CreateCallback = std::function<void(StreamError, CreatedStream)>;
  /// CreateWriteStream: a BUFFERED stream of `table`.
  virtual void createStream(const TableName& table, base::Duration timeout,
                            CreateCallback callback) = 0;

  /// `offset`: up to which the stream is flushed now, as the service says it.
  using FlushCallback = std::function<void(StreamError, int64_t offset)>;
  /// FlushRows: makes the stream's rows up to the one at `offset`, inclusive, visible.
  virtual void flushRows(const std::string& stream, int64_t offset, base::Duration timeout,
                         FlushCallback callback) = 0;
};

}  // namespace penstock::bigquery
