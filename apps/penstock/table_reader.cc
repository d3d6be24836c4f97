#include "apps/penstock/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "apps/penstock/asking.h"
#include "apps/penstock/row_json.h"
#include "penstock/bigquery/schema/schema_json.h"
#include "penstock/bigquery/sink/table_admin.h"

namespace penstock::command {
namespace {

using bigquery::TableName;
using nlohmann::json;

constexpr int kNotFound = 404;

std::string datasetPath(const TableName& table) {
  return fmt::format("/bigquery/v2/projects/{}/datasets/{}", gcp::urlEncode(table.project),
                     gcp::urlEncode(table.dataset));
}

std::string tablePath(const TableName& table) {
  return fmt::format("{}/tables/{}", datasetPath(table), gcp::urlEncode(table.table));
}

/// int64 values are strings in this API; absent ones are 0.
uint64_t numberIn(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return 0;
  if (found->is_number_unsigned()) return found->get<uint64_t>();
  if (!found->is_string()) return 0;
  const std::string& text = found->get_ref<const std::string&>();
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string stringIn(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string howReached(const bigquery::SinkOptions& options) {
  if (options.emulatorRestEndpoint) {
    return fmt::format("--emulator-rest-endpoint {}", options.emulatorRestEndpoint->text());
  }
  if (options.serviceRestEndpoint) {
    return fmt::format("--service-rest-endpoint {}", options.serviceRestEndpoint->text());
  }
  return "BigQuery's REST API";
}

}  // namespace

TableReader::TableReader(gcp::RestClient& rest, const bigquery::SinkOptions& options)
    : rest_(rest), reached_(howReached(options)) {}

absl::Status TableReader::describe(const gcp::RestResponse& response) const {
  if (response.httpCode == 0 && response.status.code() != absl::StatusCode::kUnavailable &&
      response.status.code() != absl::StatusCode::kDeadlineExceeded) {
    return response.status;  // no access token: the message names the credentials' setting
  }
  if (response.httpCode == 0) {
    return base::makeStatus(response.status.code(), "{}: {}", reached_,
                            base::messageOf(response.status));
  }
  return base::makeStatus(response.status.code(), "{} answered HTTP {}: {}", reached_,
                          response.httpCode, base::messageOf(response.status));
}

gcp::RestResponse TableReader::ask(const gcp::RestRequest& request) {
  // Without an HTTP answer the address is wrong, as a rule, and that is told at once.
  const auto isPassing = [](const gcp::RestResponse& response) {
    return response.httpCode != 0 &&
           bigquery::isPassing({response.status, response.httpCode, response.reason});
  };
  return askPatiently([&] { return rest_.callAndWait(request); }, isPassing);
}

absl::StatusOr<std::optional<json>> TableReader::find(const std::string& path) {
  const gcp::RestResponse response = ask({.path = path, .timeout = kTimeout});
  json body = json::parse(response.body, nullptr, /*allow_exceptions=*/false);
  if (response.httpCode == kNotFound) {
    // Any web server answers 404; only BigQuery explains it in its own form.
    if (body.is_object() && body.contains("error")) return std::optional<json>();
    return base::makeStatus(
        absl::StatusCode::kNotFound,
        "{} answered HTTP 404, but not as BigQuery does: is it the right address?", reached_);
  }
  if (!response.status.ok()) return describe(response);
  if (!body.is_object()) {
    return base::makeStatus(absl::StatusCode::kInternal, "{}: the answer is not a JSON object",
                            reached_);
  }
  return std::optional(std::move(body));
}

absl::StatusOr<std::optional<TableDescription>> TableReader::findTable(const TableName& table) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::optional<json> body, find(tablePath(table)));
  if (!body) return std::optional<TableDescription>();
  TableDescription description{.location = stringIn(*body, "location"),
                               .rows = numberIn(*body, "numRows"),
                               .bytes = numberIn(*body, "numBytes")};
  const auto schema = body->find("schema");
  if (schema != body->end() && schema->contains("fields") && !(*schema)["fields"].empty()) {
    PENSTOCK_ASSIGN_OR_RETURN(description.schema, bigquery::parseSchemaJson(schema->dump()));
  }
  return std::optional(std::move(description));
}

absl::StatusOr<bool> TableReader::datasetExists(const TableName& table) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::optional<json> body, find(datasetPath(table)));
  return body.has_value();
}

absl::Status TableReader::createDataset(const TableName& table, const std::string& location) {
  const json body = {
      {"datasetReference", {{"projectId", table.project}, {"datasetId", table.dataset}}},
      {"location", location}};
  const gcp::RestResponse response =
      ask({.method = "POST",
           .path = fmt::format("/bigquery/v2/projects/{}/datasets", gcp::urlEncode(table.project)),
           .body = body.dump(),
           .timeout = kTimeout});
  constexpr int kConflict = 409;  // somebody else was faster
  if (response.status.ok() || response.httpCode == kConflict) return absl::OkStatus();
  return describe(response);
}

absl::Status TableReader::readRows(const TableName& table, const bigquery::TableSchema& schema,
                                   uint64_t limit,
                                   const std::function<void(nlohmann::ordered_json)>& visit) {
  constexpr uint64_t kPage = 10'000;
  std::string pageToken;
  while (limit > 0) {
    std::string path = fmt::format("{}/data?maxResults={}&formatOptions.useInt64Timestamp=true",
                                   tablePath(table), std::min(limit, kPage));
    if (!pageToken.empty()) path += "&pageToken=" + gcp::urlEncode(pageToken);
    PENSTOCK_ASSIGN_OR_RETURN(const std::optional<json> body, find(path));
    if (!body)
      return base::makeStatus(absl::StatusCode::kNotFound, "the table {} is gone", table.dotted());
    const auto rows = body->find("rows");
    if (rows != body->end()) {
      for (const json& row : *rows) {
        if (limit == 0) break;
        PENSTOCK_ASSIGN_OR_RETURN(nlohmann::ordered_json object, rowAsJson(schema.columns, row));
        visit(std::move(object));
        --limit;
      }
    }
    pageToken = stringIn(*body, "pageToken");
    if (pageToken.empty()) break;
  }
  return absl::OkStatus();
}

}  // namespace penstock::command
