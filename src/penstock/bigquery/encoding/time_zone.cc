#include "penstock/bigquery/encoding/time_zone.h"

#include <absl/time/time.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <iterator>

#include "penstock/base/text.h"

namespace penstock::bigquery {
namespace {

/// The longest id of the database has 32 characters.
constexpr size_t kMaxIdSize = 63;

/// Not zones, zones that count leap seconds, and abbreviations that are ids as well.
constexpr std::array<std::string_view, 11> kRefusedIds = {
    "localtime", "posixrules", "Factory", "leapseconds", "CET", "EET",
    "EST",       "HST",        "MET",     "MST",         "WET"};
constexpr std::array<std::string_view, 2> kRefusedFolders = {"posix/", "right/"};

using base::isDigit;
using base::isLetter;

constexpr bool isIdCharacter(char character) {
  return isLetter(character) || isDigit(character) || character == '_' || character == '-' ||
         character == '+' || character == '/';
}

/// Whether `id` can be a zone at all: a relative path of plain names, as it becomes a file's name.
bool isWellFormed(std::string_view id) {
  return !id.empty() && id.size() <= kMaxIdSize && isLetter(id.front()) && id.back() != '/' &&
         std::all_of(id.begin(), id.end(), isIdCharacter) &&
         id.find("//") == std::string_view::npos &&
         std::find(kRefusedIds.begin(), kRefusedIds.end(), id) == kRefusedIds.end() &&
         std::none_of(
             kRefusedFolders.begin(), kRefusedFolders.end(),
             [id](std::string_view folder) { return id.substr(0, folder.size()) == folder; });
}

std::string_view databaseFolder() {
  // As abseil looks it up. Nothing in Penstock changes the environment.
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  static const char* const fromEnvironment = std::getenv("TZDIR");
  return fromEnvironment != nullptr && *fromEnvironment != '\0' ? fromEnvironment
                                                                : "/usr/share/zoneinfo";
}

/// abseil remembers every id it was asked for, unknown ones too, for good: it is asked only about
/// files.
ParseResult checkInDatabase(std::string_view id) {
  std::array<char, 4096> path;
  const auto end = fmt::format_to_n(path.begin(), path.size() - 1, "{}/{}", databaseFolder(), id);
  *end.out = '\0';
  if (::access(path.data(), R_OK) == 0) return ParseResult();
  path[std::min(databaseFolder().size(), path.size() - 1)] = '\0';
  if (::access(path.data(), X_OK) != 0) {
    return ParseResult(
        "this machine has no time zone database to look the zone up in "
        "(the package tzdata, or TZDIR)");
  }
  return ParseResult("unknown time zone");
}

struct CachedZone {
  std::array<char, kMaxIdSize> id{};
  size_t idSize = 0;
  absl::TimeZone zone;

  [[nodiscard]] std::string_view name() const { return {id.data(), idSize}; }
};

/// The zones that this thread met last: a look-up in abseil takes a lock and allocates.
struct ZoneCache {
  std::array<CachedZone, 8> zones;
  size_t next = 0;
};

ParseResult findZone(std::string_view id, const absl::TimeZone** zone) {
  thread_local ZoneCache cache;
  for (const CachedZone& cached : cache.zones) {
    if (cached.name() == id) {
      *zone = &cached.zone;
      return ParseResult();
    }
  }
  if (!isWellFormed(id)) return ParseResult("unknown time zone");
  if (ParseResult result = checkInDatabase(id); !result.ok()) return result;
  absl::TimeZone loaded;
  if (!absl::LoadTimeZone(absl::string_view(id.data(), id.size()), &loaded)) {
    return ParseResult("unknown time zone");
  }
  CachedZone& slot = cache.zones[cache.next];
  cache.next = (cache.next + 1) % cache.zones.size();
  std::copy(id.begin(), id.end(), slot.id.begin());
  slot.idSize = id.size();
  slot.zone = loaded;
  *zone = &slot.zone;
  return ParseResult();
}

}  // namespace

ParseResult localToEpochSeconds(std::string_view id, const absl::CivilSecond& local,
                                int64_t* seconds) {
  const absl::TimeZone* zone = nullptr;
  if (ParseResult result = findZone(id, &zone); !result.ok()) return result;
  *seconds = absl::ToUnixSeconds(zone->At(local).pre);
  return ParseResult();
}

}  // namespace penstock::bigquery
