/* SPDX-License-Identifier: BSD-3-Clause */
/* The similarity analysis as a heat map of regions and processes, and the values that
 * explain the difference. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plot.h"
#include "similarity.h"

enum { NAMES_MOST = 40, MARGIN_MOST = 40, PIXELS_MOST = 1 << 14 };

static const char *const roles[] = {"", " (CCR)", " (CCCR)"};

static int role_of(const tsanom_spmd_region *r) {
  return r->cccr ? 2 : r->ccr ? 1 : 0;
}

/* Time relative to the mean of the region, a cell for each region and process. */
static void put_cells(const plot *p, const similarity *s) {
  const tsanom_spmd_data *d = s->file.data;
  fprintf(p->script, "$cells << END\n");
  for (size_t row = 0; row < d->regions; row++) {
    size_t k = s->order[row];
    for (size_t i = 0; i < d->processes; i++) {
      double mean = s->region[k].mean;
      fprintf(p->script, "%zu -%zu %.4g\n", i, row,
              mean > 0 ? d->time[i * d->regions + k] / mean : 1);
    }
    fprintf(p->script, "\n");
  }
  fprintf(p->script, "END\n");
}

/* The names of regions in the order of the tree, with a dot for each level. */
static void put_region_names(const plot *p, const similarity *s) {
  size_t regions = s->file.data->regions, step = (regions + NAMES_MOST - 1) / NAMES_MOST;
  const char *between = "";
  fprintf(p->script, "set ytics (");
  for (size_t row = 0; row < regions; row += step) {
    size_t k = s->order[row];
    fprintf(p->script, "%s\"", between);
    for (int32_t level = 1; level < s->region[k].level; level++) {
      fputs("\u00b7 ", p->script);
    }
    plot_text(p, similarity_label(s, k));
    fprintf(p->script, "%s\" -%zu", roles[role_of(&s->region[k])], row);
    between = ", ";
  }
  fprintf(p->script, ") noenhanced\n");
}

/* The axis of processes or threads, by name if these fit. */
static void put_process_axis(const plot *p, const similarity *s) {
  size_t n = s->file.data->processes;
  char number[32];
  fprintf(p->script, "set xlabel '%s'\nset xrange [-0.5:%g]\n", similarity_member(s, 1),
          (double)n - 0.5);
  if (n > NAMES_MOST) {
    fprintf(p->script, "set xtics 0,%zu,%zu\n", (n + 15) / 16, n - 1);
    return;
  }
  fprintf(p->script, "set xtics (");
  for (size_t i = 0; i < n; i++) {
    fprintf(p->script, "%s\"", i ? ", " : "");
    plot_text(p, process_name(s, i, number));
    fprintf(p->script, "\" %zu", i);
  }
  fprintf(p->script, ") noenhanced\n");
}

/* Characters of the margin that the names of regions need. */
static int name_margin(const similarity *s) {
  size_t longest = 0;
  for (size_t k = 0; k < s->file.data->regions; k++) {
    size_t length = strlen(similarity_label(s, k)) + 2 * (size_t)s->region[k].level +
                    strlen(roles[role_of(&s->region[k])]);
    longest = length > longest ? length : longest;
  }
  return (int)(longest < MARGIN_MOST ? longest : MARGIN_MOST);
}

/* Colors from blue over white to vermilion, white at the mean. */
static void draw_cells(const plot *p, const similarity *s) {
  const tsanom_spmd_data *d = s->file.data;
  put_process_axis(p, s);
  fprintf(p->script,
          "set lmargin %d\nset rmargin 12\nunset key\nset yrange [%g:0.5]\n"
          "set palette defined (0 '" PLOT_BLUE "', 1 'white', 2 '" PLOT_VERMILION
          "')\n"
          "set cbrange [0:2]\nset cblabel 'time / mean of the region'\n"
          "plot $cells using 1:2:3 with image%s\n",
          name_margin(s), 0.5 - (double)d->regions,
          d->regions * d->processes <= PIXELS_MOST ? " pixels" : "");
}

/* The region that the bars are of: that of the verdict, else the least balanced. */
static size_t shown_region(const similarity *s) {
  if (s->report.verdict_region >= 0) return (size_t)s->report.verdict_region;
  size_t worst = 0;
  for (size_t k = 1; k < s->file.data->regions; k++) {
    const tsanom_spmd_region *a = &s->region[k], *b = &s->region[worst];
    if (a->max - a->mean > b->max - b->mean) worst = k;
  }
  return worst;
}

/* Bars in the colors of the kinds. */
static void draw_bars(const plot *p, const similarity *s) {
  const tsanom_spmd_data *d = s->file.data;
  size_t k = shown_region(s);
  int32_t m = s->report.verdict_metric;
  const double *matrix =
      m < 0 ? s->file.data->time
            : s->file.data->metric + (size_t)m * d->processes * d->regions;
  fprintf(
      p->script,
      "set lmargin 9\nset rmargin 3\nset ytics auto\nset yrange [0:*]\nset boxwidth 0.8\n"
      "set style fill solid\nset ylabel \"");
  plot_text(p, m >= 0       ? s->file.metric[m]
               : s->threads ? "time, s"
                            : "time, unit of the file");
  fprintf(p->script, "\" noenhanced\nset title \"");
  plot_text(p, m < 0 ? "time" : s->file.metric[m]);
  fprintf(p->script, " in\\n");
  plot_text(p, s->file.region[k]);
  fprintf(p->script, "\" noenhanced\n$bars << END\n");
  for (size_t i = 0; i < d->processes; i++) {
    double value = matrix[i * d->regions + k];
    if (isnan(value)) continue;
    fprintf(p->script, "%zu %.9g %d\n", i, value, s->class_of[i] + 1);
  }
  fprintf(p->script,
          "END\nplot $bars using 1:2:3 with boxes linecolor variable notitle\n");
}

int similarity_draw(const similarity *s, const char *path, failure *why) {
  plot p;
  if (plot_open(&p, path, "Time in the regions, relative to the mean", why)) return -1;
  plot_size(&p, 1280, 540);
  put_cells(&p, s);
  put_region_names(&p, s);
  fprintf(p.script, "set multiplot\nset size 0.62,1\nset origin 0,0\n");
  draw_cells(&p, s);
  fprintf(p.script, "set size 0.38,1\nset origin 0.62,0\n");
  draw_bars(&p, s);
  fprintf(p.script, "unset multiplot\n");
  return plot_close(&p, why);
}
