/* SPDX-License-Identifier: BSD-3-Clause */
/* The analysis as a whole: the arguments, the critical regions (search.c; classes by
 * classify.c, eps' by cut.c and noise.c), balance and verdict, root causes.
 *
 * A search that the poll stops leaves a report that is valid as far as it goes: balance
 * is computed in any case, root causes only for a complete search.
 *
 * Source: "A Novel Similarity Analysis and Rough Set Method", sections 3 and 4. Balance
 * is not in the paper (docs/spmd.md). */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/size.h"
#include "core/versioned.h"
#include "spmd/noise.h"
#include "spmd/spmd_kernel.h"

/* Arguments of the analysis: defaults and checks. Structs are copied to versions of this
 * library with all fields, so that callers built against an older header are served
 * (core/versioned.h).
 *
 * The tolerance of 5 % is a choice and not an estimate: what difference matters cannot be
 * seen in the data, since equal steps from process to process may be noise or a
 * triangular loop (docs/measurements.md has the rates of right answers). */

static const tsanom_spmd_data data_defaults = {.struct_size = sizeof data_defaults};
static const tsn_versioned data_type = {sizeof(tsanom_spmd_data),
                                        sizeof(tsanom_spmd_data), &data_defaults};

static const tsanom_spmd_options options_defaults = {
    .struct_size = sizeof options_defaults,
    .tolerance = 0.05,
    .metric_tolerance = 0.05,
    .tree = TSANOM_SPMD_FOREST,
    .norm = TSANOM_SPMD_LARGEST_NORM,
    .combination_size = SIZE_MAX,
    .combination_limit = (size_t)1 << 16};
static const tsn_versioned options_type = {
    sizeof(tsanom_spmd_options), sizeof(tsanom_spmd_options), &options_defaults};

static const tsanom_spmd_report report_defaults = {.struct_size = sizeof report_defaults};
static const tsn_versioned report_type = {sizeof(tsanom_spmd_report),
                                          sizeof(tsanom_spmd_report), &report_defaults};

