/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files of the SPMD analysis; README.md lists the files.
 *
 * Process i is the vector V_i of the times T_ik of the regions k of hierarchy 1, and
 * Dist_ij = |V_i - V_j| (eq. 1 of "A Novel Similarity Analysis and Rough Set Method").
 * Everything works on one set of such points, whose layout lets the search try a region
 * without copying a matrix:
 *
 *                   0: free        1 ... outermost: hierarchy 1      to a multiple of 8
 *     process 0     T of a nested  T_0k  T_0k' ...                   0 ...
 *     process 1     region         T_1k  T_1k' ...                   0 ...
 *     weight        0 or 1         1     0: left out                 0 ... */
#ifndef TSN_SPMD_INTERNAL_H
#define TSN_SPMD_INTERNAL_H

#include <stdbool.h>
#include <tsanom/optics.h>
#include <tsanom/roughset.h>
#include <tsanom/spmd.h>

#include "core/arena.h"
#include "core/exec.h"
#include "core/fault.h"

/* The arguments, checked, with all defaults filled in. Threads share the search for the pairs
 * of many classes; the rest uses one: re-clusterings follow one another and are short. */
typedef struct {
  tsanom_spmd_data data;
  tsanom_spmd_options options;
  tsanom_exec exec;
  tsanom_exec inner; /* for the functions of optics and roughset: no fault; its workspace
                        is that of all of them, which run one after the other */
} tsn_spmd_input;

/* The caller's poll during long loops. */
typedef struct {
  const tsanom_exec *exec;
  uint64_t done, total; /* for the poll */
  size_t work;          /* since the last poll */
  uint64_t compared;    /* distances that classifying computed, about */
  uint64_t most;        /* above which it ends as if stopped; 0: no limit */
  bool stopped;
} tsn_spmd_watch;

/* Coordinates between polls: about 20 ms. */
enum { TSN_SPMD_WORK = 1 << 22 };

/* Add some work, in coordinates; poll if it is enough. Returns whether the poll ended the
 * call, now or before. */
static inline bool tsn_spmd_poll(tsn_spmd_watch *watch, size_t work) {
  if (!watch) return false;
  if (watch->most && watch->compared > watch->most) return true;
  watch->work += work;
  if (watch->stopped || watch->work < TSN_SPMD_WORK) return watch->stopped;
  watch->work = 0;
  watch->stopped = tsn_exec_stop(watch->exec, watch->done, watch->total);
  return watch->stopped;
}

/* Points to classify: rows of `stride` coordinates, a multiple of 8; a coordinate counts
 * if its weight is 1 and is left out if it is 0. Coordinates are scaled by a power of
 * two, so that their largest magnitude is below 1 and squares do not overflow; only what
 * underflows is rounded. */
typedef struct {
  size_t count, stride;
  double *at;            /* count * stride */
  double *weight;        /* stride */
  double *centroid;      /* stride: scratch, deviations */
  double *tile;          /* stride * TSN_SPMD_TILE: scratch */
  double limit;          /* square of eps' */
  double *away;          /* count: scratch, distances from the first of a class */
  double *split;         /* tsn_spmd_near_nodes(): scratch of the tree */
  uint32_t *node;        /* 2 * tsn_spmd_near_nodes(): the same */
  double *row;           /* count * stride + TSN_SPMD_LEAF: the same */
  uint32_t *open;        /* count: points without a class, increasing */
  uint32_t *queued;      /* count: points of a class whose neighbors are sought */
  int32_t isa;           /* of the kernels */
  tsn_spmd_watch *watch; /* NULL: no poll */
} tsn_spmd_points;

static inline size_t tsn_spmd_near_nodes(size_t count) {
  return count / 4 + 1;
}

/* Squared distance; the sum is left as soon as it exceeds `limit`, which is why the
 * regions of widest spread come first (search.c). Coordinates are added in one order, so
 * that the value does not depend on the machine. */
static inline double tsn_spmd_square_distance(const double *a, const double *b,
                                              const double *weight, size_t stride,
                                              double limit) {
  double sum = 0;
  for (size_t d = 0; d < stride; d += 8) {
    double lane[8];
    for (size_t l = 0; l < 8; l++) {
      double difference = a[d + l] - b[d + l];
      lane[l] = weight[d + l] * (difference * difference);
    }
    sum += ((lane[0] + lane[4]) + (lane[1] + lane[5])) +
           ((lane[2] + lane[6]) + (lane[3] + lane[7]));
    if (sum > limit) break;
  }
  return sum;
}

/* The same of all coordinates, added up in their order, as the module optics does: a step of
 * its order has these bits. */
