#pragma once

#include <memory>

#include "apps/penstock/record_routes.h"
#include "apps/penstock/writer_sink.h"

namespace penstock::command {

/// JSON documents into the tables of their routes: whole batches of records are announced to the
/// routes' serializers, which write each row in place.
class LoadSink final : public WriterSink {
 public:
  LoadSink(std::unique_ptr<bigquery::BlockingWriter> writer, std::unique_ptr<RecordRoutes> routes,
           std::shared_ptr<RowPlaces> places);

 private:
  absl::Status writeRecords(const runtime::RecordBatch& batch, connector::RowOrigin first) override;
  absl::Status writeDefect(const runtime::RecordBatch& batch) override;
  absl::Status writeTo(const RecordRoutes::Route& route, const runtime::RecordBatch& batch,
                       size_t index, connector::RowOrigin first);

  std::unique_ptr<RecordRoutes> routes_;
};

}  // namespace penstock::command
