#include <gmock/gmock.h>

#include <stdexcept>
#include <thread>

#include "penstock/bigquery/bigquery_sink.h"
#include "penstock/bigquery/schema/row_descriptor.h"
#include "penstock/bigquery/schema/schema_proto.h"
#include "penstock/bigquery/serializers/json_document_serialization_schema.h"
#include "penstock/bigquery/sink/testing/rows_and_columns.h"
#include "penstock/bigquery/sink/testing/threaded_service.h"

namespace penstock::bigquery {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Sink = BigQuerySink<std::string_view>;

/// A serializer whose columns change when the test says so; rows are the columns' number.
class ChangingSerializer final : public BigQueryProtoSerializationSchema<std::string_view> {
 public:
  explicit ChangingSerializer(const std::vector<std::string>& names) : names_(names) {}
  absl::StatusOr<std::optional<TableSchema>> tableSchema(const TableName&) override {
    return columns(names_);
  }
  std::optional<uint64_t> schemaFingerprint(const TableName&) override { return names_.size(); }
  absl::Status prepare(connector::DestinationId, const TableName&,
                       const TableSchema* columns) override {
    prepared_ = std::to_string(columns->columns.size());
    return absl::OkStatus();
  }
  absl::StatusOr<Serialized> serialize(const std::string_view& record, connector::DestinationId,
                                       connector::RowEncoder& row) override {
    row.append(prepared_);
    row.append(record);
    return Serialized::kRow;
  }

 private:
  const std::vector<std::string>& names_;
  std::string prepared_;
};

class BigQuerySinkSchemaTest : public testing::Test {
 protected:
  Sink::Builder builder(ThreadedService::Behaviour behaviour) {
    service_ = std::make_shared<ThreadedService>(std::move(behaviour));
    SinkConnections connections;
    connections.pool = AppendPool::create(service_, base::systemClock(), base::seededRandom(1));
    connections.admin = service_;
    connections.clock = &base::systemClock();
    return Sink::builder().connections(connections).table("p.d.t");
  }
  static std::unique_ptr<connector::SinkWriter<std::string_view>> open(Sink::Builder& from) {
    auto sink = from.build();
    EXPECT_TRUE(sink.ok()) << base::describe(sink.status());
    auto writer = (*sink)->createWriter({});
    EXPECT_TRUE(writer.ok()) << base::describe(writer.status());
    return *std::move(writer);
  }
  [[nodiscard]] bool hasSchema(size_t request, const TableSchema& schema) const {
    return service_->headers().at(request).find(*rowDescriptor(schema)) != std::string::npos;
  }