static inline double tsn_spmd_square_step(const double *a, const double *b,
                                          size_t stride) {
  double sum = 0;
  for (size_t d = 0; d < stride; d++) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

/* Pairs of points of different classes that a neighbor would become, if some coordinates
 * were left out. */
typedef struct {
  size_t size;      /* coordinates left out, at most; 0: no pairs were sought */
  bool is_complete; /* all pairs were found */
  size_t count;
  int32_t *first; /* processes */
  size_t *second; /* processes */
} tsn_spmd_pairs;

/* Root cause: the decision table and its reducts. Sets of metrics have `words` words, bit
 * m of which is metric m. */
typedef struct {
  int32_t *code;      /* processes * metrics */
  uint64_t *elements; /* limit * words */
  uint64_t *core;     /* words */
  uint64_t *reduct;   /* words */
  size_t limit, words;
} tsn_spmd_table;

/* OPTICS of the points; core distances are all 0, as MinPts is 1, but the functions of
 * optics require them. */
typedef struct {
  size_t *order;        /* processes */
  double *reachability; /* processes */
  double *core;         /* processes */
  int32_t *label;       /* processes */
} tsn_spmd_optics;

/* All buffers of a call, O(processes * (regions + metrics)). Some serve several steps in
 * turn: the points hold times during the search, and a metric at a time afterwards. */
typedef struct {
  tsn_spmd_points points;
  tsn_spmd_watch watch; /* of the points */
  int32_t *base;        /* processes: the classes of step 1 */
  int32_t *trial;       /* processes: those of a re-clustering */
  int32_t *level;       /* regions: nested hierarchy */
  uint32_t *list;       /* regions: columns of the points; then scratch of the search */
  uint32_t *slot;       /* regions: the coordinate of one of hierarchy 1 */
  uint32_t *pick;       /* regions to combine, or to descend from */
  size_t *meet;         /* regions: critical combinations that hold one */
  uint8_t *role;        /* regions: TSN_SPMD_CCR, ... */
  double *key;          /* regions or processes, whichever is more: spreads, norms */
  tsn_spmd_optics optics;
  tsn_spmd_table table;
} tsn_spmd_buffers;

/* Roles of regions, as bits: a core is critical too. */
enum {
  TSN_SPMD_CCR = 1,
  TSN_SPMD_CCCR = 2,
  TSN_SPMD_TIMED = 4,    /* some time is not 0 */
  TSN_SPMD_VARIES = 8,   /* the times are not all the same */
  TSN_SPMD_TOGETHER = 16 /* of the core that step 3 found */
};

/* classify.c */

/* Set coordinates 1 ... of the points from `count` columns of a matrix; coordinate 0
 * is free for tsn_spmd_set_free(). Values are scaled by 2^exponent. */
void tsn_spmd_gather(tsn_spmd_points *points, const double *matrix, size_t stride,
                     const uint32_t *column, size_t count, int exponent);

/* Set coordinate 0 to the sum of some columns. */
void tsn_spmd_set_free(tsn_spmd_points *points, const double *matrix, size_t stride,
                       const uint32_t *column, size_t count, int exponent);

/* Classes from 0 in order of first appearance: the components of the graph of distances
 * up to eps'. Returns their number; 0 if the poll ended the call. Numbered so, two
 * classifications are equal iff their arrays are. */
size_t tsn_spmd_classify(const tsn_spmd_points *points, int32_t *class_of);

/* Queue all points by falling `radius`, their distance from the middle, and build a tree of
 * them. None is a NaN. */
void tsn_spmd_sort_outward(const tsn_spmd_points *points, const double *radius);

/* After that: of the points of cores, numbered from 0, -1 without one, those stay that
 * neighbors connect with the innermost one of their core. The others are outside, until the
 * next call: they become TSN_SPMD_OUTSIDE minus their number. Returns how many are outside;
 * SIZE_MAX if they are more than `most`. */
enum { TSN_SPMD_CORES = 32, TSN_SPMD_OUTSIDE = -2 };
size_t tsn_spmd_gather_cores(const tsn_spmd_points *points, size_t most, int32_t *core_of,
                             int32_t *outside);

/* The least square of a step from a point to one of a core, -1: of any, or `least` if none
 * is less. */
double tsn_spmd_square_from_core(const tsn_spmd_points *points, int32_t *core_of,
                                 int32_t core, uint32_t point, double least);

/* Find the pairs of different classes that may be at most eps' apart if pairs->size of
 * the coordinates are left out. False: there are more pairs than points, or more than
 * `work` distances to compute, or the poll ended the call. */
bool tsn_spmd_find_pairs(const tsn_spmd_points *points, int32_t *class_of, double work,
                         tsn_spmd_pairs *pairs);

/* Sort indices by falling keys; a heapsort, in place. It is not stable, but its result
 * depends only on the keys and on the order given. */
void tsn_spmd_sort(const double *key, uint32_t *order, size_t count);

void tsn_spmd_norms(const tsn_spmd_points *points, double *norm);

/* The exponent that brings the largest magnitude of some columns below 1. NaNs
 * are passed over. */
int tsn_spmd_exponent(const double *matrix, size_t rows, size_t stride,
                      const uint32_t *column, size_t count);

/* cut.c */

/* The largest distance of two of the points, or of many points, one that is nearly as
 * large. Coordinates of weight 0 are 0. `radius` is scratch, one for each point. If the
 * poll ends the call, the largest one that was found. */
double tsn_spmd_diameter(const tsn_spmd_points *points, double *radius);

/* Bytes of workspace of the functions of optics. */
tsanom_status tsn_spmd_optics_bytes(const tsn_spmd_input *input, size_t *bytes);

/* OPTICS order of all points in coordinates 1 ... columns. */
tsanom_status tsn_spmd_order(const tsn_spmd_input *input, const tsn_spmd_points *points,
                             size_t columns, tsn_spmd_optics *optics);

/* eps' of points that are in order: at least `resolution`; INFINITY if chance explains
 * every gap, that is, for one class. */
tsanom_status tsn_spmd_cut(const tsn_spmd_input *input, tsn_spmd_optics *optics,
                           double resolution, double *eps);

/* The same in a part of the time of the order, if a part of the steps suffices; false: it
 * does not, or the poll ended the call. The limit of the points, keys, the plot and the
 * classes of a trial get lost. */
bool tsn_spmd_cut_without_order(const tsn_spmd_input *input, tsn_spmd_buffers *b,
                                double resolution, double *eps);

/* search.c: steps 1 to 5, into roles and the report. */
tsanom_status tsn_spmd_search(const tsn_spmd_input *input, tsn_spmd_buffers *buffers,
                              tsanom_spmd_report *report);

#endif
