#include "exactly_once/excerpt.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace penstock::simulation {
namespace {

/// The text up to `end`, which is taken off `rest` with it.
std::string_view take(std::string_view& rest, char end) {
  const size_t length = rest.find(end);
  const std::string_view word = rest.substr(0, length);
  rest = length == std::string_view::npos ? std::string_view() : rest.substr(length + 1);
  return word;
}

template <typename Number>
bool read(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

bool readFaults(std::string_view names, Excerpt& excerpt) {
  while (!names.empty()) {
    const std::string_view name = take(names, ',');
    bool known = false;
    for (size_t i = 0; i < kFaults; ++i) {
      if (nameOf(static_cast<Fault>(i)) != name) continue;
      excerpt.leaveOut(static_cast<Fault>(i));
      known = true;
    }
    if (!known) return false;
  }
  return true;
}

}  // namespace

std::string Excerpt::text() const {
  std::string text = fmt::format("{}", seed);
  if (records != INT_MAX) text += fmt::format(" records={}", records);
  if (faults != INT_MAX) text += fmt::format(" faults={}", faults);
  if (crashes != INT_MAX) text += fmt::format(" crashes={}", crashes);
  if (lastCrash >= 0) text += fmt::format(" last-crash={}", lastCrash);
  std::string names;
  for (size_t i = 0; i < kFaults; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (!has(fault)) names += fmt::format("{}{}", names.empty() ? "" : ",", nameOf(fault));
  }
  if (!names.empty()) text += " without=" + names;
  return text;
}

std::optional<Excerpt> Excerpt::parse(std::string_view text) {
  Excerpt excerpt;
  if (!read(take(text, ' '), excerpt.seed)) return std::nullopt;
  while (!text.empty()) {
    std::string_view value = take(text, ' ');
    const std::string_view key = take(value, '=');
    bool good = false;
    if (key == "records") good = read(value, excerpt.records);
    if (key == "faults") good = read(value, excerpt.faults);
    if (key == "crashes") good = read(value, excerpt.crashes);
    if (key == "last-crash") good = read(value, excerpt.lastCrash);
    if (key == "without") good = readFaults(value, excerpt);
    if (!good) return std::nullopt;
  }
  return excerpt;
}

}  // namespace penstock::simulation
