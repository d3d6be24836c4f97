// Length-delimited protobuf messages: --format protobuf.
#include <csignal>
#include <filesystem>
#include <map>

#include "apps/penstock/testing/command_fixtures.h"
#include "apps/penstock/testing/order_messages.h"

namespace penstock::command {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CommandProtobuf : public CommandTest {
 protected:
  CommandResult loadOrders(const std::string& input, const std::vector<std::string>& more = {},
                           const std::string& message = "shop.Order") {
    std::vector<std::string> arguments = {
        "load",    input,       "--to",  "p.d.t",   "--format",   "protobuf", "--descriptor-set",
        kOrderSet, "--message", message, "--local", "--data-dir", data()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runCommand(arguments);
  }

  static constexpr const char* kOrderSet = PENSTOCK_ORDER_SET;
};

// BQT-016
TEST_F(CommandProtobuf, CreatesTheTableAndLoadsMessages) {
  shop::Order order = orderOf(7);
  order.mutable_placed()->set_seconds(1767323045);
  order.set_status(shop::PAID);
  shop::Item* item = order.add_items();
  item->set_product("tea");
  item->set_count(-2);
  const CommandResult loaded =
      loadOrders(folder_.write("orders.pb", framed<shop::Order>({order, orderOf(0)})), {"--json"});
  EXPECT_EQ(loaded.exitCode, 0) << loaded.error;
  EXPECT_EQ(lastLine(loaded.out)["rows"], 2);
  EXPECT_EQ(rows(),
            "{\"id\":7,\"placed\":\"2026-01-02T03:04:05Z\",\"status\":\"PAID\",\"items\":[{"
            "\"product\":\"tea\",\"count\":-2}],\"token\":0}\n"
            "{\"id\":0,\"placed\":null,\"status\":\"NEW\",\"items\":[],\"token\":0}\n");
}

TEST_F(CommandProtobuf, ReadsStandardInput) {
  const CommandResult loaded =
      runCommand({"load", "-", "--to", "p.d.t", "--format", "protobuf", "--descriptor-set",
                  kOrderSet, "--message", "shop.Order", "--local", "--data-dir", data(), "--json"},
                 framed<shop::Order>({orderOf(1), orderOf(2), orderOf(3)}));
  EXPECT_EQ(loaded.exitCode, 0) << loaded.error;
  EXPECT_EQ(lastLine(loaded.out)["rows"], 3);
}

TEST_F(CommandProtobuf, SaysWhichMessageIsWrong) {
  shop::Order bad = orderOf(2);
  bad.set_token(UINT64_MAX);
  const std::string input =
      folder_.write("orders.pb", framed<shop::Order>({orderOf(1), bad, orderOf(3)}));
  const CommandResult failed = loadOrders(input);
  EXPECT_EQ(failed.exitCode, 3);
  EXPECT_THAT(failed.error,
              HasSubstr(input + " message 2 (byte 3): token (INT64): INT64 ends at "
                                "9223372036854775807, and the value is 18446744073709551615"));
  const CommandResult dropped = loadOrders(input, {"--on-error", "drop", "--json"});
  EXPECT_EQ(dropped.exitCode, 0) << dropped.error;
  EXPECT_EQ(lastLine(dropped.out)["rows"], 2);
  EXPECT_EQ(lastLine(dropped.out)["rows_dropped"], 1);
}

TEST_F(CommandProtobuf, RefusesAFileThatIsCutOff) {
  const std::string whole = framed<shop::Order>({orderOf(1), orderOf(2)});
  const std::string input = folder_.write("orders.pb", whole.substr(0, whole.size() - 1));
  const CommandResult failed = loadOrders(input);
  EXPECT_EQ(failed.exitCode, 3);
  EXPECT_THAT(failed.error,
              HasSubstr(input + " message 2 (byte 3): the file ends within it: 1 of 2 bytes"));
}

TEST_F(CommandProtobuf, ChecksItsFlags) {
  const std::string input = folder_.write("orders.pb", framed<shop::Order>({orderOf(1)}));
  const auto error = [&](std::vector<std::string> flags, int exitCode) {
    flags.insert(flags.begin(), {"load", input, "--to", "p.d.t", "--local", "--data-dir", data()});
    const CommandResult result = runCommand(flags);
    EXPECT_EQ(result.exitCode, exitCode) << result.error;
    return result.error;
  };
  EXPECT_THAT(error({"--format", "avro"}, 2),
              HasSubstr("--format: 'avro' is not one of json, protobuf"));
  EXPECT_THAT(error({"--format", "protobuf", "--message", "shop.Order"}, 2),
              HasSubstr("--format protobuf needs --descriptor-set FILE"));
  EXPECT_THAT(error({"--message", "shop.Order"}, 2), HasSubstr("need --format protobuf"));
  EXPECT_THAT(error({"--reject-unknown-fields"}, 2),
              HasSubstr("--reject-unknown-fields is for protobuf messages"));
  EXPECT_THAT(error({"--format", "protobuf", "--message", "shop.Order", "--descriptor-set",
                     kOrderSet, "--json-field-options", "x"},
                    2),
              HasSubstr("--json-field-options: 'x' is not an option on fields"));
  EXPECT_THAT(error({"--format", "protobuf", "--message", "shop.Order", "--descriptor-set",
                     kOrderSet, "--autodetect"},
                    2),
              HasSubstr("--autodetect is for JSON"));
  EXPECT_THAT(
      error({"--format", "protobuf", "--message", "Order", "--descriptor-set", kOrderSet}, 3),
      HasSubstr("has no message \"Order\"; it has shop.Item, shop.Order, shop.Selfish, "
                "shop.Visit"));
  EXPECT_THAT(
      error({"--format", "protobuf", "--message", "shop.Selfish", "--descriptor-set", kOrderSet},
            3),
      HasSubstr("field \"next\": message shop.Selfish contains itself"));
  EXPECT_THAT(error({"--format", "protobuf", "--message", "shop.Order", "--descriptor-set",
                     folder_.path("none.set")},
                    3),
              HasSubstr("--descriptor-set " + folder_.path("none.set") + ": cannot read it"));
  EXPECT_THAT(
      error({"--format", "protobuf", "--message", "shop.Order", "--descriptor-set", input}, 3),
      HasSubstr("not a descriptor set"));
}

// BQT-015, BQT-020, BQT-021
TEST_F(CommandProtobuf, MarksFieldsByPathAndByOption) {
  shop::Visit visit;
  visit.set_id(1);
  visit.set_note("[1, 2]");
  visit.set_attributes(R"({"a": null})");
  visit.set_place("POINT(1 2)");
  visit.mutable_item()->set_count(3);
  const std::string input = folder_.write("visits.pb", framed<shop::Visit>({visit}));
  const CommandResult loaded =
      loadOrders(input,
                 {"--json-field-paths", "note,item", "--json-field-options", "shop.is_json=50001",
                  "--geography-field-options", "50002", "--derive-required-columns"},
                 "shop.Visit");
  EXPECT_EQ(loaded.exitCode, 0) << loaded.error;
  const nlohmann::json fields =
      lastLine(runCommand({"show", "p.d.t", "--json", "--local", "--data-dir", data()})
                   .out)["schema"]["fields"];
  std::map<std::string, std::string> types;
  for (const nlohmann::json& field : fields) types[field["name"]] = field["type"];
  EXPECT_EQ(types, (std::map<std::string, std::string>{{"id", "INTEGER"},
                                                       {"note", "JSON"},
                                                       {"attributes", "JSON"},
                                                       {"place", "GEOGRAPHY"},
                                                       {"item", "JSON"}}));
  EXPECT_EQ(fields[0]["mode"], "REQUIRED");
  EXPECT_THAT(rows(), HasSubstr("POINT(1 2)"));
  const CommandResult unmet =
      loadOrders(input, {"--geography-field-paths", "nowhere"}, "shop.Visit");
  EXPECT_EQ(unmet.exitCode, 3);
  EXPECT_THAT(unmet.error, HasSubstr("message shop.Visit has no field \"nowhere\", named in "
                                     "--json-field-paths or --geography-field-paths"));
}

TEST_F(CommandProtobuf, RefusesUnknownFieldsIfAsked) {  // BQT-016
  shop::Item newer;
  newer.set_product("tea");
  newer.GetReflection()->MutableUnknownFields(&newer)->AddVarint(9, 1);
  const std::string input = folder_.write("items.pb", framed<shop::Item>({newer}));
  const CommandResult refused = loadOrders(input, {"--reject-unknown-fields"}, "shop.Item");
  EXPECT_EQ(refused.exitCode, 3);
  EXPECT_THAT(refused.error,
              HasSubstr(input + " message 1 (byte 0): message shop.Item has no field 9"));
  EXPECT_EQ(loadOrders(input, {}, "shop.Item").exitCode, 0);
  EXPECT_EQ(rows(), "{\"product\":\"tea\",\"count\":0}\n");
}

// The table's own columns are used, and all that does not fit them is said at once.
TEST_F(CommandProtobuf, ChecksTheMessageAgainstTheTable) {
  const std::string input = folder_.write("orders.pb", framed<shop::Order>({orderOf(5)}));
  const std::string other =
      folder_.write("other.json",
                    R"([{"name":"id","type":"STRING"},{"name":"placed","type":"TIMESTAMP"},
          {"name":"must","type":"INTEGER","mode":"REQUIRED"}])");
  const CommandResult failed = loadOrders(input, {"--schema", other});
  EXPECT_EQ(failed.exitCode, 3);
  EXPECT_THAT(failed.error,
              AllOf(HasSubstr("--schema " + other +
                              ": message shop.Order does not fit the table's columns: "),
                    HasSubstr("field id (int64) cannot become column id (STRING); field status"),
                    HasSubstr("column must is REQUIRED and the message has no such field")));
  const std::string narrow = folder_.write(
      "narrow.json", R"([{"name":"TOKEN","type":"INTEGER"},{"name":"Id","type":"INTEGER"},
                         {"name":"extra","type":"STRING"}])");
  EXPECT_THAT(loadOrders(input, {"--schema", narrow}).error,
              HasSubstr("field placed (google.protobuf.Timestamp) has no column"));
  EXPECT_EQ(loadOrders(input, {"--schema", narrow, "--ignore-unknown-fields"}).exitCode, 0);
  const CommandResult again = loadOrders(input, {"--ignore-unknown-fields"});
  EXPECT_EQ(again.exitCode, 0) << again.error;
  EXPECT_EQ(rows(),
            "{\"TOKEN\":0,\"Id\":5,\"extra\":null}\n{\"TOKEN\":0,\"Id\":5,\"extra\":null}\n");
}

