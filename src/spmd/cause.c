/* SPDX-License-Identifier: BSD-3-Clause */
/* Root causes: the decision table of section 4.2 and its reducts. Rows are processes, the
 * decision is the class of a process, and attribute m is the class of metric m in the
 * critical regions. A reduct names metrics that discern the classes:
 *
 *     process    cache misses    instructions    network    class by times
 *        0            0               0             0             0
 *        1            0               1             0             1         instructions
 *        2            1               1             0             1         discern them
 *
 * Each metric is classified as the times are, as points of its values in the CCCRs, with
 * its own eps'. Of the reducts the paper's step 3 chooses
 * (tsanom_roughset_paper_choice()); if there are too many metrics or elements for that,
 * one greedy reduct is reported. */
#include <math.h>
#include <string.h>

#include "core/size.h"
#include "spmd/noise.h"

enum {
  ELEMENTS_MOST = 4096, /* discernibility elements held at once */
  EXACT_METRICS = 24    /* beyond, all reducts may be too many to enumerate */
};

/* Options of the elements, which the paper's choice needs without absorption, and of the
 * greedy reduct. */
static tsanom_roughset_options rough_options(int32_t absorb) {
  tsanom_roughset_options o;
  tsanom_roughset_options_init(&o, sizeof o);
  o.absorb = absorb;
  o.element_limit = ELEMENTS_MOST;
  return o;
}

/* The largest workspace of the calls below. */
tsanom_status tsn_spmd_table_bytes(const tsn_spmd_input *input, size_t *bytes) {
  size_t columns = input->data.metrics, need[5] = {0};
  const tsanom_roughset_options all = rough_options(0), minimal = rough_options(1);
  const tsanom_roughset_table table = {
      .struct_size = sizeof table, .rows = input->data.processes, .attributes = columns};
  tsanom_exec ask[5];
  *bytes = 0;
  if (columns == 0) return TSANOM_OK;
  for (int i = 0; i < 5; i++) ask[i] = tsn_exec_asking(&input->inner, &need[i]);
  const tsanom_status status[5] = {
      tsanom_roughset_elements(&table, &all, &ask[0], NULL, 0, NULL),
      tsanom_roughset_core(&table, NULL, &ask[1], NULL),
      tsanom_roughset_greedy(&table, &minimal, &ask[2], NULL, NULL),
      tsanom_roughset_dependency(&table, NULL, NULL, &ask[3], NULL, NULL, NULL),
      tsanom_roughset_paper_choice(NULL, ELEMENTS_MOST, columns, &ask[4], NULL, NULL)};
  for (int i = 0; i < 5; i++) {
    if (tsn_asked(status[i]) < 0) return status[i];
    *bytes = tsn_larger(*bytes, need[i]);
  }
  return TSANOM_OK;
}

void tsn_spmd_table_layout(tsn_arena *arena, const tsn_spmd_input *input,
                           tsn_spmd_table *t) {
  size_t rows = input->data.processes, columns = input->data.metrics;
  t->words = (columns + 63) / 64;
  t->limit = columns ? ELEMENTS_MOST : 0;
  t->code = tsn_arena_take(arena, rows, columns * sizeof *t->code);
  t->elements = tsn_arena_take(arena, t->limit, t->words * sizeof *t->elements);
  t->core = tsn_arena_take(arena, t->words, sizeof *t->core);
  t->reduct = tsn_arena_take(arena, t->words, sizeof *t->reduct);
}

/* The norms of the points; whether none is a NaN. */
static bool complete_norms(const tsn_spmd_points *points, double *norm, double *largest) {
  bool complete = true;
  tsn_spmd_norms(points, norm);
  *largest = 0;
  for (size_t i = 0; i < points->count; i++) {
    *largest = fmax(*largest, norm[i]);
    complete &= !isnan(norm[i]);
  }
  return complete;
}

/* Noise of a metric is estimated over all of hierarchy 1, because the critical regions
 * are too few. 0, that is, unknown, if some value is missing. */
