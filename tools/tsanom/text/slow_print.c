/* SPDX-License-Identifier: BSD-3-Clause */
/* Slow iterations as sentences and as JSON. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "json_value.h"
#include "slow.h"

static const char *const kinds[] = {"single", "stretch", "recurring", "since", "until"};

static const char *const reasons[] = {"unknown", "work",    "ready",  "page_faults",
                                      "reading", "blocked", "stopped"};

static const char *const sentences[] = {
    [SLOW_WORK] = "they had a processor",
    [SLOW_READY] = "they waited for a processor",
    [SLOW_READING] = "they waited for page faults with input",
    [SLOW_BLOCKED] = "they slept or were blocked",
    [SLOW_STOPPED] = "the program was stopped"};

static void print_ratio(FILE *out, const slow_iterations *s) {
  const slow_finding *f = &s->found;
  int is_step = f->kind == SLOW_SINCE || f->kind == SLOW_UNTIL;
  int digits = (int)fmax(3, floor(log10(f->ratio)) + 1); /* 3571, not 3.57e+03 */
  fprintf(out,
          s->of_processor ? " %.*g times the processor time"
          : is_step       ? " %.*g times as long"
                          : " %.*g times the median",
          digits, f->ratio);
  if (!isnan(f->low)) fprintf(out, " (%.3g to %.3g)", f->low, f->high);
}

static void print_place(FILE *out, const slow_finding *f, size_t at) {
  fprintf(out, "%zu", at);
  if (f->place_low < f->place_high) {
    fprintf(out, " (between %zu and %zu)", f->place_low, f->place_high);
  }
}

static void print_where(FILE *out, const slow_iterations *s) {
  if (s->rank >= 0) fprintf(out, ", on rank %d", (int)s->rank);
  if (s->region[0]) fprintf(out, ", in %s", s->region);
  if (s->thread >= 0) fprintf(out, " of thread %d", (int)s->thread);
  if (s->reason == SLOW_FAULTS) {
    fprintf(out, "; each had %.0f page faults more", s->faults);
  } else if (sentences[s->reason]) {
    fprintf(out, "; %s", sentences[s->reason]);
  }
}

static void put_one(FILE *out, const slow_iterations *s) {
  const slow_finding *f = &s->found;
  switch (f->kind) {
    case SLOW_SINCE:
      fprintf(out, "Since iteration ");
      print_place(out, f, f->first);
      fprintf(out, " of %zu, iterations take", s->of);
      break;
    case SLOW_UNTIL:
      fprintf(out, "Until iteration ");
      print_place(out, f, f->last + 1);
      fprintf(out, " of %zu, iterations took", s->of);
      break;
    case SLOW_RECURRING:
      fprintf(out, "%zu of %zu iterations (every %zu from %zu) took", f->count, s->of,
              f->period, f->first);
      break;
    default:
      fprintf(out, "%zu of %zu iterations (%s) took", f->count, s->of, s->ranges);
  }
  print_ratio(out, s);
  print_where(out, s);
}

static void print_one(const slow_iterations *s) {
  put_one(stdout, s);
  printf(".\n");
}

void slow_print_first(const slow_run *s) {
  if (s->count) print_one(&s->item[0]);
}

char *slow_sentence(const slow_run *s, size_t index) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *out = index < s->count ? open_memstream(&text, &bytes) : NULL;
  if (!out) return NULL;
  put_one(out, &s->item[index]);
  if (!fclose(out) && bytes) {
    *text = (char)tolower((unsigned char)*text);
    return text;
  }
  free(text);
  return NULL;
}

void slow_print(const slow_run *s) {
  if (!s->count) {
    printf(
        "No slow iterations: %zu of %.4g s, and their level did not change.\n"
        "Single ones of %.2g times the median would be seen, or a lasting change to "
        "%.3g times.\n",
        s->iterations, s->median_s, s->single, s->lasting);
  }
  for (size_t i = 0; i < s->count; i++) print_one(&s->item[i]);
  if (s->is_short) {
    printf("There are too few independent iterations to show a change of their level.\n");
  }
  if (!s->count) return;
  double lost = 0;
  for (size_t i = 0; i < s->count; i++) lost += s->item[i].found.lost_s;
  printf("\nmedian of the other iterations %.4g s; lost %.3g of %.4g s\n", s->median_s,
         lost, s->total_s);
}

static json_t *item_to_json(const slow_iterations *s) {
  const slow_finding *f = &s->found;
  json_t *one = json_pack(
      "{ss sI sI sI so so so so so so so}", "kind", kinds[f->kind], "first",
      (json_int_t)f->first, "last", (json_int_t)f->last, "count", (json_int_t)f->count,
      "period", f->period ? json_integer((json_int_t)f->period) : json_null(), "rank",
      s->rank < 0 ? json_null() : json_integer(s->rank), "thread",
      s->thread < 0 ? json_null() : json_integer(s->thread), "region",
      s->region[0] ? json_name(s->region) : json_null(), "ratio", json_finite(f->ratio),
      "low", json_finite(f->low), "high", json_finite(f->high));
  int is_placed = f->place_low != TSANOM_NONE;
  json_object_set_new(one, "place_low",
                      is_placed ? json_integer((json_int_t)f->place_low) : json_null());
  json_object_set_new(one, "place_high",
                      is_placed ? json_integer((json_int_t)f->place_high) : json_null());
  json_object_set_new(one, "of_processor", json_boolean(s->of_processor));
  json_object_set_new(one, "reason", json_string(reasons[s->reason]));
  json_object_set_new(one, "lost_s", json_finite(f->lost_s));
  json_object_set_new(one, "cpu_s", json_finite(s->cpu_s));
  json_object_set_new(one, "ready_s", json_finite(s->ready_s));
  json_object_set_new(one, "off_s", json_finite(s->off_s));
  json_object_set_new(one, "page_faults", json_finite(s->faults));
  return one;
}

json_t *slow_to_json(const slow_run *s) {
  json_t *slow = json_array();
  for (size_t i = 0; i < s->count; i++) {
    json_array_append_new(slow, item_to_json(&s->item[i]));
  }
  return json_pack("{sI so so so so sb so}", "iterations", (json_int_t)s->iterations,
                   "median_s", json_finite(s->median_s), "total_s",
                   json_finite(s->total_s), "detectable_single", json_finite(s->single),
                   "detectable_lasting", json_finite(s->lasting), "too_few", s->is_short,
                   "slow", slow);
}
