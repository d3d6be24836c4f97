#include "penstock/emulator/catalog/catalog_change.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "penstock/emulator/catalog/schema_json.h"
#include "penstock/emulator/json_dump.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;
using CatalogKind = CatalogChange::Kind;

constexpr std::array<std::pair<std::string_view, CatalogKind>, 5> kKinds{{
    {"dataset", CatalogKind::kDataset},
    {"table", CatalogKind::kTable},
    {"dropDataset", CatalogKind::kDropDataset},
    {"dropTable", CatalogKind::kDropTable},
    {"lastTableId", CatalogKind::kLastTableId},
}};

absl::Status unreadableChange(const char* why) {
  return base::makeStatus(absl::StatusCode::kDataLoss,
                          "unreadable change ({}): written by another version?", why);
}

}  // namespace

std::string datasetLine(const Dataset& dataset) {
  return dumped({"dataset", dataset.reference.project, dataset.reference.dataset}) + "\t" +
         dumped({{"location", dataset.location},
                 {"etag", dataset.etag},
                 {"created", dataset.creationMillis},
                 {"modified", dataset.lastModifiedMillis},
                 {"properties", dataset.properties}});
}

std::string tableLine(const Table& table) {
  const TableReference& reference = table.reference;
  return dumped({"table", table.id, reference.project, reference.dataset, reference.table}) + "\t" +
         dumped({{"schema", schemaJson(table.schema)},
                 {"schemaVersion", table.schemaVersion},
                 {"location", table.location},
                 {"etag", table.etag},
                 {"created", table.creationMillis},
                 {"modified", table.lastModifiedMillis},
                 {"expires", table.expirationMillis},
                 {"properties", table.properties}});
}

std::string datasetDropLine(const DatasetReference& reference) {
  return dumped({"dropDataset", reference.project, reference.dataset});
}

std::string tableDropLine(const TableReference& reference) {
  return dumped({"dropTable", reference.project, reference.dataset, reference.table});
}

std::string lastTableIdLine(uint64_t id) { return dumped({"lastTableId", id}); }

absl::StatusOr<CatalogChange> parseChange(std::string_view line) {
  const size_t tab = std::min(line.find('\t'), line.size());
  CatalogChange change;
  change.object = line.substr(std::min(tab + 1, line.size()));
  try {
    const json list = json::parse(line.substr(0, tab));
    const auto name = list.at(0).get<std::string>();
    const auto* const kind = std::find_if(kKinds.begin(), kKinds.end(),
                                          [&](const auto& known) { return known.first == name; });
    if (kind == kKinds.end()) return unreadableChange(name.c_str());
    change.kind = kind->second;
    size_t next = 1;
    if (change.kind == CatalogKind::kTable || change.kind == CatalogKind::kLastTableId) {
      change.tableId = list.at(next++);
    }
    if (change.kind == CatalogKind::kLastTableId) return change;
    change.table.project = list.at(next++);
    change.table.dataset = list.at(next++);
    if (change.kind == CatalogKind::kTable || change.kind == CatalogKind::kDropTable) {
      change.table.table = list.at(next);
    }
  } catch (const json::exception& exception) {
    return unreadableChange(exception.what());
  }
  return change;
}

absl::StatusOr<std::shared_ptr<const Dataset>> readDataset(const CatalogChange& change) {
  auto dataset = std::make_shared<Dataset>();
  try {
    const json object = json::parse(change.object);
    dataset->reference = change.table.datasetReference();
    dataset->location = object.at("location");
    dataset->etag = object.at("etag");
    dataset->creationMillis = object.at("created");
    dataset->lastModifiedMillis = object.at("modified");
    dataset->properties = object.at("properties");
  } catch (const json::exception& exception) {
    return unreadableChange(exception.what());
  }
  return dataset;
}

absl::StatusOr<std::shared_ptr<const Table>> readTable(std::string_view line) {
  PENSTOCK_ASSIGN_OR_RETURN(const CatalogChange change, parseChange(line));
  auto table = std::make_shared<Table>();
  try {
    const json object = json::parse(change.object);
    table->id = change.tableId;
    table->reference = change.table;
    PENSTOCK_ASSIGN_OR_RETURN(table->schema, parseSchema(object.at("schema")));
    table->schemaVersion = object.at("schemaVersion");
    table->location = object.at("location");
    table->etag = object.at("etag");
    table->creationMillis = object.at("created");
    table->lastModifiedMillis = object.at("modified");
    table->expirationMillis = object.value("expires", int64_t{0});
    table->properties = object.at("properties");
  } catch (const json::exception& exception) {
    return unreadableChange(exception.what());
  }
  return table;
}

}  // namespace penstock::emulator
