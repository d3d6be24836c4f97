#include "penstock/runtime/stop_signals.h"

#include <array>
#include <atomic>
#include <csignal>
#include <thread>
#include <utility>

#include "penstock/runtime/wakeup.h"

namespace penstock::runtime {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM};

// What the handler reaches: lock-free atomics and the async-signal-safe Wakeup::notify.
std::atomic<int> signalsCome{0};
std::atomic<const Wakeup*> watcher{nullptr};

void onSignal(int /*signal*/) {
  signalsCome.fetch_add(1);
  if (const Wakeup* wakeup = watcher.load()) wakeup->notify();
}

}  // namespace

class StopSignals::Implementation {
 public:
  Implementation(std::function<void()> onFirst, std::function<void()> onSecond,
                 Afterwards afterwards)
      : onFirst_(std::move(onFirst)), onSecond_(std::move(onSecond)), afterwards_(afterwards) {
    signalsCome.store(0);
    watcher.store(&wakeup_);
    for (size_t at = 0; at < kSignals.size(); ++at) {
      struct sigaction action = {};
      action.sa_handler = onSignal;
      action.sa_flags = SA_RESTART;
      sigemptyset(&action.sa_mask);
      ::sigaction(kSignals[at], &action, &former_[at]);
    }
    thread_ = std::thread([this] { watch(); });
  }

  ~Implementation() {
    for (size_t at = 0; at < kSignals.size(); ++at) {
      if (afterwards_ == Afterwards::kIgnored) {
        std::signal(kSignals[at], SIG_IGN);
      } else {
        ::sigaction(kSignals[at], &former_[at], nullptr);
      }
    }
    ending_.store(true);
    wakeup_.notify();
    thread_.join();
    watcher.store(nullptr);
  }

  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

 private:
  void watch() {
    int handled = 0;
    while (true) {
      const int come = signalsCome.load();
      for (; handled < come; ++handled) handled == 0 ? onFirst_() : onSecond_();
      if (ending_.load()) return;
      [[maybe_unused]] const Wakeup::Reason reason = wakeup_.wait(-1, base::kNever);
    }
  }

  std::function<void()> onFirst_;
  std::function<void()> onSecond_;
  const Afterwards afterwards_;
  Wakeup wakeup_;
  std::array<struct sigaction, kSignals.size()> former_ = {};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

StopSignals::StopSignals(std::function<void()> onFirst, std::function<void()> onSecond,
                         Afterwards afterwards)
    : implementation_(
          std::make_unique<Implementation>(std::move(onFirst), std::move(onSecond), afterwards)) {}
StopSignals::~StopSignals() = default;

bool StopSignals::stopRequested() const { return signalsCome.load() > 0; }

}  // namespace penstock::runtime
