#include "apps/penstock/load_sink.h"

#include <utility>

namespace penstock::command {

using connector::Unroutable;
using runtime::RecordBatch;

LoadSink::LoadSink(std::unique_ptr<bigquery::BlockingWriter> writer,
                   std::unique_ptr<RecordRoutes> routes, std::shared_ptr<RowPlaces> places)
    : WriterSink(std::move(writer), std::move(places)), routes_(std::move(routes)) {}

absl::Status LoadSink::writeRecords(const RecordBatch& batch, connector::RowOrigin first) {
  routes_->beginBatch(batch.records);
  if (const RecordRoutes::Route* route = routes_->fixed()) {
    for (size_t index = 0; index < batch.records.size(); ++index) {
      PENSTOCK_RETURN_IF_ERROR(writeTo(*route, batch, index, first));
    }
    return absl::OkStatus();
  }
  for (size_t index = 0; index < batch.records.size(); ++index) {
    PENSTOCK_ASSIGN_OR_RETURN(const auto route, routes_->of(batch, index));
    if (const auto* verdict = std::get_if<Unroutable>(&route)) {
      PENSTOCK_RETURN_IF_ERROR(writer().failUnroutable(*verdict, batch.origin(index)));
    } else {
      PENSTOCK_RETURN_IF_ERROR(
          writeTo(*std::get<const RecordRoutes::Route*>(route), batch, index, first));
    }
  }
  return absl::OkStatus();
}

absl::Status LoadSink::writeTo(const RecordRoutes::Route& route, const RecordBatch& batch,
                               size_t index, connector::RowOrigin first) {
  PENSTOCK_RETURN_IF_ERROR(writer().admit(route.destination));
  connector::RowEncoder& row = writer().core().beginRow(route.destination);
  const absl::Status status =
      route.announced ? route.serializer->serializeFromBatch(index, row)
                      : route.serializer->serialize(
                            formats::PaddedText::assumePadded(batch.records[index]), row);
  if (!status.ok()) return writer().failRecord(route.destination, status, batch.origin(index));
  writer().core().commitRow(connector::advanced(first, index));
  return absl::OkStatus();
}

/// Its fields are not known.
absl::Status LoadSink::writeDefect(const RecordBatch& batch) {
  if (const RecordRoutes::Route* route = routes_->fixed()) {
    return writer().failRecord(route->destination, absl::InvalidArgumentError(batch.defect),
                               batch.origin(0));
  }
  return writer().failUnroutable({.payload = {}, .reason = batch.defect}, batch.origin(0));
}

}  // namespace penstock::command
