/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom diagnose: what is not normal in a run, in which thread, and why.
 *
 *   run, model ──▶ verdict of each thread, by the features or by the causes
 *              ──▶ text, JSON, a picture; with --labels against the true statuses
 *
 * Threads of the model that the run lacks have a verdict, too: that they are missing may be
 * the anomaly. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "command.h"
#include "diagnosis.h"
#include "model.h"
#include "plot.h"
#include "reserve.h"
#include "rows.h"

/* By the tree; of a model with ranges of signs only the features are of interest. */
static int judge(const owned_model *m, const tsanom_exec *exec, diagnosis *d,
                 failure *why) {
  size_t known = m->data.thread_count, found = d->b.run.thread_count;
  d->threads = known > found ? known : found;
  d->state = d->b.run.state;
  d->verdict = allocate(d->threads, sizeof *d->verdict);
  *d->verdict = (tsanom_hsa_verdict){.struct_size = sizeof *d->verdict};
  tsanom_status status =
      tsanom_hsa_diagnose(m->model, &d->b.run, exec, d->verdict, d->threads, NULL);
  if (status == TSANOM_E_VALUE) {
    return fail(why,
                "%s: a window of beats took no time: a finer clock, or a model with a "
                "larger --window, is needed",
                file_title(d->path));
  }
  if (status < 0) return fail_status(why, file_title(d->path), status);
  d->status = TSANOM_HSA_NORMAL; /* the worst of any thread: they are in this order */
  for (size_t t = 0; t < d->threads; t++) {
    if (d->verdict[t].status > d->status) d->status = d->verdict[t].status;
  }
  return 0;
}

/* By the causes. The path through the tree is none then. */
static int judge_causes(const owned_model *m, const tsanom_exec *exec, diagnosis *d,
                        failure *why) {
  if (!m->normal.thread_count) return 0;
  if (diagnosis_causes(m, &d->b.run, exec, d, why)) return -1;
  const tsanom_diagnosis_normal *n = &m->normal;
  int is_constant = n->run_count > 1 && n->fewest == n->beats;
  d->run_beats = beats_most(&d->b);
  if (is_constant && d->state == TSANOM_RUN_FINISHED && d->run_beats != n->beats)
    d->normal_beats = n->beats;
  tsanom_diagnosis_cause_status(d->cause, d->causes, TSANOM_HSA_PROCESS, &d->status);
  for (size_t t = 0; t < d->threads; t++) {
    d->verdict[t].step_count = 0;
    tsanom_diagnosis_cause_status(d->cause, d->causes, (int32_t)t, &d->verdict[t].status);
  }
  return 0;
}

static int account(const tsanom_exec *exec, diagnosis *d, failure *why) {
  size_t capacity = TSANOM_DIAGNOSIS_WINDOWS * d->b.run.thread_count;
  d->share = allocate(capacity, sizeof *d->share);
  d->share_threads = d->b.run.thread_count;
  tsanom_status status =
      tsanom_diagnosis_account(&d->b.run, exec, &d->ledger, d->share, capacity);
  return status < 0 ? fail_status(why, file_title(d->path), status) : 0;
}

/* Read a run and diagnose its threads. */
static int diagnose(const char *path, const owned_model *m, const tsanom_exec *exec,
                    int salvage, int keep_beats, diagnosis *d, failure *why) {
  *d = (diagnosis){.path = path};
  int failed = beats_read(path, TSANOM_RUNS_BEATS, exec, salvage, &d->b, why) ||
               beats_check_numbers(&d->b, path, why) || judge(m, exec, d, why) ||
               judge_causes(m, exec, d, why) || account(exec, d, why);
  if (failed || !keep_beats) beats_free(&d->b);
  return failed ? -1 : 0;
}

/* ---- text and JSON */

static int is_defined(const tsanom_hsa_features *features, int32_t feature) {
  return (int)(features->defined >> feature & 1);
}

static json_t *features_to_json(const diagnosis *d, size_t thread) {
  const tsanom_hsa_features *f = &d->verdict[thread].features;
  json_t *features = json_object();
  for (int32_t i = 0; i < TSANOM_HSA_FEATURES; i++) {
    json_object_set_new(features, tsanom_hsa_feature_name(i),
                        is_defined(f, i) ? json_finite(f->value[i]) : json_null());
  }
  for (int32_t i = 0; thread < d->signs_count && i < TSANOM_DIAGNOSIS_SIGNS; i++) {
    json_object_set_new(features, tsanom_diagnosis_sign_name(i),
                        json_finite(d->signs[thread].value[i]));
  }
  return features;
}

