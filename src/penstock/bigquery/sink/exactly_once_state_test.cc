#include "penstock/bigquery/sink/exactly_once_state.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

namespace penstock::bigquery {
namespace {

using testing::HasSubstr;

const std::string kStreamName = "projects/p/datasets/d/tables/t/streams/s1";

std::string described(const absl::Status& status) { return base::describe(status); }

/// One of the files that hold what earlier versions wrote: they are added, never changed.
std::string golden(const std::string& name) {
  std::ifstream file(
      std::string(PENSTOCK_SOURCE_DIR "/src/penstock/bigquery/sink/testing/state/") + name,
      std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

BufferedStreamState aState() {
  return {.table = TableName{"p", "d", "t"},
          .stream = kStreamName,
          .nextOffset = 1234,
          .checkpoint = 7,
          .preparedOffset = 1234};
}

TEST(ExactlyOnceState, ComesBackAsItWas) {
  BufferedStreamState state = aState();
  EXPECT_EQ(*decodeState(encodeState(state)), state);
  state.preparedOffset = 0;
  EXPECT_EQ(*decodeState(encodeState(state)), state);
  state.stream.clear();
  state.nextOffset = 0;
  EXPECT_EQ(*decodeState(encodeState(state)), state);
  const StreamCommittable committable{kStreamName, 1233, 3};
  EXPECT_EQ(*decodeCommittable(encodeCommittable(committable)), committable);
}

TEST(ExactlyOnceState, ReadsWhatEveryVersionWrote) {
  EXPECT_EQ(*decodeState({golden("state_v2")}), aState());
  BufferedStreamState unprepared = aState();
  unprepared.preparedOffset = 1000;
  EXPECT_EQ(*decodeState({golden("state_v2_unprepared")}), unprepared);
  EXPECT_EQ(*decodeCommittable({golden("committable_v1")}),
            (StreamCommittable{kStreamName, 1233, 3}));
}

// What is written now must be what the newest golden files say, or an older release cannot go back.
TEST(ExactlyOnceState, WritesWhatTheNewestVersionIs) {
  EXPECT_EQ(encodeState(aState()).bytes, golden("state_v2"));
  EXPECT_EQ(encodeCommittable({kStreamName, 1233, 3}).bytes, golden("committable_v1"));
}

TEST(ExactlyOnceState, RefusesANewerVersionByItsNumber) {
  std::string bytes = encodeState(aState()).bytes;
  bytes[1] = 3;
  const auto state = decodeState({bytes});
  EXPECT_EQ(state.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(described(state.status()), HasSubstr("version 3"));
  EXPECT_THAT(described(state.status()), HasSubstr("up to version 2"));
  bytes = encodeCommittable({kStreamName, 1, 0}).bytes;
  bytes[1] = '\xFF';
  EXPECT_THAT(described(decodeCommittable({bytes}).status()), HasSubstr("version 255"));
}

TEST(ExactlyOnceState, RefusesTheStateOfAnotherProgram) {
  std::string bytes = encodeState(aState()).bytes;
  bytes[1] = 1;
  EXPECT_EQ(decodeState({bytes}).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(ExactlyOnceState, RefusesWhatIsDamaged) {
  const std::string bytes = encodeState(aState()).bytes;
  const auto codeOf = [](const std::string& damagedBytes) {
    return decodeState({damagedBytes}).status().code();
  };
  EXPECT_EQ(codeOf(""), absl::StatusCode::kDataLoss);
  EXPECT_EQ(codeOf("S"), absl::StatusCode::kDataLoss);
  EXPECT_EQ(codeOf("anything"), absl::StatusCode::kDataLoss);
  EXPECT_EQ(codeOf(encodeCommittable({kStreamName, 1, 0}).bytes), absl::StatusCode::kDataLoss);
  EXPECT_EQ(codeOf(std::string("S\x02", 2)), absl::StatusCode::kDataLoss) << "no table";
  EXPECT_EQ(codeOf(bytes.substr(0, bytes.size() - 1)), absl::StatusCode::kDataLoss);
  EXPECT_EQ(decodeCommittable({bytes}).status().code(), absl::StatusCode::kDataLoss);
}

// Not even where a field ends, and whatever the numbers are.
TEST(ExactlyOnceState, RefusesWhatIsCutOffBeforeItsOffset) {
  BufferedStreamState first = aState();
  first.nextOffset = 0;
  first.preparedOffset = 0;
  for (const BufferedStreamState& state : {aState(), first}) {
    const std::string bytes = encodeState(state).bytes;
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_EQ(decodeState({bytes.substr(0, size)}).status().code(), absl::StatusCode::kDataLoss)
          << size;
    }
  }
  for (const int64_t offset : {0, 1233}) {
    const std::string bytes = encodeCommittable({kStreamName, offset, 0}).bytes;
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_EQ(decodeCommittable({bytes.substr(0, size)}).status().code(),
                absl::StatusCode::kDataLoss)
          << size;
    }
  }
}

TEST(ExactlyOnceState, RefusesWhatCannotBe) {
  BufferedStreamState state = aState();
  state.stream = "projects/p/datasets/d/tables/other/streams/s1";
  EXPECT_THAT(described(decodeState(encodeState(state)).status()),
              HasSubstr("none of table p.d.t"));
  state.stream = TableName{"p", "d", "t"}.defaultStream();
  EXPECT_FALSE(decodeState(encodeState(state)).ok());
  state = aState();
  state.nextOffset = -1;
  EXPECT_FALSE(decodeState(encodeState(state)).ok());
  state = aState();
  state.preparedOffset = 1235;
  EXPECT_FALSE(decodeState(encodeState(state)).ok());
  EXPECT_FALSE(decodeCommittable(encodeCommittable({"s1", 1, 0})).ok());
  EXPECT_FALSE(decodeCommittable(encodeCommittable({kStreamName + "/more", 1, 0})).ok());
  EXPECT_FALSE(decodeCommittable(encodeCommittable({kStreamName, -1, 0})).ok());
}

}  // namespace
}  // namespace penstock::bigquery
