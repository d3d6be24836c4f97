#include "penstock/emulator/catalog/catalog.h"

#include <absl/strings/escaping.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "penstock/base/log.h"
#include "penstock/base/random.h"
#include "penstock/emulator/catalog/catalog_change.h"
#include "penstock/emulator/catalog/catalog_journal.h"

namespace penstock::emulator {
namespace {

constexpr size_t kLinesWorthCompacting = 1000;

absl::Status datasetNotFound(const DatasetReference& reference) {
  return base::makeStatus(absl::StatusCode::kNotFound, "Not found: Dataset {}", reference.text());
}

absl::Status tableNotFound(const TableReference& reference) {
  return base::makeStatus(absl::StatusCode::kNotFound, "Not found: Table {}", reference.text());
}

}  // namespace

// Begun at random, so that no etag comes again after a restart, whatever became of the clock.
Catalog::Catalog(const base::Clock& clock)
    : clock_(clock), nextChange_(base::systemRandom()->next()) {}

Catalog::~Catalog() = default;

absl::StatusOr<std::unique_ptr<Catalog>> Catalog::open(const std::filesystem::path& directory,
                                                       const base::Clock& clock) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return base::makeStatus(absl::StatusCode::kInternal, "cannot create {}: {}", directory.string(),
                            error.message());
  }
  std::unique_ptr<Catalog> catalog(new Catalog(clock));
  PENSTOCK_RETURN_IF_ERROR(catalog->load(directory));
  return catalog;
}

absl::Status Catalog::load(const std::filesystem::path& directory) {
  const base::MutexLock lock(mutex_);
  PENSTOCK_ASSIGN_OR_RETURN(
      journal_, CatalogJournal::open(directory / "catalog.journal",
                                     [this](std::string_view line) { return apply(line); }));
  const size_t live = datasets_.size() + tables_.size() + 1;
  if (journal_->lineCount() > kLinesWorthCompacting && journal_->lineCount() > 2 * live) {
    PENSTOCK_RETURN_IF_ERROR(journal_->replace(snapshot()));
  }
  return absl::OkStatus();
}

absl::Status Catalog::apply(std::string_view line) {
  PENSTOCK_ASSIGN_OR_RETURN(CatalogChange change, parseChange(line));
  switch (change.kind) {
    case CatalogChange::Kind::kDataset: {
      PENSTOCK_ASSIGN_OR_RETURN(datasets_[change.table.datasetReference()], readDataset(change));
      break;
    }
    case CatalogChange::Kind::kTable:
      lastTableId_ = std::max(lastTableId_, change.tableId);
      tables_[change.table] = {change.tableId, nullptr, std::string(line)};
      break;
    case CatalogChange::Kind::kDropDataset: {
      const DatasetReference reference = change.table.datasetReference();
      datasets_.erase(reference);
      std::erase_if(tables_,
                    [&](const auto& entry) { return entry.first.datasetReference() == reference; });
      break;
    }
    case CatalogChange::Kind::kDropTable:
      tables_.erase(change.table);
      break;
    case CatalogChange::Kind::kLastTableId:
      lastTableId_ = std::max(lastTableId_, change.tableId);
      break;
  }
  return absl::OkStatus();
}

std::shared_ptr<const Table> Catalog::loaded(TableEntry& entry) {
  if (entry.table != nullptr) return entry.table;
  absl::StatusOr<std::shared_ptr<const Table>> table = readTable(entry.line);
  if (!table.ok()) {
    // Its checksum was right, so this is what some other version wrote.
    base::logError("emulator: a table of the catalog cannot be read: {}",
                   base::describe(table.status()));
    return nullptr;
  }
  entry.table = *std::move(table);
  entry.line = {};
  return entry.table;
}

bool Catalog::isExpired(const Table& table) const {
  return table.expirationMillis != 0 && table.expirationMillis <= nowMillis();
}

std::shared_ptr<const Table> Catalog::unexpired(TableEntry& entry) const {
  std::shared_ptr<const Table> table = loaded(entry);
  return table == nullptr || isExpired(*table) ? nullptr : table;
}

std::vector<std::string> Catalog::snapshot() const {
  std::vector<std::string> lines = {lastTableIdLine(lastTableId_)};
  for (const auto& [reference, dataset] : datasets_) lines.push_back(datasetLine(*dataset));
  for (const auto& [reference, entry] : tables_) {
    lines.push_back(entry.table != nullptr ? tableLine(*entry.table) : entry.line);
  }
  return lines;
}