tsanom_status tsanom_spmd_options_init(tsanom_spmd_options *options, size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* Written so that a NaN fails. */
static tsanom_status require_tolerance(const tsanom_exec *exec, const char *name,
                                       double value) {
  if (isgreater(value, 0) && islessequal(value, 1)) return TSANOM_OK;
  return tsn_reject_value(exec, TSANOM_E_OPTION, name, TSANOM_NONE, TSANOM_NONE, value,
                          "more than 0 and at most 1 is expected");
}

static tsanom_status read_options(tsn_spmd_input *input,
                                  const tsanom_spmd_options *options,
                                  const tsanom_exec *exec) {
  tsanom_spmd_options *own = &input->options;
  tsanom_status status = tsn_exec_read(&input->exec, exec);
  if (status < 0) return status;
  input->inner = input->exec;
  input->inner.threads = 1; /* its calls are short */
  input->inner.work = NULL;
  input->inner.work_bytes = 0;
  input->inner.fault = NULL;
  input->inner.work_needed = NULL;
  exec = &input->exec;
  status = tsn_struct_read(exec, &options_type, own, options, "options");
  if (status < 0) return status;
  status = require_tolerance(exec, "options.tolerance", own->tolerance);
  if (status < 0) return status;
  status = require_tolerance(exec, "options.metric_tolerance", own->metric_tolerance);
  const struct {
    const char *name;
    int32_t value, most;
  } choices[] = {{"options.tree", own->tree, TSANOM_SPMD_PROGRAM},
                 {"options.norm", own->norm, TSANOM_SPMD_MEAN_NORM},
                 {"options.cut", own->cut, TSANOM_SPMD_CUT_NOISE},
                 {"options.deep", own->deep, 1}};
  for (size_t i = 0; status == TSANOM_OK && i < sizeof choices / sizeof *choices; i++) {
    status = tsn_require_int(exec, TSANOM_E_OPTION, choices[i].name, choices[i].value, 0,
                             choices[i].most);
  }
  return status;
}

static tsanom_status reject_number(const tsanom_exec *exec, const char *name, size_t i,
                                   size_t k, double value, const char *expected) {
  tsanom_status status = isfinite(value) ? TSANOM_E_VALUE : TSANOM_E_NONFINITE;
  return tsn_reject_value(exec, status, name, i, k, value, expected);
}

/* Times are finite and not negative; a process that did not enter a region has 0. */
static tsanom_status check_times(const tsanom_spmd_data *d, const tsanom_exec *exec) {
  for (size_t i = 0; i < d->processes; i++) {
    const double *row = d->time + i * d->time_ld;
    static const char expected[] = "a finite time of at least 0 is expected";
    if (!tsn_all_finite(row, d->regions)) {
      size_t k = tsn_first_nonfinite(row, d->regions);
      return reject_number(exec, "data.time", i, k, row[k], expected);
    }
    for (size_t k = 0; k < d->regions; k++) {
      if (row[k] < 0) return reject_number(exec, "data.time", i, k, row[k], expected);
    }
  }
  return TSANOM_OK;
}

/* A standard error may be NaN, which is not known, but neither infinite nor negative. */
static tsanom_status check_errors(const tsanom_spmd_data *d, const tsanom_exec *exec) {
  for (size_t i = 0; d->error && i < d->processes; i++) {
    const double *row = d->error + i * d->time_ld;
    for (size_t k = 0; k < d->regions; k++) {
      if (!isinf(row[k]) && !(row[k] < 0)) continue;
      return reject_number(exec, "data.error", i, k, row[k],
                           "a finite error of at least 0 is expected, or NaN");
    }
  }
  return TSANOM_OK;
}

/* A metric may be NaN, which is missing, but not infinite. */
static tsanom_status check_metrics(const tsanom_spmd_data *d, const tsanom_exec *exec) {
  for (size_t i = 0; i < d->metrics * d->processes; i++) {
    const double *row = d->metric + i * d->metric_ld;
    if (tsn_all_finite(row, d->regions)) continue;
    for (size_t k = 0; k < d->regions; k++) {
      if (!isinf(row[k])) continue;
      return reject_number(exec, "data.metric", i, k, row[k],
                           "a finite number is expected, or NaN");
    }
  }
  return TSANOM_OK;
}

/* Rows of `ld` numbers for the regions can exist. */
static tsanom_status require_rows(const tsn_spmd_input *input, const char *name,
                                  size_t rows, size_t ld) {
  size_t regions = input->data.regions;
  size_t most = PTRDIFF_MAX / sizeof(double) / tsn_larger(rows, 1);
  if (regions <= ld && ld <= most) return TSANOM_OK;
  return tsn_reject_is(
      &input->exec, ld < regions ? TSANOM_E_OPTION : TSANOM_E_OVERFLOW, name, TSANOM_NONE,
      "%zu; at least %zu, the regions, and at most %zu is expected", ld, regions, most);
}

static tsanom_status check_sizes(const tsn_spmd_input *input) {
  const tsanom_spmd_data *d = &input->data;
  const tsanom_exec *exec = &input->exec;
  const struct {
    const char *name;
    size_t value, least;
  } counts[] = {{"data.processes", d->processes, 1},
                {"data.regions", d->regions, 1},
                {"data.metrics", d->metrics, 0}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    tsanom_status status = tsn_require_size(exec, TSANOM_E_COUNT, counts[i].name,
                                            counts[i].value, counts[i].least, INT32_MAX);
    if (status < 0) return status;
  }
  return TSANOM_OK;
}

/* Read the data, once input->options are read: 1 ... 2^31 - 1 processes and regions; metrics
 * may be 0. */
static tsanom_status read_data(tsn_spmd_input *input, const tsanom_spmd_data *data) {
  tsanom_spmd_data *own = &input->data;
  const tsanom_exec *exec = &input->exec;
  if (!data) return tsn_reject_null(exec, "data", TSANOM_NONE);
  tsanom_status status = tsn_struct_read(exec, &data_type, own, data, "data");
  if (status < 0) return status;
  if ((status = check_sizes(input)) < 0) return status;
  if (!own->time_ld) own->time_ld = own->regions;
  if (!own->metric_ld) own->metric_ld = own->regions;
  size_t rows = own->metrics * own->processes; /* less than 2^62 */
  status = require_rows(input, "data.time_ld", own->processes, own->time_ld);
  if (status == TSANOM_OK) {
    status = require_rows(input, "data.metric_ld", rows, own->metric_ld);
  }
  if (status < 0) return status;
  if (isgreaterequal(own->elapsed, 0) && isfinite(own->elapsed)) return TSANOM_OK;
  return tsn_reject_value(exec, TSANOM_E_OPTION, "data.elapsed", TSANOM_NONE, TSANOM_NONE,
                          own->elapsed, "a finite time of at least 0 is expected");
}

/* Check the arrays of the data, O(processes * regions * metrics). */
static tsanom_status check_arrays(const tsn_spmd_input *input) {
  const tsanom_spmd_data *d = &input->data;
  const tsanom_exec *exec = &input->exec;
  size_t times = d->processes * d->time_ld;
  tsanom_status status = tsn_require_array(exec, d->parent, d->regions, "data.parent");
  if (status == TSANOM_OK) status = tsn_require_array(exec, d->time, times, "data.time");
  if (status == TSANOM_OK && d->metrics) {
    status = tsn_require_array(exec, d->metric, d->metrics * d->processes * d->metric_ld,
                               "data.metric");
  }
  if (status == TSANOM_OK) status = check_times(d, exec);
  if (status == TSANOM_OK) status = check_errors(d, exec);
  return status < 0 ? status : check_metrics(d, exec);
}

/* The report is read first for the caller's arrays and their capacities, and written at
 * the end up to the caller's struct_size. */
static tsanom_status read_report(const tsanom_spmd_report *caller,
                                 const tsanom_exec *exec, tsanom_spmd_report *own) {
  tsanom_status status = tsn_struct_check(exec, &report_type, caller, "report");
  if (status < 0) return status;
  const size_t results = offsetof(tsanom_spmd_report, eps);
  *own = report_defaults;
  memcpy(own, caller, tsn_smaller(caller->struct_size, results));
  if (!own->decision) own->decision_capacity = 0;
  if (!own->member) own->member_capacity = 0;
  if (!own->reduct) own->reduct_capacity = 0;
  return TSANOM_OK;
}

static void write_report(tsanom_spmd_report *caller, const tsanom_spmd_report *own) {
  tsn_versioned_write(&report_type, caller, own);
}

/* The region tree: nested hierarchies from parent indices in any order.
 *
 *     region     0  1  2  3  4           1
 *     parent     2  -  1  0  1           +-- 2 -- 0 -- 3
 *     level      3  1  2  4  2           +-- 4
 *
 * If the outermost region is the program itself, levels start at 0.
 *
 * A recorder notes regions in the order in which they are entered, and a caller in any
 * order, so that a parent may come after its children. Levels are found by climbing, and
 * each climb ends at a region whose level is known: O(regions) in all, without recursion,
 * as trees may be as deep as there are regions. */

enum { UNKNOWN = -1, ON_PATH = -2 };

/* Follow the parents from region k up to one whose level is known, and number the regions
 * on the way back. Each region is visited at most twice in all. */
static tsanom_status climb(const int32_t *parent, size_t k, int32_t outermost,
                           int32_t *level) {
  int32_t depth = 0;
  size_t at = k;
  while (level[at] == UNKNOWN) {
    level[at] = ON_PATH;
    depth++;
    if (parent[at] == TSANOM_SPMD_NONE) break;
    at = (size_t)parent[at];
  }
  int32_t above;
  if (level[at] == ON_PATH) {
    if (parent[at] != TSANOM_SPMD_NONE) return TSANOM_E_FORMAT;
    above = outermost - 1;
  } else {
    above = level[at];
  }
  for (at = k; depth > 0; depth--) {
    level[at] = above + depth;
    if (depth > 1) at = (size_t)parent[at];
  }
  return TSANOM_OK;
}

/* The least region of the cycle to which the parents of region k lead. */
static size_t first_on_cycle(const int32_t *parent, size_t regions, size_t k) {
  size_t at = k;
  for (size_t steps = 0; steps < regions; steps++) at = (size_t)parent[at];
  size_t first = at, begin = at;
  while ((at = (size_t)parent[at]) != begin) first = tsn_smaller(first, at);
  return first;
}

/* The nested hierarchy of each region, O(regions). TSANOM_E_INDEX: a parent is
 * not a region; TSANOM_E_FORMAT: the parents form a cycle; TSANOM_E_COUNT: several
 * programs. */
static tsanom_status find_levels(const tsn_spmd_input *input, int32_t *level) {
  const int32_t *parent = input->data.parent;
  size_t regions = input->data.regions, roots = 0;
  bool program = input->options.tree == TSANOM_SPMD_PROGRAM;
  for (size_t k = 0; k < regions; k++) {
    if (parent[k] < TSANOM_SPMD_NONE ||
        (parent[k] >= 0 && (size_t)parent[k] >= regions)) {
      return tsn_reject_is(&input->exec, TSANOM_E_INDEX, "data.parent", k,
                           "%d; one of %zu regions is expected, or TSANOM_SPMD_NONE",
                           (int)parent[k], regions);
    }
    roots += parent[k] == TSANOM_SPMD_NONE;
    level[k] = UNKNOWN;
  }
  for (size_t k = 0; k < regions; k++) {
    if (level[k] != UNKNOWN) continue;
    tsanom_status status = climb(parent, k, program ? 0 : 1, level);
    if (status < 0) {
      size_t inner = first_on_cycle(parent, regions, k);
      return tsn_reject_is(&input->exec, status, "data.parent", inner,
                           "%d, which is nested in region %zu itself; a tree is expected",
                           (int)parent[inner], inner);
    }
  }
  if (!program || roots == 1) return TSANOM_OK;
  return tsn_reject_text(&input->exec, TSANOM_E_COUNT, "data.parent", TSANOM_NONE,
                         "%zu regions have no parent; one is expected, the program",
                         roots);
}

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
static void find_balance(const tsn_spmd_input *input, const tsn_spmd_buffers *b,
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
static tsanom_status table_bytes(const tsn_spmd_input *input, size_t *bytes) {
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

static void table_layout(tsn_arena *arena, const tsn_spmd_input *input,
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
  double resolution = *eps;
  if (tsn_spmd_cut_without_order(input, b, resolution, eps)) return TSANOM_OK;
  tsanom_status status = tsn_spmd_order(input, &b->points, columns, &b->optics);
  if (status != TSANOM_OK) return status;
  return tsn_spmd_cut(input, &b->optics, resolution, eps);
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
static tsanom_status find_causes(const tsn_spmd_input *input, tsn_spmd_buffers *b,
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

/* One call. */
typedef struct {
  tsn_spmd_input input;
  tsn_spmd_buffers buffers;
  tsanom_spmd_report *report; /* the caller's */
  tsanom_spmd_report own;
} analysis;

static void layout(tsn_arena *arena, void *context) {
  analysis *a = context;
  tsn_spmd_buffers *b = &a->buffers;
  size_t processes = a->input.data.processes, regions = a->input.data.regions;
  size_t ld = tsn_round_up(regions + 1, 8);
  tsn_spmd_points *p = &b->points;
  p->count = processes;
  p->at = tsn_arena_take(arena, processes, ld * sizeof *p->at);
  p->weight = tsn_arena_take(arena, ld, sizeof *p->weight);
  p->centroid = tsn_arena_take(arena, ld, sizeof *p->centroid);
  p->tile = tsn_arena_take(arena, ld, TSN_SPMD_TILE * sizeof *p->tile);
  p->away = tsn_arena_take(arena, processes, sizeof *p->away);
  p->split = tsn_arena_take(arena, tsn_spmd_near_nodes(processes), sizeof *p->split);
  p->node = tsn_arena_take(arena, 2 * tsn_spmd_near_nodes(processes), sizeof *p->node);
  p->open = tsn_arena_take(arena, processes, sizeof *p->open);
  p->queued = tsn_arena_take(arena, processes, sizeof *p->queued);
  b->base = tsn_arena_take(arena, processes, sizeof *b->base);
  b->trial = tsn_arena_take(arena, processes, sizeof *b->trial);
  b->level = tsn_arena_take(arena, regions, sizeof *b->level);
  b->list = tsn_arena_take(arena, regions * 2, sizeof *b->list);
  b->slot = tsn_arena_take(arena, regions, sizeof *b->slot);
  b->pick = tsn_arena_take(arena, regions, sizeof *b->pick);
  b->meet = tsn_arena_take(arena, regions, sizeof *b->meet);
  b->role = tsn_arena_take(arena, regions, sizeof *b->role);
  b->key = tsn_arena_take(arena, tsn_larger(processes, regions), sizeof *b->key);
  tsn_spmd_optics *o = &b->optics;
  o->order = tsn_arena_take(arena, processes, sizeof *o->order);
  o->reachability = tsn_arena_take(arena, processes, sizeof *o->reachability);
  o->core = tsn_arena_take(arena, processes, sizeof *o->core);
  o->label = tsn_arena_take(arena, processes, sizeof *o->label);
  table_layout(arena, &a->input, &b->table);
  a->input.inner.work = tsn_arena_take(arena, a->input.inner.work_bytes, 1);
  p->row = a->input.inner.work; /* the order of the points takes more, and is over */
  p->isa = a->input.exec.isa;
}

/* Workspace of the inner calls: the largest of them. It is part of the workspace of this
 * call, so that with a workspace of the caller nothing is allocated anywhere. */
static tsanom_status measure_inner(tsn_spmd_input *input) {
  size_t optics, table;
  tsanom_status status = tsn_spmd_optics_bytes(input, &optics);
  if (status >= 0) status = table_bytes(input, &table);
  if (status < 0) {
    return tsn_reject_is(
        &input->exec, status, "data.processes", TSANOM_NONE,
        "%zu; fewer are expected: the workspace exceeds the address space",
        input->data.processes);
  }
  input->inner.work_bytes = tsn_larger(optics, table);
  return TSANOM_OK;
}

/* Everything after the checks. The report is complete whatever the result. */
static tsanom_status analyze(analysis *a) {
  const tsn_spmd_input *input = &a->input;
  tsn_spmd_buffers *b = &a->buffers;
  tsanom_spmd_report *report = &a->own;
  b->watch = (tsn_spmd_watch){.exec = &input->exec, .total = input->data.regions};
  b->points.watch = &b->watch;
  tsn_spmd_poll(&b->watch, input->data.processes * input->data.regions); /* the checks */
  tsanom_status status = tsn_spmd_search(input, b, report);
  find_balance(input, b, report);
  if (report->class_of) {
    memcpy(report->class_of, b->base, input->data.processes * sizeof *b->base);
  }
  if (status == TSANOM_OK) status = find_causes(input, b, report);
  if (status != TSANOM_OK) return status;
  bool is_cut = report->limited ||
                (report->decision && report->decisions > report->decision_capacity) ||
                (report->member && report->members > report->member_capacity) ||
                (report->reduct && report->reducts > report->reduct_capacity);
  return is_cut ? TSANOM_PARTIAL : TSANOM_OK;
}

static tsanom_status body(void *context) {
  analysis *a = context;
  tsanom_status status = find_levels(&a->input, a->buffers.level);
  if (status < 0) return status;
  status = analyze(a);
  if (status < 0) {
    return tsn_reject_text(&a->input.exec, status, "data", TSANOM_NONE,
                           "a part of the analysis is not possible: %s",
                           tsanom_status_text(status));
  }
  write_report(a->report, &a->own);
  return status;
}

static tsanom_status check(void *context) {
  const analysis *a = context;
  tsanom_status status = tsn_require(&a->input.exec, a->report, "report");
  return status < 0 ? status : check_arrays(&a->input);
}

tsanom_status tsanom_spmd_analyze(const tsanom_spmd_data *data,
                                  const tsanom_spmd_options *options,
                                  const tsanom_exec *exec, tsanom_spmd_report *report) {
  analysis a = {.report = report};
  tsanom_status status = read_options(&a.input, options, exec);
  if (status < 0) return status;
  exec = &a.input.exec;
  if (report) {
    status = read_report(report, exec, &a.own);
    if (status < 0) return status;
  }
  if ((status = read_data(&a.input, data)) < 0) return status;
  if ((status = measure_inner(&a.input)) < 0) return status;
  return tsn_workspace_run(exec, layout, check, body, &a);
}
