#include "penstock/bigquery/serializers/testing/protobuf_fixture.h"

#include <fmt/format.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "penstock/bigquery/schema/row_descriptor.h"
#include "penstock/bigquery/schema/type_name.h"
#include "penstock/bigquery/serializers/testing/json_serializer_fixture.h"

namespace penstock::bigquery {
namespace {

namespace pb = google::protobuf;

/// The imports that the text needs.
std::string importsOf(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
      {"google.protobuf.Any", "any"},
      {"google.protobuf.Duration", "duration"},
      {"google.protobuf.Empty", "empty"},
      {"google.protobuf.FieldMask", "field_mask"},
      {"google.protobuf.FieldOptions", "descriptor"},
      {"google.protobuf.Timestamp", "timestamp"},
  };
  std::string imports;
  const auto add = [&](std::string_view file) {
    imports += fmt::format("import \"google/protobuf/{}.proto\";\n", file);
  };
  const auto has = [&](std::string_view word) { return text.find(word) != text.npos; };
  for (const auto& [word, file] : kFiles) {
    if (has(word)) add(file);
  }
  if (has("google.protobuf.Struct") || has("google.protobuf.Value") ||
      has("google.protobuf.ListValue")) {
    add("struct");
  }
  for (const char* scalar :
       {"Int32", "Int64", "UInt32", "UInt64", "Float", "Double", "Bool", "String", "Bytes"}) {
    if (!has(fmt::format("google.protobuf.{}Value", scalar))) continue;
    add("wrappers");
    break;
  }
  return imports;
}

/// A folder that goes away with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "protoc-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "no folder " << pattern;
    path_ = pattern;
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string oneLine(const pb::Message& message) {
  pb::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(message, &text);
  if (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string describe(const std::vector<Column>& columns) {
  std::vector<std::string> parts;
  for (const Column& column : columns) {
    const std::string mode =
        column.mode == ColumnMode::kNullable ? "" : std::string(nameOf(column.mode)) + " ";
    const std::string fields =
        column.type == ColumnType::kStruct ? "<" + describe(column.fields) + ">" : "";
    parts.push_back(fmt::format("{} {}{}{}", column.name, mode, nameOf(column.type), fields));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string descriptorSetOf(std::string_view text, std::string_view syntax) {
  const ScratchFolder folder;
  const std::string proto = folder.path() / "test.proto";
  const std::string set = folder.path() / "test.set";
  std::ofstream(proto) << fmt::format("syntax = \"{}\";\npackage test;\n{}\n{}", syntax,
                                      importsOf(text), text);
  const std::string command =
      fmt::format("protoc -I {} --include_imports --descriptor_set_out={} {}",
                  folder.path().string(), set, proto);
  EXPECT_EQ(std::system(command.c_str()), 0) << text;
  std::ifstream file(set, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

ProtobufType::ProtobufType(std::string_view text, const ProtoSchemaOptions& options,
                           std::string_view syntax)
    : factory_(std::make_shared<pb::DynamicMessageFactory>()) {
  auto mapping =
      ProtobufMapping::fromDescriptorSet(descriptorSetOf(text, syntax), "test.M", options);
  status_ = mapping.status();
  if (!mapping.ok()) return;
  mapping_ = *std::move(mapping);
  columns_ = mapping_->tableSchema();
}

std::string ProtobufType::columns() const {
  return status_.ok() ? describe(columns_.columns) : std::string(base::messageOf(status_));
}

std::unique_ptr<pb::Message> ProtobufType::newMessage() const {
  return std::unique_ptr<pb::Message>(factory_->GetPrototype(&mapping_->descriptor())->New());
}

std::string ProtobufType::bytesOf(std::string_view textFormat) const {
  const std::unique_ptr<pb::Message> message = newMessage();
  pb::TextFormat::Parser parser;
  parser.AllowPartialMessage(true);
  EXPECT_TRUE(parser.ParseFromString(std::string(textFormat), message.get())) << textFormat;
  return message->SerializePartialAsString();
}

ProtobufType& ProtobufType::into(TableSchema columns) {
  columns_ = std::move(columns);
  return *this;
}

ProtobufType& ProtobufType::with(const ProtobufMessageOptions& options) {
  options_ = options;
  return *this;
}

absl::StatusOr<std::string> ProtobufType::rowOfBytes(std::string_view message) const {
  PENSTOCK_RETURN_IF_ERROR(status_);
  PENSTOCK_ASSIGN_OR_RETURN(auto serializer,
                            ProtobufMessageSerializer::create(*mapping_, columns_, options_));
  // From memory of its own size, so that a sanitizer sees what is read behind its end.
  const std::vector<char> exact(message.begin(), message.end());
  connector::RowBatch batch;
  const absl::Status status = serializer->serialize({exact.data(), exact.size()}, batch.beginRow());
  if (!status.ok()) {
    batch.discardRow();
    return status;
  }
  batch.commitRow();
  return std::string(batch.row(0));
}

std::string ProtobufType::hexRowOfBytes(std::string_view message) const {
  const absl::StatusOr<std::string> row = rowOfBytes(message);
  return row.ok() ? toHex(*row) : std::string(base::messageOf(row.status()));
}

std::string ProtobufType::hexRow(std::string_view textFormat) const {
  if (!status_.ok()) return std::string(base::messageOf(status_));
  return hexRowOfBytes(bytesOf(textFormat));
}

std::string ProtobufType::textRow(std::string_view textFormat) const {
  if (!status_.ok()) return std::string(base::messageOf(status_));
  const absl::StatusOr<std::string> row = rowOfBytes(bytesOf(textFormat));
  if (!row.ok()) return std::string(base::messageOf(row.status()));
  return readRow(columns_, *row);
}

std::string readRow(const TableSchema& columns, std::string_view row) {
  const absl::StatusOr<std::string> descriptor = rowDescriptor(columns);
  if (!descriptor.ok()) return std::string(base::messageOf(descriptor.status()));
  pb::FileDescriptorProto file;
  file.set_name("row.proto");
  EXPECT_TRUE(file.add_message_type()->ParseFromString(*descriptor));
  file.mutable_message_type(0)->clear_extension();
  pb::DescriptorPool pool;
  const pb::FileDescriptor* built = pool.BuildFile(file);
  if (built == nullptr) return "no descriptor";
  pb::DynamicMessageFactory factory;
  const std::unique_ptr<pb::Message> message(factory.GetPrototype(built->message_type(0))->New());
  if (!message->ParseFromArray(row.data(), static_cast<int>(row.size()))) return "no row";
  return oneLine(*message);
}

std::string fromHex(std::string_view digits) {
  std::string bytes;
  for (size_t at = 0; at + 1 < digits.size(); at += 2) {
    if (digits[at] == ' ') ++at;
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(at, 2)), nullptr, 16));
  }
  return bytes;
}

}  // namespace penstock::bigquery
