/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom search: exact nearest neighbors under dynamic time warping, in three ways:
 *
 *   QUERIES SERIES         an index of whole series, each query is compared with all
 *   --stream QUERY STREAM  subsequences of one long series
 *   --classify TRAIN TEST  an index of TRAIN; predicts the label of the nearest one
 *
 * The last line reports which share of the candidates each lower bound removed, because
 * that decides about the time of a search. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "failure.h"
#include "plot.h"
#include "reserve.h"
#include "rows.h"
#include "series.h"

/* ---- the picture
 *
 * The stream with the query laid on each match, and below it the part around the best one;
 * or the first query with its neighbors. Where series were compared by shape
 * (--z-normalize), the copy has the level and the height of what it is laid on. */

/* What is drawn of a result: what was found for one query, the best first. */
typedef struct {
  const char *path;
  int32_t z_normalize; /* shapes were compared: lay them on each other */
  size_t found;
  const size_t *index;
  const double *distance;
} search_picture;

static void moments(const double *x, size_t n, double *mean, double *deviation) {
  double m = 0, variance = 0;
  for (size_t i = 0; i < n; i++) m += x[i] / (double)n;
  for (size_t i = 0; i < n; i++) variance += (x[i] - m) * (x[i] - m) / (double)n;
  *mean = m;
  *deviation = sqrt(variance);
}

/* A copy of x, of shapes at the level and the height of `place`; to be freed. */
static double *laid_on(const search_picture *picture, const double *x,
                       const double *place, size_t n) {
  double *copy = allocate(n, sizeof *copy), mean[2] = {0}, deviation[2] = {0};
  moments(x, n, mean, deviation);
  moments(place, n, mean + 1, deviation + 1);
  double scale = deviation[0] > 0 ? deviation[1] / deviation[0] : 0;
  for (size_t i = 0; i < n; i++) {
    copy[i] = picture->z_normalize ? (x[i] - mean[0]) * scale + mean[1] : x[i];
  }
  return copy;
}

/* The datablock $name, whose first sample is number `first`. */
static void plot_from(const plot *p, const char *name, size_t first, const double *y,
                      size_t count) {
  double *x = allocate(count, sizeof *x);
  for (size_t i = 0; i < count; i++) x[i] = (double)(first + i);
  plot_series(p, name, x, y, count);
  free(x);
}

/* Datablocks: the stream, its part near the best match, and the query on each
 * match. */
