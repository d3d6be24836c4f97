#include "apps/penstock/target.h"

#include <CLI/CLI.hpp>

#include "penstock/emulator/emulator.h"

namespace penstock::command {
namespace {

using bigquery::SinkOptions;

absl::Status refuseWithLocal(std::string_view flag, const std::string& value) {
  return base::invalidArgument(
      "--local starts the embedded emulator: {} cannot be given with it ('{}')", flag, value);
}

absl::Status checkWithLocal(const SinkOptions& options) {
  const std::pair<const char*, const std::optional<base::Endpoint>*> endpoints[] = {
      {"--emulator-endpoint", &options.emulatorEndpoint},
      {"--emulator-rest-endpoint", &options.emulatorRestEndpoint},
      {"--service-endpoint", &options.serviceEndpoint},
      {"--service-rest-endpoint", &options.serviceRestEndpoint}};
  for (const auto& [flag, endpoint] : endpoints) {
    if (*endpoint) return refuseWithLocal(flag, (*endpoint)->text());
  }
  if (options.serviceAccountKeyFile) {
    return refuseWithLocal("--service-account-key-file", *options.serviceAccountKeyFile);
  }
  return absl::OkStatus();
}

/// One emulator address alone would send the other half of the work to the real service.
absl::Status checkBothEmulatorEndpoints(const SinkOptions& options) {
  if (options.emulatorEndpoint && !options.emulatorRestEndpoint) {
    return base::invalidArgument(
        "--emulator-endpoint needs --emulator-rest-endpoint as well: metadata would reach the real "
        "service "
        "('{}')",
        options.emulatorEndpoint->text());
  }
  if (options.emulatorRestEndpoint && !options.emulatorEndpoint) {
    return base::invalidArgument(
        "--emulator-rest-endpoint needs --emulator-endpoint as well: rows would reach the real "
        "service ('{}')",
        options.emulatorRestEndpoint->text());
  }
  return absl::OkStatus();
}

}  // namespace

TargetFlags::TargetFlags(CLI::App& app)
    : connection_(app, bigquery::sinkOptionSet().definitions(), isConnectionOption) {
  app.add_flag("--local", local_, "use the embedded emulator; its data stays in --data-dir")
      ->group("Connection");
  app.add_option("--data-dir", dataDirectory_,
                 "where --local keeps its data; default ~/.local/share/penstock/emulator")
      ->type_name("DIR")
      ->group("Connection");
}

absl::Status TargetFlags::apply(SinkOptions& options) const {
  PENSTOCK_RETURN_IF_ERROR(connection_.apply(bigquery::sinkOptionSet(), options));
  if (!local_ && !dataDirectory_.empty()) {
    return base::invalidArgument("--data-dir belongs to --local, which is not given ('{}')",
                                 dataDirectory_);
  }
  if (local_) return checkWithLocal(options);
  return checkBothEmulatorEndpoints(options);
}

std::string nameOfTarget(const SinkOptions& options) {
  if (options.emulatorEndpoint && options.emulatorRestEndpoint) {
    return fmt::format("the emulator at {} (gRPC) and {} (REST)", options.emulatorEndpoint->text(),
                       options.emulatorRestEndpoint->text());
  }
  std::string text = "BigQuery";
  if (options.serviceEndpoint)
    text += fmt::format(" at {} (gRPC)", options.serviceEndpoint->text());
  if (options.serviceRestEndpoint) {
    text += fmt::format("{} {} (REST)", options.serviceEndpoint ? " and" : " at",
                        options.serviceRestEndpoint->text());
  }
  return text;
}

Target::Target() = default;
Target::~Target() = default;

absl::StatusOr<std::unique_ptr<Target>> Target::open(const TargetFlags& flags,
                                                     const Environment& environment,
                                                     SinkOptions& options) {
  std::unique_ptr<Target> target(new Target);
  if (!flags.local()) {
    target->name_ = nameOfTarget(options);
    target->description_ = target->name_;
    if (!options.emulatorEndpoint) {
      target->description_ += options.serviceAccountKeyFile
                                  ? ", with --service-account-key-file"
                                  : ", with application-default credentials";
    }
    return target;
  }
  emulator::EmulatorOptions emulatorOptions{
      .dataDirectory = flags.dataDirectory(), .restPort = 0, .grpcPort = 0};
  if (emulatorOptions.dataDirectory.empty()) {
    PENSTOCK_ASSIGN_OR_RETURN(const std::filesystem::path directory,
                              defaultDataDirectory(environment));
    emulatorOptions.dataDirectory = directory.string();
  }
  auto emulator = emulator::Emulator::start(emulatorOptions);
  if (!emulator.ok()) {
    return base::withContext(emulator.status(),
                             fmt::format("--local (data in {})", emulatorOptions.dataDirectory));
  }
  target->emulator_ = *std::move(emulator);
  PENSTOCK_ASSIGN_OR_RETURN(options.emulatorEndpoint,
                            base::parseEndpoint("--local", target->emulator_->grpcEndpoint()));
  PENSTOCK_ASSIGN_OR_RETURN(options.emulatorRestEndpoint,
                            base::parseEndpoint("--local", target->emulator_->restEndpoint()));
  target->name_ = "the embedded emulator";
  target->description_ =
      fmt::format("the embedded emulator, data in {}", emulatorOptions.dataDirectory);
  return target;
}

}  // namespace penstock::command
