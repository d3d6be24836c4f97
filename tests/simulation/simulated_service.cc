#include "simulated_service.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "simulated_call.h"

namespace penstock::simulation {

using bigquery::StorageErrorCode;
using std::chrono::milliseconds;

namespace {

constexpr std::string_view kStreams = "/streams/";

absl::Status masked() { return absl::PermissionDeniedError("... or it may not exist"); }

/// What the bigquery.TableAdmin of a process asks.
class TableRequests final : public bigquery::TableAdmin {
 public:
  explicit TableRequests(SimulatedService& service) : service_(service), world_(service.world()) {}

  void getWriteStream(const std::string& stream, bool, base::Duration, bool,
                      StreamCallback callback) override {
    world_.after(world_.between(milliseconds(1), milliseconds(30)),
                 [&service = service_, stream, callback = std::move(callback)] {
                   if (service.strikes(Fault::kLookUpError)) {
                     callback(service.passingError());
                     return;
                   }
                   const SimulatedTable* table =
                       service.tables().find(stream.substr(0, stream.rfind(kStreams)));
                   if (table == nullptr || service.world().clock().now() < table->visibleAt) {
                     callback(masked());
                     return;
                   }
                   bigquery::WriteStreamInfo info;
                   info.name = stream;
                   info.location = "us";
                   callback(info);
                 });
  }

  void getTable(const bigquery::TableName& name, base::Duration, TableCallback callback) override {
    world_.after(
        world_.between(milliseconds(1), milliseconds(30)),
        [&service = service_, resource = name.resource(), callback = std::move(callback)] {
          if (service.strikes(Fault::kTableReadError)) return callback(restError(), {});
          const SimulatedTable* table = service.tables().find(resource);
          if (table == nullptr) {
            return callback({absl::NotFoundError("no such table"), 404, "notFound"}, {});
          }
          bigquery::TableInfo info;
          info.type = "TABLE";
          info.etag = table->lacksColumn ? "old" : "new";
          info.schema.columns = {{"a", bigquery::ColumnType::kString}};
          info.schemaJson = R"({"fields":[{"name":"a","type":"STRING"}]})";
          if (!table->lacksColumn) {
            info.schema.columns.push_back({"c", bigquery::ColumnType::kString});
            info.schemaJson =
                R"({"fields":[{"name":"a","type":"STRING"},{"name":"c","type":"STRING"}]})";
          }
          callback({}, std::move(info));
        });
  }

  void updateSchema(const bigquery::TableName& name, const std::string& etag, const std::string&,
                    DoneCallback callback) override {
    world_.after(
        world_.between(milliseconds(5), milliseconds(60)),
        [&service = service_, resource = name.resource(), etag, callback = std::move(callback)] {
          if (service.strikes(Fault::kTableReadError)) return callback(restError());
          SimulatedTable* table = service.tables().find(resource);
          if (table == nullptr || etag != (table->lacksColumn ? "old" : "new")) {
            return callback({absl::FailedPreconditionError("etag"), 412, "conditionNotMet"});
          }
          World& world = service.world();
          table->lacksColumn = false;
          table->columnKnown = world.clock().now() + world.between({}, std::chrono::seconds(90));
          callback({});
        });
  }

  void createTable(const bigquery::TableName& name, const bigquery::TableSchema&,
                   const bigquery::TableCreateOptions&, DoneCallback callback) override {
    world_.after(
        world_.between(milliseconds(5), milliseconds(60)),
        [&service = service_, resource = name.resource(), callback = std::move(callback)] {
          World& world = service.world();
          if (service.strikes(Fault::kCreateTableError)) {
            if (world.random().chance(0.5)) {
              return callback({absl::PermissionDeniedError("quota"), 403, "rateLimitExceeded"});
            }
            return callback(restError());
          }
          if (service.tables().find(resource) != nullptr) {
            return callback({absl::AlreadyExistsError("duplicate"), 409, "duplicate"});
          }
          world.note("{} is created", resource);
          SimulatedTable& created = service.tables().createTable(resource);
          if (service.strikes(Fault::kMaskAfterCreate)) {
            created.visibleAt =
                world.clock().now() + world.between(milliseconds(10), std::chrono::seconds(8));
          }
          if (service.strikes(Fault::kFlushMasked)) created.deniedFlushes = 2;
          callback({});
        });
  }

 private:
  static bigquery::AdminError restError() {
    return {absl::UnavailableError("simulated"), 503, "backendError"};
  }

  SimulatedService& service_;
  World& world_;
};

/// CreateWriteStream and FlushRows.
class StreamRequests final : public bigquery::StreamAdmin {
 public:
  explicit StreamRequests(SimulatedService& service) : service_(service), world_(service.world()) {}

