#pragma once

#include <functional>
#include <memory>

namespace penstock::runtime {

/// Turns SIGINT and SIGTERM into calls: the first signal calls `onFirst`, every later one
/// `onSecond`, on a thread of this object's own, until it is destroyed. One at a time in a process.
class StopSignals {
 public:
  enum class Afterwards {
    kFormerHandlers,
    kIgnored,  ///< by a process that is about to end: what it did must not look unfinished
  };
  StopSignals(std::function<void()> onFirst, std::function<void()> onSecond,
              Afterwards afterwards = Afterwards::kFormerHandlers);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Whether a signal has come.
  [[nodiscard]] bool stopRequested() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace penstock::runtime
