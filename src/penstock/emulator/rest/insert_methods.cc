#include <algorithm>
#include <nlohmann/json.hpp>

#include "penstock/emulator/rest/json_row_encoder.h"
#include "penstock/emulator/rest/kept_members.h"
#include "penstock/emulator/rest/rest_api.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;

// The service's limits.
constexpr size_t kMaxRequestBytes = 10 << 20;
constexpr size_t kMaxRows = 50000;

/// A request of tabledata.insertAll, looked at as far as that needs no table.
struct InsertRequest {
  bool skipInvalidRows = false;
  bool ignoreUnknownValues = false;
  json rows;
};

/// A row that is fine.
struct EncodedRow {
  std::string insertId;  ///< empty = none
  std::string bytes;
};

absl::StatusOr<bool> flagOf(const json& body, const char* name) {
  if (!present(body, name)) return false;
  const json& value = body[name];
  if (value.is_boolean()) return value.get<bool>();
  return base::invalidArgument("Invalid value for {}: must be true or false", name);
}

absl::Status checkRow(const json& row, size_t index) {
  if (!row.is_object())
    return base::invalidArgument("Invalid value for rows[{}]: must be an object", index);
  if (present(row, "json") && !row["json"].is_object()) {
    return base::invalidArgument("Invalid value for rows[{}].json: must be an object", index);
  }
  if (present(row, "insertId") && !row["insertId"].is_string()) {
    return base::invalidArgument("Invalid value for rows[{}].insertId: must be a string", index);
  }
  return absl::OkStatus();
}

absl::StatusOr<InsertRequest> requestOf(json& body) {
  if (present(body, "templateSuffix") && body["templateSuffix"] != "") {
    return base::notSupported("templateSuffix is not supported yet by the Penstock emulator");
  }
  InsertRequest request;
  PENSTOCK_ASSIGN_OR_RETURN(request.skipInvalidRows, flagOf(body, "skipInvalidRows"));
  PENSTOCK_ASSIGN_OR_RETURN(request.ignoreUnknownValues, flagOf(body, "ignoreUnknownValues"));
  if (present(body, "rows")) request.rows = std::move(body["rows"]);
  if (request.rows.empty()) return base::invalidArgument("No rows present in the request.");
  if (!request.rows.is_array())
    return base::invalidArgument("Invalid value for rows: must be a list");
  if (request.rows.size() > kMaxRows) {
    return base::invalidArgument("too many rows present in the request, limit: {} row count: {}.",
                                 kMaxRows, request.rows.size());
  }
  for (size_t i = 0; i < request.rows.size(); ++i) {
    PENSTOCK_RETURN_IF_ERROR(checkRow(request.rows[i], i));
  }
  return request;
}

json insertErrorsEntry(size_t index, const std::vector<InsertError>& errors) {
  json list = json::array();
  for (const InsertError& error : errors) {
    list.push_back({{"reason", "invalid"},
                    {"location", error.location},
                    {"debugInfo", ""},
                    {"message", error.message}});
  }
  return {{"index", index}, {"errors", std::move(list)}};
}

/// What the fine rows of a request are told when another one stops them all.
json stoppedEntry(size_t index) {
  json error = {{"reason", "stopped"}, {"location", ""}, {"debugInfo", ""}, {"message", ""}};
  return {{"index", index}, {"errors", json::array({std::move(error)})}};
}

/// Judges every row. The fine ones go to `encoded` unless a bad one stops them, everything that is
/// to be told to the answer.
json judge(const InsertRequest& request, JsonRowEncoder& encoder,
           std::vector<EncodedRow>& encoded) {
  json errors = json::array();
  std::vector<size_t> fine;
  for (size_t i = 0; i < request.rows.size(); ++i) {
    const json& row = request.rows[i];
    EncodedRow one;
    const std::vector<InsertError> found =
        encoder.encode(present(row, "json") ? row["json"] : json::object(),
                       request.ignoreUnknownValues, one.bytes);
    if (!found.empty()) {
      errors.push_back(insertErrorsEntry(i, found));
      continue;
    }
    one.insertId = textOf(row, "insertId");
    fine.push_back(i);
    encoded.push_back(std::move(one));
  }
  if (errors.empty() || request.skipInvalidRows) return errors;
  encoded.clear();
  for (const size_t index : fine) errors.push_back(stoppedEntry(index));
  std::sort(errors.begin(), errors.end(), [](const json& left, const json& right) {
    return left["index"].get<size_t>() < right["index"].get<size_t>();
  });
  return errors;
}

}  // namespace

ApiResult RestApi::insertRows(const ApiCall& call, const ApiTarget& target) {
  if (call.body.size() > kMaxRequestBytes) {
    return ApiError{
        413, "badRequest",
        fmt::format("Request payload size exceeds the limit: {} bytes.", kMaxRequestBytes)};
  }
  absl::StatusOr<json> body = parseObject(call.body);
  if (!body.ok()) return parseError(std::string(base::messageOf(body.status())));
  const absl::StatusOr<InsertRequest> request = requestOf(*body);
  if (!request.ok()) return errorOf(request.status());
  const auto table = findTable(target);
  if (!table.ok()) return errorOf(table.status());
  const base::WallTime now{std::chrono::milliseconds(catalog_.nowMillis())};
  const std::unique_ptr<base::Random> random = base::systemRandom();
  const auto encoder = JsonRowEncoder::create((*table)->schema, now, *random);
  if (!encoder.ok()) return errorOf(encoder.status());

  std::vector<EncodedRow> rows;
  json errors = judge(*request, **encoder, rows);
  RowFramer framer;
  std::vector<std::string> remembered;
  for (EncodedRow& row : rows) {
    const bool named = !row.insertId.empty();
    if (named && !insertIds_.remember((*table)->id, row.insertId, catalog_.nowMillis())) continue;
    framer.add(row.bytes);
    if (named) remembered.push_back(std::move(row.insertId));
  }
  if (const absl::Status stored = storeRows(**table, (*encoder)->descriptor(), framer);
      !stored.ok()) {
    for (const std::string& id : remembered) insertIds_.forget((*table)->id, id);
    return errorOf(stored);
  }
  json answer = {{"kind", "bigquery#tableDataInsertAllResponse"}};
  if (!errors.empty()) answer["insertErrors"] = std::move(errors);
  return jsonAnswer(answer);
}

absl::Status RestApi::storeRows(const Table& table,
                                const google::protobuf::DescriptorProto& descriptor,
                                RowFramer& framer) {
  const FramedRows rows = framer.rows();
  if (rows.rowCount == 0) return absl::OkStatus();
  PENSTOCK_ASSIGN_OR_RETURN(const RowDescriptorPtr stored,
                            rowStore_.internDescriptor(descriptor.SerializeAsString()));
  return rowStore_.append(table.id, *stored, rows);
}

}  // namespace penstock::emulator
