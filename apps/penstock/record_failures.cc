#include "apps/penstock/record_failures.h"

#include <fmt/format.h>

#include <utility>

#include "apps/penstock/flag_names.h"

namespace penstock::command {

class RecordFailures::Handler final : public connector::FailureHandler {
 public:
  Handler(RecordFailures& owner, std::shared_ptr<const RowPlaces> places)
      : owner_(owner), places_(std::move(places)) {}
  absl::Status handle(const connector::FailedRecord& failure) override {
    if (!failure.origin.empty() || places_ == nullptr) return owner_.handle(failure);
    connector::FailedRecord placed = failure;
    placed.origin = places_->describe(failure.rowOrigin);
    return owner_.handle(placed);
  }

 private:
  RecordFailures& owner_;
  std::shared_ptr<const RowPlaces> places_;
};

std::unique_ptr<connector::FailureHandler> RecordFailures::makeHandler(
    std::shared_ptr<const RowPlaces> places) {
  return std::make_unique<Handler>(*this, std::move(places));
}

absl::Status RecordFailures::handle(const connector::FailedRecord& failure) {
  const std::string description = withFlagNames(describeFailure(failure));
  if (onError_ == OnError::kFail) {
    endedLoad_.store(true, std::memory_order_relaxed);
    return base::invalidArgument("{} (with --on-error drop such records are counted and left out)",
                                 description);
  }
  const uint64_t before = dropped_.fetch_add(1, std::memory_order_relaxed);
  if (before < kShown) console_.note(fmt::format("penstock: dropped: {}", description));
  if (before == kShown)
    console_.note("penstock: dropped: more records; they are only counted from here on");
  return absl::OkStatus();
}

std::string describeFailure(const connector::FailedRecord& failure) {
  const std::string& where = failure.origin.empty() ? failure.destination : failure.origin;
  // Of a record that never became a row the cause says all; the rest is for dead letters.
  const bool neverSent = !failure.payload.has_value() && !failure.cause.ok();
  const std::string_view what = neverSent ? base::messageOf(failure.cause) : failure.errorMessage;
  return where.empty() ? std::string(what) : fmt::format("{}: {}", where, what);
}

}  // namespace penstock::command
