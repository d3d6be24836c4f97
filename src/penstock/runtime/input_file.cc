#include "penstock/runtime/input_file.h"

namespace penstock::runtime {

std::string_view nameOf(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "none";
    case Compression::kGzip:
      return "gzip";
    case Compression::kZstd:
      return "zstd";
  }
  return "?";
}

std::string_view nameOf(FileFormat format) {
  switch (format) {
    case FileFormat::kEmpty:
      return "empty";
    case FileFormat::kNewlineDelimited:
      return "newline-delimited JSON";
    case FileFormat::kArray:
      return "one JSON array";
    case FileFormat::kLengthDelimited:
      return "length-delimited protobuf";
  }
  return "?";
}

}  // namespace penstock::runtime