TEST_F(CommandProtobuf, AFinishedLoadRunAgainLoadsNothing) {
  const std::string input =
      folder_.write("orders.pb", framed<shop::Order>({orderOf(1), orderOf(2)}));
  const std::vector<std::string> checkpoints = {"--checkpoint-dir", folder_.path("state"),
                                                "--json"};
  EXPECT_EQ(lastLine(loadOrders(input, checkpoints).out)["checkpoints"], 1);
  const CommandResult again = loadOrders(input, checkpoints);
  EXPECT_EQ(again.exitCode, 0) << again.error;
  EXPECT_EQ(lastLine(again.out)["result"], "already-loaded");
  EXPECT_EQ(lastLine(again.out)["rows_of_earlier_runs"], 2);
  // The same files as something else are another job.
  std::vector<std::string> asJson = {"load",    input,        "--to", "p.d.t",
                                     "--local", "--data-dir", data()};
  asJson.insert(asJson.end(), checkpoints.begin(), checkpoints.end());
  EXPECT_NE(runCommand(asJson).exitCode, 0);
}

// Stopped in the middle of a file: the rest begins with the message after the last one written.
TEST_F(CommandWithFaults, AStoppedLoadOfMessagesContinuesWhereItWas) {
  plant({.method = "AppendRows",
         .times = 0,
         .action = emulator::FaultAction::kDelay,
         .delay = std::chrono::milliseconds(50)});
  constexpr int64_t kOrders = 40'000;
  std::vector<shop::Order> orders;
  for (int64_t id = 0; id < kOrders; ++id) {
    orders.push_back(orderOf(id));
    orders.back().add_items()->set_product(fmt::format("{:0>200}", id));
  }
  const std::vector<std::string> arguments = withEmulator(
      {"load", folder_.write("orders.pb", framed(orders)), "--to", "p.d.t", "--format", "protobuf",
       "--descriptor-set", PENSTOCK_ORDER_SET, "--message", "shop.Order", "--checkpoint-dir",
       folder_.path("state"), "--checkpoint-interval", "10ms", "--max-inflight-requests", "1",
       "--max-append-request-bytes", "131072", "--json"});
  RunningCommand first(arguments);
  ASSERT_TRUE(first.waitFor([this] {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path("state"), error)) {
      if (entry.path().filename().string().starts_with("chk-")) return true;
    }
    return false;
  }));
  first.signal(SIGINT);
  const CommandResult stopped = first.wait();
  ASSERT_EQ(stopped.exitCode, 130) << stopped.error;
  const int64_t before = lastLine(stopped.out)["rows"];
  EXPECT_LT(before, kOrders);
  emulator_->faults().clear();
  const CommandResult rest = runCommand(arguments);
  EXPECT_EQ(rest.exitCode, 0) << rest.error;
  EXPECT_EQ(lastLine(rest.out)["rows_of_earlier_runs"], before);
  EXPECT_EQ(lastLine(rest.out)["rows"], kOrders - before);
}

}  // namespace
}  // namespace penstock::command
