#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"
#include "penstock/connector/row_batch.h"

namespace penstock::connector {

/// What comes with a record.
struct WriteContext {
  std::optional<base::WallTime> timestamp;  ///< the record's event time
  std::optional<base::WallTime> watermark;
  std::string_view origin;  ///< where the record came from, for messages: "flights.json line 17"
  /// The same as a number of the caller's own: comes back in FailedRecord::rowOrigin if the service
  /// refuses the row later on.
  RowOrigin rowOrigin = RowOrigin::kUnknown;
};

/// The verdict that a record belongs nowhere; goes to the failure handler as `unresolved`
/// (BASE-031).
struct Unroutable {
  std::string payload;  ///< may be empty
  std::string reason;
};

/// A closed sum: adding a variant is a compile error in every writer until it is handled
/// (BASE-031). The destination stays valid until the next call of the resolver. Null fails the job
/// (BASE-030).
template <typename Destination>
using Resolution = std::variant<const Destination*, Unroutable>;

/// Says where a record goes; called once per record before the serializer, on the task thread. Must
/// be deterministic under replay (BASE-029). An error fails the job, it is never routed (BASE-030).
template <typename Record, typename Destination>
class DestinationResolver {
 public:
  virtual ~DestinationResolver() = default;
  virtual absl::StatusOr<Resolution<Destination>> resolve(const Record& record,
                                                          const WriteContext& context) = 0;
};

}  // namespace penstock::connector
