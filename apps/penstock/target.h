#pragma once

#include <memory>
#include <string>

#include "apps/penstock/console.h"
#include "apps/penstock/environment.h"
#include "apps/penstock/exit_code.h"
#include "apps/penstock/option_flags.h"
#include "penstock/bigquery/sink/sink_options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
}  // namespace CLI

namespace penstock::emulator {
class Emulator;
}  // namespace penstock::emulator

namespace penstock::command {

/// The flags that say where a command works: the service, an emulator, or the embedded one.
class TargetFlags {
 public:
  explicit TargetFlags(CLI::App& app);

  /// Puts the connection flags into `options` and checks how they go together. Errors name the
  /// flags.
  [[nodiscard]] absl::Status apply(bigquery::SinkOptions& options) const;

  [[nodiscard]] bool local() const { return local_; }
  [[nodiscard]] const std::string& dataDirectory() const { return dataDirectory_; }

 private:
  bool local_ = false;
  std::string dataDirectory_;
  OptionFlags connection_;
};

/// Where a command works, ready to be used: with `--local` the embedded emulator runs as long as
/// this lives.
class Target {
 public:
  /// `options` is what TargetFlags::apply filled; with `--local` the emulator's addresses are added
  /// to it. An error says why there is no target: a data directory in use, a port that cannot be
  /// had.
  static absl::StatusOr<std::unique_ptr<Target>> open(const TargetFlags& flags,
                                                      const Environment& environment,
                                                      bigquery::SinkOptions& options);
  ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  /// "BigQuery, with application-default credentials"; what every command prints first.
  [[nodiscard]] const std::string& description() const { return description_; }
  /// The same in fewer words, for sentences: "the embedded emulator".
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool local() const { return emulator_ != nullptr; }

 private:
  Target();
  std::string description_;
  std::string name_;
  std::unique_ptr<emulator::Emulator> emulator_;
};

/// Where `options` lead, for people: "BigQuery", "the emulator at ...".
[[nodiscard]] std::string nameOfTarget(const bigquery::SinkOptions& options);

}  // namespace penstock::command
