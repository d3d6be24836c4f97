#include "bench/emulator_table.h"

#include "bench/prepared_requests.h"

namespace penstock::bench {
namespace {

void putVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

}  // namespace

std::string emulatorRow(uint64_t number) {
  std::string row;
  row += '\x08';
  putVarint(number * 2'654'435'761 % 4'000'000'000, row);
  row += '\x10';
  putVarint(1'785'027'723'456'789 + number * 1'001, row);
  row += '\x19';
  const double value = static_cast<double>(number) * 0.37;
  row.append(reinterpret_cast<const char*>(&value), sizeof value);
  putText(4, "sensor-" + std::to_string(100'000 + number % 1'000), row);
  std::string remark = "reading taken at the usual place and found to be within its limits ";
  remark.resize(kEmulatorRowBytes - row.size() - 2, 'x');
  putText(5, remark, row);
  return row;
}

}  // namespace penstock::bench
