#include <nlohmann/json.hpp>

#include "penstock/emulator/rest/resources.h"
#include "penstock/emulator/rest/rest_api.h"
#include "penstock/emulator/rest/table_definition.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;

/// The reference inside a body may repeat what the path says, but not contradict it.
absl::Status checkAgreement(const json& body, const char* member, const std::string& inPath) {
  const std::string given = textOf(body.value("tableReference", json::object()), member);
  if (given.empty() || given == inPath) return absl::OkStatus();
  return base::invalidArgument(
      "Value '{}' of tableReference.{} does not agree with '{}' in the request's path", given,
      member, inPath);
}

absl::Status checkAgreement(const json& body, const ApiTarget& target) {
  PENSTOCK_RETURN_IF_ERROR(checkAgreement(body, "projectId", target.project));
  PENSTOCK_RETURN_IF_ERROR(checkAgreement(body, "datasetId", target.dataset));
  if (target.table.empty()) return absl::OkStatus();
  return checkAgreement(body, "tableId", target.table);
}

}  // namespace

ApiResult RestApi::insertTable(const ApiCall& call, const ApiTarget& target) {
  const absl::StatusOr<json> body = parseObject(call.body);
  if (!body.ok()) return parseError(std::string(base::messageOf(body.status())));
  const std::string id = textOf(body->value("tableReference", json::object()), "tableId");
  if (id.empty()) return requiredError("tableReference.tableId");
  if (const absl::Status status = checkAgreement(*body, target); !status.ok()) {
    return errorOf(status);
  }
  const auto dataset = findDataset(target);
  if (!dataset.ok()) return errorOf(dataset.status());
  const absl::StatusOr<TableDefinition> definition = parseTableDefinition(
      {target.project, target.dataset, id}, *body, **dataset, catalog_.nowMillis());
  if (!definition.ok()) return errorOf(definition.status());
  const auto table = catalog_.createTable(*definition);
  if (!table.ok()) return errorOf(table.status());
  const TableSize empty;
  return jsonAnswer(tableResource(**table, (*table)->schema, &empty, linkBase_));
}

ApiResult RestApi::getTable(const ApiCall& call, const ApiTarget& target) {
  const auto table = findTable(target);
  if (!table.ok()) return errorOf(table.status());
  if (!call.ifMatch.empty() && !namesEtag(call.ifMatch, (*table)->etag)) {
    return conditionNotMetError();
  }
  Schema schema = (*table)->schema;
  if (const std::string selected = call.parameter("selectedFields"); !selected.empty()) {
    const absl::StatusOr<FieldSelection> selection = FieldSelection::parse(selected, schema);
    if (!selection.ok()) return errorOf(selection.status());
    schema = selectedSchema((*table)->schema, *selection);
  }
  if (call.parameter("view") == "BASIC") {
    return jsonAnswer(tableResource(**table, schema, nullptr, linkBase_));
  }
  const absl::StatusOr<TableSize> size = rowStore_.size((*table)->id);
  if (!size.ok()) return errorOf(size.status());
  return jsonAnswer(tableResource(**table, schema, &*size, linkBase_));
}

ApiResult RestApi::changeTable(const ApiCall& call, const ApiTarget& target) {
  const absl::StatusOr<json> body = parseObject(call.body);
  if (!body.ok()) return parseError(std::string(base::messageOf(body.status())));
  if (const absl::Status status = checkAgreement(*body, target); !status.ok()) {
    return errorOf(status);
  }
  const ChangeKind kind =
      target.method == "tables.patch" ? ChangeKind::kPatch : ChangeKind::kUpdate;
  while (true) {
    const auto live = findTable(target);
    if (!live.ok()) return errorOf(live.status());
    if (!call.ifMatch.empty() && !namesEtag(call.ifMatch, (*live)->etag)) {
      return conditionNotMetError();
    }
    const auto definition = changedTable(**live, *body, kind, catalog_.nowMillis());
    if (!definition.ok()) return errorOf(definition.status());
    const auto changed = catalog_.updateTable(**live, *definition);
    // Another change came between: this one is made to what the table is now.
    if (absl::IsAborted(changed.status())) continue;
    if (!changed.ok()) return errorOf(changed.status());
    const absl::StatusOr<TableSize> size = rowStore_.size((*changed)->id);
    if (!size.ok()) return errorOf(size.status());
    return jsonAnswer(tableResource(**changed, (*changed)->schema, &*size, linkBase_));
  }
}

ApiResult RestApi::deleteTable(const ApiCall& call, const ApiTarget& target) {
  const auto found = findTable(target);
  if (!found.ok()) return errorOf(found.status());
  if (!call.ifMatch.empty() && !namesEtag(call.ifMatch, (*found)->etag)) {
    return conditionNotMetError();
  }
  const auto dropped = catalog_.deleteTable((*found)->reference);
  if (!dropped.ok()) return errorOf(dropped.status());
  dropRows(**dropped);
  return ApiAnswer{204, "", ""};
}

ApiResult RestApi::listTables(const ApiCall& call, const ApiTarget& target) {
  const auto tables = catalog_.listTables({target.project, target.dataset});
  if (!tables.ok()) return errorOf(tables.status());
  const absl::StatusOr<ListPage> page = listPageOf(call, tables->size());
  if (!page.ok()) return errorOf(page.status());
  json entries = json::array();
  for (uint64_t i = page->begin; i < page->end; ++i) {
    entries.push_back(tableListEntry(*(*tables)[i]));
  }
  json answer = {
      {"kind", "bigquery#tableList"}, {"etag", listEtag(entries)}, {"totalItems", tables->size()}};
  if (!entries.empty()) answer["tables"] = std::move(entries);
  if (!page->nextToken.empty()) answer["nextPageToken"] = page->nextToken;
  return jsonAnswer(answer);
}

}  // namespace penstock::emulator
