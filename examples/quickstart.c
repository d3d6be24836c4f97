/* Writes two rows to a table that does not exist yet, from C, against an emulator.
 * usage: quickstart GRPC_HOST:PORT REST_HOST:PORT PROJECT.DATASET.TABLE */
#include <stdio.h>
#include <string.h>

#include "penstock/capi/penstock.h"

/* [sink] */
static const char* const kSchema =
    "[{\"name\": \"name\", \"type\": \"STRING\"}, {\"name\": \"n\", \"type\": \"INT64\"}]";

/* Records as penstock_sink_write takes them: destination, length, the row's protobuf bytes. */
static size_t add_record(char* to, uint32_t destination, const void* row, uint32_t size) {
  memcpy(to, &destination, 4);
  memcpy(to + 4, &size, 4);
  memcpy(to + 8, row, size);
  return 8 + size;
}

/* One round: move on what can be moved, decide what is asked, wait for the rest. */
static penstock_code step(penstock_sink* sink, penstock_progress* progress) {
  const penstock_question* questions;
  penstock_code code = penstock_sink_poll(sink, progress);
  if (code != PENSTOCK_OK || progress->state == PENSTOCK_DONE) return code;
  if (progress->state != PENSTOCK_NEEDS_HOST) {
    penstock_sink_wait(sink, progress->wake_after_ns);
    return PENSTOCK_OK;
  }
  if (penstock_sink_questions(sink, &questions) == 0) return PENSTOCK_OK;
  if (questions[0].kind == PENSTOCK_FAILED_RECORDS) {
    fprintf(stderr, "dropped: %s\n", questions[0].failures[0].message);
  }
  return penstock_sink_answer(sink, questions[0].id, PENSTOCK_OK, NULL);
}

static penstock_code write_rows(penstock_sink* sink, const char* table) {
  char batch[64];
  uint32_t destination;
  size_t written = 0;
  penstock_progress progress;
  penstock_code code =
      penstock_sink_register_destination(sink, table, kSchema, NULL, 0, &destination);
  if (code != PENSTOCK_OK) return code;
  size_t size = add_record(batch, destination,
                           "\x0A\x05"
                           "alice\x10\x03",
                           9);
  size += add_record(batch + size, destination,
                     "\x0A\x03"
                     "bob\x10\x04",
                     7);
  while (code == PENSTOCK_OK && written < size) {
    size_t taken = 0;
    code = penstock_sink_write(sink, batch + written, size - written, &taken);
    written += taken;
    if (code == PENSTOCK_OK && written < size) code = step(sink, &progress);
  }
  if (code == PENSTOCK_OK) code = penstock_sink_begin_flush(sink, 1);
  for (progress.state = PENSTOCK_PENDING; code == PENSTOCK_OK && progress.state != PENSTOCK_DONE;) {
    code = step(sink, &progress);
  }
  return code;
}
/* [/sink] */

int main(int argc, char** argv) {
  penstock_sink* sink = NULL;
  if (argc != 4) return 2;
  const penstock_option options[] = {{"sink.emulator-endpoint", argv[1]},
                                     {"sink.emulator-rest-endpoint", argv[2]}};
  penstock_code code = penstock_sink_open(options, 2, &sink);
  if (code == PENSTOCK_OK) code = write_rows(sink, argv[3]);
  if (code != PENSTOCK_OK) fprintf(stderr, "failed: %s\n", penstock_last_error());
  penstock_sink_destroy(sink);
  return code == PENSTOCK_OK ? 0 : 1;
}
