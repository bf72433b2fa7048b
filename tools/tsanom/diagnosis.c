/* SPDX-License-Identifier: BSD-3-Clause */
#include "diagnosis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "plot.h"
#include "rows.h"

enum { SENTENCE_BYTES = 512 };

static int judge(const owned_model *m, const tsanom_exec *exec, diagnosis *d,
                 failure *why) {
  size_t known = tsanom_hsa_model_threads(m->model), found = d->b.run.thread_count;
  d->threads = known > found ? known : found;
  d->verdict = calloc(d->threads, sizeof *d->verdict);
  if (!d->verdict) return fail(why, "%s: out of memory", file_title(d->path));
  tsanom_status status = tsanom_hsa_diagnose(m->model, m->bytes, &d->b.run, exec, NULL, 0,
                                             d->verdict, d->threads);
  if (status == TSANOM_E_VALUE) {
    return fail(why,
                "%s: a window of beats took no time: a finer clock, or a model with a "
                "larger --window, is needed",
                file_title(d->path));
  }
  if (status < 0) return fail_status(why, file_title(d->path), status);
  tsanom_hsa_run_status(d->verdict, d->threads, &d->status);
  return 0;
}

int diagnose(const char *path, const owned_model *m, const tsanom_exec *exec,
             int keep_beats, diagnosis *d, failure *why) {
  *d = (diagnosis){.path = path};
  int failed = beats_read(path, exec, &d->b, why) || judge(m, exec, d, why);
  if (failed || !keep_beats) beats_free(&d->b);
  return failed ? -1 : 0;
}

void diagnosis_free(diagnosis *d) {
  free(d->verdict);
  beats_free(&d->b);
  *d = (diagnosis){0};
}

static int is_defined(const tsanom_hsa_features *features, int32_t feature) {
  return (features->defined >> feature) & 1;
}

static json_t *verdict_to_json(const tsanom_hsa_verdict *v, size_t thread) {
  json_t *features = json_object(), *path = json_array();
  for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
    json_object_set_new(
        features, tsanom_hsa_feature_name(f),
        is_defined(&v->features, f) ? json_finite(v->features.value[f]) : json_null());
  }
  for (int32_t i = 0; i < v->step_count; i++) {
    char sentence[SENTENCE_BYTES];
    tsanom_hsa_step_text(&v->step[i], sentence, sizeof sentence, NULL);
    json_array_append_new(path, json_string(sentence));
  }
  return json_pack("{sI ss so so}", "thread", (json_int_t)thread, "status",
                   tsanom_hsa_status_name(v->status), "features", features, "path", path);
}

json_t *diagnosis_to_json(const diagnosis *d) {
  json_t *threads = json_array();
  for (size_t i = 0; i < d->threads; i++) {
    json_array_append_new(threads, verdict_to_json(&d->verdict[i], i));
  }
  return json_pack("{so ss so}", "run", json_name(file_title(d->path)), "status",
                   tsanom_hsa_status_name(d->status), "threads", threads);
}

static void print_thread(const diagnosis *d, size_t thread, int width, int explain) {
  const tsanom_hsa_verdict *v = &d->verdict[thread];
  printf("%-*s  %6zu  %-11s", width, file_title(d->path), thread,
         tsanom_hsa_status_name(v->status));
  for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
    if (is_defined(&v->features, f)) {
      printf("  %10.4g", v->features.value[f]);
    } else {
      printf("  %10s", "-");
    }
  }
  printf("\n");
  if (v->status == TSANOM_HSA_NORMAL && !explain) return;
  for (int32_t i = 0; i < v->step_count; i++) {
    char sentence[SENTENCE_BYTES];
    tsanom_hsa_step_text(&v->step[i], sentence, sizeof sentence, NULL);
    printf("%-*s          %d. %s\n", width, "", i + 1, sentence);
  }
}

void diagnoses_print(const diagnosis *d, size_t count, int explain) {
  int width = 3;
  for (size_t i = 0; i < count; i++) {
    int length = (int)strnlen(file_title(d[i].path), 60);
    if (length > width) width = length;
  }
  printf("%-*s  thread  status     ", width, "run");
  for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
    printf("  %10s", tsanom_hsa_feature_name(f));
  }
  printf("\n");
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < d[i].threads; k++) print_thread(&d[i], k, width, explain);
    if (d[i].threads > 1) {
      printf("%-*s  %6s  %s\n", width, file_title(d[i].path), "all",
             tsanom_hsa_status_name(d[i].status));
    }
  }
}

/* The picture. */

static const char *const colours[] = {"#2a9d55", "#e08a00", "#c62828"};

