#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "penstock/bigquery/sink/blocking_writer.h"
#include "penstock/bigquery/sink/testing/threaded_service.h"

// The shells around the cores with real threads: task threads that share a pool, and a service
// whose answers come on another thread. What ThreadSanitizer looks at.
namespace penstock::bigquery {
namespace {

SinkOptions smallRequests() {
  SinkOptions options;
  options.defaultStreamOptions.maxAppendRequestBytes = 512;
  options.defaultStreamOptions.maxInflightRequests = 20;
  return options;
}

SinkConnections connectionsTo(const std::shared_ptr<ThreadedService>& service) {
  SinkConnections connections;
  connections.pool = AppendPool::create(service, base::systemClock(), base::seededRandom(1));
  connections.admin = service;
  connections.clock = &base::systemClock();
  return connections;
}

DestinationSetup table(int number) {
  DestinationSetup setup;
  setup.table = {"p", "d", "t" + std::to_string(number)};
  setup.schema = TableSchema{{{"c", ColumnType::kString}}};
  return setup;
}

/// One subtask: `rows` rows to two tables, a flush every 200.
absl::Status writeRows(const SinkOptions& options, const SinkConnections& connections, int subtask,
                       int rows) {
  connector::WriterInit init;
  init.subtaskIndex = subtask;
  PENSTOCK_ASSIGN_OR_RETURN(
      auto writer, BlockingWriter::create(options, connections, init, connector::failJob()));
  std::vector<connector::DestinationId> destinations;
  for (int i = 0; i < 2; ++i) {
    PENSTOCK_ASSIGN_OR_RETURN(const connector::DestinationId id, writer->open(table(i)));
    destinations.push_back(id);
  }
  for (int i = 0; i < rows; ++i) {
    const connector::DestinationId destination = destinations[static_cast<size_t>(i) % 2];
    PENSTOCK_RETURN_IF_ERROR(writer->admit(destination));
    writer->core().beginRow(destination).append(fmt::format("row {} of subtask {}", i, subtask));
    writer->core().commitRow(connector::RowOrigin::kUnknown);
    if (i % 200 == 199) PENSTOCK_RETURN_IF_ERROR(writer->flush(false));
  }
  PENSTOCK_RETURN_IF_ERROR(writer->flush(true));
  return writer->close();
}

// BQW-003, BQW-055, BQW-058: writers of several threads share connections that break.
TEST(BlockingWriterThreads, LoseNoRowOverConnectionsThatBreak) {
  constexpr int kSubtasks = 4;
  constexpr int kRows = 2000;
  const SinkOptions options = smallRequests();
  const auto service =
      std::make_shared<ThreadedService>(ThreadedService::Behaviour{.cutEvery = 90});
  const SinkConnections connections = connectionsTo(service);

  std::vector<absl::Status> results(kSubtasks);
  std::vector<std::thread> threads;
  for (int subtask = 0; subtask < kSubtasks; ++subtask) {
    threads.emplace_back([&, subtask] {
      results[static_cast<size_t>(subtask)] = writeRows(options, connections, subtask, kRows);
    });
  }
  for (std::thread& thread : threads) thread.join();

  for (const absl::Status& result : results) EXPECT_TRUE(result.ok()) << base::describe(result);
  EXPECT_GT(service->cuts(), 1) << "nothing was tried";
  const auto rows = service->rows();
  EXPECT_EQ(rows.size(), size_t{kSubtasks} * kRows);
  EXPECT_EQ(connections.pool->inflightRequests(), 0U);
}

// cancel() comes from any thread and ends a flush that nobody answers.
TEST(BlockingWriterThreads, CancelEndsAFlushOfAServiceThatIsSilent) {
  const SinkOptions options = smallRequests();
  const auto service =
      std::make_shared<ThreadedService>(ThreadedService::Behaviour{.silent = true});
  const SinkConnections connections = connectionsTo(service);
  auto writer = BlockingWriter::create(options, connections, {}, connector::failJob());
  ASSERT_TRUE(writer.ok());
  const auto destination = (*writer)->open(table(0));
  ASSERT_TRUE(destination.ok());
  ASSERT_TRUE((*writer)->admit(*destination).ok());
  (*writer)->core().beginRow(*destination).append("a row");
  (*writer)->core().commitRow(connector::RowOrigin::kUnknown);

  absl::Status flushed;
  std::thread task([&] { flushed = (*writer)->flush(true); });
  EXPECT_TRUE(service->waitForRequests(1));
  (*writer)->cancel();
  task.join();

  EXPECT_EQ(flushed.code(), absl::StatusCode::kCancelled) << base::describe(flushed);
}

}  // namespace
}  // namespace penstock::bigquery
