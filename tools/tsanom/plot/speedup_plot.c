/* SPDX-License-Identifier: BSD-3-Clause */
/* Picture of a loop: the time of each iteration, and below it the speedup. */
#include "speedup_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plot.h"

/* The iterations of a loop by their threads: $base2 and $base3 are time and speedup of
 * those with the threads of the baseline, $rest2 and $rest3 of the others. Stores how
 * many of each there are. */
static int put_iterations(const plot *p, const tsanom_speedup_loop *loop,
                          const tsanom_speedup_iteration *iteration, size_t iterations,
                          size_t count[2], failure *why) {
  double *time = calloc(3 * iterations, sizeof *time);
  if (!time) return fail(why, "%s: out of memory", p->path);
  double *seconds = time + iterations, *speedup = seconds + iterations;
  for (int rest = 0; rest < 2; rest++) {
    size_t n = 0;
    for (size_t i = 0; i < iterations; i++) {
      const tsanom_speedup_iteration *it = &iteration[i];
      int is_other = it->start != loop->start || it->period != loop->period;
      if (is_other || it->seconds <= 0) continue;
      if ((it->threads != loop->baseline_threads) != rest) continue;
      time[n] = it->begin;
      seconds[n] = it->seconds;
      speedup[n++] = loop->baseline_s / it->seconds;
    }
    plot_series(p, rest ? "rest2" : "base2", time, seconds, n);
    plot_series(p, rest ? "rest3" : "base3", time, speedup, n);
    count[rest] = n;
  }
  free(time);
  return 0;
}

/* Draw column `column` of the iterations. */
static void draw_column(const plot *p, const tsanom_speedup_loop *loop,
                        const size_t count[2], int column) {
  const char *between = "plot ";
  const char *style = "with points pointtype 7 pointsize 0.3";
  if (count[0]) {
    fprintf(p->script, "%s$base%d %s linecolor 2 title '%d thread%s'", between, column,
            style, loop->baseline_threads, loop->baseline_threads == 1 ? "" : "s");
    between = ", ";
  }
  if (count[1]) {
    fprintf(p->script, "%s$rest%d %s linecolor 1 title '%d thread%s'", between, column,
            style, loop->current_threads, loop->current_threads == 1 ? "" : "s");
  }
  fprintf(p->script, "\n");
}

int speedup_plot(const char *path, const tsanom_speedup_loop *loop, const char *name,
                 const tsanom_speedup_iteration *iteration, size_t iterations,
                 failure *why) {
  plot p;
  size_t count[2] = {0, 0};
  char title[256];
  (void)snprintf(title, sizeof title, "Iterations of %zu regions from %.200s",
                 loop->period, name);
  if (plot_open(&p, path, title, why)) return -1;
  if (put_iterations(&p, loop, iteration, iterations, count, why)) {
    plot_abandon(&p);
    return -1;
  }
  fprintf(p.script,
          "set lmargin 12\nset xlabel 'time, s'\nset ylabel 'time of an iteration, s'\n"
          "set yrange [0:*]\n");
  if (isfinite(loop->baseline_s)) fprintf(p.script, "set multiplot layout 2,1\n");
  draw_column(&p, loop, count, 2);
  if (isfinite(loop->baseline_s)) {
    fprintf(p.script, "unset title\nset ylabel 'speedup'\n");
    draw_column(&p, loop, count, 3);
    fprintf(p.script, "unset multiplot\n");
  }
  return plot_close(&p, why);
}
