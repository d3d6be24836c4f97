#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "penstock/emulator/rest/rest_api.h"
#include "penstock/emulator/rest/row_json.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;

// Where the service ends a page, too, whether fewer rows were asked for or not.
constexpr uint64_t kMaxPageRows = 100000;
constexpr size_t kMaxPageBytes = 10 << 20;

/// What one page of rows is asked for.
struct RowPage {
  uint64_t start = 0;
  uint64_t maxRows = kMaxPageRows;
  FieldSelection selection;
  TimestampForm timestamps = TimestampForm::kSeconds;
};

bool isTrue(const std::string& value) {
  return value == "true" || value == "True" || value == "TRUE";
}

absl::StatusOr<TimestampForm> timestampForm(const ApiCall& call) {
  const std::string format = call.parameter("formatOptions.timestampOutputFormat");
  if (format == "ISO8601_STRING") return TimestampForm::kIso8601;
  if (format == "INT64") return TimestampForm::kMicros;
  if (format == "FLOAT64") return TimestampForm::kSeconds;
  if (!format.empty() && format != "TIMESTAMP_OUTPUT_FORMAT_UNSPECIFIED") {
    return base::invalidArgument("Invalid value for formatOptions.timestampOutputFormat: '{}'",
                                 format);
  }
  const bool micros = isTrue(call.parameter("formatOptions.useInt64Timestamp")) ||
                      isTrue(call.parameter("useInt64Timestamp"));
  return micros ? TimestampForm::kMicros : TimestampForm::kSeconds;
}

absl::StatusOr<RowPage> pageOf(const ApiCall& call, const Schema& schema) {
  RowPage page;
  PENSTOCK_ASSIGN_OR_RETURN(const std::optional<uint64_t> maxResults,
                            numberParameter(call, "maxResults"));
  PENSTOCK_ASSIGN_OR_RETURN(const std::optional<uint64_t> startIndex,
                            numberParameter(call, "startIndex"));
  page.maxRows = std::min(maxResults.value_or(kMaxPageRows), kMaxPageRows);
  page.start = startIndex.value_or(0);
  if (const std::string token = call.parameter("pageToken"); !token.empty()) {
    PENSTOCK_ASSIGN_OR_RETURN(page.start, positionOf(token));
  }
  const std::string selected = call.parameter("selectedFields");
  if (selected.empty()) {
    page.selection = FieldSelection::all(schema);
  } else {
    PENSTOCK_ASSIGN_OR_RETURN(page.selection, FieldSelection::parse(selected, schema));
  }
  PENSTOCK_ASSIGN_OR_RETURN(page.timestamps, timestampForm(call));
  return page;
}

/// Appends stored rows to a page's text, with one decoder for each descriptor that wrote them.
class PageWriter {
 public:
  PageWriter(const Schema& schema, const RowPage& page, std::string& text)
      : schema_(schema), page_(page), text_(text) {}

  absl::Status add(std::string_view row, const RowDescriptorPtr& descriptor) {
    if (full()) return absl::CancelledError();  // the rest is another page's
    PENSTOCK_ASSIGN_OR_RETURN(RowDecoder * decoder, decoderOf(descriptor));
    if (const std::optional<RowProblem> problem = decoder->decode(row)) {
      return base::makeStatus(absl::StatusCode::kDataLoss, "row {}: {}: {}", page_.start + rows_,
                              problem->path, problem->message);
    }
    if (rows_ > 0) text_ += ',';
    appendRowJson(*decoder, page_.selection, page_.timestamps, text_);
    ++rows_;
    return absl::OkStatus();
  }

  [[nodiscard]] bool full() const {
    return rows_ >= page_.maxRows || text_.size() >= kMaxPageBytes;
  }
  [[nodiscard]] uint64_t rows() const { return rows_; }

 private:
  absl::StatusOr<RowDecoder*> decoderOf(const RowDescriptorPtr& descriptor) {
    if (descriptor == lastDescriptor_) return lastDecoder_;
    std::unique_ptr<RowDecoder>& decoder = decoders_[descriptor->id];
    if (decoder == nullptr) {
      google::protobuf::DescriptorProto proto;
      if (!proto.ParseFromString(descriptor->bytes)) {
        return base::makeStatus(absl::StatusCode::kDataLoss,
                                "the stored descriptor {} cannot be parsed", descriptor->id);
      }
      PENSTOCK_ASSIGN_OR_RETURN(std::shared_ptr<const RowPlan> plan,
                                RowPlan::compile(proto, schema_));
      decoder = std::make_unique<RowDecoder>(std::move(plan));
    }
    lastDescriptor_ = descriptor;
    lastDecoder_ = decoder.get();
    return lastDecoder_;
  }

  const Schema& schema_;
  const RowPage& page_;
  std::map<std::string, std::unique_ptr<RowDecoder>> decoders_;  ///< by the descriptor's id
  RowDescriptorPtr lastDescriptor_;
  RowDecoder* lastDecoder_ = nullptr;  ///< of `lastDescriptor_`: rows mostly follow their own kind
  std::string& text_;
  uint64_t rows_ = 0;
};

}  // namespace

ApiResult RestApi::listRows(const ApiCall& call, const ApiTarget& target) {
  const auto table = findTable(target);
  if (!table.ok()) return errorOf(table.status());
  const Schema& schema = (*table)->schema;
  const absl::StatusOr<RowPage> page = pageOf(call, schema);
  if (!page.ok()) return errorOf(page.status());
  const absl::StatusOr<TableSize> size = rowStore_.size((*table)->id);
  if (!size.ok()) return errorOf(size.status());

  std::string body =
      fmt::format(R"({{"kind":"bigquery#tableDataList","etag":"{}")", (*table)->etag);
  const size_t beforeRows = body.size();
  body += ",\"rows\":[";
  PageWriter writer(schema, *page, body);
  const absl::StatusOr<uint64_t> read =
      rowStore_.read((*table)->id, page->start, page->maxRows,
                     [&](std::string_view row, const RowDescriptorPtr& descriptor) {
                       return writer.add(row, descriptor);
                     });
  if (!read.ok() && read.status().code() != absl::StatusCode::kCancelled) {
    return errorOf(read.status());
  }
  if (writer.rows() == 0) {
    body.resize(beforeRows);
  } else {
    body += ']';
  }

  const uint64_t end = page->start + writer.rows();
  // Rows may have been appended since the table was measured.
  const uint64_t totalRows = writer.rows() > 0 ? std::max(size->rows, end) : size->rows;
  body += fmt::format(R"(,"totalRows":"{}")", totalRows);
  if (writer.rows() > 0 && end < totalRows) {
    body += fmt::format(R"(,"pageToken":"{}")", pageTokenOf(end));
  }
  body += '}';
  return ApiAnswer{200, std::move(body), (*table)->etag};
}

}  // namespace penstock::emulator
