#include "penstock/base/log.h"

#include <cstdio>
#include <memory>

#include "penstock/base/mutex.h"

namespace penstock::base {
namespace {

struct Holder {
  Mutex mutex;
  std::shared_ptr<const LogHook> hook PENSTOCK_GUARDED_BY(mutex);
};

Holder& holder() {
  static Holder* instance = new Holder;  // never destroyed: late callbacks may still log
  return *instance;
}

const char* nameOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARN";
    case LogLevel::kError:
      return "ERROR";
  }
  return "?";
}

}  // namespace

void setLogHook(LogHook hook) {
  MutexLock lock(holder().mutex);
  holder().hook = hook ? std::make_shared<const LogHook>(std::move(hook)) : nullptr;
}

void logMessage(LogLevel level, std::string_view message) {
  std::shared_ptr<const LogHook> hook;
  {
    MutexLock lock(holder().mutex);
    hook = holder().hook;
  }
  if (hook) {
    (*hook)(level, message);
  } else if (level >= LogLevel::kWarning) {
    std::fprintf(stderr, "penstock %s %.*s\n", nameOf(level), static_cast<int>(message.size()),
                 message.data());
  }
}

}  // namespace penstock::base
