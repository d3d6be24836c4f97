#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "penstock/emulator/catalog/catalog.h"
#include "penstock/emulator/rest/field_selection.h"
#include "penstock/emulator/storage/row_store.h"

/// The JSON resources of the API.
namespace penstock::emulator {

/// Where a resource's `selfLink` starts: "http://127.0.0.1:9050/bigquery/v2/projects/".
using LinkBase = std::string;

[[nodiscard]] nlohmann::json datasetResource(const Dataset& dataset, const LinkBase& linkBase);
/// As datasets.list shows it.
[[nodiscard]] nlohmann::json datasetListEntry(const Dataset& dataset);

/// `size` null = without what is counted (the view BASIC).
[[nodiscard]] nlohmann::json tableResource(const Table& table, const Schema& schema,
                                           const TableSize* size, const LinkBase& linkBase);
/// As tables.list shows it.
[[nodiscard]] nlohmann::json tableListEntry(const Table& table);

/// The etag of a list, which differs when its entries do.
[[nodiscard]] std::string listEtag(const nlohmann::json& entries);

[[nodiscard]] nlohmann::json projectResource(const std::string& project);

}  // namespace penstock::emulator
