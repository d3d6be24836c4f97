#ifndef PENSTOCK_TESTS_CAPI_ROWS_IN_C_H_
#define PENSTOCK_TESTS_CAPI_ROWS_IN_C_H_

/* What the tests in C write, and how they check. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "penstock/capi/penstock.h"

#define CHECK(condition)                                                              \
  do {                                                                                \
    if (!(condition)) {                                                               \
      fprintf(stderr, "%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, #condition, \
              penstock_last_error());                                                 \
      return 1;                                                                       \
    }                                                                                 \
  } while (0)

static const char* const kSchema =
    "[{\"name\":\"name\",\"type\":\"STRING\",\"maxLength\":\"8\"},{\"name\":\"n\",\"type\":"
    "\"INT64\"}]";

struct batch {
  char bytes[4096];
  size_t size;
};

/* One record: header, then the row's protobuf bytes: field 1 a string, field 2 a small number. */
static inline void add_row(struct batch* batch, uint32_t destination, const char* name,
                           unsigned char n) {
  const uint32_t length = (uint32_t)strlen(name) + 4;
  char* to = batch->bytes + batch->size;
  memcpy(to, &destination, 4);
  memcpy(to + 4, &length, 4);
  to[8] = 0x0A;
  to[9] = (char)strlen(name);
  memcpy(to + 10, name, strlen(name));
  to[10 + strlen(name)] = 0x10;
  to[11 + strlen(name)] = (char)n;
  batch->size += 8 + length;
}

#endif
