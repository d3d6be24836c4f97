#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "penstock/base/mutex.h"
#include "penstock/bigquery/sink/sink_connections.h"
#include "penstock/bigquery/transport/service.h"

namespace penstock::bigquery {
namespace {

/// A file by its name and what is in it: a key that has been replaced is another identity.
std::string fileIdentity(const std::string& path) {
  if (path.empty()) return {};
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return fmt::format("{} {:x}", path, std::hash<std::string>()(text));
}

/// What tells endpoint and credentials of one sink from another's (BQW-058).
std::string identityOf(const SinkOptions& options) {
  const auto address = [](const std::optional<base::Endpoint>& endpoint) {
    return endpoint ? endpoint->text() : std::string();
  };
  const gcp::Environment environment = gcp::Environment::read();
  const std::string parts[] = {
      address(options.emulatorEndpoint),
      address(options.emulatorRestEndpoint),
      address(options.serviceEndpoint),
      address(options.serviceRestEndpoint),
      fileIdentity(options.caFile.value_or("")),
      fileIdentity(options.serviceAccountKeyFile.value_or("")),
      // Where application-default credentials come from.
      fileIdentity(environment.applicationCredentials),
      environment.cloudSdkConfig,
      environment.home,
      environment.metadataHost,
      environment.quotaProject,
  };
  return fmt::format("{}", fmt::join(parts, "\n"));
}

/// The connections in use in this process, each shared by all sinks of its endpoint and
/// credentials. Holds none itself: they end with the last sink that uses them.
class ConnectionsInUse {
 public:
  static ConnectionsInUse& process() {
    static auto* connections = new ConnectionsInUse;
    return *connections;
  }

  absl::StatusOr<SinkConnections> connect(const SinkOptions& options) {
    const std::string identity = identityOf(options);
    base::MutexLock lock(mutex_);
    std::erase_if(entries_, [](const auto& entry) { return entry.second.pool.expired(); });
    if (const auto found = entries_.find(identity); found != entries_.end()) {
      SinkConnections shared = made(options);
      shared.pool = found->second.pool.lock();
      shared.admin = found->second.admin.lock();
      shared.streams = found->second.streams.lock();
      if (shared.pool && shared.admin && shared.streams) return shared;
    }
    PENSTOCK_ASSIGN_OR_RETURN(const std::shared_ptr<Service> service,
                              Service::connect(ServiceOptions::of(options)));
    SinkConnections connections = made(options);
    connections.pool = AppendPool::create(service->appendCalls(), base::systemClock(),
                                          base::systemRandom(), ProcessBounds::ofProcess());
    connections.admin = service->tableAdmin();
    connections.streams = service->streamAdmin();
    entries_[identity] = {connections.pool, connections.admin, connections.streams};
    return connections;
  }

 private:
  struct Entry {
    std::weak_ptr<AppendPool> pool;
    std::weak_ptr<TableAdmin> admin;
    std::weak_ptr<StreamAdmin> streams;
  };

  static SinkConnections made(const SinkOptions& options) {
    SinkConnections connections;
    connections.clock = &base::systemClock();
    connections.emulator = options.emulatorEndpoint.has_value();
    return connections;
  }

  base::Mutex mutex_;
  std::map<std::string, Entry> entries_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<SinkConnections> connectSink(const SinkOptions& options) {
  return ConnectionsInUse::process().connect(options);
}

}  // namespace penstock::bigquery
