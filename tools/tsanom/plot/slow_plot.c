/* SPDX-License-Identifier: BSD-3-Clause */
/* Picture of the iterations of a run: their times, and which of them are slow. */
#include <stdlib.h>

#include "plot.h"
#include "slow.h"

/* The times of iterations that are slow, or of the others; how many there are. */
static size_t put(const plot *p, const slow_run *s, int slow, double *x, double *y) {
  size_t n = 0;
  for (size_t i = 0; i < s->it.count; i++) {
    if ((s->series.class_of[i] > 0) != slow) continue;
    x[n] = (double)i;
    y[n++] = s->it.seconds[i];
  }
  plot_series(p, slow ? "slow" : "rest", x, y, n);
  return n;
}

/* The mean of each stretch and change, and the interval of what the change is. */
static void draw_levels(const plot *p, const slow_run *s) {
  for (size_t k = 0; k < s->count; k++) {
    const slow_finding *f = &s->item[k].found;
    if (f->kind == SLOW_SINGLE || f->kind == SLOW_RECURRING) continue;
    double level = f->ratio * s->median_s;
    fprintf(p->script,
            "set arrow from %zu,%.9g to %zu,%.9g nohead front linewidth 2 "
            "linecolor rgb '" PLOT_VERMILION "'\n",
            f->first, level, f->last, level);
    if (!(f->low < f->high)) continue;
    fprintf(p->script,
            "set object rectangle from %zu,%.9g to %zu,%.9g back fillcolor rgb "
            "'" PLOT_ORANGE "' fillstyle solid 0.3 noborder\n",
            f->first, f->low * s->median_s, f->last, f->high * s->median_s);
  }
}

int slow_draw(const slow_run *s, const char *path, failure *why) {
  plot p;
  double *x = calloc(2 * s->it.count + 1, sizeof *x);
  if (!x) return fail(why, "out of memory");
  if (plot_open(&p, path, "Time of each iteration", why)) {
    free(x);
    return -1;
  }
  size_t rest = put(&p, s, 0, x, x + s->it.count);
  size_t slow = put(&p, s, 1, x, x + s->it.count);
  free(x);
  draw_levels(&p, s);
  fprintf(p.script,
          "set xlabel 'iteration'\nset ylabel 'seconds'\nset yrange [0:*]\nplot ");
  const char *style = "with points pointtype 7 pointsize 0.3 linecolor rgb";
  if (rest) fprintf(p.script, "$rest %s '" PLOT_BLUE "' title 'normal', ", style);
  if (slow) fprintf(p.script, "$slow %s '" PLOT_VERMILION "' title 'slow'", style);
  fprintf(p.script, "\n");
  return plot_close(&p, why);
}
