#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/base/status.h"

namespace penstock::base {

/// Reads a number of bytes as people write it: "512 KiB", "10MB", "1.5 GiB", or digits alone for
/// bytes. Units: B, KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024), in any
/// case. A lone K, M or G is refused: it is read either way.
[[nodiscard]] absl::StatusOr<int64_t> parseByteSize(std::string_view text);

/// In the largest binary unit that shows it exactly: "512 KiB", "1000 B".
[[nodiscard]] std::string formatByteSize(int64_t bytes);

/// For people, rounded, in decimal units: "1.4 GB".
[[nodiscard]] std::string approximateByteSize(double bytes);

}  // namespace penstock::base
