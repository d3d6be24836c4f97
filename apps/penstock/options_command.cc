#include <CLI/CLI.hpp>

#include "apps/penstock/reference_pages.h"
#include "apps/penstock/subcommand.h"
#include "penstock/bigquery/serializers/protobuf_options.h"
#include "penstock/bigquery/sink/sink_options.h"

namespace penstock::command {
namespace {

constexpr std::string_view kBigQuerySink = "bigquery";
constexpr std::string_view kProtobuf = "protobuf";

class OptionsCommand final : public Subcommand {
 public:
  explicit OptionsCommand(CLI::App& app) {
    app.description("Lists options of a connector or a format: keys, types, bounds, defaults.");
    app.add_option("OF", of_, "bigquery (the sink) or protobuf (messages as records)")
        ->capture_default_str();
    app.add_option("--markdown", directory_, "write the reference pages into DIR instead")
        ->type_name("DIR");
    app.footer(
        "Examples:\n"
        "  penstock options\n"
        "  penstock options protobuf\n"
        "  penstock options --markdown docs/reference");
  }

  ExitCode run(const CommandContext& context) override {
    if (of_ != kBigQuerySink && of_ != kProtobuf) {
      context.console.error(
          fmt::format("nothing that has options is called '{}'; there are: {}, {}", of_,
                      kBigQuerySink, kProtobuf));
      return ExitCode::kUsage;
    }
    if (directory_.empty()) {
      context.console.result(optionsAsText(of_ == kProtobuf
                                               ? bigquery::protobufOptionSet().definitions()
                                               : bigquery::sinkOptionSet().definitions()));
      return ExitCode::kSuccess;
    }
    if (const absl::Status status = writeReferencePages(directory_); !status.ok()) {
      context.console.error(fmt::format("--markdown: {}", base::messageOf(status)));
      return ExitCode::kFailed;
    }
    return ExitCode::kSuccess;
  }

 private:
  std::string of_{kBigQuerySink};
  std::string directory_;
};

}  // namespace

std::unique_ptr<Subcommand> makeOptionsCommand(CLI::App& app) {
  return std::make_unique<OptionsCommand>(app);
}

}  // namespace penstock::command
