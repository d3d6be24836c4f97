#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "penstock/base/mutex.h"
#include "penstock/bigquery/serializers/row_serializer.h"
#include "penstock/bigquery/sink/blocking_writer.h"
#include "penstock/bigquery/sink/sink_committer.h"
#include "penstock/bigquery/sink/sink_connections.h"
#include "penstock/bigquery/sink/sink_options.h"
#include "penstock/bigquery/sink/table_index.h"
#include "penstock/connector/sink.h"

namespace penstock::bigquery {

/// Writes records to BigQuery over the Storage Write API. Built by a Builder; makes one writer a
/// subtask.
///
///     auto sink = BigQuerySink<std::string_view>::builder()
///                     .table("project.dataset.table")
///                     .serializer([] { return
///                     std::make_unique<JsonDocumentSerializationSchema>(schema); }) .build();
///     auto writer = (*sink)->createWriter({});
///     (*writer)->write(R"({"name":"alice"})", {});
///     (*writer)->flush(true);
template <typename Record>
class BigQuerySink final : public connector::Sink<Record> {
 public:
  using Serializer = BigQueryProtoSerializationSchema<Record>;
  using SerializerFactory = std::function<std::unique_ptr<Serializer>()>;
  using Resolver = connector::DestinationResolver<Record, TableName>;
  using ResolverFactory = std::function<std::unique_ptr<Resolver>()>;
  using HandlerFactory = std::function<std::unique_ptr<connector::FailureHandler>()>;
  using CreateOptionsProvider = std::function<absl::StatusOr<TableCreateOptions>(const TableName&)>;

  /// Collects what a sink is made of. A value that is not allowed is an error of build(), which
  /// names the setter and the value; the first one wins.
  class Builder {
   public:
    /// One fixed table, PROJECT.DATASET.TABLE. This or destinationResolver is required; the last
    /// call wins.
    Builder& table(std::string_view dotted) {
      auto parsed = TableName::parse(dotted);
      if (!parsed.ok()) return note(base::withContext(parsed.status(), "table"));
      return table(*std::move(parsed));
    }
    Builder& table(TableName name) {
      note(base::withContext(name.validate(), "table"));
      table_ = std::move(name);
      resolver_ = nullptr;
      return *this;
    }
    /// A table per record. The factory runs once a writer.
    Builder& destinationResolver(ResolverFactory factory) {
      if (!factory) return note(base::invalidArgument("destinationResolver must not be null"));
      resolver_ = std::move(factory);
      table_.reset();
      return *this;
    }
    /// Required. The factory runs once a writer.
    Builder& serializer(SerializerFactory factory) {
      if (!factory) return note(base::invalidArgument("serializer must not be null"));
      serializer_ = std::move(factory);
      return *this;
    }
    /// What becomes of a record that cannot be written; default failJob(). The factory runs once a
    /// writer.
    Builder& failureHandler(HandlerFactory factory) {
      if (!factory) return note(base::invalidArgument("failureHandler must not be null"));
      handler_ = std::move(factory);
      return *this;
    }
    /// All other options at once; the setters below change single ones.
    Builder& options(SinkOptions options) {
      options_ = std::move(options);
      return *this;
    }
    /// How rows get into the table; STORAGE_API_EXACTLY_ONCE requires bufferedStreamOptions.
    Builder& writeMethod(WriteMethod value) {
      options_.writeMethod = value;
      return *this;
    }
    Builder& createDisposition(CreateDisposition value) {
      options_.createDisposition = value;
      return *this;
    }
    /// What tables are created with. This or tableCreateOptionsProvider; the last call wins.
    Builder& tableCreateOptions(TableCreateOptions value) {
      options_.tableCreateOptions = std::move(value);
      createOptions_ = nullptr;
      return *this;
    }
    /// The same for each table that is created, asked when it is. Writers call it on their own
    /// threads, so several calls may run at a time. An error fails the job.
    Builder& tableCreateOptionsProvider(CreateOptionsProvider provider) {
      if (!provider) {
        return note(base::invalidArgument("tableCreateOptionsProvider must not be null"));
      }
      createOptions_ = std::move(provider);
      options_.tableCreateOptions = {};
      return *this;
    }
    /// How far the columns of existing tables may be changed to take the rows; default not at all.
    Builder& schemaUpdateOptions(SchemaUpdateOptions value) {
      options_.schemaUpdateOptions = value;
      return *this;
    }
    /// What a column is that a row leaves out (BQW-194).
    Builder& defaultMissingValueInterpretation(MissingValueInterpretation value) {
      options_.defaultMissingValueInterpretation = value;
      return *this;
    }
    /// The same for single columns: "COLUMN=DEFAULT_VALUE".
    Builder& missingValueInterpretations(std::vector<std::string> columns) {
      options_.missingValueInterpretations = std::move(columns);
      return *this;
    }
    Builder& location(std::string value) {
      options_.location = std::move(value);
      return *this;
    }
    Builder& serviceAccountKeyFile(std::string path) {
      options_.serviceAccountKeyFile = std::move(path);
      return *this;
    }
    /// Only with STORAGE_API_AT_LEAST_ONCE.
    Builder& defaultStreamOptions(DefaultStreamOptions value) {
      options_.defaultStreamOptions = value;
      return *this;
    }
    /// Only with STORAGE_API_EXACTLY_ONCE, and required there.
    Builder& bufferedStreamOptions(BufferedStreamOptions value) {
      options_.bufferedStreamOptions = value;
      return *this;
    }
    /// `host:port` of an emulator's gRPC: plaintext, no credentials.
    Builder& emulatorEndpoint(std::string_view hostAndPort) {
      auto parsed = base::parseEndpoint("emulatorEndpoint", hostAndPort);
      if (!parsed.ok()) return note(parsed.status());
      options_.emulatorEndpoint = *std::move(parsed);
      return *this;
    }
    /// `host:port` of an emulator's REST.
    Builder& emulatorRestEndpoint(std::string_view hostAndPort) {
      auto parsed = base::parseEndpoint("emulatorRestEndpoint", hostAndPort);
      if (!parsed.ok()) return note(parsed.status());
      options_.emulatorRestEndpoint = *std::move(parsed);
      return *this;
    }
    /// Clients of one's own, for tests; the endpoint and credential options are not used then.
    Builder& connections(SinkConnections connections) {
      connections_ = std::move(connections);
      return *this;
    }

