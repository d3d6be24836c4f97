// Any bytes as a message of a type with every kind of field, for several tables; or as a descriptor
// set and a message of its first type. What becomes a row is one that libprotobuf reads by the
// row's own descriptor, with fields in order, and the same one that libprotobuf's own serialization
// of the message becomes.
#include <fmt/format.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/struct.pb.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/bigquery/schema/row_descriptor.h"
#include "penstock/bigquery/serializers/protobuf_canonicalizer.h"
#include "penstock/bigquery/serializers/protobuf_message_serializer.h"
#include "penstock/bigquery/serializers/protobuf_wire_reader.h"

namespace penstock::bigquery {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptorProto;

void require(bool condition) {
  if (!condition) std::abort();
}

Field* addField(pb::DescriptorProto* type, int number, Field::Type kind,
                Field::Label label = Field::LABEL_OPTIONAL, std::string typeName = "") {
  Field* field = type->add_field();
  field->set_name(fmt::format("f{}", number));
  field->set_number(number);
  field->set_type(kind);
  field->set_label(label);
  if (!typeName.empty()) field->set_type_name(std::move(typeName));
  return field;
}

/// Message `M` of one field of every scalar type (1 to 17, without group and message), the same
/// repeated (21 to 37) and what is made of messages (41 on).
std::string everyKind(const char* syntax) {
  pb::FileDescriptorSet set;
  for (const pb::Descriptor* known : {pb::Struct::descriptor()}) {
    known->file()->CopyTo(set.add_file());
  }
  pb::FileDescriptorProto* file = set.add_file();
  file->set_name("fuzz.proto");
  file->set_syntax(syntax);
  for (const char* name : {"timestamp", "duration", "field_mask", "struct", "wrappers"}) {
    file->add_dependency(fmt::format("google/protobuf/{}.proto", name));
  }
  pb::EnumDescriptorProto* color = file->add_enum_type();
  color->set_name("E");
  for (const int number : {0, 1, 300}) {
    pb::EnumValueDescriptorProto* value = color->add_value();
    value->set_name(fmt::format("V{}", number));
    value->set_number(number);
  }
  pb::DescriptorProto* type = file->add_message_type();
  type->set_name("M");
  pb::DescriptorProto* inner = type->add_nested_type();
  inner->set_name("I");
  addField(inner, 2, Field::TYPE_STRING);
  addField(inner, 1, Field::TYPE_INT64, Field::LABEL_REPEATED);
  addField(inner, 3, Field::TYPE_SINT32);
  pb::DescriptorProto* entry = type->add_nested_type();
  entry->set_name("F45Entry");
  entry->mutable_options()->set_map_entry(true);
  addField(entry, 1, Field::TYPE_STRING)->set_name("key");
  addField(entry, 2, Field::TYPE_MESSAGE, Field::LABEL_OPTIONAL, "I")->set_name("value");
  for (int kind = 1; kind <= Field::Type_MAX; ++kind) {
    if (kind == Field::TYPE_GROUP || kind == Field::TYPE_MESSAGE) continue;
    const auto fieldType = static_cast<Field::Type>(kind);
    const std::string typeName = fieldType == Field::TYPE_ENUM ? ".E" : "";
    addField(type, kind, fieldType, Field::LABEL_OPTIONAL, typeName);
    addField(type, kind + 20, fieldType, Field::LABEL_REPEATED, typeName);
  }
  const auto addMessage = [&](int number, const char* name, Field::Label label) {
    return addField(type, number, Field::TYPE_MESSAGE, label, name);
  };
  type->add_oneof_decl()->set_name("one");
  addMessage(41, "I", Field::LABEL_OPTIONAL)->set_oneof_index(0);
  addField(type, 42, Field::TYPE_INT32)->set_oneof_index(0);
  addMessage(43, "I", Field::LABEL_REPEATED);
  addMessage(45, "F45Entry", Field::LABEL_REPEATED);
  addMessage(46, ".google.protobuf.Timestamp", Field::LABEL_OPTIONAL);
  addMessage(47, ".google.protobuf.Duration", Field::LABEL_REPEATED);
  addMessage(48, ".google.protobuf.FieldMask", Field::LABEL_OPTIONAL);
  addMessage(49, ".google.protobuf.Struct", Field::LABEL_OPTIONAL);
  addMessage(50, ".google.protobuf.UInt64Value", Field::LABEL_OPTIONAL);
  addMessage(51, ".google.protobuf.StringValue", Field::LABEL_REPEATED);
  return set.SerializeAsString();
}

/// A table, its rows' type and what serializes into it.
class Target {
 public:
  Target(std::shared_ptr<const ProtobufMapping> mapping, const TableSchema& columns,
         const ProtobufMessageOptions& options)
      : mapping_(std::move(mapping)), canonicalizer_(mapping_->descriptor()) {
    auto serializer = ProtobufMessageSerializer::create(*mapping_, columns, options);
    require(serializer.ok());
    serializer_ = *std::move(serializer);
    pb::FileDescriptorProto file;
    file.set_name("row.proto");
    require(file.add_message_type()->ParseFromString(*rowDescriptor(columns)));
    const pb::FileDescriptor* built = pool_.BuildFile(file);
    require(built != nullptr);
    rowType_ = built->message_type(0);
  }

