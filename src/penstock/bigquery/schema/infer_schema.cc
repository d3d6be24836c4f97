#include "penstock/bigquery/schema/infer_schema.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "penstock/base/status.h"
#include "penstock/base/text.h"
#include "penstock/bigquery/schema/inference_walk.h"
#include "penstock/bigquery/schema/inferred_field.h"
#include "penstock/bigquery/schema/validate_schema.h"
#include "penstock/formats/json/json_batch.h"
#include "penstock/formats/json/structural_index.h"

namespace penstock::bigquery {
namespace {

using base::excerpt;
using base::invalidArgument;

std::string describeIndexError(formats::IndexError error, std::string_view document) {
  std::string reason(formats::describe(error));
  if (error == formats::IndexError::kInvalidUtf8) {
    reason += fmt::format(" at byte {}", formats::findInvalidUtf8(document) + 1);
  }
  return reason;
}

std::string describeFault(const formats::JsonFault& fault, std::string_view document) {
  const auto offset = static_cast<size_t>(fault.at - document.data());
  const size_t position = std::min(offset, document.size());
  const std::string_view rest = document.substr(position);
  return fmt::format("{} JSON at byte {}: {}; found {}", fault.isSyntax ? "malformed" : "unusable",
                     position + 1, fault.reason,
                     rest.empty() ? "the end of the document" : excerpt(rest));
}

absl::Status tooManyFields(const InferredMembers& crowded) {
  const InferredField* owner = crowded.owner();
  return invalidArgument(
      "more than {} fields, BigQuery's limit of columns; {} brings more and more of them. If its "
      "keys are "
      "data, give a schema instead of inferring one, with type JSON for {}",
      InferenceWalk::kMaxFields,
      owner == nullptr ? "the document itself" : "field \"" + owner->path() + "\"",
      owner == nullptr ? "what holds them" : "that column");
}

}  // namespace

class SchemaInference::Implementation {
 public:
  explicit Implementation(const SchemaInferenceOptions& options) : options_(options) {}

  absl::Status add(std::span<const std::string_view> documents, const PlaceOf& placeOf) {
    batch_.reset(documents);
    for (size_t document = 0; document < documents.size(); ++document) {
      if (walk(document)) {
        ++documents_;
        PENSTOCK_RETURN_IF_ERROR(learn(document, placeOf));
      } else if (options_.skipBadDocuments) {
        ++skipped_;
      } else {
        return invalidArgument("{}: {}", placeOf(document), failure_);
      }
    }
    return absl::OkStatus();
  }

  absl::Status merge(Implementation& later) {
    documents_ += later.documents_;
    skipped_ += later.skipped_;
    return mergeMembers(root_, later.root_);
  }

  absl::StatusOr<TableSchema> finish() const {
    if (documents_ == 0) {
      return invalidArgument("there is no {}document to infer a schema from",
                             skipped_ > 0 ? "valid " : "");
    }
    TableSchema schema{toColumns(root_)};
    PENSTOCK_RETURN_IF_ERROR(validateSchema(schema));
    return schema;
  }

  [[nodiscard]] uint64_t documents() const { return documents_; }
  [[nodiscard]] uint64_t skipped() const { return skipped_; }

 private:
  /// False: `failure_` says why.
  bool walk(size_t document) {
    const std::string_view text = batch_.text(document);
    formats::JsonCursor cursor;
    bool isIsolated = false;
    formats::IndexError error = batch_.locate(document, &cursor, &isIsolated);
    if (error == formats::IndexError::kNone && walk_.walk(text, &cursor)) {
      if (!isIsolated) batch_.setHint(cursor);
      return true;
    }
    if (!isIsolated) {
      // The walk may have run into other documents: only one of this document alone says what is
      // wrong.
      error = batch_.isolate(document, &cursor);
      if (error == formats::IndexError::kNone && walk_.walk(text, &cursor)) return true;
    }
    failure_ = error != formats::IndexError::kNone ? describeIndexError(error, text)
                                                   : describeFault(walk_.fault(), text);
    return false;
  }

  absl::Status learn(size_t document, const PlaceOf& placeOf) {
    if (walk_.crowded() != nullptr) return tooManyFields(*walk_.crowded());
    if (walk_.observations().empty()) return absl::OkStatus();
    std::optional<std::string> place;
    const std::function<const std::string&()> placeOnce = [&]() -> const std::string& {
      if (!place) place = placeOf(document);
      return *place;
    };
    for (const InferenceWalk::Observation& seen : walk_.observations()) {
      PENSTOCK_RETURN_IF_ERROR(seen.field->learn(seen.element, seen.kinds, seen.forms, placeOnce));
    }
    return absl::OkStatus();
  }

  const SchemaInferenceOptions options_;
  InferredMembers root_{nullptr};
  InferenceWalk walk_{root_};
  formats::JsonBatch batch_;
  std::string failure_;
  uint64_t documents_ = 0;
  uint64_t skipped_ = 0;
};

SchemaInference::SchemaInference(const SchemaInferenceOptions& options)
    : implementation_(std::make_unique<Implementation>(options)) {}
SchemaInference::~SchemaInference() = default;
SchemaInference::SchemaInference(SchemaInference&&) noexcept = default;
SchemaInference& SchemaInference::operator=(SchemaInference&&) noexcept = default;

absl::Status SchemaInference::add(std::span<const std::string_view> documents,
                                  const PlaceOf& placeOf) {
  return implementation_->add(documents, placeOf);
}

absl::Status SchemaInference::merge(SchemaInference&& later) {
  return implementation_->merge(*later.implementation_);
}

absl::StatusOr<TableSchema> SchemaInference::finish() const { return implementation_->finish(); }

uint64_t SchemaInference::documents() const { return implementation_->documents(); }

uint64_t SchemaInference::skippedDocuments() const { return implementation_->skipped(); }

}  // namespace penstock::bigquery
