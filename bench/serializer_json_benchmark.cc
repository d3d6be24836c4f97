// JSON documents into rows, in place, on one core: no network, no sink.

#include <algorithm>
#include <span>

#include "bench/json_documents.h"
#include "bench/measurement.h"
#include "penstock/bigquery/serializers/json_document_serializer.h"
#include "penstock/connector/row_batch.h"

namespace penstock::bench {
namespace {

constexpr size_t kDocuments = 20'000;
constexpr size_t kBatch = 64;  // documents announced at a time

class JsonSerializerBenchmark final : public Benchmark {
 public:
  JsonSerializerBenchmark() : documents_(makeEventDocuments(kDocuments)) {}

  absl::StatusOr<Measurement> run(base::Duration duration) override {
    PENSTOCK_ASSIGN_OR_RETURN(const auto serializer,
                              bigquery::JsonDocumentSerializer::create(eventSchema()));
    // Two rounds: the second finds every buffer as large as it will ever be.
    PENSTOCK_RETURN_IF_ERROR(serializeAll(*serializer));
    PENSTOCK_RETURN_IF_ERROR(serializeAll(*serializer));
    const Meter meter;
    const base::MonotonicTime end = base::systemClock().now() + duration;
    double rounds = 0;
    do {
      PENSTOCK_RETURN_IF_ERROR(serializeAll(*serializer));
      ++rounds;
    } while (base::systemClock().now() < end);
    Measurement measured = meter.finish(rounds * static_cast<double>(documents_.documents.size()),
                                        rounds * static_cast<double>(documents_.bytes));
    // What one core does, also when others want it too.
    measured.wallSeconds = measured.cpuSeconds;
    return measured;
  }

 private:
  absl::Status serializeAll(bigquery::JsonDocumentSerializer& serializer) {
    const std::span<const std::string_view> documents(documents_.documents);
    for (size_t begin = 0; begin < documents.size(); begin += kBatch) {
      const auto announced = documents.subspan(begin, std::min(kBatch, documents.size() - begin));
      serializer.beginBatch(announced);
      for (size_t index = 0; index < announced.size(); ++index) {
        connector::RowEncoder& row = rows_.beginRow();
        PENSTOCK_RETURN_IF_ERROR(serializer.serializeFromBatch(index, row));
        rows_.commitRow();
      }
      if (rows_.rowBytes() >= static_cast<size_t>(kRequestRowBytes)) rows_.clear();
    }
    return absl::OkStatus();
  }

  const JsonDocuments documents_;
  connector::RowBatch rows_;
};

}  // namespace

std::unique_ptr<Benchmark> jsonSerializerBenchmark() {
  return std::make_unique<JsonSerializerBenchmark>();
}

}  // namespace penstock::bench
