#include "penstock/bigquery/sink/append_pool.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace penstock::bigquery {
namespace {

// Needs a colon inside (BQW-051): the service reads it as product:version.
constexpr const char* kTraceId = "penstock:" PENSTOCK_VERSION;
constexpr base::Duration kLocationLifetime = std::chrono::minutes(10);

// "projects/P/" of a stream name, for the routing header.
std::string projectOf(const std::string& stream) {
  const size_t begin = stream.find('/');
  const size_t end = begin == std::string::npos ? begin : stream.find('/', begin + 1);
  return end == std::string::npos ? std::string() : stream.substr(0, end);
}

}  // namespace

struct AppendPool::Deferred {
  enum class Kind { kStart, kWrite, kCancel, kDone, kRoom, kSchema } kind;
  std::shared_ptr<AppendCall> call;
  AppendRequestBytes bytes;
  std::shared_ptr<AppendPoolClient> client;
  AppendToken token{};
  AppendOutcome outcome;
  std::shared_ptr<const StreamTarget> target;  // kSchema: whose table
};

/// Events of one call on their way to the connection that made it.
struct AppendPool::CallEvents final : AppendCallEvents {
  CallEvents(std::weak_ptr<AppendPool> owner, uint64_t connectionId, uint64_t callGeneration)
      : pool(std::move(owner)), connection(connectionId), generation(callGeneration) {}

  void onMessage(AppendResponse response) override {
    if (const auto alive = pool.lock()) {
      alive->onCallEvent(connection, generation,
                         [&](AppendConnection& core, auto now, auto& actions) {
                           core.onMessage(std::move(response), now, actions);
                         });
    }
  }
  void onWriteDone(bool ok) override {
    if (const auto alive = pool.lock()) {
      alive->onCallEvent(connection, generation,
                         [&](AppendConnection& core, auto now, auto& actions) {
                           core.onWriteDone(ok, now, actions);
                         });
    }
  }
  void onDone(absl::Status status, StorageErrorCode storageError) override {
    if (const auto alive = pool.lock()) {
      alive->onCallEvent(connection, generation,
                         [&](AppendConnection& core, auto now, auto& actions) {
                           core.onDone(status, storageError, now, actions);
                         });
    }
  }

  const std::weak_ptr<AppendPool> pool;
  const uint64_t connection;
  const uint64_t generation;
};

std::shared_ptr<AppendPool> AppendPool::create(std::shared_ptr<AppendCallFactory> calls,
                                               base::Clock& clock,
                                               std::unique_ptr<base::Random> random,
                                               std::shared_ptr<ProcessBounds> bounds) {
  return std::shared_ptr<AppendPool>(
      new AppendPool(std::move(calls), clock, std::move(random), std::move(bounds)));
}

AppendPool::AppendPool(std::shared_ptr<AppendCallFactory> calls, base::Clock& clock,
                       std::unique_ptr<base::Random> random, std::shared_ptr<ProcessBounds> bounds)
    : calls_(std::move(calls)),
      clock_(clock),
      bounds_(std::move(bounds)),
      random_(std::move(random)) {}

AppendPool::~AppendPool() {
  base::MutexLock lock(mutex_);
  for (auto& [id, connection] : connections_) {
    if (connection.call) connection.call->cancel();
  }
}

// --- writers and appenders
// ------------------------------------------------------------------------------

uint32_t AppendPool::addWriter(std::shared_ptr<AppendPoolClient> client,
                               const PoolOptions& options) {
  const ProcessLimits inForce = bounds_->enter(options.process);
  base::MutexLock lock(mutex_);
  limits_ = inForce;
  const auto id = static_cast<uint32_t>(nextId_++);
  writers_.emplace(id, Writer{std::move(client), options});
  return id;
}