  std::shared_ptr<ThreadedService> service_;
};

// BQW-164, BQW-166: JSON documents by a table's own columns, one of which is added meanwhile.
TEST_F(BigQuerySinkSchemaTest, JsonDocumentsUseAColumnAddedFromOutside) {
  Sink::Builder sink =
      builder({.schema = columns({"a"}),
               .updatedSchema = schemaToProto(columns({"a", "b"})).SerializeAsString()});
  sink.serializer([] { return std::make_unique<JsonDocumentSerializationSchema>(); });
  const auto writer = open(sink);
  ASSERT_TRUE(writer->write(R"({"a": "1"})", {}).ok());
  ASSERT_TRUE(writer->flush(false).ok());
  ASSERT_TRUE(writer->write(R"({"a": "2", "b": "3"})", {}).ok()) << "b is known";
  ASSERT_TRUE(writer->flush(true).ok());
  EXPECT_TRUE(hasSchema(0, columns({"a"})));
  EXPECT_TRUE(hasSchema(1, columns({"a", "b"})));
}

// BQW-025, BQW-163: a serializer whose columns change while it runs; rows before keep theirs.
TEST_F(BigQuerySinkSchemaTest, AChangedFingerprintIsFollowed) {
  std::vector<std::string> names = {"a"};
  Sink::Builder sink = builder({});
  sink.serializer([&names] { return std::make_unique<ChangingSerializer>(names); });
  const auto writer = open(sink);
  ASSERT_TRUE(writer->write("x", {}).ok());
  ASSERT_TRUE(writer->write("y", {}).ok());
  names.emplace_back("b");
  ASSERT_TRUE(writer->write("z", {}).ok());
  ASSERT_TRUE(writer->flush(true).ok());
  EXPECT_THAT(service_->rows(),
              testing::UnorderedElementsAre(testing::Pair("1x", 1), testing::Pair("1y", 1),
                                            testing::Pair("2z", 1)));
  EXPECT_TRUE(hasSchema(0, columns({"a"})));
  EXPECT_TRUE(hasSchema(1, columns({"a", "b"})));
}

// BQW-025: in batches as well.
TEST_F(BigQuerySinkSchemaTest, AChangedFingerprintIsFollowedInBatches) {
  std::vector<std::string> names = {"a"};
  Sink::Builder sink = builder({});
  sink.serializer([&names] { return std::make_unique<ChangingSerializer>(names); });
  const auto writer = open(sink);
  const std::vector<std::string_view> records = {"x", "y"};
  ASSERT_TRUE(writer->writeBatch(records, {}).ok());
  names.emplace_back("b");
  ASSERT_TRUE(writer->writeBatch(records, {}).ok());
  ASSERT_TRUE(writer->flush(true).ok());
  EXPECT_EQ(service_->rows().size(), 4U);
}

TEST_F(BigQuerySinkSchemaTest, ChangedColumnsThatCannotBeLaidOutFailTheWrite) {
  std::vector<std::string> names = {"a"};
  Sink::Builder sink = builder({});
  sink.serializer([&names] { return std::make_unique<ChangingSerializer>(names); });
  const auto writer = open(sink);
  ASSERT_TRUE(writer->write("x", {}).ok());
  names.emplace_back("A");
  EXPECT_THAT(std::string(base::messageOf(writer->write("y", {}))), HasSubstr("p.d.t"));
}

// --- what tables are created with

// BASE-015: on the task thread, though the refusal came on another.
TEST_F(BigQuerySinkSchemaTest, AProviderSaysWhatEachTableIsCreatedWith) {
  Sink::Builder sink = builder({.tablesMissing = true});
  std::vector<std::string> asked;
  sink.serializer([] {
        return std::make_unique<JsonDocumentSerializationSchema>(columns({"a", "b"}));
      })
      .tableCreateOptionsProvider(
          [&asked, me = std::this_thread::get_id()](const TableName& table) {
            EXPECT_EQ(std::this_thread::get_id(), me);
            asked.push_back(table.dotted());
            TableCreateOptions options;
            options.clusteredFields = {"b"};
            return options;
          });
  const auto writer = open(sink);
  ASSERT_TRUE(writer->write(R"({"a": "1"})", {}).ok());
  EXPECT_TRUE(asked.empty()) << "only when a table is created";
  ASSERT_TRUE(writer->flush(true).ok());
  EXPECT_THAT(asked, ElementsAre("p.d.t"));
  ASSERT_EQ(service_->createdWith().size(), 1U);
  EXPECT_THAT(service_->createdWith()[0].clusteredFields, ElementsAre("b"));
}

TEST_F(BigQuerySinkSchemaTest, AProvidersErrorOrExceptionFailsTheJobNamingTheTable) {
  for (const bool throws : {false, true}) {
    Sink::Builder sink = builder({.tablesMissing = true});
    sink.serializer(
            [] { return std::make_unique<JsonDocumentSerializationSchema>(columns({"a"})); })
        .tableCreateOptionsProvider([=](const TableName&) -> absl::StatusOr<TableCreateOptions> {
          if (throws) throw std::runtime_error("no contract");
          return absl::NotFoundError("no contract");
        });
    const auto writer = open(sink);
    ASSERT_TRUE(writer->write(R"({"a": "1"})", {}).ok());
    const std::string why(base::messageOf(writer->flush(true)));
    EXPECT_THAT(why, HasSubstr("no contract"));
    EXPECT_THAT(why, HasSubstr("p.d.t"));
    EXPECT_TRUE(service_->createdWith().empty());
  }
}

TEST_F(BigQuerySinkSchemaTest, TheLastOfOptionsAndProviderWins) {
  TableCreateOptions fixed;
  fixed.clusteredFields = {"a"};
  const auto provider = [](const TableName&) {
    TableCreateOptions options;
    options.clusteredFields = {"b"};
    return options;
  };
  for (const bool providerLast : {true, false}) {
    Sink::Builder sink = builder({.tablesMissing = true});
    sink.serializer([] {
      return std::make_unique<JsonDocumentSerializationSchema>(columns({"a", "b"}));
    });
    if (providerLast) {
      sink.tableCreateOptions(fixed).tableCreateOptionsProvider(provider);
    } else {
      sink.tableCreateOptionsProvider(provider).tableCreateOptions(fixed);
    }
    const auto writer = open(sink);
    ASSERT_TRUE(writer->write(R"({"a": "1"})", {}).ok());
    ASSERT_TRUE(writer->flush(true).ok());
    EXPECT_THAT(service_->createdWith().at(0).clusteredFields,
                ElementsAre(providerLast ? "b" : "a"));
  }
  EXPECT_THAT(std::string(base::messageOf(
                  Sink::builder().tableCreateOptionsProvider(nullptr).build().status())),
              HasSubstr("tableCreateOptionsProvider"));
}

// BASE-024, BASE-026: what is not acknowledged is dropped at once, whatever the service does.
TEST_F(BigQuerySinkSchemaTest, CloseWaitsForNobody) {
  Sink::Builder sink = builder({.silent = true});
  DefaultStreamOptions options;
  options.maxAppendRequestBytes = 1;  // an append a row
  sink.serializer([] { return std::make_unique<JsonDocumentSerializationSchema>(columns({"a"})); })
      .defaultStreamOptions(options)
      .location("us");
  const auto writer = open(sink);
  ASSERT_TRUE(writer->write(R"({"a": "1"})", {}).ok());
  ASSERT_TRUE(writer->write(R"({"a": "2"})", {}).ok());
  ASSERT_TRUE(service_->waitForRequests(1)) << "one is on its way and stays unanswered";
  EXPECT_TRUE(writer->close().ok());
  EXPECT_TRUE(service_->rows().empty());
}

// BQW-194
TEST_F(BigQuerySinkSchemaTest, MissingValuesAreTheBuildersToSay) {
  Sink::Builder sink = builder({});
  sink.serializer([] { return std::make_unique<JsonDocumentSerializationSchema>(columns({"a"})); })
      .defaultMissingValueInterpretation(MissingValueInterpretation::kDefaultValue)
      .missingValueInterpretations({"a=NULL_VALUE"});
  const auto writer = open(sink);
  EXPECT_EQ(base::describe(writer->write(R"({"a": "1"})", {})), "OK");
  ASSERT_TRUE(writer->flush(true).ok());
  EXPECT_NE(service_->headers().at(0).find("\x40\x02"), std::string::npos);
  Sink::Builder wrong = builder({});
  wrong.serializer([] { return std::make_unique<JsonDocumentSerializationSchema>(); })
      .missingValueInterpretations({"a=?"});
  EXPECT_THAT(std::string(base::messageOf(wrong.build().status())),
              HasSubstr("missingValueInterpretations"));
}

}  // namespace
}  // namespace penstock::bigquery
