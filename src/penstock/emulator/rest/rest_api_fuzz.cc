// Bytes as the bodies of REST calls. Whatever they are, the answer is a JSON document, never a
// fault of our own; a table that they make or change can be read, given back as it is, and read
// again.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "penstock/emulator/rest/rest_api.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;

constexpr int kInputsOfADirectory = 500;
constexpr const char* kTables = "/projects/p/datasets/d/tables";
constexpr const char* kTable = "/projects/p/datasets/d/tables/t";
constexpr const char* kSchema = R"({"tableReference": {"tableId": "t"}, "schema": {"fields": [
    {"name": "id", "type": "INTEGER", "mode": "REQUIRED"}, {"name": "name", "type": "STRING"},
    {"name": "at", "type": "TIMESTAMP", "defaultValueExpression": "CURRENT_TIMESTAMP"},
    {"name": "s", "type": "RECORD", "mode": "REPEATED", "fields": [
      {"name": "amount", "type": "NUMERIC", "precision": "10", "scale": "2"},
      {"name": "valid", "type": "RANGE", "rangeElementType": {"type": "DATE"}}]}]}})";

[[noreturn]] void fail(const char* what, const ApiAnswer& answer) {
  std::fprintf(stderr, "%s: %d %s\n", what, answer.httpCode, answer.body.c_str());
  std::abort();
}

/// An API over a directory of its own with a dataset d and a table t in it.
class Api {
 public:
  Api() {
    std::string name = (std::filesystem::temp_directory_path() / "rest-api-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    directory_ = name;
    catalog_ = Catalog::open(directory_, base::systemClock()).value();
    rows_ = RowStore::open((directory_ / "rows").string()).value();
    api_ = std::make_unique<RestApi>(*catalog_, *rows_, "http://127.0.0.1:9050", "US");
    call("POST", "/projects/p/datasets", R"({"datasetReference": {"datasetId": "d"}})");
    makeTable();
  }
  ~Api() { std::filesystem::remove_all(directory_); }

  ApiAnswer call(const char* method, const std::string& path, std::string body) {
    ApiCall call;
    call.httpMethod = method;
    call.path = path;
    call.body = std::move(body);
    ApiAnswer answer = api_->handle(call, RestApi::targetOf(call));
    if (answer.httpCode == 500) fail("a fault of our own", answer);
    if (answer.httpCode == 204) return answer;
    const json parsed = json::parse(answer.body, nullptr, false);
    if (!parsed.is_object()) fail("no JSON object", answer);
    if (answer.httpCode != 200 && parsed["error"]["code"] != answer.httpCode)
      fail("no error envelope", answer);
    return answer;
  }

  void makeTable() {
    const ApiAnswer made = call("POST", kTables, kSchema);
    if (made.httpCode != 200) fail("the table cannot be made", made);
  }

  /// Reads the table, gives it back, and reads it again.
  void checkTable() {
    const ApiAnswer before = call("GET", kTable, "");
    if (before.httpCode != 200) fail("the table cannot be read", before);
    const ApiAnswer given = call("PUT", kTable, before.body);
    if (given.httpCode != 200) fail("the table cannot be given back", given);
    json left = json::parse(before.body);
    json right = json::parse(given.body);
    for (const char* changing : {"etag", "lastModifiedTime"}) {
      left.erase(changing);
      right.erase(changing);
    }
    if (left != right) fail("the table is not what it was", given);
    const ApiAnswer data = call("GET", std::string(kTable) + "/data", "");
    if (data.httpCode != 200) fail("the rows cannot be read", data);
  }

 private:
  std::filesystem::path directory_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<RowStore> rows_;
  std::unique_ptr<RestApi> api_;
};

/// The journal of one directory would grow without an end.
Api& freshApi() {
  static std::unique_ptr<Api> api;
  static int inputs = 0;
  if (api == nullptr || ++inputs % kInputsOfADirectory == 0) api = std::make_unique<Api>();
  return *api;
}

void play(Api& api, char method, std::string body) {
  switch (method) {
    case 'd':
      api.call("PATCH", "/projects/p/datasets/d", std::move(body));
      return;
    case 'D':
      api.call("PUT", "/projects/p/datasets/d", std::move(body));
      return;
    case 'n':
      api.call("POST", "/projects/p/datasets", std::move(body));
      return;
    case 'p':
      api.call("PATCH", kTable, std::move(body));
      return;
    case 'u':
      api.call("PUT", kTable, std::move(body));
      return;
    case 'i':
      api.call("POST", std::string(kTable) + "/insertAll", std::move(body));
      return;
    default:
      api.call("DELETE", kTable, "");
      if (api.call("POST", kTables, std::move(body)).httpCode != 200 ||
          api.call("GET", kTable, "").httpCode != 200) {
        api.makeTable();
      }
  }
}

}  // namespace
}  // namespace penstock::emulator

/// The first byte chooses the method.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  penstock::emulator::Api& api = penstock::emulator::freshApi();
  penstock::emulator::play(api, static_cast<char>(data[0]),
                           std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  api.checkTable();
  return 0;
}
