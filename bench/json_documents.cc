#include "bench/json_documents.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <span>
#include <utility>

#include "penstock/base/random.h"
#include "penstock/formats/json/padded_text.h"

namespace penstock::bench {
namespace {

using bigquery::Column;
using bigquery::ColumnMode;
using bigquery::ColumnType;

constexpr size_t kColumns = 20;
constexpr double kShuffledShare = 0.1;

Column makeColumn(std::string name, ColumnType type, ColumnMode mode = ColumnMode::kNullable) {
  Column column;
  column.name = std::move(name);
  column.type = type;
  column.mode = mode;
  return column;
}

constexpr std::array<std::string_view, 40> kWords = {
    "river",  "stone",   "lantern", "copper", "window", "harbour", "signal", "meadow",
    "thread", "granite", "orchard", "violet", "engine", "paper",   "castle", "ribbon",
    "marble", "winter",  "journey", "anchor", "silver", "garden",  "bridge", "planet",
    "forest", "mirror",  "desert",  "candle", "pocket", "island",  "temple", "valley",
    "a",      "of",      "the",     "in",     "with",   "under",   "near",   "for"};

/// Makes the values of one document.
class EventMaker {
 public:
  explicit EventMaker(uint64_t seed) : random_(base::seededRandom(seed)) {}

  /// Appends one document.
  void append(std::string* out) {
    std::array<std::string, kColumns> members = {
        fmt::format(R"("event_id":"{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}")", below(1ull << 32),
                    below(1 << 16), below(1 << 12), below(1 << 12), below(1ull << 48)),
        fmt::format(R"("event_time":"{}T{:02}:{:02}:{:02}.{:06}Z")", date(2026, 1), below(24),
                    below(60), below(60), below(1'000'000)),
        fmt::format(R"("user_id":{})", below(1ull << (8 + below(40)))),
        fmt::format(R"("session_id":"{:016x}{:016x}")", random_->next(), random_->next()),
        fmt::format(R"("event_name":"{}_{}")", word(), word()),
        fmt::format(R"("page_url":"https://shop.example.com/{}/{}-{}/{}?ref={}&page={}")", word(),
                    word(), word(), below(1'000'000), word(), below(100)),
        fmt::format(R"("referrer":"https://{}.example.org/search?q={}+{}")", word(), word(),
                    word()),
        fmt::format(
            R"("user_agent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.{} (KHTML, like Gecko) Chrome/{}.0.{}.{} Safari/537.{}")",
            below(40), 90 + below(50), below(7000), below(200), below(40)),
        fmt::format(R"("ip_address":"{}.{}.{}.{}")", below(256), below(256), below(256),
                    below(256)),
        fmt::format(R"("country":"{}")", std::array{"DE", "FR", "US", "JP", "BR", "IN"}[below(6)]),
        fmt::format(R"("is_mobile":{})", below(2) == 0),
        fmt::format(R"("duration_ms":{})", below(1ull << (1 + below(22)))),
        price("price"),
        fmt::format(R"("latitude":{:.6f})", random_->uniform() * 180 - 90),
        fmt::format(R"("longitude":{:.6f})", random_->uniform() * 360 - 180),
        fmt::format(R"("score":{})", random_->uniform()),
        fmt::format(R"("signup_date":"{}")", date(2000, 26)),
        tags(),
        fmt::format(R"("item":{{"sku":"{}-{:05}","title":"{} {}","quantity":{},{}}})", word(),
                    below(100'000), word(), word(), 1 + below(20), price("unit_price")),
        fmt::format(R"("comment":"{}")", sentence()),
    };
    if (random_->chance(kShuffledShare)) shuffle(members);
    *out += '{';
    for (const std::string& member : members) {
      *out += member;
      *out += ',';
    }
    out->back() = '}';
  }

 private:
  uint64_t below(uint64_t bound) { return random_->below(bound); }
  std::string_view word() { return kWords[below(kWords.size())]; }

  std::string date(uint64_t firstYear, uint64_t years) {
    return fmt::format("{:04}-{:02}-{:02}", firstYear + below(years), 1 + below(12), 1 + below(28));
  }

  /// A NUMERIC: as a string or as a number.
  std::string price(std::string_view name) {
    const std::string_view quote = below(2) == 0 ? "\"" : "";
    return fmt::format(R"("{}":{}{}.{:02}{})", name, quote, below(2000), below(100), quote);
  }

  std::string tags() {
    std::string result = R"("tags":[)";
    const uint64_t count = below(5);
    for (uint64_t tag = 0; tag < count; ++tag) {
      result += fmt::format("{}\"{}\"", tag == 0 ? "" : ",", word());
    }
    return result + "]";
  }

  /// 30 to 60 words; now and then an escape or a character beyond ASCII.
  std::string sentence() {
    std::string result;
    const uint64_t words = 30 + below(31);
    for (uint64_t index = 0; index < words; ++index) {
      if (index != 0) result += ' ';
      result += word();
    }
    if (below(20) == 0) result += R"( said \"yes\"\n)";
    if (below(10) == 0) result += " déjà vu";
    return result;
  }

  void shuffle(std::span<std::string> members) {
    for (size_t left = members.size(); left > 1; --left) {
      std::swap(members[left - 1], members[below(left)]);
    }
  }

  std::unique_ptr<base::Random> random_;
};

}  // namespace

bigquery::TableSchema eventSchema() {
  Column item = makeColumn("item", ColumnType::kStruct);
  item.fields = {makeColumn("sku", ColumnType::kString), makeColumn("title", ColumnType::kString),
                 makeColumn("quantity", ColumnType::kInt64),
                 makeColumn("unit_price", ColumnType::kNumeric)};
  return {{
      makeColumn("event_id", ColumnType::kString, ColumnMode::kRequired),
      makeColumn("event_time", ColumnType::kTimestamp),
      makeColumn("user_id", ColumnType::kInt64),
      makeColumn("session_id", ColumnType::kString),
      makeColumn("event_name", ColumnType::kString),
      makeColumn("page_url", ColumnType::kString),
      makeColumn("referrer", ColumnType::kString),
      makeColumn("user_agent", ColumnType::kString),
      makeColumn("ip_address", ColumnType::kString),
      makeColumn("country", ColumnType::kString),
      makeColumn("is_mobile", ColumnType::kBool),
      makeColumn("duration_ms", ColumnType::kInt64),
      makeColumn("price", ColumnType::kNumeric),
      makeColumn("latitude", ColumnType::kDouble),
      makeColumn("longitude", ColumnType::kDouble),
      makeColumn("score", ColumnType::kDouble),
      makeColumn("signup_date", ColumnType::kDate),
      makeColumn("tags", ColumnType::kString, ColumnMode::kRepeated),
      item,
      makeColumn("comment", ColumnType::kString),
  }};
}

JsonDocuments makeEventDocuments(size_t count, uint64_t seed) {
  JsonDocuments result;
  EventMaker maker(seed);
  std::vector<size_t> ends;
  for (size_t index = 0; index < count; ++index) {
    maker.append(&result.buffer);
    ends.push_back(result.buffer.size());
    result.buffer += '\n';
  }
  result.bytes = result.buffer.size();
  result.buffer.append(formats::kJsonPadding, ' ');
  size_t begin = 0;
  for (const size_t end : ends) {
    result.documents.push_back(std::string_view(result.buffer).substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

}  // namespace penstock::bench
