// Any text as a file that is one array, arriving in pieces: the scanner finds what the reference
// finds.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "penstock/runtime/files/array_scanner.h"
#include "penstock/runtime/record_batch.h"
#include "penstock/runtime/testing/reference_array_scan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock::runtime;
  if (size == 0) return 0;
  const size_t step = 1 + data[0] % 100;  // bytes that arrive at a time
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  // The reference knows no limit of depth.
  if (text.size() > ArrayScanner::kMaxDepth) return 0;
  const ReferenceArrayScan expected(text);
  const std::string padded = text + std::string(kRecordPadding, '"');
  ArrayScanner scanner(0, false);
  size_t there = 0;
  size_t found = 0;
  while (true) {
    const auto next = scanner.next(padded.data(), 0, there, there == text.size());
    if (!next.ok()) {
      if (!expected.broken || scanner.errorAt() != expected.errorAt) std::abort();
      break;
    }
    if (*next == ArrayScanner::Step::kEnd) {
      if (expected.broken) std::abort();
      break;
    }
    if (*next == ArrayScanner::Step::kNeedMore) {
      there = std::min(there + step, text.size());
      continue;
    }
    if (found == expected.elements.size() ||
        expected.elements[found] != std::pair(scanner.elementBegin(), scanner.elementEnd())) {
      std::abort();
    }
    ++found;
  }
  if (found != expected.elements.size()) std::abort();
  return 0;
}
