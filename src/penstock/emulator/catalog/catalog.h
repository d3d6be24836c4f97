#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"
#include "penstock/base/status.h"
#include "penstock/emulator/catalog/schema.h"

namespace penstock::emulator {
// NOLINT below: clang-tidy 14 takes the compiler's 0 in a defaulted comparison for a null pointer.
struct DatasetReference {
  std::string project;
  std::string dataset;

  /// "project:dataset", as the service's messages write it.
  [[nodiscard]] std::string text() const { return project + ":" + dataset; }
  friend auto operator<=>(const DatasetReference&,
                          const DatasetReference&) = default;  // NOLINT(modernize-use-nullptr)
};

struct TableReference {
  std::string project;
  std::string dataset;
  std::string table;

  /// "project:dataset.table", as the service's messages write it.
  [[nodiscard]] std::string text() const { return project + ":" + dataset + "." + table; }
  [[nodiscard]] DatasetReference datasetReference() const { return {project, dataset}; }
  friend auto operator<=>(const TableReference&,
                          const TableReference&) = default;  // NOLINT(modernize-use-nullptr)
};

/// A dataset as it was at one moment; never changed, replaced by a new one.
struct Dataset {
  DatasetReference reference;
  std::string location;  ///< as given ("US", "europe-west1"), "US" when none was given
  std::string etag;
  int64_t creationMillis = 0;      ///< since the Unix epoch
  int64_t lastModifiedMillis = 0;  ///< since the Unix epoch
  std::string properties;          ///< JSON object: labels, description and the rest, as given
};

/// A table as it was at one moment; never changed, replaced by a new one, so a reader that holds it
/// sees one consistent schema.
struct Table {
  uint64_t id =
      0;  ///< never used again in a data directory, also when the table is dropped and re-created
  TableReference reference;
  Schema schema;
  uint64_t schemaVersion = 1;  ///< grows by one with each change of the schema
  std::string location;        ///< its dataset's
  std::string etag;
  int64_t creationMillis = 0;      ///< since the Unix epoch
  int64_t lastModifiedMillis = 0;  ///< since the Unix epoch
  std::string
      properties;  ///< JSON object: labels, description, timePartitioning and the rest, as given
  int64_t expirationMillis = 0;  ///< since the Unix epoch; 0 = never

  /// The schema before the last change of it, of the version before, and the time of that change in
  /// milliseconds since the Unix epoch; null and 0 when none was made since the catalog was opened.
  std::shared_ptr<const Schema> previousSchema;
  int64_t schemaChangedMillis = 0;
};

/// What a new dataset is made of; see Dataset.
struct DatasetDefinition {
  DatasetReference reference;
  std::string location = "US";
  std::string properties = "{}";
};

/// What a new table is made of, or a changed one becomes; see Table. The schema has been through
/// parseSchema().
struct TableDefinition {
  TableReference reference;
  Schema schema;
  std::string properties = "{}";
  int64_t expirationMillis = 0;  ///< since the Unix epoch; 0 = never
  /// Of a new table, since the Unix epoch: the moment that its expiration counts from; 0 = when it
  /// is made.
  int64_t creationMillis = 0;
};

class CatalogJournal;

/// The emulator's datasets and tables; any project exists. Kept in `catalog.journal` in the data
/// directory: every change is written there, and is the operating system's, before the call
/// returns. Thread-safe. Errors carry the service's words: kNotFound "Not found: Dataset p:d",
/// kAlreadyExists "Already Exists: Table p:d.t", kFailedPrecondition "... is still in use",
/// kInternal when the journal cannot be written (then nothing has changed).
///
/// A table whose expiration has come is not there any more; what is left of it goes when its name
/// is used again, or with its dataset.
///
/// Changes are made by comparing: the caller reads a dataset or a table, works out what it becomes
/// and hands in both; kAborted when another change came between, after which the caller reads anew
/// (or tells its client, which named the etag that it had read).
class Catalog {
 public:
  /// Reads the journal in `directory` (made when missing) and cuts a change that a crash left half
  /// written. `clock` outlives the catalog.
  static absl::StatusOr<std::unique_ptr<Catalog>> open(const std::filesystem::path& directory,
                                                       const base::Clock& clock);
  ~Catalog();
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  /// The time that creations and changes are stamped with: milliseconds since the Unix epoch.
  [[nodiscard]] int64_t nowMillis() const;

