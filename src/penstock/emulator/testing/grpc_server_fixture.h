#pragma once

#include <google/cloud/bigquery/storage/v1/storage.grpc.pb.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/emulator/catalog/catalog.h"
#include "penstock/emulator/service/grpc_server.h"
#include "penstock/emulator/service/table_age.h"
#include "penstock/emulator/testing/temporary_directory.h"

namespace penstock::emulator {

namespace api = google::cloud::bigquery::storage::v1;
using google::protobuf::FieldDescriptorProto;

inline constexpr const char* kStream = "projects/p/datasets/d/tables/t/streams/_default";
inline constexpr const char* kShortStream = "projects/p/datasets/d/tables/t/_default";

/// A server over an empty data directory with the table p.d.t: name STRING, n INTEGER REQUIRED.
class GrpcServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    catalog_ = *Catalog::open(directory_.path() + "/catalog", base::systemClock());
    faults_.setTableAges(tableAgesOf(*catalog_));
    rows_ = *RowStore::open(directory_.path() + "/rows");
    ASSERT_TRUE(catalog_->createDataset({{"p", "d"}, "EU"}).ok());
    table_ = createTable("t");
    absl::StatusOr<std::unique_ptr<GrpcServer>> server =
        GrpcServer::start("127.0.0.1", 0, {*catalog_, *rows_, faults_});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    stub_ = connect();
  }

  std::shared_ptr<const Table> createTable(const std::string& name) {
    Field text;
    text.name = "name";
    Field number;
    number.name = "n";
    number.type = FieldType::kInt64;
    number.mode = FieldMode::kRequired;
    auto table = catalog_->createTable({{"p", "d", name}, Schema{{text, number}}});
    EXPECT_TRUE(table.ok()) << table.status();
    return *std::move(table);
  }

  std::unique_ptr<api::BigQueryWrite::Stub> connect() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return api::BigQueryWrite::NewStub(
        grpc::CreateCustomChannel(fmt::format("127.0.0.1:{}", server_->port()),
                                  grpc::InsecureChannelCredentials(), arguments));
  }

  static void addField(google::protobuf::DescriptorProto& descriptor, const std::string& name,
                       int number, FieldDescriptorProto::Type type) {
    FieldDescriptorProto& field = *descriptor.add_field();
    field.set_name(name);
    field.set_number(number);
    field.set_type(type);
    field.set_label(FieldDescriptorProto::LABEL_OPTIONAL);
  }

  /// A request with rows, for `stream` and with the writer's schema unless they are left out.
  static api::AppendRowsRequest request(const std::vector<std::string>& rows,
                                        const std::string& stream = kStream, bool schema = true) {
    api::AppendRowsRequest request;
    request.set_write_stream(stream);
    if (schema) {
      auto& descriptor =
          *request.mutable_proto_rows()->mutable_writer_schema()->mutable_proto_descriptor();
      descriptor.set_name("Row");
      addField(descriptor, "NAME", 1, FieldDescriptorProto::TYPE_STRING);
      addField(descriptor, "n", 2, FieldDescriptorProto::TYPE_INT64);
    }
    for (const std::string& row : rows) {
      request.mutable_proto_rows()->mutable_rows()->add_serialized_rows(row);
    }
    return request;
  }

  static std::string row(std::string_view name, char number) {
    return fmt::format("\x0A{}{}\x10{}", static_cast<char>(name.size()), name, number);
  }

  std::vector<std::string> stored(StoredTableId table) {
    std::vector<std::string> found;
    const auto count =
        rows_->read(table, 0, 1'000'000, [&](std::string_view bytes, const RowDescriptorPtr&) {
          found.emplace_back(bytes);
          return absl::OkStatus();
        });
    EXPECT_TRUE(count.ok()) << count.status();
    return found;
  }
  std::vector<std::string> stored() { return stored(table_->id); }

  const TemporaryDirectory directory_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<RowStore> rows_;
  FaultRules faults_;
  std::shared_ptr<const Table> table_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<api::BigQueryWrite::Stub> stub_;
};

/// One AppendRows call of a client.
class AppendCall {
 public:
  explicit AppendCall(api::BigQueryWrite::Stub& stub,
                      std::chrono::milliseconds deadline = std::chrono::seconds(20)) {
    context_.set_deadline(std::chrono::system_clock::now() + deadline);
    stream_ = stub.AppendRows(&context_);
  }

  /// Sends a request and waits for its answer; fails the test when the call ends instead.
  api::AppendRowsResponse append(const api::AppendRowsRequest& request) {
    EXPECT_TRUE(stream_->Write(request));
    api::AppendRowsResponse response;
    EXPECT_TRUE(stream_->Read(&response)) << stream_->Finish().error_message();
    return response;
  }
  bool send(const api::AppendRowsRequest& request) { return stream_->Write(request); }
  bool receive(api::AppendRowsResponse& response) { return stream_->Read(&response); }
  void cancel() { context_.TryCancel(); }

  grpc::Status finish() {
    stream_->WritesDone();
    return stream_->Finish();
  }
  /// Sends a request that the server ends the call for.
  grpc::Status endedBy(const api::AppendRowsRequest& request) {
    stream_->Write(request);
    api::AppendRowsResponse response;
    EXPECT_FALSE(stream_->Read(&response)) << response.ShortDebugString();
    return stream_->Finish();
  }
  [[nodiscard]] std::string header(const std::string& name) const {
    const auto& metadata = context_.GetServerInitialMetadata();
    const auto found = metadata.find(name);
    return found == metadata.end() ? "" : std::string(found->second.data(), found->second.size());
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<api::AppendRowsRequest, api::AppendRowsResponse>>
      stream_;
};

}  // namespace penstock::emulator