/* Those of a thread, or of the run and all its threads (TSANOM_HSA_PROCESS). */
static json_t *causes_to_json(const diagnosis *d, int32_t thread) {
  json_t *causes = json_array();
  for (size_t i = 0; i < d->causes; i++) {
    if (thread >= 0 && d->cause[i].thread != thread) continue;
    json_array_append_new(causes, finding_to_json(&d->cause[i]));
  }
  return causes;
}

static json_t *thread_to_json(const diagnosis *d, size_t thread) {
  const tsanom_hsa_verdict *v = &d->verdict[thread];
  json_t *path = json_array();
  for (int32_t i = 0; i < v->step_count; i++) {
    char sentence[SENTENCE_BYTES];
    tsanom_hsa_step_text(&v->step[i], sentence, sizeof sentence, NULL);
    json_array_append_new(path, json_string(sentence));
  }
  return json_pack("{sI ss so so so}", "thread", (json_int_t)thread, "status",
                   tsanom_hsa_status_name(v->status), "causes",
                   causes_to_json(d, (int32_t)thread), "features",
                   features_to_json(d, thread), "path", path);
}

/* {run, state, status, ledger{}, causes[], threads[].{thread, status, causes[],
 * features{}, path[]}} */
static json_t *diagnosis_to_json(const diagnosis *d) {
  json_t *threads = json_array();
  for (size_t i = 0; i < d->threads; i++) {
    json_array_append_new(threads, thread_to_json(d, i));
  }
  return json_pack("{so ss ss so so so}", "run", json_name(file_title(d->path)), "state",
                   state_name(d->state), "status", tsanom_hsa_status_name(d->status),
                   "ledger", ledger_to_json(d), "causes",
                   causes_to_json(d, TSANOM_HSA_PROCESS), "threads", threads);
}

static void print_features(const tsanom_hsa_features *features) {
  for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
    if (is_defined(features, f)) {
      printf("  %10.4g", features->value[f]);
    } else {
      printf("  %10s", "-");
    }
  }
}

/* The causes of a thread, or those of the run alone. */
static void print_causes(const diagnosis *d, int32_t thread, int width) {
  for (size_t i = 0; i < d->causes; i++) {
    char evidence[SENTENCE_BYTES], next[SENTENCE_BYTES];
    if (d->cause[i].thread != thread) continue;
    tsanom_diagnosis_cause_text(&d->cause[i], TSANOM_DIAGNOSIS_CAUSE_EVIDENCE, evidence,
                                sizeof evidence, NULL);
    tsanom_diagnosis_cause_text(&d->cause[i], TSANOM_DIAGNOSIS_CAUSE_NEXT, next,
                                sizeof next, NULL);
    printf("%-*s          %s: %s\n%-*s          Next: %s\n", width, "",
           tsanom_hsa_status_name(d->cause[i].cause), evidence, width, "", next);
  }
}

static void print_signs(const tsanom_diagnosis_signs *signs, int width) {
  for (int32_t i = 0; i < TSANOM_DIAGNOSIS_SIGNS; i++) {
    if (isnan(signs->value[i])) continue;
    printf("%-*s          %s %.4g\n", width, "", tsanom_diagnosis_sign_name(i),
           signs->value[i]);
  }
}

static void print_path(const tsanom_hsa_verdict *v, int width) {
  for (int32_t i = 0; i < v->step_count; i++) {
    char sentence[SENTENCE_BYTES];
    tsanom_hsa_step_text(&v->step[i], sentence, sizeof sentence, NULL);
    printf("%-*s          %d. %s\n", width, "", i + 1, sentence);
  }
}

static void print_thread(const diagnosis *d, size_t thread, int width, int explain) {
  const tsanom_hsa_verdict *v = &d->verdict[thread];
  printf("%-*s  %6zu  %-14s", width, file_title(d->path), thread,
         tsanom_hsa_status_name(v->status));
  if (d->signs) {
    printf("\n");
    print_causes(d, (int32_t)thread, width);
    if (explain && thread < d->signs_count) print_signs(&d->signs[thread], width);
    return;
  }
  print_features(&v->features);
  printf("\n");
  if (v->status != TSANOM_HSA_NORMAL || explain) print_path(v, width);
}

