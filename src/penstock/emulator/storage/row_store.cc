#include "penstock/emulator/storage/row_store.h"

#include <charconv>
#include <filesystem>
#include <list>
#include <map>
#include <system_error>
#include <unordered_map>

#include "penstock/base/mutex.h"
#include "penstock/base/random.h"
#include "penstock/emulator/storage/descriptor_store.h"
#include "penstock/emulator/storage/table_rows.h"
#include "penstock/emulator/storage/write_stream.h"

namespace penstock::emulator {

void RowFramer::add(std::string_view row) {
  buffer_ += '\x0A';
  uint64_t length = row.size();
  for (; length >= 0x80; length >>= 7) buffer_ += static_cast<char>(length | 0x80);
  buffer_ += static_cast<char>(length);
  buffer_ += row;
  ++rowCount_;
  rowBytes_ += row.size();
}

FramedRows RowFramer::rows() {
  piece_ = buffer_;
  return {std::span(&piece_, 1), rowCount_, rowBytes_};
}

namespace {

bool streamExists(const TableRows& table, StreamNumber stream) {
  std::error_code error;  // what cannot be looked at is no stream
  return std::filesystem::exists(streamDirectory(table.directory(), stream), error);
}

}  // namespace

class RowStore::Impl {
 public:
  Impl(const std::string& directory, const RowStoreOptions& options)
      : options_(options),
        tablesDirectory_(directory + "/tables"),
        descriptors_(directory + "/descriptors") {}

  std::shared_ptr<TableRows> table(StoredTableId id) {
    const base::MutexLock lock(mutex_);
    std::shared_ptr<TableRows>& entry = tables_[id];
    if (entry == nullptr) {
      entry = std::make_shared<TableRows>(fmt::format("{}/{}", tablesDirectory_, id), options_);
    }
    return entry;
  }

  /// Notes that a file is open for appending, and closes that of the one appended to the longest
  /// ago.
  void noteAppend(const std::shared_ptr<TableRows>& rows) {
    std::shared_ptr<TableRows> victim;
    {
      const base::MutexLock lock(mutex_);
      const auto known = openPositions_.find(rows.get());
      if (known != openPositions_.end()) {
        open_.splice(open_.begin(), open_, known->second);
        return;
      }
      open_.push_front(rows);
      openPositions_[rows.get()] = open_.begin();
      if (open_.size() <= options_.maxOpenTables) return;
      victim = std::move(open_.back());
      openPositions_.erase(victim.get());
      open_.pop_back();
    }
    victim->closeFiles();
  }

  absl::StatusOr<WriteStreamPtr> createStream(StoredTableId id, StreamType type,
                                              int64_t createdMicros) {
    const std::shared_ptr<TableRows> rows = table(id);
    StreamNumber number = 0;
    while (number == 0 || streamExists(*rows, number)) {
      const base::MutexLock lock(mutex_);
      number = random_->next();
    }
    PENSTOCK_RETURN_IF_ERROR(WriteStream::create(*rows, number, type, createdMicros));
    return stream(id, rows, number);
  }

  absl::StatusOr<WriteStreamPtr> findStream(StoredTableId id, std::string_view streamId) {
    const std::optional<StreamNumber> number = WriteStream::numberOf(streamId);
    if (number.has_value()) {
      {
        const base::MutexLock lock(mutex_);
        const auto found = streams_.find({id, *number});
        if (found != streams_.end()) return found->second;
      }
      const std::shared_ptr<TableRows> rows = table(id);
      if (streamExists(*rows, *number)) {
        return stream(id, rows, *number);
      }
    }
    return streamError(StreamErrorCode::kStreamNotFound, "Requested entity was not found.");
  }

  absl::Status drop(StoredTableId id) {
    const std::shared_ptr<TableRows> rows = table(id);
    std::vector<WriteStreamPtr> streams;
    {
      const base::MutexLock lock(mutex_);
      const auto from = streams_.lower_bound({id, 0});
      const auto to = streams_.lower_bound({id + 1, 0});
      for (auto entry = from; entry != to; ++entry) streams.push_back(entry->second);
      streams_.erase(from, to);
      const std::string below = rows->directory() + "/";
      open_.remove_if([&](const std::shared_ptr<TableRows>& open) {
        if (open != rows && !open->directory().starts_with(below)) return false;
        openPositions_.erase(open.get());
        return true;
      });
    }
    for (const WriteStreamPtr& stream : streams) PENSTOCK_RETURN_IF_ERROR(stream->drop());
    // The entry stays: an append that is under way must not bring the files back.
    return rows->drop();
  }

  DescriptorStore& descriptors() { return descriptors_; }
  [[nodiscard]] const std::string& tablesDirectory() const { return tablesDirectory_; }

