#include "penstock/base/byte_size.h"

#include <array>

#include "penstock/base/quantity.h"
#include "penstock/base/text.h"

namespace penstock::base {
namespace {

constexpr int64_t kBinary = 1024;
constexpr std::array<Unit, 9> kSizeUnits = {{{"b", 1},
                                             {"kb", 1'000},
                                             {"mb", 1'000'000},
                                             {"gb", 1'000'000'000},
                                             {"tb", 1'000'000'000'000},
                                             {"kib", kBinary},
                                             {"mib", kBinary* kBinary},
                                             {"gib", kBinary* kBinary* kBinary},
                                             {"tib", kBinary* kBinary* kBinary* kBinary}}};
constexpr std::array<std::string_view, 5> kBinaryNames = {"B", "KiB", "MiB", "GiB", "TiB"};
constexpr std::array<std::string_view, 5> kDecimalNames = {"B", "KB", "MB", "GB", "TB"};

}  // namespace

absl::StatusOr<int64_t> parseByteSize(std::string_view text) {
  const std::string lower = toLower(text);
  std::string_view rest = lower;
  const Quantity quantity = takeQuantity(rest, kSizeUnits);
  if (quantity.problem == Quantity::Problem::kTooLarge) {
    return invalidArgument("'{}' is too large: at most 2^63-1 bytes", text);
  }
  if (quantity.problem == Quantity::Problem::kTooFine) {
    return invalidArgument("'{}' is not a whole number of bytes", text);
  }
  if (quantity.problem != Quantity::Problem::kNone || !rest.empty()) {
    return invalidArgument(
        "'{}' is not a byte size: expected a number and a unit (B, KB, MB, GB, TB, KiB, MiB, GiB, "
        "TiB), "
        "like 512 KiB",
        text);
  }
  return quantity.value;
}

std::string formatByteSize(int64_t bytes) {
  size_t unit = 0;
  while (bytes != 0 && bytes % kBinary == 0 && unit + 1 < kBinaryNames.size()) {
    bytes /= kBinary;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kBinaryNames[unit]);
}

std::string approximateByteSize(double bytes) {
  size_t unit = 0;
  while (bytes >= 999.95 && unit + 1 < kDecimalNames.size()) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kDecimalNames[unit]);
}

}  // namespace penstock::base
