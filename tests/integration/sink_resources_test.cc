#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>

#include "penstock/base/testing/heap_in_use.h"
#include "penstock/bigquery/bigquery_sink.h"
#include "penstock/bigquery/serializers/json_document_serialization_schema.h"
#include "penstock/emulator/testing/local_emulator.h"

// What a sink takes it gives back: threads, descriptors, memory.
namespace penstock {
namespace {

using base::heapInUse;
using bigquery::BigQuerySink;
using bigquery::JsonDocumentSerializationSchema;
using bigquery::TableSchema;

size_t entriesOf(const char* folder) {
  const std::filesystem::directory_iterator entries(folder);
  return static_cast<size_t>(std::distance(begin(entries), end(entries)));
}
/// How many threads there are of each name.
std::map<std::string, size_t> threads() {
  std::map<std::string, size_t> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");  // empty if it has ended meanwhile
    if (std::string name; std::getline(file, name)) ++found[name];
  }
  return found;
}
/// gRPC's executor and timers, which the process has once: they start a thread whenever there is
/// much to do at a time, up to two a core, and keep it. How many of them run after ten sinks and
/// after a thousand is chance, and no sink's doing; that bound is what holds. The most of one name.
size_t takeGrpcsOwnOut(std::map<std::string, size_t>& threads) {
  size_t most = 0;
  for (const char* name : {"default-executo", "grpc_global_tim"}) {  // cut off at 15 characters
    const auto found = threads.find(name);
    if (found == threads.end()) continue;
    most = std::max(most, found->second);
    threads.erase(found);
  }
  return most;
}
bool areAmong(const std::map<std::string, size_t>& some, const std::map<std::string, size_t>& all) {
  return std::all_of(some.begin(), some.end(), [&all](const auto& each) {
    const auto found = all.find(each.first);
    return found != all.end() && each.second <= found->second;
  });
}
std::string text(const std::map<std::string, size_t>& threads) {
  std::string text;
  for (const auto& [name, count] : threads) text += fmt::format("{} {}; ", count, name);
  return text;
}
size_t descriptors() { return entriesOf("/proc/self/fd"); }

/// Threads and sockets leave a little after the last handle on them. Waits for `fits`, 30 s at
/// most.
template <typename Condition>
bool settles(Condition fits) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!fits()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

/// The threads that are left once none ends any more: none has for half a second.
std::map<std::string, size_t> threadsThatStay() {
  auto seen = threads();
  auto since = std::chrono::steady_clock::now();
  settles([&] {
    if (auto now = threads(); now != seen) {
      seen = std::move(now);
      since = std::chrono::steady_clock::now();
    }
    return std::chrono::steady_clock::now() - since > std::chrono::milliseconds(500);
  });
  return seen;
}

class SinkResources : public testing::Test {
 protected:
  void SetUp() override { emulator_ = emulator::startLocalEmulator(); }

  void openWriteClose(int cycle) {
    auto sink = BigQuerySink<std::string_view>::builder()
                    .emulatorEndpoint(emulator_->grpcEndpoint())
                    .emulatorRestEndpoint(emulator_->restEndpoint())
                    .table("p.d.t")
                    .serializer([] {
                      return std::make_unique<JsonDocumentSerializationSchema>(
                          TableSchema{{{"n", bigquery::ColumnType::kInt64}}});
                    })
                    .build();
    ASSERT_TRUE(sink.ok()) << base::describe(sink.status());
    auto writer = (*sink)->createWriter({});
    ASSERT_TRUE(writer.ok()) << base::describe(writer.status());
    const std::string row = fmt::format(R"({{"n":{}}})", cycle);
    ASSERT_TRUE((*writer)->write(row, {}).ok());
    // Every other one is closed with its row unsent.
    if (cycle % 2 == 0) {
      const absl::Status flushed = (*writer)->flush(true);
      ASSERT_TRUE(flushed.ok()) << base::describe(flushed);
    }
    ASSERT_TRUE((*writer)->close().ok());
  }

  std::unique_ptr<emulator::Emulator> emulator_;
};

// BQW-004, BQW-033, BQW-058
TEST_F(SinkResources, AThousandSinksLeaveNothingBehind) {
  constexpr int kWarmUp = 10;
  constexpr int kCycles = 1000;
  for (int cycle = 0; cycle < kWarmUp; ++cycle) ASSERT_NO_FATAL_FAILURE(openWriteClose(cycle));
  auto threadsBefore = threadsThatStay();
  takeGrpcsOwnOut(threadsBefore);
  const size_t descriptorsBefore = descriptors();
  const int64_t heapBefore = heapInUse();
  for (int cycle = kWarmUp; cycle < kCycles; ++cycle) {
    ASSERT_NO_FATAL_FAILURE(openWriteClose(cycle));
  }
  EXPECT_TRUE(settles([&] {
    auto now = threads();
    takeGrpcsOwnOut(now);
    return areAmong(now, threadsBefore);
  })) << text(threads())
      << "after the tenth: " << text(threadsBefore);
  auto threadsAfter = threads();
  EXPECT_LE(takeGrpcsOwnOut(threadsAfter), 2 * static_cast<size_t>(sysconf(_SC_NPROCESSORS_CONF)));
  EXPECT_TRUE(settles([&] { return descriptors() <= descriptorsBefore; }))
      << descriptors() << " descriptors, " << descriptorsBefore << " after the tenth";
  constexpr int64_t kMost = int64_t{1} << 20;
  EXPECT_TRUE(settles([&] { return heapInUse() - heapBefore <= kMost; }))
      << heapInUse() - heapBefore << " bytes more than after the tenth";
  const bigquery::ProcessBounds& bounds = *bigquery::ProcessBounds::ofProcess();
  EXPECT_EQ(bounds.buffered(), 0);
  EXPECT_EQ(bounds.sealed(), 0);
}

}  // namespace
}  // namespace penstock