  void createStream(const bigquery::TableName& table, base::Duration,
                    CreateCallback callback) override {
    const bool lost = service_.strikes(Fault::kCreateStreamLost);
    world_.after(world_.between(milliseconds(5), milliseconds(60)),
                 [&service = service_, lost, resource = table.resource(),
                  callback = std::move(callback)] { create(service, resource, lost, callback); });
  }

  void flushRows(const std::string& stream, int64_t offset, base::Duration,
                 FlushCallback callback) override {
    if (!flushing_->insert(stream).second) {
      service_.violated("two FlushRows of one stream at a time: " + stream);
    }
    world_.after(between(1, 40), [&service = service_, flushing = flushing_, stream, offset,
                                  callback = std::move(callback)] {
      const bigquery::StreamError error = flush(service, stream, offset);
      service.world().note(
          "FlushRows of {} up to {}: {}", shortNameOf(stream), offset,
          error.status.ok() ? "OK" : absl::StatusCodeToString(error.status.code()));
      service.world().after(service.world().between(milliseconds(1), milliseconds(40)),
                            [flushing, stream, offset, error, callback] {
                              flushing->erase(stream);
                              callback(error, error.status.ok() ? offset : 0);
                            });
    });
  }

 private:
  base::Duration between(int low, int high) {
    if (service_.strikes(Fault::kSlow)) high = 20'000;
    return world_.between(milliseconds(low), milliseconds(high));
  }

  static void create(SimulatedService& service, const std::string& resource, bool lost,
                     const CreateCallback& callback) {
    using Error = bigquery::StreamError;
    if (service.strikes(Fault::kCreateStreamError)) {
      return callback(Error{service.passingError(), StorageErrorCode::kNone}, {});
    }
    World& world = service.world();
    SimulatedTable* const table = service.tables().find(resource);
    if (table == nullptr || world.clock().now() < table->visibleAt) {
      return callback(Error{masked(), StorageErrorCode::kNone}, {});
    }
    const std::string name = service.tables().createStream(resource).name;
    world.note("CreateWriteStream: {}{}", shortNameOf(name), lost ? ", the answer is lost" : "");
    if (lost) return callback(Error{service.passingError(), StorageErrorCode::kNone}, {});
    world.after(world.between(milliseconds(1), milliseconds(20)), [callback, name] {
      callback({}, {name, "us"});
    });
  }

  static bigquery::StreamError flush(SimulatedService& service, const std::string& name,
                                     int64_t offset) {
    if (service.strikes(Fault::kFlushError)) return {service.passingError()};
    SimulatedStream* const stream = service.tables().findStream(name);
    if (stream == nullptr) {
      service.violated("FlushRows of a stream that never was: " + name);
      return {absl::NotFoundError("no such stream"), StorageErrorCode::kStreamNotFound};
    }
    SimulatedTable* const table = service.tables().find(stream->table);
    if (table->deniedFlushes > 0) {
      --table->deniedFlushes;
      return {masked()};
    }
    const bigquery::StreamError error = service.tables().flush(*stream, offset);
    if (error.storageError == StorageErrorCode::kOffsetOutOfRange) {
      service.violated(fmt::format("FlushRows up to {} of {}, which has {} rows", offset, name,
                                   stream->rows.size()));
    }
    if (service.strikes(Fault::kFlushLost)) return {service.passingError()};
    return error;
  }

  SimulatedService& service_;
  World& world_;
  // Streams with a request of this process under way.
  const std::shared_ptr<std::set<std::string>> flushing_ =
      std::make_shared<std::set<std::string>>();
};

}  // namespace

bool SimulatedService::strikes(Fault fault) {
  const double rate = rates_[fault];
  if (rate <= 0 || !world_.random().chance(rate)) return false;
  if (faults_ == mostFaults_) return false;
  ++faults_;
  world_.note("-- {}", nameOf(fault));
  return true;
}

absl::Status SimulatedService::passingError() {
  static const absl::StatusCode kCodes[] = {
      absl::StatusCode::kAborted,          absl::StatusCode::kUnavailable,
      absl::StatusCode::kCancelled,        absl::StatusCode::kInternal,
      absl::StatusCode::kDeadlineExceeded, absl::StatusCode::kUnknown,
      absl::StatusCode::kResourceExhausted};
  return absl::Status(kCodes[world_.random().below(std::size(kCodes))], "simulated");
}

std::shared_ptr<bigquery::AppendCallFactory> SimulatedService::appendCalls() {
  return makeAppendCalls(*this);
}

std::shared_ptr<bigquery::TableAdmin> SimulatedService::tableAdmin() {
  return std::make_shared<TableRequests>(*this);
}

std::shared_ptr<bigquery::StreamAdmin> SimulatedService::streamAdmin() {
  return std::make_shared<StreamRequests>(*this);
}

}  // namespace penstock::simulation
