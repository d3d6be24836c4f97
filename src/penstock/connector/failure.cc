#include "penstock/connector/failure.h"

#include "penstock/base/log.h"

namespace penstock::connector {
namespace {

std::string describeFailure(const FailedRecord& failure) {
  std::string text =
      fmt::format("{}: record for {} failed", failure.connector, failure.destination);
  if (!failure.origin.empty()) text += fmt::format(" ({})", failure.origin);
  text += ": " + failure.errorMessage;
  if (!failure.cause.ok()) text += fmt::format(" [{}]", base::describe(failure.cause));
  return text;
}

class FailJob final : public FailureHandler {
 public:
  absl::Status handle(const FailedRecord& failure) override {
    const absl::StatusCode code =
        failure.cause.ok() ? absl::StatusCode::kInvalidArgument : failure.cause.code();
    return absl::Status(code, describeFailure(failure));
  }
};

class LogAndDrop final : public FailureHandler {
 public:
  absl::Status handle(const FailedRecord& failure) override {
    base::logWarning("dropped: {}", describeFailure(failure));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<FailureHandler> failJob() { return std::make_unique<FailJob>(); }
std::unique_ptr<FailureHandler> logAndDrop() { return std::make_unique<LogAndDrop>(); }

}  // namespace penstock::connector
