#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "penstock/capi/penstock.h"
#include "penstock/emulator/testing/local_emulator.h"
#include "penstock/gcp/http_client.h"
#include "sink_in_c.h"

namespace penstock {
namespace {

/// A call that the emulator never answers, and the thread that cancels whoever waits for it. C
/// functions carry no state of their own: one at a time.
struct HangingCall {
  emulator::FaultRules* faults = nullptr;
  uint64_t rule = 0;
  std::thread canceller;
};
HangingCall hanging;

void join() { hanging.canceller.join(); }

/// Cancels once the call is with the server that does not answer.
template <typename Handle, void (*cancel)(Handle*)>
void cancelSoon(void* handle) {
  hanging.canceller = std::thread([handle] {
    while (hanging.faults->struck(hanging.rule) == 0) std::this_thread::yield();
    cancel(static_cast<Handle*>(handle));
  });
}

/// The names in the table p.d.once, in order, each followed by a space; they begin with an r.
std::string visibleNames(const std::string& rest) {
  gcp::HttpClient client({});
  gcp::HttpRequest request;
  request.method = "GET";
  request.url = fmt::format("http://{}/bigquery/v2/projects/p/datasets/d/tables/once/data", rest);
  request.withoutProxy = true;
  const auto response = client.sendAndWait(std::move(request));
  if (!response.ok()) return base::describe(response.status());
  if (response->code != 200) return response->body;
  const std::string mark = "\"v\":\"r";
  std::vector<std::string> names;
  for (size_t at = response->body.find(mark); at != std::string::npos;
       at = response->body.find(mark, at + 1)) {
    const size_t begin = at + mark.size() - 1;
    names.push_back(response->body.substr(begin, response->body.find('"', begin) - begin));
  }
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string& name : names) all += name + " ";
  return all;
}

class CApi : public testing::Test {
 protected:
  void hang(const char* method) {
    hanging.faults = &emulator_->faults();
    hanging.rule = *emulator_->faults().add(
        {.method = method, .times = 0, .action = emulator::FaultAction::kHang});
  }

  const std::unique_ptr<emulator::Emulator> emulator_ = emulator::startLocalEmulator();
  const std::string grpc_ = emulator_->grpcEndpoint();
  const std::string rest_ = emulator_->restEndpoint();
};

TEST_F(CApi, RejectsOneRowAndWritesTheOthers) {
  EXPECT_EQ(rejects_one_row_and_writes_the_others(grpc_.c_str(), rest_.c_str()), 0);
}

TEST_F(CApi, EndsPromptlyAlthoughTheServerHangs) {
  hang("AppendRows");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(
      ends_promptly_although_the_server_hangs(
          grpc_.c_str(), rest_.c_str(), cancelSoon<penstock_sink, penstock_sink_cancel>, join),
      0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(CApi, RefusesWhatIsWrong) {
  EXPECT_EQ(refuses_what_is_wrong(grpc_.c_str(), rest_.c_str()), 0);
}

TEST_F(CApi, WritesExactlyOnceThroughACrash) {
  static std::string rest;
  rest = rest_;
  const auto rowsAre = [](const char* names) -> int {
    const std::string visible = visibleNames(rest);
    EXPECT_EQ(visible, names);
    return visible == names ? 1 : 0;
  };
  EXPECT_EQ(writes_exactly_once(grpc_.c_str(), rest_.c_str(), rowsAre), 0);
}

TEST_F(CApi, RefusesBadStatesAndCommittables) {
  EXPECT_EQ(refuses_bad_states_and_committables(grpc_.c_str(), rest_.c_str()), 0);
}

TEST_F(CApi, CancelsACommitThatHangs) {
  hang("FlushRows");
  EXPECT_EQ(
      cancels_a_commit_that_hangs(grpc_.c_str(), rest_.c_str(),
                                  cancelSoon<penstock_committer, penstock_committer_cancel>, join),
      0);
}

}  // namespace
}  // namespace penstock
