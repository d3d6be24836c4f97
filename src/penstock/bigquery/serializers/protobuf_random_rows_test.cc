// Random message types and messages: the row, read by libprotobuf with the row's own descriptor,
// holds what libprotobuf reads from the message, field by field.
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "penstock/bigquery/schema/row_descriptor.h"
#include "penstock/bigquery/serializers/protobuf_canonicalizer.h"
#include "penstock/bigquery/serializers/protobuf_message_serializer.h"
#include "penstock/bigquery/serializers/protobuf_wire_reader.h"
#include "penstock/bigquery/serializers/testing/json_serializer_fixture.h"
#include "penstock/bigquery/serializers/testing/random_protobuf.h"

namespace penstock::bigquery {
namespace {

namespace pb = google::protobuf;
using FieldType = pb::FieldDescriptor;

/// Makes rows by reflection, by the words of BQT-016 to BQT-019.
class ReferenceConverter {
 public:
  void convert(const pb::Message& message, pb::Message* row) {
    const pb::Descriptor& type = *message.GetDescriptor();
    const bool isEntry = type.map_key() != nullptr;
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldType* field = type.field(i);
      const FieldType* column = row->GetDescriptor()->field(i);
      const pb::Reflection& reflection = *message.GetReflection();
      if (field->is_map()) {
        convertMap(message, field, row, column);
      } else if (field->is_repeated()) {
        for (int j = 0; j < reflection.FieldSize(message, field); ++j) {
          convertValue(message, field, j, row, column);
        }
      } else if (isEntry || !field->has_presence() || reflection.HasField(message, field)) {
        convertValue(message, field, -1, row, column);
      }
    }
  }

 private:
  void convertMap(const pb::Message& message, const FieldType* field, pb::Message* row,
                  const FieldType* column) {
    const pb::Reflection& reflection = *message.GetReflection();
    std::map<std::string, int> last;
    for (int j = 0; j < reflection.FieldSize(message, field); ++j) {
      const pb::Message& entry = reflection.GetRepeatedMessage(message, field, j);
      std::string key;
      pb::TextFormat::PrintFieldValueToString(entry, entry.GetDescriptor()->map_key(), -1, &key);
      last[key] = j;
    }
    for (const auto& [key, index] : last) {
      convert(reflection.GetRepeatedMessage(message, field, index),
              row->GetReflection()->AddMessage(row, column));
    }
  }

  void convertValue(const pb::Message& message, const FieldType* field, int index, pb::Message* row,
                    const FieldType* column) {
    const pb::Reflection& from = *message.GetReflection();
    if (field->cpp_type() != FieldType::CPPTYPE_MESSAGE) {
      return convertScalar(message, field, index, row, column);
    }
    const pb::Message& value = index < 0 ? from.GetMessage(message, field)
                                         : from.GetRepeatedMessage(message, field, index);
    const pb::Descriptor& type = *value.GetDescriptor();
    if (type.file()->package() != "google.protobuf") {
      pb::Message* nested = index < 0 ? row->GetReflection()->MutableMessage(row, column)
                                      : row->GetReflection()->AddMessage(row, column);
      return convert(value, nested);
    }
    const pb::Reflection& reflection = *value.GetReflection();
    if (type.name() == "FieldMask") {
      std::string paths;
      for (int j = 0; j < reflection.FieldSize(value, type.field(0)); ++j) {
        const std::string path = reflection.GetRepeatedString(value, type.field(0), j);
        if (!path.empty()) paths += (paths.empty() ? "" : ",") + path;
      }
      return putString(paths, index, row, column);
    }
    if (type.name() == "Timestamp" || type.name() == "Duration") {
      return putInt64(reflection.GetInt64(value, type.FindFieldByName("seconds")) * 1'000'000 +
                          reflection.GetInt32(value, type.FindFieldByName("nanos")) / 1000,
                      index, row, column);
    }
    const bool isElement = index >= 0;
    convertScalar(value, type.field(0), -1, row, column, isElement);
  }

