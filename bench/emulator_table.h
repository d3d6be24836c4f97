#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace penstock::bench {

/// A column of the table that the emulator's benchmark appends to.
struct EmulatorTableField {
  const char* name;
  const char* type;  ///< in the REST API
  const char* mode;
  int protobufType;  ///< google.protobuf.FieldDescriptorProto.Type of the row's field
};

inline constexpr std::array<EmulatorTableField, 5> kEmulatorTableFields{{
    {"id", "INTEGER", "REQUIRED", 3},
    {"at", "TIMESTAMP", "NULLABLE", 3},
    {"value", "FLOAT", "NULLABLE", 1},
    {"name", "STRING", "NULLABLE", 9},
    {"remark", "STRING", "NULLABLE", 9},
}};

inline constexpr size_t kEmulatorRowBytes = 100;
/// A row of these columns, numbered in this order: an event with a number, a time, a value, a name
/// and a remark.
[[nodiscard]] std::string emulatorRow(uint64_t number);

inline constexpr const char* kEmulatorStream =
    "projects/bench/datasets/bench/tables/bench/streams/_default";

}  // namespace penstock::bench
