#ifndef PENSTOCK_CAPI_PENSTOCK_H_
#define PENSTOCK_CAPI_PENSTOCK_H_

/*
 * Penstock for C and for every language that can call C: the contract of the cores (begin, poll,
 * answer), flattened. Nothing here waits but penstock_sink_wait and penstock_committer_wait. A sink
 * is one writer: one thread at a time, except penstock_sink_cancel, which any thread may call. The
 * same holds for a committer; a sink and a committer may be used by two threads at a time.
 *
 * Functions that can fail return a code (PENSTOCK_OK = 0, otherwise a gRPC status code); the text
 * is in penstock_last_error() of the same thread until its next call. Memory that comes out of a
 * sink belongs to the sink: see each function for how long it stays; a penstock_bytes_list belongs
 * to the caller. Memory that goes in is copied. Strings are UTF-8 and end with a zero byte.
 *
 *     penstock_sink* sink;
 *     penstock_sink_open(options, 2, &sink);
 *     penstock_sink_register_destination(sink, "p.d.t", schema_json, NULL, 0, &destination);
 *     while (written < size) {
 *       penstock_sink_write(sink, batch + written, size - written, &taken);
 *       written += taken;
 *       if (written < size) step(sink);        // poll, answer questions, wait
 *     }
 *     penstock_sink_begin_flush(sink, 1);
 *     while (penstock_sink_poll(sink, &progress) == PENSTOCK_OK && progress.state != PENSTOCK_DONE)
 * step(sink);
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised by one when a function or a struct changes in a way that old callers cannot use. */
#define PENSTOCK_ABI_VERSION 1
/* The version of the library that is loaded; must equal PENSTOCK_ABI_VERSION. */
uint32_t penstock_abi_version(void);

/* 0, or a gRPC status code (1 to 16). */
typedef int32_t penstock_code;
#define PENSTOCK_OK 0

/* What went wrong in this thread's last call that did not return PENSTOCK_OK; never null. */
const char* penstock_last_error(void);

typedef struct penstock_sink penstock_sink;

/* A key of the option registry ("sink.emulator-endpoint"; see `penstock options`) and its value. */
typedef struct penstock_option {
  const char* key;
  const char* value;
} penstock_option;

/*
 * Opens a writer of the BigQuery sink. Reads credentials; sends nothing. INVALID_ARGUMENT names the
 * option and its value, UNIMPLEMENTED an option of a later release. Close and destroy what this
 * returns. With the write method STORAGE_API_EXACTLY_ONCE ("sink.write-method") rows become visible
 * by a commit: see "Exactly once" below.
 */
penstock_code penstock_sink_open(const penstock_option* options, size_t option_count,
                                 penstock_sink** sink);

/*
 * Names a table, PROJECT.DATASET.TABLE, once; rows name it by the id. `schema_json`: BigQuery's own
 * JSON form of the columns, with which a missing table is created; NULL if it must exist.
 * `descriptor`: a serialized google.protobuf.DescriptorProto of the rows; NULL = the one that
 * follows from the schema. One of them is needed.
 */
penstock_code penstock_sink_register_destination(penstock_sink* sink, const char* table,
                                                 const char* schema_json, const void* descriptor,
                                                 size_t descriptor_size, uint32_t* destination);

/*
 * Takes rows that are protobuf bytes already. `batch` holds records, each: destination id
 * (uint32_t), length (uint32_t), bytes; both numbers in the machine's own order, nothing aligned.
 * `taken` is how many bytes of whole records were accepted: fewer than `size` when a destination
 * would wait (poll, wait, then go on from there). The bytes are copied. An error is the writer's
 * captured one, or INVALID_ARGUMENT for a torn record or unknown destination; what was taken before
 * it is in `taken`.
 */
penstock_code penstock_sink_write(penstock_sink* sink, const void* batch, size_t size,
                                  size_t* taken);

/*
 * The same of records that the host numbers: the first one of the batch is `first_origin`, those
 * behind it follow. 0 = not numbered. What became of a record that fails later on is asked about
 * with its number: see penstock_sink_failure_origin.
 */
