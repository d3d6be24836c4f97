#include "penstock/bigquery/serializers/testing/random_protobuf.h"

#include <fmt/format.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/wrappers.pb.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "penstock/bigquery/serializers/protobuf_wire_reader.h"

namespace penstock::bigquery {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptorProto;

constexpr Field::Type kScalars[] = {Field::TYPE_DOUBLE,   Field::TYPE_FLOAT,   Field::TYPE_INT64,
                                    Field::TYPE_UINT64,   Field::TYPE_INT32,   Field::TYPE_BOOL,
                                    Field::TYPE_FIXED64,  Field::TYPE_FIXED32, Field::TYPE_STRING,
                                    Field::TYPE_BYTES,    Field::TYPE_UINT32,  Field::TYPE_SFIXED32,
                                    Field::TYPE_SFIXED64, Field::TYPE_SINT32,  Field::TYPE_SINT64};

class TypeMaker {
 public:
  explicit TypeMaker(base::Random& random) : random_(random), isProto3_(random.chance(0.5)) {}

  std::string make() {
    pb::FileDescriptorSet set;
    for (const pb::Descriptor* type : {pb::Timestamp::descriptor(), pb::Duration::descriptor(),
                                       pb::FieldMask::descriptor(), pb::Int64Value::descriptor()}) {
      type->file()->CopyTo(set.add_file());
      file_.add_dependency(type->file()->name());
    }
    file_.set_name("random.proto");
    file_.set_package("random");
    file_.set_syntax(isProto3_ ? "proto3" : "proto2");
    pb::EnumDescriptorProto* color = file_.add_enum_type();
    color->set_name("Color");
    for (const int number : {0, 1, -3, 70'000}) {
      pb::EnumValueDescriptorProto* value = color->add_value();
      value->set_name(fmt::format("COLOR_{}", color->value_size()));
      value->set_number(number);
    }
    *file_.add_message_type() = message("M", 0);
    *set.add_file() = file_;
    return set.SerializeAsString();
  }

 private:
  pb::DescriptorProto message(const std::string& name, int depth) {
    pb::DescriptorProto type;
    type.set_name(name);
    const uint64_t numFields = 1 + random_.below(depth == 0 ? 12 : 4);
    const bool isInOrder = random_.chance(0.6);
    std::vector<int> numbers;
    for (int number = 1; numbers.size() < numFields;) {
      numbers.push_back(number);
      number += random_.chance(0.7) ? 1 : 1 + static_cast<int>(random_.below(700));
    }
    for (uint64_t index = 0; index < numFields; ++index) {
      const uint64_t other = isInOrder ? index : random_.below(numFields);
      std::swap(numbers[index], numbers[other]);
    }
    const bool hasOneof = random_.chance(0.4);
    for (uint64_t index = 0; index < numFields; ++index) {
      addField(fmt::format("f{}", index), numbers[index], depth, hasOneof, &type);
    }
    return type;
  }

  void addField(const std::string& name, int number, int depth, bool mayBeInOneof,
                pb::DescriptorProto* type) {
    Field* field = type->add_field();
    field->set_name(name);
    field->set_number(number);
    field->set_label(random_.chance(0.3) ? Field::LABEL_REPEATED : Field::LABEL_OPTIONAL);
    switch (random_.below(8)) {
      case 0:
        field->set_type(Field::TYPE_ENUM);
        field->set_type_name(".random.Color");
        break;
      case 1:
        if (depth >= 2) {
          setScalar(field);
          break;
        }
        field->set_type(Field::TYPE_MESSAGE);
        *type->add_nested_type() = message("T" + name, depth + 1);
        field->set_type_name("T" + name);
        break;
      case 2:
        return setMap(name, depth, field, type);
      case 3: {
        constexpr const char* kKnown[] = {"Timestamp",   "Duration",    "FieldMask",
                                          "Int64Value",  "StringValue", "BoolValue",
                                          "DoubleValue", "UInt32Value", "BytesValue"};
        field->set_type(Field::TYPE_MESSAGE);
        field->set_type_name(fmt::format(".google.protobuf.{}", kKnown[random_.below(9)]));
        break;
      }
      default:
        setScalar(field);
        break;
    }
    if (field->label() == Field::LABEL_REPEATED) return;
    // The members of a oneof stand side by side.
    const int numFields = type->field_size();
    const bool isBehindMember = numFields > 1 && type->field(numFields - 2).has_oneof_index();
    if (mayBeInOneof && random_.chance(0.7) && (type->oneof_decl_size() == 0 || isBehindMember)) {
      if (type->oneof_decl_size() == 0) type->add_oneof_decl()->set_name("one");
      field->set_oneof_index(0);
    }
  }

  void setScalar(Field* field) {
    field->set_type(kScalars[random_.below(std::size(kScalars))]);
    const bool canBePacked =
        field->type() != Field::TYPE_STRING && field->type() != Field::TYPE_BYTES;
    if (field->label() == Field::LABEL_REPEATED && canBePacked && random_.chance(0.5)) {
      field->mutable_options()->set_packed(random_.chance(0.5));
    }
  }

  void setMap(const std::string& name, int depth, Field* field, pb::DescriptorProto* type) {
    constexpr Field::Type kKeys[] = {Field::TYPE_STRING, Field::TYPE_INT32, Field::TYPE_BOOL,
                                     Field::TYPE_SINT64, Field::TYPE_FIXED32};
    pb::DescriptorProto entry;
    entry.set_name("F" + name.substr(1) + "Entry");
    entry.mutable_options()->set_map_entry(true);
    Field* key = entry.add_field();
    key->set_name("key");
    key->set_number(1);
    key->set_label(Field::LABEL_OPTIONAL);
    key->set_type(kKeys[random_.below(std::size(kKeys))]);
    Field* value = entry.add_field();
    value->set_name("value");
    value->set_number(2);
    value->set_label(Field::LABEL_OPTIONAL);
    if (depth < 2 && random_.chance(0.3)) {
      *type->add_nested_type() = message("V" + name, depth + 1);
      value->set_type(Field::TYPE_MESSAGE);
      value->set_type_name("V" + name);
    } else if (random_.chance(0.2)) {
      value->set_type(Field::TYPE_ENUM);
      value->set_type_name(".random.Color");
    } else {
      value->set_type(kScalars[random_.below(std::size(kScalars))]);
    }
    field->set_type(Field::TYPE_MESSAGE);
    field->set_label(Field::LABEL_REPEATED);
    field->set_type_name(entry.name());
    *type->add_nested_type() = entry;
  }

  base::Random& random_;
  const bool isProto3_;
  pb::FileDescriptorProto file_;
};

std::string randomText(base::Random& random) {
  constexpr const char* kPieces[] = {"", "a", "größe", "\"\\\n", "some longer text than others",
                                     "€"};
  return kPieces[random.below(std::size(kPieces))];
}

/// As many bits as any.
uint64_t randomBits(base::Random& random) { return random.next() >> random.below(64); }

void setValue(pb::Message* message, const pb::FieldDescriptor* field, base::Random& random) {
  const pb::Reflection& reflection = *message->GetReflection();
  const bool isRepeated = field->is_repeated();
  const auto put = [&](auto set, auto add, auto value) {
    if (isRepeated) {
      (reflection.*add)(message, field, value);
    } else {
      (reflection.*set)(message, field, value);
    }
  };
  const uint64_t bits = random.chance(0.2) ? 0 : randomBits(random);
  switch (field->cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32:
      return put(&pb::Reflection::SetInt32, &pb::Reflection::AddInt32, static_cast<int32_t>(bits));
    case pb::FieldDescriptor::CPPTYPE_INT64:
      return put(&pb::Reflection::SetInt64, &pb::Reflection::AddInt64,
                 static_cast<int64_t>(random.chance(0.5) ? bits : ~bits));
    case pb::FieldDescriptor::CPPTYPE_UINT32:
      return put(&pb::Reflection::SetUInt32, &pb::Reflection::AddUInt32,
                 static_cast<uint32_t>(bits));
    case pb::FieldDescriptor::CPPTYPE_UINT64:
      return put(&pb::Reflection::SetUInt64, &pb::Reflection::AddUInt64, bits >> 1);
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      return put(&pb::Reflection::SetDouble, &pb::Reflection::AddDouble, random.uniform());
    case pb::FieldDescriptor::CPPTYPE_FLOAT:
      return put(&pb::Reflection::SetFloat, &pb::Reflection::AddFloat,
                 static_cast<float>(random.below(4000)) / 16);
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return put(&pb::Reflection::SetBool, &pb::Reflection::AddBool, bits % 2 != 0);
    case pb::FieldDescriptor::CPPTYPE_ENUM: {
      const pb::EnumDescriptor& type = *field->enum_type();
      const int index = static_cast<int>(random.below(static_cast<uint64_t>(type.value_count())));
      int number = type.value(index)->number();
      if (random.chance(0.1)) number = 17;
      return put(&pb::Reflection::SetEnumValue, &pb::Reflection::AddEnumValue, number);
    }
    case pb::FieldDescriptor::CPPTYPE_STRING:
      if (isRepeated) return reflection.AddString(message, field, randomText(random));
      return reflection.SetString(message, field, randomText(random));
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      return fillRandomly(isRepeated ? reflection.AddMessage(message, field)
                                     : reflection.MutableMessage(message, field),
                          random);
  }
}

/// One field of a message: its bytes with the tag.
struct Piece {
  uint32_t number;
  std::string bytes;
};

std::vector<Piece> piecesOf(const std::string& bytes) {
  std::vector<Piece> pieces;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end) {
    const char* const begin = at;
    uint32_t tag = 0;
    at = readTag(at, end, &tag);
    at = skipValue(at, end, tag);
    pieces.push_back({fieldNumberOf(tag), std::string(begin, at)});
  }
  return pieces;
}

}  // namespace

