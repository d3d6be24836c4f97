// Any text, through every parser of values: what is accepted is in the type's bounds, reads back as
// itself, and nothing outside the buffers is touched.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/bigquery/encoding/base64.h"
#include "penstock/bigquery/encoding/civil_time.h"
#include "penstock/bigquery/encoding/decimal.h"
#include "penstock/bigquery/encoding/number_text.h"

namespace penstock::bigquery {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void checkCivilTime(std::string_view text) {
  int32_t days = 0;
  if (parseDate(text, &days).ok()) require(isDateInRange(days) && formatDate(days) == text);
  int64_t value = 0;
  int64_t again = 0;
  if (parseTime(text, &value).ok()) {
    require(parseTime(formatTime(value), &again).ok() && again == value);
  }
  if (parseDatetime(text, &value).ok()) {
    require(parseDatetime(formatDatetime(value), &again).ok() && again == value);
  }
  if (parseTimestampOrMicros(text, &value).ok()) {
    require(isTimestampInRange(value));
    require(parseTimestamp(formatTimestamp(value), &again).ok() && again == value);
  }
}

void checkDecimal(std::string_view text, DecimalKind kind) {
  std::array<char, kDecimalBufferBytes> bytes;
  size_t size = 0;
  if (!encodeDecimal(text, kind, bytes.data(), &size).ok()) return;
  require(isDecimal(text) && size >= 1 && size <= 32);
  std::string plain;
  require(decodeDecimal({bytes.data(), size}, kind, &plain).ok());
  std::array<char, kDecimalBufferBytes> again;
  size_t sizeAgain = 0;
  require(encodeDecimal(plain, kind, again.data(), &sizeAgain).ok());
  require(std::string_view(bytes.data(), size) == std::string_view(again.data(), sizeAgain));
}

void checkNumbers(std::string_view text) {
  int64_t integer = 0;
  int64_t truncated = 0;
  if (parseInt64(text, &integer).ok()) {
    require(truncateToInt64(text, &truncated).ok() && truncated == integer);
  }
  double number = 0;
  if (isDecimal(text) && truncateToInt64(text, &truncated).ok()) {
    require(parseDouble(text, &number).ok());
  }
}

void checkBase64(std::string_view text) {
  std::vector<char> out(decodedBase64Bound(text.size()));  // on the heap, for AddressSanitizer
  size_t size = 0;
  if (!decodeBase64(text, out.data(), &size).ok()) return;
  require(size <= out.size());
  const std::string canonical = encodeBase64({out.data(), size});
  std::vector<char> again(decodedBase64Bound(canonical.size()));
  size_t sizeAgain = 0;
  require(decodeBase64(canonical, again.data(), &sizeAgain).ok());
  require(std::string_view(out.data(), size) == std::string_view(again.data(), sizeAgain));
}

}  // namespace
}  // namespace penstock::bigquery

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock::bigquery;
  const std::vector<char> exact(data, data + size);  // no readable byte behind it
  const std::string_view text(exact.data(), exact.size());
  checkCivilTime(text);
  checkDecimal(text, DecimalKind::kNumeric);
  checkDecimal(text, DecimalKind::kBignumeric);
  checkNumbers(text);
  checkBase64(text);
  return 0;
}
