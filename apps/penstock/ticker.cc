#include "apps/penstock/ticker.h"

#include <utility>
#include <vector>

namespace penstock::command {

Ticker::Ticker(base::Duration interval, std::function<void()> tick)
    : tick_(std::move(tick)), thread_([this, interval] { run(interval); }) {}

Ticker::~Ticker() {
  stop_.post(1);
  thread_.join();
}

void Ticker::run(base::Duration interval) {
  std::vector<int> stops;
  while (true) {
    stop_.waitUntil(base::deadlineAfter(base::systemClock().now(), interval));
    const bool stopped = stop_.drain(stops);
    tick_();
    if (stopped) return;
  }
}

}  // namespace penstock::command
