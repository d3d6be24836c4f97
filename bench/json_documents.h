#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/bigquery/schema/table_schema.h"

namespace penstock::bench {

/// A table of 20 columns as an event log has them: identifiers, texts, times, numbers, an array, a
/// STRUCT.
[[nodiscard]] bigquery::TableSchema eventSchema();

/// Newline-delimited JSON documents in one buffer with the padding that formats::PaddedText asks
/// for.
struct JsonDocuments {
  std::string buffer;
  std::vector<std::string_view> documents;  ///< without their line feeds
  size_t bytes = 0;                         ///< of the documents and their line feeds
};

/// `count` distinct documents of about 1 KB for `eventSchema()`, the same for the same seed. One in
/// ten has its keys in a random order. Use 10,000 or more: processors learn a small set by heart,
/// which has shown speeds up to 55% too high.
[[nodiscard]] JsonDocuments makeEventDocuments(size_t count, uint64_t seed = 1);

}  // namespace penstock::bench