static double metric_noise(const tsn_spmd_input *input, tsn_spmd_buffers *b,
                           const double *matrix) {
  const tsanom_spmd_data *d = &input->data;
  uint32_t *outermost = b->list + d->regions;
  size_t count = 0;
  double largest;
  for (uint32_t k = 0; k < d->regions; k++) {
    if (b->level[k] == 1) outermost[count++] = k;
  }
  int exponent = tsn_spmd_exponent(matrix, d->processes, d->metric_ld, outermost, count);
  tsn_spmd_gather(&b->points, matrix, d->metric_ld, outermost, count, exponent);
  if (!complete_norms(&b->points, b->key, &largest)) return 0;
  return tsn_spmd_noise_level(&b->points, count, b->key);
}

/* eps' of a metric that was measured in all processes: at least *eps, the tolerance. The
 * chance of error is 5 %, larger than that of the times, because the noise is estimated
 * in other regions than those that are cut. */
static tsanom_status choose_cut(const tsn_spmd_input *input, tsn_spmd_buffers *b,
                                size_t columns, double noise, double *eps) {
  if (input->options.cut == TSANOM_SPMD_CUT_NOISE) {
    tsn_spmd_noise_deviations(&b->points, columns, noise, b->key);
    *eps = fmax(*eps, tsn_spmd_noise_reach(&b->points, columns, 0.05));
  }
  if (input->options.cut != TSANOM_SPMD_CUT_AUTOMATIC) return TSANOM_OK;
  if (tsn_spmd_has_no_gap(input, b, *eps)) {
    *eps = INFINITY;
    return TSANOM_OK;
  }
  tsanom_status status = tsn_spmd_order(input, &b->points, columns, &b->optics);
  if (status != TSANOM_OK) return status;
  return tsn_spmd_cut(input, &b->optics, *eps, eps);
}

/* Code one metric: its values in the listed regions, classified. Processes where it was
 * not measured are points without neighbors; their classes are left out of the
 * numbering. */
static tsanom_status code_metric(const tsn_spmd_input *input, tsn_spmd_buffers *b,
                                 size_t m, size_t columns) {
  const tsanom_spmd_data *d = &input->data;
  tsn_spmd_points *points = &b->points;
  const double *matrix = d->metric + m * d->processes * d->metric_ld;
  bool by_noise = input->options.cut == TSANOM_SPMD_CUT_NOISE;
  double noise = by_noise ? metric_noise(input, b, matrix) : 0, largest;
  int exponent = tsn_spmd_exponent(matrix, d->processes, d->metric_ld, b->list, columns);
  tsn_spmd_gather(points, matrix, d->metric_ld, b->list, columns, exponent);
  bool complete = complete_norms(points, b->key, &largest);
  double eps = input->options.metric_tolerance * largest;
  if (complete) {
    tsanom_status status = choose_cut(input, b, columns, noise, &eps);
    if (status != TSANOM_OK) return status;
    (void)complete_norms(points, b->key, &largest);
  }
  points->limit = eps * eps;
  if (tsn_spmd_classify(points, b->trial) == 0) return TSANOM_STOPPED;
  int32_t last = -1, codes = 0;
  uint32_t *number = points->open;
  for (size_t i = 0; i < d->processes; i++) {
    int32_t *code = &b->table.code[i * d->metrics + m];
    bool is_new = b->trial[i] > last;
    if (is_new) last = b->trial[i];
    if (isnan(b->key[i])) {
      *code = TSANOM_ROUGHSET_MISSING;
      continue;
    }
    if (is_new) number[b->trial[i]] = (uint32_t)codes++;
    *code = (int32_t)number[b->trial[i]];
  }
  return TSANOM_OK;
}

/* List the regions whose metrics are classified: the CCCRs, as the paper says, or without
 * any all of hierarchy 1. */
static size_t list_regions(const tsn_spmd_input *input, tsn_spmd_buffers *b,
                           const tsanom_spmd_report *report) {
  size_t count = 0;
  for (uint32_t k = 0; k < input->data.regions; k++) {
    bool take = report->cccrs ? (b->role[k] & TSN_SPMD_CCCR) != 0 : b->level[k] == 1;
    if (take) b->list[count++] = k;
  }
  return count;
}

