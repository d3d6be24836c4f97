#pragma once

#include <functional>
#include <memory>
#include <string>

#include "penstock/base/clock.h"
#include "penstock/gcp/token_source.h"

namespace penstock::gcp {

struct AccessToken {
  std::string value;
  base::Duration lifetime{};  ///< from now on
};

/// Asks for a token, once per call. Thread-safe.
class TokenFetcher {
 public:
  virtual ~TokenFetcher() = default;
  using Callback = std::function<void(absl::StatusOr<AccessToken>)>;
  /// Never calls back from inside.
  virtual void fetchToken(Callback callback) = 0;
};

/// Keeps a fetched token until shortly before its end. A token is good as long as more than a tenth
/// of its life, at most 30 s, is left; it is renewed in the background during its last quarter, at
/// most 4 minutes. (Metadata servers hand out the same token until 5 minutes before its end.) Its
/// end is told by the wall clock, so that a machine that slept does not present a dead token.
class CachingTokenSource final : public TokenSource {
 public:
  /// `clock` must outlive the source.
  CachingTokenSource(std::unique_ptr<TokenFetcher> fetcher, std::string quotaProject,
                     base::Clock& clock);
  ~CachingTokenSource() override;

  [[nodiscard]] std::optional<Authorization> current() override;
  void fetch(Callback callback) override;

 private:
  struct State;
  static void startFetch(const std::shared_ptr<State>& state, TokenFetcher& fetcher);

  std::shared_ptr<State> state_;  // outlives this while a fetch is on its way
  std::unique_ptr<TokenFetcher> fetcher_;
};

}  // namespace penstock::gcp
