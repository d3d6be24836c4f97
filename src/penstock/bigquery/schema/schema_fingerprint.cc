#include "penstock/bigquery/schema/schema_fingerprint.h"

#include <string_view>

namespace penstock::bigquery {
namespace {

/// FNV-1a with 64 bits: not for enemies, the same everywhere.
class Hash {
 public:
  void add(std::string_view bytes) {
    add(bytes.size());  // so that texts side by side cannot be cut elsewhere
    for (const char byte : bytes) addByte(static_cast<unsigned char>(byte));
  }
  void add(uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8)
      addByte(static_cast<unsigned char>(number >> shift));
  }
  [[nodiscard]] uint64_t value() const { return value_; }

 private:
  void addByte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001B3; }

  uint64_t value_ = 0xCBF29CE484222325;
};

// The enumerators' numbers are part of the fingerprint: new ones go to the end of their
// enumeration.
void addColumns(const std::vector<Column>& columns, Hash& hash) {
  hash.add(columns.size());
  for (const Column& column : columns) {
    hash.add(column.name);
    hash.add(static_cast<uint64_t>(column.type));
    hash.add(static_cast<uint64_t>(column.mode));
    hash.add(static_cast<uint64_t>(column.precision));
    hash.add(static_cast<uint64_t>(column.scale));
    hash.add(static_cast<uint64_t>(column.maxLength));
    hash.add(column.description);
    hash.add(column.defaultValueExpression);
    hash.add(static_cast<uint64_t>(column.rangeElementType));
    hash.add(static_cast<uint64_t>(column.timestampPrecision));
    addColumns(column.fields, hash);
  }
}

}  // namespace

uint64_t schemaFingerprint(const TableSchema& schema) {
  Hash hash;
  addColumns(schema.columns, hash);
  return hash.value();
}

}  // namespace penstock::bigquery
