#pragma once

#include <absl/time/civil_time.h>

#include <cstdint>
#include <string_view>

#include "penstock/bigquery/encoding/parse_result.h"

namespace penstock::bigquery {

/// Turns a local time of the zone `id` of the system's time zone database into seconds from the
/// epoch. A time that the zone's clock skipped or showed twice is read with the offset before the
/// change. Refuses abbreviations, also those that are ids at the same time (EST, CET): they have
/// two readings (BQT-055).
ParseResult localToEpochSeconds(std::string_view id, const absl::CivilSecond& local,
                                int64_t* seconds);

}  // namespace penstock::bigquery