    [[nodiscard]] absl::StatusOr<std::unique_ptr<BigQuerySink>> build() {
      PENSTOCK_RETURN_IF_ERROR(firstError_);
      if (!table_.has_value() && !resolver_) {
        return base::invalidArgument("table or destinationResolver is required");
      }
      if (!serializer_) return base::invalidArgument("serializer is required");
      PENSTOCK_RETURN_IF_ERROR(validate(options_));
      return std::unique_ptr<BigQuerySink>(new BigQuerySink(*this));
    }

   private:
    friend class BigQuerySink;  // reads what was collected
    Builder& note(absl::Status status) {
      if (firstError_.ok()) firstError_ = std::move(status);
      return *this;
    }

    std::optional<TableName> table_;
    ResolverFactory resolver_;
    SerializerFactory serializer_;
    HandlerFactory handler_ = [] { return connector::failJob(); };
    CreateOptionsProvider createOptions_;
    SinkOptions options_;
    std::optional<SinkConnections> connections_;
    absl::Status firstError_;
  };

  [[nodiscard]] static Builder builder() { return Builder(); }

  /// Loads credentials and makes clients on the first call; opens no connection.
  absl::StatusOr<std::unique_ptr<connector::SinkWriter<Record>>> createWriter(
      const connector::WriterInit& init) const override {
    return restoreWriter(init, {});
  }
  /// With STORAGE_API_EXACTLY_ONCE goes on with the streams of earlier writers, whatever their
  /// number was; see docs/decisions/0017-exactly-once-writer.md for what a host has to do.
  absl::StatusOr<std::unique_ptr<connector::SinkWriter<Record>>> restoreWriter(
      const connector::WriterInit& init,
      std::span<const connector::WriterState> states) const override;
  /// Null with STORAGE_API_AT_LEAST_ONCE.
  absl::StatusOr<std::unique_ptr<connector::Committer>> createCommitter() const override {
    PENSTOCK_ASSIGN_OR_RETURN(const SinkConnections connections, connect());
    return createSinkCommitter(options_, connections);
  }

 private:
  class Writer;
  explicit BigQuerySink(Builder& from)
      : table_(std::move(from.table_)),
        resolver_(std::move(from.resolver_)),
        serializer_(std::move(from.serializer_)),
        handler_(std::move(from.handler_)),
        createOptions_(std::move(from.createOptions_)),
        options_(std::move(from.options_)),
        connections_(std::move(from.connections_)) {}

  absl::StatusOr<SinkConnections> connect() const {
    base::MutexLock lock(mutex_);
    if (!connections_.has_value()) {
      PENSTOCK_ASSIGN_OR_RETURN(connections_, connectSink(options_));
    }
    return *connections_;
  }

