#include "penstock/emulator/catalog/schema_change.h"

#include <map>
#include <string>

namespace penstock::emulator {
namespace {

/// How a client takes policy tags away: leaving them out leaves them alone.
constexpr std::string_view kNoPolicyTags = R"({"names":[]})";

/// "STRING(10)", "NUMERIC(10, 2)", "RANGE<DATE>": a type with what it was given.
std::string typeText(const Field& field) {
  std::string text(restTypeName(field.type));
  if (field.maxLength != 0) return text + fmt::format("({})", field.maxLength);
  if (field.scale != 0) return text + fmt::format("({}, {})", field.precision, field.scale);
  if (field.precision != 0) return text + fmt::format("({})", field.precision);
  if (field.rangeElementType) text += fmt::format("<{}>", restTypeName(*field.rangeElementType));
  if (field.timestampPrecision > 6) text += fmt::format("({})", field.timestampPrecision);
  return text;
}

/// TIMESTAMP and TIMESTAMP(6) are one type.
bool isPicoseconds(const Field& field) { return field.timestampPrecision > 6; }

/// Whether every value that `live` takes is one for `wanted` too.
bool takesAll(const Field& live, const Field& wanted) {
  if (live.type != wanted.type || live.rangeElementType != wanted.rangeElementType) return false;
  if (isPicoseconds(live) != isPicoseconds(wanted)) return false;
  if (wanted.maxLength != 0 && (live.maxLength == 0 || live.maxLength > wanted.maxLength)) {
    return false;
  }
  if (wanted.precision == 0) return true;
  return live.precision != 0 && live.scale <= wanted.scale &&
         live.precision - live.scale <= wanted.precision - wanted.scale;
}

class Merger {
 public:
  explicit Merger(std::string_view table) : table_(table) {}

  /// Makes `fields`, the columns of one level, what `wanted` asks for.
  absl::Status merge(const std::string& parent, const std::vector<Field>& wanted,
                     std::vector<Field>& fields) const {
    std::map<std::string, const Field*> left;
    for (const Field& field : wanted) left.emplace(foldedName(field.name), &field);
    for (Field& field : fields) {
      const std::string path = pathOf(parent, field.name);
      const auto found = left.find(foldedName(field.name));
      if (found == left.end()) return mismatch("Field {} is missing in new schema", path);
      PENSTOCK_RETURN_IF_ERROR(mergeField(path, *found->second, field));
      left.erase(found);
    }
    for (const Field& field : wanted) {
      if (!left.contains(foldedName(field.name))) continue;
      if (field.mode == FieldMode::kRequired) {
        return mismatch("Cannot add required fields to an existing schema. (field: {})",
                        pathOf(parent, field.name));
      }
      fields.push_back(field);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status mergeField(const std::string& path, const Field& wanted, Field& field) const {
    if (!takesAll(field, wanted)) {
      return mismatch("Field {} has changed type from {} to {}", path, typeText(field),
                      typeText(wanted));
    }
    const bool relaxed = field.mode == FieldMode::kRequired && wanted.mode == FieldMode::kNullable;
    if (field.mode != wanted.mode && !relaxed) {
      return mismatch("Field {} has changed mode from {} to {}", path, restModeName(field.mode),
                      restModeName(wanted.mode));
    }
    Field merged = wanted;
    merged.name = field.name;
    merged.fields = std::move(field.fields);
    if (merged.policyTags.empty()) merged.policyTags = std::move(field.policyTags);
    if (merged.policyTags == kNoPolicyTags) merged.policyTags.clear();
    field = std::move(merged);
    return merge(path, wanted.fields, field.fields);
  }

  template <typename... Arguments>
  absl::Status mismatch(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    return base::invalidArgument("Provided Schema does not match Table {}. {}", table_,
                                 fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  static std::string pathOf(const std::string& parent, const std::string& name) {
    return parent.empty() ? name : parent + "." + name;
  }

  const std::string_view table_;
};

}  // namespace

absl::StatusOr<Schema> changedSchema(std::string_view table, const Schema& live,
                                     const Schema& wanted) {
  Schema changed = live;
  PENSTOCK_RETURN_IF_ERROR(Merger(table).merge("", wanted.fields, changed.fields));
  return changed;
}

}  // namespace penstock::emulator
