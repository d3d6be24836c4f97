#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/bigquery/encoding/parse_result.h"

/// NUMERIC and BIGNUMERIC: decimal text (BQT-055) to the bytes of a row (BQT-094) and back,
/// exactly.
namespace penstock::bigquery {

enum class DecimalKind {
  kNumeric,     ///< 9 digits of fraction, below 10^29
  kBignumeric,  ///< 38 digits of fraction, -2^255 to 2^255 - 1 units of 10^-38
};

/// What `encodeDecimal` may touch; the value itself has at most 32 bytes.
inline constexpr size_t kDecimalBufferBytes = 40;

/// Encodes `text` as minimal little-endian two's complement at `out`, which has room for
/// `kDecimalBufferBytes`, and stores the number of bytes in `*size`. Never rounds, never allocates.
/// The precision of a parameterised column is not looked at: the service checks it.
ParseResult encodeDecimal(std::string_view text, DecimalKind kind, char* out, size_t* size);

/// The reverse: the shortest plain text ("-0.01", no exponent). Refuses values out of the type's
/// bounds and the empty string; bytes need not be minimal.
ParseResult decodeDecimal(std::string_view bytes, DecimalKind kind, std::string* text);

/// Decimal text to an integer, truncated toward zero: a number for a TIMESTAMP column.
ParseResult truncateToInt64(std::string_view text, int64_t* value);

/// Whether all of `text` is a number of the decimal grammar.
[[nodiscard]] bool isDecimal(std::string_view text);

}  // namespace penstock::bigquery
