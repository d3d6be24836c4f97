#include "penstock/capi/penstock.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/bigquery/schema/schema_json.h"
#include "penstock/bigquery/sink/create_writer.h"
#include "penstock/bigquery/sink/sink_connections.h"
#include "penstock/bigquery/sink/stream_committer.h"

using penstock::bigquery::StorageWriter;
using penstock::bigquery::StreamCommitter;
using penstock::connector::Admission;
using penstock::connector::DestinationId;
using penstock::connector::Progress;
using penstock::connector::Question;

namespace base = penstock::base;
namespace bigquery = penstock::bigquery;
namespace connector = penstock::connector;

/// The C face of one writer: the core and what its questions point to.
struct penstock_sink {
  std::shared_ptr<base::MetricGroup> metrics = std::make_shared<base::MetricGroup>();
  bigquery::SinkConnections connections;
  std::unique_ptr<StorageWriter> writer;
  size_t destinations = 0;
  // Copies for the caller to look at, since the core's own questions change with every call.
  std::vector<Question> shown;
  std::vector<std::vector<penstock_failed_record>> shownFailures;
  std::vector<penstock_question> shownQuestions;
};

struct penstock_committer {
  bigquery::SinkConnections connections;
  std::unique_ptr<StreamCommitter> core;
  bool closed = false;
};

namespace {

thread_local std::string lastError = "no error";

penstock_code report(const absl::Status& status) {
  if (status.ok()) return PENSTOCK_OK;
  lastError = std::string(base::messageOf(status));
  return static_cast<penstock_code>(status.code());
}

// No exception crosses the border; the only ones left are those of an exhausted machine.
template <typename Call>
penstock_code guarded(Call call) {
  try {
    return report(call());
  } catch (const std::exception& error) {
    return report(absl::InternalError(error.what()));
  } catch (...) {
    return report(absl::InternalError("unknown exception"));
  }
}

absl::Status missing(const char* what) {
  return base::invalidArgument("{} must not be NULL", what);
}

absl::Status capturedError(StorageWriter& writer) {
  const Progress progress = writer.poll();
  return progress.state == Progress::State::kFailed
             ? progress.status
             : absl::FailedPreconditionError("the sink is closed");
}

absl::Status writeRows(penstock_sink& sink, const char* batch, size_t size,
                       connector::RowOrigin origin, size_t& taken) {
  struct Header {
    uint32_t destination;
    uint32_t length;
  };
  StorageWriter& writer = *sink.writer;
  while (taken < size) {
    Header header;
    const size_t left = size - taken;
    if (left < sizeof header) {
      return base::invalidArgument("the batch ends inside a record's header, at byte {}", taken);
    }
    std::memcpy(&header, batch + taken, sizeof header);
    if (header.length > left - sizeof header) {
      return base::invalidArgument("the record at byte {} says {} bytes, but {} are left", taken,
                                   header.length, left - sizeof header);
    }
    if (header.destination >= sink.destinations) {
      return base::invalidArgument(
          "the record at byte {} names destination {}, which was not registered", taken,
          header.destination);
    }
    const DestinationId destination{header.destination};
    const Admission admission = writer.admit(destination);
    if (admission == Admission::kWouldWait) return absl::OkStatus();
    if (admission == Admission::kFailed) return capturedError(writer);
    writer.beginRow(destination).append({batch + taken + sizeof header, header.length});
    writer.commitRow(origin);
    origin = connector::following(origin);
    taken += sizeof header + header.length;
  }
  return absl::OkStatus();
}

penstock_failed_record show(const connector::FailedRecord& failure) {
  penstock_failed_record shown{};
  shown.destination = failure.destination.c_str();
  shown.message = failure.errorMessage.c_str();
  if (failure.payload.has_value()) {
    shown.payload = failure.payload->data();
    shown.payload_size = failure.payload->size();
  }
  if (failure.descriptor) {
    shown.descriptor = failure.descriptor->data();
    shown.descriptor_size = failure.descriptor->size();
  }
  shown.cause = static_cast<penstock_code>(failure.cause.code());
  return shown;
}

absl::StatusOr<bigquery::SinkOptions> parseOptions(const penstock_option* options, size_t count) {
  if (options == nullptr && count > 0) return missing("options");
  std::map<std::string, std::string> values;
  for (size_t i = 0; i < count; ++i) {
    if (options[i].key == nullptr || options[i].value == nullptr) {
      return base::invalidArgument("option {} has no key or no value", i);
    }
    if (!values.emplace(options[i].key, options[i].value).second) {
      return base::invalidArgument("option {} is given twice", options[i].key);
    }
  }
  return bigquery::parseSinkOptions(values);
}

absl::StatusOr<std::unique_ptr<penstock_sink>> openSink(
    const penstock_option* options, size_t optionCount, connector::WriterInit init,
    std::span<const connector::WriterState> states) {
  PENSTOCK_ASSIGN_OR_RETURN(const bigquery::SinkOptions parsed, parseOptions(options, optionCount));
  auto opened = std::make_unique<penstock_sink>();
  PENSTOCK_ASSIGN_OR_RETURN(opened->connections, bigquery::connectSink(parsed));
  init.metrics = opened->metrics;
  PENSTOCK_ASSIGN_OR_RETURN(
      opened->writer, bigquery::createStorageWriter(parsed, opened->connections, init, states));
  return opened;
}

/// The list that a caller sees, and behind it what its items point to.
struct OwnedBytesList : penstock_bytes_list {
  std::vector<std::string> bytes;
  std::vector<penstock_bytes> views;
};

/// Of states or committables.
template <typename Blob>
penstock_bytes_list* toBytesList(std::vector<Blob> blobs) {
  auto list = std::make_unique<OwnedBytesList>();
  list->bytes.reserve(blobs.size());
  list->views.reserve(blobs.size());
  for (Blob& blob : blobs) {
    const std::string& bytes = list->bytes.emplace_back(std::move(blob.bytes));
    list->views.push_back({bytes.data(), bytes.size()});
  }
  list->items = list->views.data();
  list->count = list->views.size();
  return list.release();
}

/// The reverse; `what`: how people call an item.
template <typename Blob>
absl::StatusOr<std::vector<Blob>> fromBytes(const penstock_bytes* items, size_t count,
                                            const char* what) {
  if (items == nullptr && count > 0) return base::invalidArgument("the {}s must not be NULL", what);
  std::vector<Blob> blobs(count);
  for (size_t i = 0; i < count; ++i) {
    if (items[i].data == nullptr) {
      return base::invalidArgument("{} {} of {} is NULL", what, i + 1, count);
    }
    blobs[i].bytes.assign(static_cast<const char*>(items[i].data), items[i].size);
  }
  return blobs;
}

absl::Status tell(const Progress& polled, const base::Clock& clock, penstock_progress& progress) {
  progress.state = static_cast<penstock_state>(polled.state);
  progress.wake_after_ns = -1;
  if (polled.wakeAt != base::kNever) {
    const base::Duration wait = polled.wakeAt - clock.now();
    progress.wake_after_ns = std::max<int64_t>(0, wait.count());
  }
  return polled.state == Progress::State::kFailed ? polled.status : absl::OkStatus();
}

base::MonotonicTime waitEnd(const base::Clock& clock, int64_t timeoutNs) {
  return timeoutNs < 0 ? base::kNever : base::deadlineAfter(clock.now(), base::Duration(timeoutNs));
}

}  // namespace

