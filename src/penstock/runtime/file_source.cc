#include "penstock/runtime/file_source.h"

#include <algorithm>
#include <utility>

#include "penstock/base/mutex.h"
#include "penstock/runtime/files/input_identity.h"
#include "penstock/runtime/files/input_paths.h"
#include "penstock/runtime/files/input_probe.h"
#include "penstock/runtime/files/line_index.h"
#include "penstock/runtime/files/reader_position.h"
#include "penstock/runtime/files/record_reader.h"

namespace penstock::runtime {
namespace {

constexpr uint64_t kMaxSplitsOfFile = 1024;

/// The first bytes of a stream, held to be read twice. At their end nothing comes yet, unless the
/// stream ends there too.
class HeldPrefixStream final : public ByteStream {
 public:
  HeldPrefixStream(std::string_view bytes, bool ended) : left_(bytes), ended_(ended) {}

  absl::StatusOr<Piece> read(char* to, size_t capacity, const ReadWait&) override {
    if (left_.empty()) return Piece{ended_ ? State::kEnd : State::kNothingYet, 0};
    const size_t size = std::min(capacity, left_.size());
    std::copy_n(left_.data(), size, to);
    left_.remove_prefix(size);
    return Piece{State::kData, size};
  }
  [[nodiscard]] bool exhausted() const { return left_.empty() && !ended_; }

 private:
  std::string_view left_;
  bool ended_;
};

}  // namespace

class FileSource::Implementation {
 public:
  explicit Implementation(FileSourceOptions options) : options_(options) {}

  absl::Status open(std::span<const std::string> inputs) {
    PENSTOCK_ASSIGN_OR_RETURN(InputPaths found, findInputs(inputs));
    notices_ = std::move(found.notices);
    for (const std::string& path : found.paths) {
      PENSTOCK_ASSIGN_OR_RETURN(ProbedInput probed, probeInput(path, options_.format));
      if (probed.file.format == FileFormat::kEmpty) {
        notices_.push_back(fmt::format("{} is empty: no rows", probed.file.path));
      }
      if (!probed.notice.empty()) notices_.push_back(std::move(probed.notice));
      files_.push_back(std::move(probed.file));
      streams_.push_back(std::move(probed.content));
    }
    for (const InputFile& file : files_) lineIndexes_.push_back(std::make_unique<LineIndex>(file));
    return absl::OkStatus();
  }

  [[nodiscard]] const std::vector<InputFile>& files() const { return files_; }
  [[nodiscard]] const std::vector<std::string>& notices() const { return notices_; }

  [[nodiscard]] std::vector<std::string> splits() const {
    std::vector<std::string> splits;
    for (size_t at = 0; at < files_.size(); ++at) addSplits(at, splits);
    return splits;
  }

  absl::StatusOr<std::unique_ptr<SplitReader>> createReader(std::string_view splitText,
                                                            std::string_view positionText,
                                                            const Wakeup* wakeup) {
    PENSTOCK_ASSIGN_OR_RETURN(const FileSplit split, FileSplit::parse(splitText));
    if (split.file >= files_.size()) {
      return base::invalidArgument("there is no input file {}", split.file);
    }
    const InputFile& file = files_[split.file];
    const uint64_t begin = std::max(split.begin, file.contentBegin);
    ReaderPosition start{begin, 0, 0};
    bool align = begin > file.contentBegin;
    if (!positionText.empty()) {
      PENSTOCK_ASSIGN_OR_RETURN(start, ReaderPosition::parse(positionText));
      align = false;
    } else if (align) {
      --start.offset;  // a line end just before the range makes its first byte the begin of a line
    }
    PENSTOCK_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> content, contentOf(split.file, start));
    return makeReader(split, std::move(content), start, align, wakeup);
  }

  absl::Status scan(uint64_t streamPrefixBytes,
                    const std::function<absl::Status(const RecordBatch&)>& visit) {
    for (size_t at = 0; at < files_.size(); ++at) {
      if (files_[at].format == FileFormat::kEmpty) continue;
      PENSTOCK_RETURN_IF_ERROR(files_[at].stream ? scanStream(at, streamPrefixBytes, visit)
                                                 : scanFile(at, visit));
    }
    return absl::OkStatus();
  }

 private:
  void addSplits(size_t index, std::vector<std::string>& splits) const {
    const InputFile& file = files_[index];
    if (file.format == FileFormat::kEmpty) return;
    const bool divisible = !file.stream && file.format == FileFormat::kNewlineDelimited &&
                           file.compression == Compression::kNone;
    const uint64_t count =
        divisible ? std::clamp<uint64_t>(file.size / options_.splitBytes, 1, kMaxSplitsOfFile) : 1;
    if (count == 1) {
      splits.push_back(FileSplit{index}.toText());
      return;
    }
    for (uint64_t part = 0; part < count; ++part) {
      const uint64_t begin = file.size / count * part;
      const uint64_t end = part + 1 == count ? file.size : file.size / count * (part + 1);
      splits.push_back(FileSplit{index, begin, end}.toText());
    }
  }

  absl::StatusOr<std::unique_ptr<ByteStream>> contentOf(size_t index, const ReaderPosition& start) {
    const InputFile& file = files_[index];
    if (!file.stream) return openContent(file, start.offset);
    base::MutexLock lock(streamsMutex_);
    if (streams_[index] == nullptr || start.offset != file.contentBegin) {
      return base::makeStatus(absl::StatusCode::kFailedPrecondition,
                              "{} can be read only once, from its beginning", file.path);
    }
    return std::move(streams_[index]);
  }

