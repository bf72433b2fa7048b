/* SPDX-License-Identifier: BSD-3-Clause */
/* Heart rates with the verdicts, drawn: the learned rates in grey, those of the threads
 * in the color of their status, a mark with the run's name where a thread that is not
 * normal ends. Data come first, as named blocks of the gnuplot script, then one plot
 * command that draws all of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis.h"
#include "plot.h"
#include "rows.h"

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

/* The rates of a thread as datablock, times from the start of the run. */
static int put_rates(const plot *p, const diagnosis *d, size_t number, size_t thread,
                     size_t window, double longest, failure *why) {
  double *rate;
  size_t count;
  if (beats_rate(&d->b, thread, window, d->path, &rate, &count, why)) return -1;
  double *time = malloc((count ? count : 1) * sizeof *time);
  if (!time) {
    free(rate);
    return fail(why, "%s: out of memory", file_title(d->path));
  }
  const tsanom_hsa_series *s = &d->b.run.threads[thread];
  for (size_t i = 0; i < count; i++) time[i] = s->time[i + window] - d->b.run.start;
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

int diagnoses_draw(const diagnosis *d, size_t count, const tsanom_hsa_model_data *model,
                   const char *path, failure *why) {
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