static void print_run(const diagnosis *d, int width) {
  if (d->threads == 1 && !d->signs) return;
  printf("%-*s  %6s  %s", width, file_title(d->path), "all",
         tsanom_hsa_status_name(d->status));
  if (d->signs && d->state != TSANOM_RUN_UNKNOWN) {
    printf(" (%s", state_name(d->state));
    if (d->normal_beats) {
      printf("; %llu beats, each normal run has %llu", (unsigned long long)d->run_beats,
             (unsigned long long)d->normal_beats);
    }
    printf(")");
  }
  printf("\n");
  print_causes(d, TSANOM_HSA_PROCESS, width);
}

enum { WHOLE = 0 };

static void print_window(const diagnosis *d, size_t window, int width) {
  char text[SENTENCE_BYTES];
  tsanom_diagnosis_window_text(&d->ledger.window[window], text, sizeof text, NULL);
  printf("%-*s          ", width, "");
  if (window != WHOLE) printf("eighth %zu: ", window);
  printf("%s\n", text);
}

static void print_share(const diagnosis *d, size_t thread, int width) {
  const tsanom_diagnosis_share *s = &d->share[thread];
  printf("%-*s          thread %zu: ", width, "", thread);
  if (isnan(s->cpu_s)) {
    printf("not known\n");
    return;
  }
  printf("%.*g s on a processor", digits_of(s->cpu_s), s->cpu_s);
  if (!isnan(s->ready_s)) {
    printf(", %.*g s ready without one, %.*g s off it", digits_of(s->ready_s), s->ready_s,
           digits_of(s->off_s), s->off_s);
  }
  printf("\n");
}

/* Where the time went, in a sentence; if `explain`, of each eighth and each thread. */
static void ledger_print(const diagnosis *d, int width, int explain) {
  if (!d->ledger.sampled) return;
  print_window(d, WHOLE, width);
  for (size_t w = WHOLE + 1; explain && w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
    print_window(d, w, width);
  }
  for (size_t t = 0; explain && t < d->share_threads; t++) print_share(d, t, width);
}

/* A table, and below each thread that is not normal, or below each if `explain`,
 * the evidence, or its path through the tree, in words. */
static void diagnoses_print(const diagnosis *d, size_t count, int explain) {
  int width = 3;
  for (size_t i = 0; i < count; i++) {
    int length = (int)strnlen(file_title(d[i].path), 60);
    if (length > width) width = length;
  }
  printf("%-*s  thread  status        ", width, "run");
  for (int32_t f = 0; !d->signs && f < TSANOM_HSA_FEATURES; f++) {
    printf("  %10s", tsanom_hsa_feature_name(f));
  }
  printf("\n");
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < d[i].threads; k++) print_thread(&d[i], k, width, explain);
    print_run(&d[i], width);
    ledger_print(&d[i], width, explain);
  }
}

/* ---- the picture
 *
 * The learned rates in gray, those of the threads
 * in the color of their status, a mark with the run's name where a thread that is not
 * normal ends. Data come first, as named blocks of the gnuplot script, then one plot
 * command that draws all of them. */

/* Others are gray. */
static const char *const colors[TSANOM_HSA_STATUSES] = {
    [TSANOM_HSA_NORMAL] = PLOT_GREEN,       [TSANOM_HSA_MEMORY_LEAK] = PLOT_ORANGE,
    [TSANOM_HSA_SHUTDOWN] = PLOT_VERMILION, [TSANOM_HSA_CONTENTION] = PLOT_BLUE,
    [TSANOM_HSA_SLOWDOWN] = PLOT_PURPLE,    [TSANOM_HSA_IMBALANCE] = "#56B4E9",
    [TSANOM_HSA_HANG] = "#000000",          [TSANOM_HSA_WAITING] = "#F0E442"};

static const char *color_of(int32_t status) {
  return colors[status] ? colors[status] : PLOT_GRAY;
}

/* Window of a thread: that of the model, or what the model would have taken. */
static size_t window_of(const tsanom_hsa_model_data *model, const beats *b,
                        size_t thread) {
  if (thread < model->thread_count && model->references[thread].beats) {
    return model->references[thread].window;
  }
  return (b->run.threads[thread].beats + 99) / 100;
}

static int has_rates(const diagnosis *d, size_t thread,
                     const tsanom_hsa_model_data *model) {
  return d->b.run.threads[thread].beats > window_of(model, &d->b, thread);
}

/* Seconds from the start of a run to its last beat, at most. */
static double longest_run(const diagnosis *d, size_t count) {
  double longest = 0;
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < d[i].b.run.thread_count; k++) {
      const tsanom_hsa_series *s = &d[i].b.run.threads[k];
      if (!s->beats) continue;
      double completion = s->time[s->beats - 1] - d[i].b.run.start;
      if (completion > longest) longest = completion;
    }
  }
  return longest;
}