  void convertScalar(const pb::Message& message, const FieldType* field, int index,
                     pb::Message* row, const FieldType* column, bool isElement = false) {
    const pb::Reflection& from = *message.GetReflection();
    const int to = isElement ? 0 : index;
    const bool isRepeated = index >= 0;
    switch (field->cpp_type()) {
      case FieldType::CPPTYPE_INT32:
        return putInt64(isRepeated ? from.GetRepeatedInt32(message, field, index)
                                   : from.GetInt32(message, field),
                        to, row, column);
      case FieldType::CPPTYPE_INT64:
        return putInt64(isRepeated ? from.GetRepeatedInt64(message, field, index)
                                   : from.GetInt64(message, field),
                        to, row, column);
      case FieldType::CPPTYPE_UINT32:
        return putInt64(isRepeated ? from.GetRepeatedUInt32(message, field, index)
                                   : from.GetUInt32(message, field),
                        to, row, column);
      case FieldType::CPPTYPE_UINT64:
        return putInt64(
            static_cast<int64_t>(isRepeated ? from.GetRepeatedUInt64(message, field, index)
                                            : from.GetUInt64(message, field)),
            to, row, column);
      case FieldType::CPPTYPE_DOUBLE:
        return putDouble(isRepeated ? from.GetRepeatedDouble(message, field, index)
                                    : from.GetDouble(message, field),
                         to, row, column);
      case FieldType::CPPTYPE_FLOAT:
        return putDouble(isRepeated ? from.GetRepeatedFloat(message, field, index)
                                    : from.GetFloat(message, field),
                         to, row, column);
      case FieldType::CPPTYPE_BOOL: {
        const bool value =
            isRepeated ? from.GetRepeatedBool(message, field, index) : from.GetBool(message, field);
        if (to < 0) return row->GetReflection()->SetBool(row, column, value);
        return row->GetReflection()->AddBool(row, column, value);
      }
      case FieldType::CPPTYPE_ENUM: {
        const int number = isRepeated ? from.GetRepeatedEnumValue(message, field, index)
                                      : from.GetEnumValue(message, field);
        const pb::EnumValueDescriptor* value = field->enum_type()->FindValueByNumber(number);
        return putString(
            value != nullptr ? value->name() : "UNKNOWN_ENUM_VALUE_Color_" + std::to_string(number),
            to, row, column);
      }
      default:
        return putString(isRepeated ? from.GetRepeatedString(message, field, index)
                                    : from.GetString(message, field),
                         to, row, column);
    }
  }

  static void putInt64(int64_t value, int index, pb::Message* row, const FieldType* column) {
    if (index < 0) return row->GetReflection()->SetInt64(row, column, value);
    row->GetReflection()->AddInt64(row, column, value);
  }
  static void putDouble(double value, int index, pb::Message* row, const FieldType* column) {
    if (index < 0) return row->GetReflection()->SetDouble(row, column, value);
    row->GetReflection()->AddDouble(row, column, value);
  }
  static void putString(const std::string& value, int index, pb::Message* row,
                        const FieldType* column) {
    if (index < 0) return row->GetReflection()->SetString(row, column, value);
    row->GetReflection()->AddString(row, column, value);
  }
};

/// Repeated messages are compared as sets: the entries of maps have no order.
void treatMessagesAsSets(const pb::Descriptor& type, pb::util::MessageDifferencer* differencer) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldType* field = type.field(i);
    if (field->message_type() == nullptr) continue;
    if (field->is_repeated()) differencer->TreatAsSet(field);
    treatMessagesAsSets(*field->message_type(), differencer);
  }
}

/// BQT-007: the numbers of the fields rise, on every level.
bool isInOrder(const pb::Descriptor& type, const char* at, const char* end) {
  uint32_t last = 0;
  while (at != end) {
    uint32_t tag = 0;
    at = readTag(at, end, &tag);
    if (at == nullptr || fieldNumberOf(tag) < last) return false;
    last = fieldNumberOf(tag);
    const char* const value = at;
    at = skipValue(at, end, tag);
    if (at == nullptr) return false;
    const FieldType* field = type.FindFieldByNumber(static_cast<int>(last));
    if (field == nullptr) return false;
    if (field->message_type() == nullptr) continue;
    size_t size = 0;
    const char* const content = readLength(value, at, &size);
    if (!isInOrder(*field->message_type(), content, at)) return false;
  }
  return true;
}

/// A message type with its rows' type beside it.
class RandomTable {
 public:
  explicit RandomTable(uint64_t seed) : random_(base::seededRandom(seed)) {
    auto mapping = ProtobufMapping::fromDescriptorSet(randomMessageType(*random_), "random.M");
    EXPECT_TRUE(mapping.ok()) << mapping.status();
    if (!mapping.ok()) return;
    mapping_ = *std::move(mapping);
    serializer_ = *ProtobufMessageSerializer::create(*mapping_, mapping_->tableSchema());
    pb::FileDescriptorProto file;
    file.set_name("row.proto");
    EXPECT_TRUE(file.add_message_type()->ParseFromString(*rowDescriptor(mapping_->tableSchema())));
    rowType_ = pool_.BuildFile(file)->message_type(0);
    treatMessagesAsSets(*rowType_, &differencer_);
    differencer_.ReportDifferencesToString(&difference_);
  }

  void checkSomeMessages() {
    if (mapping_ == nullptr) return;
    for (int i = 0; i < 20; ++i) {
      const auto message = newMessage(&mapping_->descriptor());
      fillRandomly(message.get(), *random_);
      std::string bytes = message->SerializePartialAsString();
      if (random_->chance(0.6)) bytes = mangled(bytes, *random_);
      check(bytes);
      if (::testing::Test::HasFailure()) return;
    }
  }

