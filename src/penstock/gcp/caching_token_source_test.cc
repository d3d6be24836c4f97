#include "penstock/gcp/caching_token_source.h"

#include <gtest/gtest.h>

#include <vector>

#include "penstock/base/testing/manual_clock.h"

namespace penstock::gcp {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;

/// Keeps the requests until the test answers them.
class HeldFetcher final : public TokenFetcher {
 public:
  explicit HeldFetcher(std::vector<Callback>& requests) : requests_(requests) {}
  void fetchToken(Callback callback) override { requests_.push_back(std::move(callback)); }

 private:
  std::vector<Callback>& requests_;
};

class CachingTokenSourceTest : public ::testing::Test {
 protected:
  std::string currentBearer() {
    const std::optional<Authorization> token = source_.current();
    return token.has_value() ? token->bearer : "none";
  }

  base::ManualClock clock_;
  std::vector<TokenFetcher::Callback> requests_;
  CachingTokenSource source_{std::make_unique<HeldFetcher>(requests_), "quota-project", clock_};
};

TEST_F(CachingTokenSourceTest, KeepsAFetchedTokenAndRenewsItInTheBackground) {  // BASE-045
  EXPECT_EQ(currentBearer(), "none");
  int answered = 0;
  for (int caller = 0; caller < 2; ++caller) {
    source_.fetch([&answered](const absl::StatusOr<Authorization>& token) {
      ASSERT_TRUE(token.ok());
      EXPECT_EQ(token->bearer, "Bearer first");
      EXPECT_EQ(token->quotaProject, "quota-project");
      ++answered;
    });
  }
  ASSERT_EQ(requests_.size(), 1u) << "callers share one request";
  requests_[0](AccessToken{"first", 1h});
  EXPECT_EQ(answered, 2);

  clock_.advance(55min);
  EXPECT_EQ(currentBearer(), "Bearer first");
  EXPECT_EQ(requests_.size(), 1u) << "not renewed before its last four minutes";
  clock_.advance(2min);
  EXPECT_EQ(currentBearer(), "Bearer first") << "still good while it is renewed";
  EXPECT_EQ(currentBearer(), "Bearer first");
  ASSERT_EQ(requests_.size(), 2u) << "renewed once";
  requests_[1](AccessToken{"second", 1h});
  EXPECT_EQ(currentBearer(), "Bearer second");
}

TEST_F(CachingTokenSourceTest, DoesNotHandOutATokenAboutToEnd) {
  source_.fetch([](const absl::StatusOr<Authorization>&) {});
  requests_[0](AccessToken{"first", 1h});
  clock_.advance(59min + 31s);
  EXPECT_EQ(currentBearer(), "none");
}

TEST_F(CachingTokenSourceTest, AFailedRenewalKeepsTheTokenAndIsTriedAgainAfterAPause) {
  source_.fetch([](const absl::StatusOr<Authorization>&) {});
  requests_[0](AccessToken{"first", 1h});
  clock_.advance(57min);
  EXPECT_EQ(currentBearer(), "Bearer first");
  requests_.at(1)(absl::UnavailableError("down"));
  EXPECT_EQ(currentBearer(), "Bearer first");
  EXPECT_EQ(requests_.size(), 2u);
  clock_.advance(11s);
  EXPECT_EQ(currentBearer(), "Bearer first");
  EXPECT_EQ(requests_.size(), 3u);
}

TEST_F(CachingTokenSourceTest, AFailureReachesEveryCallerAndTheNextAsksAgain) {
  absl::Status seen;
  source_.fetch([&seen](const absl::StatusOr<Authorization>& token) { seen = token.status(); });
  requests_[0](absl::UnauthenticatedError("refused"));
  EXPECT_EQ(seen, absl::UnauthenticatedError("refused"));
  source_.fetch([&seen](const absl::StatusOr<Authorization>& token) { seen = token.status(); });
  ASSERT_EQ(requests_.size(), 2u);
  requests_[1](AccessToken{"good", 1h});
  EXPECT_TRUE(seen.ok());
}

TEST(CachingTokenSource, AnAnswerThatComesAfterTheSourceIsGoneStillReachesTheCaller) {
  base::ManualClock clock;
  std::vector<TokenFetcher::Callback> requests;
  bool answered = false;
  {
    CachingTokenSource source(std::make_unique<HeldFetcher>(requests), "", clock);
    source.fetch(
        [&answered](const absl::StatusOr<Authorization>& token) { answered = token.ok(); });
  }
  requests.at(0)(AccessToken{"late", 1h});
  EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace penstock::gcp
