// Rules that play a service whose parts do not know everything at once, and its quotas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "penstock/base/testing/manual_clock.h"
#include "penstock/emulator/testing/grpc_server_fixture.h"

namespace penstock::emulator {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(QuotaRules, LetCallsPassUpToTheQuotaInEachPeriod) {
  base::ManualClock clock;
  FaultRules rules(clock);
  FaultRule rule;
  rule.method = "CreateWriteStream";
  rule.action = FaultAction::kQuota;
  rule.times = 0;
  rule.quotaCalls = 2;
  rule.quotaPer = milliseconds(1000);
  ASSERT_TRUE(rules.add(rule).ok());
  const auto passes = [&](std::string_view resource) {
    return !rules.next("CreateWriteStream", resource).has_value();
  };
  EXPECT_TRUE(passes("a"));
  EXPECT_TRUE(passes("b"));
  EXPECT_FALSE(passes("a"));
  clock.advance(milliseconds(999));
  EXPECT_FALSE(passes("a"));
  clock.advance(milliseconds(1));
  EXPECT_TRUE(passes("a"));

  const std::optional<Fault> fault = [&] {
    passes("a");
    return rules.next("CreateWriteStream", "a");
  }();
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->rule.action, FaultAction::kFail);
  EXPECT_EQ(fault->rule.code, absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(fault->rule.message, HasSubstr("Exceeds 'CreateWriteStream requests' quota"));
}

TEST(QuotaRules, CountForEachResourceByItselfWhenAsked) {
  base::ManualClock clock;
  FaultRules rules(clock);
  FaultRule rule;
  rule.method = "tables.patch";
  rule.action = FaultAction::kQuota;
  rule.times = 0;
  rule.quotaCalls = 1;
  rule.quotaPerResource = true;
  ASSERT_TRUE(rules.add(rule).ok());
  EXPECT_FALSE(rules.next("tables.patch", "projects/p/datasets/d/tables/a").has_value());
  EXPECT_FALSE(rules.next("tables.patch", "projects/p/datasets/d/tables/b").has_value());
  const auto fault = rules.next("tables.patch", "projects/p/datasets/d/tables/a");
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->rule.httpCode, 403);
  EXPECT_EQ(fault->rule.reason, "rateLimitExceeded");
  EXPECT_THAT(fault->rule.message, HasSubstr("too many table update operations"));
}

TEST(QuotaRules, CountTheBytesOfAppends) {
  base::ManualClock clock;
  FaultRules rules(clock);
  const auto added = rules.handleAdmin(
      "POST", "", R"({"method":"AppendRows","action":"quota","quotaBytes":100,"times":0})");
  ASSERT_EQ(added.httpCode, 200) << added.body;
  EXPECT_FALSE(rules.next("AppendRows", "s", 60).has_value());
  EXPECT_TRUE(rules.next("AppendRows", "s", 60).has_value());
  EXPECT_FALSE(rules.next("AppendRows", "s", 40).has_value());
  const std::string listed = rules.handleAdmin("GET", "", "").body;
  EXPECT_EQ(nlohmann::json::parse(listed)["rules"][0]["action"], "quota");
}

TEST(QuotaRules, AreRefusedWithoutWhatTheyNeed) {
  FaultRules rules;
  for (const auto& [body, complaint] : std::map<std::string, std::string>{
           {R"({"method":"AppendRows","action":"quota"})", "quotaCalls"},
           {R"({"action":"quota","quotaCalls":1,"quotaPerMs":0})", "quotaPerMs"},
           {R"({"method":"FlushRows","action":"oldSchema"})", "oldSchema"},
           {R"({"action":"hideTable","withinMs":-1})", "withinMs"}}) {
    const auto answer = rules.handleAdmin("POST", "", body);
    EXPECT_EQ(answer.httpCode, 400) << body;
    EXPECT_THAT(answer.body, HasSubstr(complaint));
  }
}

TEST(HideTableRules, LookAtTheTablesAge) {
  FaultRules rules;
  milliseconds age(500);
  rules.setTableAges([&](std::string_view resource) -> std::optional<TableAge> {
    if (resource.find("tables/t") == std::string_view::npos) return std::nullopt;
    return TableAge{age, std::nullopt};
  });
  FaultRule rule;
  rule.method = "FlushRows";
  rule.action = FaultAction::kHideTable;
  rule.within = milliseconds(1000);
  rule.times = 0;
  ASSERT_TRUE(rules.add(rule).ok());
  const auto fault = rules.next("FlushRows", kStream);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->rule.code, absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(fault->rule.message, AllOf(HasSubstr("TABLES_UPDATE_DATA"), HasSubstr("tables/t")));
  EXPECT_FALSE(rules.next("FlushRows", "projects/p/datasets/d/tables/x").has_value());
  age = milliseconds(1000);
  EXPECT_FALSE(rules.next("FlushRows", kStream).has_value());
}

