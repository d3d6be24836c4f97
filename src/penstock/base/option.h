#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/endpoint.h"
#include "penstock/base/status.h"

/// One definition per option. From it come a builder's checks, the parsing of a map of strings, the
/// command's flags, `penstock options` and the reference pages.
namespace penstock::base {

enum class OptionType {
  kBoolean,
  kInteger,
  kDecimal,
  kDuration,
  kByteSize,
  kString,
  kStringList,
  kEndpoint,
  kChoice,
};

/// What a value must keep to, besides its type.
enum class OptionRule {
  kAny,
  kPositive,                     ///< > 0
  kAtLeastOne,                   ///< >= 1.0
  kAtLeastOneMillisecond,        ///< >= 1 ms: it is spent in milliseconds (BASE-003)
  kZeroOrAtLeastOneMillisecond,  ///< 0 means something of its own that 0.5 ms must not degrade into
  kNotBlank,                     ///< a string, or every string of a list
};

/// How an option is called where the reader of a message met it.
enum class OptionSpelling {
  kKey,      ///< sink.max-append-request-bytes
  kBuilder,  ///< maxAppendRequestBytes
  kFlag,     ///< --max-append-request-bytes
};

/// A value on its way between text, checks and a field. Integers and byte sizes are int64_t,
/// choices their upper snake case name; monostate is "unset".
using OptionValue = std::variant<std::monostate, bool, int64_t, double, Duration, std::string,
                                 std::vector<std::string>, Endpoint>;

/// Everything about one option but the field that holds it.
struct OptionDefinition {
  std::string key;    ///< "sink.max-append-request-bytes"; the other names derive from it
  std::string group;  ///< heading in the reference pages
  OptionType type = OptionType::kString;
  OptionRule rule = OptionRule::kAny;
  std::string description;                ///< one line
  std::vector<std::string> choices;       ///< of a kChoice
  std::vector<std::string> laterChoices;  ///< known, answered "not supported yet"
  bool supported = true;                  ///< false: known, setting it answers "not supported yet"
  OptionValue defaultValue;               ///< taken from a default-constructed options struct

  [[nodiscard]] std::string name(OptionSpelling spelling) const;
  [[nodiscard]] std::string typeText() const;     ///< "duration", "CREATE_IF_NEEDED | CREATE_NEVER"
  [[nodiscard]] std::string rulesText() const;    ///< ">= 1 ms", or empty
  [[nodiscard]] std::string defaultText() const;  ///< "512 KiB", "unset"
};

/// As the option's type writes it: "500 ms", "US"; "unset" for none.
[[nodiscard]] std::string optionText(OptionType type, const OptionValue& value);

/// Reads `text` as the option's type says and checks it. Errors name the option and the value.
[[nodiscard]] absl::StatusOr<OptionValue> parseOptionValue(const OptionDefinition& definition,
                                                           std::string_view text,
                                                           OptionSpelling spelling);

/// The rule alone, for a value that did not come from text. Unset passes.
[[nodiscard]] absl::Status checkOptionValue(const OptionDefinition& definition,
                                            const OptionValue& value, OptionSpelling spelling);

/// "unknown option 'sink.locaton', did you mean 'sink.location'?"
[[nodiscard]] absl::Status unknownOption(std::string_view given,
                                         std::span<const OptionDefinition> known,
                                         OptionSpelling spelling);

namespace option_internal {

template <typename Field>
struct FieldTraits;  // conversion between a field and OptionValue, and the type it implies

template <typename Field, OptionType kImplied, typename Stored = Field>
struct DirectTraits {
  static constexpr OptionType kType = kImplied;
  static OptionValue toValue(const Field& field) { return static_cast<Stored>(field); }
  static void assign(Field& field, const OptionValue& value) {
    field = static_cast<Field>(std::get<Stored>(value));
  }
};
template <>
struct FieldTraits<bool> : DirectTraits<bool, OptionType::kBoolean> {};
template <>
struct FieldTraits<int64_t> : DirectTraits<int64_t, OptionType::kInteger> {};
template <>
struct FieldTraits<double> : DirectTraits<double, OptionType::kDecimal> {};
template <>
struct FieldTraits<Duration> : DirectTraits<Duration, OptionType::kDuration> {};
template <>
struct FieldTraits<Endpoint> : DirectTraits<Endpoint, OptionType::kEndpoint> {};

/// An empty string or list is "unset".
template <>
struct FieldTraits<std::string> {
  static constexpr OptionType kType = OptionType::kString;
  static OptionValue toValue(const std::string& field) {
    return field.empty() ? OptionValue() : OptionValue(field);
  }
  static void assign(std::string& field, const OptionValue& value) {
    field = std::get<std::string>(value);
  }
};
template <>
struct FieldTraits<std::vector<std::string>> {
  static constexpr OptionType kType = OptionType::kStringList;
  static OptionValue toValue(const std::vector<std::string>& field) {
    return field.empty() ? OptionValue() : OptionValue(field);
  }
  static void assign(std::vector<std::string>& field, const OptionValue& value) {
    field = std::get<std::vector<std::string>>(value);
  }
};

/// An optional string that is set is a value even when it is empty, so that a blank one is refused.
template <typename Held>
struct FieldTraits<std::optional<Held>> {
  static constexpr OptionType kType = FieldTraits<Held>::kType;
  static OptionValue toValue(const std::optional<Held>& field) {
    if (!field) return {};
    return OptionValue(*field);
  }
  static void assign(std::optional<Held>& field, const OptionValue& value) {
    field = std::get<Held>(value);
  }
};

}  // namespace option_internal

/// The options of one struct. Built once, read by any thread.
template <typename Options>
class OptionSet {
 public:
  /// An option whose field is what `access(options)` refers to. Its default is the field's in a
  /// default-constructed `Options`; the type follows from the field's unless `definition` says
  /// kByteSize or kChoice.
  template <typename Access>
  void add(OptionDefinition definition, Access access) {
    using Field = std::remove_cvref_t<std::invoke_result_t<Access, Options&>>;
    using Traits = option_internal::FieldTraits<Field>;
    if (definition.type != OptionType::kByteSize && definition.type != OptionType::kChoice) {
      definition.type = Traits::kType;
    }
    bind(
        std::move(definition),
        [access](const Options& options) { return Traits::toValue(access(options)); },
        [access](Options& options, const OptionValue& value) {
          Traits::assign(access(options), value);
        });
  }

