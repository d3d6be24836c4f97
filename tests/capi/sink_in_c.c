/* The C interface, used from C alone: what a foreign host does. Every check says where it failed.
 */

#include "sink_in_c.h"

#include <stdio.h>
#include <string.h>

#include "penstock/capi/penstock.h"
#include "rows_in_c.h"

/* How the records are numbered; the upper bits may say which file, for example. */
static const uint64_t kFirstOrigin = ((uint64_t)7 << 40) + 100;

static int open_sink(const char* grpc, const char* rest, penstock_sink** sink) {
  const penstock_option options[] = {
      {"sink.emulator-endpoint", grpc},
      {"sink.emulator-rest-endpoint", rest},
  };
  CHECK(penstock_abi_version() == PENSTOCK_ABI_VERSION);
  CHECK(penstock_sink_open(options, 2, sink) == PENSTOCK_OK);
  return 0;
}

static int write_all(penstock_sink* sink, const struct batch* batch) {
  size_t written = 0; /* whole batches are accepted here, so the numbers need no counting */
  while (written < batch->size) {
    size_t taken = 0;
    penstock_progress progress;
    CHECK(penstock_sink_write_from(sink, batch->bytes + written, batch->size - written,
                                   kFirstOrigin, &taken) == PENSTOCK_OK);
    written += taken;
    if (written == batch->size) break;
    CHECK(penstock_sink_poll(sink, &progress) == PENSTOCK_OK);
    penstock_sink_wait(sink, progress.wake_after_ns);
  }
  return 0;
}

/* Until nothing is open; counts the records that were asked about and drops them. */
static int finish(penstock_sink* sink, int* failures, char* message, size_t message_size) {
  for (;;) {
    penstock_progress progress;
    CHECK(penstock_sink_poll(sink, &progress) == PENSTOCK_OK);
    if (progress.state == PENSTOCK_DONE) return 0;
    if (progress.state == PENSTOCK_NEEDS_HOST) {
      const penstock_question* questions = NULL;
      const size_t count = penstock_sink_questions(sink, &questions);
      CHECK(count > 0);
      if (questions[0].kind == PENSTOCK_FAILED_RECORDS) {
        const penstock_failed_record* failure = &questions[0].failures[0];
        CHECK(failure->payload_size > 0 && failure->descriptor_size > 0);
        /* The second of the records. */
        CHECK(penstock_sink_failure_origin(sink, questions[0].id, 0) == kFirstOrigin + 1);
        CHECK(penstock_sink_failure_origin(sink, questions[0].id, 1) == 0);
        CHECK(penstock_sink_failure_origin(sink, questions[0].id + 99, 0) == 0);
        *failures += (int)questions[0].failure_count;
        snprintf(message, message_size, "%s: %s", failure->destination, failure->message);
      }
      CHECK(penstock_sink_answer(sink, questions[0].id, PENSTOCK_OK, NULL) == PENSTOCK_OK);
      continue;
    }
    penstock_sink_wait(sink, progress.wake_after_ns);
  }
}

int rejects_one_row_and_writes_the_others(const char* grpc, const char* rest) {
  penstock_sink* sink = NULL;
  uint32_t destination = 99;
  struct batch batch = {{0}, 0};
  int failures = 0;
  char message[512] = "";
  if (open_sink(grpc, rest, &sink) != 0) return 1;
  CHECK(penstock_sink_register_destination(sink, "p.d.from_c", kSchema, NULL, 0, &destination) ==
        PENSTOCK_OK);
  CHECK(destination == 0);
  add_row(&batch, destination, "alice", 1);
  add_row(&batch, destination, "longer than eight", 2);
  add_row(&batch, destination, "bob", 3);
  if (write_all(sink, &batch) != 0) return 1;
  CHECK(penstock_sink_begin_flush(sink, 1) == PENSTOCK_OK);
  if (finish(sink, &failures, message, sizeof message) != 0) return 1;
  CHECK(failures == 1);
  CHECK(strstr(message, "p.d.from_c") != NULL);
  CHECK(penstock_sink_metric(sink, "numRecordsSend") == 3);
  CHECK(penstock_sink_metric(sink, "numRecordsSendErrors") == 1);
  CHECK(penstock_sink_begin_close(sink) == PENSTOCK_OK);
  penstock_sink_destroy(sink);
  return 0;
}

int ends_promptly_although_the_server_hangs(const char* grpc, const char* rest,
                                            void (*cancel_soon)(void*), void (*joined)(void)) {
  penstock_sink* sink = NULL;
  uint32_t destination = 0;
  struct batch batch = {{0}, 0};
  penstock_code code = PENSTOCK_OK;
  if (open_sink(grpc, rest, &sink) != 0) return 1;
  CHECK(penstock_sink_register_destination(sink, "p.d.hangs", kSchema, NULL, 0, &destination) ==
        PENSTOCK_OK);
  add_row(&batch, destination, "alice", 1);
  if (write_all(sink, &batch) != 0) return 1;
  CHECK(penstock_sink_begin_flush(sink, 1) == PENSTOCK_OK);
  cancel_soon(sink); /* from another thread */
  while (code == PENSTOCK_OK) {
    penstock_progress progress;
    code = penstock_sink_poll(sink, &progress);
    if (code != PENSTOCK_OK) {
      CHECK(progress.state == PENSTOCK_FAILED);
      break;
    }
    CHECK(progress.state == PENSTOCK_PENDING); /* nothing is acknowledged */
    penstock_sink_wait(sink, progress.wake_after_ns);
  }
  joined();
  CHECK(code == 1); /* CANCELLED */
  CHECK(strstr(penstock_last_error(), "cancelled") != NULL);
  penstock_sink_destroy(sink); /* closes; must not wait for the server */
  return 0;
}

int refuses_what_is_wrong(const char* grpc, const char* rest) {
  penstock_sink* sink = NULL;
  uint32_t destination = 0;
  size_t taken = 7;
  struct batch batch = {{0}, 0};
  const penstock_option unknown[] = {{"sink.no-such-option", "1"}};
  CHECK(penstock_sink_open(unknown, 1, &sink) == 3 && sink == NULL);
  CHECK(strstr(penstock_last_error(), "no-such-option") != NULL);
  if (open_sink(grpc, rest, &sink) != 0) return 1;
  CHECK(penstock_sink_register_destination(sink, "not a table", kSchema, NULL, 0, &destination) ==
        3);
  CHECK(penstock_sink_register_destination(sink, "p.d.t", NULL, NULL, 0, &destination) == 3);
  CHECK(penstock_sink_register_destination(sink, "p.d.t", "{", NULL, 0, &destination) == 3);
  CHECK(penstock_sink_register_destination(sink, "p.d.t", kSchema, NULL, 0, &destination) ==
        PENSTOCK_OK);
  add_row(&batch, destination, "alice", 1);
  CHECK(penstock_sink_write(sink, batch.bytes, batch.size - 1, &taken) == 3 && taken == 0);
  CHECK(penstock_sink_write(sink, batch.bytes, 5, &taken) == 3 && taken == 0);
  batch.bytes[0] = 42;
  CHECK(penstock_sink_write(sink, batch.bytes, batch.size, &taken) == 3);
  CHECK(strstr(penstock_last_error(), "42") != NULL);
  penstock_sink_destroy(sink);
  penstock_sink_destroy(NULL);
  return 0;
}