class PropagationTest : public GrpcServerTest {
 protected:
  uint64_t addRule(const std::string& method, FaultAction action, milliseconds within,
                   uint64_t times = 0) {
    FaultRule rule;
    rule.method = method;
    rule.action = action;
    rule.within = within;
    rule.times = times;
    const auto id = faults_.add(rule);
    EXPECT_TRUE(id.ok()) << id.status();
    return id.value_or(0);
  }
};

constexpr milliseconds kLong = std::chrono::hours(1);

// A new table is denied twice, as CreateWriteStream was at most, then it is there.
TEST_F(PropagationTest, HidesANewTableForAWhile) {
  const uint64_t rule = addRule("CreateWriteStream", FaultAction::kHideTable, kLong, 2);
  api::CreateWriteStreamRequest request;
  request.set_parent("projects/p/datasets/d/tables/t");
  request.mutable_write_stream()->set_type(api::WriteStream::BUFFERED);
  for (const auto code : {grpc::StatusCode::PERMISSION_DENIED, grpc::StatusCode::PERMISSION_DENIED,
                          grpc::StatusCode::OK}) {
    grpc::ClientContext context;
    api::WriteStream stream;
    EXPECT_EQ(stub_->CreateWriteStream(&context, request, &stream).error_code(), code);
  }
  EXPECT_EQ(faults_.struck(rule), 2u);
}

TEST_F(PropagationTest, HidesATableFromAppendsAsIfItWereMissing) {
  addRule("AppendRows", FaultAction::kHideTable, kLong, 1);
  const grpc::Status status = AppendCall(*stub_).endedBy(request({row("a", 1)}));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), HasSubstr("TABLES_GET"));
  AppendCall call(*stub_);
  EXPECT_TRUE(call.append(request({row("a", 1)})).has_append_result());

  addRule("AppendRows", FaultAction::kHideTable, kLong, 1);
  const auto response = call.append(request({row("b", 2)}));
  EXPECT_EQ(response.error().code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(stored(), SizeIs(1));
}

TEST_F(PropagationTest, ServesTheOldSchemaForAWhileAfterAChange) {
  AppendCall call(*stub_);
  EXPECT_TRUE(call.append(request({row("a", 1)})).has_append_result());
  const uint64_t rule = addRule("AppendRows", FaultAction::kOldSchema, kLong);
  addRule("GetWriteStream", FaultAction::kOldSchema, kLong);
  EXPECT_TRUE(call.append(request({row("b", 2)})).has_append_result());
  EXPECT_EQ(faults_.struck(rule), 0u);  // nothing has changed yet

  Schema schema = table_->schema;
  Field more;
  more.name = "more";
  schema.fields.push_back(more);
  ASSERT_TRUE(catalog_->updateTable(*table_, {table_->reference, schema, table_->properties}).ok());
  auto wide = request({row("c", 3) + "\x1A\x01x"});
  addField(*wide.mutable_proto_rows()->mutable_writer_schema()->mutable_proto_descriptor(), "more",
           3, FieldDescriptorProto::TYPE_STRING);
  auto response = call.append(wide);
  EXPECT_THAT(response.error().message(), HasSubstr("more"));
  EXPECT_FALSE(response.has_updated_schema());
  const auto fields = [&] {
    grpc::ClientContext context;
    api::GetWriteStreamRequest get;
    get.set_name(kStream);
    get.set_view(api::FULL);
    api::WriteStream stream;
    EXPECT_TRUE(stub_->GetWriteStream(&context, get, &stream).ok());
    return stream.table_schema().fields_size();
  };
  EXPECT_EQ(fields(), 2);

  faults_.clear();
  response = call.append(wide);
  EXPECT_TRUE(response.has_append_result()) << response.ShortDebugString();
  EXPECT_EQ(response.updated_schema().fields_size(), 3);
  EXPECT_EQ(fields(), 3);
}

TEST_F(PropagationTest, RefusesAppendsOverAQuota) {
  FaultRule rule;
  rule.method = "AppendRows";
  rule.action = FaultAction::kQuota;
  rule.quotaCalls = 1;
  rule.quotaPer = kLong;
  rule.times = 0;
  ASSERT_TRUE(faults_.add(rule).ok());
  AppendCall call(*stub_);
  EXPECT_TRUE(call.append(request({row("a", 1)})).has_append_result());
  const auto response = call.append(request({row("b", 2)}));
  EXPECT_EQ(response.error().code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(response.error().message(), HasSubstr("Exceeds 'AppendRows throughput' quota"));
  EXPECT_THAT(response.row_errors(), IsEmpty());
  EXPECT_THAT(stored(), SizeIs(1));
}

}  // namespace
}  // namespace penstock::emulator
