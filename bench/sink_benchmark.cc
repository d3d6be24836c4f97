// The sink as a program uses it: records in at the public API, acknowledged appends out.

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "bench/json_documents.h"
#include "bench/measurement.h"
#include "penstock/bigquery/bigquery_sink.h"
#include "penstock/bigquery/serializers/json_document_serialization_schema.h"
#include "penstock/bigquery/serializers/pre_serialized_rows.h"

namespace penstock::bench {
namespace {

using Sink = bigquery::BigQuerySink<std::string_view>;
using Writer = connector::SinkWriter<std::string_view>;

constexpr base::Duration kWarmUp = std::chrono::milliseconds(300);
constexpr size_t kDocuments = 20'000;
// Of distinct serialized rows: in the cache, as they are when their maker has just serialized them.
constexpr size_t kRowsBytes = size_t{256} << 10;
constexpr size_t kRowsBetweenLooks = 256;  // at the clock; also the size of a batch

/// Writes the same records round and round.
class SinkBenchmark : public Benchmark {
 public:
  SinkBenchmark(std::string server, Sink::SerializerFactory serializer, bool inBatches)
      : server_(std::move(server)), serializer_(std::move(serializer)), inBatches_(inBatches) {}

  absl::StatusOr<Measurement> run(base::Duration duration) override {
    // Nothing is created, so that REST is never asked.
    PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink,
                              Sink::builder()
                                  .table("bench.bench.bench")
                                  .serializer(serializer_)
                                  .createDisposition(bigquery::CreateDisposition::kCreateNever)
                                  .emulatorEndpoint(server_)
                                  .emulatorRestEndpoint(server_)
                                  .build());
    PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<Writer> writer, sink->createWriter({}));
    Written warmed;
    PENSTOCK_RETURN_IF_ERROR(writeFor(*writer, kWarmUp, &warmed));
    const Meter meter;
    Written written;
    PENSTOCK_RETURN_IF_ERROR(writeFor(*writer, duration, &written));
    PENSTOCK_RETURN_IF_ERROR(writer->flush(/*endOfInput=*/false));
    const Measurement measured = meter.finish(written.rows, written.bytes);
    PENSTOCK_RETURN_IF_ERROR(writer->close());
    return measured;
  }

 protected:
  std::vector<std::string_view> records_;

 private:
  struct Written {
    double rows = 0;
    double bytes = 0;
  };

  absl::Status writeFor(Writer& writer, base::Duration duration, Written* written) {
    const base::MonotonicTime end = base::systemClock().now() + duration;
    uint64_t bytes = 0;
    uint64_t rows = 0;
    while (base::systemClock().now() < end) {
      const std::span<const std::string_view> records = nextRecords();
      if (inBatches_) {
        PENSTOCK_RETURN_IF_ERROR(writer.writeBatch(records, {}));
      } else {
        for (const std::string_view record : records) {
          PENSTOCK_RETURN_IF_ERROR(writer.write(record, {}));
        }
      }
      for (const std::string_view record : records) bytes += record.size();
      rows += records.size();
    }
    written->rows = static_cast<double>(rows);
    written->bytes = static_cast<double>(bytes);
    return absl::OkStatus();
  }

  std::span<const std::string_view> nextRecords() {
    if (next_ == records_.size()) next_ = 0;
    const size_t count = std::min(kRowsBetweenLooks, records_.size() - next_);
    next_ += count;
    return std::span(records_).subspan(next_ - count, count);
  }

  const std::string server_;
  const Sink::SerializerFactory serializer_;
  const bool inBatches_;
  size_t next_ = 0;
};

bigquery::TableSchema textSchema() {
  bigquery::TableSchema schema;
  schema.columns.push_back({.name = "text", .type = bigquery::ColumnType::kString});
  return schema;
}

/// Rows of exactly `rowBytes`: one string field.
class SerializedSink final : public SinkBenchmark {
 public:
  SerializedSink(std::string server, size_t rowBytes, bool inBatches)
      : SinkBenchmark(
            std::move(server),
            [] { return std::make_unique<bigquery::PreSerializedRows>(textSchema()); }, inBatches) {
    const size_t lengthBytes = rowBytes - 2 < 0x80 ? 1 : 2;
    const size_t textBytes = rowBytes - 1 - lengthBytes;
    const size_t count = kRowsBytes / rowBytes;
    rows_.reserve(count * rowBytes);
    for (size_t index = 0; index < count; ++index) {
      rows_ += '\x0a';
      if (lengthBytes == 2) rows_ += static_cast<char>(textBytes | 0x80);
      rows_ += static_cast<char>(lengthBytes == 2 ? textBytes >> 7 : textBytes);
      rows_.append(textBytes, static_cast<char>('0' + index % 64));
    }
    for (size_t index = 0; index < count; ++index) {
      records_.push_back(std::string_view(rows_).substr(index * rowBytes, rowBytes));
    }
  }

 private:
  std::string rows_;
};

class JsonSink final : public SinkBenchmark {
 public:
  explicit JsonSink(std::string server)
      : SinkBenchmark(
            std::move(server),
            [] {
              return std::make_unique<bigquery::JsonDocumentSerializationSchema>(eventSchema());
            },
            /*inBatches=*/false),
        documents_(makeEventDocuments(kDocuments)) {
    records_ = documents_.documents;
  }

 private:
  const JsonDocuments documents_;
};

}  // namespace

std::unique_ptr<Benchmark> serializedSinkBenchmark(std::string server, size_t rowBytes,
                                                   bool inBatches) {
  return std::make_unique<SerializedSink>(std::move(server), rowBytes, inBatches);
}

std::unique_ptr<Benchmark> jsonSinkBenchmark(std::string server) {
  return std::make_unique<JsonSink>(std::move(server));
}

}  // namespace penstock::bench
