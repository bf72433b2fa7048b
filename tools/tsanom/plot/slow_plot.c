/* SPDX-License-Identifier: BSD-3-Clause */
/* Picture of the iterations of a run: their times, and which of them are slow. */
#include <stdlib.h>

#include "plot.h"
#include "summary.h"

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
  double *x = begin ? calloc(2 * count, sizeof *x) : NULL;
  if (begin && !x) fail(why, "out of memory");
  if (!x || plot_open(&p, path, "Time of each iteration", why)) {
    free(begin);
    free(x);
    return -1;
  }
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
