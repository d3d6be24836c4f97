#include "penstock/emulator/rest/rest_api.h"

#include <array>
#include <nlohmann/json.hpp>

#include "penstock/base/log.h"

namespace penstock::emulator {
namespace {

using Segments = std::vector<std::string>;

Segments segmentsOf(std::string_view path) {
  Segments segments;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) segments.emplace_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return segments;
}

bool startsWith(const Segments& segments, std::initializer_list<std::string_view> prefix) {
  return segments.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), segments.begin());
}

/// One form of path: "*" stands for a name, which goes to project, dataset and table in this order,
/// "?" for one that nobody asks for.
struct Route {
  std::string_view httpMethod;
  std::string_view path;
  std::string_view method;
  bool supported;
};

constexpr Route kRoutes[] = {
    {"GET", "projects", "projects.list", true},
    {"GET", "projects/*/serviceAccount", "projects.getServiceAccount", false},
    {"GET", "projects/*/datasets", "datasets.list", true},
    {"POST", "projects/*/datasets", "datasets.insert", true},
    {"GET", "projects/*/datasets/*", "datasets.get", true},
    {"PATCH", "projects/*/datasets/*", "datasets.patch", true},
    {"PUT", "projects/*/datasets/*", "datasets.update", true},
    {"DELETE", "projects/*/datasets/*", "datasets.delete", true},
    {"POST", "projects/*/datasets/*:undelete", "datasets.undelete", false},
    {"GET", "projects/*/datasets/*/tables", "tables.list", true},
    {"POST", "projects/*/datasets/*/tables", "tables.insert", true},
    {"GET", "projects/*/datasets/*/tables/*", "tables.get", true},
    {"PATCH", "projects/*/datasets/*/tables/*", "tables.patch", true},
    {"PUT", "projects/*/datasets/*/tables/*", "tables.update", true},
    {"DELETE", "projects/*/datasets/*/tables/*", "tables.delete", true},
    {"POST", "projects/*/datasets/*/tables/*:getIamPolicy", "tables.getIamPolicy", false},
    {"POST", "projects/*/datasets/*/tables/*:setIamPolicy", "tables.setIamPolicy", false},
    {"POST", "projects/*/datasets/*/tables/*:testIamPermissions", "tables.testIamPermissions",
     false},
    {"GET", "projects/*/datasets/*/tables/*/data", "tabledata.list", true},
    {"POST", "projects/*/datasets/*/tables/*/insertAll", "tabledata.insertAll", true},
    {"GET", "projects/*/datasets/*/tables/*/rowAccessPolicies", "rowAccessPolicies.list", false},
    {"POST", "projects/*/datasets/*/tables/*/rowAccessPolicies", "rowAccessPolicies.insert", false},
    {"GET", "projects/*/datasets/*/tables/*/rowAccessPolicies/?", "rowAccessPolicies.get", false},
    {"PUT", "projects/*/datasets/*/tables/*/rowAccessPolicies/?", "rowAccessPolicies.update",
     false},
    {"DELETE", "projects/*/datasets/*/tables/*/rowAccessPolicies/?", "rowAccessPolicies.delete",
     false},
    {"GET", "projects/*/datasets/*/models", "models.list", false},
    {"GET", "projects/*/datasets/*/models/?", "models.get", false},
    {"PATCH", "projects/*/datasets/*/models/?", "models.patch", false},
    {"DELETE", "projects/*/datasets/*/models/?", "models.delete", false},
    {"GET", "projects/*/datasets/*/routines", "routines.list", false},
    {"POST", "projects/*/datasets/*/routines", "routines.insert", false},
    {"GET", "projects/*/datasets/*/routines/?", "routines.get", false},
    {"PUT", "projects/*/datasets/*/routines/?", "routines.update", false},
    {"DELETE", "projects/*/datasets/*/routines/?", "routines.delete", false},
    {"GET", "projects/*/jobs", "jobs.list", false},
    {"POST", "projects/*/jobs", "jobs.insert", false},
    {"PUT", "projects/*/jobs", "jobs.insert", false},
    {"GET", "projects/*/jobs/?", "jobs.get", false},
    {"POST", "projects/*/jobs/?/cancel", "jobs.cancel", false},
    {"DELETE", "projects/*/jobs/?/delete", "jobs.delete", false},
    {"POST", "projects/*/queries", "jobs.query", false},
    {"GET", "projects/*/queries/?", "jobs.getQueryResults", false},
    {"GET", "$discovery/rest", "discovery", true},
    {"GET", "discovery/v1/apis/bigquery/v2/rest", "discovery", true},
};

/// Whether the segment is what the pattern says; a name in it goes to `name`.
bool matches(std::string_view pattern, std::string_view segment, std::string* name) {
  if (pattern == "?") return true;
  if (!pattern.starts_with('*')) return pattern == segment;
  const std::string_view suffix = pattern.substr(1);  // ":undelete"
  if (!segment.ends_with(suffix) || segment.size() == suffix.size() || name == nullptr)
    return false;
  *name = segment.substr(0, segment.size() - suffix.size());
  return true;
}

