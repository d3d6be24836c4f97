#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/emulator/testing/rest_server_fixture.h"
#include "penstock/emulator/testing/row_bytes.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// A table with rows in the store, as the Storage Write API puts them there.
class TabledataListTest : public RestServerTest {
 protected:
  TabledataListTest() {
    makeDataset();
    EXPECT_EQ(
        makeTable(json::parse(
                      R"([{"name": "id", "type": "INTEGER"}, {"name": "name", "type": "STRING"}])"))
            .code,
        200);
    descriptor_ = rows_
                      ->internDescriptor(descriptorOf(R"(name: "root"
                             field { name: "id" number: 1 label: LABEL_OPTIONAL type: TYPE_INT64 }
                             field { name: "name" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING })")
                                             .SerializeAsString())
                      .value();
  }

  void append(uint64_t first, uint64_t count, std::string_view text = "row") {
    RowFramer framer;
    for (uint64_t i = first; i < first + count; ++i)
      framer.add(MessageBytes().varint(1, i).bytes(2, text).text());
    const uint64_t table = catalog_->findTable({"p", "d", "t"})->id;
    ASSERT_TRUE(rows_->append(table, *descriptor_, framer.rows()).ok());
  }

  /// "1,2,3": the ids on a page.
  static std::string idsOf(const Answer& answer) {
    std::string ids;
    if (!answer.body.contains("rows")) return ids;
    for (const json& row : answer.body["rows"]) {
      ids += (ids.empty() ? "" : ",") + row["f"][0]["v"].get<std::string>();
    }
    return ids;
  }

  const std::string data_ = "/bigquery/v2/projects/p/datasets/d/tables/t/data";
  RowDescriptorPtr descriptor_;
};

TEST_F(TabledataListTest, ListsRowsAndCountsThem) {
  const Answer empty = get(data_);
  EXPECT_EQ(empty.body["kind"], "bigquery#tableDataList");
  EXPECT_EQ(empty.body["totalRows"], "0");
  EXPECT_FALSE(empty.body.contains("rows"));

  append(1, 3);
  const Answer three = get(data_);
  EXPECT_EQ(three.body["totalRows"], "3");
  EXPECT_EQ(idsOf(three), "1,2,3");
  EXPECT_EQ(three.body["rows"][0], json::parse(R"({"f": [{"v": "1"}, {"v": "row"}]})"));
  EXPECT_FALSE(three.body.contains("pageToken"));
  const Answer table = get("/bigquery/v2/projects/p/datasets/d/tables/t");
  EXPECT_EQ(table.body["numRows"], "3");
  EXPECT_NE(table.body["numBytes"], "0");
}

TEST_F(TabledataListTest, PagesBySizeStartAndToken) {
  append(0, 10);
  const Answer first = get(data_ + "?maxResults=4");
  EXPECT_EQ(idsOf(first), "0,1,2,3");
  EXPECT_EQ(first.body["totalRows"], "10");
  const Answer second =
      get(data_ + "?maxResults=4&pageToken=" + first.body["pageToken"].get<std::string>());
  EXPECT_EQ(idsOf(second), "4,5,6,7");
  const Answer third =
      get(data_ + "?maxResults=4&pageToken=" + second.body["pageToken"].get<std::string>());
  EXPECT_EQ(idsOf(third), "8,9");
  EXPECT_FALSE(third.body.contains("pageToken"));
  EXPECT_EQ(idsOf(get(data_ + "?startIndex=8")), "8,9");
  EXPECT_EQ(idsOf(get(data_ + "?startIndex=7&maxResults=2")), "7,8");
  EXPECT_EQ(idsOf(get(data_ + "?startIndex=100")), "");
  EXPECT_EQ(get(data_ + "?startIndex=100").body["totalRows"], "10");
  const Answer none = get(data_ + "?maxResults=0");
  EXPECT_EQ(none.body["totalRows"], "10");
  EXPECT_EQ(idsOf(none), "");
  EXPECT_EQ(get(data_ + "?maxResults=x").code, 400);
}

TEST_F(TabledataListTest, EndsAPageBeforeItGrowsTooLarge) {
  const std::string text(1 << 20, 'x');
  append(0, 25, text);
  std::string path = data_;
  std::string ids;
  int pages = 0;
  while (true) {
    const Answer page = get(path);
    ASSERT_EQ(page.code, 200);
    EXPECT_LT(page.text.size(), 12U << 20);
    ids += (ids.empty() ? "" : ",") + idsOf(page);
    ++pages;
    if (!page.body.contains("pageToken")) break;
    path = data_ + "?pageToken=" + page.body["pageToken"].get<std::string>();
  }
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(ids, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24");
}

TEST_F(TabledataListTest, SelectsFields) {
  append(1, 1);
  EXPECT_EQ(get(data_ + "?selectedFields=name").body["rows"],
            json::parse(R"([{"f": [{"v": "row"}]}])"));
  EXPECT_EQ(get(data_ + "?selectedFields=nope").code, 400);
}

TEST_F(TabledataListTest, ReadsEachRowByTheDescriptorThatWroteIt) {
  append(1, 1);
  const RowDescriptorPtr swapped = rows_
                                       ->internDescriptor(descriptorOf(R"(name: "other"
                     field { name: "NAME" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
                     field { name: "ID" number: 2 label: LABEL_OPTIONAL type: TYPE_SINT64 })")
                                                              .SerializeAsString())
                                       .value();
  RowFramer framer;
  framer.add(MessageBytes().bytes(1, "swapped").varint(2, 3).text());
  ASSERT_TRUE(
      rows_->append(catalog_->findTable({"p", "d", "t"})->id, *swapped, framer.rows()).ok());
  EXPECT_EQ(get(data_).body["rows"],
            json::parse(
                R"([{"f": [{"v": "1"}, {"v": "row"}]}, {"f": [{"v": "-2"}, {"v": "swapped"}]}])"));
}

TEST_F(TabledataListTest, StartsEmptyWhenATableIsMadeAnew) {
  append(1, 3);
  ASSERT_EQ(remove("/bigquery/v2/projects/p/datasets/d/tables/t").code, 204);
  EXPECT_EQ(rows_->storedTables().value().size(), 0U);
  ASSERT_EQ(makeTable(json::parse(R"([{"name": "id", "type": "INTEGER"}])")).code, 200);
  EXPECT_EQ(get(data_).body["totalRows"], "0");

  append(1, 1);
  ASSERT_EQ(remove("/bigquery/v2/projects/p/datasets/d?deleteContents=true").code, 204);
  EXPECT_EQ(rows_->storedTables().value().size(), 0U);
}

}  // namespace
}  // namespace penstock::emulator