void AppendPool::removeWriter(uint32_t writer) {
  DeferredList deferred;
  {
    base::MutexLock lock(mutex_);
    if (writers_.erase(writer) == 0) return;
    for (auto& [id, connection] : connections_) connection.core->forgetWriter(writer);
    for (auto appender = appenders_.begin(); appender != appenders_.end();) {
      const auto current = appender++;
      if (current->second.writer != writer) continue;
      leave(current->second, deferred);
      appenders_.erase(current);
    }
    // Also those that only went on for this writer's sake after its appenders had closed.
    for (auto connection = connections_.begin(); connection != connections_.end();) {
      const auto current = connection++;
      closeIfUnused(current, deferred);
    }
    for (auto& [location, region] : regions_) {
      std::erase(region.waitingForRoom, writer);
      tellOfRoom(region, deferred);  // what had not been written has left
    }
    updateTimer();
  }
  bounds_->leave();
  carryOut(deferred);
}

AppenderId AppendPool::openAppender(uint32_t writer, AppenderOptions options) {
  std::vector<OptionConflict> conflicts;
  std::string where = "the connections to ";
  where += options.location.empty() ? "an unknown location" : options.location;
  uint64_t id = 0;
  {
    base::MutexLock lock(mutex_);
    id = nextId_++;
    Appender& appender = appenders_[id];
    appender.writer = writer;
    appender.options = std::move(options);
    appender.region = &regionOf(appender, &conflicts);
    ++appender.region->appenders;
  }
  if (!conflicts.empty()) bounds_->warn(conflicts, where);
  return AppenderId{id};
}

AppendPool::Region& AppendPool::regionOf(const Appender& appender,
                                         std::vector<OptionConflict>* conflicting) {
  const auto [found, isNew] = regions_.try_emplace(appender.options.location);
  Region& region = found->second;
  if (isNew) {
    region.location = appender.options.location;
    region.mayHave = static_cast<size_t>(limits_.minConnections);
  }
  if (appender.options.dedicated) return region;  // shares nothing
  const ConnectionLimits asked = limitsOf(appender.writer);
  if (!region.limits.has_value()) {
    region.limits = asked;
  } else if (!(*region.limits == asked)) {
    *conflicting = conflicts(*region.limits, asked);
  }
  return region;
}

ConnectionLimits AppendPool::limitsOf(uint32_t writer) const {
  const auto found = writers_.find(writer);
  return found == writers_.end() ? ConnectionLimits{} : found->second.options.connection;
}

void AppendPool::closeAppender(AppenderId appender) {
  DeferredList deferred;
  {
    base::MutexLock lock(mutex_);
    const auto found = appenders_.find(static_cast<uint64_t>(appender));
    if (found == appenders_.end()) return;
    leave(found->second, deferred);
    appenders_.erase(found);
    updateTimer();
  }
  carryOut(deferred);
}

void AppendPool::leave(Appender& appender, DeferredList& deferred) {
  for (const uint64_t id : appender.connections) {
    const auto connection = connections_.find(id);
    if (connection == connections_.end()) continue;  // it has ended in the meantime
    --connection->second.appenders;
    closeIfUnused(connection, deferred);
  }
  --appender.region->appenders;
  dropRegionIfUnused(std::exchange(appender.region, nullptr));
}

void AppendPool::dropRegionIfUnused(Region* region) {
  if (region->appenders > 0) return;
  for (const auto& [id, connection] : connections_) {
    if (connection.region == region) return;
  }
  const std::string location = region->location;
  regions_.erase(location);
}

// --- connections
// ----------------------------------------------------------------------------------------

AppendPool::Connection* AppendPool::find(uint64_t connection) {
  const auto found = connections_.find(connection);
  return found == connections_.end() ? nullptr : &found->second;
}

void AppendPool::drop(Connections::iterator found) {
  Connection& connection = found->second;
  Region* const region = connection.region;
  if (connection.call) endedCalls_.push_back(std::move(connection.call));
  std::erase(region->pooled, &connection);
  connections_.erase(found);
  dropRegionIfUnused(region);
}

