/* Exactly once from C alone: checkpoints, commits, a crash and what a host does after it. */

#include <stdio.h>
#include <string.h>

#include "penstock/capi/penstock.h"
#include "rows_in_c.h"
#include "sink_in_c.h"

enum { kOptions = 3, kDataLoss = 15, kInvalidArgument = 3, kFailedPrecondition = 9 };

struct host {
  penstock_option options[kOptions];
};

static struct host host_of(const char* grpc, const char* rest) {
  const struct host host = {{{"sink.emulator-endpoint", grpc},
                             {"sink.emulator-rest-endpoint", rest},
                             {"sink.write-method", "STORAGE_API_EXACTLY_ONCE"}}};
  return host;
}

/* [checkpoint] */
/* The operation that is open, until it is done. */
static penstock_code finish_operation(penstock_sink* sink) {
  for (;;) {
    penstock_progress progress;
    penstock_code code = penstock_sink_poll(sink, &progress);
    if (code != PENSTOCK_OK || progress.state == PENSTOCK_DONE) return code;
    if (progress.state == PENSTOCK_NEEDS_HOST) {
      const penstock_question* questions;
      if (penstock_sink_questions(sink, &questions) == 0) continue;
      if (questions[0].kind == PENSTOCK_FAILED_RECORDS) {
        fprintf(stderr, "dropped: %s\n", questions[0].failures[0].message);
      }
      code = penstock_sink_answer(sink, questions[0].id, PENSTOCK_OK, NULL);
      if (code != PENSTOCK_OK) return code;
    } else {
      penstock_sink_wait(sink, progress.wake_after_ns);
    }
  }
}

/* What is to be stored for checkpoint `number`; both lists are the caller's to free. */
static penstock_code checkpoint(penstock_sink* sink, int64_t number,
                                penstock_bytes_list** committables, penstock_bytes_list** states) {
  penstock_code code = penstock_sink_begin_flush(sink, 0);
  if (code == PENSTOCK_OK) code = finish_operation(sink);
  if (code == PENSTOCK_OK) code = penstock_sink_begin_prepare_commit(sink);
  if (code == PENSTOCK_OK) code = finish_operation(sink);
  if (code == PENSTOCK_OK) code = penstock_sink_take_committables(sink, committables);
  if (code == PENSTOCK_OK) code = penstock_sink_snapshot_state(sink, number, states);
  return code;
}

/* Only once they are stored. Forget them when this returns PENSTOCK_OK, not before. */
static penstock_code commit(penstock_committer* committer, const penstock_bytes* committables,
                            size_t count) {
  penstock_code code = penstock_committer_begin_commit(committer, committables, count);
  while (code == PENSTOCK_OK) {
    penstock_progress progress;
    code = penstock_committer_poll(committer, &progress);
    if (code != PENSTOCK_OK || progress.state == PENSTOCK_DONE) break;
    penstock_committer_wait(committer, progress.wake_after_ns);
  }
  return code;
}
/* [/checkpoint] */

/* What a host's storage holds: copies that no sink knows. */
struct stored {
  char bytes[512];
  penstock_bytes item;
};

static int store(const penstock_bytes_list* list, struct stored* stored) {
  CHECK(list->count == 1 && list->items[0].size <= sizeof stored->bytes);
  memcpy(stored->bytes, list->items[0].data, list->items[0].size);
  stored->item.data = stored->bytes;
  stored->item.size = list->items[0].size;
  return 0;
}

static int take_checkpoint(penstock_sink* sink, int64_t number, struct stored* committable,
                           struct stored* state) {
  penstock_bytes_list* committables = NULL;
  penstock_bytes_list* states = NULL;
  CHECK(checkpoint(sink, number, &committables, &states) == PENSTOCK_OK);
  if (store(committables, committable) != 0 || store(states, state) != 0) return 1;
  penstock_bytes_list_free(committables);
  penstock_bytes_list_free(states);
  return 0;
}

static int write_names(penstock_sink* sink, const char* const* names, size_t count) {
  uint32_t destination = 0;
  struct batch batch = {{0}, 0};
  size_t taken = 0;
  CHECK(penstock_sink_register_destination(sink, "p.d.once", kSchema, NULL, 0, &destination) ==
        PENSTOCK_OK);
  for (size_t i = 0; i < count; ++i) add_row(&batch, destination, names[i], (unsigned char)i);
  for (size_t written = 0; written < batch.size; written += taken) {
    penstock_progress progress;
    CHECK(penstock_sink_write(sink, batch.bytes + written, batch.size - written, &taken) ==
          PENSTOCK_OK);
    if (written + taken == batch.size) continue;
    CHECK(penstock_sink_poll(sink, &progress) == PENSTOCK_OK);
    penstock_sink_wait(sink, progress.wake_after_ns);
  }
  return 0;
}

