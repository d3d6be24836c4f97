#include "penstock/emulator/storage/write_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "penstock/base/log.h"
#include "penstock/emulator/storage/row_store.h"
#include "penstock/emulator/testing/killed_child.h"
#include "penstock/emulator/testing/temporary_directory.h"

namespace penstock::emulator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr StoredTableId kStreamsTable = 7;

class WriteStreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    base::setLogHook([](base::LogLevel, std::string_view) {});
    reopen();
  }
  void TearDown() override { base::setLogHook({}); }

  void reopen() {
    store_ = nullptr;
    auto store = RowStore::open(directory_.path(), options_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    auto descriptor = store_->internDescriptor("descriptor");
    ASSERT_TRUE(descriptor.ok());
    descriptor_ = *descriptor;
  }

  WriteStreamPtr create(StreamType type) {
    auto stream = store_->createStream(kStreamsTable, type, 1234567);
    EXPECT_TRUE(stream.ok()) << stream.status();
    return *stream;
  }
  WriteStreamPtr find(const std::string& id) {
    auto stream = store_->findStream(kStreamsTable, id);
    EXPECT_TRUE(stream.ok()) << stream.status();
    return *stream;
  }

  absl::StatusOr<uint64_t> append(WriteStream& stream, std::optional<int64_t> offset,
                                  const std::vector<std::string>& rows) {
    RowFramer framer;
    for (const std::string& row : rows) framer.add(row);
    return store_->append(stream, offset, *descriptor_, framer.rows());
  }

  std::vector<std::string> visible(uint64_t start = 0, uint64_t count = UINT64_MAX) {
    std::vector<std::string> rows;
    const auto read = store_->read(kStreamsTable, start, count,
                                   [&](std::string_view row, const RowDescriptorPtr&) {
                                     rows.emplace_back(row);
                                     return absl::OkStatus();
                                   });
    EXPECT_TRUE(read.ok()) << read.status();
    return rows;
  }

  /// The only segment of the table.
  [[nodiscard]] std::string segment() const {
    return fmt::format("{}/tables/{}/{}", directory_.path(), kStreamsTable, segmentName(0));
  }

  const TemporaryDirectory directory_;
  RowStoreOptions options_;
  std::unique_ptr<RowStore> store_;
  RowDescriptorPtr descriptor_;
};

StreamErrorCode codeOf(const absl::Status& status) { return streamErrorCodeOf(status); }
template <typename Value>
StreamErrorCode codeOf(const absl::StatusOr<Value>& result) {
  return streamErrorCodeOf(result.status());
}

