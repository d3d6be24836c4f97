// Protobuf messages of a compiled-in type: into rows on one core, and through the sink as a program
// uses it.

#include <fmt/format.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/measurement.h"
#include "bench/reading.pb.h"
#include "penstock/base/random.h"
#include "penstock/bigquery/bigquery_sink.h"
#include "penstock/bigquery/serializers/protobuf_message_serialization_schema.h"
#include "penstock/connector/row_batch.h"

namespace penstock::bench {
namespace {

using Mapping = std::shared_ptr<const bigquery::ProtobufMapping>;
using Serializer = bigquery::ProtobufMessageSerializationSchema<Reading>;
using Sink = bigquery::BigQuerySink<Reading>;
using Writer = connector::SinkWriter<Reading>;

constexpr base::Duration kWarmUp = std::chrono::milliseconds(300);
constexpr size_t kMessages = 10'000;
constexpr size_t kMessagesBetweenLooks = 250;  // at the clock; also the size of a batch

/// Distinct messages, the same in every run.
struct Readings {
  std::vector<Reading> messages;
  size_t bytes = 0;
};

Readings makeReadings() {
  constexpr int64_t kFirstSecond = 1'764'460'800;  // 2025-11-30
  const std::unique_ptr<base::Random> random = base::seededRandom(1);
  Readings readings;
  readings.messages.resize(kMessages);
  for (size_t index = 0; index < kMessages; ++index) {
    Reading& reading = readings.messages[index];
    reading.set_sensor(
        fmt::format("building-{:02}/{:05}", random->below(40), random->below(90'000)));
    reading.set_sequence(static_cast<int64_t>(1'000'000 + random->below(900'000'000)));
    reading.mutable_taken()->set_seconds(kFirstSecond + static_cast<int64_t>(index));
    reading.mutable_taken()->set_nanos(static_cast<int32_t>(random->below(1'000'000'000)));
    reading.set_value(random->uniform() * 100);
    reading.set_note(fmt::format("calibrated by {:06x}", random->below(1 << 24)));
    readings.bytes += reading.ByteSizeLong();
  }
  return readings;
}

bigquery::TableName benchTable() {
  return {.project = "bench", .dataset = "bench", .table = "bench"};
}

class ProtobufSerializerBenchmark final : public Benchmark {
 public:
  absl::StatusOr<Measurement> run(base::Duration duration) override {
    PENSTOCK_ASSIGN_OR_RETURN(const Mapping mapping, bigquery::ProtobufMapping::of<Reading>());
    Serializer serializer(mapping);
    PENSTOCK_RETURN_IF_ERROR(
        serializer.prepare(connector::DestinationId{}, benchTable(), &mapping->tableSchema()));
    // Two rounds: the second finds every buffer as large as it will ever be.
    PENSTOCK_RETURN_IF_ERROR(serializeAll(serializer));
    PENSTOCK_RETURN_IF_ERROR(serializeAll(serializer));
    const Meter meter;
    const base::MonotonicTime end = base::systemClock().now() + duration;
    double rounds = 0;
    do {
      PENSTOCK_RETURN_IF_ERROR(serializeAll(serializer));
      ++rounds;
    } while (base::systemClock().now() < end);
    Measurement measured = meter.finish(rounds * static_cast<double>(readings_.messages.size()),
                                        rounds * static_cast<double>(readings_.bytes));
    // What one core does, also when others want it too.
    measured.wallSeconds = measured.cpuSeconds;
    return measured;
  }

 private:
  absl::Status serializeAll(Serializer& serializer) {
    for (const Reading& reading : readings_.messages) {
      connector::RowEncoder& row = rows_.beginRow();
      PENSTOCK_RETURN_IF_ERROR(
          serializer.serialize(reading, connector::DestinationId{}, row).status());
      rows_.commitRow(connector::RowOrigin::kUnknown);
      if (rows_.rowBytes() >= static_cast<size_t>(kRequestRowBytes)) rows_.clear();
    }
    return absl::OkStatus();
  }

  const Readings readings_ = makeReadings();
  connector::RowBatch rows_;
};

class ProtobufSinkBenchmark final : public Benchmark {
 public:
  explicit ProtobufSinkBenchmark(std::string server) : server_(std::move(server)) {}

  absl::StatusOr<Measurement> run(base::Duration duration) override {
    PENSTOCK_ASSIGN_OR_RETURN(const Mapping mapping, bigquery::ProtobufMapping::of<Reading>());
    // Nothing is created, so that REST is never asked.
    PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink,
                              Sink::builder()
                                  .table(benchTable())
                                  .serializer([=] { return std::make_unique<Serializer>(mapping); })
                                  .createDisposition(bigquery::CreateDisposition::kCreateNever)
                                  .emulatorEndpoint(server_)
                                  .emulatorRestEndpoint(server_)
                                  .build());
    PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<Writer> writer, sink->createWriter({}));
    PENSTOCK_RETURN_IF_ERROR(writeFor(*writer, kWarmUp).status());
    const Meter meter;
    PENSTOCK_ASSIGN_OR_RETURN(const double rows, writeFor(*writer, duration));
    PENSTOCK_RETURN_IF_ERROR(writer->flush(/*endOfInput=*/false));
    const Measurement measured =
        meter.finish(rows, rows * static_cast<double>(readings_.bytes) / kMessages);
    PENSTOCK_RETURN_IF_ERROR(writer->close());
    return measured;
  }

 private:
  /// How many were written.
  absl::StatusOr<double> writeFor(Writer& writer, base::Duration duration) {
    const base::MonotonicTime end = base::systemClock().now() + duration;
    const std::span<const Reading> messages(readings_.messages);
    double rows = 0;
    while (base::systemClock().now() < end) {
      const auto batch = messages.subspan(next_, kMessagesBetweenLooks);
      PENSTOCK_RETURN_IF_ERROR(writer.writeBatch(batch, {}));
      next_ = (next_ + kMessagesBetweenLooks) % kMessages;
      rows += static_cast<double>(kMessagesBetweenLooks);
    }
    return rows;
  }

  const std::string server_;
  const Readings readings_ = makeReadings();
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Benchmark> protobufSerializerBenchmark() {
  return std::make_unique<ProtobufSerializerBenchmark>();
}

std::unique_ptr<Benchmark> protobufSinkBenchmark(std::string server) {
  return std::make_unique<ProtobufSinkBenchmark>(std::move(server));
}

}  // namespace penstock::bench
