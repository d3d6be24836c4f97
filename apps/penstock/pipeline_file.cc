#include "apps/penstock/pipeline_file.h"

#include <algorithm>

#include "apps/penstock/text_file.h"
#include "apps/penstock/yaml_settings.h"

namespace penstock::command {
namespace {

using base::OptionSpelling;

/// Reads the mappings of one file into a pipeline.
class PipelineReader {
 public:
  absl::StatusOr<Pipeline> read(const YamlMap& root) {
    static constexpr std::string_view kKeys[] = {"source", "sink", "executor"};
    PENSTOCK_RETURN_IF_ERROR(root.checkKeys(kKeys));
    PENSTOCK_RETURN_IF_ERROR(within(root, "source", &PipelineReader::readSource));
    PENSTOCK_RETURN_IF_ERROR(within(root, "sink", &PipelineReader::readSink));
    if (root.find("executor") != nullptr) {
      PENSTOCK_RETURN_IF_ERROR(within(root, "executor", &PipelineReader::readExecutor));
    }
    return std::move(pipeline_);
  }

 private:
  absl::Status within(const YamlMap& root, std::string_view key,
                      absl::Status (PipelineReader::*read)(const YamlMap&)) {
    PENSTOCK_ASSIGN_OR_RETURN(const YamlSetting* setting, root.require(key));
    PENSTOCK_ASSIGN_OR_RETURN(const YamlMap map, YamlMap::of(*setting));
    return (this->*read)(map);
  }

  absl::Status readSource(const YamlMap& source) {
    static constexpr std::string_view kKeys[] = {"files", "format", "descriptor-set", "message",
                                                 "options"};
    PENSTOCK_RETURN_IF_ERROR(source.checkKeys(kKeys));
    PENSTOCK_ASSIGN_OR_RETURN(const YamlSetting* files, source.require("files"));
    PENSTOCK_ASSIGN_OR_RETURN(pipeline_.plan.inputs, files->texts());
    const YamlSetting* format = source.find("format");
    std::string name = "json";
    if (format != nullptr) {
      PENSTOCK_ASSIGN_OR_RETURN(name, format->text());
    }
    if (name == "protobuf") return readMessages(source);
    if (name != "json") {
      return format->problem(fmt::format("must be json or protobuf, not '{}'", name));
    }
    for (const std::string_view key : {"descriptor-set", "message", "options"}) {
      const YamlSetting* setting = source.find(key);
      if (setting != nullptr) return setting->problem("needs source.format: protobuf");
    }
    return absl::OkStatus();
  }

  absl::Status readMessages(const YamlMap& source) {
    PENSTOCK_ASSIGN_OR_RETURN(const YamlSetting* descriptors, source.require("descriptor-set"));
    PENSTOCK_ASSIGN_OR_RETURN(const YamlSetting* message, source.require("message"));
    ProtobufRecords& records = pipeline_.plan.protobuf.emplace();
    PENSTOCK_ASSIGN_OR_RETURN(records.descriptorSetFile, descriptors->text());
    PENSTOCK_ASSIGN_OR_RETURN(records.messageName, message->text());
    pipeline_.plan.names.descriptorSet = descriptors->where();
    pipeline_.plan.names.message = message->where();
    const YamlSetting* options = source.find("options");
    if (options == nullptr) return absl::OkStatus();
    PENSTOCK_RETURN_IF_ERROR(readOptions(*options, bigquery::protobufOptionSet(), records.options));
    return options->place.problem(records.options.schemaOptions(OptionSpelling::kKey).status());
  }

  absl::Status readSink(const YamlMap& sink) {
    static constexpr std::string_view kKeys[] = {
        "connector", "table", "schema", "autodetect", "ignore-unknown-fields", "options"};
    PENSTOCK_RETURN_IF_ERROR(sink.checkKeys(kKeys));
    PENSTOCK_ASSIGN_OR_RETURN(const YamlSetting* connector, sink.require("connector"));
    PENSTOCK_ASSIGN_OR_RETURN(const std::string name, connector->text());
    if (name != "bigquery") {
      return connector->problem(fmt::format("must be bigquery, not '{}'", name));
    }
    PENSTOCK_RETURN_IF_ERROR(readTable(sink));
    PENSTOCK_RETURN_IF_ERROR(readSchema(sink));
    if (const YamlSetting* ignore = sink.find("ignore-unknown-fields")) {
      PENSTOCK_ASSIGN_OR_RETURN(pipeline_.plan.ignoreUnknownFields, ignore->boolean());
    }
    const YamlSetting* options = sink.find("options");
    if (options == nullptr) return absl::OkStatus();
    PENSTOCK_RETURN_IF_ERROR(readOptions(*options, bigquery::sinkOptionSet(), pipeline_.options));
    // A copy: flags may still change single options.
    bigquery::SinkOptions applied = pipeline_.options;
    absl::Status status = bigquery::applyWriteMethod(applied, OptionSpelling::kKey);
    if (status.ok()) status = bigquery::validate(applied, OptionSpelling::kKey);
    return options->place.problem(status);
  }

