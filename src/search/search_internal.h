/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this room share. */
#ifndef TSN_SEARCH_INTERNAL_H
#define TSN_SEARCH_INTERNAL_H

#include <tsanom/search.h>

#include "core/arena.h"
#include "search/search_kernel.h"

tsanom_status tsn_search_read_options(tsanom_search_options *own,
                                      const tsanom_search_options *caller);

/* Whether the samples can be searched: TSANOM_OK, _E_NONFINITE or _E_VALUE. */
tsanom_status tsn_search_check(const tsn_search_kernels *kernels, const double *x,
                               size_t n, int32_t z_normalize);

/* Normalise by the two-pass moments. */
void tsn_search_normalize(const tsn_search_kernels *kernels, const double *x, size_t n,
                          double *out);

/* The samples of a query that LB_KimFL looks at; mean and inverse are left. */
void tsn_search_query_ends(const double *query, size_t n, tsn_search_kim *kim);

/* How many samples LB_KimFL looks at, in front and at the back. */
static inline size_t tsn_search_front(size_t n) {
  size_t half = (n + 1) / 2;
  return half < TSN_SEARCH_ENDS ? half : TSN_SEARCH_ENDS;
}

static inline size_t tsn_search_back(size_t n) {
  return n / 2 < TSN_SEARCH_ENDS ? n / 2 : TSN_SEARCH_ENDS;
}

/* What a bound must exceed for DTW to lie above `distance`, both being sums of
 * up to 2n terms with their rounding. `error` tells that a sample that should
 * be z was off by up to error (1 + |z|). In a term of LB_Keogh that counts, a
 * value of the envelope is no larger than the larger of the two samples that
 * it stands between; as both series have mean square at most 1, sums of n
 * absolute differences are off by less than 4 n error, and roots of sums of
 * squares by less than 4 error sqrt(n). */
double tsn_search_limit(double distance, size_t n, int32_t cost, double error);

/* Candidates of one length that wait for DTW, to be run side by side. */
enum { TSN_SEARCH_BATCH = 16 };

typedef struct {
  const double *series[TSN_SEARCH_BATCH];
  size_t id[TSN_SEARCH_BATCH];
  size_t count;
} tsn_search_batch;

/* Bytes that tsn_search_distances() works in. */
tsanom_status tsn_search_distances_size(size_t n, size_t radius, int32_t cost,
                                        const tsanom_exec *exec, size_t *bytes);

/* DTW of the query to each of a batch; INFINITY for those above `cutoff`. exec
 * is a checked one, of which only ISA and allocator are used. */
tsanom_status tsn_search_distances(const double *query, size_t n,
                                   const tsn_search_batch *batch, size_t radius,
                                   int32_t cost, double cutoff, const tsanom_exec *exec,
                                   void *work, size_t work_bytes, double *distances);

/* exec for one call inside a parallel region: one thread, a workspace of its own, no poll
 * and no fault. */
static inline tsanom_exec tsn_search_alone(const tsanom_exec *exec, void *work,
                                           size_t work_bytes) {
  tsanom_exec alone = *exec;
  alone.threads = 1;
  alone.poll = NULL;
  alone.work = work;
  alone.work_bytes = work_bytes;
  alone.fault = NULL;
  return alone;
}

#endif
