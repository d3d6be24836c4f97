#include "apps/penstock/pipeline_file.h"

#include <gmock/gmock.h>

namespace penstock::command {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kSmallest =
    "source:\n"
    "  files: a.jsonl\n"
    "sink:\n"
    "  connector: bigquery\n"
    "  table: p.d.t\n";

std::string refusal(const std::string& text) {
  return std::string(base::messageOf(parsePipeline("x.yaml", text).status()));
}

/// Of the smallest pipeline with more lines below.
std::string refusalWith(const std::string& lines) { return refusal(kSmallest + lines); }

TEST(PipelineFile, NeedsASourceAndASink) {
  const auto pipeline = parsePipeline("x.yaml", kSmallest);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_THAT(pipeline->plan.inputs, ElementsAre("a.jsonl"));
  EXPECT_EQ(pipeline->plan.destination.text(), "p.d.t");
  EXPECT_EQ(pipeline->plan.onError, OnError::kFail);
  EXPECT_EQ(pipeline->plan.executor.parallelism, 1);
  EXPECT_EQ(pipeline->options.defaultStreamOptions, bigquery::DefaultStreamOptions());
}

TEST(PipelineFile, HoldsTheOptionsOfMessages) {
  const std::string messages =
      "source:\n  files: a.pb\n  format: protobuf\n  descriptor-set: a.set\n  message: p.M\n"
      "  options:\n";
  const std::string sink = "sink:\n  connector: bigquery\n  table: p.d.t\n";
  const auto pipeline =
      parsePipeline("x.yaml", messages +
                                  "    protobuf.json-field-paths: [a.b, c]\n"
                                  "    protobuf.geography-field-options: p.is_place=50002\n"
                                  "    protobuf.reject-unknown-fields: true\n" +
                                  sink);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const bigquery::ProtobufOptions& options = pipeline->plan.protobuf->options;
  EXPECT_THAT(options.jsonFieldPaths, ElementsAre("a.b", "c"));
  EXPECT_THAT(options.geographyFieldOptions, ElementsAre("p.is_place=50002"));
  EXPECT_TRUE(options.rejectUnknownFields);
  EXPECT_EQ(refusal(messages + "    protobuf.json-field-path: a\n" + sink),
            "x.yaml:7:31: unknown option 'protobuf.json-field-path', did you mean "
            "'protobuf.json-field-paths'?");
  EXPECT_THAT(refusal(messages + "    protobuf.json-field-options: x\n" + sink),
              HasSubstr("protobuf.json-field-options: 'x' is not an option on fields"));
  EXPECT_THAT(refusal("source:\n  files: a.jsonl\n  options: {}\n" + sink),
              HasSubstr("source.options needs source.format: protobuf"));
}

TEST(PipelineFile, HoldsEverythingThatALoadIsTold) {
  const auto pipeline = parsePipeline("x.yaml", R"(
source:
  files: [a.jsonl, 'logs/*.gz']
  format: json
sink:
  connector: bigquery
  table: p.d.events_${country}
  schema: schema.json
  ignore-unknown-fields: true
  options:
    sink.create-disposition: create-never
    sink.max-append-request-bytes: 1 MiB
    sink.clustered-fields: [a, b]
    sink.emulator-endpoint: localhost:9060
executor:
  parallelism: 4
  checkpoint-dir: state
  checkpoint-interval: 2s
  on-error: drop
)");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const LoadPlan& plan = pipeline->plan;
  EXPECT_THAT(plan.inputs, ElementsAre("a.jsonl", "logs/*.gz"));
  EXPECT_EQ(plan.destination.text(), "p.d.events_${country}");
  EXPECT_EQ(plan.schemaFile, "schema.json");
  EXPECT_EQ(plan.names.schema, "x.yaml:8:11: sink.schema");
  EXPECT_TRUE(plan.ignoreUnknownFields);
  EXPECT_EQ(plan.onError, OnError::kDrop);
  EXPECT_EQ(plan.executor.parallelism, 4);
  EXPECT_EQ(plan.executor.checkpointDirectory, "state");
  EXPECT_EQ(plan.executor.checkpointInterval, std::chrono::seconds(2));
  const bigquery::SinkOptions& options = pipeline->options;
  EXPECT_EQ(options.createDisposition, bigquery::CreateDisposition::kCreateNever);
  EXPECT_EQ(options.defaultStreamOptions.maxAppendRequestBytes, 1 << 20);
  EXPECT_THAT(options.tableCreateOptions.clusteredFields, ElementsAre("a", "b"));
  EXPECT_EQ(options.emulatorEndpoint->text(), "localhost:9060");
}

TEST(PipelineFile, ProtobufMessagesNeedTheirTypeAndOneTable) {
  const std::string messages =
      "source: {files: a.pb, format: protobuf, descriptor-set: d.set, message: shop.Order}\n";
  const std::string sink = "sink: {connector: bigquery, table: p.d.t";
  const auto pipeline = parsePipeline("x.yaml", messages + sink + "}\n");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  ASSERT_TRUE(pipeline->plan.protobuf.has_value());
  EXPECT_EQ(pipeline->plan.protobuf->descriptorSetFile, "d.set");
  EXPECT_EQ(pipeline->plan.protobuf->messageName, "shop.Order");
  EXPECT_EQ(pipeline->plan.names.message, "x.yaml:1:73: source.message");
  EXPECT_THAT(refusal("source: {files: a, format: protobuf}\n" + sink + "}\n"),
              StartsWith("x.yaml:1:9: source has no 'descriptor-set'"));
  EXPECT_THAT(refusal("source: {files: a, message: shop.Order}\n" + sink + "}\n"),
              StartsWith("x.yaml:1:29: source.message needs source.format: protobuf"));
  EXPECT_THAT(refusal(messages + "sink:\n  connector: bigquery\n  table: p.d.t_${country}\n"),
              StartsWith("x.yaml:4:10: sink.table has fields"));
  EXPECT_THAT(refusal(messages + sink + ", autodetect: true}\n"),
              HasSubstr("sink.autodetect is for JSON"));
}

TEST(PipelineFile, AnUnknownKeyIsNamedWithItsPlaceAndTheNearestOne) {
  EXPECT_EQ(refusalWith("executor:\n  paralelism: 2\n"),
            "x.yaml:7:3: unknown key 'paralelism' in executor, did you mean 'parallelism'?");
  EXPECT_EQ(refusalWith("exec:\n"),
            "x.yaml:6:1: unknown key 'exec', there are source, sink, "
            "executor");
  EXPECT_EQ(refusalWith("  options:\n    sink.locaton: EU\n"),
            "x.yaml:7:19: unknown option 'sink.locaton', did you mean 'sink.location'?");
  EXPECT_EQ(refusal("source:\n  file: a\nsink: {}\n"),
            "x.yaml:2:3: unknown key 'file' in source, did you mean 'files'?");
}

TEST(PipelineFile, ABadValueIsNamedWithItsPlace) {  // BASE-002
  const std::pair<const char*, const char*> bad[] = {
      {"executor:\n  parallelism: 0\n", "x.yaml:7:16: executor.parallelism must be 1 to 256: '0'"},
      {"executor:\n  parallelism: two\n", "x.yaml:7:16: executor.parallelism must be a whole"},
      {"executor:\n  parallelism:\n", "x.yaml:7:3: executor.parallelism has no value"},
      {"executor:\n  parallelism: [1]\n", "x.yaml:7:16: executor.parallelism must be a single"},
      {"executor:\n  on-error: ignore\n", "x.yaml:7:13: executor.on-error: 'ignore' is not one"},
      {"executor:\n  checkpoint-interval: 1s\n",
       "x.yaml:7:24: executor.checkpoint-interval needs executor.checkpoint-dir"},
      {"executor:\n  checkpoint-dir: d\n  checkpoint-interval: x\n",
       "x.yaml:8:24: executor.checkpoint-interval"},
      {"executor:\n  checkpoint-dir: \"\"\n",
       "x.yaml:7:19: executor.checkpoint-dir must name a directory"},
      {"  options:\n    sink.location: [US, EU]\n",
       "x.yaml:7:20: sink.options.sink.location takes one value, no list"},
      {"executor: 5\n", "x.yaml:6:11: executor must be a mapping"},
      {"  autodetect: yes\n", "x.yaml:6:15: sink.autodetect must be true or false, not 'yes'"},
      {"  schema: s\n  autodetect: true\n", "x.yaml:7:15: sink.autodetect and sink.schema exclude"},
      {"  table: p.d.u\n", "x.yaml:6:3: the key 'table' stands twice"},
      {"  options:\n    sink.max-append-request-bytes: 0\n",
       "x.yaml:7:36: sink.max-append-request-bytes must be > 0: '0'"},
      {"  options:\n    sink.time-partitioning-field: a\n",
       "x.yaml:7:5: sink.time-partitioning-field needs sink.time-partitioning-type"},
      {"  options:\n    sink.write-method: file-loads\n",
       "x.yaml:7:24: sink.write-method: FILE_LOADS is not supported yet"}};
  for (const auto& [lines, message] : bad) EXPECT_THAT(refusalWith(lines), StartsWith(message));
  EXPECT_THAT(refusal("source:\n  files: []\nsink: {}\n"),
              StartsWith("x.yaml:2:10: source.files is an empty list"));
  EXPECT_THAT(refusal("source:\n  files: a\n  format: csv\nsink: {}\n"),
              StartsWith("x.yaml:3:11: source.format must be json or protobuf, not 'csv'"));
  EXPECT_THAT(refusal("source:\n  files: a\nsink:\n  connector: kafka\n  table: p.d.t\n"),
              StartsWith("x.yaml:4:14: sink.connector must be bigquery, not 'kafka'"));
  EXPECT_THAT(refusal("source:\n  files: a\nsink:\n  connector: bigquery\n  table: p.d.$x\n"),
              StartsWith("x.yaml:5:10: sink.table: 'p.d.$x' has a lone $"));
  EXPECT_THAT(refusal("source: {files: ['-']}\nsink: {connector: bigquery, table: p.d.t}\n"
                      "executor: {checkpoint-dir: d}\n"),
              StartsWith("x.yaml:3:28: - (standard input) cannot be read again from a checkpoint"));
}

TEST(PipelineFile, WhatIsMissingIsNamed) {
  EXPECT_EQ(refusal(""), "x.yaml: there is nothing in it");
  EXPECT_EQ(refusal("# only a comment\n"), "x.yaml: there is nothing in it");
  EXPECT_THAT(refusal("source:\n  files: a\n"), HasSubstr("the file has no 'sink'"));
  EXPECT_EQ(refusal("source:\n  format: json\nsink: {}\n"), "x.yaml:2:3: source has no 'files'");
  EXPECT_EQ(refusal("source: {files: a}\nsink:\n  connector: bigquery\n"),
            "x.yaml:3:3: sink has no 'table'");
}

TEST(PipelineFile, WhatIsNoYamlIsNamedWithItsPlace) {
  EXPECT_THAT(refusal("source: [a\nsink: b"), StartsWith("x.yaml:2:"));
  EXPECT_THAT(refusal("a:\tb\n\tc: 1"), HasSubstr("not valid YAML: illegal tab"));
  EXPECT_THAT(refusal("source:\n\tfiles: a\n"),
              HasSubstr("(line 2 is indented with a tab; YAML takes only spaces)"));
  EXPECT_THAT(refusal("- a\n"), StartsWith("x.yaml:1:1: the file must be a mapping"));
  EXPECT_THAT(refusal("a: 1\n---\nb: 2\n"), HasSubstr("a second document"));
  EXPECT_THAT(refusal("? [a]\n: 1\n"), HasSubstr("a key must be a single word"));
  EXPECT_THAT(std::string(base::messageOf(readPipelineFile("/no/such/file").status())),
              HasSubstr("/no/such/file: cannot read it"));
}

}  // namespace
}  // namespace penstock::command
