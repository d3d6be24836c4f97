#pragma once

#include <google/protobuf/dynamic_message.h>

#include <string>
#include <string_view>

namespace penstock::bigquery {

/// Protobuf's own reading of messages whose fields are out of order or stand twice. Slow.
class ProtobufCanonicalizer {
 public:
  /// `type` outlives it.
  explicit ProtobufCanonicalizer(const google::protobuf::Descriptor& type)
      : prototype_(*factory_.GetPrototype(&type)) {}

  /// The message as protobuf itself would write it, without unknown fields. False: it is none.
  [[nodiscard]] bool rewrite(std::string_view message, std::string* canonical);

  /// A field of the last message that its type does not have: "message shop.Order has no field 9";
  /// empty: there was none.
  [[nodiscard]] const std::string& unknownField() const { return unknownField_; }

 private:
  google::protobuf::DynamicMessageFactory factory_;
  const google::protobuf::Message& prototype_;
  std::string unknownField_;
};

}  // namespace penstock::bigquery
