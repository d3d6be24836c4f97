#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/base/option.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
class Option;
}  // namespace CLI

namespace penstock::command {

/// Registered options as flags: `sink.max-append-request-bytes` is `--max-append-request-bytes`.
/// Must live until the command line is parsed and applied.
class OptionFlags {
 public:
  /// Adds a flag for each of `definitions` that `wanted` accepts (null: for all). Those of later
  /// versions are hidden from the help and answer "not supported yet".
  OptionFlags(CLI::App& app, std::span<const base::OptionDefinition> definitions,
              const std::function<bool(const base::OptionDefinition&)>& wanted = nullptr);
  ~OptionFlags();

  /// The first of them that was given; empty: none was.
  [[nodiscard]] std::string firstGiven() const;

  /// Puts what was given into `options`, which `set` defines; the first bad value is the error,
  /// naming its flag.
  template <typename Options>
  [[nodiscard]] absl::Status apply(const base::OptionSet<Options>& set, Options& options) const {
    for (const auto& flag : flags_) {
      if (!isGiven(*flag)) continue;
      PENSTOCK_RETURN_IF_ERROR(
          set.set(options, flag->name, flag->text, base::OptionSpelling::kFlag));
    }
    return absl::OkStatus();
  }

 private:
  struct Flag {
    std::string name;
    std::string text;
    CLI::Option* option = nullptr;
  };
  [[nodiscard]] static bool isGiven(const Flag& flag);

  std::vector<std::unique_ptr<Flag>> flags_;  // CLI11 keeps references to the texts
};

/// True for options that say how the service or an emulator is reached.
[[nodiscard]] bool isConnectionOption(const base::OptionDefinition& definition);

}  // namespace penstock::command