  std::unique_ptr<SplitReader> makeReader(const FileSplit& split,
                                          std::unique_ptr<ByteStream> content,
                                          const ReaderPosition& start, bool align,
                                          const Wakeup* wakeup) {
    const InputFile& file = files_[split.file];
    const bool plain = !file.stream && file.compression == Compression::kNone;
    RecordReaderInput input{&file, plain ? lineIndexes_[split.file].get() : nullptr,
                            std::move(content), start, wakeup};
    const RecordReaderOptions options{options_.maxRecordBytes, options_.bufferBytes};
    if (file.format == FileFormat::kLengthDelimited) {
      return makeDelimitedReader(std::move(input), options);
    }
    if (file.format == FileFormat::kArray) return makeArrayReader(std::move(input), options);
    return makeLineReader(std::move(input), align, split.end, options);
  }

  static absl::Status readAll(SplitReader& reader, const HeldPrefixStream* prefix,
                              const std::function<absl::Status(const RecordBatch&)>& visit) {
    RecordBatch batch;
    while (true) {
      PENSTOCK_ASSIGN_OR_RETURN(const SplitReader::State state, reader.read(batch, base::kNever));
      if (state == SplitReader::State::kEnd) return absl::OkStatus();
      if (state == SplitReader::State::kBatch) {
        PENSTOCK_RETURN_IF_ERROR(visit(batch));
      } else if (prefix != nullptr && prefix->exhausted()) {
        return absl::OkStatus();
      }
    }
  }

  absl::Status scanFile(size_t index,
                        const std::function<absl::Status(const RecordBatch&)>& visit) {
    PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<SplitReader> reader,
                              createReader(FileSplit{index}.toText(), {}, nullptr));
    return readAll(*reader, nullptr, visit);
  }

  absl::Status scanStream(size_t index, uint64_t prefixBytes,
                          const std::function<absl::Status(const RecordBatch&)>& visit) {
    const InputFile& file = files_[index];
    const ReaderPosition start{file.contentBegin, 0, 0};
    PENSTOCK_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream, contentOf(index, start));
    std::string prefix(prefixBytes, '\0');
    size_t size = 0;
    bool ended = false;
    while (size < prefixBytes && !ended) {
      PENSTOCK_ASSIGN_OR_RETURN(const ByteStream::Piece piece,
                                stream->read(prefix.data() + size, prefixBytes - size, ReadWait()));
      size += piece.size;
      ended = piece.state == ByteStream::State::kEnd;
    }
    prefix.resize(size);
    auto held = std::make_unique<HeldPrefixStream>(prefix, ended);
    const HeldPrefixStream& heldPrefix = *held;
    absl::Status status = readAll(
        *makeReader(FileSplit{index}, std::move(held), start, false, nullptr), &heldPrefix, visit);
    base::MutexLock lock(streamsMutex_);
    streams_[index] = makePrefixedStream(std::move(prefix), std::move(stream));
    return status;
  }

  FileSourceOptions options_;
  std::vector<InputFile> files_;
  std::vector<std::string> notices_;
  std::vector<std::unique_ptr<LineIndex>> lineIndexes_;
  base::Mutex streamsMutex_;
  std::vector<std::unique_ptr<ByteStream>> streams_;  // null: a file, or handed to its reader
};

FileSource::FileSource(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
FileSource::~FileSource() = default;

absl::StatusOr<std::unique_ptr<FileSource>> FileSource::open(std::span<const std::string> inputs,
                                                             FileSourceOptions options) {
  if (options.maxRecordBytes == 0 || options.splitBytes == 0 || options.bufferBytes == 0) {
    return base::invalidArgument(
        "file source: maxRecordBytes, splitBytes and bufferBytes must be above 0");
  }
  auto implementation = std::make_unique<Implementation>(options);
  PENSTOCK_RETURN_IF_ERROR(implementation->open(inputs));
  return std::unique_ptr<FileSource>(new FileSource(std::move(implementation)));
}

const std::vector<InputFile>& FileSource::files() const { return implementation_->files(); }

const std::vector<std::string>& FileSource::notices() const { return implementation_->notices(); }

uint64_t FileSource::totalBytes() const {
  uint64_t total = 0;
  for (const InputFile& file : files()) total += file.size;
  return total;
}

absl::Status FileSource::scan(uint64_t streamPrefixBytes,
                              const std::function<absl::Status(const RecordBatch&)>& visit) {
  return implementation_->scan(streamPrefixBytes, visit);
}

std::string FileSource::identity() const { return describeInputs(files()); }

absl::Status FileSource::checkIdentity(std::string_view stored) const {
  return checkInputs(files(), stored);
}

absl::Status FileSource::checkRestorable() const {
  for (const InputFile& file : files()) {
    if (file.stream) {
      return base::invalidArgument(
          "{} cannot be read again after a restart, so a checkpoint directory has no use with it: "
          "leave the directory out, or load from a file",
          file.path);
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> FileSource::splits() const { return implementation_->splits(); }

absl::StatusOr<std::unique_ptr<SplitReader>> FileSource::createReader(std::string_view split,
                                                                      std::string_view position,
                                                                      const Wakeup& wakeup) {
  return implementation_->createReader(split, position, &wakeup);
}

}  // namespace penstock::runtime