  const std::optional<TableName> table_;
  const ResolverFactory resolver_;
  const SerializerFactory serializer_;
  const HandlerFactory handler_;
  const CreateOptionsProvider createOptions_;
  const SinkOptions options_;
  mutable base::Mutex mutex_;
  mutable std::optional<SinkConnections> connections_ PENSTOCK_GUARDED_BY(mutex_);
};

/// The thin layer that knows the record's type.
template <typename Record>
class BigQuerySink<Record>::Writer final : public connector::SinkWriter<Record> {
 public:
  Writer(std::unique_ptr<BlockingWriter> writer, std::unique_ptr<Serializer> serializer,
         std::unique_ptr<Resolver> resolver, std::optional<TableName> table,
         CreateOptionsProvider createOptions)
      : writer_(std::move(writer)),
        serializer_(std::move(serializer)),
        resolver_(std::move(resolver)),
        table_(std::move(table)),
        askForCreateOptions_(createOptions != nullptr) {
    writer_->decideWith(
        {.createOptions = std::move(createOptions),
         .newSchema = [this](connector::DestinationId id, const TableSchema& schema) {
           return prepare(id, writer_->core().tableOf(id), &schema);
         }});
  }

  absl::Status write(const Record& record, const connector::WriteContext& context) override {
    const TableName* table = table_.has_value() ? &*table_ : nullptr;
    if (resolver_) {
      PENSTOCK_RETURN_IF_ERROR(writer_->check());  // before anyone is asked (BASE-021)
      auto resolved =
          guarded("destinationResolver", [&] { return resolver_->resolve(record, context); });
      PENSTOCK_RETURN_IF_ERROR(resolved.status());  // fails the job, never routed (BQW-011)
      if (const auto* verdict = std::get_if<connector::Unroutable>(&*resolved)) {
        return writer_->failUnroutable(*verdict, context.origin);
      }
      table = std::get<const TableName*>(*resolved);
      if (table == nullptr) {
        return base::invalidArgument("destinationResolver returned no destination (BQW-011)");
      }
    }
    connector::DestinationId destination = fixedDestination_;
    if (!fixedIsOpen_) {
      PENSTOCK_ASSIGN_OR_RETURN(destination, destinationOf(*table, context.origin));
      fixedDestination_ = destination;
      fixedIsOpen_ = table_.has_value();
    }
    if (anyFingerprint_) PENSTOCK_RETURN_IF_ERROR(checkFingerprint(destination));
    return writeTo(destination, record, context, context.rowOrigin);
  }

  absl::Status writeBatch(std::span<const Record> records,
                          const connector::WriteContext& context) override {
    if (!fixedIsOpen_ || anyFingerprint_) {
      return connector::SinkWriter<Record>::writeBatch(records, context);
    }
    if constexpr (std::is_same_v<Record, std::string_view>) {
      if (serializer_->copiesRecords()) {
        return writer_->writeRows(fixedDestination_, records, context.rowOrigin);
      }
    }
    connector::RowOrigin origin = context.rowOrigin;
    for (const Record& record : records) {
      PENSTOCK_RETURN_IF_ERROR(writeTo(fixedDestination_, record, context, origin));
      origin = connector::following(origin);
    }
    return absl::OkStatus();
  }

  absl::Status flush(bool endOfInput) override { return writer_->flush(endOfInput); }
  absl::StatusOr<std::vector<connector::Committable>> prepareCommit() override {
    return writer_->prepareCommit();
  }
  absl::StatusOr<std::vector<connector::WriterState>> snapshotState(
      connector::CheckpointId checkpoint) override {
    return writer_->snapshotState(checkpoint);
  }
  absl::Status close() override { return writer_->close(); }
  void cancel() override { writer_->cancel(); }

 private:
  // User code may throw; nothing thrown leaves a public function.
  template <typename Call>
  static auto guarded(const char* what, Call call) -> decltype(call()) {
    try {
      return call();
    } catch (const std::exception& error) {
      return base::makeStatus(absl::StatusCode::kUnknown, "{} threw: {}", what, error.what());
    } catch (...) {
      return base::makeStatus(absl::StatusCode::kUnknown, "{} threw", what);
    }
  }