std::string randomMessageType(base::Random& random) { return TypeMaker(random).make(); }

void fillRandomly(pb::Message* message, base::Random& random) {
  const pb::Descriptor& type = *message->GetDescriptor();
  const pb::Reflection& reflection = *message->GetReflection();
  if (type.full_name() == "google.protobuf.Timestamp" ||
      type.full_name() == "google.protobuf.Duration") {
    reflection.SetInt64(message, type.FindFieldByName("seconds"),
                        static_cast<int64_t>(random.below(4'000'000'000)));
    if (random.chance(0.7)) {
      reflection.SetInt32(message, type.FindFieldByName("nanos"),
                          static_cast<int32_t>(random.below(1'000'000'000)));
    }
    return;
  }
  if (type.full_name() == "google.protobuf.FieldMask") {
    const pb::FieldDescriptor* paths = type.FindFieldByName("paths");
    for (uint64_t left = random.below(3); left > 0; --left) {
      reflection.AddString(message, paths, "foo_bar.b");
    }
    return;
  }
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor* field = type.field(i);
    // Entries of a map that lack a part are left to `mangled`.
    if (type.map_key() == nullptr && random.chance(0.3)) continue;
    uint64_t count = field->is_repeated() ? random.below(4) : 1;
    for (; count > 0; --count) setValue(message, field, random);
  }
}

std::string mangled(const std::string& bytes, base::Random& random) {
  std::vector<Piece> pieces = piecesOf(bytes);
  if (random.chance(0.5)) {
    // Some twice, so that the last counts or messages merge.
    const size_t numPieces = pieces.size();
    for (size_t index = 0; index < numPieces; ++index) {
      if (random.chance(0.3)) pieces.push_back(pieces[random.below(numPieces)]);
    }
  }
  if (random.chance(0.5)) {
    for (size_t left = pieces.size(); left > 1; --left) {
      std::swap(pieces[left - 1], pieces[random.below(left)]);
    }
  }
  std::string result;
  for (const Piece& piece : pieces) {
    if (random.chance(0.1)) result += std::string("\xFA\xFF\xFF\xFF\x0F\x02xy", 8);  // unknown
    result += piece.bytes;
  }
  return result;
}

}  // namespace penstock::bigquery