static int commit_and_close(const struct host* host, const struct stored* committable) {
  penstock_committer* committer = NULL;
  penstock_progress progress;
  CHECK(penstock_committer_open(host->options, kOptions, &committer) == PENSTOCK_OK);
  CHECK(commit(committer, &committable->item, 1) == PENSTOCK_OK);
  CHECK(penstock_committer_begin_close(committer) == PENSTOCK_OK);
  CHECK(penstock_committer_poll(committer, &progress) == PENSTOCK_OK);
  CHECK(progress.state == PENSTOCK_DONE);
  CHECK(penstock_committer_begin_commit(committer, &committable->item, 1) == kFailedPrecondition);
  penstock_committer_destroy(committer);
  return 0;
}

int writes_exactly_once(const char* grpc, const char* rest, rows_are rows_are) {
  static const char* const kFirst[] = {"r1", "r2"};
  static const char* const kReplayed[] = {"r3", "r4", "r5"};
  static const char* const kUnprepared[] = {"r6"};
  const struct host host = host_of(grpc, rest);
  penstock_sink* sink = NULL;
  struct stored committable;
  struct stored state;
  struct stored later;
  penstock_bytes_list* list = NULL;
  CHECK(penstock_sink_open(host.options, kOptions, &sink) == PENSTOCK_OK);
  if (write_names(sink, kFirst, 2) != 0) return 1;
  if (take_checkpoint(sink, 1, &committable, &state) != 0) return 1;
  CHECK(rows_are("")); /* acknowledged, not visible: BQW-120 */
  if (commit_and_close(&host, &committable) != 0) return 1;
  CHECK(rows_are("r1 r2 "));
  /* A prepare after which nothing is new: nothing to commit. */
  CHECK(penstock_sink_begin_prepare_commit(sink) == PENSTOCK_OK);
  CHECK(finish_operation(sink) == PENSTOCK_OK);
  CHECK(penstock_sink_take_committables(sink, &list) == PENSTOCK_OK && list->count == 0);
  penstock_bytes_list_free(list);
  /* Rows that have landed, then the crash before their checkpoint. */
  if (write_names(sink, kReplayed, 2) != 0) return 1;
  CHECK(penstock_sink_begin_flush(sink, 0) == PENSTOCK_OK);
  CHECK(penstock_sink_take_committables(sink, &list) == kFailedPrecondition && list == NULL);
  CHECK(strstr(penstock_last_error(), "PENSTOCK_DONE") != NULL);
  CHECK(finish_operation(sink) == PENSTOCK_OK);
  penstock_sink_destroy(sink);
  /* The restart: commit again (BQW-121), restore, replay. */
  if (commit_and_close(&host, &committable) != 0) return 1;
  CHECK(rows_are("r1 r2 "));
  CHECK(penstock_sink_restore(host.options, kOptions, &state.item, 1, 1, 2, &sink) == PENSTOCK_OK);
  if (write_names(sink, kReplayed, 3) != 0) return 1;
  if (take_checkpoint(sink, 2, &later, &state) != 0) return 1;
  CHECK(rows_are("r1 r2 "));
  if (commit_and_close(&host, &later) != 0) return 1;
  CHECK(rows_are("r1 r2 r3 r4 r5 "));
  /* A snapshot without a prepare: after a restore its rows are due without a new one. */
  if (write_names(sink, kUnprepared, 1) != 0) return 1;
  CHECK(penstock_sink_begin_flush(sink, 0) == PENSTOCK_OK);
  CHECK(finish_operation(sink) == PENSTOCK_OK);
  CHECK(penstock_sink_snapshot_state(sink, 3, &list) == PENSTOCK_OK);
  if (store(list, &state) != 0) return 1;
  penstock_sink_destroy(sink); /* the list stays */
  CHECK(memcmp(list->items[0].data, state.bytes, state.item.size) == 0);
  penstock_bytes_list_free(list);
  CHECK(penstock_sink_restore(host.options, kOptions, &state.item, 1, 0, 1, &sink) == PENSTOCK_OK);
  if (take_checkpoint(sink, 4, &later, &state) != 0) return 1;
  if (commit_and_close(&host, &later) != 0) return 1;
  CHECK(rows_are("r1 r2 r3 r4 r5 r6 "));
  CHECK(penstock_sink_begin_close(sink) == PENSTOCK_OK);
  CHECK(finish_operation(sink) == PENSTOCK_OK);
  penstock_sink_destroy(sink);
  return 0;
}

