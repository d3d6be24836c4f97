#include <nlohmann/json.hpp>

#include "penstock/emulator/rest/dataset_definition.h"
#include "penstock/emulator/rest/kept_members.h"
#include "penstock/emulator/rest/label_filter.h"
#include "penstock/emulator/rest/resources.h"
#include "penstock/emulator/rest/rest_api.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;

}  // namespace

ApiResult RestApi::listProjects(const ApiCall& call, const ApiTarget&) {
  const std::vector<std::string> projects = catalog_.listProjects();
  const absl::StatusOr<ListPage> page = listPageOf(call, projects.size());
  if (!page.ok()) return errorOf(page.status());
  json entries = json::array();
  for (uint64_t i = page->begin; i < page->end; ++i) {
    entries.push_back(projectResource(projects[i]));
  }
  json answer = {{"kind", "bigquery#projectList"},
                 {"etag", listEtag(entries)},
                 {"projects", std::move(entries)},
                 {"totalItems", projects.size()}};
  if (!page->nextToken.empty()) answer["nextPageToken"] = page->nextToken;
  return jsonAnswer(answer);
}

ApiResult RestApi::insertDataset(const ApiCall& call, const ApiTarget& target) {
  const absl::StatusOr<json> body = parseObject(call.body);
  if (!body.ok()) return parseError(std::string(base::messageOf(body.status())));
  const json reference = body->value("datasetReference", json::object());
  const std::string id = textOf(reference, "datasetId");
  if (id.empty()) return requiredError("datasetReference.datasetId");
  const std::string project = textOf(reference, "projectId");
  if (!project.empty() && project != target.project) {
    return invalidError(fmt::format(
        "Value '{}' of datasetReference.projectId does not agree with the project '{}' in "
        "the request's path",
        project, target.project));
  }
  const auto definition = parseDatasetDefinition({target.project, id}, *body, defaultLocation_);
  if (!definition.ok()) return errorOf(definition.status());
  const auto dataset = catalog_.createDataset(*definition);
  if (!dataset.ok()) return errorOf(dataset.status());
  return jsonAnswer(datasetResource(**dataset, linkBase_));
}

ApiResult RestApi::getDataset(const ApiCall& call, const ApiTarget& target) {
  const auto dataset = findDataset(target);
  if (!dataset.ok()) return errorOf(dataset.status());
  // bq reads a dataset under the etag that it was told, before it changes it.
  if (!call.ifMatch.empty() && !namesEtag(call.ifMatch, (*dataset)->etag)) {
    return conditionNotMetError();
  }
  return jsonAnswer(datasetResource(**dataset, linkBase_));
}

ApiResult RestApi::changeDataset(const ApiCall& call, const ApiTarget& target) {
  const absl::StatusOr<json> body = parseObject(call.body);
  if (!body.ok()) return parseError(std::string(base::messageOf(body.status())));
  while (true) {
    const auto live = findDataset(target);
    if (!live.ok()) return errorOf(live.status());
    if (!call.ifMatch.empty() && !namesEtag(call.ifMatch, (*live)->etag)) {
      return conditionNotMetError();
    }
    const auto properties = changedDataset(**live, *body, target.method == "datasets.patch");
    if (!properties.ok()) return errorOf(properties.status());
    const auto changed = catalog_.updateDataset(**live, *properties);
    // Another change came between: this one is made to what the dataset is now.
    if (absl::IsAborted(changed.status())) continue;
    if (!changed.ok()) return errorOf(changed.status());
    return jsonAnswer(datasetResource(**changed, linkBase_));
  }
}

ApiResult RestApi::deleteDataset(const ApiCall& call, const ApiTarget& target) {
  const auto dropped = catalog_.deleteDataset({target.project, target.dataset},
                                              call.parameter("deleteContents") == "true");
  if (!dropped.ok()) return errorOf(dropped.status());
  for (const std::shared_ptr<const Table>& table : *dropped) dropRows(*table);
  return ApiAnswer{204, "", ""};
}

ApiResult RestApi::listDatasets(const ApiCall& call, const ApiTarget& target) {
  const absl::StatusOr<LabelFilter> filter = LabelFilter::parse(call.parameter("filter"));
  if (!filter.ok()) return errorOf(filter.status());
  auto datasets = catalog_.listDatasets(target.project);
  // A name that begins with an underscore is hidden until it is asked for.
  const bool hidden = call.parameter("all") == "true";
  std::erase_if(datasets, [&](const std::shared_ptr<const Dataset>& dataset) {
    const bool shown = hidden || !dataset->reference.dataset.starts_with('_');
    return !shown || !filter->matches(membersOf(dataset->properties));
  });
  const absl::StatusOr<ListPage> page = listPageOf(call, datasets.size());
  if (!page.ok()) return errorOf(page.status());
  json entries = json::array();
  for (uint64_t i = page->begin; i < page->end; ++i) {
    entries.push_back(datasetListEntry(*datasets[i]));
  }
  json answer = {{"kind", "bigquery#datasetList"}, {"etag", listEtag(entries)}};
  if (!entries.empty()) answer["datasets"] = std::move(entries);
  if (!page->nextToken.empty()) answer["nextPageToken"] = page->nextToken;
  return jsonAnswer(answer);
}

}  // namespace penstock::emulator
