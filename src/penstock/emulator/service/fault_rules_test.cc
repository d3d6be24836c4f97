#include "penstock/emulator/service/fault_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "penstock/emulator/testing/grpc_server_fixture.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<bool> strikes(FaultRules& rules, int calls) {
  std::vector<bool> struck;
  for (int index = 0; index < calls; ++index) {
    struck.push_back(rules.next("AppendRows", kStream).has_value());
  }
  return struck;
}

TEST(FaultRules, StrikesFromTheNthCallOnAsOftenAsItSays) {
  FaultRules rules;
  FaultRule rule;
  rule.nth = 2;
  rule.times = 2;
  const uint64_t id = *rules.add(rule);
  EXPECT_THAT(strikes(rules, 5), ElementsAre(false, true, true, false, false));
  EXPECT_EQ(rules.struck(id), 2u);

  rules.clear();
  rule.times = 0;
  ASSERT_TRUE(rules.add(rule).ok());
  EXPECT_THAT(strikes(rules, 4), ElementsAre(false, true, true, true));
}

TEST(FaultRules, LooksOnlyAtCallsOfItsMethodAndResource) {
  FaultRules rules;
  FaultRule rule;
  rule.method = "AppendRows";
  rule.resource = "tables/t/";
  rule.times = 0;
  ASSERT_TRUE(rules.add(rule).ok());
  EXPECT_FALSE(rules.next("GetWriteStream", kStream).has_value());
  EXPECT_FALSE(rules.next("AppendRows", "projects/p/datasets/d/tables/other/streams/x"));
  EXPECT_TRUE(rules.next("AppendRows", kStream).has_value());
}

TEST(FaultRules, DrawsTheSameStrikesForTheSameSeed) {
  FaultRule rule;
  rule.times = 0;
  rule.probability = 0.3;
  rule.seed = 99;
  FaultRules first;
  FaultRules second;
  ASSERT_TRUE(first.add(rule).ok());
  ASSERT_TRUE(second.add(rule).ok());
  const std::vector<bool> drawn = strikes(first, 1000);
  EXPECT_EQ(drawn, strikes(second, 1000));
  const auto count = std::count(drawn.begin(), drawn.end(), true);
  EXPECT_GT(count, 200);
  EXPECT_LT(count, 400);
}

TEST(FaultRules, NamesTheFieldThatIsOutOfRange) {
  FaultRules rules;
  FaultRule rule;
  rule.probability = 1.5;
  EXPECT_THAT(std::string(rules.add(rule).status().message()), HasSubstr("probability"));
  rule = {};
  rule.nth = 0;
  EXPECT_THAT(std::string(rules.add(rule).status().message()), HasSubstr("nth"));
  rule = {};
  rule.storageError = "NO_SUCH_CODE";
  EXPECT_THAT(std::string(rules.add(rule).status().message()), HasSubstr("NO_SUCH_CODE"));
  rule = {};
  rule.method = "AppendRow";
  EXPECT_THAT(std::string(rules.add(rule).status().message()),
              HasSubstr("no call is named 'AppendRow'"));
}

TEST(FaultRules, AreAddedListedAndRemovedOverTheAdminEndpoint) {
  FaultRules rules;
  const auto added = rules.handleAdmin("POST", "", R"({"method":"AppendRows","nth":2,"times":0,
      "action":"fail","code":"ABORTED","endCall":true,"delayMs":5,"probability":1})");
  ASSERT_EQ(added.httpCode, 200) << added.body;
  EXPECT_EQ(json::parse(added.body)["id"], 1);
  EXPECT_FALSE(rules.next("AppendRows", kStream).has_value());
  const std::optional<Fault> fault = rules.next("AppendRows", kStream);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->rule.code, absl::StatusCode::kAborted);
  EXPECT_TRUE(fault->rule.endCall);
  EXPECT_EQ(fault->rule.delay, milliseconds(5));

  const json listed = json::parse(rules.handleAdmin("GET", "", "").body)["rules"];
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0]["matched"], 2);
  EXPECT_EQ(listed[0]["struck"], 1);
  EXPECT_EQ(listed[0]["code"], "ABORTED");

  EXPECT_EQ(rules.handleAdmin("DELETE", "7", "").httpCode, 404);
  EXPECT_EQ(rules.handleAdmin("DELETE", "1", "").httpCode, 200);
  EXPECT_FALSE(rules.next("AppendRows", kStream).has_value());
}

