#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "penstock/bigquery/sink/stream_admin.h"

namespace penstock::bigquery {

/// A StreamAdmin whose answers a test gives, in any order.
class ScriptedStreams final : public StreamAdmin {
 public:
  struct Flush {
    std::string stream;
    int64_t offset = 0;
    FlushCallback callback;  // null once answered
  };

  void createStream(const TableName& table, base::Duration, CreateCallback callback) override {
    created.push_back(table);
    creations.push_back(std::move(callback));
  }
  void flushRows(const std::string& stream, int64_t offset, base::Duration,
                 FlushCallback callback) override {
    flushes.push_back({stream, offset, std::move(callback)});
  }

  /// The oldest open creation ends; without a name it gets one of its table, numbered from 1.
  void answerCreation(std::string name = {}) {
    ++named;
    const TableName& table = created[created.size() - creations.size()];
    if (name.empty()) name = table.resource() + "/streams/s" + std::to_string(named);
    take()({}, {std::move(name), "us"});
  }
  void refuseCreation(absl::StatusCode code) {
    take()({absl::Status(code, "scripted"), StorageErrorCode::kNone}, {});
  }

  void answerFlush(size_t index) { answerFlush(index, flushes[index].offset); }
  void answerFlush(size_t index, int64_t offset) {
    std::exchange(flushes[index].callback, nullptr)({}, offset);
  }
  void refuseFlush(size_t index, absl::StatusCode code,
                   StorageErrorCode storage = StorageErrorCode::kNone) {
    std::exchange(flushes[index].callback, nullptr)({absl::Status(code, "scripted"), storage}, 0);
  }
  [[nodiscard]] size_t openFlushes() const {
    size_t open = 0;
    for (const Flush& flush : flushes) open += flush.callback ? 1 : 0;
    return open;
  }

  std::vector<TableName> created;
  std::deque<CreateCallback> creations;  // open
  std::vector<Flush> flushes;            // all so far
  int named = 0;

 private:
  CreateCallback take() {
    CreateCallback callback = std::move(creations.front());
    creations.pop_front();
    return callback;
  }
};

}  // namespace penstock::bigquery