int64_t Catalog::nowMillis() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.wallNow().time_since_epoch())
      .count();
}

std::string Catalog::nextEtag() {
  const std::string seed = fmt::format("{}/{:x}", nowMillis(), nextChange_++);
  return std::string(absl::WebSafeBase64Escape(seed)) + "==";
}

absl::StatusOr<std::shared_ptr<const Dataset>> Catalog::createDataset(
    const DatasetDefinition& definition) {
  const base::MutexLock lock(mutex_);
  if (datasets_.contains(definition.reference)) {
    return base::makeStatus(absl::StatusCode::kAlreadyExists, "Already Exists: Dataset {}",
                            definition.reference.text());
  }
  auto dataset = std::make_shared<Dataset>();
  dataset->reference = definition.reference;
  dataset->location = definition.location;
  dataset->properties = definition.properties;
  dataset->etag = nextEtag();
  dataset->creationMillis = dataset->lastModifiedMillis = nowMillis();
  PENSTOCK_RETURN_IF_ERROR(journal_->append(datasetLine(*dataset)));
  datasets_[dataset->reference] = dataset;
  return dataset;
}

absl::StatusOr<std::shared_ptr<const Dataset>> Catalog::updateDataset(
    const Dataset& seen, const std::string& properties) {
  const base::MutexLock lock(mutex_);
  const auto found = datasets_.find(seen.reference);
  if (found == datasets_.end()) return datasetNotFound(seen.reference);
  if (found->second->etag != seen.etag) {
    return base::makeStatus(absl::StatusCode::kAborted, "Dataset {} was changed meanwhile",
                            seen.reference.text());
  }
  auto dataset = std::make_shared<Dataset>(*found->second);
  dataset->properties = properties;
  dataset->etag = nextEtag();
  dataset->lastModifiedMillis = nowMillis();
  PENSTOCK_RETURN_IF_ERROR(journal_->append(datasetLine(*dataset)));
  found->second = dataset;
  return dataset;
}

absl::StatusOr<std::vector<std::shared_ptr<const Table>>> Catalog::deleteDataset(
    const DatasetReference& reference, bool deleteContents) {
  const base::MutexLock lock(mutex_);
  if (!datasets_.contains(reference)) return datasetNotFound(reference);
  std::vector<std::shared_ptr<const Table>> dropped;
  bool inUse = false;
  for (auto entry = firstTableOf(reference); isTableOf(entry, reference); ++entry) {
    std::shared_ptr<const Table> table = loaded(entry->second);
    if (table == nullptr) continue;
    inUse = inUse || !isExpired(*table);
    dropped.push_back(std::move(table));
  }
  if (inUse && !deleteContents) {
    return base::makeStatus(absl::StatusCode::kFailedPrecondition, "Dataset {} is still in use",
                            reference.text());
  }
  PENSTOCK_RETURN_IF_ERROR(journal_->append(datasetDropLine(reference)));
  datasets_.erase(reference);
  auto entry = firstTableOf(reference);
  while (isTableOf(entry, reference)) entry = tables_.erase(entry);
  return dropped;
}

