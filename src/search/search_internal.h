/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of this module; README.md lists them in calling order.
 *
 * Rounding. Results are those of brute force to the last bit, although bounds and DTW are
 * rounded sums: a candidate is removed only if its bound exceeds the distance in question
 * by more than the rounding of both, tsn_search_limit(). All other choices (order,
 * batches, groups, rounds) only decide how much is computed. */
#ifndef TSN_SEARCH_INTERNAL_H
#define TSN_SEARCH_INTERNAL_H

#include <tsanom/search.h>

#include "core/arena.h"
#include "core/exec.h"
#include "search/search_kernel.h"
#include "search/watch.h"

/* Read the options. `own` has radius, cost and z_normalize in range; each function checks
 * the fields that only some functions use. */
tsanom_status tsn_search_read_options(tsanom_search_options *own,
                                      const tsanom_search_options *caller,
                                      const tsanom_exec *exec);

/* Read a set of univariate series with contiguous samples, all of `length` samples (0: of
 * one length). Afterwards own->length is the length of each. The samples may be missing:
 * see tsn_series_require(). */
tsanom_status tsn_search_read_series(tsanom_series *own, const tsanom_series *caller,
                                     const char *name, size_t length,
                                     const tsanom_exec *exec);

/* The index of the first sample that cannot be searched; n: none. With z_normalize also
 * finite samples are too large if their squares might overflow. */
size_t tsn_search_first_bad(const tsn_search_kernels *kernels, const double *x, size_t n,
                            int32_t z_normalize);

/* Reject such a sample. */
tsanom_status tsn_search_reject_sample(const tsanom_exec *exec, const char *name,
                                       size_t element, size_t second, double sample);

/* Normalize, in passes that lose no digits (search_kernel.c). Distances are defined by
 * this function; bounds may use other moments. */
void tsn_search_normalize(const tsn_search_kernels *kernels, const double *x, size_t n,
                          double *out);

/* The samples of a query that LB_KimFL uses; mean and inverse are not set. */
void tsn_search_query_ends(const double *query, size_t n, tsn_search_kim *kim);

/* Numbers of samples that LB_KimFL uses at the front and at the back. */
static inline size_t tsn_search_front(size_t n) {
  size_t half = (n + 1) / 2;
  return half < TSN_SEARCH_ENDS ? half : TSN_SEARCH_ENDS;
}

static inline size_t tsn_search_back(size_t n) {
  return n / 2 < TSN_SEARCH_ENDS ? n / 2 : TSN_SEARCH_ENDS;
}

/* The value that a lower bound must exceed to imply that DTW exceeds `distance`; both are
 * sums of up to 2n terms with rounding. `error`: a normalized sample z is known up to
 * error (1 + |z|). In a nonzero term of LB_Keogh, a value of the envelope is between the
 * two samples; since both series have mean square at most 1, sums of n absolute
 * differences are off by less than 4 n error, and roots of sums of squares by less than
 * 4 error sqrt(n). */
double tsn_search_limit(double distance, size_t n, int32_t cost, double error);

/* Candidates of one length whose DTW is computed together: as many as the lower bound of
 * coarse.h takes. A larger batch would run with an older cut-off. */
enum { TSN_SEARCH_BATCH = 32 };

typedef struct {
  const double *series[TSN_SEARCH_BATCH];
  size_t id[TSN_SEARCH_BATCH];
  size_t count;
  tsn_search_watcher *watcher; /* of the thread */
} tsn_search_batch;

/* Buffers of coarse.h. */
typedef struct {
  int16_t *query, *rounded, *columns, *row;
} tsn_search_coarse_buffers;

/* Workspace of one thread. */
typedef struct {
  void *block; /* of the functions of lbkeogh and dtw */
  size_t bytes;
  tsn_search_coarse_buffers coarse;
} tsn_search_work;

/* What a query has in common with all its candidates. */
typedef struct {
  const double *query;
  size_t n, radius;
  int32_t cost;
  double cutoff; /* INFINITY: none */
  const tsanom_exec *exec;
} tsn_search_pairs;

/* distances.c: calls of the modules lbkeogh and dtw on one thread. `exec` is a checked
 * exec, of which ISA level and allocator are used. */

/* Bytes of the block of a workspace, for a query of n samples and envelopes of up to
 * `samples`. */
tsanom_status tsn_search_work_size(size_t n, size_t samples, size_t radius, int32_t cost,
                                   const tsanom_exec *exec, size_t *bytes);

/* Lay out a workspace with such a block. */
void tsn_search_work_layout(tsn_arena *arena, size_t n, size_t bytes,
                            tsn_search_work *work);

/* Envelope of n samples. */
void tsn_search_envelope(const double *x, size_t n, size_t radius,
                         const tsanom_exec *exec, void *work, size_t work_bytes,
                         double *lower, double *upper);

/* LB_KimFL of the query and a series, and LB_Keogh of the series against an envelope of
 * the query. */
double tsn_search_bound_kim(const tsn_search_pairs *pairs, const double *series);
double tsn_search_bound_keogh(const tsn_search_pairs *pairs, const double *series,
                              const double *lower, const double *upper);

/* DTW of the query to each series of a batch; INFINITY above the cut-off. False: the poll
 * asked to stop, and the distances are not known. */
bool tsn_search_distances(const tsn_search_pairs *pairs, const tsn_search_batch *batch,
                          const tsn_search_work *work, double *distances);

#endif
