#include "simulated_tables.h"

#include <fmt/format.h>

#include <utility>

namespace penstock::simulation {

using bigquery::AppendResponse;
using bigquery::StorageErrorCode;

namespace {

/// True: `response` says which rows are refused.
bool refuse(const std::vector<std::string>& rows, AppendResponse& response) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].rfind("bad", 0) == 0) {
      response.rowErrors.push_back({static_cast<int64_t>(i), "refused"});
    }
  }
  if (response.rowErrors.empty()) return false;
  response.status = absl::InvalidArgumentError("row errors");
  return true;
}

}  // namespace

SimulatedTable* SimulatedTables::find(const std::string& resource) {
  const auto found = tables_.find(resource);
  return found == tables_.end() ? nullptr : &found->second;
}

SimulatedStream& SimulatedTables::createStream(const std::string& table) {
  std::string name = fmt::format("{}/streams/s{}", table, streams_.size() + 1);
  SimulatedStream& stream = streams_[name];
  stream.name = std::move(name);
  stream.table = table;
  return stream;
}

SimulatedStream* SimulatedTables::findStream(const std::string& name) {
  const auto found = streams_.find(name);
  return found == streams_.end() ? nullptr : &found->second;
}

void SimulatedTables::show(SimulatedTable& table, const std::string& row) {
  ++table.rows[row];
  if (onVisible_) onVisible_(row);
}

AppendResponse SimulatedTables::append(SimulatedTable& table,
                                       const std::vector<std::string>& rows) {
  AppendResponse response;
  if (refuse(rows, response)) return response;
  for (const std::string& row : rows) show(table, row);
  return response;
}

AppendResponse SimulatedTables::append(SimulatedStream& stream, int64_t offset,
                                       const std::vector<std::string>& rows) {
  AppendResponse response;
  if (rowsFirst_ && refuse(rows, response)) return response;
  const auto end = static_cast<int64_t>(stream.rows.size());
  if (offset < end) {
    response.status = absl::AlreadyExistsError(fmt::format("the stream ends at {}", end));
    response.storageError = StorageErrorCode::kOffsetAlreadyExists;
    return response;
  }
  if (offset > end) {
    response.status = absl::OutOfRangeError(fmt::format("the stream ends at {}", end));
    response.storageError = StorageErrorCode::kOffsetOutOfRange;
    return response;
  }
  if (refuse(rows, response)) return response;
  stream.rows.insert(stream.rows.end(), rows.begin(), rows.end());
  response.offset = offset;
  return response;
}

bigquery::StreamError SimulatedTables::flush(SimulatedStream& stream, int64_t offset) {
  if (offset >= static_cast<int64_t>(stream.rows.size())) {
    return {absl::OutOfRangeError("beyond the end of the stream"),
            StorageErrorCode::kOffsetOutOfRange};
  }
  if (offset < static_cast<int64_t>(stream.visible)) {
    return {absl::AlreadyExistsError("flushed already"), StorageErrorCode::kOffsetAlreadyExists};
  }
  SimulatedTable& table = tables_[stream.table];
  while (static_cast<int64_t>(stream.visible) <= offset) show(table, stream.rows[stream.visible++]);
  return {};
}

}  // namespace penstock::simulation
