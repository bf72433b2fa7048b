/* SPDX-License-Identifier: BSD-3-Clause */
/* Load balance of each region and of the whole program, and the verdict:
 *
 *   load balance = mean_i t_i / max_i t_i          t_i: time of process i in hierarchy 1
 *   serialization = max_i t_i / sum_k max_i T_ik   k: regions of hierarchy 1
 *   scheduling = sum_k max_i T_ik / elapsed
 *
 *     T_ik          region 1   region 2    t_i      load balance    8 / 8 = 1
 *     process 0        6          2         8       serialization   8 / (6 + 6) = 0.67
 *     process 1        2          6         8       both have the same work in all, but
 *     max_i            6          6                 each waits for the other in turn
 *
 * Their product is the efficiency, mean_i t_i / elapsed. The factors are those of TALP, a
 * part of the library DLB, computed here from the times of regions (docs/spmd.md). */
#include <math.h>

#include "core/size.h"
#include "spmd/spmd_internal.h"

/* Regions whose times are read together: those of a process share a cache line. */
enum { TOGETHER = 8 };

/* Times of regions first ... first + count - 1 over the processes, of equal ones the
 * first process. */
static void of_regions(const tsn_spmd_input *input, const tsn_spmd_buffers *b,
                       size_t first, size_t count, tsanom_spmd_region *region) {
  const tsanom_spmd_data *d = &input->data;
  double processes = (double)d->processes;
  for (size_t k = 0; k < count; k++) {
    region[k] =
        (tsanom_spmd_region){.min = INFINITY, .max = -1, .level = b->level[first + k]};
  }
  for (size_t i = 0; i < d->processes; i++) {
    for (size_t k = 0; k < count; k++) {
      tsanom_spmd_region *r = &region[k];
      double time = d->time[i * d->time_ld + first + k];
      if (time < r->min) {
        r->min = time;
        r->min_process = i;
      }
      if (time > r->max) {
        r->max = time;
        r->max_process = i;
      }
      r->mean += time / processes; /* a sum of finite times may overflow */
    }
  }
  for (size_t k = 0; k < count; k++) {
    tsanom_spmd_region *r = &region[k];
    r->imbalance = r->mean > 0 ? fmax(r->max / r->mean - 1, 0) : 0;
    r->ccr = (b->role[first + k] & TSN_SPMD_CCR) != 0;
    r->cccr = (b->role[first + k] & TSN_SPMD_CCCR) != 0;
  }
}

/* A quotient of times that both may be 0: a program without times is balanced. */
static double part(double of, double whole) {
  return whole > 0 ? of / whole : 1;
}

/* The time of a process in the regions of hierarchy 1, in which all others are. */
static double total_of(const tsn_spmd_input *input, const tsn_spmd_buffers *b, size_t i) {
  const tsanom_spmd_data *d = &input->data;
  double sum = 0;
  for (size_t k = 0; k < d->regions; k++) {
    if (b->level[k] == 1) sum += d->time[i * d->time_ld + k];
  }
  return sum;
}

/* The factors of the whole program. Load balance and serialization are at most 1 by
 * definition; fmin() removes what rounding adds. Scheduling exceeds 1 if the elapsed time
 * does not cover the regions. */
static void totals(const tsn_spmd_input *input, const tsn_spmd_buffers *b,
                   tsanom_spmd_report *report) {
  const tsanom_spmd_data *d = &input->data;
  for (size_t i = 0; i < d->processes; i++) {
    double total = total_of(input, b, i);
    report->mean_total += total / (double)d->processes;
    report->max_total = fmax(report->max_total, total);
  }
  report->load_balance = fmin(part(report->mean_total, report->max_total), 1);
  report->serialization = fmin(part(report->max_total, report->region_total), 1);
  double balanced = fmin(part(report->mean_total, report->region_total), 1);
  report->verdict_saving = 1 - balanced;
  report->has_elapsed = d->elapsed > 0;
  report->scheduling = report->has_elapsed ? report->region_total / d->elapsed : 0;
  report->efficiency = report->has_elapsed ? report->mean_total / d->elapsed : balanced;
}

/* The class with the largest mean time; of equals the first. */
static int32_t slowest_class(const tsn_spmd_input *input, const tsn_spmd_buffers *b,
                             size_t classes) {
  const tsanom_spmd_data *d = &input->data;
  int32_t slowest = 0;
  double most = -1;
  double *sum = b->key;
  uint32_t *count = b->points.queued;
  for (size_t c = 0; c < classes; c++) {
    sum[c] = 0;
    count[c] = 0;
  }
  for (size_t i = 0; i < d->processes; i++) {
    count[b->base[i]]++;
  }
  for (size_t i = 0; i < d->processes; i++) {
    sum[b->base[i]] += total_of(input, b, i) / count[b->base[i]];
  }
  for (size_t c = 0; c < classes; c++) {
    if (sum[c] > most) {
      most = sum[c];
      slowest = (int32_t)c;
    }
  }
  return slowest;
}

/* Twice the standard error of max_i T_ik - mean_i T_ik; what is not known counts as 0. */
static double excess_error(const tsanom_spmd_data *d, const tsanom_spmd_region *r,
                           size_t k) {
  double n = (double)d->processes, squares = 0;
  for (size_t i = 0; d->error && i < d->processes; i++) {
    double error = d->error[i * d->time_ld + k];
    double part = i == r->max_process ? 1 - 1 / n : 1 / n;
    if (!isnan(error)) squares += part * part * error * error;
  }
  return 2 * sqrt(squares);
}

/* The verdict names the class that takes longest in all, and of the cores in which one of it
 * is slowest that with the most time to save: max_i T_ik - mean_i T_ik, the time that its
 * slowest process would not need if all shared the work equally, less twice its standard
 * error, as of many small regions some saves much in a run that was disturbed. A core in
 * which others are slowest is not why this class takes longest. */
void tsn_spmd_balance(const tsn_spmd_input *input, const tsn_spmd_buffers *b,
                      tsanom_spmd_report *report) {
  double worst = -INFINITY;
  report->verdict_region = report->verdict_class = TSANOM_SPMD_NONE;
  report->verdict_metric = TSANOM_SPMD_NONE;
  if (report->classes > 1) {
    report->verdict_class = slowest_class(input, b, report->classes);
  }
  tsanom_spmd_region region[TOGETHER];
  for (size_t k = 0; k < input->data.regions; k++) {
    if (k % TOGETHER == 0) {
      of_regions(input, b, k, tsn_smaller(input->data.regions - k, TOGETHER), region);
    }
    tsanom_spmd_region r = region[k % TOGETHER];
    if (r.level == 1) report->region_total += r.max;
    bool explains = r.cccr && (int32_t)b->base[r.max_process] == report->verdict_class;
    double saved = r.max - r.mean - excess_error(&input->data, &r, k);
    if (explains && saved > worst) {
      worst = saved;
      report->verdict_region = (int32_t)k;
    }
    if (report->region) report->region[k] = r;
  }
  totals(input, b, report);
}
