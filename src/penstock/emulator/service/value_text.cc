#include "penstock/emulator/service/value_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "penstock/base/text.h"

namespace penstock::emulator {
namespace {

using base::isDigit;

/// Walks a text from its head.
class ValueScanner {
 public:
  explicit ValueScanner(std::string_view text) : left_(text) {}

  [[nodiscard]] bool atEnd() const { return left_.empty(); }
  bool take(char expected) {
    if (left_.empty() || left_.front() != expected) return false;
    left_.remove_prefix(1);
    return true;
  }
  void skipSpace() {
    while (!left_.empty() && std::isspace(static_cast<unsigned char>(left_.front())) != 0) {
      left_.remove_prefix(1);
    }
  }
  bool takeDigits(size_t most) {
    size_t count = 0;
    while (count < left_.size() && isDigit(left_[count])) ++count;
    if (count == 0 || count > most) return false;
    left_.remove_prefix(count);
    return true;
  }
  bool takeSignedDigits(size_t most) {
    if (!take('-')) take('+');
    return takeDigits(most);
  }
  bool takeNumber(double& value) {
    std::string_view digits = left_;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || !std::isfinite(value)) return false;
    left_.remove_prefix(static_cast<size_t>(end - left_.data()));
    return true;
  }
  /// Letters, upper-cased.
  std::string takeWord() {
    std::string word;
    while (!left_.empty() && std::isalpha(static_cast<unsigned char>(left_.front())) != 0) {
      word += static_cast<char>(std::toupper(static_cast<unsigned char>(left_.front())));
      left_.remove_prefix(1);
    }
    return word;
  }