  void check(std::string_view message) {
    // From memory of its own size: the sanitizer sees what is read behind its end.
    const std::vector<char> exact(message.begin(), message.end());
    std::string row;
    if (!serialize({exact.data(), exact.size()}, &row)) return;
    const std::string meaning = meaningOf(row);
    std::string canonical;
    if (!canonicalizer_.rewrite(message, &canonical)) return;
    std::string again;
    require(serialize(canonical, &again));
    require(meaningOf(again) == meaning);
  }

 private:
  bool serialize(std::string_view message, std::string* row) {
    connector::RowBatch rows;
    const absl::Status status = serializer_->serialize(message, rows.beginRow());
    if (!status.ok()) {
      require(absl::IsInvalidArgument(status) && !base::messageOf(status).empty());
      rows.discardRow();
      return false;
    }
    rows.commitRow(connector::RowOrigin::kUnknown);
    *row = rows.row(0);
    requireOrder(*rowType_, row->data(), row->data() + row->size());
    return true;
  }

  /// The row's fields are those of its type and their numbers do not fall.
  static void requireOrder(const pb::Descriptor& type, const char* at, const char* end) {
    uint32_t last = 0;
    while (at != end) {
      uint32_t tag = 0;
      at = readTag(at, end, &tag);
      require(at != nullptr && fieldNumberOf(tag) >= last);
      last = fieldNumberOf(tag);
      const char* const value = at;
      at = skipValue(at, end, tag);
      require(at != nullptr);
      const pb::FieldDescriptor* field = type.FindFieldByNumber(static_cast<int>(last));
      require(field != nullptr);
      if (field->message_type() == nullptr) continue;
      size_t size = 0;
      const char* const content = readLength(value, at, &size);
      require(content != nullptr);
      requireOrder(*field->message_type(), content, at);
    }
  }

  /// What libprotobuf reads from the row, in one form.
  std::string meaningOf(const std::string& row) {
    const std::unique_ptr<pb::Message> read(factory_.GetPrototype(rowType_)->New());
    require(read->ParseFromString(row));
    return read->SerializeAsString();
  }

  std::shared_ptr<const ProtobufMapping> mapping_;
  std::unique_ptr<ProtobufMessageSerializer> serializer_;
  ProtobufCanonicalizer canonicalizer_;
  pb::DescriptorPool pool_;
  const pb::Descriptor* rowType_ = nullptr;
  pb::DynamicMessageFactory factory_;
};

/// The same columns in another order, some of other types.
TableSchema otherColumns(TableSchema schema) {
  std::vector<Column>& columns = schema.columns;
  for (Column& column : columns) {
    if (column.name == "f9") column.type = ColumnType::kNumeric;     // string
    if (column.name == "f29") column.type = ColumnType::kTimestamp;  // strings
    if (column.name == "f5") column.type = ColumnType::kDate;        // int32
    if (column.name == "f14") column.type = ColumnType::kInt64;      // enum
    if (column.name == "f48") column.mode = ColumnMode::kRequired;
  }
  std::swap(columns.front(), columns.back());
  std::swap(columns[3], columns[columns.size() / 2]);
  return schema;
}

std::vector<std::unique_ptr<Target>> makeTargets() {
  std::vector<std::unique_ptr<Target>> targets;
  for (const char* syntax : {"proto2", "proto3"}) {
    for (const ProtoSchemaOptions& options :
         {ProtoSchemaOptions{}, ProtoSchemaOptions{.deriveRequiredColumns = true,
                                .jsonFieldPaths = {"f41", "f43", "f46", "f51", "f9"}}}) {
      const auto mapping = ProtobufMapping::fromDescriptorSet(everyKind(syntax), "M", options);
      require(mapping.ok());
      const TableSchema& schema = (*mapping)->tableSchema();
      targets.push_back(std::make_unique<Target>(*mapping, schema, ProtobufMessageOptions{}));
      if (options.deriveRequiredColumns) continue;
      targets.push_back(std::make_unique<Target>(
          *mapping, otherColumns(schema), ProtobufMessageOptions{.rejectUnknownFields = true}));
    }
  }
  return targets;
}

/// Two bytes of length, a descriptor set, a message of the last type in it.
void checkWithDescriptors(std::string_view input) {
  if (input.size() < 2) return;
  const size_t size = static_cast<uint8_t>(input[0]) + 256U * static_cast<uint8_t>(input[1]);
  input.remove_prefix(2);
  const std::string_view set = input.substr(0, size);
  const std::string_view message = input.substr(set.size());
  pb::FileDescriptorSet files;
  if (!files.ParseFromArray(set.data(), static_cast<int>(set.size())) || files.file_size() == 0) {
    return;
  }
  const pb::FileDescriptorProto& file = files.file(files.file_size() - 1);
  if (file.message_type_size() == 0) return;
  const std::string name = (file.package().empty() ? "" : file.package() + ".") +
                           file.message_type(file.message_type_size() - 1).name();
  const auto mapping = ProtobufMapping::fromDescriptorSet(set, name);
  if (!mapping.ok()) {
    require(!base::messageOf(mapping.status()).empty());
    return;
  }
  Target(*mapping, (*mapping)->tableSchema(), {}).check(message);
}

}  // namespace
}  // namespace penstock::bigquery

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto kTargets = penstock::bigquery::makeTargets();
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data + 1), size - 1);
  const size_t which = data[0] % (kTargets.size() + 1);
  if (which < kTargets.size()) {
    kTargets[which]->check(input);
  } else {
    penstock::bigquery::checkWithDescriptors(input);
  }
  return 0;
}