penstock_code penstock_sink_write_from(penstock_sink* sink, const void* batch, size_t size,
                                       uint64_t first_origin, size_t* taken);

typedef enum penstock_state {
  PENSTOCK_DONE = 0,       /* no operation is open */
  PENSTOCK_PENDING = 1,    /* the open operation waits for an event or for wake_after_ns */
  PENSTOCK_NEEDS_HOST = 2, /* there are questions to answer */
  PENSTOCK_FAILED =
      3 /* final: only close and destroy are left; the code and penstock_last_error say why */
} penstock_state;

typedef struct penstock_progress {
  penstock_state state;
  int64_t
      wake_after_ns; /* poll again after at most so many nanoseconds; negative = only on an event */
} penstock_progress;

/* Moves everything on that can be moved; never waits. In PENSTOCK_FAILED it returns the captured
 * error's code. */
penstock_code penstock_sink_poll(penstock_sink* sink, penstock_progress* progress);

/*
 * Waits for an event of this sink, at most `timeout_ns` (negative = without limit). Returns at once
 * if anything was done since the last wait: go round again then.
 */
void penstock_sink_wait(penstock_sink* sink, int64_t timeout_ns);

/* Operations: at most one is open; poll until PENSTOCK_DONE. */
penstock_code penstock_sink_begin_flush(penstock_sink* sink, int end_of_input);
/* Does not flush: what is not acknowledged is dropped. */
penstock_code penstock_sink_begin_close(penstock_sink* sink);
/* Any thread: whatever is open ends promptly with CANCELLED. */
void penstock_sink_cancel(penstock_sink* sink);
/* Closes if that was not done, and frees the sink. NULL is fine. */
void penstock_sink_destroy(penstock_sink* sink);

typedef enum penstock_question_kind {
  PENSTOCK_FAILED_RECORDS =
      0, /* what becomes of these records? PENSTOCK_OK drops them, a code fails the sink */
  PENSTOCK_FLUSH_HANDLER = 1 /* flush wherever failed records were put; a code fails the sink */
} penstock_question_kind;

typedef struct penstock_failed_record {
  const char* destination; /* project.dataset.table */
  const char* message;
  const void* payload; /* the row's bytes */
  size_t payload_size;
  const void* descriptor; /* the DescriptorProto that decodes the payload */
  size_t descriptor_size;
  penstock_code cause;
} penstock_failed_record;

typedef struct penstock_question {
  uint64_t id;
  penstock_question_kind kind;
  uint32_t destination; /* UINT32_MAX = none */
  const penstock_failed_record* failures;
  size_t failure_count;
} penstock_question;

/*
 * The open questions, oldest first; they and all they point to stay until the next call of this
 * function, penstock_sink_answer or penstock_sink_destroy. Ask when poll answers
 * PENSTOCK_NEEDS_HOST or PENSTOCK_FAILED.
 */
size_t penstock_sink_questions(penstock_sink* sink, const penstock_question** questions);
/*
 * The number that record `index` of an open question was written with; 0 when it has none, or when
 * there is no such question or record.
 */
uint64_t penstock_sink_failure_origin(penstock_sink* sink, uint64_t question, size_t index);
/* Answers one. `message` (may be NULL) says why a code other than PENSTOCK_OK fails the sink. */
penstock_code penstock_sink_answer(penstock_sink* sink, uint64_t question, penstock_code code,
                                   const char* message);

/*
 * Exactly once. What a host does for checkpoint n of a writer, docs/c-api.md has the whole of it:
 *
 *   1. flush until done, penstock_sink_begin_prepare_commit until done, then
 *      penstock_sink_take_committables and penstock_sink_snapshot_state(n);
 *   2. store the states, where the input stands, and every committable that no commit has confirmed
 *      so far, durably and in one step;
 *   3. commit those committables; forget them only when that is done.
 *
 * After a crash: commit the stored committables again (what was committed before is a success),
 * restore a writer with the stored states, and read the input on from where it stood.
 */

/* Bytes of any content, no zero byte behind them. */
typedef struct penstock_bytes {
  const void* data;
  size_t size;
} penstock_bytes;

