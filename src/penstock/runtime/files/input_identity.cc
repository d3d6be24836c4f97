#include "penstock/runtime/files/input_identity.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <vector>

namespace penstock::runtime {
namespace {

using nlohmann::json;

struct StoredInput {
  std::string path;
  uint64_t size = 0;
  uint64_t headHash = 0;
};

/// Paths are bytes, JSON text is not: what is not printable ASCII, and the escape itself, is
/// percent-encoded.
std::string escapePath(std::string_view path) {
  std::string text;
  for (const char c : path) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e || c == '%') {
      text += fmt::format("%{:02X}", byte);
    } else {
      text.push_back(c);
    }
  }
  return text;
}

std::string unescapePath(std::string_view text) {
  std::string path;
  for (size_t at = 0; at < text.size(); ++at) {
    uint8_t byte = 0;
    if (text[at] == '%' && at + 2 < text.size() &&
        std::from_chars(&text[at] + 1, &text[at] + 3, byte, 16).ec == std::errc()) {
      path.push_back(static_cast<char>(byte));
      at += 2;
    } else {
      path.push_back(text[at]);
    }
  }
  return path;
}

absl::StatusOr<std::vector<StoredInput>> parseInputs(std::string_view text) {
  const absl::Status unreadable =
      base::invalidArgument("the checkpoint's list of input files cannot be read");
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || !document.contains("files") || !document["files"].is_array()) {
    return unreadable;
  }
  std::vector<StoredInput> inputs;
  for (const json& item : document["files"]) {
    if (!item.is_object() || !item.contains("path") || !item["path"].is_string() ||
        !item.contains("size") || !item["size"].is_number_unsigned() || !item.contains("head") ||
        !item["head"].is_number_unsigned()) {
      return unreadable;
    }
    inputs.push_back({unescapePath(item["path"].get<std::string>()), item["size"].get<uint64_t>(),
                      item["head"].get<uint64_t>()});
  }
  return inputs;
}

template <typename... Arguments>
absl::Status differs(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return base::makeStatus(
      absl::StatusCode::kFailedPrecondition,
      "the input is not the one that the checkpoint was taken of: {}; to load it from the start, "
      "use an empty checkpoint directory",
      fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace

std::string describeInputs(std::span<const InputFile> files) {
  json list = json::array();
  for (const InputFile& file : files) {
    list.push_back(
        {{"path", escapePath(file.absolutePath)}, {"size", file.size}, {"head", file.headHash}});
  }
  return json{{"files", std::move(list)}}.dump();
}

absl::Status checkInputs(std::span<const InputFile> files, std::string_view stored) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<StoredInput> inputs, parseInputs(stored));
  for (const InputFile& file : files) {
    const auto found =
        std::find_if(inputs.begin(), inputs.end(),
                     [&file](const StoredInput& input) { return input.path == file.absolutePath; });
    if (found == inputs.end()) return differs("{} was not part of it", file.path);
    if (found->size != file.size) {
      return differs("{} had {} bytes, it has {} now", file.path, found->size, file.size);
    }
    if (found->headHash != file.headHash) {
      return differs("{} has the same size but another content now", file.path);
    }
  }
  for (const StoredInput& input : inputs) {
    if (std::none_of(files.begin(), files.end(),
                     [&input](const InputFile& file) { return file.absolutePath == input.path; })) {
      return differs("{} was part of it and is not given now", input.path);
    }
  }
  for (size_t at = 0; at < files.size(); ++at) {
    if (inputs[at].path != files[at].absolutePath) {
      return differs("the files are given in another order, beginning with {}", files[at].path);
    }
  }
  return absl::OkStatus();
}

}  // namespace penstock::runtime