/* The rates of a thread as datablock, times from the start of the run; a label
 * at their end if the thread is not normal. Returns whether there are any. */
static int put_rates(const plot *p, const diagnosis *d, size_t number, size_t thread,
                     size_t window, failure *why) {
  double *rate;
  size_t count;
  if (beats_rate(&d->b, thread, window, d->path, &rate, &count, why)) return -1;
  double *time = malloc((count ? count : 1) * sizeof *time);
  if (!time) {
    free(rate);
    return fail(why, "%s: out of memory", file_title(d->path));
  }
  const tsanom_hsa_series *s = &d->b.series[thread];
  for (size_t i = 0; i < count; i++) time[i] = s->time[i + window] - d->b.run.start;
  char name[64];
  snprintf(name, sizeof name, "r%zut%zu", number, thread);
  if (count) plot_series(p, name, time, rate, count);
  int32_t status = d->verdict[thread].status;
  if (count && status != TSANOM_HSA_NORMAL) {
    fprintf(p->script, "set label \"");
    plot_text(p, file_title(d->path));
    fprintf(p->script,
            ", thread %zu\" at %.9g,%.9g point pointtype 7 pointsize 0.5 offset "
            "0.5,0.5 noenhanced textcolor rgb '%s' linecolor rgb '%s'\n",
            thread, time[count - 1], rate[count - 1], colours[status], colours[status]);
  }
  free(time);
  free(rate);
  return count > 0;
}

/* Window of a thread: that of the model, or what the model would have taken. */
static size_t window_of(const tsanom_hsa_model *model, const beats *b, size_t thread) {
  tsanom_hsa_reference reference;
  if (thread < tsanom_hsa_model_threads(model) &&
      tsanom_hsa_model_get(model, thread, &reference) == TSANOM_OK && reference.beats) {
    return reference.window;
  }
  return (b->series[thread].beats + 99) / 100;
}

/* Datablocks into the script, the plot command that draws them into `curves`. */
static int put_run(const plot *p, FILE *curves, const diagnosis *d, size_t number,
                   const tsanom_hsa_model *model, failure *why) {
  for (size_t k = 0; k < d->b.run.thread_count; k++) {
    if (!d->b.series[k].beats) continue;
    int drawn = put_rates(p, d, number, k, window_of(model, &d->b, k), why);
    if (drawn < 0) return -1;
    if (drawn) {
      fprintf(curves, ", $r%zut%zu with lines linecolor rgb '%s' notitle", number, k,
              colours[d->verdict[k].status]);
    }
  }
  return 0;
}

static void put_model(const plot *p, FILE *curves, const tsanom_hsa_model *model) {
  for (size_t k = 0; k < tsanom_hsa_model_threads(model); k++) {
    tsanom_hsa_reference t;
    char name[32];
    if (tsanom_hsa_model_get(model, k, &t) < 0 || !t.beats) continue;
    snprintf(name, sizeof name, "m%zu", k);
    plot_series(p, name, t.time, t.rate, t.windows + 1);
    fprintf(curves, ", $m%zu with lines linewidth 3 linecolor rgb '#bbbbbb' notitle", k);
  }
}

static int put_curves(const plot *p, const diagnosis *d, size_t count,
                      const tsanom_hsa_model *model, failure *why) {
  char *command = NULL;
  size_t bytes;
  FILE *curves = open_memstream(&command, &bytes);
  if (!curves) return fail(why, "out of memory");
  put_model(p, curves, model);
  int failed = 0;
  for (size_t i = 0; i < count && !failed; i++) {
    failed = put_run(p, curves, &d[i], i, model, why);
  }
  fclose(curves);
  fprintf(p->script,
          "set xlabel 'time since the start of the run, s'\n"
          "set ylabel 'beats per second'\nset yrange [0:*]\n"
          "plot keyentry with lines linewidth 3 linecolor rgb '#bbbbbb' title 'learned'");
  for (int32_t status = 0; status <= TSANOM_HSA_SHUTDOWN; status++) {
    fprintf(p->script, ", keyentry with lines linecolor rgb '%s' title '%s'",
            colours[status], tsanom_hsa_status_name(status));
  }
  fprintf(p->script, "%s\n", command);
  free(command);
  return failed;
}

int diagnoses_draw(const diagnosis *d, size_t count, const tsanom_hsa_model *model,
                   const char *path, failure *why) {
  plot p;
  if (plot_open(&p, path, "Heart rates and verdicts", why)) return -1;
  if (put_curves(&p, d, count, model, why)) {
    plot_abandon(&p);
    return -1;
  }
  return plot_close(&p, why);
}