 private:
  /// The one object of a stream whose files are there.
  WriteStreamPtr stream(StoredTableId id, const std::shared_ptr<TableRows>& rows,
                        StreamNumber number) {
    const base::MutexLock lock(mutex_);
    WriteStreamPtr& entry = streams_[{id, number}];
    if (entry == nullptr) entry = std::make_shared<WriteStream>(rows, number, options_);
    return entry;
  }

  const RowStoreOptions options_;
  const std::string tablesDirectory_;
  DescriptorStore descriptors_;
  base::Mutex mutex_;
  std::unordered_map<StoredTableId, std::shared_ptr<TableRows>> tables_ PENSTOCK_GUARDED_BY(mutex_);
  std::map<std::pair<StoredTableId, StreamNumber>, WriteStreamPtr> streams_
      PENSTOCK_GUARDED_BY(mutex_);
  std::unique_ptr<base::Random> random_ PENSTOCK_GUARDED_BY(mutex_) =
      base::systemRandom();  ///< stream numbers
  /// Those whose file is open for appending, the last used first.
  std::list<std::shared_ptr<TableRows>> open_ PENSTOCK_GUARDED_BY(mutex_);
  std::unordered_map<const TableRows*, std::list<std::shared_ptr<TableRows>>::iterator>
      openPositions_ PENSTOCK_GUARDED_BY(mutex_);
};

RowStore::RowStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RowStore::~RowStore() = default;

absl::StatusOr<std::unique_ptr<RowStore>> RowStore::open(const std::string& directory,
                                                         const RowStoreOptions& options) {
  for (const char* folder : {"/tables", "/descriptors"}) {
    std::error_code error;
    std::filesystem::create_directories(directory + folder, error);
    if (error) return fileError("create", directory + folder, error.value());
  }
  return std::unique_ptr<RowStore>(new RowStore(std::make_unique<Impl>(directory, options)));
}

absl::StatusOr<RowDescriptorPtr> RowStore::internDescriptor(std::string_view serialized) {
  return impl_->descriptors().intern(serialized);
}

absl::Status RowStore::append(StoredTableId table, const RowDescriptor& descriptor,
                              const FramedRows& rows) {
  if (rows.rowCount == 0) return absl::OkStatus();
  const std::shared_ptr<TableRows> target = impl_->table(table);
  PENSTOCK_RETURN_IF_ERROR(target->append(hashOf(descriptor), rows));
  impl_->noteAppend(target);
  return absl::OkStatus();
}

absl::StatusOr<WriteStreamPtr> RowStore::createStream(StoredTableId table, StreamType type,
                                                      int64_t createdMicros) {
  return impl_->createStream(table, type, createdMicros);
}

absl::StatusOr<WriteStreamPtr> RowStore::findStream(StoredTableId table, std::string_view id) {
  return impl_->findStream(table, id);
}

absl::StatusOr<uint64_t> RowStore::append(WriteStream& stream, std::optional<int64_t> offset,
                                          const RowDescriptor& descriptor, const FramedRows& rows) {
  PENSTOCK_ASSIGN_OR_RETURN(const uint64_t start, stream.append(offset, hashOf(descriptor), rows));
  PENSTOCK_ASSIGN_OR_RETURN(const std::shared_ptr<TableRows> target, stream.writtenRows());
  impl_->noteAppend(target);
  return start;
}

absl::StatusOr<std::vector<absl::Status>> RowStore::commitStreams(
    StoredTableId table, const std::vector<WriteStreamPtr>& streams, int64_t committedMicros) {
  return WriteStream::commit(*impl_->table(table), streams, committedMicros);
}

absl::StatusOr<uint64_t> RowStore::read(StoredTableId table, uint64_t startRow, uint64_t maxRows,
                                        const RowVisitor& visitor) {
  return impl_->table(table)->read(startRow, maxRows, impl_->descriptors(), visitor);
}

absl::StatusOr<TableSize> RowStore::size(StoredTableId table) {
  return impl_->table(table)->size();
}

absl::Status RowStore::drop(StoredTableId table) { return impl_->drop(table); }

absl::StatusOr<std::vector<StoredTableId>> RowStore::storedTables() const {
  std::vector<StoredTableId> tables;
  std::error_code error;
  std::filesystem::directory_iterator at(impl_->tablesDirectory(), error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    StoredTableId table = 0;
    const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), table);
    if (failure == std::errc() && end == name.data() + name.size()) tables.push_back(table);
  }
  if (error) return fileError("list", impl_->tablesDirectory(), error.value());
  return tables;
}

}  // namespace penstock::emulator
