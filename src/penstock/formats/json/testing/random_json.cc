#include "penstock/formats/json/testing/random_json.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace penstock::formats {
namespace {

void appendSpace(base::Random& random, std::string* out) {
  if (!random.chance(0.1)) return;
  constexpr std::array<std::string_view, 4> kSpaces = {" ", "\t", "  ", "\r"};
  *out += kSpaces[random.below(kSpaces.size())];
}

void appendRandomNumber(base::Random& random, std::string* out) {
  if (random.chance(0.2)) *out += '-';
  *out += fmt::format("{}", random.next() >> random.below(64));
  if (random.chance(0.4)) *out += fmt::format(".{:03}", random.below(1'000'000));
  constexpr std::array<std::string_view, 4> kExponents = {"e", "E", "e-", "E+"};
  if (random.chance(0.2)) {
    *out += fmt::format("{}{}", kExponents[random.below(kExponents.size())], random.below(100));
  }
}

}  // namespace

void appendRandomString(base::Random& random, std::string* out) {
  constexpr std::array<std::string_view, 24> kPieces = {
      "a",       "B",          "0",
      " ",       "plain text", "some longer text without anything",
      ":",       ",",          "{",
      "]",       "\\\"",       "\\\\",
      "\\n",     "\\/",        "\\t",
      "é",       "€",          "𝄞",
      "\\u00e9", "\\u20AC",    "\\ud834\\udd1e",
      "'",       "null",       "\x7F",
  };
  *out += '"';
  const uint64_t pieces = random.below(6);
  for (uint64_t piece = 0; piece < pieces; ++piece) *out += kPieces[random.below(kPieces.size())];
  *out += '"';
}

void appendRandomObject(base::Random& random, int depth, std::string* out) {
  *out += '{';
  const uint64_t members = random.below(5);
  for (uint64_t member = 0; member < members; ++member) {
    if (member != 0) *out += ',';
    appendSpace(random, out);
    appendRandomString(random, out);
    out->insert(out->size() - 1, fmt::format("{}", member));
    appendSpace(random, out);
    *out += ':';
    appendSpace(random, out);
    appendRandomValue(random, depth - 1, out);
    appendSpace(random, out);
  }
  *out += '}';
}

void appendRandomValue(base::Random& random, int depth, std::string* out) {
  const uint64_t kind = random.below(depth > 0 ? 8 : 6);
  switch (kind) {
    case 0:
      *out += "null";
      return;
    case 1:
      *out += random.chance(0.5) ? "true" : "false";
      return;
    case 2:
    case 3:
      appendRandomNumber(random, out);
      return;
    case 4:
    case 5:
      appendRandomString(random, out);
      return;
    case 6:
      appendRandomObject(random, depth, out);
      return;
    default:
      break;
  }
  *out += '[';
  const uint64_t elements = random.below(5);
  for (uint64_t element = 0; element < elements; ++element) {
    if (element != 0) *out += ',';
    appendSpace(random, out);
    appendRandomValue(random, depth - 1, out);
    appendSpace(random, out);
  }
  *out += ']';
}

void mutateOneByte(base::Random& random, std::string* text) {
  constexpr std::string_view kBytes =
      "{}[]:,\"\\ \t\n\r0123456789-+.eEtruefalsn/x\x01\x0C\x1A\x7F\x80\xBF\xC3\xE2\xED\xFF";
  const char byte = kBytes[random.below(kBytes.size())];
  const size_t at = text->empty() ? 0 : random.below(text->size());
  if (text->empty()) {
    *text = byte;
    return;
  }
  switch (random.below(4)) {
    case 0:
      (*text)[at] = byte;
      return;
    case 1:
      text->erase(at, 1);
      return;
    case 2:
      text->insert(at, 1, byte);
      return;
    default:
      text->insert(at, 1, (*text)[at]);
      return;
  }
}

}  // namespace penstock::formats