  absl::Status readTable(const YamlMap& sink) {
    PENSTOCK_ASSIGN_OR_RETURN(const YamlSetting* table, sink.require("table"));
    PENSTOCK_ASSIGN_OR_RETURN(const std::string text, table->text());
    auto destination = DestinationTemplate::parse(text);
    if (!destination.ok()) return base::withContext(destination.status(), table->where());
    if (pipeline_.plan.protobuf && !destination->isFixed()) {
      return table->problem("has fields, which is for JSON; protobuf messages go to one table");
    }
    pipeline_.plan.destination = *std::move(destination);
    pipeline_.plan.names.destination = table->where();
    return absl::OkStatus();
  }

  absl::Status readSchema(const YamlMap& sink) {
    LoadPlan& plan = pipeline_.plan;
    const YamlSetting* schema = sink.find("schema");
    const YamlSetting* autodetect = sink.find("autodetect");
    plan.names.schema = schema != nullptr ? schema->where() : "sink.schema:";
    plan.names.autodetect = autodetect != nullptr ? autodetect->where() : "sink.autodetect: true";
    if (schema != nullptr) {
      PENSTOCK_ASSIGN_OR_RETURN(plan.schemaFile, schema->text());
    }
    if (autodetect != nullptr) {
      PENSTOCK_ASSIGN_OR_RETURN(plan.autodetect, autodetect->boolean());
    }
    if (autodetect == nullptr || !plan.autodetect) return absl::OkStatus();
    if (plan.protobuf) {
      return autodetect->problem(
          "is for JSON: the columns of protobuf messages come from their type");
    }
    if (schema == nullptr) return absl::OkStatus();
    return autodetect->problem("and sink.schema exclude each other");
  }

  /// Each by its key in the registry.
  template <typename Options>
  static absl::Status readOptions(const YamlSetting& setting, const base::OptionSet<Options>& set,
                                  Options& options) {
    PENSTOCK_ASSIGN_OR_RETURN(const YamlMap map, YamlMap::of(setting));
    for (const YamlSetting& option : map.settings()) {
      PENSTOCK_ASSIGN_OR_RETURN(const std::vector<std::string> values, option.texts());
      const auto& known = set.definitions();
      const bool isSingle =
          std::any_of(known.begin(), known.end(), [&](const base::OptionDefinition& definition) {
            return definition.key == map.keyOf(option) &&
                   definition.type != base::OptionType::kStringList;
          });
      if (isSingle && option.node.IsSequence()) return option.problem("takes one value, no list");
      const absl::Status status =
          set.set(options, map.keyOf(option), fmt::format("{}", fmt::join(values, ",")),
                  OptionSpelling::kKey);
      if (!status.ok()) return option.place.problem(status);
    }
    return absl::OkStatus();
  }

  absl::Status readExecutor(const YamlMap& executor) {
    static constexpr std::string_view kKeys[] = {"parallelism", "checkpoint-dir",
                                                 "checkpoint-interval", "on-error"};
    PENSTOCK_RETURN_IF_ERROR(executor.checkKeys(kKeys));
    LoadPlan& plan = pipeline_.plan;
    if (const YamlSetting* parallelism = executor.find("parallelism")) {
      PENSTOCK_ASSIGN_OR_RETURN(const int64_t number, parallelism->integer());
      PENSTOCK_RETURN_IF_ERROR(checkParallelism(parallelism->where(), number));
      plan.executor.parallelism = static_cast<int>(number);
    }
    const YamlSetting* directory = executor.find("checkpoint-dir");
    if (directory != nullptr) {
      PENSTOCK_ASSIGN_OR_RETURN(plan.executor.checkpointDirectory, directory->text());
      if (plan.executor.checkpointDirectory.empty()) {
        return directory->problem("must name a directory; leave it out to take no checkpoints");
      }
      PENSTOCK_RETURN_IF_ERROR(
          directory->place.problem(checkCanContinue(plan, "executor.checkpoint-dir")));
    }
    if (const YamlSetting* interval = executor.find("checkpoint-interval")) {
      PENSTOCK_ASSIGN_OR_RETURN(const std::string text, interval->text());
      PENSTOCK_ASSIGN_OR_RETURN(plan.executor.checkpointInterval,
                                parseCheckpointInterval(interval->where(), text));
      if (directory == nullptr) return interval->problem("needs executor.checkpoint-dir");
    }
    if (const YamlSetting* onError = executor.find("on-error")) {
      PENSTOCK_ASSIGN_OR_RETURN(const std::string text, onError->text());
      PENSTOCK_ASSIGN_OR_RETURN(plan.onError, parseOnError(onError->where(), text));
    }
    return absl::OkStatus();
  }

  Pipeline pipeline_;
};

}  // namespace

absl::StatusOr<Pipeline> readPipelineFile(const std::string& path) {
  const absl::StatusOr<std::string> text = readTextFile(path);
  if (!text.ok()) return base::withContext(text.status(), path);
  return parsePipeline(path, *text);
}

absl::StatusOr<Pipeline> parsePipeline(const std::string& name, const std::string& text) {
  PENSTOCK_ASSIGN_OR_RETURN(const YamlMap root, YamlMap::parse(name, text));
  return PipelineReader().read(root);
}

}  // namespace penstock::command