/* Mark where a thread that is not normal ends; the first of a run bears its name. */
static void put_mark(const plot *p, const diagnosis *d, size_t thread, double time,
                     double rate, double longest) {
  const char *path = file_title(d->path);
  const char *slash = strrchr(path, '/');
  const char *color = color_of(d->verdict[thread].status);
  int is_first = 1;
  for (size_t k = 0; k < thread; k++) {
    if (d->verdict[k].status != TSANOM_HSA_NORMAL) is_first = 0;
  }
  fprintf(p->script, "set label \"");
  if (is_first) plot_text(p, slash && slash[1] ? slash + 1 : path);
  fprintf(p->script,
          "\" at %.9g,%.9g %s front point pointtype 7 pointsize 0.6 linecolor rgb '%s' "
          "offset 0,0.8 noenhanced textcolor rgb '%s'\n",
          time, rate, time < longest / 2 ? "left" : "right", color, color);
}

/* The rates of a thread, and their times from the start of the run; to be freed. */
static int read_rates(const diagnosis *d, size_t thread, size_t window, double **time,
                      double **rate, size_t *count, failure *why) {
  const tsanom_hsa_series *s = &d->b.run.threads[thread];
  if (beats_rate(&d->b, thread, window, d->path, rate, count, why)) return -1;
  *time = allocate(*count, sizeof **time);
  for (size_t i = 0; i < *count; i++) {
    (*time)[i] = s->time[i + window] - d->b.run.start;
  }
  return 0;
}

/* The rates of a thread as datablock. */
static int put_rates(const plot *p, const diagnosis *d, size_t number, size_t thread,
                     size_t window, double longest, failure *why) {
  double *rate, *time;
  size_t count;
  if (read_rates(d, thread, window, &time, &rate, &count, why)) return -1;
  char name[64];
  snprintf(name, sizeof name, "r%zut%zu", number, thread);
  plot_series(p, name, time, rate, count);
  if (count && d->verdict[thread].status != TSANOM_HSA_NORMAL) {
    put_mark(p, d, thread, time[count - 1], rate[count - 1], longest);
  }
  free(time);
  free(rate);
  return 0;
}

static int put_data(const plot *p, const diagnosis *d, size_t count,
                    const tsanom_hsa_model_data *model, failure *why) {
  for (size_t k = 0; k < model->thread_count; k++) {
    const tsanom_hsa_reference *t = &model->references[k];
    char name[32];
    if (!t->beats) continue;
    snprintf(name, sizeof name, "m%zu", k);
    plot_series(p, name, t->time, t->rate, t->windows + 1);
  }
  double longest = longest_run(d, count);
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < d[i].b.run.thread_count; k++) {
      if (has_rates(&d[i], k, model) &&
          put_rates(p, &d[i], i, k, window_of(model, &d[i].b, k), longest, why)) {
        return -1;
      }
    }
  }
  return 0;
}

static int has_status(const diagnosis *d, size_t count, int32_t status) {
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < d[i].threads; k++) {
      if (d[i].verdict[k].status == status) return 1;
    }
  }
  return 0;
}

static void put_legend(const plot *p, const diagnosis *d, size_t count) {
  fprintf(p->script,
          "set xlabel 'time since the start of the run, s'\n"
          "set ylabel 'beats per second'\nset yrange [0:*]\n"
          "plot keyentry with lines linewidth 3 linecolor rgb '#bbbbbb' title 'learned'");
  for (int32_t status = 0; status < TSANOM_HSA_STATUSES; status++) {
    if (!has_status(d, count, status)) continue;
    fprintf(p->script, ", keyentry with lines linecolor rgb '%s' title '%s' noenhanced",
            color_of(status), tsanom_hsa_status_name(status));
  }
}

/* Curves of normal threads lie below the others. */
static void put_curves(const plot *p, const diagnosis *d, size_t count,
                       const tsanom_hsa_model_data *model) {
  for (size_t k = 0; k < model->thread_count; k++) {
    if (!model->references[k].beats) continue;
    fprintf(p->script, ", $m%zu with lines linewidth 3 linecolor rgb '#bbbbbb' notitle",
            k);
  }
  for (int32_t status = 0; status < TSANOM_HSA_STATUSES; status++) {
    for (size_t i = 0; i < count; i++) {
      for (size_t k = 0; k < d[i].b.run.thread_count; k++) {
        if (d[i].verdict[k].status != status || !has_rates(&d[i], k, model)) continue;
        fprintf(p->script, ", $r%zut%zu with lines linecolor rgb '%s' notitle", i, k,
                color_of(status));
      }
    }
  }
  fprintf(p->script, "\n");
}

