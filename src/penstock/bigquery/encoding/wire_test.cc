#include "penstock/bigquery/encoding/wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace penstock::bigquery {
namespace {

using ::google::protobuf::io::CodedOutputStream;

TEST(Wire, WritesVarintsAsProtobufDoes) {  // BQT-095
  for (unsigned shift = 0; shift < 64; ++shift) {
    for (const uint64_t value : {uint64_t{1} << shift, (uint64_t{1} << shift) - 1,
                                 ~uint64_t{0} >> shift, ~uint64_t{0} << shift}) {
      uint8_t expected[kMaxVarintBytes];
      auto* const expectedEnd = CodedOutputStream::WriteVarint64ToArray(value, expected);
      char buffer[kMaxVarintBytes];
      char* const end = writeVarint(buffer, value);
      EXPECT_EQ(std::string(buffer, end), std::string(expected, expectedEnd)) << value;
      EXPECT_EQ(varintSize(value), static_cast<size_t>(end - buffer)) << value;
    }
  }
}

TEST(Wire, WritesTagsLengthsAndDoubles) {  // BQT-095, BQT-007
  char buffer[32];
  char* end = writeTag(buffer, makeTag(1, WireType::kLengthDelimited));
  end = writeLengthDelimited(end, "alice");
  end = writeTag(end, makeTag(2, WireType::kVarint));
  end = writeSignedVarint(end, 3);
  EXPECT_EQ(std::string(buffer, end), "\x0A\x05\x61\x6C\x69\x63\x65\x10\x03");
  end = writeTag(buffer, makeTag(16, WireType::kFixed64));
  end = writeDouble(end, 1.0);
  EXPECT_EQ(std::string(buffer, end), std::string("\x81\x01\0\0\0\0\0\0\xF0\x3F", 10));
  EXPECT_EQ(std::string(buffer, writeLengthDelimited(buffer, {})), std::string(1, '\0'));
}

}  // namespace
}  // namespace penstock::bigquery
