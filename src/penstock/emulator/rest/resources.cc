#include "penstock/emulator/rest/resources.h"

#include <nlohmann/json.hpp>

#include "penstock/emulator/catalog/schema_json.h"
#include "penstock/emulator/json_dump.h"
#include "penstock/emulator/rest/kept_members.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;

json referenceOf(const TableReference& reference) {
  return {{"projectId", reference.project},
          {"datasetId", reference.dataset},
          {"tableId", reference.table}};
}

json referenceOf(const DatasetReference& reference) {
  return {{"projectId", reference.project}, {"datasetId", reference.dataset}};
}

/// What the service grants when a dataset is created without `access`.
json defaultAccess() {
  return json::array({{{"role", "WRITER"}, {"specialGroup", "projectWriters"}},
                      {{"role", "OWNER"}, {"specialGroup", "projectOwners"}},
                      {{"role", "READER"}, {"specialGroup", "projectReaders"}}});
}

/// FNV-1a: the same for a text at every start.
uint64_t hashOf(std::string_view text) {
  uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

void copyMembers(const json& from, std::initializer_list<const char*> keys, json& to) {
  for (const char* key : keys) {
    if (const auto found = from.find(key); found != from.end()) to[key] = *found;
  }
}

}  // namespace

json datasetResource(const Dataset& dataset, const LinkBase& linkBase) {
  json resource = membersOf(dataset.properties);
  resource["kind"] = "bigquery#dataset";
  resource["etag"] = dataset.etag;
  resource["id"] = dataset.reference.text();
  resource["selfLink"] =
      linkBase + dataset.reference.project + "/datasets/" + dataset.reference.dataset;
  resource["datasetReference"] = referenceOf(dataset.reference);
  if (!resource.contains("access")) resource["access"] = defaultAccess();
  resource["creationTime"] = std::to_string(dataset.creationMillis);
  resource["lastModifiedTime"] = std::to_string(dataset.lastModifiedMillis);
  resource["location"] = dataset.location;
  resource["type"] = "DEFAULT";
  return resource;
}

json datasetListEntry(const Dataset& dataset) {
  json entry = {{"kind", "bigquery#dataset"},
                {"id", dataset.reference.text()},
                {"datasetReference", referenceOf(dataset.reference)},
                {"location", dataset.location}};
  copyMembers(membersOf(dataset.properties), {"labels", "friendlyName"}, entry);
  return entry;
}

json tableResource(const Table& table, const Schema& schema, const TableSize* size,
                   const LinkBase& linkBase) {
  const TableReference& reference = table.reference;
  json resource = membersOf(table.properties);
  resource["kind"] = "bigquery#table";
  resource["etag"] = table.etag;
  resource["id"] = reference.text();
  resource["selfLink"] = linkBase + reference.project + "/datasets/" + reference.dataset +
                         "/tables/" + reference.table;
  resource["tableReference"] = referenceOf(reference);
  if (!schema.fields.empty()) resource["schema"] = schemaJson(schema);
  if (size != nullptr) {
    resource["numRows"] = std::to_string(size->rows);
    resource["numBytes"] = std::to_string(size->bytes);
    resource["numLongTermBytes"] = "0";
  }
  resource["creationTime"] = std::to_string(table.creationMillis);
  resource["lastModifiedTime"] = std::to_string(table.lastModifiedMillis);
  resource["type"] = "TABLE";
  resource["location"] = table.location;
  return resource;
}

json tableListEntry(const Table& table) {
  json entry = {{"kind", "bigquery#table"},
                {"id", table.reference.text()},
                {"tableReference", referenceOf(table.reference)},
                {"type", "TABLE"},
                {"creationTime", std::to_string(table.creationMillis)}};
  copyMembers(membersOf(table.properties),
              {"labels", "friendlyName", "timePartitioning", "rangePartitioning", "clustering",
               "requirePartitionFilter", "expirationTime"},
              entry);
  return entry;
}

std::string listEtag(const json& entries) {
  return fmt::format("{:016x}==", hashOf(dumped(entries)));
}

json projectResource(const std::string& project) {
  const uint64_t number = hashOf(project);
  return {{"kind", "bigquery#project"},
          {"id", project},
          {"numericId", std::to_string(number % 1000000000000ULL)},
          {"projectReference", {{"projectId", project}}},
          {"friendlyName", project}};
}

}  // namespace penstock::emulator