TEST(FaultRules, RefuseAnAdminBodyByTheNameOfItsWrongKey) {
  FaultRules rules;
  for (const auto& [body, complaint] :
       std::map<std::string, std::string>{{"[", "JSON object"},
                                          {R"({"methood":"x"})", "methood"},
                                          {R"({"nth":"2"})", "nth"},
                                          {R"({"nth":-1})", "nth"},
                                          {R"({"action":"explode"})", "explode"},
                                          {R"({"code":"BAD"})", "BAD"},
                                          {R"({"httpCode":200})", "httpCode"}}) {
    const auto answer = rules.handleAdmin("POST", "", body);
    EXPECT_EQ(answer.httpCode, 400) << body;
    EXPECT_THAT(answer.body, HasSubstr(complaint));
  }
  EXPECT_EQ(rules.handleAdmin("PUT", "", "").httpCode, 405);
}

/// The rules at work in gRPC calls.
class GrpcFaultTest : public GrpcServerTest {
 protected:
  void addRule(FaultAction action, uint64_t nth = 1, milliseconds delay = {}) {
    FaultRule rule;
    rule.method = "AppendRows";
    rule.nth = nth;
    rule.action = action;
    rule.delay = delay;
    ASSERT_TRUE(faults_.add(rule).ok());
  }

  void waitUntilStruck(uint64_t rule) {
    const auto deadline = steady_clock::now() + std::chrono::seconds(20);
    while (faults_.struck(rule) == 0 && steady_clock::now() < deadline) std::this_thread::yield();
    ASSERT_EQ(faults_.struck(rule), 1u);
  }
};

