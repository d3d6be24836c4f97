#include "penstock/bigquery/sink/append_request_encoding.h"

#include <cstdint>

namespace penstock::bigquery {
namespace {

// Field numbers of google.cloud.bigquery.storage.v1.AppendRowsRequest, .ProtoData and ProtoSchema;
// all are length-delimited, so a tag is number << 3 | 2.
constexpr uint8_t kWriteStream = 1 << 3 | 2;
constexpr uint8_t kOffset = 2 << 3 | 2;  // google.protobuf.Int64Value
constexpr uint8_t kProtoRows = 4 << 3 | 2;
constexpr uint8_t kTraceIdTag = 6 << 3 | 2;
constexpr uint8_t kWriterSchema = 1 << 3 | 2;
constexpr uint8_t kRows = 2 << 3 | 2;
constexpr uint8_t kProtoDescriptor = 1 << 3 | 2;
constexpr uint8_t kInt64Value = 1 << 3 | 0;

size_t varintBytes(size_t value) {
  size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

void appendVarint(std::string& to, size_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

void appendTagAndLength(std::string& to, uint8_t tag, size_t length) {
  to.push_back(static_cast<char>(tag));
  appendVarint(to, length);
}

size_t fieldBytes(size_t payload) { return 1 + varintBytes(payload) + payload; }

size_t protoDataBytes(const AppendRequestHeader& header) {
  size_t bytes = fieldBytes(header.framedRowBytes);
  if (!header.descriptor.empty()) bytes += fieldBytes(fieldBytes(header.descriptor.size()));
  return bytes;
}

size_t offsetBytes(int64_t offset) { return 1 + varintBytes(static_cast<size_t>(offset)); }

}  // namespace

size_t appendRequestBytes(const AppendRequestHeader& header) {
  size_t bytes = fieldBytes(protoDataBytes(header));
  if (!header.stream.empty()) bytes += fieldBytes(header.stream.size());
  if (header.offset.has_value()) bytes += fieldBytes(offsetBytes(*header.offset));
  if (!header.traceId.empty()) bytes += fieldBytes(header.traceId.size());
  bytes += header.fields.size();
  return bytes;
}

std::string encodeAppendHeader(const AppendRequestHeader& header) {
  std::string bytes;
  bytes.reserve(appendRequestBytes(header) - header.framedRowBytes);
  if (!header.stream.empty()) {
    appendTagAndLength(bytes, kWriteStream, header.stream.size());
    bytes.append(header.stream);
  }
  if (header.offset.has_value()) {
    appendTagAndLength(bytes, kOffset, offsetBytes(*header.offset));
    bytes.push_back(static_cast<char>(kInt64Value));
    appendVarint(bytes, static_cast<size_t>(*header.offset));
  }
  if (!header.traceId.empty()) {
    appendTagAndLength(bytes, kTraceIdTag, header.traceId.size());
    bytes.append(header.traceId);
  }
  bytes.append(header.fields);
  // The rows must come last, so proto_rows is written after trace_id; field order is free on the
  // wire.
  appendTagAndLength(bytes, kProtoRows, protoDataBytes(header));
  if (!header.descriptor.empty()) {
    appendTagAndLength(bytes, kWriterSchema, fieldBytes(header.descriptor.size()));
    appendTagAndLength(bytes, kProtoDescriptor, header.descriptor.size());
    bytes.append(header.descriptor);
  }
  appendTagAndLength(bytes, kRows, header.framedRowBytes);
  return bytes;
}

}  // namespace penstock::bigquery
