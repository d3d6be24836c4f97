#include "penstock/emulator/service/append_request.h"

#include "penstock/emulator/rows/wire_reader.h"

namespace penstock::emulator {
namespace {

absl::Status malformed() {
  return base::invalidArgument("the message is not an AppendRowsRequest: it cannot be parsed");
}

// Leaves `value` as it is when the message has none.
bool readInt64Value(std::string_view message, uint64_t& value) {
  WireReader reader(message);
  while (!reader.atEnd()) {
    uint32_t number = 0;
    uint32_t wireType = 0;
    if (!reader.readTag(number, wireType)) return false;
    const bool isValue = number == 1 && wireType == WireReader::kVarint;
    if (isValue ? !reader.readVarint(value) : !reader.skip(number, wireType)) return false;
  }
  return true;
}

}  // namespace

void AppendRequest::clear() {
  writeStream = {};
  offset.reset();
  hasProtoRows = false;
  hasArrowRows = false;
  descriptor.reset();
  rows.clear();
  traceId = {};
  missingValues.clear();
  defaultMissingValue.reset();
}

absl::Status AppendRequest::parse(std::string_view message) {
  clear();
  WireReader reader(message);
  while (!reader.atEnd()) {
    uint32_t number = 0;
    uint32_t wireType = 0;
    if (!reader.readTag(number, wireType)) return malformed();
    std::string_view content;
    uint64_t value = 0;
    if (wireType == WireReader::kLength) {
      if (!reader.readBytes(content)) return malformed();
    } else if (number == 8 && wireType == WireReader::kVarint) {
      if (!reader.readVarint(value)) return malformed();
      defaultMissingValue = static_cast<MissingValue>(value);
      continue;
    } else {
      if (!reader.skip(number, wireType)) return malformed();
      continue;
    }
    switch (number) {
      case 1:
        writeStream = content;
        break;
      case 2:
        value = static_cast<uint64_t>(offset.value_or(0));
        if (!readInt64Value(content, value)) return malformed();
        offset = static_cast<int64_t>(value);
        break;
      case 4:
        hasArrowRows = false;
        PENSTOCK_RETURN_IF_ERROR(parseProtoData(content));
        break;
      case 5:
        // The later of the two is what counts, and forgets the earlier.
        hasArrowRows = true;
        hasProtoRows = false;
        descriptor.reset();
        rows.clear();
        break;
      case 6:
        traceId = content;
        break;
      case 7:
        PENSTOCK_RETURN_IF_ERROR(parseMissingValue(content));
        break;
      default:
        break;
    }
  }
  return absl::OkStatus();
}

absl::Status AppendRequest::parseProtoData(std::string_view message) {
  hasProtoRows = true;
  WireReader reader(message);
  while (!reader.atEnd()) {
    uint32_t number = 0;
    uint32_t wireType = 0;
    if (!reader.readTag(number, wireType)) return malformed();
    std::string_view content;
    if ((number == 1 || number == 2) && wireType == WireReader::kLength) {
      if (!reader.readBytes(content)) return malformed();
      if (number == 2) {
        rows.push_back(content);
      } else {
        PENSTOCK_RETURN_IF_ERROR(parseWriterSchema(content));
      }
    } else if (!reader.skip(number, wireType)) {
      return malformed();
    }
  }
  return absl::OkStatus();
}

absl::Status AppendRequest::parseWriterSchema(std::string_view message) {
  WireReader reader(message);
  while (!reader.atEnd()) {
    uint32_t number = 0;
    uint32_t wireType = 0;
    if (!reader.readTag(number, wireType)) return malformed();
    std::string_view content;
    if (number != 1 || wireType != WireReader::kLength) {
      if (!reader.skip(number, wireType)) return malformed();
      continue;
    }
    if (!reader.readBytes(content)) return malformed();
    if (descriptor.has_value()) {
      // The parts of a message given in pieces are merged, and so is their concatenation.
      merged_ = std::string(*descriptor).append(content);
      descriptor = merged_;
    } else {
      descriptor = content;
    }
  }
  return absl::OkStatus();
}

absl::Status AppendRequest::parseMissingValue(std::string_view entry) {
  std::string_view column;
  uint64_t value = 0;
  WireReader reader(entry);
  while (!reader.atEnd()) {
    uint32_t number = 0;
    uint32_t wireType = 0;
    if (!reader.readTag(number, wireType)) return malformed();
    const bool isColumn = number == 1 && wireType == WireReader::kLength;
    const bool isValue = number == 2 && wireType == WireReader::kVarint;
    const bool read = isColumn  ? reader.readBytes(column)
                      : isValue ? reader.readVarint(value)
                                : reader.skip(number, wireType);
    if (!read) return malformed();
  }
  missingValues.emplace_back(column, static_cast<MissingValue>(value));
  return absl::OkStatus();
}

}  // namespace penstock::emulator
