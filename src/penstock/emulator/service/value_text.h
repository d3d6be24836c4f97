#pragma once

#include <string_view>

/// The texts that columns take as they are: whether the service could read them.
namespace penstock::emulator {

/// A GEOGRAPHY in well-known text, GeoJSON or hexadecimal well-known binary: its form, and
/// longitudes and latitudes in range for WKT; whether rings close and edges cross is not looked at.
[[nodiscard]] bool isGeographyText(std::string_view text);

/// An INTERVAL: `[sign]Y-M [sign]D [sign]H:M:S[.F]` or an ISO 8601 duration (`P1Y2M3DT4H5M6.5S`).
[[nodiscard]] bool isIntervalText(std::string_view text);

}  // namespace penstock::emulator
