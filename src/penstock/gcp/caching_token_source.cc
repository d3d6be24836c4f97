#include "penstock/gcp/caching_token_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "penstock/base/log.h"
#include "penstock/base/mutex.h"

namespace penstock::gcp {
namespace {

constexpr base::Duration kRenewAhead = std::chrono::minutes(4);
constexpr base::Duration kLeastRemaining = std::chrono::seconds(30);
constexpr base::Duration kPauseAfterFailure = std::chrono::seconds(10);

}  // namespace

struct CachingTokenSource::State {
  State(std::string project, base::Clock& systemClock)
      : quotaProject(std::move(project)), clock(systemClock) {}

  const std::string quotaProject;
  base::Clock& clock;

  base::Mutex mutex;
  std::optional<Authorization> token PENSTOCK_GUARDED_BY(mutex);
  base::WallTime goodUntil PENSTOCK_GUARDED_BY(mutex);
  base::WallTime renewFrom PENSTOCK_GUARDED_BY(mutex);
  bool fetching PENSTOCK_GUARDED_BY(mutex) = false;
  std::vector<Callback> waiting PENSTOCK_GUARDED_BY(mutex);

  void onFetched(absl::StatusOr<AccessToken> fetched) {
    absl::StatusOr<Authorization> answer = Authorization();
    std::vector<Callback> answered;
    {
      base::MutexLock lock(mutex);
      fetching = false;
      if (fetched.ok()) {
        keep(*fetched);
        answer = *token;
      } else {
        answer = fetched.status();
        renewFrom = clock.wallNow() + kPauseAfterFailure;
      }
      answered.swap(waiting);
    }
    if (!answer.ok() && answered.empty()) {
      base::logWarning("The access token could not be renewed ahead of its end: {}",
                       base::describe(answer.status()));
    }
    for (const Callback& callback : answered) callback(answer);
  }

  void keep(const AccessToken& fetched) PENSTOCK_REQUIRES(mutex) {
    const base::WallTime end = clock.wallNow() + fetched.lifetime;
    token = Authorization{"Bearer " + fetched.value, quotaProject};
    goodUntil = end - std::min(kLeastRemaining, fetched.lifetime / 10);
    renewFrom = end - std::min(kRenewAhead, fetched.lifetime / 4);
  }
};

CachingTokenSource::CachingTokenSource(std::unique_ptr<TokenFetcher> fetcher,
                                       std::string quotaProject, base::Clock& clock)
    : state_(std::make_shared<State>(std::move(quotaProject), clock)),
      fetcher_(std::move(fetcher)) {}

CachingTokenSource::~CachingTokenSource() = default;

void CachingTokenSource::startFetch(const std::shared_ptr<State>& state, TokenFetcher& fetcher) {
  fetcher.fetchToken(
      [state](absl::StatusOr<AccessToken> fetched) { state->onFetched(std::move(fetched)); });
}

std::optional<Authorization> CachingTokenSource::current() {
  std::optional<Authorization> token;
  bool renew = false;
  {
    base::MutexLock lock(state_->mutex);
    const base::WallTime now = state_->clock.wallNow();
    if (state_->token.has_value() && now < state_->goodUntil) {
      token = state_->token;
      renew = now >= state_->renewFrom && !state_->fetching;
      if (renew) state_->fetching = true;
    }
  }
  if (renew) startFetch(state_, *fetcher_);
  return token;
}

void CachingTokenSource::fetch(Callback callback) {
  {
    base::MutexLock lock(state_->mutex);
    state_->waiting.push_back(std::move(callback));
    if (std::exchange(state_->fetching, true)) return;
  }
  startFetch(state_, *fetcher_);
}

}  // namespace penstock::gcp