/* Heart rates of the runs, which kept their beats, over those of the model. */
static int diagnoses_draw(const diagnosis *d, size_t count,
                          const tsanom_hsa_model_data *model, const char *path,
                          failure *why) {
  plot p;
  if (plot_open(&p, path, "Heart rates and verdicts", why)) return -1;
  if (put_data(&p, d, count, model, why)) {
    plot_abandon(&p);
    return -1;
  }
  put_legend(&p, d, count);
  put_curves(&p, d, count, model);
  return plot_close(&p, why);
}

/* ---- the picture of an alignment
 *
 * Figure 2 of the heartbeat paper: the heart rates of a thread and of its reference with
 * the polynomials that are fitted to them, and below the aligned pair, which is both
 * polynomials at the same times. Fits and times are those of tsanom_hsa_diagnose(). */

typedef struct {
  size_t thread, points;
  double *time, *rate; /* of the run */
  size_t count;
  double first, last;                     /* what both series have */
  tsanom_polyfit_model own, its;          /* of the run, of the reference */
  double *at, *own_aligned, *its_aligned; /* `points` values */
} alignment;

static tsanom_polyfit_model model_of(const tsanom_hsa_reference *r) {
  tsanom_polyfit_model model = {.struct_size = sizeof model};
  model.degree = (int32_t)r->degree;
  model.unit = r->unit;
  model.center = r->center;
  model.scale = r->scale;
  model.r2 = r->r2;
  for (size_t i = 0; i <= r->degree; i++) model.high[i] = r->coefficient[i];
  return model;
}

/* The polynomial of the run is that of a model of this run alone. */
static int fit(const diagnosis *d, const tsanom_hsa_options *options, size_t window,
               alignment *a, failure *why) {
  tsanom_hsa_run alone = {.threads = &d->b.run.threads[a->thread],
                          .thread_count = 1,
                          .start = d->b.run.start};
  tsanom_hsa_options own = *options;
  tsanom_hsa_model *model;
  tsanom_hsa_model_data data;
  own.window = window;
  tsanom_status status = tsanom_hsa_learn(&alone, 1, &own, NULL, &model);
  if (status < 0) return fail_status(why, file_title(d->path), status);
  data = (tsanom_hsa_model_data){.struct_size = sizeof data};
  (void)tsanom_hsa_model_read(model, &data);
  a->own = model_of(data.references);
  tsanom_hsa_model_destroy(model);
  return 0;
}

static int align(const diagnosis *d, alignment *a, failure *why) {
  a->at = allocate(3 * a->points, sizeof *a->at);
  a->own_aligned = a->at + a->points;
  a->its_aligned = a->own_aligned + a->points;
  for (size_t i = 0; i < a->points; i++) {
    a->at[i] = a->first + (a->last - a->first) * (double)i / (double)(a->points - 1);
  }
  tsanom_status status =
      tsanom_polyfit_evaluate(&a->own, a->at, a->points, NULL, a->own_aligned, NULL);
  if (status >= 0) {
    status =
        tsanom_polyfit_evaluate(&a->its, a->at, a->points, NULL, a->its_aligned, NULL);
  }
  return status < 0 ? fail_status(why, file_title(d->path), status) : 0;
}

/* What a polynomial explains: nothing of rates that scatter about a steady mean. */
static void describe(const tsanom_polyfit_model *model, char *text, size_t size) {
  if (model->degree > 0) {
    snprintf(text, size, "degree %d explains %.0f %%", (int)model->degree,
             100 * fmax(0, model->r2));
  } else {
    snprintf(text, size, "degree 0, a steady rate, explains nothing");
  }
}

