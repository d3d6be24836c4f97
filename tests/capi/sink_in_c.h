#ifndef PENSTOCK_TESTS_CAPI_SINK_IN_C_H_
#define PENSTOCK_TESTS_CAPI_SINK_IN_C_H_

/* Tests written in C; each returns 0, or prints what was wrong and returns 1. */
#ifdef __cplusplus
extern "C" {
#endif

int rejects_one_row_and_writes_the_others(const char* grpc, const char* rest);
int ends_promptly_although_the_server_hangs(const char* grpc, const char* rest,
                                            void (*cancel_soon)(void*), void (*joined)(void));
int refuses_what_is_wrong(const char* grpc, const char* rest);

/* Whether the table p.d.once shows these names, in order, each followed by a space. */
typedef int (*rows_are)(const char* names);
int writes_exactly_once(const char* grpc, const char* rest, rows_are rows_are);
int refuses_bad_states_and_committables(const char* grpc, const char* rest);
int cancels_a_commit_that_hangs(const char* grpc, const char* rest, void (*cancel_soon)(void*),
                                void (*joined)(void));

#ifdef __cplusplus
}
#endif

#endif