  /// An option with one of several values, `names` in upper snake case.
  template <typename Access, typename Enum>
  void addChoice(OptionDefinition definition, std::vector<std::pair<std::string, Enum>> names,
                 Access access) {
    definition.type = OptionType::kChoice;
    for (const auto& [name, value] : names) definition.choices.push_back(name);
    bind(
        std::move(definition),
        [access, names](const Options& options) -> OptionValue {
          for (const auto& [name, value] : names) {
            if (value == access(options)) return name;
          }
          return {};
        },
        [access, names](Options& options, const OptionValue& value) {
          for (const auto& [name, choice] : names) {
            if (name == std::get<std::string>(value)) access(options) = choice;
          }
        });
  }

  /// An option of the specification that this version does not have yet.
  void addLater(OptionDefinition definition) {
    definition.supported = false;
    definitions_.push_back(std::move(definition));
    fields_.emplace_back();
  }

  [[nodiscard]] std::span<const OptionDefinition> definitions() const { return definitions_; }

  /// Sets one option from text; `name` as `spelling` writes it.
  [[nodiscard]] absl::Status set(Options& options, std::string_view name, std::string_view text,
                                 OptionSpelling spelling) const {
    for (size_t index = 0; index < definitions_.size(); ++index) {
      if (definitions_[index].name(spelling) != name) continue;
      PENSTOCK_ASSIGN_OR_RETURN(const OptionValue value,
                                parseOptionValue(definitions_[index], text, spelling));
      fields_[index].assign(options, value);
      return absl::OkStatus();
    }
    return unknownOption(name, definitions_, spelling);
  }

  /// Sets options from a map of keys to text; the first error wins.
  [[nodiscard]] absl::Status set(Options& options,
                                 const std::map<std::string, std::string>& values) const {
    for (const auto& [key, text] : values) {
      PENSTOCK_RETURN_IF_ERROR(set(options, key, text, OptionSpelling::kKey));
    }
    return absl::OkStatus();
  }

  /// Every field against its rule (combinations are the struct's own affair).
  [[nodiscard]] absl::Status check(const Options& options, OptionSpelling spelling) const {
    for (size_t index = 0; index < definitions_.size(); ++index) {
      if (!definitions_[index].supported) continue;
      PENSTOCK_RETURN_IF_ERROR(
          checkOptionValue(definitions_[index], fields_[index].read(options), spelling));
    }
    return absl::OkStatus();
  }

 private:
  struct Field {
    std::function<OptionValue(const Options&)> read;
    std::function<void(Options&, const OptionValue&)> assign;
  };

  void bind(OptionDefinition definition, std::function<OptionValue(const Options&)> read,
            std::function<void(Options&, const OptionValue&)> assign) {
    definition.defaultValue = read(Options());
    definitions_.push_back(std::move(definition));
    fields_.push_back({std::move(read), std::move(assign)});
  }

  std::vector<OptionDefinition> definitions_;
  std::vector<Field> fields_;  // parallel to definitions_; empty for options of later versions
};

}  // namespace penstock::base
