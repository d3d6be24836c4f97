#include "penstock/emulator/emulator.h"

#include <unordered_set>

#include "penstock/base/clock.h"
#include "penstock/base/log.h"
#include "penstock/base/text.h"
#include "penstock/emulator/catalog/catalog.h"
#include "penstock/emulator/rest/resource_rules.h"
#include "penstock/emulator/rest/rest_server.h"
#include "penstock/emulator/service/grpc_server.h"
#include "penstock/emulator/service/listening_port.h"
#include "penstock/emulator/service/table_age.h"
#include "penstock/emulator/storage/data_directory.h"
#include "penstock/emulator/storage/row_store.h"

namespace penstock::emulator {
namespace {

absl::StatusOr<DatasetReference> parseDataset(const std::string& name) {
  // A project may be "domain.com:name", so the last dot splits.
  const size_t dot = name.rfind('.');
  const bool whole = dot != std::string::npos && dot > 0 && dot + 1 < name.size();
  if (!whole || name.find('/') != std::string::npos) {
    return base::invalidArgument("datasets: \"{}\" is not of the form PROJECT.DATASET", name);
  }
  return DatasetReference{name.substr(0, dot), name.substr(dot + 1)};
}

absl::Status checkPort(std::string_view option, int port) {
  if (port >= 0 && port <= 65535) return absl::OkStatus();
  return base::invalidArgument("{} must be between 0 and 65535, not {}", option, port);
}

absl::Status portError(const absl::Status& status, const std::string& host, std::string_view option,
                       int port) {
  if (status.code() != absl::StatusCode::kUnavailable) return status;
  return base::makeStatus(status.code(),
                          "{} {} on host {} cannot be used: {}; stop what uses it, or choose "
                          "another (0 = any free port)",
                          option, port, host, base::messageOf(status));
}

}  // namespace

class Emulator::Impl {
 public:
  explicit Impl(const EmulatorOptions& options) : options_(options) {}
  ~Impl() { stop(); }

  absl::Status start() {
    PENSTOCK_RETURN_IF_ERROR(checkPort("restPort", options_.restPort));
    PENSTOCK_RETURN_IF_ERROR(checkPort("grpcPort", options_.grpcPort));
    if (base::isBlank(options_.defaultLocation)) {
      return base::invalidArgument("defaultLocation must not be blank: '{}'",
                                   options_.defaultLocation);
    }
    const absl::StatusOr<std::string> location = canonicalLocation(options_.defaultLocation);
    if (!location.ok()) {
      return base::invalidArgument(
          "defaultLocation '{}' is neither a region such as europe-west1 nor US or EU",
          options_.defaultLocation);
    }
    defaultLocation_ = *location;
    PENSTOCK_ASSIGN_OR_RETURN(directory_, DataDirectory::open(options_.dataDirectory));
    PENSTOCK_ASSIGN_OR_RETURN(catalog_,
                              Catalog::open(directory_->catalogPath(), base::systemClock()));
    faults_.setTableAges(tableAgesOf(*catalog_));
    PENSTOCK_ASSIGN_OR_RETURN(rows_, RowStore::open(directory_->rowsPath()));
    PENSTOCK_RETURN_IF_ERROR(dropOrphans());
    for (const std::string& name : options_.datasets) {
      PENSTOCK_RETURN_IF_ERROR(createDataset(name));
    }
    return startServers();
  }

  absl::Status createDataset(const std::string& name) {
    PENSTOCK_ASSIGN_OR_RETURN(const DatasetReference reference, parseDataset(name));
    PENSTOCK_RETURN_IF_ERROR(checkDatasetId(reference.dataset));
    const absl::Status created = catalog_->createDataset({reference, defaultLocation_}).status();
    return created.code() == absl::StatusCode::kAlreadyExists ? absl::OkStatus() : created;
  }

  absl::StatusOr<uint64_t> rowCount(const std::string& name) const {
    const size_t dot = name.rfind('.');
    const auto dataset = parseDataset(name.substr(0, dot));
    if (dot == std::string::npos || !dataset.ok()) {
      return base::invalidArgument("\"{}\" is not of the form PROJECT.DATASET.TABLE", name);
    }
    const auto table =
        catalog_->findTable({dataset->project, dataset->dataset, name.substr(dot + 1)});
    if (table == nullptr) {
      return base::makeStatus(absl::StatusCode::kNotFound, "there is no table {}", name);
    }
    PENSTOCK_ASSIGN_OR_RETURN(const TableSize size, rows_->size(table->id));
    return size.rows;
  }

  void stop() {
    if (grpc_ != nullptr) grpc_->stop();
    if (rest_ != nullptr) rest_->stop();
  }

  [[nodiscard]] EmulatorPorts ports() const { return {rest_->port(), grpc_->port()}; }
  [[nodiscard]] const std::string& host() const { return options_.host; }
  [[nodiscard]] const std::string& dataDirectory() const { return directory_->path(); }
  FaultRules& faults() { return faults_; }

 private:
  /// Rows of tables whose removal was cut short.
  absl::Status dropOrphans() {
    PENSTOCK_ASSIGN_OR_RETURN(const std::vector<StoredTableId> stored, rows_->storedTables());
    if (stored.empty()) return absl::OkStatus();
    const std::vector<uint64_t> ids = catalog_->tableIds();
    const std::unordered_set<StoredTableId> known(ids.begin(), ids.end());
    for (const StoredTableId table : stored) {
      if (!known.contains(table)) PENSTOCK_RETURN_IF_ERROR(rows_->drop(table));
    }
    return absl::OkStatus();
  }

  absl::Status startServers() {
    auto grpc = GrpcServer::start(options_.host, options_.grpcPort, {*catalog_, *rows_, faults_});
    if (!grpc.ok()) return portError(grpc.status(), options_.host, "grpcPort", options_.grpcPort);
    grpc_ = *std::move(grpc);
    auto rest = RestServer::start(options_.host, options_.restPort, {*catalog_, *rows_, faults_},
                                  defaultLocation_);
    if (!rest.ok()) return portError(rest.status(), options_.host, "restPort", options_.restPort);
    rest_ = *std::move(rest);
    return absl::OkStatus();
  }

  // In the order of their making: the servers go first, the directory's lock last.
  const EmulatorOptions options_;
  std::string defaultLocation_;
  std::unique_ptr<DataDirectory> directory_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<RowStore> rows_;
  FaultRules faults_;
  std::unique_ptr<GrpcServer> grpc_;
  std::unique_ptr<RestServer> rest_;
};

Emulator::Emulator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Emulator::~Emulator() = default;

absl::StatusOr<std::unique_ptr<Emulator>> Emulator::start(const EmulatorOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  PENSTOCK_RETURN_IF_ERROR(impl->start());
  return std::unique_ptr<Emulator>(new Emulator(std::move(impl)));
}

EmulatorPorts Emulator::ports() const { return impl_->ports(); }

std::string Emulator::restEndpoint() const {
  return hostAndPort(impl_->host(), impl_->ports().rest);
}

std::string Emulator::grpcEndpoint() const {
  return hostAndPort(impl_->host(), impl_->ports().grpc);
}

const std::string& Emulator::dataDirectory() const { return impl_->dataDirectory(); }

absl::Status Emulator::createDataset(const std::string& name) { return impl_->createDataset(name); }

absl::StatusOr<uint64_t> Emulator::rowCount(const std::string& table) const {
  return impl_->rowCount(table);
}

FaultRules& Emulator::faults() { return impl_->faults(); }

void Emulator::stop() { impl_->stop(); }

}  // namespace penstock::emulator
