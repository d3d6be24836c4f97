#include "penstock/runtime/testing/input_files.h"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "penstock/runtime/file_source.h"

namespace penstock::runtime {
namespace {

void append(ReadRecords& all, ReadRecords more) {
  std::move(more.records.begin(), more.records.end(), std::back_inserter(all.records));
  std::move(more.origins.begin(), more.origins.end(), std::back_inserter(all.origins));
  std::move(more.laterOrigins.begin(), more.laterOrigins.end(),
            std::back_inserter(all.laterOrigins));
  std::move(more.defects.begin(), more.defects.end(), std::back_inserter(all.defects));
  all.status = more.status;
}

}  // namespace

TestFolder::TestFolder() {
  path_ = (std::filesystem::temp_directory_path() / "penstock-runtime-XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) {
    std::perror("mkdtemp");
    std::abort();
  }
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TestFolder::at(std::string_view name) const {
  return (std::filesystem::path(path_) / name).string();
}

std::string TestFolder::write(std::string_view name, std::string_view content) const {
  const std::string path = at(name);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) std::abort();
  return path;
}

std::string gzipped(std::string_view content) {
  z_stream deflater = {};
  if (deflateInit2(&deflater, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    std::abort();
  }
  std::string compressed(deflateBound(&deflater, content.size()) + 32, '\0');
  deflater.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  deflater.avail_in = static_cast<uInt>(content.size());
  deflater.next_out = reinterpret_cast<Bytef*>(compressed.data());
  deflater.avail_out = static_cast<uInt>(compressed.size());
  if (deflate(&deflater, Z_FINISH) != Z_STREAM_END) std::abort();
  compressed.resize(deflater.total_out);
  deflateEnd(&deflater);
  return compressed;
}

std::string zstdCompressed(std::string_view content) {
  std::string compressed(ZSTD_compressBound(content.size()), '\0');
  const size_t size =
      ZSTD_compress(compressed.data(), compressed.size(), content.data(), content.size(), 3);
  if (ZSTD_isError(size) != 0) std::abort();
  compressed.resize(size);
  return compressed;
}

std::string contentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string errorOf(const ReadRecords& read) { return std::string(base::messageOf(read.status)); }

ReadRecords readToEnd(SplitReader& reader) {
  ReadRecords all;
  RecordBatch batch;
  std::vector<std::pair<std::function<std::string(size_t)>, size_t>> later;
  while (true) {
    const absl::StatusOr<SplitReader::State> state = reader.read(batch, base::kNever);
    if (!state.ok() || *state == SplitReader::State::kEnd) {
      all.status = state.status();
      break;
    }
    if (*state == SplitReader::State::kNothingYet) continue;
    later.emplace_back(batch.defect.empty() ? batch.laterOrigins() : nullptr, batch.records.size());
    for (size_t at = 0; at < batch.records.size(); ++at) {
      all.records.emplace_back(batch.records[at]);
      all.origins.push_back(batch.origin(at));
      all.defects.push_back(batch.defect);
      // The promised padding: an address sanitizer objects if it is not there.
      const volatile char* behind = batch.records[at].data() + batch.records[at].size();
      for (size_t byte = 0; byte < kRecordPadding; ++byte) (void)behind[byte];
    }
  }
  for (const auto& [describe, count] : later) {
    for (size_t at = 0; at < count; ++at) {
      all.laterOrigins.push_back(describe ? describe(at) : std::string());
    }
  }
  return all;
}

ReadRecords readInputs(const std::vector<std::string>& inputs, const FileSourceOptions& options) {
  ReadRecords all;
  const auto source = FileSource::open(inputs, options);
  if (!source.ok()) {
    all.status = source.status();
    return all;
  }
  const Wakeup wakeup;
  for (const std::string& split : (*source)->splits()) {
    const auto reader = (*source)->createReader(split, {}, wakeup);
    if (!reader.ok()) {
      all.status = reader.status();
      return all;
    }
    append(all, readToEnd(**reader));
    if (!all.status.ok()) return all;
  }
  return all;
}

ReadRecords readInputs(const std::vector<std::string>& inputs) {
  return readInputs(inputs, FileSourceOptions());
}

}  // namespace penstock::runtime
