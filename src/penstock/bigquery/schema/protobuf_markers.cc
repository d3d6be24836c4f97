#include "penstock/bigquery/schema/protobuf_markers.h"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "penstock/base/status.h"

namespace penstock::bigquery {
namespace {

using base::invalidArgument;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::UnknownField;

constexpr int kMinOptionNumber = 1000;
constexpr int kMaxOptionNumber = 536'870'911;
constexpr int kFirstReserved = 19'000;
constexpr int kLastReserved = 19'999;
constexpr std::string_view kFieldOptions = "google.protobuf.FieldOptions";

bool isSingularBool(const FieldDescriptor& field) {
  return !field.is_repeated() && field.type() == FieldDescriptor::TYPE_BOOL;
}

/// The `extend google.protobuf.FieldOptions` declaration of a number that is best for `fullName`:
/// the one of that name, else the first.
class DeclarationSearch {
 public:
  DeclarationSearch(int number, std::string_view fullName) : number_(number), name_(fullName) {}

  const FieldDescriptor* in(const FileDescriptor& file) {
    visit(file);
    return named_ != nullptr ? named_ : first_;
  }

 private:
  void visit(const FileDescriptor& file) {
    if (!visited_.insert(&file).second) return;
    for (int i = 0; i < file.extension_count(); ++i) consider(*file.extension(i));
    for (int i = 0; i < file.message_type_count(); ++i) visit(*file.message_type(i));
    for (int i = 0; i < file.dependency_count(); ++i) visit(*file.dependency(i));
  }
  void visit(const Descriptor& message) {
    for (int i = 0; i < message.extension_count(); ++i) consider(*message.extension(i));
    for (int i = 0; i < message.nested_type_count(); ++i) visit(*message.nested_type(i));
  }
  void consider(const FieldDescriptor& extension) {
    if (extension.number() != number_) return;
    if (extension.containing_type()->full_name() != kFieldOptions) return;
    if (first_ == nullptr) first_ = &extension;
    if (named_ == nullptr && extension.full_name() == name_) named_ = &extension;
  }

