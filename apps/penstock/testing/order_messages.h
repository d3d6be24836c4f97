#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <string>
#include <vector>

#include "apps/penstock/testing/order.pb.h"

/// What tests of --format protobuf load.
namespace penstock::command {

inline shop::Order orderOf(int64_t id) {
  shop::Order order;
  order.set_id(id);
  return order;
}

/// Messages as --format protobuf reads them: each behind its length.
template <typename Message>
std::string framed(const std::vector<Message>& messages) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream output(&stream);
  for (const Message& message : messages) {
    const std::string text = message.SerializeAsString();
    output.WriteVarint32(static_cast<uint32_t>(text.size()));
    output.WriteString(text);
  }
  output.Trim();
  return bytes;
}

}  // namespace penstock::command
