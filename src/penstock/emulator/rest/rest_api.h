#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/emulator/catalog/catalog.h"
#include "penstock/emulator/rest/api_call.h"
#include "penstock/emulator/rest/insert_ids.h"
#include "penstock/emulator/storage/row_store.h"

namespace google::protobuf {
class DescriptorProto;
}

namespace penstock::emulator {

/// What a path of the API addresses.
struct ApiTarget {
  std::string
      method;  ///< as the API names it: "tables.get"; empty when the path is none of the API's
  std::string project;
  std::string dataset;
  std::string table;
  bool supported = true;  ///< false: a method of the API that the emulator does not have yet

  /// "projects/P/datasets/D/tables/T", as far as it goes.
  [[nodiscard]] std::string resource() const;
};

/// BigQuery's REST API (v2) over a catalog and a row store: the methods without the HTTP server.
/// Thread-safe.
class RestApi {
 public:
  /// Both outlive the API. `origin` is where it is served: "http://127.0.0.1:9050";
  /// `defaultLocation` that of datasets made without one.
  RestApi(Catalog& catalog, RowStore& rowStore, std::string origin, std::string defaultLocation);

  /// The method that a call asks for.
  [[nodiscard]] static ApiTarget targetOf(const ApiCall& call);

  /// Never fails: what goes wrong is in the answer.
  ApiAnswer handle(const ApiCall& call, const ApiTarget& target);

 private:
  using Method = ApiResult (RestApi::*)(const ApiCall&, const ApiTarget&);
  struct NamedMethod {
    std::string_view name;
    Method method;
  };
  static const std::vector<NamedMethod>& methods();

  ApiResult listProjects(const ApiCall& call, const ApiTarget& target);
  ApiResult insertDataset(const ApiCall& call, const ApiTarget& target);
  ApiResult getDataset(const ApiCall& call, const ApiTarget& target);
  ApiResult changeDataset(const ApiCall& call, const ApiTarget& target);
  ApiResult deleteDataset(const ApiCall& call, const ApiTarget& target);
  ApiResult listDatasets(const ApiCall& call, const ApiTarget& target);
  ApiResult insertTable(const ApiCall& call, const ApiTarget& target);
  ApiResult getTable(const ApiCall& call, const ApiTarget& target);
  ApiResult changeTable(const ApiCall& call, const ApiTarget& target);
  ApiResult deleteTable(const ApiCall& call, const ApiTarget& target);
  ApiResult listTables(const ApiCall& call, const ApiTarget& target);
  ApiResult insertRows(const ApiCall& call, const ApiTarget& target);
  ApiResult listRows(const ApiCall& call, const ApiTarget& target);
  ApiResult discoveryDocument(const ApiCall& call, const ApiTarget& target);

  [[nodiscard]] absl::StatusOr<std::shared_ptr<const Dataset>> findDataset(
      const ApiTarget& target) const;
  /// The table, or the error that says whether it or its dataset is missing.
  [[nodiscard]] absl::StatusOr<std::shared_ptr<const Table>> findTable(
      const ApiTarget& target) const;
  absl::Status storeRows(const Table& table, const google::protobuf::DescriptorProto& descriptor,
                         RowFramer& framer);
  void dropRows(const Table& table);

  Catalog& catalog_;
  RowStore& rowStore_;
  InsertIds insertIds_;
  const std::string origin_;
  const std::string linkBase_;
  const std::string defaultLocation_;
};

}  // namespace penstock::emulator