  const int number_;
  const std::string_view name_;
  std::unordered_set<const FileDescriptor*> visited_;
  const FieldDescriptor* first_ = nullptr;
  const FieldDescriptor* named_ = nullptr;
};

absl::Status notSingularBool(int number, const std::string& path) {
  return invalidArgument("field \"{}\": the field option {} on it is not a singular bool", path,
                         number);
}

/// The option as an extension that the program has linked in; none: it is not set as one.
absl::StatusOr<std::optional<bool>> readResolved(const FieldDescriptor& field, int number,
                                                 const std::string& fullName,
                                                 const std::string& path) {
  const google::protobuf::FieldOptions& options = field.options();
  const google::protobuf::Reflection& reflection = *options.GetReflection();
  std::vector<const FieldDescriptor*> set;
  reflection.ListFields(options, &set);
  for (const FieldDescriptor* extension : set) {
    if (!extension->is_extension() || extension->number() != number) continue;
    if (!fullName.empty() && extension->full_name() != fullName) return std::optional(false);
    if (!isSingularBool(*extension)) return notSingularBool(number, path);
    return std::optional(reflection.GetBool(options, extension));
  }
  return std::optional<bool>();
}

/// The option as bytes that nothing linked in knows: normal for serialized descriptors.
absl::StatusOr<bool> readUnknown(const FieldDescriptor& field, int number,
                                 const std::string& fullName, const std::string& path) {
  const google::protobuf::FieldOptions& options = field.options();
  const google::protobuf::UnknownFieldSet& unknown =
      options.GetReflection()->GetUnknownFields(options);
  std::vector<const UnknownField*> found;
  for (int i = 0; i < unknown.field_count(); ++i) {
    if (unknown.field(i).number() == number) found.push_back(&unknown.field(i));
  }
  if (found.empty()) return false;
  if (const FieldDescriptor* declared = DeclarationSearch(number, fullName).in(*field.file())) {
    if (!fullName.empty() && declared->full_name() != fullName) return false;
    if (!isSingularBool(*declared)) return notSingularBool(number, path);
    for (auto last = found.rbegin(); last != found.rend(); ++last) {
      if ((*last)->type() == UnknownField::TYPE_VARINT) return (*last)->varint() != 0;
    }
    return notSingularBool(number, path);
  }
  if (found.size() != 1 || found[0]->type() != UnknownField::TYPE_VARINT ||
      found[0]->varint() > 1) {
    return invalidArgument(
        "field \"{}\": the field option {} on it is not encoded as a singular bool", path, number);
  }
  return found[0]->varint() == 1;
}

absl::Status checkPaths(const std::vector<std::string>& paths, const char* name) {
  for (const std::string& path : paths) {
    const bool isBlank =
        std::all_of(path.begin(), path.end(), [](unsigned char c) { return std::isspace(c) != 0; });
    if (isBlank) return invalidArgument("{} must not be blank; it is \"{}\"", name, path);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ProtobufMarkers::readOptions(const std::vector<ProtobufFieldOption>& from,
                                          const char* name, Kind* kind) {
  for (const ProtobufFieldOption& option : from) {
    const int number = option.number;
    if (number < kMinOptionNumber || number > kMaxOptionNumber ||
        (number >= kFirstReserved && number <= kLastReserved)) {
      return invalidArgument(
          "{}: an extension of FieldOptions has a number of 1000 to 536870911 that is not one of "
          "19000 to 19999; found {}",
          name, number);
    }
    std::string& known = kind->options[number];
    if (!option.fullName.empty()) known = option.fullName;
  }
  return absl::OkStatus();
}

absl::StatusOr<ProtobufMarkers> ProtobufMarkers::create(const ProtoSchemaOptions& options) {
  PENSTOCK_RETURN_IF_ERROR(checkPaths(options.jsonFieldPaths, "jsonFieldPaths"));
  PENSTOCK_RETURN_IF_ERROR(checkPaths(options.geographyFieldPaths, "geographyFieldPaths"));
  ProtobufMarkers markers;
  markers.json_.paths.insert(options.jsonFieldPaths.begin(), options.jsonFieldPaths.end());
  markers.geography_.paths.insert(options.geographyFieldPaths.begin(),
                                  options.geographyFieldPaths.end());
  PENSTOCK_RETURN_IF_ERROR(
      readOptions(options.jsonFieldOptions, "jsonFieldOptions", &markers.json_));
  PENSTOCK_RETURN_IF_ERROR(
      readOptions(options.geographyFieldOptions, "geographyFieldOptions", &markers.geography_));
  for (const auto& [number, name] : markers.json_.options) {
    if (markers.geography_.options.contains(number)) {
      return invalidArgument("the field option {} marks fields both as JSON and as GEOGRAPHY",
                             number);
    }
  }
  return markers;
}

absl::StatusOr<bool> ProtobufMarkers::isMarked(const Kind& kind, const FieldDescriptor& field,
                                               const std::string& path) {
  bool marked = false;
  if (kind.paths.contains(path)) {
    met_.insert(path);
    marked = true;
  }
  for (const auto& [number, fullName] : kind.options) {
    PENSTOCK_ASSIGN_OR_RETURN(const std::optional<bool> resolved,
                              readResolved(field, number, fullName, path));
    if (resolved.has_value()) {
      marked = marked || *resolved;
      continue;
    }
    PENSTOCK_ASSIGN_OR_RETURN(const bool unknown, readUnknown(field, number, fullName, path));
    marked = marked || unknown;
  }
  return marked;
}

absl::StatusOr<ProtobufMark> ProtobufMarkers::markOf(const FieldDescriptor& field,
                                                     const std::string& path) {
  PENSTOCK_ASSIGN_OR_RETURN(const bool isJson, isMarked(json_, field, path));
  PENSTOCK_ASSIGN_OR_RETURN(const bool isGeography, isMarked(geography_, field, path));
  if (isJson && isGeography) {
    return invalidArgument("field \"{}\" is marked both as JSON and as GEOGRAPHY", path);
  }
  const bool isString = field.type() == FieldDescriptor::TYPE_STRING;
  if (isGeography && !isString) {
    return invalidArgument(
        "field \"{}\" is marked as GEOGRAPHY, and only a string can be; it is {}", path,
        field.is_map() ? "a map" : field.type_name());
  }
  const bool isMessage = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field.is_map();
  if (isJson && !isString && !isMessage) {
    return invalidArgument(
        "field \"{}\" is marked as JSON, and only a string or a message can be; it is {}", path,
        field.is_map() ? "a map" : field.type_name());
  }
  if (isJson) return ProtobufMark::kJson;
  return isGeography ? ProtobufMark::kGeography : ProtobufMark::kNone;
}

absl::Status ProtobufMarkers::checkAllPathsMet(const std::string& messageName) const {
  std::string unmet;
  for (const Kind* kind : {&json_, &geography_}) {
    for (const std::string& path : kind->paths) {
      if (!met_.contains(path)) unmet += (unmet.empty() ? "\"" : ", \"") + path + "\"";
    }
  }
  if (unmet.empty()) return absl::OkStatus();
  return invalidArgument(
      "message {} has no field {}, named in jsonFieldPaths or geographyFieldPaths (nothing below a "
      "field that becomes a single value can be marked)",
      messageName, unmet);
}

}  // namespace penstock::bigquery
