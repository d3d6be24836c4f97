#include "penstock/emulator/emulator.h"

#include <gmock/gmock.h>
#include <google/cloud/bigquery/storage/v1/storage.grpc.pb.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "penstock/base/sanitizers.h"
#include "penstock/emulator/storage/segment.h"
#include "penstock/emulator/testing/local_emulator.h"
#include "penstock/emulator/testing/temporary_directory.h"

namespace penstock::emulator {
namespace {

namespace api = google::cloud::bigquery::storage::v1;
using nlohmann::json;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;

#if PENSTOCK_ADDRESS_SANITIZER || PENSTOCK_THREAD_SANITIZER
constexpr bool kSanitized = true;  // memory and time are not ours then
#else
constexpr bool kSanitized = false;
#endif

constexpr const char* kTablePath = "/bigquery/v2/projects/p/datasets/d/tables/t";

json call(int port, const std::string& method, const std::string& path, const json& body = {}) {
  httplib::Client client("127.0.0.1", port);
  client.set_read_timeout(20);
  const httplib::Result result =
      method == "POST" ? client.Post(path, body.dump(), "application/json") : client.Get(path);
  EXPECT_TRUE(result) << httplib::to_string(result.error());
  if (!result) return {};
  EXPECT_TRUE(result->has_header("X-Penstock-Emulator"));
  json answer = json::parse(result->body, nullptr, false);
  if (answer.is_object()) answer["httpCode"] = result->status;
  return answer;
}

void createTable(int restPort) {
  const json created =
      call(restPort, "POST", "/bigquery/v2/projects/p/datasets/d/tables",
           {{"tableReference", {{"projectId", "p"}, {"datasetId", "d"}, {"tableId", "t"}}},
            {"schema", {{"fields", {{{"name", "text"}, {"type", "STRING"}}}}}}});
  ASSERT_EQ(created["httpCode"], 200) << created;
}

/// A client with one AppendRows call on the table's default stream.
class Writer {
 public:
  explicit Writer(int grpcPort) {
    channel_ = grpc::CreateChannel(fmt::format("127.0.0.1:{}", grpcPort),
                                   grpc::InsecureChannelCredentials());
    stub_ = api::BigQueryWrite::NewStub(channel_);
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    stream_ = stub_->AppendRows(&context_);
  }

  bool send(const std::vector<std::string>& texts) {
    api::AppendRowsRequest request;
    request.set_write_stream("projects/p/datasets/d/tables/t/streams/_default");
    auto& descriptor =
        *request.mutable_proto_rows()->mutable_writer_schema()->mutable_proto_descriptor();
    descriptor.set_name("Row");
    auto& field = *descriptor.add_field();
    field.set_name("text");
    field.set_number(1);
    field.set_type(google::protobuf::FieldDescriptorProto::TYPE_STRING);
    field.set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
    for (const std::string& text : texts) {
      std::string length(1, static_cast<char>(text.size() & 0x7F));
      if (text.size() > 127) {
        length[0] = static_cast<char>(length[0] | 0x80);
        length += static_cast<char>(text.size() >> 7);
      }
      request.mutable_proto_rows()->mutable_rows()->add_serialized_rows("\x0A" + length + text);
    }
    return stream_->Write(request);
  }
  bool acknowledged() {
    api::AppendRowsResponse response;
    return stream_->Read(&response) && response.has_append_result();
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<api::BigQueryWrite::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<api::AppendRowsRequest, api::AppendRowsResponse>>
      stream_;
};

constexpr const char* kDirectoryVariable = "PENSTOCK_TEST_EMULATOR_DIRECTORY";
constexpr const char* kPipeVariable = "PENSTOCK_TEST_EMULATOR_PIPE";

/// Not a test: what EmulatorProcess runs in a process of its own.
TEST(EmulatorProcessBody, DISABLED_Serve) {
  const char* directory = std::getenv(kDirectoryVariable);
  const char* pipe = std::getenv(kPipeVariable);
  ASSERT_TRUE(directory != nullptr && pipe != nullptr);
  const auto emulator = startLocalEmulator(localEmulatorOptions(directory));
  const EmulatorPorts ports = emulator->ports();
  ASSERT_EQ(::write(std::atoi(pipe), &ports, sizeof ports), ssize_t{sizeof ports});
  ::pause();
}

/// An emulator in another process, killed with the object.
class EmulatorProcess {
 public:
  explicit EmulatorProcess(const std::string& directory) {
    std::array<int, 2> pipe{};
    EXPECT_EQ(::pipe(pipe.data()), 0);
    ::setenv(kDirectoryVariable, directory.c_str(), 1);
    ::setenv(kPipeVariable, std::to_string(pipe[1]).c_str(), 1);
    std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    std::string filter = "--gtest_filter=EmulatorProcessBody.DISABLED_Serve";
    std::string disabled = "--gtest_also_run_disabled_tests";
    std::string brief = "--gtest_brief=1";
    std::array<char*, 5> arguments{program.data(), filter.data(), disabled.data(), brief.data(),
                                   nullptr};
    EXPECT_EQ(
        ::posix_spawn(&process_, program.c_str(), nullptr, nullptr, arguments.data(), environ), 0);
    ::close(pipe[1]);
    // Ends early when the process does.
    EXPECT_EQ(::read(pipe[0], &ports_, sizeof ports_), ssize_t{sizeof ports_});
    ::close(pipe[0]);
  }
  ~EmulatorProcess() { kill(); }
  EmulatorProcess(const EmulatorProcess&) = delete;
  EmulatorProcess& operator=(const EmulatorProcess&) = delete;

