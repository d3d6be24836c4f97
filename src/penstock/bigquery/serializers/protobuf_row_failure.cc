// What ProtobufRowWriter says when a message cannot become a row. Never on the hot path.
#include "penstock/bigquery/serializers/protobuf_row_writer.h"
#include "penstock/bigquery/serializers/protobuf_wire_reader.h"

namespace penstock::bigquery {
namespace {

constexpr size_t kExcerptBytes = 48;

std::string_view nameOfWireType(uint32_t type) {
  switch (type) {
    case static_cast<uint32_t>(WireType::kVarint):
      return "a varint";
    case static_cast<uint32_t>(WireType::kFixed64):
      return "a 64-bit value";
    case static_cast<uint32_t>(WireType::kLengthDelimited):
      return "bytes with a length";
    case static_cast<uint32_t>(WireType::kFixed32):
      return "a 32-bit value";
    case kStartGroup:
      return "a group";
    case kEndGroup:
      return "the end of a group";
    default:
      return "a wire type that does not exist";
  }
}

/// The head of the text for people: printable ASCII as it is, other bytes as \xHH; UTF-8 if it is.
std::string quotedExcerpt(std::string_view text) {
  const bool isCut = text.size() > kExcerptBytes;
  size_t size = isCut ? kExcerptBytes : text.size();
  while (isCut && size > 0 && (static_cast<uint8_t>(text[size]) & 0xC0) == 0x80) --size;
  text = text.substr(0, size);
  std::string result = "\"";
  const bool isText = isUtf8(text.data(), text.size());
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    const bool isPrintable = byte >= 0x20 && byte != 0x7F && (byte < 0x80 || isText);
    result += isPrintable ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return result + (isCut ? "\"..." : "\"");
}

}  // namespace

absl::Status ProtobufRowWriter::failure() const {
  std::string path;
  for (auto step = failurePath_.rbegin(); step != failurePath_.rend(); ++step) {
    path += (path.empty() ? "" : ".") + *step;
  }
  if (path.empty()) return base::invalidArgument("{}", failureReason_);
  if (failureType_.empty()) return base::invalidArgument("{}: {}", path, failureReason_);
  return base::invalidArgument("{} ({}): {}", path, failureType_, failureReason_);
}

const char* ProtobufRowWriter::failValue(const ProtobufField& field, std::string reason) {
  failureType_ = field.type;
  failureReason_ = std::move(reason);
  return nullptr;
}

const char* ProtobufRowWriter::failTooLarge(const ProtobufField& field, uint64_t value) {
  return failValue(field,
                   fmt::format("INT64 ends at 9223372036854775807, and the value is {}", value));
}

bool ProtobufRowWriter::failInstant(const ProtobufField& field, int64_t seconds, int32_t nanos) {
  const std::string_view expected =
      field.conversion == ProtobufConversion::kTimestamp
          ? "a Timestamp is in the years 1 to 9999 and has 0 to 999999999 nanos"
          : "a Duration has at most 315576000000 seconds and 999999999 nanos, of one sign";
  failValue(field, fmt::format("{}; found seconds {}, nanos {}", expected, seconds, nanos));
  return false;
}

bool ProtobufRowWriter::failText(const ProtobufField& field, std::string_view reason,
                                 std::string_view text) {
  failValue(field, fmt::format("{}; found {}", reason, quotedExcerpt(text)));
  return false;
}

const char* ProtobufRowWriter::failUtf8(const ProtobufField& field, std::string_view text) {
  return failValue(field, fmt::format("the text is not UTF-8; found {}", quotedExcerpt(text)));
}

bool ProtobufRowWriter::failMissing(const ProtobufField& field) {
  failValue(field, "the column is REQUIRED and the field is not set");
  return false;
}

const char* ProtobufRowWriter::failTruncated(const ProtobufField& field, const char* fieldBegin) {
  failValue(field, fmt::format("malformed message: the value at byte {} goes on behind the end, or "
                               "is no protobuf",
                               fieldBegin - message_ + 1));
  return nullptr;
}

const char* ProtobufRowWriter::failWireType(const ProtobufField& field, uint32_t tag,
                                            const char* fieldBegin) {
  failValue(field,
            fmt::format("field {} is written as {} and was found as {} at byte {}: is this a {}?",
                        fieldNumberOf(tag), nameOfWireType(wireTypeOf(field.wireTag)),
                        nameOfWireType(wireTypeOf(tag)), fieldBegin - message_ + 1,
                        plan_.root().typeName));
  return nullptr;
}

const char* ProtobufRowWriter::failWire(const char* at, std::string_view reason) {
  failureType_.clear();
  failureReason_ = fmt::format("malformed message at byte {}: {}; is this a {}?", at - message_ + 1,
                               reason, plan_.root().typeName);
  return nullptr;
}

const char* ProtobufRowWriter::failUnknown(const ProtobufLevel& level, uint32_t tag,
                                           const char* fieldBegin) {
  failureType_.clear();
  failureReason_ = fmt::format("message {} has no field {} (found at byte {})", level.typeName,
                               fieldNumberOf(tag), fieldBegin - message_ + 1);
  return nullptr;
}

bool ProtobufRowWriter::blame(const ProtobufField& field, const char* levelBegin,
                              const char* fieldBegin) {
  if (isNotCanonical_) return false;
  if (!field.isRepeated) {
    failurePath_.push_back(field.name);
    return false;
  }
  size_t index = 0;
  uint32_t tag = 0;
  for (const char* at = levelBegin; at != fieldBegin;) {
    at = readTag(at, fieldBegin, &tag);
    index += tag == field.wireTag ? 1 : 0;
    at = skipValue(at, fieldBegin, tag);
  }
  if (isInPacked_) index = packedIndex_;
  isInPacked_ = false;
  failurePath_.push_back(fmt::format("{}[{}]", field.name, index));
  return false;
}

}  // namespace penstock::bigquery
