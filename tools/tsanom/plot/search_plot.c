/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches drawn: the stream with the query laid on each match, and below it the part
 * around the best one; or the first query with its neighbors. Where series were compared
 * by shape (--z-normalize), the copy has the level and the height of what it is laid on.
 */
#include "search_plot.h"

#include <math.h>
#include <stdlib.h>

#include "plot.h"

static void moments(const double *x, size_t n, double *mean, double *deviation) {
  double m = 0, variance = 0;
  for (size_t i = 0; i < n; i++) m += x[i] / (double)n;
  for (size_t i = 0; i < n; i++) variance += (x[i] - m) * (x[i] - m) / (double)n;
  *mean = m;
  *deviation = sqrt(variance);
}

/* A copy of x, of shapes at the level and the height of `place`. */
static double *laid_on(const search_picture *picture, const double *x,
                       const double *place, size_t n) {
  double *copy = malloc(n * sizeof *copy), mean[2] = {0}, deviation[2] = {0};
  if (!copy) return NULL;
  moments(x, n, mean, deviation);
  moments(place, n, mean + 1, deviation + 1);
  double scale = deviation[0] > 0 ? deviation[1] / deviation[0] : 0;
  for (size_t i = 0; i < n; i++) {
    copy[i] = picture->z_normalize ? (x[i] - mean[0]) * scale + mean[1] : x[i];
  }
  return copy;
}

/* The datablock $name, whose first sample is number `first`. */
static int plot_from(const plot *p, const char *name, size_t first, const double *y,
                     size_t count) {
  double *x = malloc(count * sizeof *x);
  for (size_t i = 0; x && i < count; i++) x[i] = (double)(first + i);
  if (x && y) plot_series(p, name, x, y, count);
  free(x);
  return x && y ? 0 : -1;
}

/* Datablocks: the stream, its part near the best match, and the query on each
 * match. */
static int stream_data(const plot *p, const search_picture *picture, const double *query,
                       size_t n, const double *stream, size_t samples) {
  plot_series(p, "stream", NULL, stream, samples);
  size_t best = picture->found > 0 ? picture->index[0] : 0;
  size_t first = best > n ? best - n : 0;
  size_t end = samples - best > 2 * n ? best + 2 * n : samples;
  int failed = plot_from(p, "near", first, stream + first, end - first);
  for (size_t i = 0; i < picture->found && !failed; i++) {
    char name[32];
    snprintf(name, sizeof name, "match%zu", i);
    double *y = laid_on(picture, query, stream + picture->index[i], n);
    failed = plot_from(p, name, picture->index[i], y, n);
    free(y);
  }
  return failed;
}

/* The first `matches` of them on $block. */
static void draw_matches(const plot *p, const char *block, const char *name,
                         const search_picture *picture, size_t matches) {
  fprintf(p->script, "plot $%s with lines linecolor rgb '#888888' title \"", block);
  plot_text(p, name);
  fprintf(p->script, "\" at end");
  for (size_t i = 0; i < matches; i++) {
    fprintf(p->script, ", $match%zu with lines linewidth 2 title 'query at %zu' at end",
            i, picture->index[i]);
  }
  fprintf(p->script, "\n");
}

int search_draw_stream(const search_picture *picture, const double *query, size_t n,
                       const double *stream, size_t samples, const char *stream_name,
                       failure *why) {
  plot p;
  if (plot_open(&p, picture->path, "Matches of a query in a stream", why)) return -1;
  int failed = stream_data(&p, picture, query, n, stream, samples);
  if (failed) fail(why, "%s: out of memory", picture->path);
  fprintf(p.script, PLOT_LABELS
          "set ylabel 'value'\nset xlabel 'sample'\nset multiplot layout 2,1\n");
  draw_matches(&p, "stream", stream_name, picture, picture->found);
  fprintf(p.script, "unset title\n");
  draw_matches(&p, "near", stream_name, picture, picture->found > 0 ? 1 : 0);
  fprintf(p.script, "unset multiplot\n");
  return plot_close(&p, why) || failed ? -1 : 0;
}

int search_draw_nearest(const search_picture *picture, const double *query,
                        const double *series, size_t n, failure *why) {
  plot p;
  if (plot_open(&p, picture->path, "The first query and its neighbors", why)) return -1;
  plot_series(&p, "query", NULL, query, n);
  int failed = 0;
  for (size_t i = 0; i < picture->found && !failed; i++) {
    char name[32];
    snprintf(name, sizeof name, "series%zu", i);
    double *y = laid_on(picture, series + picture->index[i] * n, query, n);
    failed = !y;
    if (!failed) plot_series(&p, name, NULL, y, n);
    free(y);
  }
  if (failed) fail(why, "%s: out of memory", picture->path);
  fprintf(p.script, PLOT_LABELS
          "set xlabel 'sample'\nset ylabel 'value'\nplot $query with lines linewidth 2 "
          "linecolor rgb 'black' title 'query' at end");
  for (size_t i = 0; i < picture->found; i++) {
    fprintf(p.script, ", $series%zu with lines title 'series %zu: %.4g' at end", i,
            picture->index[i], picture->distance[i]);
  }
  fprintf(p.script, "\n");
  return plot_close(&p, why) || failed ? -1 : 0;
}
