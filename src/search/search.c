/* SPDX-License-Identifier: BSD-3-Clause */
/* Options, input checks, normalization, the margin of lower bounds, and the caller's poll: what
 * the search of an index and that of a stream share. */
#include <tsanom/search.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/series.h"
#include "core/size.h"
#include "core/versioned.h"
#include "search/search_internal.h"

static const tsanom_search_options defaults = {.struct_size = sizeof defaults,
                                               .radius = TSANOM_NONE,
                                               .neighbors = 1,
                                               .exclusion = TSANOM_NONE,
                                               .cost = TSANOM_COST_ABSOLUTE};

static const tsn_versioned options_type = {.size = sizeof(tsanom_search_options),
                                           .first_size = sizeof(tsanom_search_options),
                                           .defaults = &defaults};

tsanom_status tsanom_search_options_init(tsanom_search_options *options,
                                         size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

tsanom_status tsn_search_read_options(tsanom_search_options *own,
                                      const tsanom_search_options *caller,
                                      const tsanom_exec *exec) {
  const tsanom_status option = TSANOM_E_OPTION;
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, "options");
  if (status < 0) return status;
  if ((status = tsn_require_int(exec, option, "options.cost", own->cost, 0, 1)) < 0 ||
      (status = tsn_require_int(exec, option, "options.z_normalize", own->z_normalize, 0,
                                1)) < 0 ||
      (status = tsn_require_int(exec, option, "options.borrow", own->borrow, 0, 1)) < 0) {
    return status;
  }
  return tsn_require_int(exec, option, "options.reserved0", own->reserved0, 0, 0);
}

tsanom_status tsn_search_read_series(tsanom_series *own, const tsanom_series *caller,
                                     const char *name, size_t length,
                                     const tsanom_exec *exec) {
  tsanom_status status = tsn_series_read(own, caller, name, exec);
  if (status < 0) return status;
  if (own->dimensions != 1) {
    return tsn_reject_field_is(exec, TSANOM_E_OPTION, name, "dimensions", TSANOM_NONE,
                               "%zu; 1 is expected", own->dimensions);
  }
  if (own->stride != 1) {
    return tsn_reject_field_is(exec, TSANOM_E_OPTION, name, "stride", TSANOM_NONE,
                               "%zu; 1 is expected, contiguous samples", own->stride);
  }
  const char *has = length ? "the index has series of" : "the first series has";
  /* Lengths given one by one are accepted if all are equal; the copy has one length. */
  if (length == 0) length = tsn_series_length(own, 0);
  size_t lengths = own->lengths ? own->count : 1;
  for (size_t i = 0; i < lengths; i++) {
    size_t samples = tsn_series_length(own, i);
    if (samples == length) continue;
    return tsn_reject_field_is(
        exec, TSANOM_E_COUNT, name, own->lengths ? "lengths" : "length",
        own->lengths ? i : TSANOM_NONE, "%zu; %s %zu samples", samples, has, length);
  }
  own->length = length;
  own->lengths = NULL;
  return TSANOM_OK;
}

/* One pass over all samples, and only for a bad one a second pass that finds it. */
size_t tsn_search_first_bad(const tsn_search_kernels *kernels, const double *x, size_t n,
                            int32_t z_normalize) {
  double largest = z_normalize ? TSN_SEARCH_LARGEST : DBL_MAX;
  tsn_environment before = tsn_environment_enter(); /* NaN must not trap */
  size_t k = kernels->within(x, n, largest) ? n : 0;
  while (k < n && fabs(x[k]) <= largest) k++;
  tsn_environment_leave(before);
  return k;
}

tsanom_status tsn_search_reject_sample(const tsanom_exec *exec, const char *name,
                                       size_t element, size_t second, double sample) {
  bool finite = isfinite(sample);
  return tsn_reject_value(exec, finite ? TSANOM_E_VALUE : TSANOM_E_NONFINITE, name,
                          element, second, sample,
                          finite ? "magnitudes up to 1e140 are expected" : TSN_FINITE);
}

/* A constant series becomes zeros: its `inverse` is 0. */
void tsn_search_normalize(const tsn_search_kernels *kernels, const double *x, size_t n,
                          double *out) {
  tsn_search_moments moments;
  kernels->moments(x, n, &moments);
  kernels->scale(x, n, &moments, out);
}