/* Restoring `size` bytes of `bytes` fails with DATA_LOSS and says which state it was. */
static int is_refused(const struct host* host, const void* bytes, size_t size) {
  penstock_sink* sink = NULL;
  const penstock_bytes cut = {bytes, size};
  CHECK(penstock_sink_restore(host->options, kOptions, &cut, 1, 0, 1, &sink) == kDataLoss);
  CHECK(sink == NULL);
  CHECK(strstr(penstock_last_error(), "writer state 1 of 1") != NULL);
  return 0;
}

int refuses_bad_states_and_committables(const char* grpc, const char* rest) {
  static const char* const kNames[] = {"r1"};
  const struct host host = host_of(grpc, rest);
  const penstock_bytes null_bytes = {NULL, 4};
  penstock_sink* sink = NULL;
  penstock_committer* committer = NULL;
  struct stored committable;
  struct stored state;
  CHECK(penstock_sink_open(host.options, kOptions, &sink) == PENSTOCK_OK);
  if (write_names(sink, kNames, 1) != 0) return 1;
  if (take_checkpoint(sink, 1, &committable, &state) != 0) return 1;
  penstock_sink_destroy(sink);
  if (is_refused(&host, state.bytes, 0) != 0) return 1;
  if (is_refused(&host, state.bytes, 1) != 0) return 1;
  if (is_refused(&host, state.bytes, state.item.size / 2) != 0) return 1;
  if (is_refused(&host, state.bytes, state.item.size - 1) != 0) return 1;
  if (is_refused(&host, committable.bytes, committable.item.size) != 0) return 1;
  CHECK(penstock_sink_restore(host.options, kOptions, &null_bytes, 1, 0, 1, &sink) ==
        kInvalidArgument);
  CHECK(penstock_sink_restore(host.options, kOptions, NULL, 1, 0, 1, &sink) == kInvalidArgument);
  CHECK(penstock_sink_restore(host.options, kOptions, &state.item, 1, 2, 2, &sink) ==
        kInvalidArgument);
  CHECK(strstr(penstock_last_error(), "subtask 2") != NULL);
  /* The first two options only: at least once, which has neither state nor commits. */
  CHECK(penstock_sink_restore(host.options, 2, &state.item, 1, 0, 1, &sink) == kInvalidArgument);
  CHECK(strstr(penstock_last_error(), "STORAGE_API_AT_LEAST_ONCE") != NULL);
  CHECK(penstock_committer_open(host.options, 2, &committer) == kInvalidArgument);
  CHECK(committer == NULL);
  CHECK(penstock_committer_open(host.options, kOptions, &committer) == PENSTOCK_OK);
  CHECK(commit(committer, &null_bytes, 1) == kInvalidArgument);
  CHECK(commit(committer, &state.item, 1) == kDataLoss);
  CHECK(strstr(penstock_last_error(), "committable") != NULL);
  CHECK(commit(committer, &committable.item, 1) == kDataLoss); /* a failure is final */
  penstock_committer_destroy(committer);
  penstock_committer_destroy(NULL);
  penstock_bytes_list_free(NULL);
  return 0;
}

int cancels_a_commit_that_hangs(const char* grpc, const char* rest, void (*cancel_soon)(void*),
                                void (*joined)(void)) {
  static const char* const kNames[] = {"r1"};
  const struct host host = host_of(grpc, rest);
  penstock_sink* sink = NULL;
  penstock_committer* committer = NULL;
  struct stored committable;
  struct stored state;
  penstock_progress progress;
  penstock_code code;
  CHECK(penstock_sink_open(host.options, kOptions, &sink) == PENSTOCK_OK);
  if (write_names(sink, kNames, 1) != 0) return 1;
  if (take_checkpoint(sink, 1, &committable, &state) != 0) return 1;
  CHECK(penstock_committer_open(host.options, kOptions, &committer) == PENSTOCK_OK);
  CHECK(penstock_committer_begin_commit(committer, &committable.item, 1) == PENSTOCK_OK);
  CHECK(penstock_committer_begin_commit(committer, &committable.item, 1) == kFailedPrecondition);
  cancel_soon(committer); /* from another thread */
  while ((code = penstock_committer_poll(committer, &progress)) == PENSTOCK_OK) {
    CHECK(progress.state == PENSTOCK_PENDING);
    penstock_committer_wait(committer, progress.wake_after_ns);
  }
  joined();
  CHECK(code == 1 && progress.state == PENSTOCK_FAILED); /* CANCELLED */
  CHECK(strstr(penstock_last_error(), "cancelled") != NULL);
  penstock_committer_destroy(committer);
  penstock_sink_destroy(sink);
  return 0;
}