  absl::Status writeTo(connector::DestinationId destination, const Record& record,
                       const connector::WriteContext& context, connector::RowOrigin origin) {
    PENSTOCK_RETURN_IF_ERROR(writer_->admit(destination));
    connector::RowEncoder& row = writer_->core().beginRow(destination);
    const absl::StatusOr<Serialized> serialized =
        guarded("serializer", [&] { return serializer_->serialize(record, destination, row); });
    if (!serialized.ok()) {
      return writer_->failRecord(destination, serialized.status(), context.origin);
    }
    if (*serialized == Serialized::kSkip) {
      writer_->core().discardRow();
    } else {
      writer_->core().commitRow(origin);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<connector::DestinationId> destinationOf(const TableName& table,
                                                         std::string_view origin) {
    const auto found = destinations_.find(
        table, [this](connector::DestinationId id) { writer_->core().prefetch(id); });
    if (found.has_value()) return *found;
    PENSTOCK_ASSIGN_OR_RETURN(const connector::DestinationId id, openDestination(table, origin));
    destinations_.add(table, id);
    return id;
  }

  absl::StatusOr<connector::DestinationId> openDestination(const TableName& table,
                                                           std::string_view origin) {
    std::optional<uint64_t> fingerprint;
    PENSTOCK_ASSIGN_OR_RETURN(DestinationSetup setup, describe(table, fingerprint));
    if (resolver_) setup.origin = std::string(origin);
    PENSTOCK_ASSIGN_OR_RETURN(const connector::DestinationId id, writer_->open(std::move(setup)));
    PENSTOCK_RETURN_IF_ERROR(prepare(id, table, writer_->core().schemaOf(id)));
    if (fingerprints_.size() <= static_cast<size_t>(id)) {
      fingerprints_.resize(static_cast<size_t>(id) + 1);
    }
    fingerprints_[static_cast<size_t>(id)] = fingerprint;
    anyFingerprint_ = anyFingerprint_ || fingerprint.has_value();
    return id;
  }

  absl::Status checkFingerprint(connector::DestinationId destination) {
    const std::optional<uint64_t>& known = fingerprints_[static_cast<size_t>(destination)];
    if (!known.has_value()) return absl::OkStatus();  // static
    const TableName& table = writer_->core().tableOf(destination);
    if (serializer_->schemaFingerprint(table) == known) return absl::OkStatus();
    return changeSchema(destination, table);
  }

  /// What the serializer says of a table.
  absl::StatusOr<DestinationSetup> describe(const TableName& table,
                                            std::optional<uint64_t>& fingerprint) {
    DestinationSetup setup;
    setup.table = table;
    setup.askForCreateOptions = askForCreateOptions_;
    const std::string context = "serializer, for " + table.dotted();
    auto schema = guarded("serializer", [&] { return serializer_->tableSchema(table); });
    PENSTOCK_RETURN_IF_ERROR(base::withContext(schema.status(), context));
    setup.schema = *std::move(schema);
    // Before the descriptor: the other way round a change in between would be missed (BQW-025).
    fingerprint = serializer_->schemaFingerprint(table);
    auto descriptor = guarded("serializer", [&] { return serializer_->descriptor(table); });
    PENSTOCK_RETURN_IF_ERROR(base::withContext(descriptor.status(), context));
    setup.descriptor = *std::move(descriptor);
    setup.followTable = !setup.schema.has_value() && setup.descriptor.empty();
    return setup;
  }

  absl::Status prepare(connector::DestinationId id, const TableName& table,
                       const TableSchema* columns) {
    return base::withContext(
        guarded("serializer", [&] { return serializer_->prepare(id, table, columns); }),
        "serializer, for " + table.dotted());
  }

  /// The serializer's columns are others now (BQW-163): rows written before keep theirs.
  absl::Status changeSchema(connector::DestinationId id, const TableName& table) {
    std::optional<uint64_t> fingerprint;
    PENSTOCK_ASSIGN_OR_RETURN(DestinationSetup setup, describe(table, fingerprint));
    if (setup.followTable) {
      return base::invalidArgument(
          "serializer, for {}: its fingerprint has changed, but it gives no columns",
          table.dotted());
    }
    PENSTOCK_RETURN_IF_ERROR(
        writer_->changeSchema(id, std::move(setup.schema), std::move(setup.descriptor)));
    PENSTOCK_RETURN_IF_ERROR(prepare(id, table, writer_->core().schemaOf(id)));
    fingerprints_[static_cast<size_t>(id)] = fingerprint;
    return absl::OkStatus();
  }

  std::unique_ptr<BlockingWriter> writer_;
  std::unique_ptr<Serializer> serializer_;
  std::unique_ptr<Resolver> resolver_;
  std::optional<TableName> table_;
  const bool askForCreateOptions_;
  TableIndex destinations_;
  std::vector<std::optional<uint64_t>> fingerprints_;  // by destination; none = static
  bool anyFingerprint_ = false;
  // With one fixed table no name is compared once it is open.
  bool fixedIsOpen_ = false;
  connector::DestinationId fixedDestination_{};
};

template <typename Record>
absl::StatusOr<std::unique_ptr<connector::SinkWriter<Record>>> BigQuerySink<Record>::restoreWriter(
    const connector::WriterInit& init, std::span<const connector::WriterState> states) const {
  PENSTOCK_ASSIGN_OR_RETURN(const SinkConnections connections, connect());
  PENSTOCK_ASSIGN_OR_RETURN(
      std::unique_ptr<BlockingWriter> writer,
      BlockingWriter::create(options_, connections, init, handler_(), states));
  std::unique_ptr<Resolver> resolver = resolver_ ? resolver_() : nullptr;
  std::unique_ptr<connector::SinkWriter<Record>> result = std::make_unique<Writer>(
      std::move(writer), serializer_(), std::move(resolver), table_, createOptions_);
  return result;
}

}  // namespace penstock::bigquery
