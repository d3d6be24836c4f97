#include "penstock/emulator/rows/row_plan.h"

#include <google/cloud/bigquery/storage/v1/annotations.pb.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace penstock::emulator {
namespace {

namespace api = google::cloud::bigquery::storage::v1;
using google::protobuf::DescriptorProto;
using google::protobuf::EnumDescriptorProto;
using google::protobuf::FieldDescriptorProto;

constexpr uint32_t kDenseNumbers = 4096;

/// The message and enum types inside a self-contained descriptor, by their path from its root
/// ("Row.Child").
class Types {
 public:
  explicit Types(const DescriptorProto& root) { add(root, root.name()); }

  [[nodiscard]] const DescriptorProto* message(std::string_view name,
                                               std::string_view scope) const {
    return find(messages_, name, scope);
  }
  [[nodiscard]] const EnumDescriptorProto* enumeration(std::string_view name,
                                                       std::string_view scope) const {
    return find(enums_, name, scope);
  }
  [[nodiscard]] std::string pathOf(const DescriptorProto& message) const {
    const auto found = paths_.find(&message);
    return found == paths_.end() ? std::string() : found->second;
  }

 private:
  void add(const DescriptorProto& message, const std::string& path) {
    messages_[path] = &message;
    paths_[&message] = path;
    for (const EnumDescriptorProto& type : message.enum_type())
      enums_[path + "." + type.name()] = &type;
    for (const DescriptorProto& nested : message.nested_type())
      add(nested, path + "." + nested.name());
  }

  /// Scopes from the innermost outwards, as the language does; then by the name's end, since a
  /// writer's names may carry a package that its descriptor no longer shows.
  template <typename Type>
  static const Type* find(const std::map<std::string, const Type*>& types, std::string_view name,
                          std::string_view scope) {
    if (name.starts_with('.')) {
      name.remove_prefix(1);
    } else {
      for (std::string outer(scope); !outer.empty();) {
        if (const auto found = types.find(outer + "." + std::string(name)); found != types.end()) {
          return found->second;
        }
        const size_t dot = outer.rfind('.');
        outer.resize(dot == std::string::npos ? 0 : dot);
      }
    }
    if (const auto found = types.find(std::string(name)); found != types.end())
      return found->second;
    for (const auto& [path, type] : types) {
      const bool endsWithPath = name.size() > path.size() && name.ends_with(path) &&
                                name[name.size() - path.size() - 1] == '.';
      const bool pathEndsWithName = path.size() > name.size() && path.ends_with(name) &&
                                    path[path.size() - name.size() - 1] == '.';
      if (endsWithPath || pathEndsWithName) return type;
    }
    return nullptr;
  }

