#include "penstock/emulator/rest/insert_ids.h"

#include <fmt/format.h>

namespace penstock::emulator {
namespace {

constexpr int64_t kMemoryMillis = 60000;

}  // namespace

std::string InsertIds::keyOf(uint64_t table, std::string_view id) {
  return fmt::format("{}/{}", table, id);
}

bool InsertIds::remember(uint64_t table, std::string_view id, int64_t nowMillis) {
  const base::MutexLock lock(mutex_);
  while (!order_.empty() && (order_.front().second <= nowMillis || order_.size() >= capacity_)) {
    const auto found = expiries_.find(order_.front().first);
    // One that was forgotten may have come again since.
    if (found != expiries_.end() && found->second == order_.front().second) expiries_.erase(found);
    order_.pop_front();
  }
  const int64_t expiry = nowMillis + kMemoryMillis;
  std::string key = keyOf(table, id);
  if (!expiries_.emplace(key, expiry).second) return false;
  order_.emplace_back(std::move(key), expiry);
  return true;
}

void InsertIds::forget(uint64_t table, std::string_view id) {
  const base::MutexLock lock(mutex_);
  expiries_.erase(keyOf(table, id));
}

}  // namespace penstock::emulator