static int draw_aligned(const alignment *a, const tsanom_hsa_reference *r,
                        const char *path, failure *why) {
  plot p;
  char title[192], own[64], its[64];
  describe(&a->own, own, sizeof own);
  describe(&a->its, its, sizeof its);
  snprintf(title, sizeof title, "Alignment of thread %zu: %s; learned: %s", a->thread,
           own, its);
  if (plot_open(&p, path, title, why)) return -1;
  plot_size(&p, 900, 700);
  plot_series(&p, "rates", a->time, a->rate, a->count);
  plot_series(&p, "reference", r->time, r->rate, r->windows + 1);
  plot_series(&p, "own", a->at, a->own_aligned, a->points);
  plot_series(&p, "its", a->at, a->its_aligned, a->points);
  fprintf(p.script,
          "set xrange [0:*]\nset yrange [0:*]\nset ylabel 'beats per second'\n"
          "set key on outside right top\nset multiplot layout 2,1\n"
          "plot $reference with points pt 7 ps 0.2 lc rgb '#bbbbbb' notitle, $rates with "
          "points pt 7 ps 0.2 lc rgb '#a6cee3' notitle, $its with lines lw 2 lc rgb "
          "'" PLOT_GRAY "' title 'learned', $own with lines lw 2 lc rgb '" PLOT_BLUE
          "' title 'run'\nunset title\nset xlabel 'time since the start of the run, s'\n"
          "plot $its with linespoints pt 7 ps 0.4 lc rgb '" PLOT_GRAY
          "' title 'learned', $own with linespoints pt 7 ps 0.4 lc rgb '" PLOT_BLUE
          "' title 'run'\nunset multiplot\n");
  return plot_close(&p, why);
}

/* How the first thread that is not normal, or thread 0, is aligned with its reference. */
static int alignment_draw(const diagnosis *d, const tsanom_hsa_model_data *model,
                          const char *path, failure *why) {
  alignment a = {.points = model->options->points};
  for (size_t t = d->threads; t-- > 0;) {
    if (d->verdict[t].status != TSANOM_HSA_NORMAL) a.thread = t;
  }
  const tsanom_hsa_reference *r =
      a.thread < model->thread_count ? &model->references[a.thread] : NULL;
  if (!r || !r->beats || a.thread >= d->b.run.thread_count ||
      d->b.run.threads[a.thread].beats <= r->window) {
    return fail(why, "%s: thread %zu has no rates to align", file_title(d->path),
                a.thread);
  }
  int failed = read_rates(d, a.thread, r->window, &a.time, &a.rate, &a.count, why);
  if (!failed) failed = fit(d, model->options, r->window, &a, why);
  if (!failed) {
    a.its = model_of(r);
    a.first = fmax(a.time[0], r->domain[0]);
    a.last = fmin(a.time[a.count - 1], r->domain[1]);
    failed = a.first < a.last ? align(d, &a, why)
                              : fail(why,
                                     "%s: thread %zu and its reference have no time "
                                     "in common",
                                     file_title(d->path), a.thread);
  }
  if (!failed) failed = draw_aligned(&a, r, path, why);
  free(a.time);
  free(a.rate);
  free(a.at);
  return failed;
}

/* ---- labels */

/* Known statuses of runs, from a table with the columns run and status: what verdicts
 * are compared with. A run is named by its path or by the end of it after a slash, so
 * that the table can be used from any directory. */

enum { STATUSES = TSANOM_HSA_STATUSES };

/* Runs by their true status (row) and the status found (column). */
typedef struct {
  size_t runs[STATUSES][STATUSES];
} confusion;

enum { STATUS_BYTES = 32 }; /* of a name and a comma */

typedef struct {
  char *const *run;
  size_t count;
  int32_t *status;          /* of each run; -1: not found yet */
  size_t run_at, status_at; /* columns */
  size_t fields;            /* of the header; 0 before it was met */
} labelling;

/* Tell whether the path is the name, or ends with it after a slash. */
static int is_called(const char *path, const char *name) {
  size_t length = strlen(path), tail = strlen(name);
  while (length > 1 && path[length - 1] == '/') length--;
  if (tail > length || memcmp(path + length - tail, name, tail) != 0) return 0;
  return tail == length || path[length - tail - 1] == '/';
}

static int take_header(labelling *l, const row *r, failure *why) {
  l->run_at = l->status_at = r->count;
  for (size_t i = 0; i < r->count; i++) {
    if (strcmp(r->field[i], "run") == 0) l->run_at = i;
    if (strcmp(r->field[i], "status") == 0) l->status_at = i;
  }
  if (l->run_at == r->count || l->status_at == r->count) {
    return fail(why, "%s:%zu: a header with the columns run and status is expected",
                r->file, r->line);
  }
  l->fields = r->count;
  return 0;
}

/* "normal, memory_leak, ..." */
static const char *list_statuses(char text[STATUSES * STATUS_BYTES]) {
  size_t used = 0;
  for (int32_t s = 0; s < STATUSES; s++) {
    used += (size_t)snprintf(text + used, STATUS_BYTES, "%s%s", s ? ", " : "",
                             tsanom_hsa_status_name(s));
  }
  return text;
}

