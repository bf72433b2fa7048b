/* SPDX-License-Identifier: BSD-3-Clause */
/* What all sources of region times have in common: the metrics, and the standard errors of the
 * times, by their samples and by the processors of threads. */
#include "runs/spmd.h"

#include <math.h>
#include <string.h>

#include "core/size.h"
#include "runs/vital.h"

tsn_spmd tsn_spmd_empty(const tsanom_exec *memory) {
  return (tsn_spmd){.pool = {.exec = memory},
                    .data = {.struct_size = sizeof(tsanom_spmd_data)}};
}

void tsn_spmd_complete(tsn_spmd *spmd) {
  spmd->data.parent = spmd->parent;
  spmd->data.time = spmd->time;
  spmd->data.metric = spmd->value;
  spmd->data.error = spmd->error;
}

tsanom_status tsn_reject_regions(const char *directory, const tsanom_exec *exec) {
  return tsn_path_fault(exec, TSANOM_E_FORMAT, directory,
                        "the processes have more than %d regions together",
                        TSN_REGIONS_MOST);
}

/* ---- metrics */

uint32_t tsn_metrics_of(const tsn_channel *channel) {
  uint32_t metrics = 0;
  for (size_t i = 0; i < channel->stream_count; i++) {
    metrics |= tsn_channel_stream(channel, i)->metrics;
  }
  return metrics & ((1u << TSN_REGIONS_METRICS) - 1);
}

/* The number of a metric's column; 0: the run lacks it. */
static size_t column_of(uint32_t metrics, int32_t metric) {
  if (!(metrics >> metric & 1)) return 0;
  return 1 + (size_t)__builtin_popcount(metrics & ((1u << metric) - 1));
}

static const char *name_of(int32_t metric, tsn_pool *pool) {
  const char *name = TSN_REGIONS_METRIC_NAMES;
  for (; metric > 0; metric--) name += strcspn(name, ",") + 1;
  return tsn_pool_print(pool, "%.*s", (int)strcspn(name, ","), name);
}

bool tsn_metrics_take(tsn_spmd *spmd, uint32_t metrics, size_t cells) {
  size_t count = 1 + (size_t)__builtin_popcount(metrics);
  spmd->metric = (const char **)tsn_pool_take(&spmd->pool, count, sizeof *spmd->metric);
  spmd->value =
      tsn_pool_take(&spmd->pool, tsn_product(count, cells), sizeof *spmd->value);
  if (!spmd->metric || !spmd->value) return false;
  spmd->metric[0] = "calls";
  for (int32_t m = 0; m < TSN_REGIONS_METRICS; m++) {
    size_t column = column_of(metrics, m);
    if (column && !(spmd->metric[column] = name_of(m, &spmd->pool))) return false;
  }
  spmd->data.metrics = count;
  return true;
}

void tsn_metrics_set(const tsn_spmd *spmd, uint32_t metrics, size_t cell, double calls,
                     const double count[TSN_REGIONS_METRICS]) {
  spmd->value[cell] = calls;
  for (int32_t m = 0; m < TSN_REGIONS_METRICS; m++) {
    size_t column = column_of(metrics, m);
    if (column)
      spmd->value[column * spmd->data.processes * spmd->data.regions + cell] = count[m];
  }
}

static void complete_row(const double *calls, double *value, size_t regions) {
  for (size_t k = 0; k < regions; k++) {
    if (calls[k] > 0 && !isnan(value[k])) return;
  }
  for (size_t k = 0; k < regions; k++) value[k] = NAN;
}

void tsn_metrics_complete(const tsn_spmd *spmd) {
  size_t regions = spmd->data.regions, processes = spmd->data.processes;
  for (size_t m = 1; m < spmd->data.metrics; m++) {
    for (size_t i = 0; i < processes; i++) {
      complete_row(spmd->value + i * regions, spmd->value + (m * processes + i) * regions,
                   regions);
    }
  }
}

/* ---- standard errors
 *
 * Standard errors of the region times of threads, from the samples that each time is the
 * sum of: the visits of the region, or the parts of these.
 *
 * On a busy machine neighboring samples are alike, because a thread keeps its processor
 * and that processor's load for a while. So the samples are put into 10 batches, in
 * order:
 *
 *     samples   | 1 2 3 4 | 5 6 7 8 | ...           thread i
 *     batches   |  b_i1   |  b_i2   | ...           T_i = sum_q b_iq
 *
 * Iterations that are longer in all threads are no noise of the differences of threads.
 * With B_q, the mean over the n threads of b_iq, the residuals are e_iq = b_iq - T_i B_q
 * / sum B, and
 *
 *     error_i^2 = n / (n - 1) * 10 / 9 * sum_q e_iq^2 * (1 + r) / (1 - r)
 *
 * Here r is the correlation of neighboring batches: sum e_iq e_i,q+1 / sum e_iq^2 over
 * all threads, and 1/10, because residuals of independent batches have -1/10. It counts
 * if it is positive (batch means: Law and Kelton, Simulation Modeling and Analysis,
 * section 9.5). */

