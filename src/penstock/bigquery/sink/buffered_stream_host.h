#pragma once

#include "penstock/bigquery/sink/destination_host.h"
#include "penstock/bigquery/sink/stream_admin.h"

namespace penstock::bigquery {

/// What destinations with streams of their own need besides; all on the task thread.
class BufferedStreamHost : public DestinationHost {
 public:
  /// A BUFFERED stream of the destination's table; onStreamCreated follows.
  virtual void createStream(connector::DestinationId destination, const TableName& table) = 0;
};

}  // namespace penstock::bigquery