static int take_label(void *user, const row *r, failure *why) {
  labelling *l = user;
  if (!l->fields) return take_header(l, r, why);
  if (r->count != l->fields) {
    return fail(why, "%s:%zu: %zu fields where the header has %zu", r->file, r->line,
                r->count, l->fields);
  }
  int32_t status = 0;
  while (status < STATUSES &&
         strcmp(r->field[l->status_at], tsanom_hsa_status_name(status)) != 0) {
    status++;
  }
  if (status == STATUSES) {
    char shown[QUOTED_BYTES], known[STATUSES * STATUS_BYTES];
    return fail(why, "%s:%zu: column %zu (status): %s: one of %s is expected", r->file,
                r->line, l->status_at + 1, quoted(shown, r->field[l->status_at]),
                list_statuses(known));
  }
  for (size_t i = 0; i < l->count; i++) {
    if (!is_called(l->run[i], r->field[l->run_at])) continue;
    if (l->status[i] >= 0 && l->status[i] != status) {
      return fail(why, "%s:%zu: the run %s has two statuses", r->file, r->line,
                  l->run[i]);
    }
    l->status[i] = status;
  }
  return 0;
}

/* Read the true status of each of `count` runs from a CSV file with the columns
 * run and status. A run is found by its path, or by the end of it after a slash.
 * Each run must be there. */
static int labels_read(const char *path, char *const *run, size_t count, int32_t *status,
                       failure *why) {
  labelling l = {.run = run, .count = count, .status = status};
  for (size_t i = 0; i < count; i++) status[i] = -1;
  if (rows_read_file(path, take_label, &l, why)) return -1;
  for (size_t i = 0; i < count; i++) {
    if (status[i] < 0) {
      return fail(why, "%s: the run %s is not in it: a row for each run is expected",
                  file_title(path), run[i]);
    }
  }
  return 0;
}

/* Whether a run has the status, or one was found; or it is one of the three statuses of
 * the decision trees, which tables always have. */
static int is_shown(const confusion *c, int32_t status) {
  size_t runs = 0;
  for (int32_t other = 0; other < STATUSES; other++) {
    runs += c->runs[status][other] + c->runs[other][status];
  }
  return runs || status <= TSANOM_HSA_SHUTDOWN;
}

/* F-score of a status: 2 TP / (2 TP + FP + FN); -1 if there is no such run and none
 * was found. */
static double f_score(const confusion *c, int32_t status) {
  size_t hits = c->runs[status][status], misses = 0, alarms = 0;
  for (int32_t other = 0; other < STATUSES; other++) {
    if (other == status) continue;
    misses += c->runs[status][other];
    alarms += c->runs[other][status];
  }
  size_t all = 2 * hits + misses + alarms;
  return all ? 2 * (double)hits / (double)all : -1;
}

/* Mean F-score of the statuses that have one. */
static double macro_f_score(const confusion *c) {
  double sum = 0;
  int scores = 0;
  for (int32_t status = 0; status < STATUSES; status++) {
    double score = f_score(c, status);
    if (score < 0) continue;
    sum += score;
    scores++;
  }
  return scores ? sum / scores : 0;
}

/* ---- the command */

typedef struct {
  shared_options shared;
  const char *model_path, *labels_path;
  int explain, check, alignment;
} request;

static const option_row options[] = {
    {"model", 'm', "MODEL", "The model, by \"tsanom learn\"", TEXT(model_path)},
    {"labels", 0, "FILE.csv",
     "Compare with the true status of each run: columns run and status (normal, "
     "memory_leak, shutdown, contention, slowdown, imbalance, hang)",
     TEXT(labels_path)},
    {"explain", 0, NULL, "Print the numbers of normal threads too", FLAG(explain)},
    {"alignment", 0, NULL,
     "--plot draws how the heart rates of a thread are aligned with the model: of the "
     "first run, the first thread that is not normal, or thread 0",
     FLAG(alignment)},
    SALVAGE_ROW,
    CHECK_ROW(check, "a run is not normal"),
};

static confusion count_confusion(const diagnosis *d, const int32_t *truth, size_t runs) {
  confusion c = {0};
  for (size_t i = 0; i < runs; i++) c.runs[truth[i]][d[i].status]++;
  return c;
}