tsanom_status tsanom_search_normalize(const double *x, size_t n, const tsanom_exec *exec,
                                      double *out) {
  tsanom_exec own_exec;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if ((status = tsn_require_size(&own_exec, TSANOM_E_COUNT, "n", n, 1, SIZE_MAX)) < 0 ||
      (status = tsn_require_size(&own_exec, TSANOM_E_OVERFLOW, "n", n, 1,
                                 PTRDIFF_MAX / sizeof *x)) < 0 ||
      (status = tsn_require_array(&own_exec, x, n, "x")) < 0 ||
      (status = tsn_require_array(&own_exec, out, n, "out")) < 0) {
    return status;
  }
  const tsn_search_kernels *kernels = tsn_search_kernels_at(own_exec.isa);
  size_t bad = tsn_search_first_bad(kernels, x, n, 1);
  if (bad < n) {
    return tsn_search_reject_sample(&own_exec, "x", bad, TSANOM_NONE, x[bad]);
  }
  tsn_environment before = tsn_environment_enter();
  tsn_search_normalize(kernels, x, n, out);
  tsn_environment_leave(before);
  return TSANOM_OK;
}

/* A query of fewer than three samples repeats its first one, with weight 0. */
void tsn_search_query_ends(const double *query, size_t n, tsn_search_kim *kim) {
  for (size_t k = 0; k < TSN_SEARCH_ENDS; k++) {
    kim->query_front[k] = query[k < n ? k : 0];
    kim->query_back[k] = query[k < n ? n - 1 - k : 0];
  }
}

/* search_internal.h derives the terms of `error`. The last factor covers the rounding of
 * two sums of up to 2n terms each, that of the bound and that of the distance. */
double tsn_search_limit(double distance, size_t n, int32_t cost, double error) {
  double length = (double)n, limit;
  if (cost == TSANOM_COST_SQUARED) {
    double root = sqrt(distance) + 4 * error * sqrt(length);
    limit = root * root;
  } else {
    limit = distance + 4 * error * length;
  }
  return limit * (1 + (4 * length + 64) * DBL_EPSILON);
}

/* The poll during a chunk (search_internal.h). DTW that is given a poll calls it about once per
 * million cells; for small batches, of which thousands run per second, a poll each would take
 * longer than they. */

/* Cells between two polls: a millisecond or less. */
enum { CELLS_PER_POLL = 1 << 20 };

static int32_t stop_if(tsn_search_watch *watch, uint64_t done, uint64_t total) {
  if (!atomic_load_explicit(&watch->stop, memory_order_relaxed)) {
    tsn_exec_stop_all(watch->exec, done, total, &watch->stop);
  }
  return atomic_load_explicit(&watch->stop, memory_order_relaxed);
}

static int32_t poll_between(void *user, uint64_t done, uint64_t total) {
  tsn_search_watch *watch = user;
  watch->done = done;
  watch->total = total;
  return stop_if(watch, done, total);
}

/* The arguments are those of one DTW; the caller counts queries or chunks. */
static int32_t poll_inside(void *user, uint64_t done, uint64_t total) {
  tsn_search_watcher *w = user;
  (void)done;
  (void)total;
  if (w->calling) return stop_if(w->watch, w->watch->done, w->watch->total);
  return tsn_search_stopped(w);
}

tsanom_exec tsn_search_watch_begin(tsn_search_watch *watch, const tsanom_exec *exec) {
  tsanom_exec loop = *exec;
  *watch = (tsn_search_watch){.exec = exec};
  if (loop.poll) {
    loop.poll = poll_between;
    loop.poll_user = watch;
  }
  return loop;
}

bool tsn_search_watch_poll(tsn_search_watcher *w, double cells) {
  tsanom_exec exec = {.poll = NULL};
  tsn_search_watch_cells(w, cells, &exec);
  return tsn_search_stopped(w) || tsn_exec_stop(&exec, 0, 0);
}

void tsn_search_watch_cells(tsn_search_watcher *w, double cells, tsanom_exec *inner) {
  if (!w->watch->exec->poll) return;
  w->cells += cells;
  if (w->cells < CELLS_PER_POLL) return;
  w->cells = 0;
  inner->poll = poll_inside;
  inner->poll_user = w;
}
