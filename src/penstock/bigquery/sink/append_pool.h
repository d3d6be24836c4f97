#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"
#include "penstock/base/random.h"
#include "penstock/bigquery/sink/append_connection.h"
#include "penstock/bigquery/sink/pool_options.h"
#include "penstock/bigquery/sink/process_bounds.h"

namespace penstock::bigquery {

enum class AppenderId : uint64_t { kNone = 0 };

/// A writer as the pool sees it: a place to leave events. Called from any thread, with no lock
/// held; must not call back into the pool.
class AppendPoolClient {
 public:
  virtual ~AppendPoolClient() = default;
  virtual void onAppendDone(AppendToken token, AppendOutcome outcome) = 0;
  /// An append that found no room may find some now, or a timer is due earlier than before: poll.
  virtual void onRoom() = 0;
  /// The service has told another writer that the table of `stream` has other columns now; it may
  /// say so only once a connection (BQW-164). `schema` as in AppendResponse::updatedSchema.
  virtual void onSchemaNews(const std::string& /*stream*/, const std::string& /*schema*/) {}
};

/// The AppendRows connections that the writers of a process share, of one endpoint and one
/// identity; a location's are used by all tables there, and load adds more of them (BQW-058,
/// BQW-059). Connections are state machines without threads (AppendConnection); this shell holds
/// the one lock around them, carries out their actions after it has let go, and gives each writer's
/// events to that writer. It has no thread and no timer of its own: every writer's poll drives it.
/// Thread-safe.
class AppendPool : public std::enable_shared_from_this<AppendPool> {
 public:
  /// `bounds`: what it shares with the other pools of the process.
  static std::shared_ptr<AppendPool> create(
      std::shared_ptr<AppendCallFactory> calls, base::Clock& clock,
      std::unique_ptr<base::Random> random,
      std::shared_ptr<ProcessBounds> bounds = std::make_shared<ProcessBounds>());
  ~AppendPool();

  /// A writer, where its events go and what its sink asks for. Of writers that share something the
  /// first one's options count; the others are warned about. Events may still arrive there shortly
  /// after removeWriter.
  uint32_t addWriter(std::shared_ptr<AppendPoolClient> client, const PoolOptions& options = {});
  /// Also closes its appenders; what they had outstanding gets no outcome.
  void removeWriter(uint32_t writer);

  struct AppenderOptions {
    std::shared_ptr<const StreamTarget> target;
    std::string location;  ///< of the table; empty = unknown
    /// On a connection of its own, within its writer's own limits: streams with offsets, and other
    /// people's emulators (BQW-193).
    bool dedicated = false;
  };
  /// Sends nothing (BQW-051).
  AppenderId openAppender(uint32_t writer, AppenderOptions options);
  /// What the appender has outstanding goes on and is answered.
  void closeAppender(AppenderId appender);

  /// False: no room within the connection's in-flight limits (BQW-053); onRoom follows when there
  /// is some. `offset`: of the first row in its stream; only on dedicated connections.
  [[nodiscard]] bool append(AppenderId appender, AppendToken token,
                            std::shared_ptr<const connector::RowBatch> rows,
                            std::optional<int64_t> offset = std::nullopt);

  /// Last answer, reconnection or end on any connection that the appender may use: a waiting append
  /// counts from it (BQW-053).
  [[nodiscard]] base::MonotonicTime lastProgress(AppenderId appender) const;

  /// Runs what is due; cheap when nothing is.
  void advance();
  [[nodiscard]] base::MonotonicTime nextTimer() const;

  /// Location of a dataset, remembered for 10 minutes (BQW-040).
  [[nodiscard]] std::optional<std::string> cachedLocation(const std::string& dataset) const;
  void rememberLocation(const std::string& dataset, const std::string& location);

  [[nodiscard]] PoolStatistics statistics() const;
  /// What it shares with the other pools of the process.
  [[nodiscard]] const std::shared_ptr<ProcessBounds>& bounds() const { return bounds_; }
  /// Has every writer look at what it holds: one of them can go no further (BQW-033).
  void askForRelief();

  [[nodiscard]] size_t connectionCount() const;
  /// Requests queued or sent and not answered, over all connections; 0 when nothing is outstanding.
  [[nodiscard]] size_t inflightRequests() const;