TEST_F(GrpcFaultTest, FailsOneAppendWithTheCodeAndTheDetailsAndAppliesNothing) {
  FaultRule rule;
  rule.method = "AppendRows";
  rule.nth = 2;
  rule.code = absl::StatusCode::kInvalidArgument;
  rule.storageError = "STREAM_FINALIZED";
  rule.message = "planted";
  ASSERT_TRUE(faults_.add(rule).ok());
  AppendCall call(*stub_);
  EXPECT_TRUE(call.append(request({row("a", 1)})).has_append_result());
  const auto failed = call.append(request({row("b", 2)}));
  EXPECT_EQ(failed.error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(failed.error().message(), HasSubstr("planted"));
  api::StorageError details;
  ASSERT_EQ(failed.error().details_size(), 1);
  ASSERT_TRUE(failed.error().details(0).UnpackTo(&details));
  EXPECT_EQ(details.code(), api::StorageError::STREAM_FINALIZED);
  EXPECT_TRUE(call.append(request({row("c", 3)})).has_append_result());
  EXPECT_THAT(stored(), ElementsAre(row("a", 1), row("c", 3)));
}

TEST_F(GrpcFaultTest, KnowsAStreamByItsFullNameWhateverTheClientWrote) {
  FaultRule rule;
  rule.resource = "tables/t/streams/_default";
  ASSERT_TRUE(faults_.add(rule).ok());
  AppendCall call(*stub_);
  EXPECT_TRUE(call.append(request({row("a", 1)}, kShortStream)).has_error());
}

TEST_F(GrpcFaultTest, EndsTheCallWithTheCode) {
  FaultRule rule;
  rule.method = "AppendRows";
  rule.code = absl::StatusCode::kAborted;
  rule.endCall = true;
  ASSERT_TRUE(faults_.add(rule).ok());
  AppendCall call(*stub_);
  EXPECT_EQ(call.endedBy(request({row("a", 1)})).error_code(), grpc::StatusCode::ABORTED);
  EXPECT_THAT(stored(), IsEmpty());
}

TEST_F(GrpcFaultTest, CutsTheConnectionBeforeOrAfterApplying) {
  AppendCall bystander(*stub_);
  bystander.append(request({}));
  addRule(FaultAction::kCutBefore);
  AppendCall before(*stub_);
  EXPECT_EQ(before.endedBy(request({row("a", 1)})).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(stored(), IsEmpty());
  // Every call of the connection goes with it.
  EXPECT_EQ(bystander.endedBy(request({})).error_code(), grpc::StatusCode::UNAVAILABLE);

  addRule(FaultAction::kCutAfter);
  AppendCall after(*stub_);
  EXPECT_EQ(after.endedBy(request({row("b", 2)})).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(stored(), ElementsAre(row("b", 2)));
}

TEST_F(GrpcFaultTest, DelaysOneAnswerAndKeepsTheOrder) {
  addRule(FaultAction::kDelay, 1, milliseconds(60));
  AppendCall call(*stub_);
  const auto begin = steady_clock::now();
  ASSERT_TRUE(call.send(request({row("a", 1)})));
  ASSERT_TRUE(call.send(request({row("b", 2)})));
  api::AppendRowsResponse response;
  ASSERT_TRUE(call.receive(response));
  EXPECT_GE(steady_clock::now() - begin, milliseconds(60));
  ASSERT_TRUE(call.receive(response));
  EXPECT_THAT(stored(), ElementsAre(row("a", 1), row("b", 2)));
}

TEST_F(GrpcFaultTest, HangsUntilTheClientGivesUp) {
  addRule(FaultAction::kHang);
  AppendCall call(*stub_);
  ASSERT_TRUE(call.send(request({row("a", 1)})));
  waitUntilStruck(1);
  call.cancel();
  api::AppendRowsResponse response;
  EXPECT_FALSE(call.receive(response));
  EXPECT_EQ(call.finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_THAT(stored(), IsEmpty());

  AppendCall next(*stub_);  // the rule is spent
  EXPECT_TRUE(next.append(request({row("b", 2)})).has_append_result());
}

TEST_F(GrpcFaultTest, StopsWhileCallsHangOrWait) {
  addRule(FaultAction::kHang);
  AppendCall hanging(*stub_);
  ASSERT_TRUE(hanging.send(request({row("a", 1)})));
  addRule(FaultAction::kDelay, 1, std::chrono::hours(1));
  AppendCall waiting(*stub_);
  ASSERT_TRUE(waiting.send(request({row("b", 2)})));
  FaultRule rule;
  rule.method = "GetWriteStream";
  rule.action = FaultAction::kDelay;
  rule.delay = std::chrono::hours(1);
  ASSERT_TRUE(faults_.add(rule).ok());
  std::thread unary([this] {
    grpc::ClientContext context;
    api::GetWriteStreamRequest request;
    request.set_name(kStream);
    api::WriteStream stream;
    EXPECT_FALSE(stub_->GetWriteStream(&context, request, &stream).ok());
  });
  for (const uint64_t id : {1, 2, 3}) waitUntilStruck(id);
  server_->stop();
  unary.join();
  api::AppendRowsResponse response;
  EXPECT_FALSE(hanging.receive(response));
  EXPECT_FALSE(waiting.receive(response));
}

// Calls that are cancelled, hung, delayed and cut in all combinations: none may take the server
// with it, and what was acknowledged is there.
TEST_F(GrpcFaultTest, SurvivesCallsThatEndAtAnyMoment) {
  uint64_t seed = 1;
  for (const FaultAction action : {FaultAction::kFail, FaultAction::kDelay, FaultAction::kCutBefore,
                                   FaultAction::kCutAfter, FaultAction::kHang}) {
    FaultRule rule;
    rule.action = action;
    rule.times = 0;
    rule.probability = action == FaultAction::kDelay ? 0.2 : 0.03;
    rule.seed = seed++;
    if (action == FaultAction::kDelay) rule.delay = milliseconds(2);
    ASSERT_TRUE(faults_.add(rule).ok());
  }
  constexpr int kThreads = 4;
  constexpr int kCalls = 40;
  std::atomic<size_t> acknowledged = 0;
  std::vector<std::thread> clients;
  clients.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    clients.emplace_back([&, thread] {
      const auto random = base::seededRandom(static_cast<uint64_t>(thread));
      const auto stub = connect();
      for (int index = 0; index < kCalls; ++index) {
        AppendCall call(*stub, milliseconds(5 + random->below(40)));
        const uint64_t requests = 1 + random->below(8);
        for (uint64_t sent = 0; sent < requests; ++sent) call.send(request({row("a", 1)}));
        if (random->chance(0.2)) call.cancel();
        api::AppendRowsResponse response;
        for (uint64_t got = 0; got < requests && call.receive(response); ++got) {
          if (response.has_append_result()) ++acknowledged;
        }
        call.finish();
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_GE(stored().size(), acknowledged.load());

  faults_.clear();
  stub_ = connect();
  const size_t before = stored().size();
  AppendCall call(*stub_);
  EXPECT_TRUE(call.append(request({row("b", 2)})).has_append_result());
  EXPECT_GT(stored().size(), before);
}

TEST_F(GrpcFaultTest, StrikesGetWriteStreamToo) {
  const auto ask = [this] {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    api::GetWriteStreamRequest request;
    request.set_name(kStream);
    api::WriteStream stream;
    return stub_->GetWriteStream(&context, request, &stream).error_code();
  };
  FaultRule rule;
  rule.method = "GetWriteStream";
  rule.resource = "tables/t";
  rule.code = absl::StatusCode::kAborted;
  ASSERT_TRUE(faults_.add(rule).ok());
  EXPECT_EQ(ask(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(ask(), grpc::StatusCode::OK);
  rule.action = FaultAction::kCutBefore;
  ASSERT_TRUE(faults_.add(rule).ok());
  EXPECT_EQ(ask(), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace penstock::emulator