void AppendPool::closeIfUnused(Connections::iterator found, DeferredList& deferred) {
  Connection& connection = found->second;
  if (connection.core->state() == AppendConnection::State::kFinal) {
    // Everything it had has its outcome: its appenders go to others from here.
    connection.region->lastEnd = clock_.now();
    tellOfRoom(*connection.region, deferred);
    drop(found);
    return;
  }
  // Closed when no open appender has used it (BQW-059), and never under a request that is still
  // awaited.
  if (connection.appenders > 0 || connection.core->awaitedRequests() > 0) return;
  connection.core->shutDown(actions_);
  collect(connection, deferred);
  drop(found);
}

AppendPool::Connection& AppendPool::connectionFor(Appender& appender, size_t bytes,
                                                  base::MonotonicTime now) {
  Connection* const current = find(appender.connection);
  if (current != nullptr && (current->dedicated || !current->core->isOverwhelmed(now))) {
    return *current;
  }
  Connection& chosen =
      appender.options.dedicated ? openConnection(appender) : choose(appender, current, bytes, now);
  appender.connection = chosen.id;
  if (std::find(appender.connections.begin(), appender.connections.end(), chosen.id) ==
      appender.connections.end()) {
    std::erase_if(appender.connections, [&](uint64_t id) { return find(id) == nullptr; });
    appender.connections.push_back(chosen.id);
    ++chosen.appenders;
  }
  return chosen;
}

AppendPool::Connection& AppendPool::choose(const Appender& appender, Connection* current,
                                           size_t bytes, base::MonotonicTime now) {
  Region& region = *appender.region;
  if (region.pooled.size() < region.mayHave) return openConnection(appender);
  // Coarse on purpose, as Google's clients compare: small differences move nobody.
  const auto load = [](const Connection* connection) {
    return std::tuple(connection->core->inflightBytes() / 1024,
                      connection->core->inflightRequests() / 100, connection->appenders);
  };
  Connection* const least = *std::min_element(
      region.pooled.begin(), region.pooled.end(),
      [&](const Connection* a, const Connection* b) { return load(a) < load(b); });
  if (!least->core->isOverwhelmed(now)) return *least;
  if (region.mayHave < static_cast<size_t>(limits_.maxConnections)) {
    ++region.mayHave;
    return openConnection(appender);
  }
  // All have more than enough to do: wherever there is room, at home if possible.
  const auto hasRoom = [&](const Connection* connection) {
    return connection->core->hasRoomFor(bytes, region.mayWait());
  };
  if (current != nullptr && hasRoom(current)) return *current;
  const auto roomy = std::find_if(region.pooled.begin(), region.pooled.end(), hasRoom);
  return roomy == region.pooled.end() ? *least : **roomy;
}

AppendPool::Connection& AppendPool::openConnection(const Appender& appender) {
  const uint64_t id = nextId_++;
  Connection& connection = connections_[id];
  connection.id = id;
  connection.region = appender.region;
  connection.dedicated = appender.options.dedicated;
  const std::string& location = appender.options.location;
  const std::string& stream = appender.options.target->stream;
  connection.requestParams = location.empty()
                                 ? "write_stream=" + stream
                                 : "write_location=" + projectOf(stream) + "/locations/" + location;
  const ConnectionLimits limits =
      connection.dedicated ? limitsOf(appender.writer) : *appender.region->limits;
  connection.core =
      std::make_unique<AppendConnection>(limits, !connection.dedicated, kTraceId, *random_);
  if (!connection.dedicated) appender.region->pooled.push_back(&connection);
  return connection;
}

bool AppendPool::append(AppenderId appender, AppendToken token,
                        std::shared_ptr<const connector::RowBatch> rows,
                        std::optional<int64_t> offset) {
  DeferredList deferred;
  {
    base::MutexLock lock(mutex_);
    const auto found = appenders_.find(static_cast<uint64_t>(appender));
    if (found == appenders_.end()) return false;
    const base::MonotonicTime now = clock_.now();
    const size_t bytes = rows->framedBytes();
    Region& region = *found->second.region;
    Connection& connection = connectionFor(found->second, bytes, now);
    const uint32_t writer = found->second.writer;
    if (!connection.core->hasRoomFor(bytes, region.mayWait())) {
      std::vector<uint32_t>& waiting = region.waitingForRoom;
      if (std::find(waiting.begin(), waiting.end(), writer) == waiting.end()) {
        waiting.push_back(writer);
      }
      return false;
    }
    connection.core->append({writer, token, found->second.options.target, std::move(rows), offset},
                            now, actions_);
    collect(connection, deferred);
    updateTimer();
  }
  carryOut(deferred);
  return true;
}

