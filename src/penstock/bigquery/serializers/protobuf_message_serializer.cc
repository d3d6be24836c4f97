#include "penstock/bigquery/serializers/protobuf_message_serializer.h"

#include <google/protobuf/descriptor.h>

#include <string>
#include <utility>

#include "penstock/bigquery/serializers/protobuf_canonicalizer.h"
#include "penstock/bigquery/serializers/protobuf_plan.h"
#include "penstock/bigquery/serializers/protobuf_row_writer.h"

namespace penstock::bigquery {
class ProtobufMessageSerializer::Implementation {
 public:
  Implementation(const google::protobuf::Descriptor& type, std::unique_ptr<const ProtobufPlan> plan,
                 const ProtobufMessageOptions& options)
      : type_(type),
        rejectsUnknownFields_(options.rejectUnknownFields),
        plan_(std::move(plan)),
        writer_(*plan_, options.rejectUnknownFields) {}

  absl::Status serialize(std::string_view message, connector::RowEncoder& row) {
    using Outcome = ProtobufRowWriter::Outcome;
    const size_t rowBegin = row.size();
    Outcome outcome = writer_.write(message, /*isCanonical=*/false, row);
    if (outcome == Outcome::kWritten) [[likely]]
      return absl::OkStatus();
    if (outcome == Outcome::kNotCanonical) {
      row.setCursor(row.rowData() + rowBegin);
      if (canonicalizer_ == nullptr)
        canonicalizer_ = std::make_unique<ProtobufCanonicalizer>(type_);
      if (!canonicalizer_->rewrite(message, &canonical_)) {
        return base::invalidArgument("not a message {}, or one with text that is not UTF-8",
                                     type_.full_name());
      }
      if (rejectsUnknownFields_ && !canonicalizer_->unknownField().empty()) {
        return base::invalidArgument("{}", canonicalizer_->unknownField());
      }
      outcome = writer_.write(canonical_, /*isCanonical=*/true, row);
      if (outcome == Outcome::kWritten) return absl::OkStatus();
      if (outcome == Outcome::kNotCanonical) {
        return base::makeStatus(absl::StatusCode::kInternal, "a message {} cannot be put in order",
                                type_.full_name());
      }
    }
    return writer_.failure();
  }

 private:
  const google::protobuf::Descriptor& type_;
  const bool rejectsUnknownFields_;
  std::unique_ptr<const ProtobufPlan> plan_;
  ProtobufRowWriter writer_;
  std::unique_ptr<ProtobufCanonicalizer> canonicalizer_;
  std::string canonical_;
};

ProtobufMessageSerializer::ProtobufMessageSerializer(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}

ProtobufMessageSerializer::~ProtobufMessageSerializer() = default;

absl::StatusOr<std::unique_ptr<ProtobufMessageSerializer>> ProtobufMessageSerializer::create(
    const ProtobufMapping& mapping, const TableSchema& columns,
    const ProtobufMessageOptions& options) {
  PENSTOCK_ASSIGN_OR_RETURN(
      std::unique_ptr<const ProtobufPlan> plan,
      ProtobufPlan::compile(mapping.descriptor(), columns, mapping.options()));
  return std::unique_ptr<ProtobufMessageSerializer>(new ProtobufMessageSerializer(
      std::make_unique<Implementation>(mapping.descriptor(), std::move(plan), options)));
}

absl::Status ProtobufMessageSerializer::serialize(std::string_view message,
                                                  connector::RowEncoder& row) {
  return implementation_->serialize(message, row);
}

}  // namespace penstock::bigquery
