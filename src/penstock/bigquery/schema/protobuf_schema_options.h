#pragma once

#include <string>
#include <vector>

namespace penstock::bigquery {

/// An extension of google.protobuf.FieldOptions that marks fields: a singular bool, set to true on
/// them.
struct ProtobufFieldOption {
  /// 1000 to 536870911, without 19000 to 19999 (BQT-015).
  int number = 0;
  /// The extension's full name, `my.package.is_json`. Empty: the number alone decides.
  std::string fullName;
};

/// How the fields of a message type become columns (BQT-015 to BQT-026). Paths are the names of
/// fields as the .proto file has them, joined by dots; the entries of a map are `path.key` and
/// `path.value`. A field is marked if it is listed or carries one of the options.
struct ProtoSchemaOptions {
  /// Derive REQUIRED for what is always there: proto2 `required`, fields without presence. It
  /// cannot be added to an existing table. Default: off, every column is NULLABLE or REPEATED.
  bool deriveRequiredColumns = false;
  /// Strings (verbatim) and messages (as protobuf JSON) that become JSON columns.
  std::vector<std::string> jsonFieldPaths;
  std::vector<ProtobufFieldOption> jsonFieldOptions;
  /// Strings that become GEOGRAPHY columns, verbatim.
  std::vector<std::string> geographyFieldPaths;
  std::vector<ProtobufFieldOption> geographyFieldOptions;
  /// Fields that the table has no column for are dropped. Default: off, they are a configuration
  /// error. Only matters with columns that do not come from the message itself.
  bool ignoreFieldsWithoutColumn = false;
};

}  // namespace penstock::bigquery
