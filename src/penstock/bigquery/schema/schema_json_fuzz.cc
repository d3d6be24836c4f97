// Any text as a schema file: what is accepted survives every other form of a schema.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "penstock/bigquery/schema/describe_schema.h"
#include "penstock/bigquery/schema/row_descriptor.h"
#include "penstock/bigquery/schema/schema_json.h"
#include "penstock/bigquery/schema/schema_proto.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock::bigquery;
  const auto schema = parseSchemaJson({reinterpret_cast<const char*>(data), size});
  if (!schema.ok()) return 0;
  const auto fromJson = parseSchemaJson(schemaToJson(*schema));
  if (!fromJson.ok() || *fromJson != *schema) std::abort();
  const auto fromProto = schemaFromProto(schemaToProto(*schema));
  if (!fromProto.ok() || *fromProto != *schema) std::abort();
  if (!rowDescriptor(*schema).ok() || describeSchema(*schema).empty()) std::abort();
  return 0;
}
