#include "penstock/emulator/catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "penstock/base/testing/manual_clock.h"
#include "penstock/emulator/testing/temporary_directory.h"

namespace penstock::emulator {
namespace {

using ::testing::HasSubstr;

class CatalogTest : public ::testing::Test {
 protected:
  CatalogTest() { reopen(); }

  /// As after a restart of the process.
  void reopen() {
    catalog_.reset();
    absl::StatusOr<std::unique_ptr<Catalog>> opened =
        Catalog::open(directory_.path(), base::systemClock());
    ASSERT_TRUE(opened.ok()) << opened.status();
    catalog_ = *std::move(opened);
  }

  static Schema schema() {
    Schema result;
    Field& field = result.fields.emplace_back();
    field.name = "id";
    field.type = FieldType::kInt64;
    field.mode = FieldMode::kRequired;
    return result;
  }

  [[nodiscard]] std::filesystem::path journal() const {
    return std::filesystem::path(directory_.path()) / "catalog.journal";
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Catalog> catalog_;
  const DatasetReference dataset_{"p", "d"};
  const TableReference table_{"p", "d", "t"};
};

TEST_F(CatalogTest, KeepsDatasetsAndTablesOverARestart) {
  ASSERT_TRUE(catalog_->createDataset({dataset_, "EU", R"({"labels":{"a":"b"}})"}).ok());
  const auto made = catalog_->createTable({table_, schema(), R"({"description":"x"})"});
  ASSERT_TRUE(made.ok()) << made.status();
  reopen();
  const auto dataset = catalog_->findDataset(dataset_);
  ASSERT_NE(dataset, nullptr);
  EXPECT_EQ(dataset->location, "EU");
  EXPECT_EQ(dataset->properties, R"({"labels":{"a":"b"}})");
  const auto table = catalog_->findTable(table_);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->id, (*made)->id);
  EXPECT_EQ(table->schema, schema());
  EXPECT_EQ(table->location, "EU");
  EXPECT_EQ(table->etag, (*made)->etag);
  EXPECT_EQ(table->creationMillis, (*made)->creationMillis);
  EXPECT_EQ(table->properties, R"({"description":"x"})");
}

TEST_F(CatalogTest, SaysWhatIsMissingAndWhatIsThere) {
  EXPECT_EQ(base::describe(catalog_->createTable({table_, schema(), "{}"}).status()),
            "NOT_FOUND: Not found: Dataset p:d");
  EXPECT_EQ(base::describe(catalog_->listTables(dataset_).status()),
            "NOT_FOUND: Not found: Dataset p:d");
  ASSERT_TRUE(catalog_->createDataset({dataset_}).ok());
  EXPECT_EQ(base::describe(catalog_->createDataset({dataset_}).status()),
            "ALREADY_EXISTS: Already Exists: Dataset p:d");
  EXPECT_EQ(base::describe(catalog_->deleteTable(table_).status()),
            "NOT_FOUND: Not found: Table p:d.t");
  ASSERT_TRUE(catalog_->createTable({table_, schema(), "{}"}).ok());
  EXPECT_EQ(base::describe(catalog_->createTable({table_, schema(), "{}"}).status()),
            "ALREADY_EXISTS: Already Exists: Table p:d.t");
}

TEST_F(CatalogTest, KnowsTheIdsOfTablesThatNobodyAskedFor) {
  ASSERT_TRUE(catalog_->createDataset({dataset_}).ok());
  const uint64_t first = catalog_->createTable({table_, schema(), "{}"}).value()->id;
  const uint64_t second = catalog_->createTable({{"p", "d", "u"}, schema(), "{}"}).value()->id;
  reopen();
  EXPECT_THAT(catalog_->tableIds(), ::testing::UnorderedElementsAre(first, second));
  ASSERT_TRUE(catalog_->deleteTable(table_).ok());
  EXPECT_THAT(catalog_->tableIds(), ::testing::ElementsAre(second));
  reopen();
  EXPECT_THAT(catalog_->tableIds(), ::testing::ElementsAre(second));
  EXPECT_EQ(catalog_->findTable({"p", "d", "u"})->id, second);
}

TEST_F(CatalogTest, KeepsNamesAndTextsOfAnyCharacters) {
  const DatasetReference dataset{"domain.com:p\t\n\"", "d"};
  const TableReference table{dataset.project, "d", "na\xC3\xAFve \ttable"};
  ASSERT_TRUE(catalog_->createDataset({dataset, "EU", "{\"description\":\"a\\tb\\nc\"}"}).ok());
  ASSERT_TRUE(catalog_->createTable({table, schema(), "{\"description\":\"\\t\"}"}).ok());
  reopen();
  EXPECT_EQ(catalog_->findDataset(dataset)->properties, "{\"description\":\"a\\tb\\nc\"}");
  EXPECT_EQ(catalog_->findTable(table)->properties, "{\"description\":\"\\t\"}");
}

TEST_F(CatalogTest, GivesATableMadeAnewAnotherId) {
  ASSERT_TRUE(catalog_->createDataset({dataset_}).ok());
  std::set<uint64_t> ids;
  for (int i = 0; i < 3; ++i) {
    ids.insert(catalog_->createTable({table_, schema(), "{}"}).value()->id);
    ASSERT_TRUE(catalog_->deleteTable(table_).ok());
    reopen();
  }
  EXPECT_EQ(ids.size(), 3U);
}

TEST_F(CatalogTest, DropsADatasetWithItsTablesOnlyWhenAsked) {
  ASSERT_TRUE(catalog_->createDataset({dataset_}).ok());
  ASSERT_TRUE(catalog_->createDataset({{"p", "d2"}}).ok());
  ASSERT_TRUE(catalog_->createTable({table_, schema(), "{}"}).ok());
  ASSERT_TRUE(catalog_->createTable({{"p", "d2", "t"}, schema(), "{}"}).ok());
  EXPECT_EQ(base::describe(catalog_->deleteDataset(dataset_, false).status()),
            "FAILED_PRECONDITION: Dataset p:d is still in use");
  const auto dropped = catalog_->deleteDataset(dataset_, true);
  ASSERT_TRUE(dropped.ok());
  ASSERT_EQ(dropped->size(), 1U);
  EXPECT_EQ(dropped->front()->reference, table_);
  reopen();
  EXPECT_EQ(catalog_->findDataset(dataset_), nullptr);
  EXPECT_EQ(catalog_->findTable(table_), nullptr);
  EXPECT_NE(catalog_->findTable({"p", "d2", "t"}), nullptr);
}

TEST_F(CatalogTest, ListsInOrderOfName) {
  for (const char* name : {"b", "a", "c"}) ASSERT_TRUE(catalog_->createDataset({{"p", name}}).ok());
  for (const char* name : {"z", "x"}) {
    ASSERT_TRUE(catalog_->createTable({{"p", "a", name}, schema(), "{}"}).ok());
  }
  ASSERT_TRUE(catalog_->createDataset({{"another", "x"}}).ok());
  std::string names;
  for (const auto& dataset : catalog_->listDatasets("p")) names += dataset->reference.dataset;
  EXPECT_EQ(names, "abc");
  names.clear();
  const auto tables = catalog_->listTables({"p", "a"});
  for (const auto& table : *tables) names += table->reference.table;
  EXPECT_EQ(names, "xz");
  EXPECT_THAT(catalog_->listProjects(), ::testing::ElementsAre("another", "p"));
}

TEST_F(CatalogTest, GivesEveryChangeAnEtagOfItsOwn) {
  std::set<std::string> etags;
  etags.insert(catalog_->createDataset({dataset_}).value()->etag);
  etags.insert(catalog_->createTable({table_, schema(), "{}"}).value()->etag);
  for (int i = 0; i < 20; ++i) {
    const auto dataset = catalog_->findDataset(dataset_);
    etags.insert(catalog_->updateDataset(*dataset, "{}").value()->etag);
    const auto table = catalog_->findTable(table_);
    etags.insert(catalog_->updateTable(*table, {table_, schema(), "{}"}).value()->etag);
    if (i % 5 == 0) reopen();
  }
  EXPECT_EQ(etags.size(), 42U);
}

TEST_F(CatalogTest, ChangesWhatWasSeenAndNothingElse) {
  ASSERT_TRUE(catalog_->createDataset({dataset_}).ok());
  ASSERT_TRUE(catalog_->createTable({table_, schema(), "{}"}).ok());
  const auto seenDataset = catalog_->findDataset(dataset_);
  const auto seenTable = catalog_->findTable(table_);
  ASSERT_TRUE(catalog_->updateDataset(*seenDataset, R"({"description":"1"})").ok());
  ASSERT_TRUE(catalog_->updateTable(*seenTable, {table_, schema(), R"({"description":"2"})"}).ok());

  const auto lateDataset = catalog_->updateDataset(*seenDataset, "{}");
  EXPECT_EQ(base::describe(lateDataset.status()), "ABORTED: Dataset p:d was changed meanwhile");
  const auto lateTable = catalog_->updateTable(*seenTable, {table_, schema(), "{}"});
  EXPECT_EQ(base::describe(lateTable.status()), "ABORTED: Table p:d.t was changed meanwhile");
  reopen();
  EXPECT_EQ(catalog_->findDataset(dataset_)->properties, R"({"description":"1"})");
  EXPECT_EQ(catalog_->findTable(table_)->properties, R"({"description":"2"})");

  ASSERT_TRUE(catalog_->deleteTable(table_).ok());
  ASSERT_TRUE(catalog_->createTable({table_, schema(), "{}"}).ok());  // another of the same name
  EXPECT_FALSE(catalog_->updateTable(*seenTable, {table_, schema(), "{}"}).ok());
}

TEST_F(CatalogTest, CountsTheVersionsOfASchema) {
  ASSERT_TRUE(catalog_->createDataset({dataset_}).ok());
  const auto made = catalog_->createTable({table_, schema(), "{}"}).value();
  const auto described =
      catalog_->updateTable(*made, {table_, schema(), R"({"description":"x"})"}).value();
  EXPECT_EQ(described->schemaVersion, made->schemaVersion);
  Schema wider = schema();
  wider.fields.emplace_back().name = "added";
  ASSERT_TRUE(catalog_->updateTable(*described, {table_, wider, "{}"}).ok());
  reopen();
  const auto widened = catalog_->findTable(table_);
  EXPECT_EQ(widened->schemaVersion, made->schemaVersion + 1);
  EXPECT_EQ(widened->schema, wider);
  EXPECT_EQ(widened->id, made->id);
  EXPECT_EQ(widened->creationMillis, made->creationMillis);
}

TEST_F(CatalogTest, LetsATableGoWhenItsExpirationHasCome) {
  base::ManualClock clock;
  const auto open = [&] {
    catalog_.reset();
    catalog_ = Catalog::open(directory_.path(), clock).value();
  };
  open();
  ASSERT_TRUE(catalog_->createDataset({dataset_}).ok());
  const int64_t expiration = catalog_->nowMillis() + 1000;
  const auto made = catalog_->createTable({table_, schema(), "{}", expiration}).value();
  clock.advance(std::chrono::milliseconds(999));
  open();
  EXPECT_NE(catalog_->findTable(table_), nullptr);
  EXPECT_EQ(catalog_->deleteDataset(dataset_, false).status().code(),
            absl::StatusCode::kFailedPrecondition);

  clock.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(catalog_->findTable(table_), nullptr);
  EXPECT_TRUE(catalog_->listTables(dataset_)->empty());
  EXPECT_TRUE(absl::IsNotFound(catalog_->updateTable(*made, {table_, schema(), "{}"}).status()));
  const auto anew = catalog_->createTable({table_, schema(), "{}", expiration + 1000}).value();
  EXPECT_GT(anew->id, made->id);
  EXPECT_NE(catalog_->findTable(table_), nullptr);

  // One that never expires after all.
  ASSERT_TRUE(catalog_->updateTable(*anew, {table_, schema(), "{}"}).ok());
  clock.advance(std::chrono::hours(24));
  open();
  EXPECT_EQ(catalog_->findTable(table_)->id, anew->id);

  // An expired table is no use of its dataset, and goes with it.
  const auto last = catalog_->createTable({{"p", "d", "u"}, schema(), "{}", 1}).value();
  ASSERT_TRUE(catalog_->deleteTable(table_).ok());
  const auto dropped = catalog_->deleteDataset(dataset_, false);
  ASSERT_TRUE(dropped.ok()) << dropped.status();
  ASSERT_EQ(dropped->size(), 1U);
  EXPECT_EQ(dropped->front()->id, last->id);
}

TEST_F(CatalogTest, CutsAChangeThatACrashLeftHalfWritten) {
  ASSERT_TRUE(catalog_->createDataset({dataset_}).ok());
  const auto whole = std::filesystem::file_size(journal());
  ASSERT_TRUE(catalog_->createTable({table_, schema(), "{}"}).ok());
  const auto all = std::filesystem::file_size(journal());
  for (auto size = all - 1; size > whole; size -= 7) {
    std::filesystem::resize_file(journal(), size);
    reopen();
    EXPECT_NE(catalog_->findDataset(dataset_), nullptr);
    EXPECT_EQ(catalog_->findTable(table_), nullptr);
    EXPECT_EQ(std::filesystem::file_size(journal()), whole);
    ASSERT_TRUE(catalog_->createTable({table_, schema(), "{}"}).ok());
    reopen();
    EXPECT_NE(catalog_->findTable(table_), nullptr);
  }
}

TEST_F(CatalogTest, RefusesAJournalThatIsDamagedInTheMiddle) {
  ASSERT_TRUE(catalog_->createDataset({dataset_}).ok());
  ASSERT_TRUE(catalog_->createTable({table_, schema(), "{}"}).ok());
  catalog_.reset();
  {
    std::fstream file(journal(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(20);
    file.put('#');
  }
  const auto opened = Catalog::open(directory_.path(), base::systemClock());
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(base::messageOf(opened.status())),
              HasSubstr("catalog.journal is damaged at byte 0"));
}

TEST_F(CatalogTest, CompactsAJournalThatIsMostlyHistory) {
  ASSERT_TRUE(catalog_->createDataset({dataset_}).ok());
  uint64_t lastId = 0;
  for (int i = 0; i < 600; ++i) {
    lastId = catalog_->createTable({table_, schema(), "{}"}).value()->id;
    ASSERT_TRUE(catalog_->deleteTable(table_).ok());
  }
  const auto before = std::filesystem::file_size(journal());
  reopen();
  EXPECT_LT(std::filesystem::file_size(journal()), before / 100);
  EXPECT_NE(catalog_->findDataset(dataset_), nullptr);
  EXPECT_GT(catalog_->createTable({table_, schema(), "{}"}).value()->id, lastId);
  reopen();
  EXPECT_NE(catalog_->findTable(table_), nullptr);
}

TEST_F(CatalogTest, ChangesNothingWhenTheJournalCannotBeWritten) {
  ASSERT_TRUE(catalog_->createDataset({dataset_}).ok());
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  const rlimit full{std::filesystem::file_size(journal()) + 10, RLIM_INFINITY};
  ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  const auto refused = catalog_->createTable({table_, schema(), "{}"});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(catalog_->findTable(table_), nullptr);
  ASSERT_TRUE(catalog_->createTable({table_, schema(), "{}"}).ok());
  reopen();
  EXPECT_NE(catalog_->findTable(table_), nullptr);
}

}  // namespace
}  // namespace penstock::emulator
