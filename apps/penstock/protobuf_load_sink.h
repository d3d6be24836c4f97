#pragma once

#include <memory>
#include <utility>

#include "apps/penstock/writer_sink.h"
#include "penstock/bigquery/serializers/protobuf_message_serializer.h"

namespace penstock::command {

/// Protobuf messages into one table.
class ProtobufLoadSink final : public WriterSink {
 public:
  ProtobufLoadSink(std::unique_ptr<bigquery::BlockingWriter> writer,
                   connector::DestinationId destination,
                   std::unique_ptr<bigquery::ProtobufMessageSerializer> serializer,
                   std::shared_ptr<RowPlaces> places);

  /// Rows are laid out for other columns from here on.
  void use(std::unique_ptr<bigquery::ProtobufMessageSerializer> serializer) {
    serializer_ = std::move(serializer);
  }

 private:
  absl::Status writeRecords(const runtime::RecordBatch& batch, connector::RowOrigin first) override;
  absl::Status writeDefect(const runtime::RecordBatch& batch) override;

  const connector::DestinationId destination_;
  std::unique_ptr<bigquery::ProtobufMessageSerializer> serializer_;
};

}  // namespace penstock::command
