#include "apps/penstock/connection.h"

#include <fmt/format.h>

namespace penstock::command {

std::optional<CommandError> openConnection(const TargetFlags& flags, const Environment& environment,
                                           Console& console, Connection& connection) {
  bigquery::SinkOptions& options = connection.options;
  absl::Status status = flags.apply(options);
  if (status.ok()) status = bigquery::applyWriteMethod(options, base::OptionSpelling::kFlag);
  if (status.ok()) status = bigquery::validate(options, base::OptionSpelling::kFlag);
  if (!status.ok()) return commandError(ExitCode::kUsage, status);
  auto target = Target::open(flags, environment, options);
  if (!target.ok()) return commandError(ExitCode::kCheckpoint, target.status());
  connection.target = *std::move(target);
  console.note(fmt::format("penstock: target: {}", connection.target->description()));
  bigquery::ServiceOptions serviceOptions = bigquery::ServiceOptions::of(options);
  serviceOptions.keyFileSetting = "--service-account-key-file";
  serviceOptions.caFileSetting = "--ca-file";
  auto service = bigquery::Service::connect(serviceOptions);
  if (!service.ok()) return commandError(ExitCode::kUnusable, service.status());
  connection.service = *std::move(service);
  return std::nullopt;
}

}  // namespace penstock::command
