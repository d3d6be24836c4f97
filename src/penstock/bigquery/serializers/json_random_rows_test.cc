// Random tables and rows: the row is known first, its document is spelt in some way, and must
// become that row.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/random.h"
#include "penstock/bigquery/encoding/wire.h"
#include "penstock/bigquery/serializers/testing/json_serializer_fixture.h"

namespace penstock::bigquery {
namespace {

/// Makes columns, and for each a value twice: as JSON and as bytes of a row.
class RowMaker {
 public:
  explicit RowMaker(uint64_t seed) : random_(base::seededRandom(seed)) {}

  std::vector<Column> columns(int depth) {
    std::vector<Column> result;
    const uint64_t count = 1 + random_->below(depth == 0 ? 90 : 5);
    for (uint64_t index = 0; index < count; ++index) {
      constexpr std::string_view kNames[] = {"a", "Name_", "a_rather_long_column_name_", "größe_"};
      std::string name = fmt::format("{}{}", kNames[random_->below(4)], index);
      const auto mode = static_cast<ColumnMode>(random_->below(3));
      constexpr ColumnType kTypes[] = {ColumnType::kString, ColumnType::kInt64,
                                       ColumnType::kBool,   ColumnType::kDouble,
                                       ColumnType::kDate,   ColumnType::kStruct};
      const ColumnType type = kTypes[random_->below(depth < 2 ? 6 : 5)];
      if (type == ColumnType::kStruct) {
        result.push_back(structColumn(std::move(name), columns(depth + 1), mode));
      } else {
        result.push_back(column(std::move(name), type, mode));
      }
    }
    return result;
  }

  /// Appends an object for `columns` to `json` and its message to `row`.
  void object(const std::vector<Column>& columns, std::string* json, std::string* row) {
    std::vector<std::string> members;
    for (size_t index = 0; index < columns.size(); ++index) {
      const Column& column = columns[index];
      const auto number = static_cast<uint32_t>(index + 1);
      if (column.mode != ColumnMode::kRequired && random_->chance(0.2)) {
        if (random_->chance(0.5)) members.push_back(key(column.name) + space() + "null");
        continue;
      }
      std::string text;
      if (column.mode == ColumnMode::kRepeated) {
        text = "[";
        const uint64_t elements = random_->below(4);
        for (uint64_t element = 0; element < elements; ++element) {
          if (element != 0) text += "," + space();
          value(column, number, &text, row);
        }
        text += "]";
      } else {
        value(column, number, &text, row);
      }
      members.push_back(key(column.name) + space() + text);
    }
    if (random_->chance(0.5)) shuffle(&members);
    *json += '{';
    for (size_t index = 0; index < members.size(); ++index) {
      if (index != 0) *json += ',';
      *json += space() + members[index] + space();
    }
    *json += '}';
  }

 private:
  std::string space() { return random_->chance(0.1) ? " \t" : ""; }

  /// The key and its colon; letters in any case, now and then one as an escape.
  std::string key(std::string_view name) {
    std::string result = "\"";
    for (const char c : name) {
      const bool isAscii = static_cast<unsigned char>(c) < 0x80;
      if (isAscii && random_->chance(0.02)) {
        result += fmt::format("\\u{:04x}", c);
      } else if (isAscii && random_->chance(0.1)) {
        result += static_cast<char>(std::toupper(c));
      } else {
        result += c;
      }
    }
    return result + "\"" + space() + ":";
  }

  void tag(uint32_t number, WireType type, std::string* row) {
    char bytes[kMaxTagBytes];
    row->append(bytes, writeTag(bytes, makeTag(number, type)));
  }
  void varint(uint64_t value, std::string* row) {
    char bytes[kMaxVarintBytes];
    row->append(bytes, writeVarint(bytes, value));
  }

