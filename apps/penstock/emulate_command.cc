#include <CLI/CLI.hpp>

#include "apps/penstock/flag_names.h"
#include "apps/penstock/subcommand.h"
#include "penstock/base/mailbox.h"
#include "penstock/emulator/emulator.h"
#include "penstock/runtime/stop_signals.h"

namespace penstock::command {
namespace {

/// The emulator's options as its messages name them.
constexpr FlagName kFlagNames[] = {{"host", "--host"},          {"restPort", "--rest-port"},
                                   {"grpcPort", "--grpc-port"}, {"dataDirectory", "--data-dir"},
                                   {"datasets", "--dataset"},   {"defaultLocation", "--location"}};

ExitCode exitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return ExitCode::kUsage;
    case absl::StatusCode::kUnavailable:  // a port in use, an address that is not this machine's
      return ExitCode::kBadInput;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kDataLoss:
      return ExitCode::kCheckpoint;
    default:
      return ExitCode::kFailed;
  }
}

class EmulateCommand final : public Subcommand {
 public:
  explicit EmulateCommand(CLI::App& app) {
    app.description("Runs the BigQuery emulator until SIGINT or SIGTERM.");
    app.add_option("--host", options_.host, "address to bind")
        ->type_name("HOST")
        ->capture_default_str();
    app.add_option("--rest-port", options_.restPort, "port of the REST API; 0 = any free one")
        ->type_name("PORT")
        ->capture_default_str();
    app.add_option("--grpc-port", options_.grpcPort,
                   "port of the Storage Write API; 0 = any free one")
        ->type_name("PORT")
        ->capture_default_str();
    app.add_option("--data-dir", options_.dataDirectory,
                   "where tables and rows stay; without it they go at the end")
        ->type_name("DIR");
    app.add_option("--dataset", options_.datasets,
                   "dataset to make unless it exists; may be repeated")
        ->type_name("PROJECT.DATASET")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--location", options_.defaultLocation, "location of datasets made without one")
        ->type_name("LOCATION")
        ->capture_default_str();
    app.footer(
        "Any project exists; a dataset exists once it is made, by --dataset or over REST. Nothing "
        "is asked of\n"
        "clients but plaintext: credentials are neither needed nor looked at.\n"
        "Examples:\n"
        "  penstock emulate --dataset p.d\n"
        "  penstock emulate --dataset p.d --data-dir /var/tmp/bigquery\n"
        "  penstock load x.jsonl --to p.d.t --autodetect \\\n"
        "      --emulator-endpoint localhost:9060 --emulator-rest-endpoint localhost:9050");
  }

  ExitCode run(const CommandContext& context) override {
    base::Mailbox<int> signals;
    const runtime::StopSignals stop([&signals] { signals.post(1); },
                                    [&signals] { signals.post(2); });
    auto emulator = emulator::Emulator::start(options_);
    if (!emulator.ok()) {
      return report(context.console, emulator.status());
    }
    context.console.result(fmt::format(
        "penstock emulator: REST on http://{}, gRPC on {} (plaintext), data in {}{}",
        (*emulator)->restEndpoint(), (*emulator)->grpcEndpoint(), (*emulator)->dataDirectory(),
        options_.dataDirectory.empty() ? " (temporary)" : ""));
    signals.waitUntil(base::kNever);
    context.console.note("penstock: stopping");
    (*emulator)->stop();
    return ExitCode::kSuccess;
  }

 private:
  ExitCode report(Console& console, const absl::Status& status) const {
    const std::string message = withFlagNames(base::messageOf(status), kFlagNames);
    const std::string& directory = options_.dataDirectory;
    const bool aboutDirectory = !directory.empty() && message.find(directory) != std::string::npos;
    console.error(aboutDirectory ? fmt::format("--data-dir: {}", message) : message);
    return aboutDirectory ? ExitCode::kCheckpoint : exitCodeOf(status);
  }

  emulator::EmulatorOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> makeEmulateCommand(CLI::App& app) {
  return std::make_unique<EmulateCommand>(app);
}

}  // namespace penstock::command
