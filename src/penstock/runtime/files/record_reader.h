#pragma once

#include <cstdint>
#include <memory>

#include "penstock/base/status.h"
#include "penstock/runtime/files/byte_stream.h"
#include "penstock/runtime/files/line_index.h"
#include "penstock/runtime/files/reader_position.h"
#include "penstock/runtime/input_file.h"
#include "penstock/runtime/source.h"

namespace penstock::runtime {

struct RecordReaderOptions {
  uint64_t maxRecordBytes = 0;
  size_t bufferBytes = 0;
};

/// What a record reader reads.
struct RecordReaderInput {
  const InputFile* file = nullptr;  ///< outlives the reader
  LineIndex* lines = nullptr;       ///< for plain files; null: the reader counts lines as it goes
  std::unique_ptr<ByteStream> content;  ///< from `start.offset` on
  ReaderPosition start;
  const Wakeup* wakeup = nullptr;
};

/// Records of newline-delimited content: each line that is not blank, without its line end (LF or
/// CRLF), the last one with or without.
///
/// `align`: the content begins somewhere in a line (or at its end), which belongs to the reader
/// before: the first record is the first line that begins after. Reads the lines that begin before
/// `rangeEnd`.
[[nodiscard]] std::unique_ptr<SplitReader> makeLineReader(RecordReaderInput input, bool align,
                                                          uint64_t rangeEnd,
                                                          const RecordReaderOptions& options);

/// Records of content that is one JSON array: each element, whatever it is. Errors (with line and
/// column) where the frame is not an array's: a missing or trailing comma, something behind the
/// closing bracket, no closing bracket; and where an element's end cannot be told with certainty.
[[nodiscard]] std::unique_ptr<SplitReader> makeArrayReader(RecordReaderInput input,
                                                           const RecordReaderOptions& options);

/// Records of content that is a sequence of protobuf messages, each behind its length as a varint:
/// each message. A length that cannot be one and an end within a message are errors (with the
/// message's number and offset).
[[nodiscard]] std::unique_ptr<SplitReader> makeDelimitedReader(RecordReaderInput input,
                                                               const RecordReaderOptions& options);

/// Of a record that is too long, this much is kept: for messages.
constexpr size_t kKeptHeadBytes = 256;

/// "the line is 20 bytes long, at most 10 are taken".
[[nodiscard]] std::string describeTooLong(std::string_view kind, uint64_t bytes, uint64_t limit);

}  // namespace penstock::runtime
