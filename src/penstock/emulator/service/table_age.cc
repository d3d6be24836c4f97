#include "penstock/emulator/service/table_age.h"

#include "penstock/emulator/service/stream_name.h"

namespace penstock::emulator {

FaultRules::TableAges tableAgesOf(const Catalog& catalog) {
  return [&catalog](std::string_view resource) -> std::optional<TableAge> {
    const absl::StatusOr<TableReference> reference = tableIn(resource);
    if (!reference.ok()) return std::nullopt;
    const std::shared_ptr<const Table> table = catalog.findTable(*reference);
    if (table == nullptr) return std::nullopt;
    const int64_t now = catalog.nowMillis();
    TableAge age;
    age.created = std::chrono::milliseconds(now - table->creationMillis);
    if (table->previousSchema != nullptr) {
      age.changed = std::chrono::milliseconds(now - table->schemaChangedMillis);
    }
    return age;
  };
}

std::shared_ptr<const Table> beforeItsChange(std::shared_ptr<const Table> table) {
  if (table->previousSchema == nullptr) return table;
  auto before = std::make_shared<Table>(*table);
  before->schema = *table->previousSchema;
  --before->schemaVersion;
  before->previousSchema = nullptr;
  return before;
}

}  // namespace penstock::emulator
