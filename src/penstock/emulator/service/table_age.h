#pragma once

#include <memory>

#include "penstock/emulator/catalog/catalog.h"
#include "penstock/emulator/service/fault_rules.h"

namespace penstock::emulator {

/// The ages of the catalog's tables by the catalog's clock, for FaultRules::setTableAges(). The
/// catalog outlives the function.
[[nodiscard]] FaultRules::TableAges tableAgesOf(const Catalog& catalog);

/// The table as it was before the last change of its schema; as it is when none is known.
[[nodiscard]] std::shared_ptr<const Table> beforeItsChange(std::shared_ptr<const Table> table);

}  // namespace penstock::emulator
