#include <nlohmann/json.hpp>

#include "penstock/emulator/rest/rest_api.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;

json pathParameter(const char* name) {
  return {{name, {{"type", "string"}, {"location", "path"}, {"required", true}}}};
}

json queryParameter(const char* type, bool repeated = false) {
  json parameter = {{"type", type}, {"location", "query"}};
  if (repeated) parameter["repeated"] = true;
  return parameter;
}

/// One method; path parameters are read off the path, bodies and answers are named by their schema.
json method(const char* id, const char* httpMethod, const std::string& path,
            json query = json::object(), const char* request = nullptr,
            const char* response = nullptr) {
  json result = {{"id", std::string("bigquery.") + id},
                 {"path", path},
                 {"flatPath", path},
                 {"httpMethod", httpMethod}};
  json parameters = std::move(query);
  json order = json::array();
  for (size_t open = path.find('{'); open != std::string::npos; open = path.find('{', open + 1)) {
    const std::string name = path.substr(open + 2, path.find('}', open) - open - 2);
    parameters.update(pathParameter(name.c_str()));
    order.push_back(name);
  }
  result["parameters"] = std::move(parameters);
  result["parameterOrder"] = std::move(order);
  if (request != nullptr) result["request"] = {{"$ref", request}};
  if (response != nullptr) result["response"] = {{"$ref", response}};
  return result;
}

const std::string kProject = "projects/{+projectId}";
const std::string kDatasets = kProject + "/datasets";
const std::string kDataset = kDatasets + "/{+datasetId}";
const std::string kTablesPath = kDataset + "/tables";
const std::string kTablePath = kTablesPath + "/{+tableId}";
const std::string kJobs = kProject + "/jobs";
const std::string kQueries = kProject + "/queries";

json paging() {
  return {{"maxResults", queryParameter("integer")}, {"pageToken", queryParameter("string")}};
}

json datasetMethods() {
  json list = paging();
  list["all"] = queryParameter("boolean");
  list["filter"] = queryParameter("string");
  const json version = {{"accessPolicyVersion", queryParameter("integer")}};
  json get = version;
  get["datasetView"] = queryParameter("string");
  json change = version;
  change["updateMode"] = queryParameter("string");
  return {{"get", method("datasets.get", "GET", kDataset, get, nullptr, "Dataset")},
          {"insert", method("datasets.insert", "POST", kDatasets, version, "Dataset", "Dataset")},
          {"list", method("datasets.list", "GET", kDatasets, list, nullptr, "DatasetList")},
          {"patch", method("datasets.patch", "PATCH", kDataset, change, "Dataset", "Dataset")},
          {"update", method("datasets.update", "PUT", kDataset, change, "Dataset", "Dataset")},
          {"delete", method("datasets.delete", "DELETE", kDataset,
                            {{"deleteContents", queryParameter("boolean")}})}};
}

json tableMethods() {
  const json schemaUpdate = {{"autodetect_schema", queryParameter("boolean")}};
  return {
      {"get",
       method("tables.get", "GET", kTablePath,
              {{"selectedFields", queryParameter("string")}, {"view", queryParameter("string")}},
              nullptr, "Table")},
      {"insert", method("tables.insert", "POST", kTablesPath, json::object(), "Table", "Table")},
      {"list", method("tables.list", "GET", kTablesPath, paging(), nullptr, "TableList")},
      {"patch", method("tables.patch", "PATCH", kTablePath, schemaUpdate, "Table", "Table")},
      {"update", method("tables.update", "PUT", kTablePath, schemaUpdate, "Table", "Table")},
      {"delete", method("tables.delete", "DELETE", kTablePath)}};
}

json tabledataMethods() {
  json list = paging();
  list["startIndex"] = queryParameter("string");
  list["selectedFields"] = queryParameter("string");
  list["formatOptions.useInt64Timestamp"] = queryParameter("boolean");
  list["formatOptions.timestampOutputFormat"] = queryParameter("string");
  return {
      {"list",
       method("tabledata.list", "GET", kTablePath + "/data", list, nullptr, "TableDataList")},
      {"insertAll", method("tabledata.insertAll", "POST", kTablePath + "/insertAll", json::object(),
                           "TableDataInsertAllRequest", "TableDataInsertAllResponse")}};
}

