#include "penstock/runtime/files/content_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace penstock::runtime {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  std::string_view name;
};

constexpr std::array kForeignKinds = {
    Magic{"PAR1"sv, "a Parquet file"},
    Magic{"Obj\x01"sv, "an Avro file"},
    Magic{"ORC"sv, "an ORC file"},
    Magic{"PK\x03\x04"sv, "a zip archive (or an office document)"},
    Magic{"BZh"sv, "bzip2-compressed (gzip and zstd are read)"},
    Magic{"\xFD"
          "7zXZ\0"sv,
          "xz-compressed (gzip and zstd are read)"},
    Magic{"\x04\x22\x4D\x18"sv, "lz4-compressed (gzip and zstd are read)"},
    Magic{"SQLite format 3"sv, "an SQLite database"},
    Magic{"%PDF"sv, "a PDF document"},
};

bool isText(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r') || c == 0x7f;
  });
}

}  // namespace

Compression compressionOf(std::string_view rawHead) {
  if (rawHead.starts_with("\x1f\x8b"sv)) return Compression::kGzip;
  if (rawHead.starts_with("\x28\xB5\x2F\xFD"sv)) return Compression::kZstd;
  // A skippable zstd frame in front, as pzstd writes it: 0x184D2A50 to 5F, little endian.
  if (rawHead.size() >= 4 && rawHead.substr(1, 3) == "\x2A\x4D\x18"sv &&
      (static_cast<unsigned char>(rawHead[0]) & 0xF0U) == 0x50U) {
    return Compression::kZstd;
  }
  return Compression::kNone;
}

std::optional<std::string_view> wideEncodingOf(std::string_view head) {
  const auto zero = [head](size_t at) { return at < head.size() && head[at] == '\0'; };
  const auto text = [head](size_t at) {
    constexpr std::string_view kBlank = "\t\n\r";
    return at < head.size() && (kBlank.find(head[at]) != std::string_view::npos ||
                                (head[at] >= ' ' && head[at] <= '~'));
  };
  const auto end = [head](size_t at) { return at >= head.size(); };
  if (head.starts_with("\xFF\xFE\0\0"sv)) return "UTF-32, little endian";
  if (head.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32, big endian";
  if (head.starts_with("\xFF\xFE"sv)) return "UTF-16, little endian";
  if (head.starts_with("\xFE\xFF"sv)) return "UTF-16, big endian";
  if (text(0) && zero(1) && zero(2) && zero(3)) return "UTF-32, little endian";
  if (zero(0) && zero(1) && zero(2) && text(3)) return "UTF-32, big endian";
  if (text(0) && zero(1) && (end(2) || (text(2) && zero(3)))) return "UTF-16, little endian";
  if (zero(0) && text(1) && (end(2) || (zero(2) && text(3)))) return "UTF-16, big endian";
  return std::nullopt;
}

std::string printable(std::string_view text, size_t limit) {
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    const unsigned char byte = static_cast<unsigned char>(text[at]);
    const std::string shown = byte == '\t'                 ? "\\t"
                              : byte < 0x20 || byte > 0x7e ? fmt::format("\\x{:02x}", byte)
                                                           : std::string(1, text[at]);
    if (result.size() + shown.size() > limit) return result + "...";
    result += shown;
  }
  return result;
}

std::string describeForeignContent(std::string_view head) {
  for (const Magic& kind : kForeignKinds) {
    if (head.starts_with(kind.bytes)) return std::string(kind.name);
  }
  std::string_view line = head.substr(0, head.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::string shown = fmt::format("\"{}\"", printable(line, 60));
  if (!isText(line)) return shown + ", binary data";
  if (line.starts_with('<')) return shown + ", which looks like XML or HTML";
  if (line.starts_with("---")) return shown + ", which looks like YAML";
  if (line.find_first_of(",;\t|") != std::string_view::npos)
    return shown + ", which looks like CSV";
  return shown;
}

}  // namespace penstock::runtime
