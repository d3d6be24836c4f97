// Any text as a document, with a table of every type: what becomes a row is JSON and a well-formed
// row whose fields rise; lines in a batch become the same rows as alone; memory behind the promised
// padding belongs to the sanitizer.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/bigquery/serializers/json_document_serializer.h"

namespace penstock::bigquery {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

Column makeColumn(std::string name, ColumnType type, ColumnMode mode = ColumnMode::kNullable) {
  Column column;
  column.name = std::move(name);
  column.type = type;
  column.mode = mode;
  return column;
}

/// One column of every type, named by one letter, in capitals where it is repeated.
TableSchema everyType() {
  constexpr std::pair<char, ColumnType> kTypes[] = {
      {'s', ColumnType::kString},    {'i', ColumnType::kInt64},   {'d', ColumnType::kDouble},
      {'b', ColumnType::kBytes},     {'o', ColumnType::kBool},    {'t', ColumnType::kTimestamp},
      {'a', ColumnType::kDate},      {'e', ColumnType::kTime},    {'c', ColumnType::kDatetime},
      {'g', ColumnType::kGeography}, {'n', ColumnType::kNumeric}, {'m', ColumnType::kBignumeric},
      {'v', ColumnType::kInterval},  {'j', ColumnType::kJson},
  };
  TableSchema schema;
  Column inner = makeColumn("x", ColumnType::kStruct);
  for (const auto& [letter, type] : kTypes) {
    const std::string name(1, letter);
    schema.columns.push_back(makeColumn(name, type));
    schema.columns.push_back(makeColumn(name + name, type, ColumnMode::kRepeated));
    inner.fields.push_back(makeColumn(name, type));
  }
  Column range = makeColumn("r", ColumnType::kRange);
  range.rangeElementType = ColumnType::kDatetime;
  inner.fields.push_back(range);
  inner.fields.push_back(makeColumn("q", ColumnType::kInt64, ColumnMode::kRequired));
  schema.columns.push_back(inner);
  inner.name = "xx";
  inner.mode = ColumnMode::kRepeated;
  schema.columns.push_back(inner);
  return schema;
}

/// The row's fields lie inside it and their numbers do not fall.
void checkRow(std::string_view row) {
  size_t at = 0;
  const auto readVarint = [&] {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      require(at < row.size() && shift < 64);
      const auto byte = static_cast<uint8_t>(row[at++]);
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
  };
  uint64_t last = 0;
  while (at < row.size()) {
    const uint64_t tag = readVarint();
    require(tag >> 3 >= last);
    last = tag >> 3;
    uint64_t size = 0;
    switch (tag & 7) {
      case 0:
        readVarint();
        break;
      case 1:
        size = 8;
        break;
      case 2:
        size = readVarint();
        break;
      default:
        require(false);
    }
    require(size <= row.size() - at);
    at += size;
  }
}

bool isJsonElsewhere(std::string_view text) {
  try {
    return !nlohmann::json::parse(text).is_discarded();
  } catch (const nlohmann::json::out_of_range&) {
    return true;  // a number beyond the doubles
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

/// The row, or what the error says.
std::string finish(connector::RowBatch& rows, const absl::Status& status) {
  if (!status.ok()) {
    rows.discardRow();
    require(base::messageOf(status).starts_with("root"));
    return "error: " + std::string(base::messageOf(status));
  }
  rows.commitRow();
  checkRow(rows.row(rows.rowCount() - 1));
  return std::string(rows.row(rows.rowCount() - 1));
}

void checkDocuments(JsonDocumentSerializer& serializer, std::string_view text) {
  const std::unique_ptr<char[]> buffer(new char[text.size() + formats::kJsonPadding]);
  text.copy(buffer.get(), text.size());
  for (size_t index = 0; index < formats::kJsonPadding; ++index) {
    buffer[text.size() + index] = "]}\",:1.e"[index % 8];
  }
  std::vector<std::string_view> lines;
  for (std::string_view rest(buffer.get(), text.size()); !rest.empty();) {
    const size_t feed = rest.find('\n');
    lines.push_back(rest.substr(0, feed));
    rest.remove_prefix(feed == std::string_view::npos ? rest.size() : feed + 1);
  }
  connector::RowBatch rows;
  serializer.beginBatch(lines);
  for (size_t line = 0; line < lines.size(); ++line) {
    const std::string together = finish(rows, serializer.serializeFromBatch(line, rows.beginRow()));
    const std::string alone = finish(rows, serializer.serialize(lines[line], rows.beginRow()));
    require(together == alone);
    require(alone.starts_with("error: ") || isJsonElsewhere(lines[line]));
  }
}

}  // namespace
}  // namespace penstock::bigquery

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using penstock::bigquery::JsonDocumentSerializer;
  static const auto kStrict =
      JsonDocumentSerializer::create(penstock::bigquery::everyType()).value();
  static const auto kLenient =
      JsonDocumentSerializer::create(penstock::bigquery::everyType(), {.ignoreUnknownFields = true})
          .value();
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  penstock::bigquery::checkDocuments((data[0] & 1) == 0 ? *kStrict : *kLenient, text);
  return 0;
}