TEST_F(WriteStreamTest, TakesAnAppendOnlyAtTheEndOfTheStream) {
  for (const StreamType type :
       {StreamType::kCommitted, StreamType::kPending, StreamType::kBuffered}) {
    const WriteStreamPtr stream = create(type);
    EXPECT_EQ(*append(*stream, 0, {"a", "b"}), 0u);
    EXPECT_EQ(*append(*stream, std::nullopt, {"c"}), 2u);

    const auto within = append(*stream, 2, {"again"});
    EXPECT_EQ(within.status().code(), absl::StatusCode::kAlreadyExists);
    EXPECT_EQ(codeOf(within), StreamErrorCode::kOffsetAlreadyExists);
    EXPECT_THAT(std::string(within.status().message()), HasSubstr("expected offset 3, received 2"));
    const auto beyond = append(*stream, 4, {"later"});
    EXPECT_EQ(beyond.status().code(), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(codeOf(beyond), StreamErrorCode::kOffsetOutOfRange);
    EXPECT_THAT(std::string(beyond.status().message()), HasSubstr("expected offset 3, received 4"));
    EXPECT_EQ(append(*stream, -1, {"x"}).status().code(), absl::StatusCode::kInvalidArgument);

    EXPECT_EQ(*append(*stream, 3, {}), 3u);
    EXPECT_EQ(*append(*stream, 3, {"d"}), 3u);
    EXPECT_EQ(stream->view()->rows, 4u);
  }
}

TEST_F(WriteStreamTest, ShowsRowsOfACommittedStreamAtOnce) {
  const WriteStreamPtr stream = create(StreamType::kCommitted);
  ASSERT_TRUE(append(*stream, 0, {"a", "b"}).ok());
  EXPECT_THAT(visible(), ElementsAre("a", "b"));
  EXPECT_EQ(store_->size(kStreamsTable)->rows, 2u);
}

TEST_F(WriteStreamTest, ShowsRowsOfABufferedStreamUpToTheOffsetFlushedLast) {
  const WriteStreamPtr stream = create(StreamType::kBuffered);
  ASSERT_TRUE(append(*stream, 0, {"a", "bb", "ccc"}).ok());
  ASSERT_TRUE(append(*stream, 3, {"dddd"}).ok());
  EXPECT_THAT(visible(), IsEmpty());

  ASSERT_TRUE(stream->flush(1).ok());  // inclusive, and in the middle of an append
  EXPECT_THAT(visible(), ElementsAre("a", "bb"));
  EXPECT_EQ(store_->size(kStreamsTable)->bytes, 3u);
  EXPECT_EQ(codeOf(stream->flush(1)), StreamErrorCode::kOffsetAlreadyExists);
  EXPECT_EQ(codeOf(stream->flush(0)), StreamErrorCode::kOffsetAlreadyExists);
  EXPECT_EQ(stream->flush(0).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(codeOf(stream->flush(4)), StreamErrorCode::kOffsetOutOfRange);
  EXPECT_EQ(stream->flush(-1).code(), absl::StatusCode::kInvalidArgument);

  ASSERT_TRUE(stream->flush(3).ok());
  EXPECT_THAT(visible(), ElementsAre("a", "bb", "ccc", "dddd"));
  EXPECT_THAT(visible(1, 2), ElementsAre("bb", "ccc"));
  EXPECT_EQ(store_->size(kStreamsTable)->rows, 4u);
  EXPECT_EQ(store_->size(kStreamsTable)->bytes, 10u);
}

TEST_F(WriteStreamTest, RefusesCallsThatTheTypeDoesNotTake) {
  for (const StreamType type : {StreamType::kCommitted, StreamType::kPending}) {
    const WriteStreamPtr stream = create(type);
    ASSERT_TRUE(append(*stream, 0, {"a"}).ok());
    EXPECT_EQ(codeOf(stream->flush(0)), StreamErrorCode::kInvalidStreamType);
  }
  for (const StreamType type : {StreamType::kCommitted, StreamType::kBuffered}) {
    const WriteStreamPtr stream = create(type);
    ASSERT_TRUE(stream->finalize().ok());
    const auto problems = store_->commitStreams(kStreamsTable, {stream}, 1);
    EXPECT_EQ(codeOf(problems->front()), StreamErrorCode::kInvalidStreamType);
  }
}

TEST_F(WriteStreamTest, TakesNothingMoreOnceItIsFinalized) {
  const WriteStreamPtr stream = create(StreamType::kBuffered);
  ASSERT_TRUE(append(*stream, 0, {"a", "b"}).ok());
  EXPECT_EQ(*stream->finalize(), 2u);
  EXPECT_EQ(*stream->finalize(), 2u);
  EXPECT_EQ(codeOf(append(*stream, 2, {"c"})), StreamErrorCode::kStreamFinalized);
  EXPECT_EQ(codeOf(append(*stream, 0, {"c"})), StreamErrorCode::kStreamFinalized);
  EXPECT_EQ(codeOf(stream->flush(1)), StreamErrorCode::kStreamFinalized);
  EXPECT_THAT(visible(), IsEmpty());
}

TEST_F(WriteStreamTest, CommitsAllStreamsOfOneCallOrNone) {
  const WriteStreamPtr first = create(StreamType::kPending);
  const WriteStreamPtr second = create(StreamType::kPending);
  const WriteStreamPtr empty = create(StreamType::kPending);
  ASSERT_TRUE(append(*first, 0, {"a", "b"}).ok());
  ASSERT_TRUE(append(*second, 0, {"c"}).ok());
  ASSERT_TRUE(first->finalize().ok());
  ASSERT_TRUE(empty->finalize().ok());

  auto problems = store_->commitStreams(kStreamsTable, {first, second, empty}, 99);
  ASSERT_THAT(*problems, SizeIs(3));
  EXPECT_TRUE((*problems)[0].ok());
  EXPECT_EQ(codeOf((*problems)[1]), StreamErrorCode::kInvalidStreamState);
  EXPECT_THAT(visible(), IsEmpty());
  EXPECT_FALSE(first->view()->committed);

  ASSERT_TRUE(second->finalize().ok());
  problems = store_->commitStreams(kStreamsTable, {first, second, empty}, 99);
  for (const absl::Status& problem : *problems) EXPECT_TRUE(problem.ok()) << problem;
  EXPECT_THAT(visible(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(visible(2, 1), ElementsAre("c"));
  for (const WriteStreamPtr& stream : {first, second, empty}) {
    EXPECT_TRUE(stream->view()->committed);
    EXPECT_EQ(stream->view()->committedMicros, 99);
    EXPECT_EQ(codeOf(store_->commitStreams(kStreamsTable, {stream}, 100)->front()),
              StreamErrorCode::kStreamAlreadyCommitted);
  }
  EXPECT_EQ(store_->size(kStreamsTable)->rows, 3u);
}

TEST_F(WriteStreamTest, KeepsEverythingThroughARestart) {
  const std::string committed = create(StreamType::kCommitted)->id();
  const std::string buffered = create(StreamType::kBuffered)->id();
  const std::string pending = create(StreamType::kPending)->id();
  const std::string empty = create(StreamType::kPending)->id();
  ASSERT_TRUE(append(*find(committed), 0, {"c0", "c1"}).ok());
  ASSERT_TRUE(append(*find(buffered), 0, {"b0", "b1", "b2"}).ok());
  ASSERT_TRUE(append(*find(pending), 0, {"p0"}).ok());
  reopen();
  EXPECT_EQ(codeOf(append(*find(committed), 1, {"x"})), StreamErrorCode::kOffsetAlreadyExists);
  EXPECT_EQ(*append(*find(committed), 2, {"c2"}), 2u);
  ASSERT_TRUE(find(buffered)->flush(1).ok());
  EXPECT_EQ(*find(pending)->finalize(), 1u);
  ASSERT_TRUE(find(empty)->finalize().ok());
  reopen();
  EXPECT_EQ(codeOf(find(buffered)->flush(1)), StreamErrorCode::kOffsetAlreadyExists);
  EXPECT_EQ(codeOf(append(*find(buffered), 2, {"x"})), StreamErrorCode::kOffsetAlreadyExists);
  EXPECT_EQ(*append(*find(buffered), 3, {"b3"}), 3u);
  ASSERT_TRUE(find(buffered)->flush(3).ok());
  EXPECT_EQ(codeOf(append(*find(pending), 1, {"x"})), StreamErrorCode::kStreamFinalized);
  EXPECT_TRUE(store_->commitStreams(kStreamsTable, {find(pending), find(empty)}, 5)->front().ok());
  reopen();
  for (const std::string& id : {pending, empty}) {
    const auto view = find(id)->view();
    EXPECT_TRUE(view->committed);
    EXPECT_EQ(view->committedMicros, 5);
    EXPECT_EQ(view->createdMicros, 1234567);
    EXPECT_EQ(codeOf(store_->commitStreams(kStreamsTable, {find(id)}, 6)->front()),
              StreamErrorCode::kStreamAlreadyCommitted);
  }
  EXPECT_EQ(find(committed)->view()->rows, 3u);
  EXPECT_THAT(visible(), ElementsAre("c0", "c1", "c2", "b0", "b1", "b2", "b3", "p0"));
}

// A crash between the write of a stream's state and that of the record in the table: what the
// state announced has not happened, whatever stands at that place later.
TEST_F(WriteStreamTest, ForgetsAChangeWhoseRecordWasNeverWritten) {
  const WriteStreamPtr other = create(StreamType::kCommitted);
  ASSERT_TRUE(append(*other, 0, {"before"}).ok());
  const uint64_t tableBytes = std::filesystem::file_size(segment());
  const std::string committed = create(StreamType::kCommitted)->id();
  const std::string buffered = create(StreamType::kBuffered)->id();
  const std::string pending = create(StreamType::kPending)->id();
  ASSERT_TRUE(append(*find(buffered), 0, {"b0", "b1"}).ok());
  ASSERT_TRUE(append(*find(pending), 0, {"p0"}).ok());
  ASSERT_TRUE(find(pending)->finalize().ok());

  const auto crashDuring = [&](const std::function<bool()>& change) {
    ASSERT_TRUE(change());
    store_ = nullptr;
    std::filesystem::resize_file(segment(), tableBytes + 20);  // a torn record
    reopen();
  };
  crashDuring([&] { return append(*find(committed), 0, {"c0"}).ok(); });
  EXPECT_EQ(find(committed)->view()->rows, 0u);
  crashDuring([&] { return find(buffered)->flush(0).ok(); });
  EXPECT_EQ(find(buffered)->view()->visibleRows, 0u);
  crashDuring(
      [&] { return store_->commitStreams(kStreamsTable, {find(pending)}, 5)->front().ok(); });
  EXPECT_FALSE(find(pending)->view()->committed);

  // Another record takes the place before the streams are looked at.
  crashDuring([&] { return find(buffered)->flush(1).ok(); });
  RowFramer framer;
  framer.add("default");
  ASSERT_TRUE(store_->append(kStreamsTable, *descriptor_, framer.rows()).ok());
  reopen();
  EXPECT_EQ(find(buffered)->view()->visibleRows, 0u);
  EXPECT_EQ(find(committed)->view()->rows, 0u);
  EXPECT_EQ(*append(*find(committed), 0, {"c0"}), 0u);
  EXPECT_TRUE(find(buffered)->flush(1).ok());
  EXPECT_TRUE(store_->commitStreams(kStreamsTable, {find(pending)}, 5)->front().ok());
  EXPECT_THAT(visible(), ElementsAre("before", "default", "c0", "b0", "b1", "p0"));
}

TEST_F(WriteStreamTest, ReadsAcrossManySegmentsOfTableAndStream) {
  options_.segmentBytes = 300;
  options_.indexInterval = 100;
  reopen();
  const std::string buffered = create(StreamType::kBuffered)->id();
  const std::string committed = create(StreamType::kCommitted)->id();
  std::vector<std::string> expected;
  for (int64_t round = 0; round < 40; ++round) {
    const std::string b = "buffered " + std::to_string(round);
    const std::string c = "committed " + std::to_string(round);
    ASSERT_TRUE(append(*find(buffered), 2 * round, {b, b + "'"}).ok());
    ASSERT_TRUE(append(*find(committed), round, {c}).ok());
    expected.push_back(c);
    if (round % 3 != 2) continue;
    ASSERT_TRUE(find(buffered)->flush(2 * round - 1).ok());
    for (int64_t row = std::max<int64_t>(0, 2 * round - 6); row < 2 * round; ++row) {
      expected.push_back(fmt::format("buffered {}{}", row / 2, row % 2 == 0 ? "" : "'"));
    }
    if (round % 9 == 2) reopen();
  }
  EXPECT_EQ(visible(), expected);
  uint64_t bytes = 0;
  for (size_t row = 0; row < expected.size(); ++row) {
    EXPECT_THAT(visible(row, 1), ElementsAre(expected[row]));
    bytes += expected[row].size();
  }
  EXPECT_EQ(store_->size(kStreamsTable)->bytes, bytes);
}

TEST_F(WriteStreamTest, FindsNoStreamUnderAnotherNameOrTableOrAfterADrop) {
  const WriteStreamPtr stream = create(StreamType::kCommitted);
  ASSERT_TRUE(append(*stream, 0, {"a"}).ok());
  const std::string id = stream->id();
  for (const std::string& other : {"x" + id, id.substr(1), std::string("Cic"), std::string(),
                                   std::string(16, '0'), std::string("../") + id}) {
    EXPECT_EQ(codeOf(store_->findStream(kStreamsTable, other)), StreamErrorCode::kStreamNotFound)
        << other;
  }
  EXPECT_EQ(codeOf(store_->findStream(kStreamsTable + 1, id)), StreamErrorCode::kStreamNotFound);
  ASSERT_TRUE(store_->drop(kStreamsTable).ok());
  EXPECT_EQ(codeOf(append(*stream, 1, {"b"})), StreamErrorCode::kTableNotFound);
  EXPECT_EQ(codeOf(store_->findStream(kStreamsTable, id)), StreamErrorCode::kStreamNotFound);
  EXPECT_THAT(*store_->storedTables(), IsEmpty());
}

TEST_F(WriteStreamTest, ReportsAStateThatIsDamaged) {
  const std::string id = create(StreamType::kBuffered)->id();
  const std::string path =
      fmt::format("{}/tables/{}/streams/{}/state", directory_.path(), kStreamsTable, id);
  ASSERT_TRUE(writeWholeFile(path, std::string(192, 'x')).ok());
  reopen();
  const absl::Status status = find(id)->view().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
}

// A child appends to one stream of each type, flushes and commits, and is killed: nothing that it
// reported is lost, nothing is there twice.
TEST_F(WriteStreamTest, KeepsOffsetsAndCursorsThroughKills) {
  options_.segmentBytes = 20'000;
  options_.indexInterval = 2'000;
  reopen();
  const std::string committed = create(StreamType::kCommitted)->id();
  const std::string buffered = create(StreamType::kBuffered)->id();
  uint64_t acknowledged = 0;
  for (int kill = 0; kill < 15; ++kill) {
    store_ = nullptr;
    const uint64_t goal = acknowledged + 20 + static_cast<uint64_t>(kill) * 7;
    acknowledged = killAfter(goal, [&](const ReportProgress& report) {
      reopen();
      const WriteStreamPtr first = find(committed);
      const WriteStreamPtr second = find(buffered);
      for (uint64_t next = first->view()->rows;; ++next) {
        const auto offset = static_cast<int64_t>(next);
        if (!append(*first, offset, {fmt::format("c{}", next)}).ok()) return;
        const auto sent = append(*second, offset, {fmt::format("b{}", next)});
        if (!sent.ok() && codeOf(sent) != StreamErrorCode::kOffsetAlreadyExists) return;
        const absl::Status flushed = second->flush(offset);
        if (!flushed.ok() && codeOf(flushed) != StreamErrorCode::kOffsetAlreadyExists) return;
        report(next + 1);
      }
    });
    ASSERT_GE(acknowledged, goal);

    reopen();
    std::vector<std::string> rows[2];
    for (const std::string& row : visible()) rows[row[0] == 'b' ? 0 : 1].push_back(row);
    for (size_t kind = 0; kind < 2; ++kind) {
      ASSERT_GE(rows[kind].size(), acknowledged);
      ASSERT_LE(rows[kind].size(), acknowledged + 1);
      for (size_t row = 0; row < rows[kind].size(); ++row) {
        ASSERT_EQ(rows[kind][row], fmt::format("{}{}", kind == 0 ? 'b' : 'c', row));
      }
    }
    ASSERT_EQ(find(buffered)->view()->visibleRows, rows[0].size());
    ASSERT_EQ(find(committed)->view()->rows, rows[1].size());
    // The buffered stream may lack the round that the kill interrupted.
    if (find(buffered)->view()->rows < rows[1].size()) {
      ASSERT_TRUE(
          append(*find(buffered), std::nullopt, {fmt::format("b{}", rows[1].size() - 1)}).ok());
    }
    if (rows[0].size() < rows[1].size()) {
      ASSERT_TRUE(find(buffered)->flush(static_cast<int64_t>(rows[1].size()) - 1).ok());
    }
    acknowledged = rows[1].size();
  }
}

}  // namespace
}  // namespace penstock::emulator
