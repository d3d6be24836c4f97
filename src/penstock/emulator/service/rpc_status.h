#pragma once

#include <google/rpc/status.pb.h>
#include <grpcpp/server_context.h>

#include <string_view>

#include "penstock/base/status.h"
#include "penstock/emulator/service/fault_rules.h"

namespace penstock::emulator {

/// The status as the API's messages carry it: ends in the entity's name, if there is one, as the
/// service's messages do, with a StorageError in the details where the status has its code.
[[nodiscard]] google::rpc::Status toRpcStatus(const absl::Status& status,
                                              std::string_view entity = "");

/// The same as the end of the call of `context`: the whole of it in the details that travel in the
/// trailers, and a StorageError in a trailer of its own, where Google's clients look for it.
[[nodiscard]] grpc::Status endOfCall(const absl::Status& status, std::string_view entity,
                                     grpc::CallbackServerContext& context);

/// What a rule that fails calls answers.
[[nodiscard]] absl::Status failureOf(const FaultRule& rule);

}  // namespace penstock::emulator
