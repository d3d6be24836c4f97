#pragma once

#include <optional>
#include <string_view>

#include "penstock/bigquery/sink/buffered_stream_host.h"
#include "penstock/bigquery/sink/table_creation.h"

namespace penstock::bigquery {

/// Getting a destination a BUFFERED stream of its own (BQW-101), and its table first if that is
/// missing (BQW-151): only here, since an append to a stream that exists says nothing of the table.
/// After its creation the table may be denied for a moment, which is waited out. Task thread only,
/// nothing here waits.
///
///   kCreatingStream --created--> kDone
///   kCreatingStream --missing table, once--> kCreatingTable --created--> kCreatingStream
///   kCreatingStream --passing--> kBackingOff --time--> kCreatingStream
///
/// Anything else, or one attempt too many, fails the writer; the state stays.
class StreamCreation {
 public:
  enum class State { kCreatingStream, kCreatingTable, kBackingOff, kDone };

  StreamCreation(DestinationContext& context, BufferedStreamHost& host);

  void onStreamCreated(const StreamError& error, CreatedStream stream);
  void onTableCreated(const AdminError& error);
  void onCreateOptions(std::string_view document);
  void advance();
  [[nodiscard]] base::MonotonicTime wakeAt() const;

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool done() const { return state_ == State::kDone; }
  [[nodiscard]] int attempt() const { return attempt_; }
  /// In kDone.
  [[nodiscard]] const CreatedStream& stream() const { return stream_; }

 private:
  void create();
  void resumeIfTableCreated();
  void fail(const absl::Status& status, Verdict verdict);

  DestinationContext& context_;
  BufferedStreamHost& host_;
  State state_ = State::kCreatingStream;
  int attempt_ = 1;  // of CreateWriteStream; from anew once the table has been created
  std::optional<TableCreation> table_;
  CreatedStream stream_;
  base::MonotonicTime resumeAt_ = base::kNever;
};

}  // namespace penstock::bigquery