 private:
  struct CallEvents;
  struct Region;
  struct Connection {
    uint64_t id = 0;
    Region* region = nullptr;
    bool dedicated = false;
    std::string requestParams;
    std::unique_ptr<AppendConnection> core;
    std::shared_ptr<AppendCall> call;
    uint64_t callGeneration = 0;
    size_t appenders = 0;  // open ones that have used it
  };
  /// The connections to one location.
  struct Region {
    std::string location;
    std::optional<ConnectionLimits> limits;  // its first pooled appender's (BQW-058)
    size_t mayHave = 0;                      // pooled connections, for now
    size_t appenders = 0;                    // open ones
    std::vector<Connection*> pooled;
    std::vector<uint32_t> waitingForRoom;  // writers
    base::MonotonicTime lastEnd{};         // of a connection for good
    /// How much may wait to be written on each connection.
    [[nodiscard]] size_t mayWait() const {
      return kMaxWaitingBytes / (pooled.empty() ? 1 : pooled.size());
    }
  };
  struct Appender {
    uint32_t writer = 0;
    AppenderOptions options;
    Region* region = nullptr;
    uint64_t connection = 0;            // the one used last; 0 = none yet
    std::vector<uint64_t> connections;  // all that it has used
  };
  struct Writer {
    std::shared_ptr<AppendPoolClient> client;
    PoolOptions options;
  };
  struct Deferred;                                        // what to do once the lock is released
  using DeferredList = absl::InlinedVector<Deferred, 4>;  // the usual few cost no allocation

  AppendPool(std::shared_ptr<AppendCallFactory> calls, base::Clock& clock,
             std::unique_ptr<base::Random> random, std::shared_ptr<ProcessBounds> bounds);

  using Connections = std::map<uint64_t, Connection>;
  Region& regionOf(const Appender& appender, std::vector<OptionConflict>* conflicts)
      PENSTOCK_REQUIRES(mutex_);
  [[nodiscard]] ConnectionLimits limitsOf(uint32_t writer) const PENSTOCK_REQUIRES(mutex_);
  /// The connection that the next `bytes` go to (BQW-059).
  Connection& connectionFor(Appender& appender, size_t bytes, base::MonotonicTime now)
      PENSTOCK_REQUIRES(mutex_);
  Connection& choose(const Appender& appender, Connection* current, size_t bytes,
                     base::MonotonicTime now) PENSTOCK_REQUIRES(mutex_);
  Connection& openConnection(const Appender& appender) PENSTOCK_REQUIRES(mutex_);
  Connection* find(uint64_t connection) PENSTOCK_REQUIRES(mutex_);
  /// Of a connection that has ended for good or that nobody has a use for.
  void drop(Connections::iterator found) PENSTOCK_REQUIRES(mutex_);
  void closeIfUnused(Connections::iterator found, DeferredList& deferred) PENSTOCK_REQUIRES(mutex_);
  void leave(Appender& appender, DeferredList& deferred) PENSTOCK_REQUIRES(mutex_);
  void dropRegionIfUnused(Region* region) PENSTOCK_REQUIRES(mutex_);
  /// Turns the core's actions into deferred ones, in order.
  void collect(Connection& connection, DeferredList& deferred) PENSTOCK_REQUIRES(mutex_);
  /// Passes news of a table's columns on to the other writers.
  void tellOfSchema(const AppendConnection::Action& completed, DeferredList& deferred)
      PENSTOCK_REQUIRES(mutex_);
  /// Wakes those who found no room.
  void tellOfRoom(Region& region, DeferredList& deferred) PENSTOCK_REQUIRES(mutex_);
  void updateTimer() PENSTOCK_REQUIRES(mutex_);
  void wakeWriters(DeferredList& deferred) PENSTOCK_REQUIRES(mutex_);
  static void carryOut(DeferredList& deferred);

  template <typename Event>
  void onCallEvent(uint64_t connection, uint64_t generation, Event event);

  const std::shared_ptr<AppendCallFactory> calls_;
  base::Clock& clock_;
  const std::shared_ptr<ProcessBounds> bounds_;

  mutable base::Mutex mutex_;
  std::unique_ptr<base::Random> random_ PENSTOCK_GUARDED_BY(mutex_);
  ProcessLimits limits_ PENSTOCK_GUARDED_BY(mutex_);  // as of the last writer to come
  std::map<std::string, Region> regions_ PENSTOCK_GUARDED_BY(mutex_);
  Connections connections_ PENSTOCK_GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, Appender> appenders_ PENSTOCK_GUARDED_BY(mutex_);
  std::map<uint32_t, Writer> writers_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<AppendCall>> endedCalls_ PENSTOCK_GUARDED_BY(mutex_);
  AppendConnection::Actions actions_ PENSTOCK_GUARDED_BY(mutex_);  // reused
  struct Location {
    std::string name;
    base::MonotonicTime until;
  };
  std::unordered_map<std::string, Location> locations_ PENSTOCK_GUARDED_BY(mutex_);
  base::MonotonicTime nextTimer_ PENSTOCK_GUARDED_BY(mutex_) = base::kNever;
  uint64_t nextId_ PENSTOCK_GUARDED_BY(mutex_) = 1;
};

}  // namespace penstock::bigquery
