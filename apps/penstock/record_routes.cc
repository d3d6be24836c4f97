#include "apps/penstock/record_routes.h"

#include "penstock/bigquery/sink/table_creation_check.h"

namespace penstock::command {

using bigquery::JsonDocumentSerializer;
using bigquery::TableName;

absl::StatusOr<std::unique_ptr<RecordRoutes>> RecordRoutes::create(
    bigquery::BlockingWriter& writer, const DestinationTemplate& destination,
    const std::optional<bigquery::TableSchema>& schema,
    const bigquery::JsonDocumentOptions& options) {
  std::unique_ptr<RecordRoutes> routes(new RecordRoutes(writer, destination, schema, options));
  if (schema) {
    PENSTOCK_ASSIGN_OR_RETURN(routes->shared_, JsonDocumentSerializer::create(*schema, options));
  } else {
    writer.decideWith({.newSchema = [routes = routes.get()](connector::DestinationId destination,
                                                            const bigquery::TableSchema& columns) {
      return routes->replan(destination, columns);
    }});
  }
  if (destination.isFixed()) {
    PENSTOCK_ASSIGN_OR_RETURN(routes->fixed_, routes->open(destination.table(), {}));
  }
  return routes;
}

void RecordRoutes::beginBatch(std::span<const std::string_view> records) {
  records_ = records;
  if (fixed_ != nullptr) {
    fixed_->serializer->beginBatch(records);
    return;
  }
  fields_.beginBatch(records);
  if (shared_ != nullptr) shared_->beginBatch(records);
}

absl::StatusOr<std::variant<const RecordRoutes::Route*, connector::Unroutable>> RecordRoutes::of(
    const runtime::RecordBatch& batch, size_t index) {
  using Answer = std::variant<const Route*, connector::Unroutable>;
  const auto unroutable = [&](std::string_view why) {
    return Answer(connector::Unroutable{
        std::string(records_[index]),
        fmt::format("no table for this record: {} ({})", why, template_.text())});
  };
  const std::span<const std::string> values = fields_.read(index, why_);
  if (values.empty()) return unroutable(why_);
  key_.clear();
  for (const std::string& value : values) {
    key_ += value;
    key_ += '\n';  // cannot be part of a name
  }
  if (const auto found = routes_.find(key_); found != routes_.end()) {
    return Answer(&found->second);
  }
  const TableName table = template_.render(values);
  absl::Status valid = table.validate();
  if (valid.ok()) valid = bigquery::checkTableName(table);
  if (!valid.ok()) return unroutable(base::messageOf(valid));
  PENSTOCK_ASSIGN_OR_RETURN(const Route* route, open(table, batch.origin(index)));
  return Answer(route);
}

absl::StatusOr<const RecordRoutes::Route*> RecordRoutes::open(const TableName& table,
                                                              std::string origin) {
  bigquery::DestinationSetup setup;
  setup.table = table;
  setup.schema = schema_;
  setup.followTable = !schema_.has_value();
  setup.origin = std::move(origin);
  PENSTOCK_ASSIGN_OR_RETURN(const connector::DestinationId destination,
                            writer_.open(std::move(setup)));
  PENSTOCK_ASSIGN_OR_RETURN(JsonDocumentSerializer * serializer, serializerOf(destination));
  const bool announced = template_.isFixed() || shared_ != nullptr;
  return &routes_.insert_or_assign(key_, Route{destination, serializer, announced}).first->second;
}

absl::Status RecordRoutes::replan(connector::DestinationId destination,
                                  const bigquery::TableSchema& columns) {
  PENSTOCK_ASSIGN_OR_RETURN(std::unique_ptr<JsonDocumentSerializer> serializer,
                            JsonDocumentSerializer::create(columns, options_));
  if (template_.isFixed()) serializer->beginBatch(records_);
  for (auto& [values, route] : routes_) {
    if (route.destination == destination) route.serializer = serializer.get();
  }
  own_[static_cast<size_t>(destination)] = std::move(serializer);
  return absl::OkStatus();
}

absl::StatusOr<JsonDocumentSerializer*> RecordRoutes::serializerOf(
    connector::DestinationId destination) {
  if (shared_ != nullptr) return shared_.get();
  // Different values may make the same table.
  const auto index = static_cast<size_t>(destination);
  if (own_.size() <= index) own_.resize(index + 1);
  if (own_[index] == nullptr) {
    PENSTOCK_ASSIGN_OR_RETURN(own_[index], JsonDocumentSerializer::create(
                                               *writer_.core().schemaOf(destination), options_));
  }
  return own_[index].get();
}

}  // namespace penstock::command
