#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "penstock/runtime/file_source.h"
#include "penstock/runtime/testing/input_files.h"

namespace penstock::runtime {
namespace {

using testing::ElementsAre;

constexpr FileSourceOptions kMessages{.format = RecordFormat::kProtobuf};

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string framed(std::string_view message) {
  return varint(message.size()) + std::string(message);
}

TEST(DelimitedReader, ReadsMessagesBehindTheirLengths) {
  const TestFolder folder;
  const std::string large(300, 'x');
  const std::string path =
      folder.write("a.pb", framed("ab") + framed("") + framed(large) + framed("\n{[\xEF\xBB\xBF"));
  for (const uint64_t buffer : {uint64_t{1}, uint64_t{7}, uint64_t{1} << 18}) {
    FileSourceOptions options = kMessages;
    options.bufferBytes = buffer;
    const ReadRecords read = readInputs({path}, options);
    EXPECT_TRUE(read.status.ok()) << read.status;
    EXPECT_THAT(read.records, ElementsAre("ab", "", large, "\n{[\xEF\xBB\xBF"));
    EXPECT_THAT(read.origins,
                ElementsAre(path + " message 1 (byte 0)", path + " message 2 (byte 3)",
                            path + " message 3 (byte 4)", path + " message 4 (byte 306)"));
  }
}

// What looks like a byte-order mark, a blank or JSON is the length or content of a message.
TEST(DelimitedReader, TakesAnyBytesForMessages) {
  const TestFolder folder;
  const std::string blank(32, ' ');
  const ReadRecords read = readInputs({folder.write("a", framed(blank))}, kMessages);
  EXPECT_THAT(read.records, ElementsAre(blank));
}

TEST(DelimitedReader, ReadsCompressedFilesAndEmptyOnes) {
  const TestFolder folder;
  const std::string content = framed("one") + framed("two");
  const std::string empty = folder.write("c", "");
  const ReadRecords read = readInputs(
      {folder.write("a", gzipped(content)), folder.write("b", zstdCompressed(content)), empty},
      kMessages);
  EXPECT_TRUE(read.status.ok()) << read.status;
  EXPECT_THAT(read.records, ElementsAre("one", "two", "one", "two"));
}

TEST(DelimitedReader, SaysWhereAFileIsCutOff) {
  const TestFolder folder;
  const std::string path = folder.write("a", framed("one") + "\x05" + "ab");
  const ReadRecords read = readInputs({path}, kMessages);
  EXPECT_THAT(read.records, ElementsAre("one"));
  EXPECT_EQ(errorOf(read), path +
                               " message 2 (byte 4): the file ends within it: 2 of 5 bytes are "
                               "there");
  const std::string within = folder.write("b", framed("one") + "\x85");
  EXPECT_EQ(errorOf(readInputs({within}, kMessages)),
            within + " message 2 (byte 4): the file ends within its length");
}

TEST(DelimitedReader, RefusesALengthThatIsNone) {
  const TestFolder folder;
  const std::string reason =
      "its length is not that of a message: the file is not length-delimited protobuf, or is "
      "damaged before this place";
  const std::string huge = folder.write("a", framed("one") + varint(uint64_t{1} << 31));
  EXPECT_EQ(errorOf(readInputs({huge}, kMessages)), huge + " message 2 (byte 4): " + reason);
  const std::string endless = folder.write("b", std::string(11, '\xFF'));
  EXPECT_EQ(errorOf(readInputs({endless}, kMessages)), endless + " message 1 (byte 0): " + reason);
}

TEST(DelimitedReader, HandsOutOverlongMessagesAsDefects) {
  const TestFolder folder;
  const std::string large(1000, 'y');
  const std::string path =
      folder.write("a", framed("one") + framed(large) + framed("two") + framed(large));
  for (const uint64_t buffer : {uint64_t{16}, uint64_t{1} << 16}) {
    FileSourceOptions options = kMessages;
    options.maxRecordBytes = 999;
    options.bufferBytes = buffer;
    const ReadRecords read = readInputs({path}, options);
    EXPECT_TRUE(read.status.ok()) << read.status;
    ASSERT_EQ(read.records.size(), 4U);
    const std::string defect = "the message is 1000 bytes long, at most 999 are taken";
    EXPECT_THAT(read.defects, ElementsAre("", defect, "", defect));
    EXPECT_THAT(read.origins,
                ElementsAre(path + " message 1 (byte 0)", path + " message 2 (byte 4)",
                            path + " message 3 (byte 1006)", path + " message 4 (byte 1010)"));
  }
  FileSourceOptions options = kMessages;
  options.maxRecordBytes = 10;
  const std::string cut = folder.write("b", framed(large).substr(0, 500));
  EXPECT_EQ(errorOf(readInputs({cut}, options)),
            cut + " message 1 (byte 0): the file ends within it");
}

// A reader created at a position goes on with the message after, and its number.
TEST(DelimitedReader, ContinuesWhereAnotherStopped) {
  const TestFolder folder;
  std::string content;
  for (int i = 0; i < 100; ++i) content += framed(fmt::format("message {}", i));
  FileSourceOptions options = kMessages;
  options.bufferBytes = 64;
  const std::string path = folder.write("a", content);
  const auto source = FileSource::open(std::vector<std::string>{path}, options);
  ASSERT_TRUE(source.ok()) << source.status();
  ASSERT_THAT((*source)->splits(), ElementsAre("0"));
  const Wakeup wakeup;
  auto first = (*source)->createReader("0", "", wakeup);
  ASSERT_TRUE(first.ok()) << first.status();
  RecordBatch batch;
  size_t numRead = 0;
  while (numRead < 10) {
    ASSERT_TRUE((*first)->read(batch, base::kNever).ok());
    numRead += batch.records.size();
  }
  auto second = (*source)->createReader("0", (*first)->position(), wakeup);
  ASSERT_TRUE(second.ok()) << second.status();
  const ReadRecords rest = readToEnd(**second);
  ASSERT_EQ(rest.records.size(), 100 - numRead);
  EXPECT_EQ(rest.records[0], fmt::format("message {}", numRead));
  EXPECT_THAT(rest.origins[0],
              testing::StartsWith(fmt::format("{} message {} ", path, numRead + 1)));
}

}  // namespace
}  // namespace penstock::runtime
