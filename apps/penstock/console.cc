#include "apps/penstock/console.h"

#include <fmt/format.h>

namespace penstock::command {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[2K";

void put(std::FILE* file, std::string_view text) { std::fwrite(text.data(), 1, text.size(), file); }

/// Messages quote records, names and files: what these hold must not break the line or reach the
/// terminal as a command.
std::string onOneLine(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace

void Console::writeLine(std::FILE* file, std::string_view line) {
  if (!shown_.empty()) put(error_, kClearLine);
  put(file, line);
  put(file, "\n");
  std::fflush(file);
  if (!shown_.empty()) {
    put(error_, shown_);
    std::fflush(error_);
  }
}

void Console::result(std::string_view text) {
  base::MutexLock lock(mutex_);
  writeLine(out_, text);
}

void Console::note(std::string_view line) {
  base::MutexLock lock(mutex_);
  writeLine(error_, onOneLine(line));
}

void Console::error(std::string_view message) { note(fmt::format("penstock: error: {}", message)); }

void Console::transient(std::string_view line) {
  if (!transient_) return;
  base::MutexLock lock(mutex_);
  if (!shown_.empty() || !line.empty()) put(error_, kClearLine);
  put(error_, line);
  std::fflush(error_);
  shown_ = line;
}

}  // namespace penstock::command
