#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "penstock/base/mailbox.h"
#include "penstock/base/mutex.h"
#include "penstock/bigquery/sink/append_call.h"
#include "penstock/bigquery/sink/table_admin.h"

namespace penstock::bigquery {

/// A service inside the process that answers on a thread of its own, as gRPC does: what the shells
/// of the cores are driven with where real threads are the point. It keeps every row it takes.
class ThreadedService final : public AppendCallFactory, public TableAdmin {
 public:
  struct Behaviour {
    /// Every nth request the connection ends without an answer; 0 = never. The row is taken every
    /// other time.
    int cutEvery = 0;
    bool silent = false;                ///< takes requests and never answers
    std::optional<TableSchema> schema;  ///< what look-ups say of tables
    std::string updatedSchema;          ///< said with every acknowledgement; empty = nothing
    bool tablesMissing = false;         ///< appends are refused until a table is created
  };

  explicit ThreadedService(Behaviour behaviour);
  /// Waits for its thread, unless it is destroyed there: a call's events keep the pool, and so the
  /// service, and the last of them may end on it.
  ~ThreadedService() override;

  std::unique_ptr<AppendCall> create(const AppendCallOptions& options,
                                     std::shared_ptr<AppendCallEvents> events) override;
  void getWriteStream(const std::string& stream, bool fullView, base::Duration timeout,
                      bool failFast, StreamCallback callback) override;
  void getTable(const TableName& table, base::Duration timeout, TableCallback callback) override;
  void updateSchema(const TableName& table, const std::string& etag, const std::string& schemaJson,
                    DoneCallback callback) override;
  void createTable(const TableName& table, const TableSchema& schema,
                   const TableCreateOptions& options, DoneCallback callback) override;

  /// The bytes before the rows of each request, in order.
  [[nodiscard]] std::vector<std::string> headers() const;
  /// What each table was created with.
  [[nodiscard]] std::vector<TableCreateOptions> createdWith() const;
  /// How often each row arrived.
  [[nodiscard]] std::unordered_map<std::string, int> rows() const;
  [[nodiscard]] int cuts() const;
  /// False when fewer requests arrived within ten seconds.
  [[nodiscard]] bool waitForRequests(int count);

 private:
  class Call;
  using Work = base::Mailbox<std::function<void()>>;  // an empty function ends the thread
  void post(std::function<void()> work) { work_->post(std::move(work)); }
  static void run(Work& work);
  /// What becomes of one request.
  enum class Fate { kAnswer, kSilence, kCutBefore, kCutAfter, kNoTable };
  Fate take(const AppendRequestBytes& request);

  const Behaviour behaviour_;
  mutable base::Mutex mutex_;
  base::CondVar arrived_;
  std::unordered_map<std::string, int> rows_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<std::string> headers_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<TableCreateOptions> createdWith_ PENSTOCK_GUARDED_BY(mutex_);
  int requests_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  int cuts_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<Work> work_ = std::make_shared<Work>();
  std::thread thread_;
};

}  // namespace penstock::bigquery