enum { BATCHES = TSN_SPMD_BATCHES };

/* Beyond, 10 batches cannot show how far a correlation reaches. */
static const double correlation_most = 0.8;

bool tsn_spmd_take_samples(tsn_spmd_samples *samples, tsn_pool *pool, size_t cells) {
  samples->count = tsn_pool_take(pool, cells, sizeof *samples->count);
  samples->seen = tsn_pool_take(pool, cells, sizeof *samples->seen);
  samples->batch = tsn_pool_take(pool, cells, BATCHES * sizeof *samples->batch);
  return samples->count && samples->seen && samples->batch;
}

static double sum(const double *batch) {
  double total = 0;
  for (size_t q = 0; q < BATCHES; q++) total += batch[q];
  return total;
}

/* The residuals of one row, in place of its batches. */
static void take_residuals(double *batch, const double *all, double part) {
  for (size_t q = 0; q < BATCHES; q++) batch[q] -= part * all[q];
}

/* sum_q e_q e_q+lag. */
static double product(const double *residual, size_t lag) {
  double total = 0;
  for (size_t q = 0; q + lag < BATCHES; q++) total += residual[q] * residual[q + lag];
  return total;
}

static double factor_of_correlation(double products, double squares) {
  double r = squares > 0 ? products / squares + 1.0 / BATCHES : 0;
  r = fmin(fmax(r, 0), correlation_most);
  return (1 + r) / (1 - r);
}

/* One column: cells k, k + regions, ... */
static void errors_of_region(const tsn_spmd_samples *s, size_t rows, size_t regions,
                             size_t k, double *error) {
  double all[BATCHES] = {0}, products = 0, squares = 0;
  size_t known = 0;
  for (size_t i = 0; i < rows; i++) {
    size_t cell = i * regions + k;
    if (s->count[cell] < BATCHES) continue;
    known++;
    for (size_t q = 0; q < BATCHES; q++) all[q] += s->batch[cell * BATCHES + q];
  }
  double total = sum(all), others = known > 1 ? (double)(known - 1) : 1;
  for (size_t i = 0; i < rows; i++) {
    size_t cell = i * regions + k;
    double *batch = s->batch + cell * BATCHES;
    error[cell] = NAN;
    if (s->count[cell] < BATCHES || known < 2) continue;
    take_residuals(batch, all, total > 0 ? sum(batch) / total : 0);
    error[cell] =
        sqrt((others + 1) / others * product(batch, 0) * BATCHES / (BATCHES - 1));
    squares += product(batch, 0);
    products += product(batch, 1);
  }
  double factor = sqrt(factor_of_correlation(products, squares));
  for (size_t i = 0; i < rows; i++) error[i * regions + k] *= factor;
}

void tsn_spmd_errors(const tsn_spmd_samples *samples, size_t rows, size_t regions,
                     double *error) {
  for (size_t k = 0; k < regions; k++) {
    errors_of_region(samples, rows, regions, k, error);
  }
}

/* ---- processors
 *
 * Which differences of threads the processors explain that they ran on.
 *
 * Two processors of one machine may differ by a fifth in the time of the same code for a
 * whole run, because of what runs beside it: on the same core, in the same cache, or in
 * other virtual machines. No scatter within the run shows that, but threads that share a
 * processor share its speed. The vital signs contain the processor of each thread at
 * each sample; its home is the one of most samples.
 *
 *                              region 2
 *   home 0:  T_1 T_3             |        x
 *   home 1:  T_2 T_4             |  o  m  x      o, x: rows of a home, m: mean of all
 *                                |  o
 *                                +----------- region 1
 *
 * The mean rows c_h of homes are compared with the mean m of all, in the outermost
 * regions whose standard errors are known. If each home has several threads, and
 *
 *     max_i |T_i - c_h(i)| <= max_h |c_h - m| / 4,    max_h |c_h - m| <= |m| / 8
 *
 * the threads of a home are so much closer to each other than the homes are that c_h - m
 * is an error of the times of its threads, beside those of the samples. Homes that
 * differ by more than a quarter are not explained: that is no processor's speed. */

/* The most that rows may be from the mean of their home, as a part of the distance of
 * homes from the mean of all; and the most that this may be, as a part of that mean. */
static const double within_most = 0.25, between_most = 0.125;

/* More than a kernel supports. */
enum { PROCESSORS = 1 << 14 };

typedef struct {
  size_t samples, votes, agreeing;
  uint32_t processor;
} candidate;

/* The only value that can have the majority has votes left, if a vote for another takes
 * one of its votes (Boyer and Moore 1981). */
static void vote(candidate *c, uint32_t processor) {
  c->samples++;
  if (c->votes == 0) c->processor = processor;
  if (c->processor == processor) {
    c->votes++;
  } else {
    c->votes--;
  }
}

static void find_homes(const tsn_vitals *vitals, uint32_t opener, size_t threads,
                       candidate *of) {
  const tsn_vital_record *record = vitals->record.data;
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < vitals->seen; i++) {
      /* That of the process is too large. */
      size_t t = (size_t)tsn_number_in_team(record[i].thread, opener);
      uint32_t processor = record[i].processor;
      if (t >= threads || processor == 0 || processor >= PROCESSORS) continue;
      if (pass == 0) {
        vote(&of[t], processor);
      } else {
        of[t].agreeing += processor == of[t].processor;
      }
    }
  }
}