void AppendPool::collect(Connection& connection, DeferredList& deferred) {
  using Kind = AppendConnection::Action::Kind;
  bool freed = false;
  for (AppendConnection::Action& action : actions_) {
    Deferred next{};
    switch (action.kind) {
      case Kind::kStartCall: {
        if (connection.call) endedCalls_.push_back(std::move(connection.call));
        auto events = std::make_shared<CallEvents>(weak_from_this(), connection.id,
                                                   ++connection.callGeneration);
        connection.call = calls_->create({connection.requestParams}, std::move(events));
        next.kind = Deferred::Kind::kStart;
        next.call = connection.call;
        break;
      }
      case Kind::kWrite:
        next.kind = Deferred::Kind::kWrite;
        next.call = connection.call;
        next.bytes = std::move(action.bytes);
        freed = true;  // one fewer waits to be written
        break;
      case Kind::kCancelCall:
        next.kind = Deferred::Kind::kCancel;
        next.call = connection.call;
        break;
      case Kind::kComplete: {
        freed = true;
        if (action.outcome.response.updatedSchema.has_value()) tellOfSchema(action, deferred);
        const auto writer = writers_.find(action.request.writer);
        if (writer == writers_.end()) continue;
        next.kind = Deferred::Kind::kDone;
        next.client = writer->second.client;
        next.token = action.request.token;
        next.outcome = std::move(action.outcome);
        break;
      }
    }
    deferred.push_back(std::move(next));
  }
  actions_.clear();
  if (freed && connection.core->hasAmpleRoom(connection.region->mayWait())) {
    tellOfRoom(*connection.region, deferred);
  }
}

void AppendPool::tellOfSchema(const AppendConnection::Action& completed, DeferredList& deferred) {
  for (const auto& [id, writer] : writers_) {
    if (id == completed.request.writer) continue;
    Deferred news{};
    news.kind = Deferred::Kind::kSchema;
    news.client = writer.client;
    news.target = completed.request.target;
    news.outcome.response.updatedSchema = completed.outcome.response.updatedSchema;
    deferred.push_back(std::move(news));
  }
}

void AppendPool::tellOfRoom(Region& region, DeferredList& deferred) {
  for (const uint32_t id : region.waitingForRoom) {
    const auto writer = writers_.find(id);
    if (writer == writers_.end()) continue;
    Deferred room{};
    room.kind = Deferred::Kind::kRoom;
    room.client = writer->second.client;
    deferred.push_back(std::move(room));
  }
  region.waitingForRoom.clear();
}

void AppendPool::carryOut(DeferredList& deferred) {
  for (Deferred& next : deferred) {
    switch (next.kind) {
      case Deferred::Kind::kStart:
        next.call->start();
        break;
      case Deferred::Kind::kWrite:
        next.call->write(std::move(next.bytes));
        break;
      case Deferred::Kind::kCancel:
        next.call->cancel();
        break;
      case Deferred::Kind::kDone:
        next.client->onAppendDone(next.token, std::move(next.outcome));
        break;
      case Deferred::Kind::kRoom:
        next.client->onRoom();
        break;
      case Deferred::Kind::kSchema:
        next.client->onSchemaNews(next.target->stream, *next.outcome.response.updatedSchema);
        break;
    }
  }
  deferred.clear();
}

void AppendPool::wakeWriters(DeferredList& deferred) {
  for (const auto& [id, writer] : writers_) {
    Deferred wake{};
    wake.kind = Deferred::Kind::kRoom;
    wake.client = writer.client;
    deferred.push_back(std::move(wake));
  }
}

void AppendPool::askForRelief() {
  DeferredList deferred;
  {
    base::MutexLock lock(mutex_);
    wakeWriters(deferred);
  }
  carryOut(deferred);
}

