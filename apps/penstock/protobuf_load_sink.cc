#include "apps/penstock/protobuf_load_sink.h"

#include <utility>

namespace penstock::command {

using runtime::RecordBatch;

ProtobufLoadSink::ProtobufLoadSink(std::unique_ptr<bigquery::BlockingWriter> writer,
                                   connector::DestinationId destination,
                                   std::unique_ptr<bigquery::ProtobufMessageSerializer> serializer,
                                   std::shared_ptr<RowPlaces> places)
    : WriterSink(std::move(writer), std::move(places)),
      destination_(destination),
      serializer_(std::move(serializer)) {}

absl::Status ProtobufLoadSink::writeRecords(const RecordBatch& batch, connector::RowOrigin first) {
  for (size_t index = 0; index < batch.records.size(); ++index) {
    PENSTOCK_RETURN_IF_ERROR(writer().admit(destination_));
    connector::RowEncoder& row = writer().core().beginRow(destination_);
    const absl::Status status = serializer_->serialize(batch.records[index], row);
    if (status.ok()) {
      writer().core().commitRow(connector::advanced(first, index));
    } else {
      PENSTOCK_RETURN_IF_ERROR(writer().failRecord(destination_, status, batch.origin(index)));
    }
  }
  return absl::OkStatus();
}

absl::Status ProtobufLoadSink::writeDefect(const RecordBatch& batch) {
  return writer().failRecord(destination_, absl::InvalidArgumentError(batch.defect),
                             batch.origin(0));
}

}  // namespace penstock::command
