/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the summary of a run that one process has, its beats and vital signs; and its
 * slow iterations, as sentences of the library, as JSON, and as a picture. */
#include "summary.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "diagnosis.h"
#include "json_value.h"
#include "plot.h"
#include "rows.h"

void summary_free(run_summary *s) {
  words_free(&s->missing);
  free(s->about.slow_of);
  free(s->team_text);
  similarity_free(&s->team);
  beats_free(&s->b);
  *s = (run_summary){0};
}

/* What the beats and vital signs of an open process say. */
static int summarize(const char *path, int32_t rank, const beats *b,
                     const tsanom_runs_info *info, const owned_model *m,
                     const tsanom_exec *exec, run_summary *s, failure *why) {
  tsanom_diagnosis_summary *about = &s->about;
  diagnosis d = {.path = path};
  uint64_t before = about->iterations;
  double iteration_s = about->iteration_s;
  int32_t in_call = -1;
  if (b->run.state != TSANOM_RUN_FINISHED && rank >= 0)
    (void)tsanom_runs_in_call(b->source, NULL, &in_call);
  if (m && diagnosis_causes(m, &b->run, exec, &d, why)) {
    diagnosis_free(&d);
    return -1;
  }
  about->slow = b->no_iterations ? NULL : s->slow;
  about->slow_capacity = SLOW_MOST;
  about->activities = tsanom_runs_activities;
  about->source = b->source;
  tsanom_status status =
      tsanom_diagnosis_summarize(&b->run, rank, in_call, d.cause, d.causes, exec, about);
  about->slow = s->slow;
  diagnosis_free(&d);
  if (status < 0) return fail_status(why, file_title(path), status);
  if (b->no_iterations) {
    about->iterations = before;
    about->iteration_s = iteration_s;
  } else if (b->complete != TSANOM_NONE) {
    about->iterations = before > b->complete ? before : b->complete;
  }
  about->records += info->beats + info->events;
  return 0;
}

int summary_add_process(const char *path, int32_t rank, const owned_model *m,
                        const tsanom_exec *exec, int salvage, tsanom_runs_info *info,
                        run_summary *s, failure *why) {
  beats_free(&s->b);
  if (beats_read(path, 0, exec, salvage, &s->b, why)) return -1;
  *info = (tsanom_runs_info){.struct_size = sizeof *info};
  tsanom_status status = tsanom_runs_describe(s->b.source, info);
  if (status < 0) return fail_status(why, file_title(path), status);
  if (s->draws && rank < 0 && !s->b.no_iterations) {
    s->about.slow_of = allocate(beats_most(&s->b) + 1, sizeof *s->about.slow_of);
  }
  return beats_check_numbers(&s->b, path, why) ||
                 summarize(path, rank, &s->b, info, m, exec, s, why)
             ? -1
             : 0;
}

int summary_search(const char *path, const beats *b, run_summary *s, failure *why) {
  tsanom_runs_info info = {.struct_size = sizeof info};
  tsanom_status status = tsanom_runs_describe(b->source, &info);
  if (status < 0) return fail_status(why, file_title(path), status);
  return summarize(path, -1, b, &info, NULL, NULL, s, why);
}

/* ---- slow iterations */

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
  json_t *run = json_pack(
      "{sI so so so so sb so}", "iterations", (json_int_t)s->slow_beats, "median_s",
      json_finite(s->slow_median_s), "total_s", json_finite(s->slow_whole_s),
      "detectable_single", json_finite(s->slow_single), "detectable_lasting",
      json_finite(s->slow_lasting), "too_few", s->slow_few, "slow", slow);
  double single = s->slow_worked_single, lasting = s->slow_worked_lasting;
  json_object_set_new(run, "detectable_processor_single",
                      single > 0 ? json_finite(single) : json_null());
  json_object_set_new(run, "detectable_processor_lasting",
                      lasting > 0 ? json_finite(lasting) : json_null());
  return run;
}

/* The times of iterations that are slow, or of the others; how many there are. */
static size_t put(const plot *p, const run_summary *s, const double *begin, int slow,
                  double *x, double *y) {
  size_t n = 0, count = beats_most(&s->b) - 1;
  for (size_t i = 0; i < count; i++) {
    if ((s->about.slow_of[i] > 0) != slow) continue;
    x[n] = (double)i;
    y[n++] = begin[i + 1] - begin[i];
  }
  plot_series(p, slow ? "slow" : "rest", x, y, n);
  return n;
}

/* The mean of each stretch and change, and the interval of what the change is. */
static void draw_levels(const plot *p, const tsanom_diagnosis_summary *s) {
  for (size_t k = 0; k < s->slow_count; k++) {
    const tsanom_diagnosis_slow *f = &s->slow[k];
    unsigned long long first = f->first, last = f->last;
    if (f->kind == TSANOM_DIAGNOSIS_SLOW_SINGLE ||
        f->kind == TSANOM_DIAGNOSIS_SLOW_RECURRING)
      continue;
    double level = f->ratio * s->slow_median_s;
    fprintf(p->script,
            "set arrow from %llu,%.9g to %llu,%.9g nohead front linewidth 2 "
            "linecolor rgb '" PLOT_VERMILION "'\n",
            first, level, last, level);
    if (!(f->low < f->high)) continue;
    fprintf(p->script,
            "set object rectangle from %llu,%.9g to %llu,%.9g back fillcolor rgb "
            "'" PLOT_ORANGE "' fillstyle solid 0.3 noborder\n",
            first, f->low * s->slow_median_s, last, f->high * s->slow_median_s);
  }
}

int slow_draw(const run_summary *s, const char *path, failure *why) {
  plot p;
  size_t count = beats_most(&s->b);
  double *begin = beats_iterations(&s->b, why);
  if (!begin || plot_open(&p, path, "Time of each iteration", why)) {
    free(begin);
    return -1;
  }
  double *x = allocate(2 * count, sizeof *x);
  size_t rest = put(&p, s, begin, 0, x, x + count);
  size_t slow = put(&p, s, begin, 1, x, x + count);
  free(begin);
  free(x);
  draw_levels(&p, &s->about);
  fprintf(p.script,
          "set xlabel 'iteration'\nset ylabel 'seconds'\nset yrange [0:*]\nplot ");
  const char *style = "with points pointtype 7 pointsize 0.3 linecolor rgb";
  if (rest) fprintf(p.script, "$rest %s '" PLOT_BLUE "' title 'normal', ", style);
  if (slow) fprintf(p.script, "$slow %s '" PLOT_VERMILION "' title 'slow'", style);
  fprintf(p.script, "\n");
  return plot_close(&p, why);
}