static void print_confusion(const confusion *c) {
  printf("\nruns by true status (rows) and status found (columns)\n%-14s", "");
  for (int32_t k = 0; k < STATUSES; k++) {
    if (is_shown(c, k)) printf("  %11s", tsanom_hsa_status_name(k));
  }
  printf("      F-score\n");
  for (int32_t i = 0; i < STATUSES; i++) {
    if (!is_shown(c, i)) continue;
    printf("%-14s", tsanom_hsa_status_name(i));
    for (int32_t k = 0; k < STATUSES; k++) {
      if (is_shown(c, k)) printf("  %11zu", c->runs[i][k]);
    }
    double score = f_score(c, i);
    if (score < 0) {
      printf("  %11s\n", "-");
    } else {
      printf("  %11.4f\n", score);
    }
  }
  printf("macro F-score %.4f\n", macro_f_score(c));
}

static json_t *confusion_to_json(const confusion *c) {
  json_t *labels = json_array(), *rows = json_array(), *scores = json_array();
  for (int32_t i = 0; i < STATUSES; i++) {
    if (!is_shown(c, i)) continue;
    json_t *line = json_array();
    for (int32_t k = 0; k < STATUSES; k++) {
      if (!is_shown(c, k)) continue;
      json_array_append_new(line, json_integer((json_int_t)c->runs[i][k]));
    }
    double score = f_score(c, i);
    json_array_append_new(labels, json_string(tsanom_hsa_status_name(i)));
    json_array_append_new(rows, line);
    json_array_append_new(scores, score < 0 ? json_null() : json_real(score));
  }
  return json_pack("{so so so sf}", "labels", labels, "runs", rows, "f_score", scores,
                   "macro_f_score", macro_f_score(c));
}

static int print(const request *r, const diagnosis *d, const int32_t *truth) {
  confusion c =
      r->labels_path ? count_confusion(d, truth, r->shared.arguments) : (confusion){0};
  if (r->shared.json) {
    json_t *runs = json_array(), *result = json_pack("{so}", "runs", runs);
    for (size_t i = 0; i < r->shared.arguments; i++) {
      json_t *run = diagnosis_to_json(&d[i]);
      if (r->labels_path) {
        json_object_set_new(run, "expected",
                            json_string(tsanom_hsa_status_name(truth[i])));
      }
      json_array_append_new(runs, run);
    }
    if (r->labels_path) json_object_set_new(result, "confusion", confusion_to_json(&c));
    return print_json(result);
  }
  diagnoses_print(d, r->shared.arguments, r->explain);
  if (r->labels_path) print_confusion(&c);
  return EXIT_DONE;
}

static int diagnose_all(const request *r, const owned_model *m, diagnosis *d,
                        int32_t *truth, failure *why) {
  if (r->labels_path &&
      labels_read(r->labels_path, r->shared.argument, r->shared.arguments, truth, why)) {
    return -1;
  }
  for (size_t i = 0; i < r->shared.arguments; i++) {
    if (diagnose(r->shared.argument[i], m, &r->shared.exec, r->shared.salvage,
                 r->shared.plot != NULL, &d[i], why)) {
      return -1;
    }
  }
  if (r->alignment) return alignment_draw(d, &m->data, r->shared.plot, why);
  return r->shared.plot
             ? diagnoses_draw(d, r->shared.arguments, &m->data, r->shared.plot, why)
             : 0;
}

static int report(const request *r, const owned_model *m) {
  failure why;
  diagnosis *d = allocate(r->shared.arguments, sizeof *d);
  int32_t *truth = allocate(r->shared.arguments, sizeof *truth);
  int status =
      diagnose_all(r, m, d, truth, &why) ? report_failure(&why) : print(r, d, truth);
  for (size_t i = 0; i < r->shared.arguments; i++) {
    if (r->check && status == EXIT_DONE && d[i].status != TSANOM_HSA_NORMAL) {
      status = EXIT_FOUND;
    }
    diagnosis_free(&d[i]);
  }
  free(truth);
  free(d);
  return status;
}

static void check_line(struct argp_state *state, void *request_) {
  const request *r = request_;
  if (!r->model_path) argp_error(state, "-m MODEL is missing");
  if (r->alignment && !r->shared.plot) argp_error(state, "--alignment needs --plot");
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "-m MODEL RUN...",
    .help =
        "Report what is not normal in runs, in which thread, and why.\v"
        "A RUN is a run directory, or a CSV file with the columns thread and time "
        "(in seconds).",
    .expected = "at least one run is",
    .least = 1,
    .check = check_line,
};

int command_diagnose(int argc, char **argv) {
  request r = {0};
  parse_command(&command_line, argc, argv, &r);
  owned_model m;
  failure why;
  if (expand_ranks(&r.shared, &why) || model_read(r.model_path, &m, &why)) {
    return report_failure(&why);
  }
  int status = report(&r, &m);
  model_free(&m);
  return status;
}
