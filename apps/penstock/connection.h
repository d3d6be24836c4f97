#pragma once

#include <memory>
#include <optional>

#include "apps/penstock/console.h"
#include "apps/penstock/target.h"
#include "penstock/bigquery/sink/sink_options.h"
#include "penstock/bigquery/transport/service.h"

namespace penstock::command {

/// An open target and the clients to it.
struct Connection {
  std::unique_ptr<Target> target;  ///< outlives the clients
  bigquery::SinkOptions options;   ///< with the embedded emulator's addresses
  std::shared_ptr<bigquery::Service> service;
};

/// Opens the target that the flags describe and says which it is; connection.options may hold other
/// options already. The exit code of an error is kUsage for the flags, kCheckpoint for the data
/// directory, kUnusable for the rest.
[[nodiscard]] std::optional<CommandError> openConnection(const TargetFlags& flags,
                                                         const Environment& environment,
                                                         Console& console, Connection& connection);

}  // namespace penstock::command
