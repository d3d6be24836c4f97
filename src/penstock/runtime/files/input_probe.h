#pragma once

#include <memory>
#include <string>

#include "penstock/base/status.h"
#include "penstock/runtime/files/byte_stream.h"
#include "penstock/runtime/input_file.h"

namespace penstock::runtime {

struct ProbedInput {
  InputFile file;
  /// Streams only: the content from `file.contentBegin` on, with what was read to recognise it.
  std::unique_ptr<ByteStream> content;
  /// Something to say about it that is no error, in one line; empty: nothing.
  std::string notice;
};

/// Opens an input (`-`: standard input) and recognises its compression and, of JSON, its format by
/// content. Refuses what is not JSON by its head, naming the file and what it looks like. Waits for
/// the first bytes of a stream.
[[nodiscard]] absl::StatusOr<ProbedInput> probeInput(const std::string& path,
                                                     RecordFormat format = RecordFormat::kJson);

/// The content of a regular file from byte `offset` (uncompressed) on, as far as it went when it
/// was probed: what has been added since is not read. One that became shorter or was replaced is an
/// error.
[[nodiscard]] absl::StatusOr<std::unique_ptr<ByteStream>> openContent(const InputFile& file,
                                                                      uint64_t offset);

}  // namespace penstock::runtime
