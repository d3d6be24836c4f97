#include "penstock/bigquery/sink/exactly_once_state.h"

#include <string_view>

#include "penstock/bigquery/sink/exactly_once_state.pb.h"

namespace penstock::bigquery {
namespace {

constexpr char kStateKind = 'S';
constexpr char kCommittableKind = 'C';
constexpr size_t kHeadBytes = 2;

std::string encode(char kind, int version, const google::protobuf::MessageLite& message) {
  std::string bytes{kind, static_cast<char>(version)};
  message.AppendToString(&bytes);
  return bytes;
}

/// The message behind the head. `what`: how people call it.
absl::StatusOr<std::string_view> bodyOf(std::string_view bytes, char kind, int oldest, int newest,
                                        std::string_view what) {
  if (bytes.size() < kHeadBytes || bytes[0] != kind) {
    return base::makeStatus(absl::StatusCode::kDataLoss,
                            "{} bytes that are no {} of the exactly-once BigQuery sink",
                            bytes.size(), what);
  }
  const int version = static_cast<uint8_t>(bytes[1]);
  if (version > newest) {
    return base::makeStatus(absl::StatusCode::kUnimplemented,
                            "a {} of version {}, and this Penstock reads up to version {}: "
                            "continue with the release that wrote it, or a later one",
                            what, version, newest);
  }
  if (version < oldest) {
    return base::makeStatus(absl::StatusCode::kUnimplemented,
                            "a {} of version {}, which Penstock has never written: it can only be "
                            "continued by the program that wrote it",
                            what, version);
  }
  return bytes.substr(kHeadBytes);
}

absl::Status damaged(std::string_view what, std::string_view why) {
  return base::makeStatus(absl::StatusCode::kDataLoss, "a {} that is damaged: {}", what, why);
}

// projects/P/datasets/D/tables/T/streams/ID, every part of it there.
bool isStreamName(std::string_view stream) {
  for (const std::string_view folder : {"projects/", "datasets/", "tables/", "streams/"}) {
    if (!stream.starts_with(folder)) return false;
    stream.remove_prefix(folder.size());
    const size_t end = stream.find('/');
    if (end == 0 || stream.empty()) return false;
    const bool isLast = folder == "streams/";
    if (isLast != (end == std::string_view::npos)) return false;
    if (!isLast) stream.remove_prefix(end + 1);
  }
  return true;
}

}  // namespace

bool isStreamOf(const TableName& table, std::string_view stream) {
  return isStreamName(stream) && stream.starts_with(table.resource() + "/streams/") &&
         stream != table.defaultStream();
}

connector::WriterState encodeState(const BufferedStreamState& state) {
  state::BufferedStreamState message;
  message.set_project(state.table.project);
  message.set_dataset(state.table.dataset);
  message.set_table(state.table.table);
  message.set_stream(state.stream);
  message.set_next_offset(state.nextOffset);
  message.set_checkpoint_id(state.checkpoint);
  if (state.preparedOffset != state.nextOffset) message.set_prepared_offset(state.preparedOffset);
  return {encode(kStateKind, BufferedStreamState::kVersion, message)};
}

connector::Committable encodeCommittable(const StreamCommittable& committable) {
  state::StreamCommittable message;
  message.set_stream(committable.stream);
  message.set_flush_offset(committable.flushOffset);
  message.set_subtask(committable.subtask);
  return {encode(kCommittableKind, StreamCommittable::kVersion, message)};
}

absl::StatusOr<BufferedStreamState> decodeState(const connector::WriterState& bytes) {
  constexpr std::string_view kWhat = "writer state";
  constexpr int kOldest = 2;
  PENSTOCK_ASSIGN_OR_RETURN(
      const std::string_view body,
      bodyOf(bytes.bytes, kStateKind, kOldest, BufferedStreamState::kVersion, kWhat));
  state::BufferedStreamState message;
  if (!message.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return damaged(kWhat, "it does not parse");
  }
  if (!message.has_next_offset() || !message.has_checkpoint_id()) {
    return damaged(kWhat, "it ends before its offset and checkpoint");
  }
  BufferedStreamState result;
  result.table = {message.project(), message.dataset(), message.table()};
  result.stream = message.stream();
  result.nextOffset = message.next_offset();
  result.checkpoint = message.checkpoint_id();
  result.preparedOffset =
      message.has_prepared_offset() ? message.prepared_offset() : message.next_offset();
  if (const absl::Status status = result.table.validate(); !status.ok()) {
    return damaged(kWhat, base::messageOf(status));
  }
  if (!result.stream.empty() && !isStreamOf(result.table, result.stream)) {
    return damaged(kWhat, fmt::format("its stream '{}' is none of table {}", result.stream,
                                      result.table.dotted()));
  }
  if (result.nextOffset < 0 || result.preparedOffset < 0 ||
      result.preparedOffset > result.nextOffset) {
    return damaged(kWhat, fmt::format("its offsets {} and {} cannot be", result.preparedOffset,
                                      result.nextOffset));
  }
  return result;
}

absl::StatusOr<StreamCommittable> decodeCommittable(const connector::Committable& bytes) {
  constexpr std::string_view kWhat = "committable";
  PENSTOCK_ASSIGN_OR_RETURN(
      const std::string_view body,
      bodyOf(bytes.bytes, kCommittableKind, 1, StreamCommittable::kVersion, kWhat));
  state::StreamCommittable message;
  if (!message.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return damaged(kWhat, "it does not parse");
  }
  if (!message.has_flush_offset()) return damaged(kWhat, "it ends before its offset");
  if (!isStreamName(message.stream())) {
    return damaged(kWhat, fmt::format("'{}' is no stream's name", message.stream()));
  }
  if (message.flush_offset() < 0) {
    return damaged(kWhat, fmt::format("its offset {} cannot be", message.flush_offset()));
  }
  return StreamCommittable{message.stream(), message.flush_offset(), message.subtask()};
}

}  // namespace penstock::bigquery
