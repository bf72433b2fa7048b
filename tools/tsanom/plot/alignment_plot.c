/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure 2 of the heartbeat paper: the heart rates of a thread and of its reference with
 * the polynomials that are fitted to them, and below the aligned pair, which is both
 * polynomials at the same times. Fits and times are those of tsanom_hsa_diagnose(). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/polyfit.h>

#include "diagnosis.h"
#include "plot.h"
#include "rows.h"

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

/* The rates of the run. */
static int read_rates(const diagnosis *d, size_t window, alignment *a, failure *why) {
  const tsanom_hsa_series *s = &d->b.run.threads[a->thread];
  if (beats_rate(&d->b, a->thread, window, d->path, &a->rate, &a->count, why)) return -1;
  a->time = calloc(a->count, sizeof *a->time);
  if (!a->time) return fail(why, "%s: out of memory", file_title(d->path));
  for (size_t i = 0; i < a->count; i++) {
    a->time[i] = s->time[i + window] - d->b.run.start;
  }
  return 0;
}

static int align(const diagnosis *d, alignment *a, failure *why) {
  a->at = calloc(3 * a->points, sizeof *a->at);
  if (!a->at) return fail(why, "%s: out of memory", file_title(d->path));
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

static int draw(const alignment *a, const tsanom_hsa_reference *r, const char *path,
                failure *why) {
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

static void release(alignment *a) {
  free(a->time);
  free(a->rate);
  free(a->at);
}

int alignment_draw(const diagnosis *d, const tsanom_hsa_model_data *model,
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
  int failed = read_rates(d, r->window, &a, why);
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
  if (!failed) failed = draw(&a, r, path, why);
  release(&a);
  return failed;
}
