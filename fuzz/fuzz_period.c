/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a stream of events, and as one of values: rejected with a message, or
 * segments and periods that lie in the stream. The first byte chooses the window. */
#include <periods.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_segments(const periods *p) {
  for (size_t k = 0; k < p->segments; k++) {
    const stretch *t = &p->segment[k];
    if (t->period < 1 || t->period > p->window) abort();
    if (t->first > t->last || t->last >= p->count) abort();
  }
}

static void check_periods(const periods *p) {
  for (size_t k = 0; k < p->founds; k++) {
    const tsanom_dpd_period *one = &p->found[k];
    if (k && one->period <= p->found[k - 1].period) abort();
    if (one->first > one->last || one->last >= p->count) abort();
  }
}

static void read_stream(const uint8_t *data, size_t size, period_request request,
                        const char *column) {
  stdin = fmemopen((void *)data, size, "r");
  period_stream s = {0};
  failure why = {""};
  request.path = "-";
  request.column = column;
  if (period_stream_read(&s, &request, &why)) {
    if (!*why.text) abort();
  } else {
    check_segments(&s.p);
    check_periods(&s.p);
    if (s.p.current && s.p.current > s.p.kept)
      abort(); /* samples that are predicted from */
  }
  period_stream_free(&s);
  (void)fclose(stdin);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  period_request request = {.events = 1, .window = 1 + data[0] % 64, .exec = &exec};
  read_stream(data + 1, size - 1, request, NULL);
  read_stream(data + 1, size - 1, request, "x");
  request.events = 0;
  read_stream(data + 1, size - 1, request, NULL);
  request.depth = 0.25;
  read_stream(data + 1, size - 1, request, NULL);
  return 0;
}