/* A thread that has ended was sampled without a state and a name. */
static void find_names(const tsn_vitals *vitals, const tsn_run_header *run,
                       size_t threads, tsn_thread_name *name) {
  const tsn_vital_record *record = vitals->record.data;
  for (size_t i = vitals->seen; i-- > 0;) {
    size_t t = (size_t)tsn_number_in_team(record[i].thread, run->opener);
    if (t >= threads || record[i].state == TSN_UNAVAILABLE_STATE || name[t].is_known) {
      continue;
    }
    tsn_vitals_name(&record[i], run->program, name[t].text);
    name[t].is_known = true;
  }
}

bool tsn_homes_read(const char *directory, const tsn_run_header *run, size_t threads,
                    tsn_pool *pool, uint32_t *home, tsn_thread_name *name) {
  tsanom_exec quiet = *pool->exec;
  quiet.fault = NULL; /* without vital signs homes are not known */
  tsanom_fault damage = {.status = TSANOM_OK};
  tsn_vitals vitals = {.memory = pool->exec, .damage = &damage};
  candidate *of = tsn_pool_take(pool, threads, sizeof *of);
  if (!of) return false;
  (void)tsn_vitals_read(&vitals, directory, &quiet);
  find_homes(&vitals, run->opener, threads, of);
  find_names(&vitals, run, threads, name);
  for (size_t t = 0; t < threads; t++) {
    if (2 * of[t].agreeing > of[t].samples) home[t] = of[t].processor;
  }
  tsn_vitals_free(&vitals);
  return true;
}

/* Rows by regions, but for `mean`, and by home. */
typedef struct {
  const tsn_spmd *spmd;
  const uint32_t *home; /* by row */
  size_t *row;          /* the row that has the center of a home, and 1 */
  size_t *count;        /* of rows, by that row */
  double *center, *mean;
} homes;

static const double *center_of(const homes *h, size_t i) {
  return h->center + (h->row[h->home[i]] - 1) * h->spmd->data.regions;
}

/* False: a row has no home, or is alone in it. */
static bool add_up(const homes *h) {
  size_t rows = h->spmd->data.processes, regions = h->spmd->data.regions;
  for (size_t i = 0; i < rows; i++) {
    size_t *at = &h->row[h->home[i]];
    if (h->home[i] == 0) return false;
    if (*at == 0) *at = i + 1;
    h->count[*at - 1]++;
    for (size_t k = 0; k < regions; k++) {
      double time = h->spmd->time[i * regions + k];
      h->center[(*at - 1) * regions + k] += time;
      h->mean[k] += time / (double)rows;
    }
  }
  for (size_t i = 0; i < rows; i++) {
    if (h->count[i] == 1) return false;
    for (size_t k = 0; k < regions && h->count[i]; k++) {
      h->center[i * regions + k] /= (double)h->count[i];
    }
  }
  return true;
}

/* The squared distance of two rows in the regions that count; b NULL: of one from 0. */
static double square(const tsn_spmd *s, const double *a, const double *b) {
  double sum = 0;
  for (size_t k = 0; k < s->data.regions; k++) {
    double difference = a[k] - (b ? b[k] : 0);
    if (s->parent[k] == TSANOM_SPMD_NONE && !isnan(s->error[k])) {
      sum += difference * difference;
    }
  }
  return sum;
}

static bool explain(const homes *h) {
  const tsn_spmd *s = h->spmd;
  double within = 0, between = 0;
  for (size_t i = 0; i < s->data.processes; i++) {
    const double *center = center_of(h, i);
    within = fmax(within, square(s, s->time + i * s->data.regions, center));
    between = fmax(between, square(s, center, h->mean));
  }
  return sqrt(within) <= within_most * sqrt(between) &&
         sqrt(between) <= between_most * sqrt(square(s, h->mean, NULL));
}

bool tsn_spmd_add_processor_errors(const uint32_t *home, tsn_spmd *spmd, tsn_pool *pool) {
  size_t rows = spmd->data.processes, regions = spmd->data.regions;
  homes h = {.spmd = spmd,
             .home = home,
             .row = tsn_pool_take(pool, PROCESSORS, sizeof *h.row),
             .count = tsn_pool_take(pool, rows, sizeof *h.count),
             .center = tsn_pool_take(pool, rows * regions, sizeof *h.center),
             .mean = tsn_pool_take(pool, regions, sizeof *h.mean)};
  if (!h.row || !h.count || !h.center || !h.mean) return false;
  if (!add_up(&h) || !explain(&h)) return true;
  for (size_t i = 0; i < rows; i++) {
    const double *center = center_of(&h, i);
    for (size_t k = 0; k < regions; k++) {
      double *error = &spmd->error[i * regions + k];
      *error = hypot(*error, center[k] - h.mean[k]);
    }
  }
  return true;
}