  absl::StatusOr<std::shared_ptr<const Dataset>> createDataset(const DatasetDefinition& definition);
  /// Replaces the properties of the dataset that was `seen`; its etag and modification time change.
  absl::StatusOr<std::shared_ptr<const Dataset>> updateDataset(const Dataset& seen,
                                                               const std::string& properties);
  /// Drops the dataset. Its tables must be gone unless `deleteContents`; answers the tables dropped
  /// with it, whose rows the caller drops from the row store.
  absl::StatusOr<std::vector<std::shared_ptr<const Table>>> deleteDataset(
      const DatasetReference& reference, bool deleteContents);
  /// Null when there is none.
  [[nodiscard]] std::shared_ptr<const Dataset> findDataset(const DatasetReference& reference) const;
  /// In order of name, of one project.
  [[nodiscard]] std::vector<std::shared_ptr<const Dataset>> listDatasets(
      std::string_view project) const;
  /// Projects that hold a dataset, in order of name.
  [[nodiscard]] std::vector<std::string> listProjects() const;

  absl::StatusOr<std::shared_ptr<const Table>> createTable(const TableDefinition& definition);
  /// Replaces schema and properties of the table that was `seen`, which `definition` names; its
  /// etag and modification time change, its schema version where the schema does.
  absl::StatusOr<std::shared_ptr<const Table>> updateTable(const Table& seen,
                                                           const TableDefinition& definition);
  /// Drops the table and answers what it was; the caller drops its rows from the row store.
  absl::StatusOr<std::shared_ptr<const Table>> deleteTable(const TableReference& reference);
  /// Null when there is none.
  [[nodiscard]] std::shared_ptr<const Table> findTable(const TableReference& reference) const;
  /// In order of name; kNotFound when there is no such dataset.
  [[nodiscard]] absl::StatusOr<std::vector<std::shared_ptr<const Table>>> listTables(
      const DatasetReference& reference) const;
  /// Of every table. At start, rows of an id that is not among them belong to a table whose drop
  /// was cut short by a crash, and can go.
  [[nodiscard]] std::vector<uint64_t> tableIds() const;

 private:
  /// A table, or the journal's line that it is read from when it is first asked for: with thousands
  /// of tables that keeps the start short.
  struct TableEntry {
    uint64_t id = 0;
    std::shared_ptr<const Table> table;
    std::string line;
  };
  using Tables = std::map<TableReference, TableEntry>;

  explicit Catalog(const base::Clock& clock);

  std::string nextEtag() PENSTOCK_REQUIRES(mutex_);
  absl::Status apply(std::string_view line) PENSTOCK_REQUIRES(mutex_);
  absl::Status load(const std::filesystem::path& directory);
  /// Null when what the journal holds cannot be understood.
  static std::shared_ptr<const Table> loaded(TableEntry& entry);
  [[nodiscard]] bool isExpired(const Table& table) const;
  /// Null also when the table has expired.
  [[nodiscard]] std::shared_ptr<const Table> unexpired(TableEntry& entry) const;
  [[nodiscard]] std::vector<std::string> snapshot() const PENSTOCK_REQUIRES(mutex_);
  [[nodiscard]] Tables::iterator firstTableOf(const DatasetReference& reference) const
      PENSTOCK_REQUIRES(mutex_);
  [[nodiscard]] bool isTableOf(Tables::iterator entry, const DatasetReference& reference) const
      PENSTOCK_REQUIRES(mutex_);

  const base::Clock& clock_;
  mutable base::Mutex mutex_;
  std::unique_ptr<CatalogJournal> journal_ PENSTOCK_GUARDED_BY(mutex_);
  std::map<DatasetReference, std::shared_ptr<const Dataset>> datasets_ PENSTOCK_GUARDED_BY(mutex_);
  mutable Tables tables_ PENSTOCK_GUARDED_BY(mutex_);  ///< mutable: entries are filled when read
  uint64_t lastTableId_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  uint64_t nextChange_ PENSTOCK_GUARDED_BY(mutex_);  ///< makes etags differ within a millisecond
};

}  // namespace penstock::emulator
