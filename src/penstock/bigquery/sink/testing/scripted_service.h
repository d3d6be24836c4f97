#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/bigquery/schema/schema_json.h"
#include "penstock/bigquery/sink/append_call.h"
#include "penstock/bigquery/sink/table_admin.h"
#include "penstock/bigquery/sink/testing/rows_and_columns.h"

namespace penstock::bigquery {

/// AppendRows calls whose every event a test brings itself.
class ScriptedCalls final : public AppendCallFactory {
 public:
  struct Write {
    std::string header;
    std::vector<std::string> rows;
  };
  struct Call {
    AppendCallOptions options;
    std::shared_ptr<AppendCallEvents> events;
    bool started = false;
    bool cancelled = false;
    bool destroyed = false;
    std::vector<Write> writes;

    /// The service takes the last write and acknowledges it.
    void acknowledge() { answer({}); }
    void answer(AppendResponse response) { events->onMessage(std::move(response)); }
    void refuse(absl::StatusCode code, StorageErrorCode storage = StorageErrorCode::kNone) {
      AppendResponse response;
      response.status = absl::Status(code, "scripted");
      response.storageError = storage;
      answer(std::move(response));
    }
    void end(absl::StatusCode code) {
      events->onDone(absl::Status(code, "scripted end"), StorageErrorCode::kNone);
    }
  };

  std::unique_ptr<AppendCall> create(const AppendCallOptions& options,
                                     std::shared_ptr<AppendCallEvents> events) override;

  [[nodiscard]] Call& last() { return *calls.back(); }
  std::vector<std::shared_ptr<Call>> calls;
};

/// A TableAdmin whose answers a test gives, one after another.
class ScriptedAdmin final : public TableAdmin {
 public:
  void getWriteStream(const std::string& stream, bool fullView, base::Duration, bool,
                      StreamCallback callback) override {
    lookUps.push_back({stream, fullView});
    streams.push_back(std::move(callback));
  }
  void getTable(const TableName& table, base::Duration, TableCallback callback) override {
    read.push_back(table);
    reads.push_back(std::move(callback));
  }
  void updateSchema(const TableName& table, const std::string& etag, const std::string& schemaJson,
                    DoneCallback callback) override {
    updated.push_back({table, etag, schemaJson});
    updates.push_back(std::move(callback));
  }
  void createTable(const TableName& table, const TableSchema& schema,
                   const TableCreateOptions& options, DoneCallback callback) override {
    created.emplace_back(table, schema);
    createdWith.push_back(options);
    creations.push_back(std::move(callback));
  }

  void answerStream(absl::StatusOr<WriteStreamInfo> info) {
    auto callback = std::move(streams.front());
    streams.pop_front();
    callback(std::move(info));
  }
  void answerLocation(const std::string& location) {
    WriteStreamInfo info;
    info.location = location;
    answerStream(std::move(info));
  }
  void answerCreation(AdminError error) { answerNext(creations, std::move(error)); }
  /// The table has these columns, and `etag`.
  void answerTable(const TableSchema& schema, const std::string& etag) {
    TableInfo info;
    info.schema = schema;
    info.schemaJson = schemaToJson(schema);
    info.type = "TABLE";
    info.etag = etag;
    answerNext(reads, AdminError{}, std::move(info));
  }
  void refuseTable(AdminError error) { answerNext(reads, std::move(error), TableInfo{}); }
  void answerUpdate(AdminError error) { answerNext(updates, std::move(error)); }

  struct LookUp {
    std::string stream;
    bool fullView;
  };
  struct Update {
    TableName table;
    std::string etag;
    std::string schemaJson;
  };
  std::vector<LookUp> lookUps;
  std::deque<StreamCallback> streams;
  std::vector<std::pair<TableName, TableSchema>> created;
  std::vector<TableCreateOptions> createdWith;
  std::deque<DoneCallback> creations;
  std::vector<TableName> read;
  std::deque<TableCallback> reads;
  std::vector<Update> updated;
  std::deque<DoneCallback> updates;

 private:
  template <typename Callback, typename... Answer>
  static void answerNext(std::deque<Callback>& waiting, Answer... answer) {
    auto callback = std::move(waiting.front());
    waiting.pop_front();
    callback(std::move(answer)...);
  }
};

}  // namespace penstock::bigquery
