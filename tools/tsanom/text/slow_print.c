/* SPDX-License-Identifier: BSD-3-Clause */
/* Slow iterations as sentences of the library and as JSON, for several commands. */
#include <ctype.h>
#include <stdio.h>

#include "json_value.h"
#include "summary.h"

static const char *const kinds[] = {"single", "stretch", "recurring", "since", "until"};

static const char *const reasons[] = {"unknown", "work",    "ready",  "page_faults",
                                      "reading", "blocked", "stopped"};

void slow_print_one(const tsanom_diagnosis_summary *s, size_t index) {
  int32_t part = TSANOM_DIAGNOSIS_SUMMARY_SLOW + (int32_t)index;
  char text[2048];
  if (tsanom_diagnosis_summary_text(s, part, text, sizeof text, NULL) < 0) return;
  printf("%c%s.\n", toupper((unsigned char)text[0]), text + 1);
}

static json_t *place_to_json(size_t place) {
  return place == TSANOM_NONE ? json_null() : json_integer((json_int_t)place);
}

static json_t *item_to_json(const tsanom_diagnosis_slow *s) {
  json_t *one = json_pack(
      "{ss sI sI sI so so so so so so so}", "kind", kinds[s->kind], "first",
      (json_int_t)s->first, "last", (json_int_t)s->last, "count", (json_int_t)s->count,
      "period", s->period ? json_integer((json_int_t)s->period) : json_null(), "rank",
      s->rank < 0 ? json_null() : json_integer(s->rank), "thread",
      s->thread < 0 ? json_null() : json_integer(s->thread), "region",
      s->region[0] ? json_name(s->region) : json_null(), "ratio", json_finite(s->ratio),
      "low", json_finite(s->low), "high", json_finite(s->high));
  json_object_set_new(one, "ranks",
                      s->rank < 0 ? json_null() : json_integer((json_int_t)s->ranks));
  json_object_set_new(one, "place_low", place_to_json(s->place_low));
  json_object_set_new(one, "place_high", place_to_json(s->place_high));
  json_object_set_new(one, "of_processor", json_boolean(s->of_processor));
  json_object_set_new(one, "of_machine", json_boolean(s->of_machine));
  json_object_set_new(one, "reason", json_string(reasons[s->reason]));
  json_object_set_new(one, "lost_s", json_finite(s->lost_s));
  json_object_set_new(one, "cpu_s", json_finite(s->cpu_s));
  json_object_set_new(one, "ready_s", json_finite(s->ready_s));
  json_object_set_new(one, "off_s", json_finite(s->off_s));
  json_object_set_new(one, "page_faults", json_finite(s->faults));
  return one;
}

json_t *slow_to_json(const tsanom_diagnosis_summary *s) {
  json_t *slow = json_array();
  for (size_t i = 0; i < s->slow_count; i++) {
    json_array_append_new(slow, item_to_json(&s->slow[i]));
  }
  return json_pack("{sI so so so so sb so}", "iterations", (json_int_t)s->slow_beats,
                   "median_s", json_finite(s->slow_median_s), "total_s",
                   json_finite(s->slow_whole_s), "detectable_single",
                   json_finite(s->slow_single), "detectable_lasting",
                   json_finite(s->slow_lasting), "too_few", s->slow_few, "slow", slow);
}
