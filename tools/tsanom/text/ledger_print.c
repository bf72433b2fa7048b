/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of a run went, as text and as JSON. */
#include <stdio.h>

#include "diagnosis.h"
#include "json_value.h"

enum { WHOLE = 0 };

static json_t *window_to_json(const tsanom_diagnosis_window *w) {
  return json_pack("{so so so so so so}", "begin_s", json_finite(w->begin), "end_s",
                   json_finite(w->end), "wall_s", json_finite(w->wall_s), "cpu_s",
                   json_finite(w->cpu_s), "ready_s", json_finite(w->ready_s), "nobody_s",
                   json_finite(w->nobody_s));
}

static json_t *share_to_json(size_t thread, const tsanom_diagnosis_share *s) {
  return json_pack("{sI so so so}", "thread", (json_int_t)thread, "cpu_s",
                   json_finite(s->cpu_s), "ready_s", json_finite(s->ready_s), "off_s",
                   json_finite(s->off_s));
}

json_t *ledger_to_json(const diagnosis *d) {
  if (!d->ledger.sampled) return json_null();
  json_t *parts = json_array(), *threads = json_array();
  json_t *ledger = window_to_json(&d->ledger.window[WHOLE]);
  for (size_t w = WHOLE + 1; w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
    json_array_append_new(parts, window_to_json(&d->ledger.window[w]));
  }
  for (size_t t = 0; t < d->share_threads; t++) {
    json_array_append_new(threads, share_to_json(t, &d->share[t]));
  }
  json_object_set_new(ledger, "processors",
                      json_integer((json_int_t)d->ledger.processors));
  json_object_set_new(ledger, "parts", parts);
  json_object_set_new(ledger, "threads", threads);
  return ledger;
}

static void print_window(const diagnosis *d, size_t window, int width) {
  char text[SENTENCE_BYTES];
  tsanom_diagnosis_window_text(&d->ledger.window[window], text, sizeof text, NULL);
  printf("%-*s          ", width, "");
  if (window != WHOLE) printf("eighth %zu: ", window);
  printf("%s\n", text);
}

static void print_share(const diagnosis *d, size_t thread, int width) {
  const tsanom_diagnosis_share *s = &d->share[thread];
  printf(
      "%-*s          thread %zu: %.3g s on a processor, %.3g s ready without one, "
      "%.3g s off it\n",
      width, "", thread, s->cpu_s, s->ready_s, s->off_s);
}

void ledger_print(const diagnosis *d, int width, int explain) {
  if (!d->ledger.sampled) return;
  print_window(d, WHOLE, width);
  for (size_t w = WHOLE + 1; explain && w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
    print_window(d, w, width);
  }
  for (size_t t = 0; explain && t < d->share_threads; t++) print_share(d, t, width);
}
