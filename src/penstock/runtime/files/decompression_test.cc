#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "penstock/runtime/files/byte_stream.h"
#include "penstock/runtime/testing/input_files.h"

namespace penstock::runtime {
namespace {

using testing::HasSubstr;

/// Hands out a text in pieces of a given size, with a pause ("nothing yet") before each.
class PiecewiseStream final : public ByteStream {
 public:
  PiecewiseStream(std::string text, size_t pieceBytes)
      : text_(std::move(text)), pieceBytes_(pieceBytes) {}

  absl::StatusOr<Piece> read(char* to, size_t capacity, const ReadWait&) override {
    paused_ = !paused_;
    if (paused_) return Piece{State::kNothingYet, 0};
    if (at_ == text_.size()) return Piece{State::kEnd, 0};
    const size_t size = std::min({capacity, pieceBytes_, text_.size() - at_});
    std::copy_n(text_.data() + at_, size, to);
    at_ += size;
    return Piece{State::kData, size};
  }

 private:
  std::string text_;
  size_t pieceBytes_;
  size_t at_ = 0;
  bool paused_ = false;
};

absl::StatusOr<std::string> decompress(Compression compression, std::string compressed,
                                       size_t pieceBytes, size_t outputBytes) {
  const auto stream = makeDecompressedStream(
      compression, std::make_unique<PiecewiseStream>(std::move(compressed), pieceBytes), "x.gz");
  std::string content;
  std::string buffer(outputBytes, '\0');
  while (true) {
    PENSTOCK_ASSIGN_OR_RETURN(const ByteStream::Piece piece,
                              stream->read(buffer.data(), buffer.size(), ReadWait()));
    if (piece.state == ByteStream::State::kEnd) return content;
    content.append(buffer.data(), piece.size);
  }
}

std::string sampleText(size_t bytes) {
  std::mt19937 random(7);
  std::string text;
  while (text.size() < bytes) {
    text += "{\"n\":" + std::to_string(random()) + ",\"s\":\"aaaaaaaaaaaaaaaa\"}\n";
  }
  return text;
}

std::string compressedWith(Compression compression, const std::string& text) {
  return compression == Compression::kGzip ? gzipped(text) : zstdCompressed(text);
}

class Decompression : public testing::TestWithParam<Compression> {};

TEST_P(Decompression, GivesBackTheTextWhateverThePieces) {
  const std::string text = sampleText(300'000);
  const std::string compressed = compressedWith(GetParam(), text);
  for (const size_t pieceBytes : {size_t{1}, size_t{13}, size_t{1} << 20}) {
    for (const size_t outputBytes : {size_t{7}, size_t{65536}}) {
      const auto content = decompress(GetParam(), compressed, pieceBytes, outputBytes);
      ASSERT_TRUE(content.ok()) << content.status();
      EXPECT_EQ(*content, text) << pieceBytes << " " << outputBytes;
    }
  }
}

TEST_P(Decompression, ReadsEveryMember) {
  const std::string text = sampleText(1000);
  const std::string member = compressedWith(GetParam(), text);
  const auto content =
      decompress(GetParam(), member + compressedWith(GetParam(), "") + member, 5, 64);
  ASSERT_TRUE(content.ok()) << content.status();
  EXPECT_EQ(*content, text + text);
}

TEST_P(Decompression, RefusesDataThatIsCutOffAnywhere) {
  const std::string compressed = compressedWith(GetParam(), sampleText(2000));
  for (size_t size = 1; size < compressed.size(); size += 3) {
    const auto content = decompress(GetParam(), compressed.substr(0, size), 1 << 20, 4096);
    ASSERT_FALSE(content.ok()) << size;
    EXPECT_EQ(content.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(content.status().message()), HasSubstr("x.gz is cut off"));
  }
}

TEST_P(Decompression, RefusesWhatFollowsTheEndMark) {
  const std::string compressed = compressedWith(GetParam(), sampleText(2000));
  const auto content = decompress(GetParam(), compressed + "{\"lost\":1}\n", 1 << 20, 4096);
  ASSERT_FALSE(content.ok());
  EXPECT_THAT(std::string(content.status().message()), HasSubstr("x.gz is damaged"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, Decompression,
                         testing::Values(Compression::kGzip, Compression::kZstd));

TEST(GzipDecompression, RefusesAlteredData) {
  std::string compressed = gzipped(sampleText(20'000));
  compressed[compressed.size() - 6] ^= 1;  // the checksum
  const auto content = decompress(Compression::kGzip, compressed, 1 << 20, 4096);
  ASSERT_FALSE(content.ok());
  EXPECT_THAT(std::string(content.status().message()), HasSubstr("incorrect data check"));
}

TEST(GzipDecompression, TakesZerosBehindTheLastMember) {
  const auto content =
      decompress(Compression::kGzip, gzipped("{}\n") + std::string(512, '\0'), 100, 4096);
  ASSERT_TRUE(content.ok()) << content.status();
  EXPECT_EQ(*content, "{}\n");
}

}  // namespace
}  // namespace penstock::runtime