static void stream_data(const plot *p, const search_picture *picture, const double *query,
                        size_t n, const double *stream, size_t samples) {
  plot_series(p, "stream", NULL, stream, samples);
  size_t best = picture->found > 0 ? picture->index[0] : 0;
  size_t first = best > n ? best - n : 0;
  size_t end = samples - best > 2 * n ? best + 2 * n : samples;
  plot_from(p, "near", first, stream + first, end - first);
  for (size_t i = 0; i < picture->found; i++) {
    char name[32];
    snprintf(name, sizeof name, "match%zu", i);
    double *y = laid_on(picture, query, stream + picture->index[i], n);
    plot_from(p, name, picture->index[i], y, n);
    free(y);
  }
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

/* The stream with the query laid on the matches, and the best of them with its
 * surroundings. */
static int search_draw_stream(const search_picture *picture, const double *query,
                              size_t n, const double *stream, size_t samples,
                              const char *stream_name, failure *why) {
  plot p;
  if (plot_open(&p, picture->path, "Matches of a query in a stream", why)) return -1;
  stream_data(&p, picture, query, n, stream, samples);
  fprintf(p.script, PLOT_LABELS
          "set ylabel 'value'\nset xlabel 'sample'\nset multiplot layout 2,1\n");
  draw_matches(&p, "stream", stream_name, picture, picture->found);
  fprintf(p.script, "unset title\n");
  draw_matches(&p, "near", stream_name, picture, picture->found > 0 ? 1 : 0);
  fprintf(p.script, "unset multiplot\n");
  return plot_close(&p, why);
}

/* The query and its neighbors among `series`, rows of n samples. */
static int search_draw_nearest(const search_picture *picture, const double *query,
                               const double *series, size_t n, failure *why) {
  plot p;
  if (plot_open(&p, picture->path, "The first query and its neighbors", why)) return -1;
  plot_series(&p, "query", NULL, query, n);
  for (size_t i = 0; i < picture->found; i++) {
    char name[32];
    snprintf(name, sizeof name, "series%zu", i);
    double *y = laid_on(picture, series + picture->index[i] * n, query, n);
    plot_series(&p, name, NULL, y, n);
    free(y);
  }
  fprintf(p.script, PLOT_LABELS
          "set xlabel 'sample'\nset ylabel 'value'\nplot $query with lines linewidth 2 "
          "linecolor rgb 'black' title 'query' at end");
  for (size_t i = 0; i < picture->found; i++) {
    fprintf(p.script, ", $series%zu with lines title 'series %zu: %.4g' at end", i,
            picture->index[i], picture->distance[i]);
  }
  fprintf(p.script, "\n");
  return plot_close(&p, why);
}

/* Series of equal length, one a row, with or without a label in the first field. The
 * first row determines the length, so that all lie in one matrix. Zero it before use. */
typedef struct {
  size_t count, length;
  double *sample;  /* count rows of length */
  char **label;    /* of each series; NULL if read without labels */
  size_t capacity; /* series there is memory for */
} series_set;

typedef struct {
  series_set *set;
  size_t skip; /* fields before the samples */
} reader;

static void series_set_free(series_set *set) {
  for (size_t i = 0; set->label && i < set->count; i++) free(set->label[i]);
  free(set->label);
  free(set->sample);
  memset(set, 0, sizeof *set);
}

static void grow(series_set *set, int labelled) {
  size_t labels = set->capacity, needed = set->count + 1;
  if (labelled) reserve(&set->label, &labels, needed, sizeof *set->label);
  reserve(&set->sample, &set->capacity, needed, set->length * sizeof *set->sample);
}

static int take_row(void *user, const row *r, failure *why) {
  const reader *in = user;
  series_set *set = in->set;
  if (r->count <= in->skip) {
    return fail(why, "%s:%zu: a label alone: samples are expected behind it", r->file,
                r->line);
  }
  size_t length = r->count - in->skip;
  if (set->length == 0) set->length = length;
  if (length != set->length) {
    return fail(why, "%s:%zu: %zu samples where all series have %zu", r->file, r->line,
                length, set->length);
  }
  grow(set, in->skip > 0);
  double *sample = set->sample + set->count * length;
  for (size_t i = 0; i < length; i++) {
    if (row_number(r, in->skip + i, sample + i, why)) return -1;
  }
  if (in->skip > 0) set->label[set->count] = make_text("%s", r->field[0]);
  set->count++;
  return 0;
}

/* Read a set from the file at `path` ("-": standard input). With `labelled` the
 * first field of each row is its label, as in the UCR archive. With a length
 * other than 0 in `set`, every series must have it; else the first sets it. */
static int series_set_read(const char *path, int labelled, series_set *set,
                           failure *why) {
  reader in = {.set = set, .skip = labelled ? 1 : 0};
  if (rows_read_file(path, take_row, &in, why)) return -1;
  if (set->count > 0) return 0;
  return fail(why, "%s: holds no series: at least one is expected", file_title(path));
}

typedef struct {
  shared_options shared;
  tsanom_search_options search;
  size_t neighbors;
  int stream, classify, neighbors_given, exclusion_given;
  const char *column;
} request;

static const option_row options[] = {
    {"stream", 0, NULL, "Find one query among the windows of one long series",
     FLAG(stream)},
    {"classify", 0, NULL,
     "Give each series of the second file the label of its nearest one in the first, and "
     "count errors: rows begin with a label",
     FLAG(classify)},
    RADIUS_ROW(search.radius),
    {"neighbors", 'k', "K", "Number of neighbors to find (default: 1)",
     COUNT(neighbors, 1, 0), GIVEN(neighbors_given)},
    COST_ROW(search.cost),
    {"z-normalize", 0, NULL,
     "Compare shapes: mean 0 and deviation 1 of every series and window",
     FLAG(search.z_normalize)},
    {"exclusion", 0, "E",
     "With --stream: starts of matches differ by more than E (default: half the query)",
     COUNT(search.exclusion, 0, 0), GIVEN(exclusion_given)},
    {"column", 0, "NAME", "With --stream: read this column of CSV files with a header",
     TEXT(column)},
};

static void check_end(struct argp_state *state, void *request_) {
  const request *r = request_;
  if (r->stream && r->classify)
    argp_error(state, "--stream and --classify exclude each other");
  if (r->classify && r->neighbors_given)
    argp_error(state, "--classify takes the nearest: -k does not go with it");
  if (r->classify && r->shared.plot)
    argp_error(state, "--classify has no picture: --plot does not go with it");
  if (!r->stream && r->exclusion_given)
    argp_error(state, "--exclusion goes with --stream");
  if (!r->stream && r->column) argp_error(state, "--column goes with --stream");
  if (strcmp(r->shared.argument[0], "-") == 0 && strcmp(r->shared.argument[1], "-") == 0)
    argp_error(state, "only one of the files can be standard input");
}

/* What was found for each query, `neighbors` places a query of which the first
 * `found` are filled. */
typedef struct {
  size_t queries, neighbors, found;
  size_t *index;
  double *distance;
  tsanom_search_report *report;
} result;

static void result_free(result *found) {
  free(found->index);
  free(found->distance);
  free(found->report);
  memset(found, 0, sizeof *found);
}

/* Places for all queries, with overflow checks, since both counts come from the user. */
static int result_make(result *found, size_t queries, size_t neighbors, failure *why) {
  size_t places;
  *found = (result){.queries = queries, .neighbors = neighbors, .found = neighbors};
  if (!__builtin_mul_overflow(queries, neighbors, &places) &&
      places <= SIZE_MAX / sizeof(double)) {
    found->index = calloc(places, sizeof *found->index);
    found->distance = calloc(places, sizeof *found->distance);
    found->report = calloc(queries, sizeof *found->report);
  }
  if (found->index && found->distance && found->report) return 0;
  result_free(found);
  fail(why, "no memory for %zu neighbors of %zu queries", neighbors, queries);
  return -1;
}

static json_t *report_json(const tsanom_search_report *r) {
  return json_pack("{sI sI sI sI sI sI sI}", "candidates", (json_int_t)r->candidates,
                   "kim", (json_int_t)r->kim, "means", (json_int_t)r->means, "keogh",
                   (json_int_t)r->keogh, "keogh_reversed", (json_int_t)r->keogh_reversed,
                   "dtw_abandoned", (json_int_t)r->abandoned, "dtw_computed",
                   (json_int_t)r->computed);
}

static json_t *result_json(const result *found) {
  json_t *queries = json_array();
  for (size_t q = 0; q < found->queries; q++) {
    json_t *neighbors = json_array();
    for (size_t i = q * found->neighbors; i < q * found->neighbors + found->found; i++) {
      json_array_append_new(neighbors,
                            json_pack("{sI so}", "index", (json_int_t)found->index[i],
                                      "distance", json_finite(found->distance[i])));
    }
    json_array_append_new(queries, json_pack("{so so}", "neighbors", neighbors, "pruned",
                                             report_json(found->report + q)));
  }
  return queries;
}

/* Shares of all candidates, one line. Only an index knows means, and each kind of search
 * its own LB_Keogh. */
static void print_removed(const request *r, const result *found) {
  tsanom_search_report sum = {0};
  for (size_t q = 0; q < found->queries; q++) {
    const tsanom_search_report *one = found->report + q;
    sum.candidates += one->candidates;
    sum.kim += one->kim;
    sum.means += one->means;
    sum.keogh += one->keogh;
    sum.keogh_reversed += one->keogh_reversed;
    sum.abandoned += one->abandoned;
    sum.computed += one->computed;
  }
  double percent = 100 / (double)sum.candidates;
  printf("\nremoved by ");
  if (!r->stream) printf("means %.2f %%, ", percent * (double)sum.means);
  printf(
      "LB_Kim %.2f %%, LB_Keogh %.2f %%; DTW abandoned %.2f %%, computed %.2f %% of "
      "%ju\n",
      percent * (double)sum.kim, percent * (double)(sum.keogh + sum.keogh_reversed),
      percent * (double)sum.abandoned, percent * (double)sum.computed,
      (uintmax_t)sum.candidates);
}

static int print(const request *r, const result *found) {
  if (r->shared.json) return print_json(json_pack("{so}", "queries", result_json(found)));
  if (!r->stream) printf("query  ");
  printf("%-10s  distance\n", r->stream ? "start" : "series");
  for (size_t q = 0; q < found->queries; q++) {
    for (size_t i = q * found->neighbors; i < q * found->neighbors + found->found; i++) {
      if (!r->stream) printf("%5zu  ", q);
      printf("%-10zu  %.10g\n", found->index[i], found->distance[i]);
    }
  }
  if (found->found < r->neighbors) {
    printf("\nno more than %zu of the %zu asked for: starts differ by more than %s\n",
           found->found, r->neighbors,
           r->exclusion_given ? "the exclusion" : "half the query");
  }
  print_removed(r, found);
  return EXIT_DONE;
}

static search_picture picture_of(const request *r, const result *found) {
  return (search_picture){.path = r->shared.plot,
                          .z_normalize = r->search.z_normalize,
                          .found = found->found,
                          .index = found->index,
                          .distance = found->distance};
}

static int reject_files(const request *r, tsanom_status status, failure *why) {
  const char *first = file_title(r->shared.argument[0]),
             *second = file_title(r->shared.argument[1]);
  if (status == TSANOM_E_VALUE) {
    return fail(why, "%s or %s: with --z-normalize, magnitudes up to 1e140 are expected",
                first, second);
  }
  return fail_status(why, second, status);
}

/* A stream has at most as many matches as samples, whatever number was asked for. */
static int search_stream(const request *r, result *found, failure *why) {
  columns query = {0}, stream = {0};
  int failed = series_read(r->shared.argument[0], r->column, &query, why) ||
               series_read(r->shared.argument[1], r->column, &stream, why);
  if (!failed && query.count > stream.count) {
    failed = fail(why, "%s: %zu samples, but %s has only %zu",
                  file_title(r->shared.argument[0]), query.count,
                  file_title(r->shared.argument[1]), stream.count);
  }
  size_t wanted = r->neighbors < stream.count ? r->neighbors : stream.count;
  failed = failed || result_make(found, 1, wanted, why);
  if (!failed) {
    tsanom_search_options search = r->search;
    search.neighbors = wanted;
    tsanom_status status = tsanom_search_stream(
        query.column[0], query.count, stream.column[0], stream.count, &search,
        &r->shared.exec, found->index, found->distance, found->report);
    if (status != TSANOM_OK) failed = reject_files(r, status, why);
    found->found = found->report->found;
    if (!failed && !found->found)
      failed = fail(why, "%s: distances overflow", file_title(r->shared.argument[0]));
  }
  if (!failed && r->shared.plot) {
    search_picture picture = picture_of(r, found);
    failed = search_draw_stream(&picture, query.column[0], query.count, stream.column[0],
                                stream.count, file_title(r->shared.argument[1]), why);
  }
  columns_free(&query);
  columns_free(&stream);
  return failed ? -1 : 0;
}

static tsanom_series view_of(const series_set *set) {
  tsanom_series view = {.struct_size = sizeof view};
  view.count = set->count;
  view.length = set->length;
  view.data = set->sample;
  return view;
}

/* Unlike a stream, a set of series must have as many as were asked for: a smaller number
 * is a mistake in the files. */
static int search_set(const request *r, const series_set *queries,
                      const series_set *series, result *found, failure *why) {
  tsanom_search_index *index = NULL;
  if (r->neighbors > series->count) {
    fail(why, "%s: %zu series, fewer than the %zu neighbors asked for",
         file_title(r->shared.argument[r->classify ? 0 : 1]), series->count,
         r->neighbors);
    return -1;
  }
  if (result_make(found, queries->count, r->neighbors, why)) return -1;
  tsanom_series series_view = view_of(series), query_view = view_of(queries);
  tsanom_status status =
      tsanom_search_index_create(&series_view, &r->search, &r->shared.exec, &index);
  if (status == TSANOM_OK) {
    status = tsanom_search_nearest(index, &query_view, r->neighbors, &r->shared.exec,
                                   found->index, found->distance, found->report);
  }
  tsanom_search_index_destroy(index);
  if (status != TSANOM_OK) return reject_files(r, status, why);
  for (size_t q = 0; q < queries->count; q++) {
    if (found->report[q].found == r->neighbors) continue;
    return fail(why, "%s, query %zu: distances overflow",
                file_title(r->shared.argument[0]), q);
  }
  return 0;
}

static int search_series(const request *r, result *found, failure *why) {
  series_set queries = {0}, series = {0};
  int failed = series_set_read(r->shared.argument[1], 0, &series, why);
  if (!failed && series.length == 1) {
    failed = fail(why,
                  "%s: one sample a row: a series is a row of them; --stream reads "
                  "one number a line",
                  file_title(r->shared.argument[1]));
  }
  queries.length = series.length;
  failed = failed || series_set_read(r->shared.argument[0], 0, &queries, why) ||
           search_set(r, &queries, &series, found, why);
  if (!failed && r->shared.plot) {
    search_picture picture = picture_of(r, found);
    failed =
        search_draw_nearest(&picture, queries.sample, series.sample, series.length, why);
  }
  series_set_free(&queries);
  series_set_free(&series);
  return failed ? -1 : 0;
}

static int print_classes(const request *r, const series_set *train,
                         const series_set *test, const result *found) {
  size_t errors = 0;
  for (size_t q = 0; q < test->count; q++) {
    errors += strcmp(test->label[q], train->label[found->index[q]]) != 0;
  }
  double rate = (double)errors / (double)test->count;
  if (r->shared.json) {
    json_t *predicted = json_array();
    for (size_t q = 0; q < test->count; q++) {
      json_array_append_new(predicted, json_string(train->label[found->index[q]]));
    }
    return print_json(json_pack("{so sI sI so so}", "error_rate", json_finite(rate),
                                "errors", (json_int_t)errors, "tested",
                                (json_int_t)test->count, "predicted", predicted,
                                "queries", result_json(found)));
  }
  printf("error rate %.4f: %zu of %zu\n", rate, errors, test->count);
  print_removed(r, found);
  return EXIT_DONE;
}

static int classify(const request *r) {
  series_set train = {0}, test = {0};
  result found = {0};
  failure why;
  int failed = series_set_read(r->shared.argument[0], 1, &train, &why);
  test.length = train.length;
  failed = failed || series_set_read(r->shared.argument[1], 1, &test, &why) ||
           search_set(r, &test, &train, &found, &why);
  int status = failed ? report_failure(&why) : print_classes(r, &train, &test, &found);
  series_set_free(&train);
  series_set_free(&test);
  result_free(&found);
  return status;
}

static int search(const request *r) {
  result found = {0};
  failure why;
  int failed =
      r->stream ? search_stream(r, &found, &why) : search_series(r, &found, &why);
  int status = failed ? report_failure(&why) : print(r, &found);
  result_free(&found);
  return status;
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "QUERIES SERIES\n--stream QUERY STREAM\n--classify TRAIN TEST",
    .help =
        "Nearest neighbors under dynamic time warping.\v"
        "QUERIES and SERIES have one series per row, all of one length; in TRAIN and "
        "TEST a label comes first, as in the UCR archive. QUERY and STREAM are "
        "series: one number per line, or with --column a column of a CSV file that "
        "has a header. \"-\" is standard input. Series and samples are counted from "
        "0.",
    .expected =
        "two files (queries and series, a query and a stream, or a file to learn from "
        "and one to test) are",
    .least = 2,
    .most = 2,
    .check = check_end,
};

int command_search(int argc, char **argv) {
  request r = {0};
  tsanom_search_options_init(&r.search, sizeof r.search);
  r.neighbors = 1;
  parse_command(&command_line, argc, argv, &r);
  return r.classify ? classify(&r) : search(&r);
}
