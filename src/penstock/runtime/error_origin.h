#pragma once

namespace penstock::runtime {

/// What a failed job's error is about.
enum class ErrorOrigin {
  kNone,         ///< there is none
  kJob,          ///< its options, a cancel(), or this program
  kCheckpoints,  ///< the directory: opening, reading, writing it, or that it is of another job
  kSource,
  kSink,
  kCommit,
};

}  // namespace penstock::runtime
