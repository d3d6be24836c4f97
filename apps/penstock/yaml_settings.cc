#include "apps/penstock/yaml_settings.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "penstock/base/text.h"

namespace penstock::command {
namespace {

/// The word of `known` that looks most like `given`, or empty.
std::string_view nearest(std::string_view given, std::span<const std::string_view> known) {
  std::string_view best;
  size_t bestDistance = std::max<size_t>(3, given.size() / 3);
  for (const std::string_view word : known) {
    const size_t distance = base::editDistance(given, word);
    if (distance >= bestDistance) continue;
    bestDistance = distance;
    best = word;
  }
  return best;
}

/// What YAML's own messages do not say about the commonest fault; empty if it is not there.
std::string aboutTabs(const std::string& text) {
  int line = 0;
  std::istringstream lines(text);
  for (std::string each; std::getline(lines, each);) {
    ++line;
    const size_t begin = std::min(each.find_first_not_of(" \t"), each.size());
    if (std::string_view(each).substr(0, begin).find('\t') == std::string_view::npos) continue;
    return fmt::format(" (line {} is indented with a tab; YAML takes only spaces)", line);
  }
  return {};
}

}  // namespace

std::string YamlPlace::text() const {
  return fmt::format("{}:{}:{}", file, mark.line + 1, mark.column + 1);
}

absl::Status YamlPlace::problem(std::string_view what) const {
  return base::invalidArgument("{}: {}", text(), what);
}

absl::Status YamlPlace::problem(const absl::Status& status) const {
  return base::withContext(status, text());
}

std::string YamlSetting::where() const { return fmt::format("{}: {}", place.text(), name); }

absl::Status YamlSetting::problem(std::string_view what) const {
  return base::invalidArgument("{} {}", where(), what);
}

absl::StatusOr<std::string> YamlSetting::text() const {
  if (node.IsNull()) return problem("has no value");
  if (!node.IsScalar()) return problem("must be a single value");
  return node.Scalar();
}

absl::StatusOr<std::vector<std::string>> YamlSetting::texts() const {
  if (!node.IsSequence()) {
    PENSTOCK_ASSIGN_OR_RETURN(std::string one, text());
    return std::vector<std::string>{std::move(one)};
  }
  std::vector<std::string> all;
  for (const YAML::Node& element : node) {
    const YamlSetting each{name, {place.file, element.Mark()}, element};
    PENSTOCK_ASSIGN_OR_RETURN(all.emplace_back(), each.text());
  }
  if (all.empty()) return problem("is an empty list");
  return all;
}

absl::StatusOr<bool> YamlSetting::boolean() const {
  PENSTOCK_ASSIGN_OR_RETURN(const std::string value, text());
  if (value == "true") return true;
  if (value == "false") return false;
  return problem(fmt::format("must be true or false, not '{}'", value));
}

absl::StatusOr<int64_t> YamlSetting::integer() const {
  PENSTOCK_ASSIGN_OR_RETURN(const std::string value, text());
  int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error == std::errc() && stop == end) return number;
  return problem(fmt::format("must be a whole number, not '{}'", value));
}

absl::StatusOr<YamlMap> YamlMap::parse(const std::string& file, const std::string& text) {
  YamlMap map;
  map.place_.file = file;
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.empty() || documents.front().IsNull()) {
      return base::invalidArgument("{}: there is nothing in it", file);
    }
    if (documents.size() > 1) {
      return YamlPlace{file, documents[1].Mark()}.problem(
          "a second document; a file holds one pipeline");
    }
    PENSTOCK_RETURN_IF_ERROR(map.read(documents.front()));
  } catch (const YAML::Exception& error) {
    return YamlPlace{file, error.mark}.problem(
        fmt::format("not valid YAML: {}{}", error.msg, aboutTabs(text)));
  }
  return map;
}

absl::StatusOr<YamlMap> YamlMap::of(const YamlSetting& setting) {
  YamlMap map;
  map.name_ = setting.name;
  map.place_ = setting.place;
  PENSTOCK_RETURN_IF_ERROR(map.read(setting.node));
  return map;
}

absl::Status YamlMap::read(const YAML::Node& node) {
  place_.mark = node.Mark();
  if (!node.IsMap()) {
    return place_.problem(fmt::format("{} must be a mapping, a key and a value on each line",
                                      name_.empty() ? "the file" : name_));
  }
  for (const auto& entry : node) {
    const YamlPlace place{place_.file, entry.first.Mark()};
    if (!entry.first.IsScalar()) return place.problem("a key must be a single word");
    const std::string& key = entry.first.Scalar();
    if (find(key) != nullptr) return place.problem(fmt::format("the key '{}' stands twice", key));
    // The mark of an absent value is that of its key.
    const YAML::Mark mark = entry.second.IsNull() ? entry.first.Mark() : entry.second.Mark();
    settings_.push_back({name_.empty() ? key : fmt::format("{}.{}", name_, key),
                         {place_.file, mark},
                         entry.second});
    keys_.push_back(entry.first.Mark());
  }
  return absl::OkStatus();
}

absl::Status YamlMap::checkKeys(std::span<const std::string_view> known) const {
  for (size_t index = 0; index < settings_.size(); ++index) {
    const std::string_view key = keyOf(settings_[index]);
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string in = name_.empty() ? "" : fmt::format(" in {}", name_);
    const std::string_view meant = nearest(key, known);
    const std::string hint = meant.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                                           : fmt::format("did you mean '{}'?", meant);
    return YamlPlace{place_.file, keys_[index]}.problem(
        fmt::format("unknown key '{}'{}, {}", key, in, hint));
  }
  return absl::OkStatus();
}

const YamlSetting* YamlMap::find(std::string_view key) const {
  const auto found = std::find_if(settings_.begin(), settings_.end(),
                                  [&](const YamlSetting& each) { return keyOf(each) == key; });
  return found == settings_.end() ? nullptr : &*found;
}

absl::StatusOr<const YamlSetting*> YamlMap::require(std::string_view key) const {
  if (const YamlSetting* found = find(key)) return found;
  return place_.problem(fmt::format("{} has no '{}'", name_.empty() ? "the file" : name_, key));
}

std::string_view YamlMap::keyOf(const YamlSetting& setting) const {
  return std::string_view(setting.name).substr(name_.empty() ? 0 : name_.size() + 1);
}

}  // namespace penstock::command
