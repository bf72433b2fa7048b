/* SPDX-License-Identifier: BSD-3-Clause */
/* The similarity analysis as a picture. On the left the tree of regions, one row each,
 * with its critical regions; on the right a bar for each process: the metric and the
 * region of the verdict, or without one the time of the region that is balanced worst. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plot.h"
#include "similarity.h"

static const char *const colours[] = {"#9aa5b1", "#e08a00", "#c62828"};
static const char *const roles[] = {"not critical", "CCR", "CCCR"};

static int role_of(const tsanom_spmd_region *r) {
  return r->cccr ? 2 : r->ccr ? 1 : 0;
}

/* The first region from `from` on that is nested directly in `parent`, or -1. */
static int32_t next_nested(const similarity *s, int32_t parent, int32_t from) {
  int32_t regions = (int32_t)s->file.data->regions;
  while (from < regions && s->file.data->parent[from] != parent) from++;
  return from < regions ? from : -1;
}

/* A row for each region, those nested in it below it. */
static void put_rows(const similarity *s, double *row) {
  double used = 0;
  for (int32_t k = next_nested(s, TSANOM_SPMD_NONE, 0), next; k >= 0; k = next) {
    row[k] = used--;
    next = next_nested(s, k, 0);
    while (next < 0 && k >= 0) {
      int32_t parent = s->file.data->parent[k];
      next = next_nested(s, parent, k + 1);
      k = parent;
    }
  }
}

static void put_tree(const plot *p, const similarity *s, const double *row) {
  size_t regions = s->file.data->regions;
  fprintf(p->script, "$edges << END\n");
  for (size_t k = 0; k < regions; k++) {
    int32_t parent = s->file.data->parent[k];
    if (parent < 0) continue;
    fprintf(p->script, "%d %g\n%d %g\n%d %g\n\n", s->region[parent].level, row[parent],
            s->region[parent].level, row[k], s->region[k].level, row[k]);
  }
  fprintf(p->script, "END\n");
  for (int role = 0; role < 3; role++) {
    fprintf(p->script, "$role%d << END\n", role);
    for (size_t k = 0; k < regions; k++) {
      if (role_of(&s->region[k]) == role) {
        fprintf(p->script, "%d %g\n", s->region[k].level, row[k]);
      }
    }
    fprintf(p->script, "END\n");
  }
  for (size_t k = 0; k < regions; k++) {
    fprintf(p->script, "set label \"");
    plot_text(p, s->file.region[k]);
    fprintf(p->script, "\" at %d,%g offset 1,0 front noenhanced\n", s->region[k].level,
            row[k]);
  }
}

/* Only what there is: gnuplot warns of empty data. */
static void draw_tree(const plot *p, const similarity *s) {
  int deepest = 1;
  size_t in_role[3] = {0};
  for (size_t k = 0; k < s->file.data->regions; k++) {
    if (s->region[k].level > deepest) deepest = s->region[k].level;
    in_role[role_of(&s->region[k])]++;
  }
  fprintf(p->script,
          "set key bottom left inside\nunset border\nunset tics\nunset grid\n"
          "set xrange [0.8:%d]\nset yrange [%g:1]\nplot NaN notitle",
          deepest + 1, -(double)s->file.data->regions - 3);
  if (deepest > 1) {
    fprintf(p->script, ", $edges with lines linecolor rgb '#bbbbbb' notitle");
  }
  for (int role = 0; role < 3; role++) {
    if (in_role[role] == 0) continue;
    fprintf(p->script,
            ", $role%d with points pointtype 7 pointsize 1 linecolor rgb '%s' title '%s'",
            role, colours[role], roles[role]);
  }
  fprintf(p->script, "\n");
}

/* The region that the bars are of: the guilty one, else the least balanced. */
static size_t shown_region(const similarity *s) {
  if (s->report.verdict_region >= 0) return (size_t)s->report.verdict_region;
  size_t worst = 0;
  for (size_t k = 1; k < s->file.data->regions; k++) {
    const tsanom_spmd_region *a = &s->region[k], *b = &s->region[worst];
    if (a->max - a->mean > b->max - b->mean) worst = k;
  }
  return worst;
}

static void draw_bars(const plot *p, const similarity *s) {
  const tsanom_spmd_data *d = s->file.data;
  size_t k = shown_region(s);
  int32_t m = s->report.verdict_metric;
  const double *matrix =
      m < 0 ? s->file.data->time
            : s->file.data->metric + (size_t)m * d->processes * d->regions;
  fprintf(p->script,
          "unset label\nset border\nset tics\nset grid ytics\nset xrange [-1:%zu]\n"
          "set xtics 0,%zu,%zu\nset yrange [0:*]\nset boxwidth 0.8\nset style fill "
          "solid\nset xlabel "
          "'process, coloured by kind'\nset title \"",
          d->processes, (d->processes + 15) / 16, d->processes - 1);
  plot_text(p, m < 0 ? "time" : s->file.metric[m]);
  fprintf(p->script, " in ");
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
  double *row = calloc(s->file.data->regions, sizeof *row);
  if (!row) return fail(why, "%s: out of memory", path);
  put_rows(s, row);
  plot p;
  if (plot_open(&p, path, "Regions of the code", why)) {
    free(row);
    return -1;
  }
  put_tree(&p, s, row);
  fprintf(p.script, "set multiplot layout 1,2\n");
  draw_tree(&p, s);
  draw_bars(&p, s);
  fprintf(p.script, "unset multiplot\n");
  free(row);
  return plot_close(&p, why);
}
