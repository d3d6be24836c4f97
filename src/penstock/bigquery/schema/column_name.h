#pragma once

#include <string>
#include <string_view>

namespace penstock::bigquery {

/// `name` in lower case, by Unicode and never by the process's locale (BQT-005): how column names
/// and the keys of JSON objects are compared. Invalid UTF-8 stays as it is.
[[nodiscard]] std::string lowerCase(std::string_view name);

/// Whether `name` matches `[A-Za-z_][A-Za-z0-9_]*`; others are "flexible names" (BQT-005).
[[nodiscard]] bool isPlainName(std::string_view name);

/// The name that the column has in row descriptors (BQT-005): `userName` is `username`, `1st-col`
/// is `col_MXN0LWNvbA`.
[[nodiscard]] std::string rowFieldName(std::string_view columnName);

/// Why BigQuery would refuse a column of that name, as a literal that completes "the name ...";
/// empty if it would not. The rules are those of its page on column names: 1 to 300 characters, no
/// reserved prefix, none of `!"$()*,./;?@[\]^`{}~` and no control character.
[[nodiscard]] std::string_view whyColumnNameIsRefused(std::string_view name);

}  // namespace penstock::bigquery
