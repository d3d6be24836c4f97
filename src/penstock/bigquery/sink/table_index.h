#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "penstock/bigquery/table_name.h"
#include "penstock/connector/writer_core.h"

namespace penstock::bigquery {

/// Which destination a table has. Asked once a row, with thousands of tables too: a look-up waits
/// for memory once for the hash and once for the name, where a map of nodes waits for each link.
/// One thread at a time.
class TableIndex {
 public:
  /// `expect(id)` is called with what will be the answer, as good as always, before the name has
  /// been compared: what the destination needs can be fetched in the meantime.
  template <typename Expect>
  [[nodiscard]] std::optional<connector::DestinationId> find(const TableName& table,
                                                             Expect&& expect) const {
    if (slots_.empty()) return std::nullopt;
    const uint64_t hash = std::hash<TableName>()(table);
    for (size_t at = placeOf(hash);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.entry == kFree) return std::nullopt;
      if (slot.tag != tagOf(hash)) continue;
      const TableName& name = names_[slot.entry];
      __builtin_prefetch(&name);  // first: it is what is waited for next
      __builtin_prefetch(&name + 1);
      expect(slot.id);
      if (name == table) return slot.id;
    }
  }
  /// A table that find() does not know.
  void add(const TableName& table, connector::DestinationId id) {
    if (2 * (names_.size() + 1) > slots_.size()) grow();
    names_.push_back(table);
    insert({tagOf(std::hash<TableName>()(table)), static_cast<uint32_t>(names_.size() - 1), id});
  }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  struct Slot {
    uint32_t tag = 0;
    uint32_t entry = kFree;  // in names_
    connector::DestinationId id{};
  };

  static uint32_t tagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  [[nodiscard]] size_t placeOf(uint64_t hash) const { return hash & (slots_.size() - 1); }

  void insert(const Slot& slot) {
    size_t at = placeOf(std::hash<TableName>()(names_[slot.entry]));
    while (slots_[at].entry != kFree) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.entry != kFree) insert(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  std::vector<TableName> names_;
};

}  // namespace penstock::bigquery
