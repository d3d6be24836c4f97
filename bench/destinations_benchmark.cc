// Records spread over many tables through the public sink API, and the same records to one table.

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "bench/json_documents.h"
#include "bench/measurement.h"
#include "penstock/bigquery/bigquery_sink.h"
#include "penstock/bigquery/serializers/json_document_serialization_schema.h"

namespace penstock::bench {
namespace {

using Sink = bigquery::BigQuerySink<std::string_view>;
using Writer = connector::SinkWriter<std::string_view>;
using Resolver = connector::DestinationResolver<std::string_view, bigquery::TableName>;

constexpr size_t kDocuments = 20'000;
constexpr size_t kTables = 10'000;
constexpr size_t kChoices = size_t{1} << 20;
// Beyond maxBufferedBytes more than twice: from there on it is the bound that sends.
constexpr uint64_t kWarmUpBytes = uint64_t{300} << 20;
constexpr size_t kRowsBetweenLooks = 256;  // at the clock

/// Which table each record goes to, round and round.
std::vector<uint16_t> makeChoices(TableChoice choice) {
  std::vector<uint16_t> choices(kChoices);
  if (choice == TableChoice::kRoundRobin) {
    for (size_t index = 0; index < kChoices; ++index) {
      choices[index] = static_cast<uint16_t>(index % kTables);
    }
    return choices;
  }
  // Zipf with exponent 1: the nth table is chosen 1/n as often as the first.
  std::vector<double> upTo(kTables);
  double sum = 0;
  for (size_t table = 0; table < kTables; ++table) {
    sum += 1 / static_cast<double>(table + 1);
    upTo[table] = sum;
  }
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, sum);
  for (uint16_t& table : choices) {
    table = static_cast<uint16_t>(std::lower_bound(upTo.begin(), upTo.end() - 1, uniform(random)) -
                                  upTo.begin());
  }
  return choices;
}

class ChosenTables final : public Resolver {
 public:
  ChosenTables(const std::vector<bigquery::TableName>& tables, const std::vector<uint16_t>& choices)
      : tables_(tables), choices_(choices) {}

  absl::StatusOr<connector::Resolution<bigquery::TableName>> resolve(
      const std::string_view& /*record*/, const connector::WriteContext& /*context*/) override {
    const size_t choice = choices_[next_++ % kChoices];
    return connector::Resolution<bigquery::TableName>(&tables_[choice % tables_.size()]);
  }

 private:
  const std::vector<bigquery::TableName>& tables_;
  const std::vector<uint16_t>& choices_;
  size_t next_ = 0;
};

uint64_t answersOf(const bigquery::SinkConnections& connections) {
  uint64_t answers = 0;
  for (const auto& connection : connections.pool->statistics().connections) {
    answers += connection.answers;
  }
  return answers;
}

class TablesBenchmark final : public Benchmark {
 public:
  TablesBenchmark(std::string server, size_t tables, TableChoice choice,
                  std::shared_ptr<RequestSize> requests, bool followsRequests)
      : server_(std::move(server)),
        documents_(makeEventDocuments(kDocuments)),
        choices_(makeChoices(choice)),
        choice_(choice),
        requests_(std::move(requests)),
        followsRequests_(followsRequests) {
    for (size_t table = 0; table < tables; ++table) {
      tables_.push_back({"bench", "bench", fmt::format("events_{}", table)});
    }
  }

  absl::StatusOr<Measurement> run(base::Duration duration) override {
    bigquery::SinkOptions options;
    options.createDisposition = bigquery::CreateDisposition::kCreateNever;
    PENSTOCK_ASSIGN_OR_RETURN(options.emulatorEndpoint, base::parseEndpoint("server", server_));
    options.emulatorRestEndpoint = options.emulatorEndpoint;
    if (followsRequests_) {
      // Limit and many tables take turns, the limit first: what the tables reach is learned once.
      if (requests_->rowBytes == 0) {
        PENSTOCK_RETURN_IF_ERROR(
            TablesBenchmark(server_, kTables, choice_, requests_, false).run(duration).status());
      }
      options.defaultStreamOptions.maxAppendRequestBytes =
          static_cast<int64_t>(requests_->rowBytes);
    }
    PENSTOCK_ASSIGN_OR_RETURN(const bigquery::SinkConnections connections,
                              bigquery::connectSink(options));
    PENSTOCK_ASSIGN_OR_RETURN(
        const std::unique_ptr<Sink> sink,
        Sink::builder()
            .destinationResolver(
                [this] { return std::make_unique<ChosenTables>(tables_, choices_); })
            .serializer([] {
              return std::make_unique<bigquery::JsonDocumentSerializationSchema>(eventSchema());
            })
            .options(options)
            .connections(connections)
            .build());
    const auto metrics = std::make_shared<base::MetricGroup>();
    PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<Writer> writer,
                              sink->createWriter({.metrics = metrics}));
    while (bytes_ < kWarmUpBytes) PENSTOCK_RETURN_IF_ERROR(writeSome(*writer));
    bytes_ = rows_ = 0;
    const uint64_t answersBefore = answersOf(connections);
    const uint64_t bytesBefore = metrics->counter("numBytesSend").value();
    const Meter meter;
    const base::MonotonicTime end = base::systemClock().now() + duration;
    while (base::systemClock().now() < end) PENSTOCK_RETURN_IF_ERROR(writeSome(*writer));
    // No flush: the last batches of all tables are not what the bound has made of them.
    Measurement measured = meter.finish(static_cast<double>(rows_), static_cast<double>(bytes_));
    measured.requestBytes =
        static_cast<double>(metrics->counter("numBytesSend").value() - bytesBefore) /
        static_cast<double>(std::max<uint64_t>(answersOf(connections) - answersBefore, 1));
    if (!followsRequests_) requests_->rowBytes = measured.requestBytes;
    bytes_ = rows_ = 0;
    PENSTOCK_RETURN_IF_ERROR(writer->close());
    return measured;
  }

 private:
  absl::Status writeSome(Writer& writer) {
    for (size_t row = 0; row < kRowsBetweenLooks; ++row) {
      const std::string_view record = documents_.documents[next_++ % kDocuments];
      PENSTOCK_RETURN_IF_ERROR(writer.write(record, {}));
      bytes_ += record.size();
    }
    rows_ += kRowsBetweenLooks;
    return absl::OkStatus();
  }

  const std::string server_;
  const JsonDocuments documents_;
  const std::vector<uint16_t> choices_;
  const TableChoice choice_;
  const std::shared_ptr<RequestSize> requests_;
  const bool followsRequests_;
  std::vector<bigquery::TableName> tables_;
  size_t next_ = 0;
  uint64_t rows_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<Benchmark> manyTablesBenchmark(std::string server, TableChoice choice,
                                               std::shared_ptr<RequestSize> requests) {
  return std::make_unique<TablesBenchmark>(std::move(server), kTables, choice, std::move(requests),
                                           false);
}

std::unique_ptr<Benchmark> oneTableBenchmark(std::string server, TableChoice choice,
                                             std::shared_ptr<RequestSize> requests) {
  const bool follows = requests != nullptr;
  if (!follows) requests = std::make_shared<RequestSize>();
  return std::make_unique<TablesBenchmark>(std::move(server), 1, choice, std::move(requests),
                                           follows);
}

}  // namespace penstock::bench
