#include "penstock/runtime/file_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "penstock/runtime/testing/input_files.h"

namespace penstock::runtime {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Puts a pipe in the place of standard input for a test's time.
class StandardInput {
 public:
  StandardInput() : former_(::dup(STDIN_FILENO)) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    writeEnd_ = ends[1];
  }
  ~StandardInput() {
    close();
    ::dup2(former_, STDIN_FILENO);
    ::close(former_);
  }
  void send(std::string_view text) const {
    ASSERT_EQ(::write(writeEnd_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close() {
    if (writeEnd_ >= 0) ::close(writeEnd_);
    writeEnd_ = -1;
  }

 private:
  int former_;
  int writeEnd_ = -1;
};

TEST(FileSource, ReadsLinesWithAllKindsOfLineEnds) {
  const TestFolder folder;
  const std::string path =
      folder.write("a.json", "{\"a\":1}\n\n  \t\r\n{\"a\":2}\r\n {\"a\":3} \n{\"a\":4}");
  const ReadRecords read = readInputs({path});
  EXPECT_TRUE(read.status.ok()) << read.status;
  EXPECT_THAT(read.records, ElementsAre("{\"a\":1}", "{\"a\":2}", " {\"a\":3} ", "{\"a\":4}"));
  EXPECT_THAT(read.origins,
              ElementsAre(path + " line 1", path + " line 4", path + " line 5", path + " line 6"));
  EXPECT_EQ(read.laterOrigins, read.origins);
}

TEST(FileSource, ReadsAnArrayAsRecords) {
  const TestFolder folder;
  const std::string path = folder.write("a.json", "\n[\n{\"a\":1},\n\n{\"a\":[2,\n3]}]\n");
  const ReadRecords read = readInputs({path});
  EXPECT_TRUE(read.status.ok()) << read.status;
  EXPECT_THAT(read.records, ElementsAre("{\"a\":1}", "{\"a\":[2,\n3]}"));
  EXPECT_THAT(read.origins,
              ElementsAre(path + " element 1 (line 3)", path + " element 2 (line 5)"));
  EXPECT_THAT(read.laterOrigins, ElementsAre(path + " element 1", path + " element 2"));
}

TEST(FileSource, RecognisesCompressionByContentNotByName) {
  const TestFolder folder;
  const std::string lines = "{\"a\":1}\n{\"a\":2}\n";
  const std::string array = "[{\"a\":1}\n,{\"a\":2}]";
  for (const auto& [name, content, origin] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"gzip.json", gzipped(lines), "line 2"},
           {"zstd.json", zstdCompressed(lines), "line 2"},
           {"plain.gz", lines, "line 2"},
           {"array.zst", gzipped(array), "element 2 (line 2)"},
           {"array.gz", zstdCompressed(array), "element 2 (line 2)"}}) {
    const std::string path = folder.write(name, content);
    const ReadRecords read = readInputs({path});
    EXPECT_TRUE(read.status.ok()) << read.status;
    EXPECT_THAT(read.records, ElementsAre("{\"a\":1}", "{\"a\":2}")) << name;
    EXPECT_EQ(read.origins.back(), fmt::format("{} {}", path, origin));
    EXPECT_TRUE(read.origins.back().starts_with(read.laterOrigins.back()));
    EXPECT_TRUE(read.laterOrigins.back().ends_with(" 2"));
  }
}

TEST(FileSource, SkipsAUtf8Mark) {
  const TestFolder folder;
  const std::string lines = folder.write("lines", "\xEF\xBB\xBF{\"a\":1}\n{\"a\":2}\n");
  const std::string array = folder.write("array", gzipped("\xEF\xBB\xBF [{\"a\":3}]"));
  EXPECT_THAT(readInputs({lines, array}).records,
              ElementsAre("{\"a\":1}", "{\"a\":2}", "{\"a\":3}"));
}

TEST(FileSource, RefusesOtherEncodingsByName) {
  using namespace std::string_literals;
  const TestFolder folder;
  for (const auto& [content, name] : std::vector<std::pair<std::string, std::string>>{
           {"\xFF\xFE{\0\"\0"s, "UTF-16, little endian"},
           {"\xFE\xFF\0{\0\""s, "UTF-16, big endian"},
           {"\xFF\xFE\0\0{\0\0\0"s, "UTF-32, little endian"},
           {"\0\0\xFE\xFF\0\0\0{"s, "UTF-32, big endian"},
           {"{\0\"\0a\0"s, "UTF-16, little endian"},
           {"\0{\0\"\0a"s, "UTF-16, big endian"},
           {"{\0\0\0\"\0\0\0"s, "UTF-32, little endian"},
           {"\0\0\0{\0\0\0\""s, "UTF-32, big endian"}}) {
    const std::string path = folder.write("wide.json", content);
    EXPECT_EQ(errorOf(readInputs({path})),
              fmt::format("{} is encoded in {}; only UTF-8 is read: convert it first", path, name));
  }
}

TEST(FileSource, RefusesForeignFilesWholeAndSaysWhatTheyAre) {
  using namespace std::string_literals;
  const TestFolder folder;
  const std::string good = folder.write("good.json", "{}\n");
  for (const auto& [content, found] : std::vector<std::pair<std::string, std::string>>{
           {"id,name\n1,x\n", "\"id,name\", which looks like CSV"},
           {"\n\n  id\tname\n", "\"id\\tname\", which looks like CSV"},
           {"<rows>\n", "\"<rows>\", which looks like XML or HTML"},
           {"hello\n", "\"hello\""},
           {"\"a string\"", "\"\"a string\"\""},
           {"PAR1\x15\x04", "a Parquet file"},
           {"Obj\x01\x04", "an Avro file"},
           {"PK\x03\x04zip", "a zip archive"},
           {"BZh91AY", "bzip2-compressed"},
           {"\x01\x02\x03\x04\x05", "binary data"}}) {
    const std::string path = folder.write("bad", content);
    const ReadRecords read = readInputs({good, path});
    EXPECT_THAT(errorOf(read), AllOf(HasSubstr(path + " is not JSON: it begins with "),
                                     HasSubstr(found), HasSubstr("expected {")));
    EXPECT_THAT(read.records, IsEmpty()) << "nothing is read before all files are known to be JSON";
  }
  const std::string path = folder.write("bad.gz", gzipped("id,name\n"));
  EXPECT_THAT(errorOf(readInputs({path})), HasSubstr("looks like CSV"));
}

TEST(FileSource, TakesAnEmptyFileForNoRowsAndSaysSo) {
  const TestFolder folder;
  const std::string empty = folder.write("empty.json", "");
  const std::string blank = folder.write("blank.json", "\n \n");
  const std::string packed = folder.write("packed.gz", gzipped(""));
  const std::string mark = folder.write("mark.json", "\xEF\xBB\xBF");
  const auto source = FileSource::open(std::vector<std::string>{empty, blank, packed, mark});
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT((*source)->splits(), IsEmpty());
  EXPECT_THAT((*source)->notices(),
              ElementsAre(empty + " is empty: no rows", blank + " is empty: no rows",
                          packed + " is empty: no rows", mark + " is empty: no rows"));
  EXPECT_THAT(readInputs({folder.write("array.json", " [ ] ")}).records, IsEmpty());
}

TEST(FileSource, SaysThatObjectsMustStandOnOneLineEach) {
  const TestFolder folder;
  const std::string spread = folder.write("spread.json", "\n{ \r\n  \"a\": 1\n}\n");
  const std::string fine = folder.write("fine.json", "{\"a\":1}\n{\n");
  const std::string cut = folder.write("cut.json", "{");
  const auto source = FileSource::open(std::vector<std::string>{spread, fine, cut});
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT((*source)->notices(),
              ElementsAre(AllOf(HasSubstr(spread + ": its first line is only {"),
                                HasSubstr("jq -c . FILE"))));
  EXPECT_EQ(readInputs({spread}).records.size(), 3U) << "bad records, for the handler to judge";
}

TEST(FileSource, NamesAnUnreadableFile) {
  const TestFolder folder;
  const std::string path = folder.at("loop.json");
  std::filesystem::create_symlink(path, path);
  EXPECT_EQ(errorOf(readInputs({path})),
            "cannot open " + path + ": Too many levels of symbolic links");
}

TEST(FileSource, ReportsBrokenArraysWithTheirPlace) {
  const TestFolder folder;
  const std::string text = "[{\"a\":1},\n {\"a\":2} {\"a\":3}]";
  const std::string path = folder.write("a.json", text);
  const ReadRecords read = readInputs({path});
  EXPECT_EQ(errorOf(read),
            path + " line 2 column 10: expected , or ] after an element, found \"{\"");
  EXPECT_THAT(read.records, ElementsAre("{\"a\":1}", "{\"a\":2}"));

  const std::string packed = folder.write("a.gz", gzipped(text));
  EXPECT_THAT(errorOf(readInputs({packed})), HasSubstr(packed + " line 2: expected"));
  const std::string open = folder.write("b.json", "[\n{\"a\":1},\n{\"a\":");
  EXPECT_EQ(errorOf(readInputs({open})),
            open + " line 3 column 1: the file ends inside the element that begins here");
}

TEST(FileSource, ReportsDamagedCompressedFiles) {
  const TestFolder folder;
  std::string lines;
  for (int at = 0; at < 50'000; ++at) lines += "{\"n\":" + std::to_string(at) + "}\n";
  const std::string compressed = gzipped(lines);
  const std::string path = folder.write("a.gz", compressed.substr(0, compressed.size() / 2));
  EXPECT_THAT(errorOf(readInputs({path})), HasSubstr(path + " is cut off"));
}

// ---- Long records ----

MATCHER_P(HeadOf, record, "") {
  return arg.size() > 100 && arg.size() <= 256 && record.substr(0, arg.size()) == arg;
}

FileSourceOptions smallLimits() {
  FileSourceOptions options;
  options.maxRecordBytes = 100;
  options.bufferBytes = 64;
  return options;
}

TEST(FileSource, ReportsOverLongLinesAsDefectsAndGoesOn) {
  const TestFolder folder;
  const std::string atLimit = "{\"a\":\"" + std::string(92, 'x') + "\"}";
  ASSERT_EQ(atLimit.size(), 100U);
  for (const size_t length : {size_t{101}, size_t{102}, size_t{130}, size_t{5000}}) {
    for (const std::string lineEnd : {"\n", "\r\n"}) {
      const std::string longLine = "{" + std::string(length - 2, ' ') + "}";
      const std::vector<std::string> lines = {"{}",     atLimit,     longLine,
                                              longLine, "{\"z\":1}", longLine};
      const std::string text = fmt::format("{}", fmt::join(lines, lineEnd));
      const std::string path = folder.write("a.json", text);
      for (const size_t bufferBytes : {size_t{64}, size_t{100'000}}) {
        FileSourceOptions options = smallLimits();
        options.bufferBytes = bufferBytes;
        const ReadRecords read = readInputs({path}, options);
        ASSERT_TRUE(read.status.ok()) << read.status;
        const std::string defect =
            "the line is " + std::to_string(length) + " bytes long, at most 100 are taken";
        EXPECT_THAT(read.defects, ElementsAre("", "", defect, defect, "", defect));
        EXPECT_EQ(read.records[1], atLimit);
        EXPECT_THAT(read.records[2], HeadOf(longLine));
        EXPECT_EQ(read.records[4], "{\"z\":1}");
        EXPECT_EQ(read.origins[2], path + " line 3");
        EXPECT_EQ(read.origins[4], path + " line 5");
        EXPECT_EQ(read.origins[5], path + " line 6");
        EXPECT_THAT(read.laterOrigins,
                    ElementsAre(read.origins[0], read.origins[1], "", "", read.origins[4], ""));
      }
    }
  }
}

TEST(FileSource, ReportsOverLongElementsAsDefectsAndGoesOn) {
  const TestFolder folder;
  for (const size_t length : {size_t{101}, size_t{170}, size_t{5000}}) {
    const std::string longElement = "{\"a\":\"" + std::string(length - 8, 'x') + "\"}";
    const std::string text =
        fmt::format("[{{\"a\":1}},\n{{\"a\":2}},\n{0},\n{0},{{\"a\":3}}]", longElement);
    for (const bool packed : {false, true}) {
      const std::string path = folder.write("a.json", packed ? gzipped(text) : text);
      for (const size_t bufferBytes : {size_t{64}, size_t{100'000}}) {
        FileSourceOptions options = smallLimits();
        options.bufferBytes = bufferBytes;
        const ReadRecords read = readInputs({path}, options);
        ASSERT_TRUE(read.status.ok()) << read.status;
        const std::string defect =
            "the element is " + std::to_string(length) + " bytes long, at most 100 are taken";
        EXPECT_THAT(read.defects, ElementsAre("", "", defect, defect, ""));
        EXPECT_THAT(read.records[2], HeadOf(longElement));
        EXPECT_EQ(read.records[4], "{\"a\":3}");
        EXPECT_THAT(read.origins,
                    ElementsAre(path + " element 1 (line 1)", path + " element 2 (line 2)",
                                path + " element 3 (line 3)", path + " element 4 (line 4)",
                                path + " element 5 (line 4)"));
      }
    }
  }
}

// ---- Parts and positions ----

std::string randomLines(std::mt19937& random, size_t count, std::vector<std::string>& records) {
  std::string text;
  for (size_t at = 0; at < count; ++at) {
    if (random() % 7 == 0) text += random() % 2 == 0 ? "\n" : "  \r\n";
    records.push_back("{\"n\":" + std::to_string(at) + ",\"s\":\"" +
                      std::string(random() % 120, 'x') + "\"}");
    text += records.back();
    if (at + 1 < count || random() % 2 == 0) text += random() % 3 == 0 ? "\r\n" : "\n";
  }
  return text;
}

TEST(FileSource, CutsLargeFilesIntoPartsThatTakeEveryLineOnce) {
  const TestFolder folder;
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::string> expected;
    const std::string text =
        (seed % 2 == 0 ? "\xEF\xBB\xBF" : "") + randomLines(random, 60, expected);
    const std::string path = folder.write("a.json", text);
    FileSourceOptions options;
    options.bufferBytes = 1 + random() % 200;
    options.splitBytes = 1 + random() % 300;
    const ReadRecords read = readInputs({path}, options);
    ASSERT_TRUE(read.status.ok()) << read.status;
    ASSERT_EQ(read.records, expected) << "seed " << seed;
    // Line numbers are right in every part.
    size_t line = 1;
    size_t record = 0;
    for (size_t at = 0; record < expected.size(); ++line) {
      const size_t end = std::min(text.find('\n', at), text.size());
      if (text.substr(at, end - at).find('{') != std::string::npos) {
        ASSERT_EQ(read.laterOrigins[record], read.origins[record]);
        ASSERT_EQ(read.origins[record++], path + " line " + std::to_string(line));
      }
      at = end + 1;
    }
  }
}

TEST(FileSource, MakesAtMost1024PartsOfAFileAndOneOfAnUncuttableOne) {
  const TestFolder folder;
  std::string lines;
  for (int at = 0; at < 5000; ++at) lines += "{}\n";
  const std::string plain = folder.write("plain", lines);
  const std::string packed = folder.write("packed", gzipped(lines));
  const std::string array = folder.write("array", "[" + std::string(10'000, ' ') + "]");
  FileSourceOptions options;
  options.splitBytes = 1;
  const auto source = FileSource::open(std::vector<std::string>{plain, packed, array}, options);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->splits().size(), 1024U + 2U);
  EXPECT_EQ(readInputs({plain}, options).records.size(), 5000U);
}

/// Reads a split batch by batch, each with a new reader at the position of the one before.
std::vector<std::string> readHopping(FileSource& source, const std::string& split,
                                     std::vector<std::string>* origins) {
  const Wakeup wakeup;
  std::vector<std::string> records;
  std::string position;
  RecordBatch batch;
  while (true) {
    auto reader = source.createReader(split, position, wakeup);
    if (!reader.ok()) {
      ADD_FAILURE() << reader.status();
      return records;
    }
    SplitReader::State state = SplitReader::State::kNothingYet;
    while (state == SplitReader::State::kNothingYet) {
      const auto read = (*reader)->read(batch, base::kNever);
      if (!read.ok()) {
        ADD_FAILURE() << read.status();
        return records;
      }
      state = *read;
    }
    if (state == SplitReader::State::kEnd) return records;
    for (size_t at = 0; at < batch.records.size(); ++at) {
      records.emplace_back(batch.records[at]);
      origins->push_back(batch.origin(at));
    }
    position = (*reader)->position();
  }
}

TEST(FileSource, ContinuesFromEveryPosition) {
  const TestFolder folder;
  std::mt19937 random(3);
  std::vector<std::string> expected;
  const std::string lines = randomLines(random, 40, expected);
  std::string array = "\n[";
  for (const std::string& record : expected) array += (array.size() > 2 ? "\n,\n" : "") + record;
  array += "\n]\n";
  for (const std::string& content :
       {lines, array, gzipped(lines), gzipped(array), zstdCompressed(lines), zstdCompressed(array),
        "\xEF\xBB\xBF" + lines, "\xEF\xBB\xBF" + array}) {
    const std::string path = folder.write("a.json", content);
    FileSourceOptions options;
    options.bufferBytes = 150;
    const ReadRecords straight = readInputs({path}, options);
    ASSERT_EQ(straight.records, expected);
    const auto source = FileSource::open(std::vector<std::string>{path}, options);
    ASSERT_TRUE(source.ok());
    std::vector<std::string> origins;
    EXPECT_EQ(readHopping(**source, "0", &origins), expected);
    EXPECT_EQ(origins, straight.origins);
  }
}

TEST(FileSource, RefusesPositionsAndPartsItDidNotMake) {
  const TestFolder folder;
  const auto source = FileSource::open(std::vector<std::string>{folder.write("a", "{}\n")});
  ASSERT_TRUE(source.ok());
  const Wakeup wakeup;
  for (const char* split : {"", "x", "1", "0:5", "0:5-2", "0:1-2x", "-1"}) {
    EXPECT_FALSE((*source)->createReader(split, "", wakeup).ok()) << split;
  }
  for (const char* position : {"x", "1", "1/2", "1/2/3/4", "1/2/-3"}) {
    EXPECT_FALSE((*source)->createReader("0", position, wakeup).ok()) << position;
  }
}

TEST(FileSource, NoticesAFileThatShrinksOrIsReplacedWhileItIsRead) {
  const TestFolder folder;
  const std::string path = folder.write("a.json", "{\"a\":1}\n{\"a\":2}\n");
  const auto source = FileSource::open(std::vector<std::string>{path});
  ASSERT_TRUE(source.ok());
  const Wakeup wakeup;
  const auto errorNow = [&] {
    const auto reader = (*source)->createReader("0", "", wakeup);
    return reader.ok() ? "none" : std::string(base::messageOf(reader.status()));
  };
  EXPECT_EQ(errorNow(), "none");
  auto opened = (*source)->createReader("0", "", wakeup);
  folder.write("a.json", "{\"a\":1}\n");
  EXPECT_THAT(errorNow(),
              HasSubstr(path + " was changed while it was read: it has 8 bytes, 16 were"));
  const ReadRecords read = readToEnd(**opened);
  EXPECT_THAT(errorOf(read), HasSubstr(path + " was changed while it was read: it ends at byte 8"));
  std::filesystem::rename(folder.write("b.json", "{\"a\":1}\n{\"a\":2}\n"), path);
  EXPECT_EQ(errorNow(), path + " was replaced while it was read");
}

TEST(FileSource, ReadsAGrowingFileAsFarAsItWentAtTheBeginning) {
  const TestFolder folder;
  const std::string path = folder.write("a.json", "{\"a\":1}\n{\"a\":2}\n");
  const auto source = FileSource::open(std::vector<std::string>{path});
  ASSERT_TRUE(source.ok());
  std::ofstream(path, std::ios::app) << "{\"a\":3}\n";
  const Wakeup wakeup;
  auto reader = (*source)->createReader("0", "", wakeup);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_THAT(readToEnd(**reader).records, ElementsAre("{\"a\":1}", "{\"a\":2}"));
}

TEST(FileSource, RefusesAPositionBehindTheEndOfACompressedFile) {
  const TestFolder folder;
  const std::string path = folder.write("a.gz", gzipped("{}\n"));
  const auto source = FileSource::open(std::vector<std::string>{path});
  ASSERT_TRUE(source.ok());
  const Wakeup wakeup;
  auto reader = (*source)->createReader("0", "10/0/1", wakeup);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(errorOf(readToEnd(**reader)),
            path + " ends 7 uncompressed bytes before the position to continue from");
}

// ---- Identity ----

TEST(FileSource, KnowsItsInputAgain) {
  const TestFolder folder;
  const std::string a = folder.write("a.json", "{\"a\":1}\n");
  const std::string b = folder.write("b \xC3\xA9%.json", "{\"b\":1}\n");
  const auto identityOf = [](const std::vector<std::string>& inputs) {
    return FileSource::open(inputs).value()->identity();
  };
  const auto check = [](const std::vector<std::string>& inputs, const std::string& stored) {
    return std::string(base::messageOf(FileSource::open(inputs).value()->checkIdentity(stored)));
  };
  const std::string stored = identityOf({a, b});
  EXPECT_EQ(check({a, b}, stored), "");
  EXPECT_EQ(check({folder.at("./a.json"), b}, stored), "") << "another spelling of the same path";
  EXPECT_THAT(check({a}, stored), HasSubstr(b + " was part of it and is not given now"));
  EXPECT_THAT(check({a, b, folder.write("c.json", "{}")}, stored),
              HasSubstr("c.json was not part of it"));
  EXPECT_THAT(check({b, a}, stored), HasSubstr("another order"));
  EXPECT_THAT(check({a, b}, "nonsense"), HasSubstr("cannot be read"));

  folder.write("a.json", "{\"a\":2}\n");
  EXPECT_THAT(check({a, b}, stored), HasSubstr(a + " has the same size but another content now"));
  folder.write("a.json", "{\"a\":1}\n{}\n");
  EXPECT_THAT(check({a, b}, stored), HasSubstr(a + " had 8 bytes, it has 11 now"));
}

// ---- Streams ----

TEST(FileSource, ReadsStandardInputOnce) {
  StandardInput input;
  input.send("{\"a\":1}\n{\"a\":2}");
  input.close();
  const auto source = FileSource::open(std::vector<std::string>{"-"});
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_FALSE((*source)->checkRestorable().ok());
  EXPECT_THAT(std::string(base::messageOf((*source)->checkRestorable())),
              HasSubstr("standard input cannot be read again"));
  const Wakeup wakeup;
  auto reader = (*source)->createReader("0", "", wakeup);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const ReadRecords read = readToEnd(**reader);
  EXPECT_THAT(read.records, ElementsAre("{\"a\":1}", "{\"a\":2}"));
  EXPECT_EQ(read.origins[1], "standard input line 2");
  EXPECT_FALSE((*source)->createReader("0", "", wakeup).ok());
}

TEST(FileSource, HandsOutWholeLinesOfAStreamWithoutWaitingForMore) {
  StandardInput input;
  input.send("{\"a\":1}\n{\"a\":");
  const auto source = FileSource::open(std::vector<std::string>{"-"});
  ASSERT_TRUE(source.ok()) << source.status();
  const Wakeup wakeup;
  auto reader = (*source)->createReader("0", "", wakeup);
  ASSERT_TRUE(reader.ok());
  RecordBatch batch;
  EXPECT_EQ((*reader)->read(batch, base::kNever).value(), SplitReader::State::kBatch);
  EXPECT_THAT(batch.records, ElementsAre("{\"a\":1}"));
  // Nothing comes: the deadline, or a notification, ends the wait.
  EXPECT_EQ((*reader)->read(batch, base::MonotonicTime{}).value(), SplitReader::State::kNothingYet);
  std::thread notifier([&wakeup] { wakeup.notify(); });
  EXPECT_EQ((*reader)->read(batch, base::kNever).value(), SplitReader::State::kNothingYet);
  notifier.join();
  input.send("2}\n");
  EXPECT_EQ((*reader)->read(batch, base::kNever).value(), SplitReader::State::kBatch);
  EXPECT_THAT(batch.records, ElementsAre("{\"a\":2}"));
}

TEST(FileSource, ReadsCompressedStreamsAndNamedPipes) {
  const TestFolder folder;
  const std::string pipe = folder.at("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&pipe] {
    const int file = ::open(pipe.c_str(), O_WRONLY);
    const std::string content = gzipped("{\"a\":1}\n{\"a\":2}\n");
    EXPECT_EQ(::write(file, content.data(), content.size()), static_cast<ssize_t>(content.size()));
    ::close(file);
  });
  const ReadRecords read = readInputs({pipe});
  writer.join();
  EXPECT_TRUE(read.status.ok()) << read.status;
  EXPECT_THAT(read.records, ElementsAre("{\"a\":1}", "{\"a\":2}"));
}

TEST(FileSource, ScansFilesWholeAndStreamsByTheirPrefix) {
  const TestFolder folder;
  const std::string file = folder.write("a.json", "[{\"f\":1},{\"f\":2}]");
  for (const std::string& text : {std::string("{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n"),
                                  std::string("[{\"a\":1},{\"a\":2},{\"a\":3}]")}) {
    StandardInput input;
    input.send(text);
    input.close();
    const auto source = FileSource::open(std::vector<std::string>{file, "-"});
    ASSERT_TRUE(source.ok()) << source.status();
    std::vector<std::string> scanned;
    const absl::Status status = (*source)->scan(18, [&scanned](const RecordBatch& batch) {
      scanned.insert(scanned.end(), batch.records.begin(), batch.records.end());
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_THAT(scanned, ElementsAre("{\"f\":1}", "{\"f\":2}", "{\"a\":1}", "{\"a\":2}"));
    const Wakeup wakeup;
    auto reader = (*source)->createReader("1", "", wakeup);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_THAT(readToEnd(**reader).records, ElementsAre("{\"a\":1}", "{\"a\":2}", "{\"a\":3}"));
  }
}

TEST(FileSource, EndsAScanWithTheVisitorsError) {
  const TestFolder folder;
  const auto source = FileSource::open(std::vector<std::string>{folder.write("a", "{}\n")});
  ASSERT_TRUE(source.ok());
  const absl::Status status =
      (*source)->scan(0, [](const RecordBatch&) { return absl::DataLossError("conflict"); });
  EXPECT_EQ(status, absl::DataLossError("conflict"));
}

}  // namespace
}  // namespace penstock::runtime
