#include "penstock/bigquery/encoding/base64.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>

namespace penstock::bigquery {
namespace {

std::optional<std::string> decode(std::string_view text) {
  std::string out(decodedBase64Bound(text.size()), '\0');
  size_t size = 0;
  if (!decodeBase64(text, out.data(), &size).ok()) return std::nullopt;
  out.resize(size);
  return out;
}

TEST(Base64, DecodesBothAlphabetsWithAndWithoutPadding) {  // BQT-057, vector 55
  EXPECT_EQ(decode("aGk="), "hi");
  EXPECT_EQ(decode("aGk"), "hi");
  EXPECT_EQ(decode("aA=="), "h");
  EXPECT_EQ(decode("aA"), "h");
  EXPECT_EQ(decode(""), "");
  EXPECT_EQ(decode("+/+/"), "\xFB\xFF\xBF");
  EXPECT_EQ(decode("-_-_"), "\xFB\xFF\xBF");
  EXPECT_EQ(decode("+/8="), "\xFB\xFF");
  EXPECT_EQ(decode("-_8"), "\xFB\xFF");
}

TEST(Base64, RefusesEverythingElse) {  // BQT-057
  for (const char* refused : {"a", "aGk=a", "aGk==", "aA=", "====", "=", "aG k", "aGk=\n", "aG?k",
                              "+/-_", "aGVsbG8x=", "a\xC3\xA4k=", "aGVsbG8=aGVs", "aaaaa"}) {
    EXPECT_EQ(decode(refused), std::nullopt) << refused;
  }
}

TEST(Base64, ReadsBackWhatItEncodes) {  // BQT-057
  std::mt19937 random(57);
  for (int i = 0; i < 5'000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    ASSERT_EQ(decode(encodeBase64(bytes)), bytes);
    ASSERT_EQ(decode(encodeBase64Url(bytes)), bytes);
    ASSERT_EQ(encodeBase64(bytes).size() % 4, 0U);
  }
  EXPECT_EQ(encodeBase64("hi"), "aGk=");
  EXPECT_EQ(encodeBase64Url("1st-col"), "MXN0LWNvbA");
}

TEST(Base64, DecodesInPlace) {
  std::string text = "aGVsbG8gd29ybGQ=";
  size_t size = 0;
  ASSERT_TRUE(decodeBase64(text, text.data(), &size).ok());
  EXPECT_EQ(text.substr(0, size), "hello world");
}

}  // namespace
}  // namespace penstock::bigquery
