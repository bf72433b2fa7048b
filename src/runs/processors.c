/* SPDX-License-Identifier: BSD-3-Clause */
/* Which differences of threads the processors explain that they ran on.
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
 * is an error of the times of its threads, beside those of region_error.c. Homes that
 * differ by more than a quarter are not explained: that is no processor's speed. */
#include <math.h>
#include <string.h>

#include "runs/spmd.h"
#include "runs/vital.h"

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

static void find_homes(const tsn_vitals *vitals, size_t threads, candidate *of) {
  const tsn_vital_record *record = vitals->record.data;
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < vitals->seen; i++) {
      size_t t = (size_t)record[i].thread; /* that of the process is too large */
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

bool tsn_homes_read(const char *directory, size_t threads, tsn_pool *pool,
                    uint32_t *home) {
  tsanom_exec quiet = *pool->exec;
  quiet.fault = NULL; /* without vital signs homes are not known */
  tsanom_fault damage = {.status = TSANOM_OK};
  tsn_vitals vitals = {.memory = pool->exec, .damage = &damage};
  candidate *of = tsn_pool_take(pool, threads, sizeof *of);
  if (!of) return false;
  (void)tsn_vitals_read(&vitals, directory, &quiet);
  find_homes(&vitals, threads, of);
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
