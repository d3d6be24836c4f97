#include "apps/penstock/row_places.h"

#include <gtest/gtest.h>

namespace penstock::command {
namespace {

using connector::advanced;
using connector::RowOrigin;

class Numbered final : public runtime::RecordOrigins {
 public:
  explicit Numbered(std::string name) : name_(std::move(name)) {}
  std::string describe(const runtime::RecordBatch&, size_t index) const override {
    return name_ + " now " + std::to_string(index);
  }
  std::function<std::string(size_t)> describeLater(const runtime::RecordBatch&) const override {
    return [name = name_](size_t index) { return name + " later " + std::to_string(index); };
  }

 private:
  std::string name_;
};

RowOrigin add(RowPlaces& places, const std::string& name) {
  const Numbered origins(name);
  runtime::RecordBatch batch;
  batch.origins = &origins;
  return places.add(batch);
}

TEST(RowPlaces, DescribesRowsAfterTheirBatchIsGone) {
  RowPlaces places;
  const RowOrigin a = add(places, "a");
  const RowOrigin b = add(places, "b");
  EXPECT_NE(a, RowOrigin::kUnknown);
  EXPECT_EQ(places.describe(a), "a later 0");
  EXPECT_EQ(places.describe(advanced(a, 17)), "a later 17");
  EXPECT_EQ(places.describe(advanced(b, 1)), "b later 1");
  EXPECT_EQ(places.describe(RowOrigin::kUnknown), "");
}

TEST(RowPlaces, ForgetsWhatIsSettledAndMixesNothingUp) {
  RowPlaces places;
  const RowOrigin a = add(places, "a");
  places.settled();
  const RowOrigin b = add(places, "b");
  EXPECT_EQ(places.describe(a), "");
  EXPECT_EQ(places.describe(b), "b later 0");
}

TEST(RowPlaces, RemembersTheNewestOfTooMany) {
  RowPlaces places;
  const RowOrigin first = add(places, "first");
  const RowOrigin second = add(places, "second");
  for (size_t i = 1; i < RowPlaces::kMostBatches; ++i) add(places, "more");
  EXPECT_EQ(places.describe(first), "");
  EXPECT_EQ(places.describe(second), "second later 0");
}

TEST(RowPlaces, ABatchWithoutOriginsHasNone) {
  RowPlaces places;
  EXPECT_EQ(places.describe(places.add(runtime::RecordBatch())), "");
}

}  // namespace
}  // namespace penstock::command
