#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::runtime {

enum class Compression { kNone, kGzip, kZstd };

/// What the records of an input are.
enum class RecordFormat {
  kJson,      ///< objects, one a line or in one array
  kProtobuf,  ///< messages, each behind its length as a varint
};

enum class FileFormat {
  kEmpty,             ///< no bytes but blanks
  kNewlineDelimited,  ///< the first non-blank byte is `{`
  kArray,             ///< the first non-blank byte is `[`: one JSON array, each element a record
  kLengthDelimited,   ///< protobuf messages, each behind its length as a varint
};

/// One input as it was found when the source was opened.
struct InputFile {
  std::string path;          ///< as messages name it: as it was given or found; "standard input"
  std::string absolutePath;  ///< what checkpoints know it by
  bool stream = false;       ///< standard input, a pipe, a socket: read once, in order
  uint64_t device = 0;       ///< the file system's number for it while it is read
  uint64_t inode = 0;
  uint64_t size = 0;      ///< bytes on disk; 0 for a stream
  uint64_t headHash = 0;  ///< of the first 64 KiB on disk
  Compression compression = Compression::kNone;
  FileFormat format = FileFormat::kEmpty;
  /// Bytes of a UTF-8 byte-order mark at the head of the (uncompressed) content: 0 or 3.
  uint64_t contentBegin = 0;
};

[[nodiscard]] std::string_view nameOf(Compression compression);
[[nodiscard]] std::string_view nameOf(FileFormat format);

}  // namespace penstock::runtime
