#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/status.h"

namespace penstock::command {

/// One place of a YAML document, for messages.
struct YamlPlace {
  std::string file;
  YAML::Mark mark;

  /// "pipeline.yaml:3:7".
  [[nodiscard]] std::string text() const;
  /// INVALID_ARGUMENT "pipeline.yaml:3:7: ...".
  [[nodiscard]] absl::Status problem(std::string_view what) const;
  /// `status` with the place in front.
  [[nodiscard]] absl::Status problem(const absl::Status& status) const;
};

/// One value of a mapping: its key as it is called from the document's root, and its place.
struct YamlSetting {
  std::string name;  ///< "executor.parallelism"
  YamlPlace place;   ///< of the value
  YAML::Node node;

  /// "pipeline.yaml:3:7: executor.parallelism".
  [[nodiscard]] std::string where() const;
  [[nodiscard]] absl::Status problem(std::string_view what) const;

  /// A text, a number, a truth value: as it is written.
  [[nodiscard]] absl::StatusOr<std::string> text() const;
  /// One text, or a list of at least one.
  [[nodiscard]] absl::StatusOr<std::vector<std::string>> texts() const;
  [[nodiscard]] absl::StatusOr<bool> boolean() const;
  [[nodiscard]] absl::StatusOr<int64_t> integer() const;
};

/// A mapping of a YAML document, whose keys are known beforehand.
class YamlMap {
 public:
  /// The root of `text`. Errors name file, line and column.
  [[nodiscard]] static absl::StatusOr<YamlMap> parse(const std::string& file,
                                                     const std::string& text);
  /// A mapping inside; `setting` must be one.
  [[nodiscard]] static absl::StatusOr<YamlMap> of(const YamlSetting& setting);

  /// Refuses a key that is not among `known`, naming the nearest.
  [[nodiscard]] absl::Status checkKeys(std::span<const std::string_view> known) const;
  [[nodiscard]] const std::vector<YamlSetting>& settings() const { return settings_; }
  /// Null if it is not there.
  [[nodiscard]] const YamlSetting* find(std::string_view key) const;
  /// An error if it is not there.
  [[nodiscard]] absl::StatusOr<const YamlSetting*> require(std::string_view key) const;
  /// The key of one of settings(), without the names of the mappings around it.
  [[nodiscard]] std::string_view keyOf(const YamlSetting& setting) const;

 private:
  [[nodiscard]] absl::Status read(const YAML::Node& node);

  std::string name_;  // "executor"; empty: the root
  YamlPlace place_;
  std::vector<YamlSetting> settings_;
  std::vector<YAML::Mark> keys_;  // of settings_, in their order
};

}  // namespace penstock::command