  std::map<std::string, const DescriptorProto*> messages_;
  std::map<std::string, const EnumDescriptorProto*> enums_;
  std::map<const DescriptorProto*, std::string> paths_;
};

struct WellKnownType {
  std::string_view name;
  WireForm form;
  FieldDescriptorProto::Type inner;
};

constexpr std::array<WellKnownType, 11> kWellKnownTypes{{
    {"BoolValue", WireForm::kWrapper, FieldDescriptorProto::TYPE_BOOL},
    {"Int32Value", WireForm::kWrapper, FieldDescriptorProto::TYPE_INT32},
    {"Int64Value", WireForm::kWrapper, FieldDescriptorProto::TYPE_INT64},
    {"UInt32Value", WireForm::kWrapper, FieldDescriptorProto::TYPE_UINT32},
    {"UInt64Value", WireForm::kWrapper, FieldDescriptorProto::TYPE_UINT64},
    {"FloatValue", WireForm::kWrapper, FieldDescriptorProto::TYPE_FLOAT},
    {"DoubleValue", WireForm::kWrapper, FieldDescriptorProto::TYPE_DOUBLE},
    {"StringValue", WireForm::kWrapper, FieldDescriptorProto::TYPE_STRING},
    {"BytesValue", WireForm::kWrapper, FieldDescriptorProto::TYPE_BYTES},
    {"Timestamp", WireForm::kTimestamp, FieldDescriptorProto::TYPE_MESSAGE},
    {"Duration", WireForm::kDuration, FieldDescriptorProto::TYPE_MESSAGE},
}};

/// Writers name these types in full, or hoist them into their own message with dots made
/// underscores.
const WellKnownType* wellKnownType(std::string_view typeName) {
  for (const WellKnownType& type : kWellKnownTypes) {
    if (typeName.ends_with("google.protobuf." + std::string(type.name)) ||
        typeName.ends_with("google_protobuf_" + std::string(type.name))) {
      return &type;
    }
  }
  return nullptr;
}

std::string_view protoTypeName(int type) {
  switch (type) {
    case FieldDescriptorProto::TYPE_DOUBLE:
      return "double";
    case FieldDescriptorProto::TYPE_FLOAT:
      return "float";
    case FieldDescriptorProto::TYPE_INT64:
      return "int64";
    case FieldDescriptorProto::TYPE_UINT64:
      return "uint64";
    case FieldDescriptorProto::TYPE_INT32:
      return "int32";
    case FieldDescriptorProto::TYPE_FIXED64:
      return "fixed64";
    case FieldDescriptorProto::TYPE_FIXED32:
      return "fixed32";
    case FieldDescriptorProto::TYPE_BOOL:
      return "bool";
    case FieldDescriptorProto::TYPE_STRING:
      return "string";
    case FieldDescriptorProto::TYPE_GROUP:
      return "group";
    case FieldDescriptorProto::TYPE_MESSAGE:
      return "message";
    case FieldDescriptorProto::TYPE_BYTES:
      return "bytes";
    case FieldDescriptorProto::TYPE_UINT32:
      return "uint32";
    case FieldDescriptorProto::TYPE_ENUM:
      return "enum";
    case FieldDescriptorProto::TYPE_SFIXED32:
      return "sfixed32";
    case FieldDescriptorProto::TYPE_SFIXED64:
      return "sfixed64";
    case FieldDescriptorProto::TYPE_SINT32:
      return "sint32";
    case FieldDescriptorProto::TYPE_SINT64:
      return "sint64";
    default:
      return "unknown";
  }
}

/// The service's table of protocol buffer types for each column type ("Supported protocol buffer
/// and Arrow data types" in its documentation), with the encodings of an integer taken as one. A
/// TIMESTAMP also takes text, which is how picoseconds travel (BQT-004).
bool takes(FieldType column, WireForm form, int protoType) {
  const bool is64Unsigned = protoType == FieldDescriptorProto::TYPE_UINT64 ||
                            protoType == FieldDescriptorProto::TYPE_FIXED64;
  const bool integer = form == WireForm::kSigned || form == WireForm::kUnsigned;
  const bool real = form == WireForm::kFloat || form == WireForm::kDouble;
  switch (column) {
    case FieldType::kBool:
      return form == WireForm::kBool || integer;
    case FieldType::kBytes:
      return form == WireForm::kBinary || form == WireForm::kText;
    case FieldType::kDate:
    case FieldType::kTime:
    case FieldType::kDatetime:
      return form == WireForm::kSigned || form == WireForm::kText;
    case FieldType::kFloat64:
      return real;
    case FieldType::kInt64:
      return (integer && !is64Unsigned) || form == WireForm::kEnum;
    case FieldType::kNumeric:
    case FieldType::kBignumeric:
      return integer || real || form == WireForm::kText || form == WireForm::kBinary;
    case FieldType::kString:
      return form == WireForm::kText || form == WireForm::kEnum;
    case FieldType::kGeography:
    case FieldType::kJson:
      return form == WireForm::kText;
    case FieldType::kTimestamp:
      return (integer && !is64Unsigned) || form == WireForm::kText || form == WireForm::kTimestamp;
    case FieldType::kInterval:
      return form == WireForm::kText || form == WireForm::kDuration;
    case FieldType::kRange:
    case FieldType::kStruct:
      return form == WireForm::kMessage;
  }
  return false;
}

struct Compilation {
  explicit Compilation(const DescriptorProto& root) : types(root) {}
  Types types;
  std::vector<std::string> extraFields;
  std::vector<std::string> missingRequiredColumns;
};

std::string joined(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "." + name;
}

absl::Status typeMismatch(const FieldPlan& plan, const FieldDescriptorProto& field) {
  const std::string found =
      field.type_name().empty()
          ? std::string(protoTypeName(field.type()))
          : fmt::format("{} {}", protoTypeName(field.type()), field.type_name());
  return base::invalidArgument(
      "The proto field mismatched with BigQuery field at {}, the proto field type {}, BigQuery "
      "field type {}",
      plan.path, found, restTypeName(plan.type));
}

absl::StatusOr<std::unique_ptr<MessagePlan>> compileMessage(
    Compilation& compilation, const DescriptorProto& message,
    std::vector<MessagePlan::Column> columns, const std::string& parent);

std::vector<MessagePlan::Column> columnsOf(const std::vector<Field>& fields) {
  std::vector<MessagePlan::Column> columns;
  columns.reserve(fields.size());
  for (const Field& field : fields)
    columns.push_back({&field, field.type, field.mode == FieldMode::kRepeated});
  return columns;
}

absl::Status compileNested(Compilation& compilation, const DescriptorProto& owner,
                           const FieldDescriptorProto& field, FieldPlan& plan) {
  const DescriptorProto* nested =
      compilation.types.message(field.type_name(), compilation.types.pathOf(owner));
  if (nested == nullptr) {
    return base::invalidArgument(
        "Invalid proto schema: the message type {} of field {} is not in the descriptor, which "
        "must be "
        "self-contained",
        field.type_name(), plan.path);
  }
  std::vector<MessagePlan::Column> columns;
  if (plan.type == FieldType::kRange) {
    const FieldType element = plan.field->rangeElementType.value_or(FieldType::kDate);
    columns = {{plan.field, element, false}, {plan.field, element, false}};
  } else {
    columns = columnsOf(plan.field->fields);
  }
  PENSTOCK_ASSIGN_OR_RETURN(plan.message,
                            compileMessage(compilation, *nested, std::move(columns), plan.path));
  return absl::OkStatus();
}

absl::Status compileField(Compilation& compilation, const DescriptorProto& owner,
                          const FieldDescriptorProto& field, const MessagePlan::Column& column,
                          FieldPlan& plan) {
  plan.number = static_cast<uint32_t>(field.number());
  plan.protoType = field.type();
  plan.form = scalarForm(field.type());
  plan.repeated = field.label() == FieldDescriptorProto::LABEL_REPEATED;
  plan.field = column.field;
  plan.type = column.type;
  if (plan.form == WireForm::kMessage && plan.type != FieldType::kStruct &&
      plan.type != FieldType::kRange) {
    if (const WellKnownType* known = wellKnownType(field.type_name())) {
      plan.form = known->form;
      if (known->form == WireForm::kWrapper) plan.protoType = known->inner;
    }
  }
  const WireForm inner = plan.form == WireForm::kWrapper ? scalarForm(plan.protoType) : plan.form;
  if (!takes(plan.type, inner, plan.protoType)) return typeMismatch(plan, field);
  if (plan.repeated != column.repeated) {
    return base::invalidArgument(
        "The proto field mode mismatched with BigQuery field at {}, the proto field mode {}, "
        "BigQuery field mode {}",
        plan.path, plan.repeated ? "repeated" : "not repeated",
        column.repeated ? "REPEATED" : "not REPEATED");
  }
  if (plan.form == WireForm::kEnum && plan.type == FieldType::kString) {
    const EnumDescriptorProto* type =
        compilation.types.enumeration(field.type_name(), compilation.types.pathOf(owner));
    if (type == nullptr) {
      return base::invalidArgument(
          "Invalid proto schema: the enum type {} of field {} is not in the descriptor",
          field.type_name(), plan.path);
    }
    for (const auto& value : type->value())
      plan.enumValues.emplace_back(value.number(), value.name());
  }
  if (plan.form == WireForm::kMessage) return compileNested(compilation, owner, field, plan);
  return absl::OkStatus();
}

void indexFields(MessagePlan& plan) {
  std::sort(
      plan.fields.begin(), plan.fields.end(),
      [](const FieldPlan& left, const FieldPlan& right) { return left.number < right.number; });
  for (size_t i = 0; i < plan.fields.size(); ++i) {
    const uint32_t number = plan.fields[i].number;
    if (number >= kDenseNumbers || i >= UINT16_MAX) break;
    plan.dense.resize(number + 1, 0);
    plan.dense[number] = static_cast<uint16_t>(i + 1);
  }
}

std::string columnName(const std::vector<MessagePlan::Column>& columns, size_t index,
                       bool isRange) {
  if (isRange) return index == 0 ? "start" : "end";
  return foldedName(columns[index].field->name);
}

absl::StatusOr<std::unique_ptr<MessagePlan>> compileMessage(
    Compilation& compilation, const DescriptorProto& message,
    std::vector<MessagePlan::Column> columns, const std::string& parent) {
  auto plan = std::make_unique<MessagePlan>();
  plan->columns = std::move(columns);
  // A RANGE's two ends share the RANGE's own column.
  const bool isRange =
      plan->columns.size() == 2 && plan->columns[0].field == plan->columns[1].field;
  std::map<std::string, size_t> positions;
  for (size_t i = 0; i < plan->columns.size(); ++i)
    positions[columnName(plan->columns, i, isRange)] = i;

  std::set<size_t> filled;
  for (const FieldDescriptorProto& field : message.field()) {
    const std::string& name = columnNameOf(field);
    const std::string path = joined(parent, name);
    const auto position = positions.find(foldedName(name));
    if (position == positions.end()) {
      compilation.extraFields.push_back(path);
      continue;
    }
    if (!filled.insert(position->second).second && field.json_name() != kDefaultValueMark) {
      return base::invalidArgument("Invalid proto schema: two fields fill the column {}", path);
    }
    const MessagePlan::Column& column = plan->columns[position->second];
    FieldPlan& fieldPlan = plan->fields.emplace_back();
    fieldPlan.path = isRange ? path : joined(parent, column.field->name);
    fieldPlan.column = static_cast<uint32_t>(position->second);
    PENSTOCK_RETURN_IF_ERROR(compileField(compilation, message, field, column, fieldPlan));
  }
  for (size_t i = 0; i < plan->columns.size(); ++i) {
    const Field& field = *plan->columns[i].field;
    if (!isRange && field.mode == FieldMode::kRequired && !filled.contains(i)) {
      compilation.missingRequiredColumns.push_back(joined(parent, field.name));
    }
  }
  indexFields(*plan);
  return plan;
}

}  // namespace