std::shared_ptr<const Dataset> Catalog::findDataset(const DatasetReference& reference) const {
  const base::MutexLock lock(mutex_);
  const auto found = datasets_.find(reference);
  return found == datasets_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<const Dataset>> Catalog::listDatasets(std::string_view project) const {
  const base::MutexLock lock(mutex_);
  std::vector<std::shared_ptr<const Dataset>> result;
  for (const auto& [reference, dataset] : datasets_) {
    if (reference.project == project) result.push_back(dataset);
  }
  return result;
}

std::vector<std::string> Catalog::listProjects() const {
  const base::MutexLock lock(mutex_);
  std::set<std::string> projects;
  for (const auto& [reference, dataset] : datasets_) projects.insert(reference.project);
  return {projects.begin(), projects.end()};
}

absl::StatusOr<std::shared_ptr<const Table>> Catalog::createTable(
    const TableDefinition& definition) {
  const base::MutexLock lock(mutex_);
  const auto dataset = datasets_.find(definition.reference.datasetReference());
  if (dataset == datasets_.end()) return datasetNotFound(definition.reference.datasetReference());
  const auto found = tables_.find(definition.reference);
  const std::shared_ptr<const Table> old = found == tables_.end() ? nullptr : loaded(found->second);
  if (found != tables_.end() && (old == nullptr || !isExpired(*old))) {
    return base::makeStatus(absl::StatusCode::kAlreadyExists, "Already Exists: Table {}",
                            definition.reference.text());
  }
  auto table = std::make_shared<Table>();
  table->id = lastTableId_ + 1;
  table->reference = definition.reference;
  table->schema = definition.schema;
  table->location = dataset->second->location;
  table->properties = definition.properties;
  table->expirationMillis = definition.expirationMillis;
  table->etag = nextEtag();
  table->creationMillis = definition.creationMillis != 0 ? definition.creationMillis : nowMillis();
  table->lastModifiedMillis = table->creationMillis;
  PENSTOCK_RETURN_IF_ERROR(journal_->append(tableLine(*table)));
  lastTableId_ = table->id;
  tables_[table->reference] = {table->id, table, {}};
  return table;
}

absl::StatusOr<std::shared_ptr<const Table>> Catalog::updateTable(
    const Table& seen, const TableDefinition& definition) {
  const base::MutexLock lock(mutex_);
  const auto found = tables_.find(seen.reference);
  const std::shared_ptr<const Table> live =
      found == tables_.end() ? nullptr : unexpired(found->second);
  if (live == nullptr) return tableNotFound(seen.reference);
  if (live->etag != seen.etag) {
    return base::makeStatus(absl::StatusCode::kAborted, "Table {} was changed meanwhile",
                            seen.reference.text());
  }
  auto table = std::make_shared<Table>(*live);
  if (definition.schema != live->schema) {
    table->schema = definition.schema;
    ++table->schemaVersion;
    table->previousSchema = std::make_shared<const Schema>(live->schema);
    table->schemaChangedMillis = nowMillis();
  }
  table->properties = definition.properties;
  table->expirationMillis = definition.expirationMillis;
  table->etag = nextEtag();
  table->lastModifiedMillis = nowMillis();
  PENSTOCK_RETURN_IF_ERROR(journal_->append(tableLine(*table)));
  found->second.table = table;
  return table;
}

absl::StatusOr<std::shared_ptr<const Table>> Catalog::deleteTable(const TableReference& reference) {
  const base::MutexLock lock(mutex_);
  const auto found = tables_.find(reference);
  if (found == tables_.end()) return tableNotFound(reference);
  PENSTOCK_RETURN_IF_ERROR(journal_->append(tableDropLine(reference)));
  std::shared_ptr<const Table> table = loaded(found->second);
  tables_.erase(found);
  if (table == nullptr) return tableNotFound(reference);
  return table;
}

std::shared_ptr<const Table> Catalog::findTable(const TableReference& reference) const {
  const base::MutexLock lock(mutex_);
  const auto found = tables_.find(reference);
  return found == tables_.end() ? nullptr : unexpired(found->second);
}

absl::StatusOr<std::vector<std::shared_ptr<const Table>>> Catalog::listTables(
    const DatasetReference& reference) const {
  const base::MutexLock lock(mutex_);
  if (!datasets_.contains(reference)) return datasetNotFound(reference);
  std::vector<std::shared_ptr<const Table>> result;
  for (auto entry = firstTableOf(reference); isTableOf(entry, reference); ++entry) {
    if (std::shared_ptr<const Table> table = unexpired(entry->second)) result.push_back(table);
  }
  return result;
}

std::vector<uint64_t> Catalog::tableIds() const {
  const base::MutexLock lock(mutex_);
  std::vector<uint64_t> result;
  result.reserve(tables_.size());
  for (const auto& [reference, entry] : tables_) result.push_back(entry.id);
  return result;
}

Catalog::Tables::iterator Catalog::firstTableOf(const DatasetReference& reference) const {
  return tables_.lower_bound({reference.project, reference.dataset, ""});
}

bool Catalog::isTableOf(Tables::iterator entry, const DatasetReference& reference) const {
  return entry != tables_.end() && entry->first.project == reference.project &&
         entry->first.dataset == reference.dataset;
}

}  // namespace penstock::emulator