bool matches(const Route& route, const Segments& segments, ApiTarget& target) {
  const Segments pattern = segmentsOf(route.path);
  if (pattern.size() != segments.size()) return false;
  const std::array<std::string*, 3> names = {&target.project, &target.dataset, &target.table};
  size_t next = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const bool named = pattern[i].starts_with('*');
    if (!matches(pattern[i], segments[i], named ? names[next++] : nullptr)) return false;
  }
  return true;
}

}  // namespace

std::string ApiTarget::resource() const {
  std::string name;
  if (!project.empty()) name += "projects/" + project;
  if (!dataset.empty()) name += "/datasets/" + dataset;
  if (!table.empty()) name += "/tables/" + table;
  return name;
}

RestApi::RestApi(Catalog& catalog, RowStore& rowStore, std::string origin,
                 std::string defaultLocation)
    : catalog_(catalog),
      rowStore_(rowStore),
      origin_(std::move(origin)),
      linkBase_(origin_ + "/bigquery/v2/projects/"),
      defaultLocation_(std::move(defaultLocation)) {}

ApiTarget RestApi::targetOf(const ApiCall& call) {
  Segments segments = segmentsOf(call.path);
  if (startsWith(segments, {"upload"}) || startsWith(segments, {"resumable"}))
    segments.erase(segments.begin());
  if (startsWith(segments, {"bigquery", "v2"}))
    segments.erase(segments.begin(), segments.begin() + 2);
  for (const Route& route : kRoutes) {
    ApiTarget target;
    if (route.httpMethod != call.httpMethod || !matches(route, segments, target)) continue;
    target.method = route.method;
    target.supported = route.supported;
    return target;
  }
  return {};
}

const std::vector<RestApi::NamedMethod>& RestApi::methods() {
  static const std::vector<NamedMethod> table = {
      {"projects.list", &RestApi::listProjects},
      {"datasets.insert", &RestApi::insertDataset},
      {"datasets.get", &RestApi::getDataset},
      {"datasets.patch", &RestApi::changeDataset},
      {"datasets.update", &RestApi::changeDataset},
      {"datasets.delete", &RestApi::deleteDataset},
      {"datasets.list", &RestApi::listDatasets},
      {"tables.insert", &RestApi::insertTable},
      {"tables.get", &RestApi::getTable},
      {"tables.delete", &RestApi::deleteTable},
      {"tables.patch", &RestApi::changeTable},
      {"tables.update", &RestApi::changeTable},
      {"tables.list", &RestApi::listTables},
      {"tabledata.list", &RestApi::listRows},
      {"tabledata.insertAll", &RestApi::insertRows},
      {"discovery", &RestApi::discoveryDocument},
  };
  return table;
}

ApiAnswer RestApi::handle(const ApiCall& call, const ApiTarget& target) {
  if (target.method.empty()) {
    return ApiResult(ApiError{404, "notFound",
                              fmt::format("Not found: URL {} {}", call.httpMethod, call.path)})
        .take();
  }
  if (target.supported) {
    for (const NamedMethod& named : methods()) {
      if (named.name != target.method) continue;
      try {
        ApiAnswer answer = (this->*named.method)(call, target).take();
        const bool unchanged = call.httpMethod == "GET" && answer.httpCode == 200 &&
                               !answer.etag.empty() && namesEtag(call.ifNoneMatch, answer.etag);
        if (unchanged) return {304, "", answer.etag};
        return answer;
      } catch (const std::exception& exception) {
        // Only bad_alloc and faults of our own come here: bodies are checked member by member.
        return ApiResult(ApiError{500, "internalError",
                                  fmt::format("{}: {}", target.method, exception.what())})
            .take();
      }
    }
  }
  return ApiResult(notSupportedError(target.method)).take();
}

absl::StatusOr<std::shared_ptr<const Dataset>> RestApi::findDataset(const ApiTarget& target) const {
  const DatasetReference reference{target.project, target.dataset};
  std::shared_ptr<const Dataset> dataset = catalog_.findDataset(reference);
  if (dataset != nullptr) return dataset;
  return base::makeStatus(absl::StatusCode::kNotFound, "Not found: Dataset {}", reference.text());
}

absl::StatusOr<std::shared_ptr<const Table>> RestApi::findTable(const ApiTarget& target) const {
  const TableReference reference{target.project, target.dataset, target.table};
  std::shared_ptr<const Table> table = catalog_.findTable(reference);
  if (table != nullptr) return table;
  PENSTOCK_RETURN_IF_ERROR(findDataset(target).status());
  return base::makeStatus(absl::StatusCode::kNotFound, "Not found: Table {}", reference.text());
}

void RestApi::dropRows(const Table& table) {
  // The table is gone from the catalog whatever comes of this: its rows are found and dropped at
  // the next start.
  if (const absl::Status status = rowStore_.drop(table.id); !status.ok()) {
    base::logWarning("emulator: rows of {} stay on disk until the next start: {}",
                     table.reference.text(), base::describe(status));
  }
}

}  // namespace penstock::emulator
