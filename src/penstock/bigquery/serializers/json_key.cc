#include "penstock/bigquery/serializers/json_key.h"

#include <algorithm>

#include "penstock/bigquery/schema/column_name.h"

namespace penstock::bigquery {

void appendLowerCase(std::string_view name, std::string* out) {
  const bool isAscii = std::all_of(name.begin(), name.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!isAscii) {
    out->append(lowerCase(name));
    return;
  }
  for (const char c : name) out->push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c);
}

}  // namespace penstock::bigquery
