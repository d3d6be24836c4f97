#include "apps/penstock/load_schema.h"

#include "apps/penstock/load_summary.h"
#include "apps/penstock/text_file.h"
#include "penstock/bigquery/schema/infer_schema.h"
#include "penstock/bigquery/schema/schema_json.h"

namespace penstock::command {
namespace {

/// Of standard input this much is held back and looked at.
constexpr uint64_t kStreamPrefixBytes = uint64_t{16} << 20;

}  // namespace

absl::StatusOr<bigquery::TableSchema> readSchemaFile(const std::string& setting,
                                                     const std::string& path) {
  const std::string context = fmt::format("{} {}", setting, path);
  const absl::StatusOr<std::string> text = readTextFile(path);
  if (!text.ok()) return base::withContext(text.status(), context);
  absl::StatusOr<bigquery::TableSchema> schema = bigquery::parseSchemaJson(*text);
  if (!schema.ok()) return base::withContext(schema.status(), context);
  return schema;
}

absl::StatusOr<bigquery::TableSchema> inferSchema(const std::string& setting, Console& console,
                                                  runtime::FileSource& source,
                                                  bool skipBadRecords) {
  bigquery::SchemaInference inference({.skipBadDocuments = skipBadRecords});
  PENSTOCK_RETURN_IF_ERROR(
      source.scan(kStreamPrefixBytes, [&](const runtime::RecordBatch& batch) -> absl::Status {
        if (batch.defect.empty()) {
          return inference.add(batch.records,
                               [&batch](size_t document) { return batch.origin(document); });
        }
        if (skipBadRecords) return absl::OkStatus();
        return base::invalidArgument("{}: {}", batch.origin(0), batch.defect);
      }));
  absl::StatusOr<bigquery::TableSchema> schema = inference.finish();
  if (!schema.ok()) return base::withContext(schema.status(), setting);
  const size_t columns = schema->columns.size();
  console.note(fmt::format("penstock: inferred {} column{} from {} record{}", columns,
                           columns == 1 ? "" : "s", withThousands(inference.documents()),
                           inference.documents() == 1 ? "" : "s"));
  return schema;
}

}  // namespace penstock::command
