// Loads that go on while a column is added to their table from outside.
#include <fcntl.h>
#include <httplib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/penstock/testing/command_fixtures.h"
#include "apps/penstock/testing/order_messages.h"

namespace penstock::command {
namespace {

using ::testing::HasSubstr;

class CommandNewColumns : public CommandWithFaults {
 protected:
  CommandNewColumns() {
    EXPECT_EQ(::mkfifo(pipe_.c_str(), 0600), 0);
    input_ = ::open(pipe_.c_str(), O_RDWR | O_CLOEXEC);
  }
  ~CommandNewColumns() override { endInput(); }

  void send(const std::string& record) const {
    EXPECT_EQ(::write(input_, record.data(), record.size()), static_cast<ssize_t>(record.size()));
  }
  void endInput() {
    if (input_ >= 0) ::close(input_);
    input_ = -1;
  }
  /// An empty table of `columns`: fields in BigQuery's JSON form.
  void makeTable(const std::string& table, const std::string& columns) const {
    request("POST", kTables,
            fmt::format(R"({{"tableReference":{{"projectId":"p","datasetId":"d","tableId":"{}"}},
                             "schema":{{"fields":[{}]}}}})",
                        table, columns));
  }
  /// What someone else does to the table.
  void changeTable(const std::string& table, const std::string& columns) const {
    request("PATCH", fmt::format("{}/{}", kTables, table),
            fmt::format(R"({{"schema":{{"fields":[{}]}}}})", columns));
  }
  std::string rowsOf(const std::string& table) const {
    return runCommand(withEmulator({"head", "p.d." + table, "--json", "-n", "1000"})).out;
  }
  /// Waits until the table has the row that begins with {"id":ID.
  bool hasRow(RunningCommand& load, const std::string& table, int id) {
    const std::string row = fmt::format("{{\"id\":{}", id);
    return load.waitFor([&] { return rowsOf(table).find(row) != std::string::npos; });
  }
  /// Sends rows with a value for the new column, each after the one before is there, until one
  /// arrives with `value`: the answer to the first of them tells the sink of the column.
  bool arrivesWith(RunningCommand& load, const std::string& table, const std::string& value,
                   const std::function<std::string(int)>& record) {
    constexpr int kMostRows = 10;
    for (int id = 1; id <= kMostRows; ++id) {
      send(record(id));
      if (!hasRow(load, table, id)) return false;
      if (rowsOf(table).find(value) != std::string::npos) return true;
    }
    return false;
  }

  static constexpr const char* kTables = "/bigquery/v2/projects/p/datasets/d/tables";
  static constexpr const char* kId = R"({"name":"id","type":"INTEGER"})";
  static constexpr const char* kIdAndName =
      R"({"name":"id","type":"INTEGER"},{"name":"name","type":"STRING"})";
  const std::string pipe_ = folder_.path("pipe");

 private:
  void request(const std::string& method, const std::string& path, const std::string& body) const {
    httplib::Client client("127.0.0.1", emulator_->ports().rest);
    const auto answer = method == "POST" ? client.Post(path, body, "application/json")
                                         : client.Patch(path, body, "application/json");
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->status, 200) << answer->body;
  }

  int input_ = -1;
};

// BQW-164, BQW-166
TEST_F(CommandNewColumns, AColumnThatIsAddedWhileALoadRunsIsFilled) {
  makeTable("t", kId);
  RunningCommand load(withEmulator({"load", pipe_, "--to", "p.d.t", "--flush-interval", "10ms",
                                    "--ignore-unknown-fields", "--json"}));
  send("{\"id\":0,\"name\":\"early\"}\n");
  ASSERT_TRUE(hasRow(load, "t", 0)) << load.errorText();
  changeTable("t", kIdAndName);
  EXPECT_TRUE(arrivesWith(load, "t", "\"name\":\"late\"", [](int id) {
    return fmt::format("{{\"id\":{},\"name\":\"late\"}}\n", id);
  })) << rowsOf("t");
  endInput();
  const CommandResult result = load.wait();
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_THAT(rowsOf("t"), HasSubstr("{\"id\":0,\"name\":null}\n")) << "it had no column";
}

// BQW-164, BQW-166: by messages, whose fields are paired with the columns anew.
TEST_F(CommandNewColumns, SoItIsFromMessages) {
  makeTable("t", kId);
  RunningCommand load(withEmulator({"load", pipe_, "--to", "p.d.t", "--flush-interval", "10ms",
                                    "--format", "protobuf", "--descriptor-set", PENSTOCK_ORDER_SET,
                                    "--message", "shop.Order", "--ignore-unknown-fields"}));
  shop::Order early = orderOf(0);
  early.set_token(300);
  send(framed<shop::Order>({early}));
  ASSERT_TRUE(hasRow(load, "t", 0)) << load.errorText();
  changeTable("t", R"({"name":"id","type":"INTEGER"},{"name":"token","type":"INTEGER"})");
  EXPECT_TRUE(arrivesWith(load, "t", "\"token\":7", [](int id) {
    shop::Order order = orderOf(id);
    order.set_token(7);
    return framed<shop::Order>({order});
  })) << rowsOf("t");
  endInput();
  EXPECT_EQ(load.wait().exitCode, 0) << load.errorText();
}

// BQW-164, BQW-166: of the tables of a template, the one that is changed.
TEST_F(CommandNewColumns, SoItIsInTheTableOfARecord) {
  makeTable("t_a", kId);
  makeTable("t_b", kId);
  const std::string pipeline = folder_.write(
      "pipeline.yaml",
      fmt::format("source:\n  files: {}\nsink:\n  connector: bigquery\n  table: p.d.t_${{name}}\n"
                  "  ignore-unknown-fields: true\n  options:\n    sink.flush-interval: 10ms\n",
                  pipe_));
  RunningCommand load(withEmulator({"run", pipeline}));
  send("{\"id\":0,\"name\":\"a\"}\n{\"id\":0,\"name\":\"b\"}\n");
  ASSERT_TRUE(hasRow(load, "t_a", 0) && hasRow(load, "t_b", 0)) << load.errorText();
  changeTable("t_b", kIdAndName);
  EXPECT_TRUE(arrivesWith(load, "t_b", "\"name\":\"b\"", [](int id) {
    return fmt::format("{{\"id\":{},\"name\":\"b\"}}\n", id);
  })) << rowsOf("t_b");
  send("{\"id\":1,\"name\":\"a\"}\n");
  endInput();
  EXPECT_EQ(load.wait().exitCode, 0) << load.errorText();
  EXPECT_EQ(rowsOf("t_a"), "{\"id\":0}\n{\"id\":1}\n") << "it has no other columns";
}

}  // namespace
}  // namespace penstock::command
