// Any lines: a schema found in them takes every one of them that counted as a document.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/bigquery/schema/infer_schema.h"
#include "penstock/bigquery/schema/row_descriptor.h"
#include "penstock/formats/json/padded_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  std::string text(reinterpret_cast<const char*>(data), size);
  text.append(formats::kJsonPadding, '\n');
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin < size;) {
    const size_t end = text.find('\n', begin);
    lines.emplace_back(text.data() + begin, end - begin);
    begin = end + 1;
  }
  const auto place = [](size_t line) { return "line " + std::to_string(line + 1); };
  bigquery::SchemaInference inference({.skipBadDocuments = true});
  if (!inference.add(lines, place).ok()) return 0;
  if (inference.documents() + inference.skippedDocuments() != lines.size()) std::abort();
  const auto schema = inference.finish();
  if (schema.ok() != (inference.documents() > 0)) std::abort();
  if (schema.ok() && !bigquery::rowDescriptor(*schema).ok()) std::abort();
  return 0;
}