json jobMethods() {
  json list = paging();
  list["allUsers"] = queryParameter("boolean");
  list["projection"] = queryParameter("string");
  list["stateFilter"] = queryParameter("string", true);
  list["minCreationTime"] = queryParameter("string");
  list["maxCreationTime"] = queryParameter("string");
  list["parentJobId"] = queryParameter("string");
  json results = paging();
  results["location"] = queryParameter("string");
  results["startIndex"] = queryParameter("string");
  results["timeoutMs"] = queryParameter("integer");
  results["formatOptions.useInt64Timestamp"] = queryParameter("boolean");
  const json location = {{"location", queryParameter("string")}};
  json insert = method("jobs.insert", "POST", kJobs, json::object(), "Job", "Job");
  insert["supportsMediaUpload"] = true;
  insert["mediaUpload"] = {
      {"accept", {"*/*"}},
      {"protocols",
       {{"simple", {{"multipart", true}, {"path", "/upload/bigquery/v2/" + kJobs}}},
        {"resumable", {{"multipart", true}, {"path", "/resumable/upload/bigquery/v2/" + kJobs}}}}}};
  return {{"get", method("jobs.get", "GET", kJobs + "/{+jobId}", location, nullptr, "Job")},
          {"list", method("jobs.list", "GET", kJobs, list, nullptr, "JobList")},
          {"insert", std::move(insert)},
          {"cancel", method("jobs.cancel", "POST", kJobs + "/{+jobId}/cancel", location, nullptr,
                            "JobCancelResponse")},
          {"delete", method("jobs.delete", "DELETE", kJobs + "/{+jobId}/delete", location)},
          {"query",
           method("jobs.query", "POST", kQueries, json::object(), "QueryRequest", "QueryResponse")},
          {"getQueryResults", method("jobs.getQueryResults", "GET", kQueries + "/{+jobId}", results,
                                     nullptr, "GetQueryResultsResponse")}};
}

/// The bodies stand open: clients check names of methods and parameters, not the members of a body.
json schemas() {
  json result = json::object();
  for (const char* name : {"Dataset", "DatasetList", "Table", "TableList", "TableDataList",
                           "TableDataInsertAllRequest", "TableDataInsertAllResponse", "Job",
                           "JobList", "JobCancelResponse", "QueryRequest", "QueryResponse",
                           "GetQueryResultsResponse", "ProjectList", "GetServiceAccountResponse",
                           "Model", "ListModelsResponse", "Routine", "ListRoutinesResponse"}) {
    result[name] = {{"id", name}, {"type", "object"}, {"additionalProperties", {{"type", "any"}}}};
  }
  return result;
}

json resources() {
  return {
      {"projects",
       {{"methods",
         {{"list", method("projects.list", "GET", "projects", paging(), nullptr, "ProjectList")},
          {"getServiceAccount",
           method("projects.getServiceAccount", "GET", kProject + "/serviceAccount", json::object(),
                  nullptr, "GetServiceAccountResponse")}}}}},
      {"datasets", {{"methods", datasetMethods()}}},
      {"tables", {{"methods", tableMethods()}}},
      {"tabledata", {{"methods", tabledataMethods()}}},
      {"jobs", {{"methods", jobMethods()}}},
      {"models",
       {{"methods",
         {{"list", method("models.list", "GET", kDataset + "/models", paging(), nullptr,
                          "ListModelsResponse")},
          {"get", method("models.get", "GET", kDataset + "/models/{+modelId}", json::object(),
                         nullptr, "Model")}}}}},
      {"routines",
       {{"methods",
         {{"list", method("routines.list", "GET", kDataset + "/routines", paging(), nullptr,
                          "ListRoutinesResponse")},
          {"get", method("routines.get", "GET", kDataset + "/routines/{+routineId}", json::object(),
                         nullptr, "Routine")}}}}}};
}

}  // namespace

ApiResult RestApi::discoveryDocument(const ApiCall&, const ApiTarget&) {
  const std::string root = origin_ + "/";
  return jsonAnswer(
      {{"kind", "discovery#restDescription"},
       {"discoveryVersion", "v1"},
       {"id", "bigquery:v2"},
       {"name", "bigquery"},
       {"version", "v2"},
       {"revision", "20240101"},
       {"title", "BigQuery API"},
       {"description", "The part of the BigQuery API that the Penstock emulator knows."},
       {"protocol", "rest"},
       {"rootUrl", root},
       {"servicePath", "bigquery/v2/"},
       {"basePath", "/bigquery/v2/"},
       {"baseUrl", root + "bigquery/v2/"},
       {"batchPath", "batch/bigquery/v2"},
       {"parameters",
        {{"$.xgafv", queryParameter("string")},
         {"access_token", queryParameter("string")},
         {"alt", queryParameter("string")},
         {"callback", queryParameter("string")},
         {"fields", queryParameter("string")},
         {"key", queryParameter("string")},
         {"oauth_token", queryParameter("string")},
         {"prettyPrint", queryParameter("boolean")},
         {"quotaUser", queryParameter("string")},
         {"uploadType", queryParameter("string")},
         {"upload_protocol", queryParameter("string")},
         {"userIp", queryParameter("string")}}},
       {"auth", {{"oauth2", {{"scopes", json::object()}}}}},
       {"schemas", schemas()},
       {"resources", resources()}});
}

}  // namespace penstock::emulator
