#include "penstock/bigquery/serializers/json_document_serializer.h"

#include <string>
#include <utility>

#include "penstock/bigquery/serializers/json_plan.h"
#include "penstock/bigquery/serializers/json_row_writer.h"
#include "penstock/formats/json/json_batch.h"
#include "penstock/formats/json/structural_index.h"

namespace penstock::bigquery {
namespace {

absl::Status indexFailure(formats::IndexError error, std::string_view document) {
  if (error == formats::IndexError::kInvalidUtf8) {
    return base::invalidArgument("root: {} at byte {}", formats::describe(error),
                                 formats::findInvalidUtf8(document) + 1);
  }
  return base::invalidArgument("root: {}", formats::describe(error));
}

}  // namespace

class JsonDocumentSerializer::Implementation {
 public:
  Implementation(std::unique_ptr<const JsonPlan> plan, const JsonDocumentOptions& options)
      : plan_(std::move(plan)), writer_(*plan_, options.ignoreUnknownFields) {}

  absl::Status serialize(formats::PaddedText document, connector::RowEncoder& row) {
    const formats::IndexError error = index_.build(document);
    if (error != formats::IndexError::kNone) return indexFailure(error, document.view());
    const auto tokens = index_.tokens();
    formats::JsonCursor cursor{document.data(), tokens.data(), tokens.data() + tokens.size()};
    if (writer_.write(document.view(), &cursor, row)) return absl::OkStatus();
    return writer_.failure();
  }

  absl::Status serializeCopy(std::string_view document, connector::RowEncoder& row) {
    copy_.resize(document.size() + formats::kJsonPadding);
    document.copy(copy_.data(), document.size());
    const auto padded =
        formats::PaddedText::assumePadded(std::string_view(copy_).substr(0, document.size()));
    return serialize(padded, row);
  }

  void beginBatch(std::span<const std::string_view> documents) { batch_.reset(documents); }

  absl::Status serializeFromBatch(size_t document, connector::RowEncoder& row) {
    const std::string_view text = batch_.text(document);
    const size_t rowBegin = row.size();
    formats::JsonCursor cursor;
    bool isIsolated = false;
    formats::IndexError error = batch_.locate(document, &cursor, &isIsolated);
    if (error == formats::IndexError::kNone && writer_.write(text, &cursor, row)) {
      if (!isIsolated) batch_.setHint(cursor);
      return absl::OkStatus();
    }
    if (!isIsolated) {
      // The walk may have run into other documents: only one of this document alone says what is
      // wrong.
      row.setCursor(row.rowData() + rowBegin);
      error = batch_.isolate(document, &cursor);
      if (error == formats::IndexError::kNone && writer_.write(text, &cursor, row)) {
        return absl::OkStatus();
      }
    }
    if (error != formats::IndexError::kNone) return indexFailure(error, text);
    return writer_.failure();
  }

 private:
  std::unique_ptr<const JsonPlan> plan_;
  JsonRowWriter writer_;
  formats::StructuralIndex index_;
  formats::JsonBatch batch_;
  std::string copy_;
};

JsonDocumentSerializer::JsonDocumentSerializer(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}

JsonDocumentSerializer::~JsonDocumentSerializer() = default;

absl::StatusOr<std::unique_ptr<JsonDocumentSerializer>> JsonDocumentSerializer::create(
    const TableSchema& schema, const JsonDocumentOptions& options) {
  PENSTOCK_ASSIGN_OR_RETURN(std::unique_ptr<const JsonPlan> plan, JsonPlan::compile(schema));
  return std::unique_ptr<JsonDocumentSerializer>(
      new JsonDocumentSerializer(std::make_unique<Implementation>(std::move(plan), options)));
}

absl::Status JsonDocumentSerializer::serialize(formats::PaddedText document,
                                               connector::RowEncoder& row) {
  return implementation_->serialize(document, row);
}

absl::Status JsonDocumentSerializer::serialize(std::string_view document,
                                               connector::RowEncoder& row) {
  return implementation_->serializeCopy(document, row);
}

void JsonDocumentSerializer::beginBatch(std::span<const std::string_view> documents) {
  implementation_->beginBatch(documents);
}

absl::Status JsonDocumentSerializer::serializeFromBatch(size_t document,
                                                        connector::RowEncoder& row) {
  return implementation_->serializeFromBatch(document, row);
}

}  // namespace penstock::bigquery
