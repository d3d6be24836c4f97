#pragma once

#include <functional>
#include <thread>

#include "penstock/base/clock.h"
#include "penstock/base/mailbox.h"

namespace penstock::command {

/// Calls something again and again on a thread of its own while it lives, and once more at its end.
class Ticker {
 public:
  Ticker(base::Duration interval, std::function<void()> tick);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  void run(base::Duration interval);

  const std::function<void()> tick_;
  base::Mailbox<int> stop_;
  std::thread thread_;
};

}  // namespace penstock::command
