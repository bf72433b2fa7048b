/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a series, as a table, and as the beats of a run: refused with a
 * message, or finite numbers in equal columns. */
#include <beats.h>
#include <math.h>
#include <series.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_columns(const uint8_t *data, size_t size, const char *const *names,
                         size_t count) {
  FILE *stream = fmemopen((void *)data, size, "r");
  columns c = {0};
  failure why = {""};
  if (columns_read_stream(stream, "fuzz", names, count, &c, &why)) {
    if (!*why.text) abort();
  } else {
    for (size_t k = 0; k < count; k++) {
      for (size_t i = 0; i < c.count; i++) {
        if (!isfinite(c.column[k][i])) abort();
      }
    }
  }
  columns_free(&c);
  (void)fclose(stream);
}

static void read_beats(const uint8_t *data, size_t size) {
  FILE *stream = fmemopen((void *)data, size, "r");
  beats b = {0};
  failure why = {""};
  if (beats_read_stream(stream, "fuzz", &b, &why)) {
    if (!*why.text) abort();
  } else {
    for (size_t t = 0; t < b.run.thread_count; t++) {
      const tsanom_hsa_series *s = &b.run.threads[t];
      for (size_t i = 0; i < s->beats; i++) {
        if (s->time[i] < (i ? s->time[i - 1] : b.run.start)) abort();
      }
    }
  }
  beats_free(&b);
  (void)fclose(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"x", "y"};
  if (size == 0) return 0;
  read_columns(data, size, NULL, 1);
  read_columns(data, size, names, 2);
  read_beats(data, size);
  return 0;
}
