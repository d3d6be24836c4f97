// The limit that the sink is measured against: requests laid out beforehand, sent as slices by the
// barest loop that gRPC allows, on one thread.

#include "bench/prepared_requests.h"

namespace penstock::bench {
namespace {

constexpr size_t kRequests = 16;  // distinct ones, 8 MiB

/// AppendRowsRequest { proto_rows { rows { serialized_rows... } } } in slices.
grpc::ByteBuffer layOut(size_t rowCount, size_t rowBytes, char fill) {
  std::string rows;
  for (size_t index = 0; index < rowCount; ++index) {
    rows += lengthDelimited(1, rowBytes);
    rows.append(rowBytes, static_cast<char>(fill + index % 64));
  }
  return requestOf(rows);
}

class WireLimit final : public Benchmark {
 public:
  WireLimit(std::string server, size_t rowBytes) : server_(std::move(server)) {
    requests_.rowsPerRequest = static_cast<size_t>(kRequestRowBytes) / rowBytes;
    requests_.rowBytesPerRequest = requests_.rowsPerRequest * rowBytes;
    for (size_t index = 0; index < kRequests; ++index) {
      requests_.others.push_back(
          layOut(requests_.rowsPerRequest, rowBytes, static_cast<char>(index)));
    }
  }

  absl::StatusOr<Measurement> run(base::Duration duration) override {
    return sendRequests(server_, requests_, duration);
  }

 private:
  const std::string server_;
  PreparedRequests requests_;
};

}  // namespace

std::unique_ptr<Benchmark> wireLimitBenchmark(std::string server, size_t rowBytes) {
  return std::make_unique<WireLimit>(std::move(server), rowBytes);
}

}  // namespace penstock::bench