 private:
  std::string_view left_;
};

// How deep the coordinates of a shape are nested: POINT (1 2), LINESTRING (1 2, 3 4), ...
enum class Shape { kPosition, kPositions, kLists, kListsOfLists };

bool takePosition(ValueScanner& scanner) {
  double longitude = 0;
  double latitude = 0;
  scanner.skipSpace();
  if (!scanner.takeNumber(longitude)) return false;
  scanner.skipSpace();
  return scanner.takeNumber(latitude) && std::abs(longitude) <= 180 && std::abs(latitude) <= 90;
}

template <typename TakeOne>
bool takeList(ValueScanner& scanner, const TakeOne& takeOne) {
  scanner.skipSpace();
  if (!scanner.take('(')) return false;
  do {
    scanner.skipSpace();
    if (!takeOne()) return false;
    scanner.skipSpace();
  } while (scanner.take(','));
  return scanner.take(')');
}

bool takeCoordinates(ValueScanner& scanner, Shape shape) {
  switch (shape) {
    case Shape::kPosition: {
      scanner.skipSpace();
      if (!scanner.take('(') || !takePosition(scanner)) return false;
      scanner.skipSpace();
      return scanner.take(')');
    }
    case Shape::kPositions:
      return takeList(scanner, [&] {
        // MULTIPOINT may put each of its points in brackets.
        if (!scanner.take('(')) return takePosition(scanner);
        if (!takePosition(scanner)) return false;
        scanner.skipSpace();
        return scanner.take(')');
      });
    case Shape::kLists:
      return takeList(scanner, [&] { return takeCoordinates(scanner, Shape::kPositions); });
    case Shape::kListsOfLists:
      return takeList(scanner, [&] { return takeCoordinates(scanner, Shape::kLists); });
  }
  return false;
}

bool takeWellKnownText(ValueScanner& scanner, int depth) {
  constexpr int kMaxDepth = 32;
  const std::string keyword = scanner.takeWord();
  scanner.skipSpace();
  if (keyword == "FULLGLOBE") return true;
  struct Keyword {
    std::string_view name;
    Shape shape;
  };
  static constexpr std::array<Keyword, 6> kKeywords{{{"POINT", Shape::kPosition},
                                                     {"LINESTRING", Shape::kPositions},
                                                     {"POLYGON", Shape::kLists},
                                                     {"MULTIPOINT", Shape::kPositions},
                                                     {"MULTILINESTRING", Shape::kLists},
                                                     {"MULTIPOLYGON", Shape::kListsOfLists}}};
  ValueScanner ahead = scanner;
  const bool isEmpty = ahead.takeWord() == "EMPTY";
  for (const Keyword& known : kKeywords) {
    if (known.name != keyword) continue;
    if (!isEmpty) return takeCoordinates(scanner, known.shape);
    scanner = ahead;
    return true;
  }
  if (keyword != "GEOMETRYCOLLECTION" || depth > kMaxDepth) return false;
  if (isEmpty) {
    scanner = ahead;
    return true;
  }
  return takeList(scanner, [&] { return takeWellKnownText(scanner, depth + 1); });
}

bool isGeoJson(std::string_view text) {
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return false;
  const auto type = document.find("type");
  if (type == document.end() || !type->is_string()) return false;
  const auto& name = type->get_ref<const std::string&>();
  static constexpr std::array<std::string_view, 6> kTypes{
      "Point", "LineString", "Polygon", "MultiPoint", "MultiPolygon", "MultiLineString"};
  if (name == "GeometryCollection") {
    return document.contains("geometries") && document["geometries"].is_array();
  }
  return std::find(kTypes.begin(), kTypes.end(), name) != kTypes.end() &&
         document.contains("coordinates") && document["coordinates"].is_array();
}

bool isHexadecimal(std::string_view text) {
  return text.size() % 2 == 0 && std::all_of(text.begin(), text.end(), [](char character) {
           return std::isxdigit(static_cast<unsigned char>(character)) != 0;
         });
}

// "1Y2M": numbers each followed by one of `units`, in their order, each at most once.
bool takeIsoParts(ValueScanner& scanner, std::string_view units, bool fraction, int& parts) {
  size_t nextUnit = 0;
  for (;;) {
    ValueScanner ahead = scanner;
    if (!ahead.takeSignedDigits(12)) return true;
    const bool hasFraction = fraction && ahead.take('.');
    if (hasFraction && !ahead.takeDigits(9)) return false;
    for (; nextUnit < units.size(); ++nextUnit) {
      if (!ahead.take(units[nextUnit])) continue;
      if (hasFraction && units[nextUnit] != 'S') return false;
      break;
    }
    if (nextUnit == units.size()) return false;
    ++nextUnit;
    ++parts;
    scanner = ahead;
  }
}

bool isIsoDuration(std::string_view text) {
  ValueScanner scanner(text);
  int parts = 0;
  if (!scanner.take('P') || !takeIsoParts(scanner, "YMWD", false, parts)) return false;
  if (scanner.take('T')) {
    int timeParts = 0;
    if (!takeIsoParts(scanner, "HMS", true, timeParts) || timeParts == 0) return false;
    parts += timeParts;
  }
  return parts > 0 && scanner.atEnd();
}

}  // namespace

bool isGeographyText(std::string_view text) {
  if (text.empty()) return false;
  ValueScanner scanner(text);
  scanner.skipSpace();
  ValueScanner head = scanner;
  if (head.take('{')) return isGeoJson(text);
  if (text.starts_with("00") || text.starts_with("01")) {
    return text.size() >= 10 && isHexadecimal(text);
  }
  if (!takeWellKnownText(scanner, 0)) return false;
  scanner.skipSpace();
  return scanner.atEnd();
}

bool isIntervalText(std::string_view text) {
  if (text.starts_with('P')) return isIsoDuration(text);
  ValueScanner scanner(text);
  const bool date = scanner.takeSignedDigits(5) && scanner.take('-') && scanner.takeDigits(6) &&
                    scanner.take(' ') && scanner.takeSignedDigits(7) && scanner.take(' ');
  if (!date) return false;
  const bool time = scanner.takeSignedDigits(8) && scanner.take(':') && scanner.takeDigits(10) &&
                    scanner.take(':') && scanner.takeDigits(12);
  if (!time) return false;
  if (scanner.take('.') && !scanner.takeDigits(9)) return false;
  return scanner.atEnd();
}

}  // namespace penstock::emulator
