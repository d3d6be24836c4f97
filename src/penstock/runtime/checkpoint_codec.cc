#include <zlib.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "penstock/runtime/checkpoint_store.h"

namespace penstock::runtime {
namespace {

using nlohmann::json;

constexpr std::string_view kMagic = "penstock-checkpoint ";

uint32_t checksumOf(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string toHex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const unsigned char byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

bool fromHex(std::string_view text, std::string& bytes) {
  if (text.size() % 2 != 0) return false;
  bytes.clear();
  for (size_t at = 0; at < text.size(); at += 2) {
    uint8_t value = 0;
    const auto [end, error] = std::from_chars(&text[at], &text[at] + 2, value, 16);
    if (error != std::errc() || end != &text[at] + 2) return false;
    bytes.push_back(static_cast<char>(value));
  }
  return true;
}

/// Takes typed members out of a document; remembers the first one that is missing or of another
/// type.
class MemberReader {
 public:
  std::string text(const json& object, const char* name) {
    const json* value = find(object, name);
    if (value != nullptr && value->is_string()) return value->get<std::string>();
    note(name);
    return {};
  }
  uint64_t number(const json& object, const char* name) {
    const json* value = find(object, name);
    if (value != nullptr && value->is_number_unsigned()) return value->get<uint64_t>();
    note(name);
    return 0;
  }
  bool flag(const json& object, const char* name) {
    const json* value = find(object, name);
    if (value != nullptr && value->is_boolean()) return value->get<bool>();
    note(name);
    return false;
  }
  const json& list(const json& object, const char* name) {
    static const json kNone = json::array();
    const json* value = find(object, name);
    if (value != nullptr && value->is_array()) return *value;
    note(name);
    return kNone;
  }
  template <typename State>
  std::vector<State> states(const json& object, const char* name) {
    std::vector<State> result;
    for (const json& item : list(object, name)) {
      State state;
      if (!item.is_string() || !fromHex(item.get_ref<const std::string&>(), state.bytes))
        note(name);
      result.push_back(std::move(state));
    }
    return result;
  }
  [[nodiscard]] const std::string& firstBad() const { return firstBad_; }

 private:
  static const json* find(const json& object, const char* name) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
  }
  void note(const char* name) {
    if (firstBad_.empty()) firstBad_ = name;
  }
  std::string firstBad_;
};

template <typename State>
json hexList(const std::vector<State>& states) {
  json list = json::array();
  for (const State& state : states) list.push_back(toHex(state.bytes));
  return list;
}

absl::Status damaged(std::string_view what) {
  return base::makeStatus(absl::StatusCode::kDataLoss, "the checkpoint is damaged: {}", what);
}

template <typename Number>
bool takeNumber(std::string_view& text, int radix, Number& number) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, radix);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

absl::StatusOr<Checkpoint> decodeBody(std::string_view body) {
  const json document = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return damaged("its content is not a JSON object");
  MemberReader members;
  Checkpoint checkpoint;
  checkpoint.number = static_cast<connector::CheckpointId>(members.number(document, "number"));
  checkpoint.jobIdentity = members.text(document, "job");
  checkpoint.sourceIdentity = members.text(document, "source");
  checkpoint.finished = members.flag(document, "finished");
  checkpoint.records = members.number(document, "records");
  checkpoint.bytes = members.number(document, "bytes");
  for (const json& item : members.list(document, "splits")) {
    checkpoint.splits.push_back({members.text(item, "split"), members.text(item, "position"),
                                 members.flag(item, "finished")});
  }
  checkpoint.writerStates = members.states<connector::WriterState>(document, "writerStates");
  checkpoint.committables = members.states<connector::Committable>(document, "committables");
  if (!members.firstBad().empty()) {
    return damaged(
        fmt::format("its member \"{}\" is missing or not as expected", members.firstBad()));
  }
  return checkpoint;
}

}  // namespace

std::string encodeCheckpoint(const Checkpoint& checkpoint) {
  json splits = json::array();
  for (const SplitProgress& split : checkpoint.splits) {
    splits.push_back(
        {{"split", split.split}, {"position", split.position}, {"finished", split.finished}});
  }
  const json document = {{"number", static_cast<uint64_t>(checkpoint.number)},
                         {"job", checkpoint.jobIdentity},
                         {"source", checkpoint.sourceIdentity},
                         {"finished", checkpoint.finished},
                         {"records", checkpoint.records},
                         {"bytes", checkpoint.bytes},
                         {"splits", std::move(splits)},
                         {"writerStates", hexList(checkpoint.writerStates)},
                         {"committables", hexList(checkpoint.committables)}};
  const std::string body = document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  return fmt::format("{}{} {:08x} {}\n{}", kMagic, CheckpointStore::kFormatVersion,
                     checksumOf(body), body.size(), body);
}

absl::StatusOr<Checkpoint> decodeCheckpoint(std::string_view text) {
  const size_t lineEnd = text.find('\n');
  if (lineEnd == std::string_view::npos || !text.starts_with(kMagic)) {
    return damaged(text.empty() ? "the file is empty"
                                : "the head line is not that of a checkpoint");
  }
  std::string_view head = text.substr(kMagic.size(), lineEnd - kMagic.size());
  const std::string_view body = text.substr(lineEnd + 1);
  int version = 0;
  if (!takeNumber(head, 10, version) || version < 1) return damaged("the head line has no version");
  if (version > CheckpointStore::kFormatVersion) {
    return base::notSupported(
        "the checkpoint has format version {}, written by a newer penstock; this one reads up to "
        "{}",
        version, CheckpointStore::kFormatVersion);
  }
  uint32_t checksum = 0;
  size_t length = 0;
  if (!takeNumber(head, 16, checksum) || !takeNumber(head, 10, length) || !head.empty()) {
    return damaged("the head line has no checksum and length");
  }
  if (body.size() != length) {
    return damaged(fmt::format("{} bytes long, {} were written", body.size(), length));
  }
  if (checksumOf(body) != checksum) return damaged("the checksum does not match");
  return decodeBody(body);
}

}  // namespace penstock::runtime