  void value(const Column& column, uint32_t number, std::string* json, std::string* row) {
    switch (column.type) {
      case ColumnType::kInt64: {
        const auto integer = static_cast<int64_t>(random_->next()) >> random_->below(64);
        tag(number, WireType::kVarint, row);
        varint(static_cast<uint64_t>(integer), row);
        *json += random_->chance(0.3) ? fmt::format("\"{}\"", integer) : fmt::format("{}", integer);
        return;
      }
      case ColumnType::kBool: {
        const bool isTrue = random_->chance(0.5);
        tag(number, WireType::kVarint, row);
        varint(isTrue ? 1 : 0, row);
        *json += isTrue ? "true" : "false";
        return;
      }
      case ColumnType::kDouble: {
        const double real = random_->uniform() * static_cast<double>(1 + random_->below(1'000'000));
        tag(number, WireType::kFixed64, row);
        row->append(reinterpret_cast<const char*>(&real), sizeof real);
        *json += fmt::format("{}", real);
        return;
      }
      case ColumnType::kDate: {
        const auto days = static_cast<int64_t>(random_->below(28));
        tag(number, WireType::kVarint, row);
        varint(static_cast<uint64_t>(days), row);
        *json += fmt::format("\"1970-01-{:02}\"", days + 1);
        return;
      }
      case ColumnType::kStruct: {
        std::string inner;
        object(column.fields, json, &inner);
        tag(number, WireType::kLengthDelimited, row);
        varint(inner.size(), row);
        *row += inner;
        return;
      }
      default:
        text(number, json, row);
        return;
    }
  }

  void text(uint32_t number, std::string* json, std::string* row) {
    std::string plain;
    *json += '"';
    const uint64_t pieces = random_->below(random_->chance(0.05) ? 60 : 6);
    for (uint64_t piece = 0; piece < pieces; ++piece) {
      const auto add = [&](std::string_view spelt, std::string_view meant) {
        *json += spelt;
        plain += meant;
      };
      switch (random_->below(5)) {
        case 0:
          add("\\n\\\"", "\n\"");
          break;
        case 1:
          add("\\u20ac\\\\", "€\\");
          break;
        case 2:
          add("größer", "größer");
          break;
        default:
          add("plain text", "plain text");
          break;
      }
    }
    *json += '"';
    tag(number, WireType::kLengthDelimited, row);
    varint(plain.size(), row);
    *row += plain;
  }

  void shuffle(std::vector<std::string>* members) {
    for (size_t left = members->size(); left > 1; --left) {
      std::swap((*members)[left - 1], (*members)[random_->below(left)]);
    }
  }

  std::unique_ptr<base::Random> random_;
};

// BQT-005, BQT-007, BQT-053, BQT-056
TEST(JsonRandomRows, BecomeWhatTheirDocumentsSay) {
  constexpr uint64_t kTables = 60;
  constexpr int kRowsOfEach = 20;
  for (uint64_t table = 0; table < kTables; ++table) {
    RowMaker maker(table);
    const TableSchema schema{maker.columns(0)};
    auto serializer = JsonDocumentSerializer::create(schema);
    ASSERT_TRUE(serializer.ok()) << serializer.status();
    std::vector<std::string> expected;
    std::string buffer;
    std::vector<size_t> begins;
    for (int row = 0; row < kRowsOfEach; ++row) {
      std::string document;
      std::string bytes;
      maker.object(schema.columns, &document, &bytes);
      if (document == "{}" || document.find(':') == std::string::npos) continue;
      expected.push_back(bytes);
      begins.push_back(buffer.size());
      buffer += document + "\n";
    }
    begins.push_back(buffer.size());
    buffer.append(formats::kJsonPadding, ' ');
    std::vector<std::string_view> documents;
    for (size_t row = 0; row < expected.size(); ++row) {
      documents.push_back(
          std::string_view(buffer).substr(begins[row], begins[row + 1] - begins[row] - 1));
    }
    (*serializer)->beginBatch(documents);
    connector::RowBatch rows;
    for (size_t row = 0; row < documents.size(); ++row) {
      const absl::Status together = (*serializer)->serializeFromBatch(row, rows.beginRow());
      ASSERT_TRUE(together.ok()) << together << "\n" << documents[row];
      rows.commitRow();
      ASSERT_EQ(toHex(rows.row(rows.rowCount() - 1)), toHex(expected[row])) << documents[row];
      const absl::Status alone = (*serializer)->serialize(documents[row], rows.beginRow());
      ASSERT_TRUE(alone.ok()) << alone << "\n" << documents[row];
      rows.commitRow();
      ASSERT_EQ(toHex(rows.row(rows.rowCount() - 1)), toHex(expected[row])) << documents[row];
    }
  }
}

}  // namespace
}  // namespace penstock::bigquery