extern "C" {

uint32_t penstock_abi_version(void) { return PENSTOCK_ABI_VERSION; }

const char* penstock_last_error(void) { return lastError.c_str(); }

penstock_code penstock_sink_open(const penstock_option* options, size_t option_count,
                                 penstock_sink** sink) {
  return guarded([&]() -> absl::Status {
    if (sink == nullptr) return missing("sink");
    *sink = nullptr;
    PENSTOCK_ASSIGN_OR_RETURN(auto opened, openSink(options, option_count, {}, {}));
    *sink = opened.release();
    return absl::OkStatus();
  });
}

penstock_code penstock_sink_restore(const penstock_option* options, size_t option_count,
                                    const penstock_bytes* states, size_t state_count,
                                    int32_t subtask, int32_t parallelism, penstock_sink** sink) {
  return guarded([&]() -> absl::Status {
    if (sink == nullptr) return missing("sink");
    *sink = nullptr;
    if (subtask < 0 || subtask >= parallelism) {
      return base::invalidArgument("subtask {} is not one of {}: they count from 0", subtask,
                                   parallelism);
    }
    PENSTOCK_ASSIGN_OR_RETURN(const auto restored, fromBytes<connector::WriterState>(
                                                       states, state_count, "writer state"));
    PENSTOCK_ASSIGN_OR_RETURN(auto opened,
                              openSink(options, option_count, {subtask, parallelism}, restored));
    *sink = opened.release();
    return absl::OkStatus();
  });
}

penstock_code penstock_sink_register_destination(penstock_sink* sink, const char* table,
                                                 const char* schema_json, const void* descriptor,
                                                 size_t descriptor_size, uint32_t* destination) {
  return guarded([&]() -> absl::Status {
    if (sink == nullptr) return missing("sink");
    if (table == nullptr) return missing("table");
    if (destination == nullptr) return missing("destination");
    bigquery::DestinationSetup setup;
    PENSTOCK_ASSIGN_OR_RETURN(setup.table, bigquery::TableName::parse(table));
    if (schema_json != nullptr) {
      PENSTOCK_ASSIGN_OR_RETURN(setup.schema, bigquery::parseSchemaJson(schema_json));
    }
    if (descriptor != nullptr) {
      setup.descriptor.assign(static_cast<const char*>(descriptor), descriptor_size);
    }
    if (!setup.schema.has_value() && setup.descriptor.empty()) {
      return base::invalidArgument("destination {} needs a schema or a descriptor", table);
    }
    PENSTOCK_ASSIGN_OR_RETURN(const DestinationId id,
                              sink->writer->registerDestination(std::move(setup)));
    *destination = static_cast<uint32_t>(id);
    sink->destinations = std::max<size_t>(sink->destinations, *destination + size_t{1});
    return absl::OkStatus();
  });
}

penstock_code penstock_sink_write(penstock_sink* sink, const void* batch, size_t size,
                                  size_t* taken) {
  return penstock_sink_write_from(sink, batch, size, 0, taken);
}

penstock_code penstock_sink_write_from(penstock_sink* sink, const void* batch, size_t size,
                                       uint64_t first_origin, size_t* taken) {
  return guarded([&]() -> absl::Status {
    if (sink == nullptr) return missing("sink");
    if (taken == nullptr) return missing("taken");
    *taken = 0;
    if (batch == nullptr && size > 0) return missing("batch");
    return writeRows(*sink, static_cast<const char*>(batch), size,
                     connector::RowOrigin{first_origin}, *taken);
  });
}

penstock_code penstock_sink_poll(penstock_sink* sink, penstock_progress* progress) {
  return guarded([&]() -> absl::Status {
    if (sink == nullptr) return missing("sink");
    if (progress == nullptr) return missing("progress");
    return tell(sink->writer->poll(), *sink->connections.clock, *progress);
  });
}

void penstock_sink_wait(penstock_sink* sink, int64_t timeout_ns) {
  if (sink == nullptr) return;
  sink->writer->waitForEvent(waitEnd(*sink->connections.clock, timeout_ns));
}

penstock_code penstock_sink_begin_flush(penstock_sink* sink, int end_of_input) {
  return guarded([&]() -> absl::Status {
    if (sink == nullptr) return missing("sink");
    sink->writer->beginFlush(end_of_input != 0);
    return absl::OkStatus();
  });
}

penstock_code penstock_sink_begin_close(penstock_sink* sink) {
  return guarded([&]() -> absl::Status {
    if (sink == nullptr) return missing("sink");
    sink->writer->beginClose();
    return absl::OkStatus();
  });
}

void penstock_sink_cancel(penstock_sink* sink) {
  if (sink != nullptr) sink->writer->cancel();
}

void penstock_sink_destroy(penstock_sink* sink) { delete sink; }

size_t penstock_sink_questions(penstock_sink* sink, const penstock_question** questions) {
  if (sink == nullptr || questions == nullptr) return 0;
  const auto open = sink->writer->questions();
  sink->shown.assign(open.begin(), open.end());
  sink->shownFailures.clear();
  sink->shownQuestions.clear();
  for (const Question& question : sink->shown) {
    auto& failures = sink->shownFailures.emplace_back();
    for (const connector::FailedRecord& failure : question.failures) {
      failures.push_back(show(failure));
    }
    penstock_question shown{};
    shown.id = static_cast<uint64_t>(question.id);
    shown.kind = question.kind == Question::Kind::kFlushHandler ? PENSTOCK_FLUSH_HANDLER
                                                                : PENSTOCK_FAILED_RECORDS;
    shown.destination = static_cast<uint32_t>(question.destination);
    shown.failures = failures.data();
    shown.failure_count = failures.size();
    sink->shownQuestions.push_back(shown);
  }
  *questions = sink->shownQuestions.data();
  return sink->shownQuestions.size();
}

uint64_t penstock_sink_failure_origin(penstock_sink* sink, uint64_t question, size_t index) {
  if (sink == nullptr) return 0;
  for (const Question& open : sink->writer->questions()) {
    if (open.id != connector::QuestionId{question}) continue;
    return index < open.failures.size() ? static_cast<uint64_t>(open.failures[index].rowOrigin) : 0;
  }
  return 0;
}

penstock_code penstock_sink_answer(penstock_sink* sink, uint64_t question, penstock_code code,
                                   const char* message) {
  return guarded([&]() -> absl::Status {
    if (sink == nullptr) return missing("sink");
    connector::Answer answer;
    if (code != PENSTOCK_OK) {
      answer.status = absl::Status(static_cast<absl::StatusCode>(code),
                                   message != nullptr ? message : "the host refused");
    }
    sink->writer->answer(connector::QuestionId{question}, std::move(answer));
    return absl::OkStatus();
  });
}

int64_t penstock_sink_metric(penstock_sink* sink, const char* name) {
  if (sink == nullptr || name == nullptr) return 0;
  const auto snapshot = sink->metrics->snapshot();
  if (const auto counter = snapshot.counters.find(name); counter != snapshot.counters.end()) {
    return static_cast<int64_t>(counter->second);
  }
  const auto gauge = snapshot.gauges.find(name);
  return gauge == snapshot.gauges.end() ? 0 : gauge->second;
}

void penstock_bytes_list_free(penstock_bytes_list* list) {
  delete static_cast<OwnedBytesList*>(list);
}

penstock_code penstock_sink_begin_prepare_commit(penstock_sink* sink) {
  return guarded([&]() -> absl::Status {
    if (sink == nullptr) return missing("sink");
    sink->writer->beginPrepareCommit();
    return absl::OkStatus();
  });
}

penstock_code penstock_sink_take_committables(penstock_sink* sink,
                                              penstock_bytes_list** committables) {
  return guarded([&]() -> absl::Status {
    if (committables == nullptr) return missing("committables");
    *committables = nullptr;
    if (sink == nullptr) return missing("sink");
    const Progress progress = sink->writer->poll();
    if (progress.state == Progress::State::kFailed) return progress.status;
    if (progress.state != Progress::State::kDone) {
      return absl::FailedPreconditionError(
          "an operation is open: poll until PENSTOCK_DONE before taking the committables");
    }
    *committables = toBytesList(sink->writer->takeCommittables());
    return absl::OkStatus();
  });
}

penstock_code penstock_sink_snapshot_state(penstock_sink* sink, int64_t checkpoint,
                                           penstock_bytes_list** states) {
  return guarded([&]() -> absl::Status {
    if (states == nullptr) return missing("states");
    *states = nullptr;
    if (sink == nullptr) return missing("sink");
    const Progress progress = sink->writer->poll();
    if (progress.state == Progress::State::kFailed) return progress.status;
    *states = toBytesList(sink->writer->snapshotState(checkpoint));
    return absl::OkStatus();
  });
}

penstock_code penstock_committer_open(const penstock_option* options, size_t option_count,
                                      penstock_committer** committer) {
  return guarded([&]() -> absl::Status {
    if (committer == nullptr) return missing("committer");
    *committer = nullptr;
    PENSTOCK_ASSIGN_OR_RETURN(const bigquery::SinkOptions parsed,
                              parseOptions(options, option_count));
    if (parsed.writeMethod != bigquery::WriteMethod::kStorageApiExactlyOnce) {
      return base::invalidArgument(
          "there is nothing to commit with this sink.write-method: a committer belongs to "
          "STORAGE_API_EXACTLY_ONCE");
    }
    auto opened = std::make_unique<penstock_committer>();
    PENSTOCK_ASSIGN_OR_RETURN(opened->connections, bigquery::connectSink(parsed));
    PENSTOCK_ASSIGN_OR_RETURN(
        opened->core, StreamCommitter::create(parsed, {.streams = opened->connections.streams,
                                                       .clock = opened->connections.clock,
                                                       .random = base::systemRandom()}));
    *committer = opened.release();
    return absl::OkStatus();
  });
}

penstock_code penstock_committer_begin_commit(penstock_committer* committer,
                                              const penstock_bytes* committables, size_t count) {
  return guarded([&]() -> absl::Status {
    if (committer == nullptr) return missing("committer");
    PENSTOCK_ASSIGN_OR_RETURN(
        const auto stored, fromBytes<connector::Committable>(committables, count, "committable"));
    if (committer->closed) return absl::FailedPreconditionError("the committer is closed");
    const Progress progress = committer->core->poll();
    if (progress.state == Progress::State::kFailed) return progress.status;
    if (progress.state != Progress::State::kDone) {
      return absl::FailedPreconditionError(
          "a commit is open: poll until PENSTOCK_DONE before the next");
    }
    committer->core->beginCommit(stored);
    return absl::OkStatus();
  });
}

penstock_code penstock_committer_poll(penstock_committer* committer, penstock_progress* progress) {
  return guarded([&]() -> absl::Status {
    if (committer == nullptr) return missing("committer");
    if (progress == nullptr) return missing("progress");
    return tell(committer->core->poll(), *committer->connections.clock, *progress);
  });
}

void penstock_committer_wait(penstock_committer* committer, int64_t timeout_ns) {
  if (committer == nullptr) return;
  committer->core->waitForEvent(waitEnd(*committer->connections.clock, timeout_ns));
}

penstock_code penstock_committer_begin_close(penstock_committer* committer) {
  return guarded([&]() -> absl::Status {
    if (committer == nullptr) return missing("committer");
    committer->closed = true;
    committer->core->beginClose();
    return absl::OkStatus();
  });
}

void penstock_committer_cancel(penstock_committer* committer) {
  if (committer != nullptr) committer->core->cancel();
}

void penstock_committer_destroy(penstock_committer* committer) { delete committer; }

}  // extern "C"
