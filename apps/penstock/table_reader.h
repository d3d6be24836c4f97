#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "penstock/bigquery/schema/table_schema.h"
#include "penstock/bigquery/sink/sink_options.h"
#include "penstock/bigquery/table_name.h"
#include "penstock/gcp/rest_client.h"

namespace penstock::command {

struct TableDescription {
  bigquery::TableSchema schema;
  std::string location;
  uint64_t rows = 0;
  uint64_t bytes = 0;
};

/// What the command asks BigQuery's REST API, waiting for each answer and asking again by
/// `kAskingSchedule` where the service is busy or failing. Errors name the flag that led there and
/// the address, or what the service said.
class TableReader {
 public:
  /// Longest wait for one answer.
  static constexpr base::Duration kTimeout = std::chrono::seconds(10);

  /// `rest` outlives the reader; `options` say how it was reached, for messages.
  TableReader(gcp::RestClient& rest, const bigquery::SinkOptions& options);

  /// None if there is no such table (or dataset).
  [[nodiscard]] absl::StatusOr<std::optional<TableDescription>> findTable(
      const bigquery::TableName& table);
  [[nodiscard]] absl::StatusOr<bool> datasetExists(const bigquery::TableName& table);

  [[nodiscard]] absl::Status createDataset(const bigquery::TableName& table,
                                           const std::string& location);

  /// Calls `visit` with up to `limit` rows, as rowAsJson() makes them, from the table's beginning.
  [[nodiscard]] absl::Status readRows(const bigquery::TableName& table,
                                      const bigquery::TableSchema& schema, uint64_t limit,
                                      const std::function<void(nlohmann::ordered_json)>& visit);

 private:
  [[nodiscard]] gcp::RestResponse ask(const gcp::RestRequest& request);
  /// None: the service says that there is no such thing.
  [[nodiscard]] absl::StatusOr<std::optional<nlohmann::json>> find(const std::string& path);
  [[nodiscard]] absl::Status describe(const gcp::RestResponse& response) const;

  gcp::RestClient& rest_;
  std::string reached_;  // "--emulator-rest-endpoint localhost:9050"
};

}  // namespace penstock::command
