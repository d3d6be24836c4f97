#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>

#include "penstock/base/random.h"

/// Message types and messages that are the same for the same seed.
namespace penstock::bigquery {

/// A serialized FileDescriptorSet whose message `random.M` has fields of every kind, in proto2 or
/// proto3: scalars, enums, messages, maps, oneofs, well-known types; declared in another order than
/// their numbers now and then.
[[nodiscard]] std::string randomMessageType(base::Random& random);

/// Sets some of the fields, to values that every column can hold.
void fillRandomly(google::protobuf::Message* message, base::Random& random);

/// The bytes of the message as no serializer writes them: fields in any order, some twice, in
/// several pieces, with unknown fields in between. Protobuf reads another message from them.
[[nodiscard]] std::string mangled(const std::string& bytes, base::Random& random);

}  // namespace penstock::bigquery