  [[nodiscard]] const EmulatorPorts& ports() const { return ports_; }
  [[nodiscard]] pid_t process() const { return process_; }
  void kill() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  [[nodiscard]] uint64_t residentBytes() const {
    std::ifstream statm(fmt::format("/proc/{}/statm", process_));
    uint64_t total = 0;
    uint64_t resident = 0;
    statm >> total >> resident;
    return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  }

 private:
  pid_t process_ = 0;
  EmulatorPorts ports_;
};

TEST(Emulator, TakesRowsOverGrpcAndShowsThemOverRest) {
  const auto emulator = startLocalEmulator();
  createTable(emulator->ports().rest);
  Writer writer(emulator->ports().grpc);
  ASSERT_TRUE(writer.send({"first", "second"}));
  ASSERT_TRUE(writer.acknowledged());

  const json data = call(emulator->ports().rest, "GET", std::string(kTablePath) + "/data");
  EXPECT_EQ(data["totalRows"], "2");
  EXPECT_EQ(data["rows"][0]["f"][0]["v"], "first");
  EXPECT_EQ(data["rows"][1]["f"][0]["v"], "second");
  const json table = call(emulator->ports().rest, "GET", kTablePath);
  EXPECT_EQ(table["numRows"], "2");
  EXPECT_EQ(emulator->rowCount("p.d.t").value_or(0), 2U);
  EXPECT_EQ(emulator->rowCount("p.d.none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(emulator->rowCount("t").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Emulator, HasDatasetsTablesAndRowsAfterARestart) {
  const TemporaryDirectory directory;
  {
    const auto emulator = startLocalEmulator(localEmulatorOptions(directory.path()));
    createTable(emulator->ports().rest);
    Writer writer(emulator->ports().grpc);
    ASSERT_TRUE(writer.send({"kept"}));
    ASSERT_TRUE(writer.acknowledged());
  }
  const auto emulator = startLocalEmulator(localEmulatorOptions(directory.path()));
  const json data = call(emulator->ports().rest, "GET", std::string(kTablePath) + "/data");
  EXPECT_EQ(data["totalRows"], "1");
  EXPECT_EQ(data["rows"][0]["f"][0]["v"], "kept");
}

TEST(Emulator, KnowsADatasetOnlyOnceItIsMade) {
  const auto emulator = startLocalEmulator();
  EXPECT_EQ(call(emulator->ports().rest, "GET", "/bigquery/v2/projects/p/datasets/d")["location"],
            "US");
  EXPECT_EQ(call(emulator->ports().rest, "GET", "/bigquery/v2/projects/p/datasets/e")["httpCode"],
            404);
  EXPECT_TRUE(emulator->createDataset("p.e").ok());
  EXPECT_TRUE(emulator->createDataset("p.e").ok());
  EXPECT_EQ(call(emulator->ports().rest, "GET", "/bigquery/v2/projects/p/datasets/e")["httpCode"],
            200);
  EXPECT_EQ(emulator->createDataset("nodot").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(emulator->createDataset("p.with-dash").code(), absl::StatusCode::kInvalidArgument);
}

TEST(Emulator, ShowsItsDefaultLocationAsTheServiceSpellsIt) {
  EmulatorOptions options = localEmulatorOptions();
  options.defaultLocation = "Europe-West1";
  const auto emulator = startLocalEmulator(options);
  const int port = emulator->ports().rest;
  EXPECT_EQ(call(port, "GET", "/bigquery/v2/projects/p/datasets/d")["location"], "europe-west1");
  const json made = call(port, "POST", "/bigquery/v2/projects/p/datasets",
                         {{"datasetReference", {{"datasetId", "made"}}}});
  EXPECT_EQ(made["location"], "europe-west1");

  options.defaultLocation = "over there";
  const absl::Status status = Emulator::start(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("defaultLocation 'over there'"));
}

TEST(Emulator, NamesTheOptionAndThePortThatIsTaken) {
  const auto first = startLocalEmulator();
  EmulatorOptions options = localEmulatorOptions();
  options.grpcPort = first->ports().grpc;
  absl::Status status = Emulator::start(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("grpcPort"), HasSubstr(std::to_string(first->ports().grpc))));

  options = localEmulatorOptions();
  options.restPort = first->ports().rest;
  status = Emulator::start(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("restPort"), HasSubstr(std::to_string(first->ports().rest))));

  options.restPort = 70000;
  EXPECT_EQ(Emulator::start(options).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Emulator, LocksItsDataDirectoryAgainstASecondOne) {
  const TemporaryDirectory directory;
  auto first = startLocalEmulator(localEmulatorOptions(directory.path()));
  const absl::Status status = Emulator::start(localEmulatorOptions(directory.path())).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(directory.path()), HasSubstr(std::to_string(::getpid()))));
  first.reset();
  EXPECT_TRUE(Emulator::start(localEmulatorOptions(directory.path())).ok());
}

TEST(Emulator, StopsWithCallsUnderWayAndMayBeStoppedTwice) {
  const auto emulator = startLocalEmulator();
  createTable(emulator->ports().rest);
  Writer writer(emulator->ports().grpc);
  ASSERT_TRUE(writer.send({"a"}));
  ASSERT_TRUE(writer.acknowledged());
  emulator->stop();
  EXPECT_FALSE(writer.acknowledged());
  emulator->stop();
}

TEST(Emulator, KeepsEveryAcknowledgedAppendThroughAKill) {
  const TemporaryDirectory parent;
  const std::string directory = parent.path() + "/data";
  size_t acknowledged = 0;
  for (int round = 0; round < 4; ++round) {
    EmulatorProcess process(directory);
    if (round == 0) createTable(process.ports().rest);
    Writer writer(process.ports().grpc);
    const std::string filler(2000, 'x');
    size_t sent = acknowledged;
    for (int index = 0; index < 40; ++index) {
      ASSERT_TRUE(writer.send({std::to_string(sent), filler}));
      ++sent;
    }
    const size_t goal = acknowledged + 10;
    while (acknowledged < goal && writer.acknowledged()) ++acknowledged;
    process.kill();
    while (writer.acknowledged()) ++acknowledged;

    const auto emulator = startLocalEmulator(localEmulatorOptions(directory));
    const json table = call(emulator->ports().rest, "GET", kTablePath);
    const size_t rows = std::stoul(table["numRows"].get<std::string>());
    ASSERT_EQ(rows % 2, 0u);
    ASSERT_GE(rows, 2 * acknowledged);
    ASSERT_LE(rows, 2 * sent);
    acknowledged = rows / 2;
    const json data = call(emulator->ports().rest, "GET",
                           fmt::format("{}/data?startIndex={}&maxResults=2", kTablePath, rows - 2));
    EXPECT_EQ(data["rows"][0]["f"][0]["v"].get<std::string>().find_first_not_of("0123456789"),
              std::string::npos);
    EXPECT_EQ(data["rows"][1]["f"][0]["v"], filler);
  }
}

TEST(Emulator, IdlesUnderThirtyMegabytesAndListensInTimeWithFiveGigabytesStored) {
  const TemporaryDirectory parent;
  const std::string directory = parent.path() + "/data";
  {
    const auto emulator = startLocalEmulator(localEmulatorOptions(directory));
    createTable(emulator->ports().rest);
    Writer writer(emulator->ports().grpc);
    ASSERT_TRUE(writer.send({"row"}));
    ASSERT_TRUE(writer.acknowledged());
  }
  // The table's id is the only folder; its rows are followed by sparse segments.
  const std::filesystem::path folder =
      std::filesystem::directory_iterator(directory + "/rows/tables")->path();
  constexpr uint64_t kSegmentBytes = 64ull << 20;
  constexpr uint64_t kRows = 500'000;
  for (uint64_t index = 0; index < 80; ++index) {
    const uint64_t first = 1 + index * kRows;
    const std::filesystem::path segment = folder / segmentName(first);
    std::ofstream(segment) << encode(SegmentStart{first, first * 100});
    std::filesystem::resize_file(segment, kSegmentBytes);
    std::ofstream(folder / indexName(first))
        << encode(SegmentPosition{kSegmentBytes, kRows, kRows * 100});
  }
  auto fastest = steady_clock::duration::max();
  // A busy machine may need a few attempts: what counts is what the emulator itself takes.
  for (int attempt = 0; attempt < 20 && fastest >= std::chrono::milliseconds(100); ++attempt) {
    const auto begin = steady_clock::now();
    const auto emulator = startLocalEmulator(localEmulatorOptions(directory));
    EXPECT_EQ(call(emulator->ports().rest, "GET", kTablePath)["numRows"],
              std::to_string(1 + 80 * kRows));
    fastest = std::min(fastest, steady_clock::now() - begin);
  }
  if (!kSanitized) {
    EXPECT_LT(fastest, std::chrono::milliseconds(100));
  }

  const EmulatorProcess process(directory);
  EXPECT_EQ(call(process.ports().rest, "GET", kTablePath)["httpCode"], 200);
  if (!kSanitized) {
    EXPECT_LT(process.residentBytes(), 30ull << 20);
  }
}

}  // namespace
}  // namespace penstock::emulator