/*
 * States or committables to be stored. Belongs to the caller, whatever becomes of the sink, and
 * stays until penstock_bytes_list_free. Does not change: any number of threads may read it.
 */
typedef struct penstock_bytes_list {
  const penstock_bytes* items;
  size_t count;
} penstock_bytes_list;

/* Frees the list and its bytes. NULL is fine. */
void penstock_bytes_list_free(penstock_bytes_list* list);

/*
 * penstock_sink_open for one writer of several, and for one that goes on from a checkpoint.
 * `states` are copied; each is one table of one writer and may go to any writer, but not to two;
 * none (NULL, 0) is fine. `subtask` counts from 0 and is below `parallelism`. DATA_LOSS says which
 * state is damaged, UNIMPLEMENTED which one is of another release, INVALID_ARGUMENT that the write
 * method has no state.
 */
penstock_code penstock_sink_restore(const penstock_option* options, size_t option_count,
                                    const penstock_bytes* states, size_t state_count,
                                    int32_t subtask, int32_t parallelism, penstock_sink** sink);

/*
 * An operation like a flush, after which it belongs: what has not been acknowledged yet is left to
 * the next one. Legal alone and repeatedly.
 */
penstock_code penstock_sink_begin_prepare_commit(penstock_sink* sink);
/*
 * What the last prepare gave, once; free the list. Empty when no row is new, and with
 * STORAGE_API_AT_LEAST_ONCE, whose rows are visible without. FAILED_PRECONDITION while an operation
 * is open; the captured error of a sink that has failed.
 */
penstock_code penstock_sink_take_committables(penstock_sink* sink,
                                              penstock_bytes_list** committables);
/*
 * What checkpoint `checkpoint` has to store of this writer, at once; free the list. Legal alone and
 * repeatedly. The captured error of a sink that has failed.
 */
penstock_code penstock_sink_snapshot_state(penstock_sink* sink, int64_t checkpoint,
                                           penstock_bytes_list** states);

/* Makes committed rows visible. One thread at a time, except penstock_committer_cancel. */
typedef struct penstock_committer penstock_committer;

/*
 * Opens a committer with the options of the sink. Reads credentials; sends nothing. One is enough
 * for any number of sinks. INVALID_ARGUMENT with STORAGE_API_AT_LEAST_ONCE, where nothing is to be
 * committed. Destroy what this returns.
 */
penstock_code penstock_committer_open(const penstock_option* options, size_t option_count,
                                      penstock_committer** committer);
/*
 * Begins to commit stored committables, of any number of writers and checkpoints, in any order; the
 * bytes are copied. Poll until PENSTOCK_DONE: then all their rows are visible. Committing one again
 * is a success. FAILED_PRECONDITION while a commit is open or after the close.
 */
penstock_code penstock_committer_begin_commit(penstock_committer* committer,
                                              const penstock_bytes* committables, size_t count);
/*
 * Moves the commit on; never waits. The states are PENSTOCK_DONE, PENSTOCK_PENDING and
 * PENSTOCK_FAILED, in which it returns the error's code: DATA_LOSS for bytes that are no
 * committable of ours (nothing was committed then), or that of the service. A failure is final for
 * this committer; keep the committables, and commit them with another one.
 */
penstock_code penstock_committer_poll(penstock_committer* committer, penstock_progress* progress);
/* As penstock_sink_wait. */
void penstock_committer_wait(penstock_committer* committer, int64_t timeout_ns);
/* Gives up an open commit: whether its rows are visible is not known. Poll until PENSTOCK_DONE. */
penstock_code penstock_committer_begin_close(penstock_committer* committer);
/* Any thread: an open commit ends promptly with CANCELLED. */
void penstock_committer_cancel(penstock_committer* committer);
/* Closes if that was not done, and frees the committer. NULL is fine. */
void penstock_committer_destroy(penstock_committer* committer);

/* The value of a counter or gauge ("numRecordsSend"); 0 for one that has not been used yet. */
int64_t penstock_sink_metric(penstock_sink* sink, const char* name);

#ifdef __cplusplus
}
#endif

#endif /* PENSTOCK_CAPI_PENSTOCK_H_ */
