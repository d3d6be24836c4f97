#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "penstock/bigquery/sink/append_call.h"

namespace penstock::simulation {

class SimulatedService;

/// AppendRows calls to the service.
std::shared_ptr<bigquery::AppendCallFactory> makeAppendCalls(SimulatedService& service);

/// "t1/s7" for a stream of table t1, for people.
std::string shortNameOf(std::string_view stream);

}  // namespace penstock::simulation