/* Where the visitor of reducts writes. */
typedef struct {
  tsanom_spmd_report *report;
  size_t words;
} collector;

/* Count a reduct and store it while there is capacity; the verdict is the first metric of
 * the first one. The empty reduct, of a single class, names no cause. */
static int32_t collect(void *user, const uint64_t *reduct, size_t size) {
  const collector *c = user;
  tsanom_spmd_report *r = c->report;
  if (size == 0) return 0;
  for (size_t w = 0; r->reducts == 0 && w < c->words; w++) {
    if (!reduct[w]) continue;
    r->verdict_metric = (int32_t)(64 * w) + __builtin_ctzll(reduct[w]);
    break;
  }
  if (r->reducts < r->reduct_capacity) {
    memcpy(r->reduct + r->reducts * c->words, reduct, c->words * sizeof *reduct);
  }
  r->reducts++;
  return 0;
}

/* The paper's choice among the reducts, or a greedy one if there are too many. The choice
 * searches for hitting sets, which is exponential in the metrics at worst; the limit of
 * elements bounds the workspace. */
static tsanom_status find_reducts(const tsn_spmd_input *input, tsn_spmd_table *t,
                                  const tsanom_roughset_table *table,
                                  tsanom_spmd_report *report) {
  const tsanom_exec *exec = &input->inner;
  const tsanom_roughset_options all = rough_options(0), minimal = rough_options(1);
  collector c = {report, t->words};
  const tsanom_roughset_visitor visitor = {.visit = collect, .user = &c};
  if (table->attributes <= EXACT_METRICS) {
    size_t count = 0;
    tsanom_status status =
        tsanom_roughset_elements(table, &all, exec, t->elements, t->limit, &count);
    if (status == TSANOM_STOPPED) return status;
    if (status == TSANOM_OK) {
      return tsanom_roughset_paper_choice(t->elements, count, table->attributes, exec,
                                          &visitor, NULL);
    }
  }
  size_t size = 0;
  tsanom_status status = tsanom_roughset_greedy(table, &minimal, exec, t->reduct, &size);
  if (status == TSANOM_OK) collect(&c, t->reduct, size);
  return status;
}

/* Code all metrics, then ask for dependency, core and reducts of the table. If a part is
 * stopped or fails, none of the root causes is reported. One class needs no metrics to be
 * discerned: they are coded only if the caller wants the codes. */
tsanom_status tsn_spmd_cause(const tsn_spmd_input *input, tsn_spmd_buffers *b,
                             tsanom_spmd_report *report) {
  size_t metrics = input->data.metrics;
  tsn_spmd_table *t = &b->table;
  if (metrics == 0) return TSANOM_OK;
  size_t columns = list_regions(input, b, report);
  size_t needed = report->classes > 1 || report->code ? metrics : 0;
  memset(t->code, 0, input->data.processes * metrics * sizeof *t->code);
  for (size_t m = 0; m < needed; m++) {
    tsanom_status coded = code_metric(input, b, m, columns);
    if (coded != TSANOM_OK) return coded;
  }
  tsanom_roughset_table table = {.struct_size = sizeof table};
  table.rows = input->data.processes;
  table.attributes = metrics;
  table.values = t->code;
  table.decision = b->base;
  tsanom_status status = tsanom_roughset_dependency(&table, NULL, NULL, &input->inner,
                                                    NULL, NULL, &report->dependency);
  if (status == TSANOM_OK) {
    status = tsanom_roughset_core(&table, NULL, &input->inner, t->core);
  }
  if (status == TSANOM_OK) status = find_reducts(input, t, &table, report);
  if (status != TSANOM_OK) {
    report->reducts = 0;
    report->verdict_metric = TSANOM_SPMD_NONE;
    return status;
  }
  if (report->code) {
    memcpy(report->code, t->code, table.rows * metrics * sizeof *t->code);
  }
  if (report->core) memcpy(report->core, t->core, t->words * sizeof *t->core);
  return TSANOM_OK;
}