template <typename Event>
void AppendPool::onCallEvent(uint64_t connectionId, uint64_t generation, Event event) {
  DeferredList deferred;
  {
    base::MutexLock lock(mutex_);
    const auto found = connections_.find(connectionId);
    if (found == connections_.end() || found->second.callGeneration != generation) return;
    const base::MonotonicTime now = clock_.now();
    const base::MonotonicTime before = nextTimer_;
    event(*found->second.core, now, actions_);
    collect(found->second, deferred);
    closeIfUnused(found, deferred);
    updateTimer();
    // Whoever waits does so until the timers that it has seen, watchdogs of five minutes as a rule:
    // a reconnect or a resend that is due before must wake someone, or nobody carries it out.
    if (nextTimer_ < std::min(before, base::deadlineAfter(now, kWatchdog))) wakeWriters(deferred);
  }
  carryOut(deferred);
}

base::MonotonicTime AppendPool::lastProgress(AppenderId appender) const {
  base::MutexLock lock(mutex_);
  const auto found = appenders_.find(static_cast<uint64_t>(appender));
  if (found == appenders_.end()) return {};
  const Region& region = *found->second.region;
  base::MonotonicTime last = region.lastEnd;
  const auto current = connections_.find(found->second.connection);
  if (current != connections_.end()) last = std::max(last, current->second.core->lastProgress());
  if (found->second.options.dedicated) return last;
  for (const Connection* connection : region.pooled) {
    last = std::max(last, connection->core->lastProgress());
  }
  return last;
}

void AppendPool::advance() {
  DeferredList deferred;
  std::vector<std::shared_ptr<AppendCall>> ended;
  {
    base::MutexLock lock(mutex_);
    ended.swap(endedCalls_);  // destroyed here, on a task thread, outside the lock
    const base::MonotonicTime now = clock_.now();
    if (now >= nextTimer_) {
      for (auto connection = connections_.begin(); connection != connections_.end();) {
        const auto current = connection++;
        current->second.core->advance(now, actions_);
        collect(current->second, deferred);
        if (current->second.core->state() == AppendConnection::State::kFinal) {
          closeIfUnused(current, deferred);
        }
      }
      updateTimer();
    }
  }
  carryOut(deferred);
}

void AppendPool::updateTimer() {
  nextTimer_ = base::kNever;
  for (const auto& [id, connection] : connections_) {
    nextTimer_ = std::min(nextTimer_, connection.core->nextTimer());
  }
}

base::MonotonicTime AppendPool::nextTimer() const {
  base::MutexLock lock(mutex_);
  return nextTimer_;
}

std::optional<std::string> AppendPool::cachedLocation(const std::string& dataset) const {
  base::MutexLock lock(mutex_);
  const auto found = locations_.find(dataset);
  if (found == locations_.end() || clock_.now() >= found->second.until) return std::nullopt;
  return found->second.name;
}

void AppendPool::rememberLocation(const std::string& dataset, const std::string& location) {
  base::MutexLock lock(mutex_);
  locations_[dataset] = {location, base::deadlineAfter(clock_.now(), kLocationLifetime)};
}

PoolStatistics AppendPool::statistics() const {
  const base::MonotonicTime now = clock_.now();
  PoolStatistics statistics;
  base::MutexLock lock(mutex_);
  for (const auto& [id, connection] : connections_) {
    ConnectionStatistics& each = statistics.connections.emplace_back();
    each = connection.core->statistics(now);
    each.id = id;
    each.location = connection.region->location;
    each.dedicated = connection.dedicated;
    each.appenders = connection.appenders;
  }
  return statistics;
}

size_t AppendPool::connectionCount() const {
  base::MutexLock lock(mutex_);
  return connections_.size();
}

size_t AppendPool::inflightRequests() const {
  base::MutexLock lock(mutex_);
  size_t requests = 0;
  for (const auto& [id, connection] : connections_) requests += connection.core->inflightRequests();
  return requests;
}

}  // namespace penstock::bigquery
