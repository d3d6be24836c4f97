#include "penstock/emulator/service/row_checks_cache.h"

#include <google/protobuf/descriptor.pb.h>

namespace penstock::emulator {

absl::StatusOr<std::shared_ptr<const RowChecks>> RowChecksCache::find(
    const RowDescriptor& descriptor, const Table& table) {
  const Key key{descriptor.id, table.id, table.schemaVersion};
  {
    const base::MutexLock lock(mutex_);
    const auto found = entries_.find(key);
    if (found != entries_.end()) {
      uses_.splice(uses_.begin(), uses_, found->second.use);
      return found->second.checks;
    }
  }
  google::protobuf::DescriptorProto parsed;
  // Parsed partially: a descriptor has no required fields of its own that matter here.
  if (!parsed.ParsePartialFromString(descriptor.bytes)) {
    return base::invalidArgument(
        "Invalid proto schema: writer_schema.proto_descriptor cannot be parsed");
  }
  PENSTOCK_ASSIGN_OR_RETURN(std::shared_ptr<const RowPlan> plan,
                            RowPlan::compile(parsed, table.schema));
  auto checks = std::make_shared<const RowChecks>(std::move(plan));
  const base::MutexLock lock(mutex_);
  const auto [entry, isNew] = entries_.try_emplace(key);
  if (!isNew) return entry->second.checks;
  uses_.push_front(key);
  entry->second = {checks, uses_.begin()};
  if (entries_.size() > capacity_) {
    entries_.erase(uses_.back());
    uses_.pop_back();
  }
  return checks;
}

}  // namespace penstock::emulator
