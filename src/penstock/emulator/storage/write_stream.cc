#include "penstock/emulator/storage/write_stream.h"

#include <charconv>
#include <filesystem>
#include <system_error>

namespace penstock::emulator {
namespace {

std::string statePathIn(const std::string& directory) { return directory + "/state"; }

absl::Status streamIsGone() {
  return streamError(StreamErrorCode::kTableNotFound, "The table of the stream was deleted.");
}

std::string_view typeName(StreamType type) {
  switch (type) {
    case StreamType::kCommitted:
      return "COMMITTED";
    case StreamType::kPending:
      return "PENDING";
    case StreamType::kBuffered:
      return "BUFFERED";
  }
  return "";
}

}  // namespace

WriteStream::WriteStream(std::shared_ptr<TableRows> table, StreamNumber number,
                         const RowStoreOptions& options)
    : number_(number),
      table_(std::move(table)),
      own_(std::make_shared<TableRows>(streamDirectory(table_->directory(), number), options)),
      statePath_(statePathIn(own_->directory())) {}

std::string WriteStream::id() const { return fmt::format("{:016x}", number_); }

std::optional<StreamNumber> WriteStream::numberOf(std::string_view id) {
  StreamNumber number = 0;
  const char* const end = id.data() + id.size();
  const auto [stop, error] = std::from_chars(id.data(), end, number, 16);
  // Only the spelling that id() has names the stream.
  if (error != std::errc() || stop != end || id != fmt::format("{:016x}", number)) {
    return std::nullopt;
  }
  return number;
}

absl::Status WriteStream::create(const TableRows& table, StreamNumber number, StreamType type,
                                 int64_t createdMicros) {
  const std::string directory = streamDirectory(table.directory(), number);
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return fileError("create", directory, error.value());
  StreamState state;
  state.type = type;
  state.createdMicros = createdMicros;
  return createStreamState(statePathIn(directory), state);
}

absl::Status WriteStream::load() {
  if (dropped_) return streamIsGone();
  if (loaded_) return absl::OkStatus();
  PENSTOCK_ASSIGN_OR_RETURN(StreamState state, readStreamState(statePath_));
  if (state.conditional) {
    PENSTOCK_ASSIGN_OR_RETURN(const bool written, table_->belongsTo(number_, state.recordRow));
    if (written) state.visibleRows = state.nextVisibleRows;
    if (!written) state.committed = false;
  }
  state_ = state;
  loaded_ = true;
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> WriteStream::rowCount() {
  if (state_.type == StreamType::kCommitted) return state_.visibleRows;
  PENSTOCK_ASSIGN_OR_RETURN(const TableSize size, own_->size());
  return size.rows;
}

absl::StatusOr<StreamView> WriteStream::view() {
  const base::MutexLock lock(mutex_);
  PENSTOCK_RETURN_IF_ERROR(load());
  StreamView view;
  PENSTOCK_ASSIGN_OR_RETURN(view.rows, rowCount());
  view.type = state_.type;
  view.createdMicros = state_.createdMicros;
  view.visibleRows = state_.visibleRows;
  view.finalized = state_.finalized;
  view.committed = state_.committed;
  view.committedMicros = state_.committedMicros;
  return view;
}

absl::StatusOr<std::shared_ptr<TableRows>> WriteStream::writtenRows() {
  const base::MutexLock lock(mutex_);
  PENSTOCK_RETURN_IF_ERROR(load());
  return state_.type == StreamType::kCommitted ? table_ : own_;
}

absl::Status WriteStream::checkAppend(std::optional<int64_t> offset) {
  const base::MutexLock lock(mutex_);
  PENSTOCK_RETURN_IF_ERROR(load());
  PENSTOCK_ASSIGN_OR_RETURN(const uint64_t end, rowCount());
  return checkAppend(offset, end);
}

absl::Status WriteStream::checkAppend(std::optional<int64_t> offset, uint64_t end) const {
  if (state_.finalized) {
    return streamError(StreamErrorCode::kStreamFinalized,
                       "Stream has been finalized and cannot be appended.");
  }
  if (!offset.has_value()) return absl::OkStatus();
  if (*offset < 0) return base::invalidArgument("The offset must not be negative: {}", *offset);
  const auto given = static_cast<uint64_t>(*offset);
  if (given == end) return absl::OkStatus();
  // Clients read both numbers out of these words.
  const bool within = given < end;
  return streamError(
      within ? StreamErrorCode::kOffsetAlreadyExists : StreamErrorCode::kOffsetOutOfRange,
      fmt::format("The offset is {} stream, expected offset {}, received {}",
                  within ? "within" : "beyond", end, given));
}

absl::StatusOr<uint64_t> WriteStream::append(std::optional<int64_t> offset,
                                             const DescriptorHash& descriptor,
                                             const FramedRows& rows) {
  const base::MutexLock lock(mutex_);
  PENSTOCK_RETURN_IF_ERROR(load());
  PENSTOCK_ASSIGN_OR_RETURN(const uint64_t start, rowCount());
  PENSTOCK_RETURN_IF_ERROR(checkAppend(offset, start));
  if (rows.rowCount == 0) return start;
  if (state_.type == StreamType::kCommitted) {
    PENSTOCK_RETURN_IF_ERROR(appendVisibly(descriptor, rows));
  } else {
    PENSTOCK_RETURN_IF_ERROR(own_->append(descriptor, rows));
  }
  return start;
}

absl::Status WriteStream::appendVisibly(const DescriptorHash& descriptor, const FramedRows& rows) {
  StreamState next = state_;
  next.conditional = true;
  next.nextVisibleRows = state_.visibleRows + rows.rowCount;
  const absl::Status appended = table_->append(descriptor, rows, number_, [&](uint64_t recordRow) {
    next.recordRow = recordRow;
    return writeStreamState(statePath_, next);
  });
  state_.version = next.version;
  if (appended.ok()) state_.visibleRows = next.nextVisibleRows;
  return appended;
}

absl::StatusOr<uint64_t> WriteStream::finalize() {
  const base::MutexLock lock(mutex_);
  PENSTOCK_RETURN_IF_ERROR(load());
  PENSTOCK_ASSIGN_OR_RETURN(const uint64_t rows, rowCount());
  if (state_.finalized) return rows;
  StreamState next = state_;
  next.conditional = false;
  next.finalized = true;
  PENSTOCK_RETURN_IF_ERROR(writeStreamState(statePath_, next));
  state_ = next;
  return rows;
}

absl::Status WriteStream::checkFlush(int64_t offset, uint64_t end) const {
  if (state_.type != StreamType::kBuffered) {
    return streamError(
        StreamErrorCode::kInvalidStreamType,
        fmt::format("FlushRows is for BUFFERED streams, this one is {}.", typeName(state_.type)));
  }
  if (state_.finalized) {
    return streamError(StreamErrorCode::kStreamFinalized,
                       "Stream has been finalized and cannot be flushed.");
  }
  if (offset < 0) return base::invalidArgument("The offset must not be negative: {}", offset);
  if (static_cast<uint64_t>(offset) >= end) {
    return streamError(StreamErrorCode::kOffsetOutOfRange,
                       fmt::format("Offset {} is beyond the end of the stream", offset));
  }
  if (static_cast<uint64_t>(offset) < state_.visibleRows) {
    return streamError(
        StreamErrorCode::kOffsetAlreadyExists,
        fmt::format("Offset {} is already flushed: the stream is flushed up to offset {}", offset,
                    state_.visibleRows - 1));
  }
  return absl::OkStatus();
}

absl::Status WriteStream::flush(int64_t offset) {
  const base::MutexLock lock(mutex_);
  PENSTOCK_RETURN_IF_ERROR(load());
  PENSTOCK_ASSIGN_OR_RETURN(const uint64_t end, rowCount());
  PENSTOCK_RETURN_IF_ERROR(checkFlush(offset, end));
  StreamState next = state_;
  next.conditional = true;
  next.nextVisibleRows = static_cast<uint64_t>(offset) + 1;
  PENSTOCK_ASSIGN_OR_RETURN(const uint64_t before, own_->bytesBefore(state_.visibleRows));
  PENSTOCK_ASSIGN_OR_RETURN(const uint64_t after, own_->bytesBefore(next.nextVisibleRows));
  const RowReference rows{number_, state_.visibleRows, next.nextVisibleRows - state_.visibleRows};
  const absl::Status flushed =
      table_->appendReferences(std::span(&rows, 1), after - before, [&](uint64_t recordRow) {
        next.recordRow = recordRow;
        return writeStreamState(statePath_, next);
      });
  state_.version = next.version;
  if (flushed.ok()) state_.visibleRows = next.nextVisibleRows;
  return flushed;
}

absl::StatusOr<std::vector<absl::Status>> WriteStream::commit(
    TableRows& table, const std::vector<std::shared_ptr<WriteStream>>& streams,
    int64_t committedMicros) {
  std::vector<Commit> commits;
  std::vector<absl::Status> problems;
  bool good = true;
  for (const std::shared_ptr<WriteStream>& stream : streams) {
    commits.push_back(stream->beginCommit(committedMicros));
    problems.push_back(commits.back().problem);
    good = good && problems.back().ok();
  }
  const auto noteAll = [&](std::optional<uint64_t> recordRow) -> absl::Status {
    for (size_t index = 0; index < streams.size(); ++index) {
      PENSTOCK_RETURN_IF_ERROR(streams[index]->noteCommit(commits[index], recordRow));
    }
    return absl::OkStatus();
  };
  const auto makeVisible = [&]() -> absl::Status {
    std::vector<RowReference> rows;
    uint64_t count = 0;
    uint64_t bytes = 0;
    for (size_t index = 0; index < streams.size(); ++index) {
      PENSTOCK_ASSIGN_OR_RETURN(const TableSize size, streams[index]->own_->size());
      commits[index].rows.rowCount = size.rows;
      rows.push_back(commits[index].rows);
      count += size.rows;
      bytes += size.bytes;
    }
    if (count == 0) return noteAll(std::nullopt);
    return table.appendReferences(rows, bytes, noteAll);
  };
  const absl::Status made = good ? makeVisible() : absl::OkStatus();
  for (size_t index = 0; index < streams.size(); ++index) {
    if (problems[index].ok()) streams[index]->endCommit(commits[index], good && made.ok());
  }
  PENSTOCK_RETURN_IF_ERROR(made);
  return problems;
}

absl::Status WriteStream::checkCommit() {
  const base::MutexLock lock(mutex_);
  PENSTOCK_RETURN_IF_ERROR(load());
  return checkCommittable();
}

absl::Status WriteStream::checkCommittable() const {
  if (state_.type != StreamType::kPending) {
    return streamError(
        StreamErrorCode::kInvalidStreamType,
        fmt::format("Stream must be created in pending mode, actual: {}", typeName(state_.type)));
  }
  if (state_.committed) {
    return streamError(StreamErrorCode::kStreamAlreadyCommitted, "Stream is already committed.");
  }
  if (!state_.finalized) {
    return streamError(StreamErrorCode::kInvalidStreamState,
                       "Stream must be finalized before it is committed.");
  }
  if (committing_) {
    return streamError(StreamErrorCode::kInvalidStreamState,
                       "Stream is being committed by another call.");
  }
  return absl::OkStatus();
}

WriteStream::Commit WriteStream::beginCommit(int64_t committedMicros) {
  const base::MutexLock lock(mutex_);
  Commit commit;
  commit.problem = load();
  if (commit.problem.ok()) commit.problem = checkCommittable();
  if (!commit.problem.ok()) return commit;
  committing_ = true;
  commit.rows.stream = number_;
  commit.next = state_;
  commit.next.committed = true;
  commit.next.committedMicros = committedMicros;
  return commit;
}

absl::Status WriteStream::noteCommit(Commit& commit, std::optional<uint64_t> recordRow) const {
  commit.next.conditional = recordRow.has_value();
  commit.next.recordRow = recordRow.value_or(0);
  commit.next.nextVisibleRows = commit.rows.rowCount;
  return writeStreamState(statePath_, commit.next);
}

void WriteStream::endCommit(const Commit& commit, bool committed) {
  const base::MutexLock lock(mutex_);
  committing_ = false;
  state_.version = commit.next.version;
  if (!committed) return;
  state_.committed = true;
  state_.committedMicros = commit.next.committedMicros;
  state_.visibleRows = commit.rows.rowCount;
}

absl::Status WriteStream::drop() {
  {
    const base::MutexLock lock(mutex_);
    dropped_ = true;
  }
  return own_->drop();
}

}  // namespace penstock::emulator