 private:
  std::unique_ptr<pb::Message> newMessage(const pb::Descriptor* type) {
    return std::unique_ptr<pb::Message>(factory_.GetPrototype(type)->New());
  }

  void check(const std::string& bytes) {
    const auto message = newMessage(&mapping_->descriptor());
    ASSERT_TRUE(message->ParsePartialFromString(bytes));
    const auto expected = newMessage(rowType_);
    ReferenceConverter().convert(*message, expected.get());
    connector::RowBatch rows;
    const absl::Status status = serializer_->serialize(bytes, rows.beginRow());
    ASSERT_TRUE(status.ok()) << status << "\n" << message->DebugString();
    rows.commitRow(connector::RowOrigin::kUnknown);
    const std::string_view row = rows.row(0);
    EXPECT_TRUE(isInOrder(*rowType_, row.data(), row.data() + row.size())) << toHex(row);
    const auto read = newMessage(rowType_);
    ASSERT_TRUE(read->ParseFromArray(row.data(), static_cast<int>(row.size()))) << toHex(row);
    difference_.clear();
    EXPECT_TRUE(differencer_.Compare(*expected, *read))
        << difference_ << "\nmessage " << toHex(bytes) << "\n"
        << message->DebugString() << "\nrow " << toHex(row) << "\n"
        << mapping_->descriptor().DebugString();
  }

  std::unique_ptr<base::Random> random_;
  std::shared_ptr<const ProtobufMapping> mapping_;
  std::unique_ptr<ProtobufMessageSerializer> serializer_;
  pb::DescriptorPool pool_;
  const pb::Descriptor* rowType_ = nullptr;
  pb::DynamicMessageFactory factory_;
  pb::util::MessageDifferencer differencer_;
  std::string difference_;
};

// BQT-007, BQT-008, BQT-016, BQT-017, BQT-019
TEST(ProtobufRandomRows, HoldWhatProtobufReadsFromTheirMessages) {
  constexpr uint64_t kTypes = 400;
  for (uint64_t seed = 0; seed < kTypes && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomTable(seed).checkSomeMessages();
  }
}

// BQT-018
TEST(ProtobufRandomRows, HoldTheJsonThatProtobufWrites) {
  constexpr uint64_t kTypes = 150;
  for (uint64_t seed = 0; seed < kTypes && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const std::unique_ptr<base::Random> random = base::seededRandom(seed);
    pb::FileDescriptorSet set;
    ASSERT_TRUE(set.ParseFromString(randomMessageType(*random)));
    pb::FileDescriptorProto* file = set.mutable_file(set.file_size() - 1);
    pb::DescriptorProto* holder = file->add_message_type();
    holder->set_name("Holder");
    pb::FieldDescriptorProto* field = holder->add_field();
    field->set_name("m");
    field->set_number(1);
    field->set_label(pb::FieldDescriptorProto::LABEL_OPTIONAL);
    field->set_type(pb::FieldDescriptorProto::TYPE_MESSAGE);
    field->set_type_name(".random.M");
    const auto mapping = ProtobufMapping::fromDescriptorSet(
        set.SerializeAsString(), "random.Holder", {.jsonFieldPaths = {"m"}});
    ASSERT_TRUE(mapping.ok()) << mapping.status();
    const auto serializer =
        *ProtobufMessageSerializer::create(**mapping, (*mapping)->tableSchema());
    pb::DynamicMessageFactory factory;
    ProtobufCanonicalizer canonicalizer(*(*mapping)->descriptor().field(0)->message_type());
    for (int i = 0; i < 10; ++i) {
      const pb::Descriptor* type = (*mapping)->descriptor().field(0)->message_type();
      const std::unique_ptr<pb::Message> message(factory.GetPrototype(type)->New());
      fillRandomly(message.get(), *random);
      // Protobuf's printer takes closed enums for open ones.
      std::string bytes;
      ASSERT_TRUE(canonicalizer.rewrite(message->SerializePartialAsString(), &bytes));
      message->ParsePartialFromString(bytes);
      std::string expected;
      const auto printed = pb::util::MessageToJsonString(*message, &expected);
      ASSERT_TRUE(printed.ok()) << printed;
      connector::RowBatch rows;
      std::string outer = "\x0A";
      char length[kMaxVarintBytes];
      outer.append(length, writeVarint(length, bytes.size()));
      outer += bytes;
      const absl::Status status = serializer->serialize(outer, rows.beginRow());
      ASSERT_TRUE(status.ok()) << status;
      rows.commitRow(connector::RowOrigin::kUnknown);
      std::string_view row = rows.row(0);
      size_t size = 0;
      const char* json = readLength(row.data() + 1, row.data() + row.size(), &size);
      EXPECT_EQ(nlohmann::json::parse(std::string_view(json, size)),
                nlohmann::json::parse(expected))
          << std::string_view(json, size) << "\n"
          << expected << "\n"
          << message->DebugString();
    }
  }
}

}  // namespace
}  // namespace penstock::bigquery
