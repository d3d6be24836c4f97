#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace penstock::simulation {

/// What can go wrong between the sink and the service.
enum class Fault : uint8_t {
  kErrorAnswer,        ///< an append is refused with a passing error
  kCutBefore,          ///< the connection ends before an append is applied
  kCutAfter,           ///< ... after, and the answer is lost
  kFinalEnd,           ///< the connection ends with a code that is not reconnected
  kIdleClose,          ///< the service closes a quiet connection as inactive
  kSilence,            ///< the connection answers nothing any more
  kSlow,               ///< an append takes seconds
  kBrokenStream,       ///< the stream takes no more appends; a default stream: for this one
  kLookUpError,        ///< GetWriteStream fails
  kCreateTableError,   ///< tables.insert fails
  kMaskAfterCreate,    ///< a new table is denied for a while
  kCreateStreamError,  ///< CreateWriteStream fails
  kCreateStreamLost,   ///< ... succeeds, and the answer is lost
  kFlushError,         ///< FlushRows fails
  kFlushLost,          ///< ... succeeds, and the answer is lost
  kFlushMasked,        ///< ... of a table made a moment ago is denied
  kIntruder,           ///< someone else appends to the stream just before
  kTableReadError,     ///< tables.get or tables.patch fails
  kBrokenAtRestart,    ///< a stream takes no more appends after a restart
  kHandlerRefuses,     ///< the failure handler fails the job instead of dropping a record
  kCount,
};

inline constexpr size_t kFaults = static_cast<size_t>(Fault::kCount);

[[nodiscard]] constexpr std::string_view nameOf(Fault fault) {
  constexpr std::array<std::string_view, kFaults> kNames = {"error-answer",
                                                            "cut-before",
                                                            "cut-after",
                                                            "final-end",
                                                            "idle-close",
                                                            "silence",
                                                            "slow",
                                                            "broken-stream",
                                                            "look-up-error",
                                                            "create-table-error",
                                                            "mask-after-create",
                                                            "create-stream-error",
                                                            "create-stream-lost",
                                                            "flush-error",
                                                            "flush-lost",
                                                            "flush-masked",
                                                            "intruder",
                                                            "table-read-error",
                                                            "broken-at-restart",
                                                            "handler-refuses"};
  return kNames[static_cast<size_t>(fault)];
}

/// How often each strikes when it could; 0 = never.
class FaultRates {
 public:
  double& operator[](Fault fault) { return rates_[static_cast<size_t>(fault)]; }
  double operator[](Fault fault) const { return rates_[static_cast<size_t>(fault)]; }

 private:
  std::array<double, kFaults> rates_{};
};

}  // namespace penstock::simulation