WireForm scalarForm(int type) {
  switch (type) {
    case FieldDescriptorProto::TYPE_BOOL:
      return WireForm::kBool;
    case FieldDescriptorProto::TYPE_FLOAT:
      return WireForm::kFloat;
    case FieldDescriptorProto::TYPE_DOUBLE:
      return WireForm::kDouble;
    case FieldDescriptorProto::TYPE_STRING:
      return WireForm::kText;
    case FieldDescriptorProto::TYPE_BYTES:
      return WireForm::kBinary;
    case FieldDescriptorProto::TYPE_ENUM:
      return WireForm::kEnum;
    case FieldDescriptorProto::TYPE_UINT32:
    case FieldDescriptorProto::TYPE_UINT64:
    case FieldDescriptorProto::TYPE_FIXED32:
    case FieldDescriptorProto::TYPE_FIXED64:
      return WireForm::kUnsigned;
    case FieldDescriptorProto::TYPE_MESSAGE:
    case FieldDescriptorProto::TYPE_GROUP:
      return WireForm::kMessage;
    default:
      return WireForm::kSigned;
  }
}

const std::string& columnNameOf(const FieldDescriptorProto& field) {
  return field.options().HasExtension(api::column_name)
             ? field.options().GetExtension(api::column_name)
             : field.name();
}

const FieldPlan* MessagePlan::find(uint32_t number) const {
  if (number < dense.size()) return dense[number] == 0 ? nullptr : &fields[dense[number] - 1U];
  const auto found = std::lower_bound(
      fields.begin(), fields.end(), number,
      [](const FieldPlan& field, uint32_t wanted) { return field.number < wanted; });
  return found != fields.end() && found->number == number ? &*found : nullptr;
}

RowPlan::~RowPlan() = default;

absl::StatusOr<std::shared_ptr<const RowPlan>> RowPlan::compile(const DescriptorProto& descriptor,
                                                                const Schema& schema) {
  std::shared_ptr<RowPlan> plan(new RowPlan());
  plan->schema_ = schema;
  Compilation compilation(descriptor);
  PENSTOCK_ASSIGN_OR_RETURN(
      plan->root_, compileMessage(compilation, descriptor, columnsOf(plan->schema_.fields), ""));
  plan->extraFields_ = std::move(compilation.extraFields);
  plan->missingRequiredColumns_ = std::move(compilation.missingRequiredColumns);
  return plan;
}

}  // namespace penstock::emulator
