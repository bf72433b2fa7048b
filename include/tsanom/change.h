/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  When did a series change, by how much, and is the change significant?
 *
 *  | question                                              | function                |
 *  |-------------------------------------------------------|-------------------------|
 *  | where did the level of a recorded series change?      | tsanom_change_find()    |
 *  | did it change just now, while the program runs?       | tsanom_change_push()    |
 *  | is one set of runs slower than another one?           | tsanom_change_compare() |
 *
 *  Use them for iteration times, rates, and results of benchmarks. Samples may be
 *  autocorrelated, may contain outliers and may have two modes or a long tail: none of these
 *  raises the rate of false alarms. Bursts of scatter do (docs/change.md has the rates). If
 *  you compare two programs, run each several times and compare one number per run: runs
 *  of one program differ by more than the iterations of a run show.
 *
 *  @code{.c}
 *  double seconds[200];
 *  for (int i = 0; i < 200; i++) seconds[i] = (i < 120 ? 1.0 : 1.2) + 0.01 * (i * i % 7);
 *  tsanom_change_point points[16];
 *  size_t count;
 *  tsanom_change_find(seconds, 200, NULL, NULL, points, 16, &count);
 *  for (size_t i = 0; i < count; i++)
 *    printf("since iteration %d: %+.0f %%\n", (int)points[i].at,
 *           100 * points[i].size / points[i].before);  // -> since iteration 120: +20 %
 *  @endcode
 *
 *  You get the same bits for every number of threads, every instruction set and, online,
 *  every split of the samples into calls. A change is a step of the level that lasts for
 *  at least six samples. A drift is not reported. Changes of the scatter are not looked
 *  for. A series that repeats, such as checkpoints of many iterations, has steps; remove
 *  them first (<tsanom/dpd.h> finds their period).
 *
 *  Sources: see the guide, @ref guide_change. */
#ifndef TSANOM_CHANGE_H
#define TSANOM_CHANGE_H

#include <tsanom/base.h>

/** @addtogroup change
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/* experimental: may change in any release */

/** How to judge. Initialize it with tsanom_change_options_init(). */
typedef struct tsanom_change_options {
  size_t struct_size; /**< set by _init */
  /** Rate of false alarms, 0.001 to 0.05; 0.01 (default). Of series that do not change,
   *  at most this part is reported: per series by tsanom_change_find(), per 4000 samples
   *  by tsanom_change_push(), per comparison by tsanom_change_compare(). */
  double level;
  /** tsanom_change_push(): samples from which it learns a level, 50 to 10000; 200
   *  (default). A change during them is not reported. */
  size_t reference;
  /** tsanom_change_compare(): 1 if a[i] and b[i] were measured next to each other, such
   *  as by running both programs in turn; 0 (default): two independent sets. */
  int32_t paired;
  /** tsanom_change_compare(): 1 if you call it after each pair, and stop when
   *  `significance` is at most `level`; the error rate holds for all calls together. It
   *  requires `paired`. 0 (default): one call, when all runs are there. */
  int32_t sequential;
} tsanom_change_options;

/** Write the defaults described at ::tsanom_change_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_change_options_init(tsanom_change_options *options,
                                                    size_t struct_size);

/** A change of level. Intervals contain the truth with 95 %. */
typedef struct tsanom_change_point {
  uint64_t at;         /**< index of the first sample with the new level */
  uint64_t low;        /**< it is this one or a later one */
  uint64_t high;       /**< and this one or an earlier one */
  double before;       /**< mean without outliers since the change before it */
  double after;        /**< mean without outliers to the next change */
  double size;         /**< after - before */
  double size_low;     /**< lower end of the interval of size */
  double size_high;    /**< its upper end */
  double significance; /**< probability of such a change in a series without any */
  uint64_t reserved;   /**< 0 */
} tsanom_change_point;

/** Find the changes of level of a whole series, in ascending order. O(n·log(n)) time, O(n)
 *  workspace.
 *
 *  The series must have at least twenty independent samples: for an autocorrelation phi
 *  of neighbors, n samples are worth n (1 - phi) / (1 + phi). If there are fewer, only
 *  changes that are significant even if phi is three standard errors above its estimate
 *  are found; if there is none, the result is ::TSANOM_INFEASIBLE: neither a change nor its
 *  absence can be shown.
 *  @param      x         samples, finite
 *  @param      n         number of samples
 *  @param      options   `level` is used, other fields must be at their defaults. NULL:
 *                        the defaults
 *  @array{points,count}
 *  @exec @status
 *  @retval TSANOM_INFEASIBLE   too few samples for their autocorrelation; *count is 0
 *  @retval TSANOM_E_NONFINITE  a sample is NaN or infinite; the fault has its index */
TSANOM_API tsanom_status tsanom_change_find(const double *x, size_t n,
                                            const tsanom_change_options *options,
                                            const tsanom_exec *exec,
                                            tsanom_change_point *points, size_t capacity,
                                            size_t *count);

/** A detector: receives samples while they are measured. One call at a time may use it. */
typedef struct tsanom_change_detector tsanom_change_detector;

/** Make a detector in one block of exec's allocator, which must outlive it. O(reference)
 *  memory for any number of samples.
 *  @param      options   `level` and `reference` are used, other fields must be at their
 *                        defaults. NULL: the defaults
 *  @param[out] detector  pass it to tsanom_change_destroy()
 *  @exec @status */
TSANOM_API tsanom_status tsanom_change_create(const tsanom_change_options *options,
                                              const tsanom_exec *exec,
                                              tsanom_change_detector **detector);

/** Free a detector. @param detector NULL: nothing happens */
TSANOM_API void tsanom_change_destroy(tsanom_change_detector *detector);

/** Push samples; returns the changes that they reveal. O(1) per sample,
 *  O(reference) where one is suspected.
 *
 *  The first `reference` samples define the level, the scatter and the autocorrelation. A
 *  change is reported as soon as it is certain, for a step of three times the scatter
 *  about five samples later. The detector then learns the new level. A change by less
 *  than 1.5 times the scatter may remain undetected; tsanom_change_find() finds it later.
 *  `size` is a first estimate from the samples since the change.
 *  @the{detector}
 *  @param      x         samples
 *  @param      n         number of samples, >= 0
 *  @param[out] points    changes, in ascending order; NULL if capacity is 0
 *  @param      capacity  elements of `points`
 *  @param[out] count     number of changes stored
 *  @param[out] taken     number of samples taken in
 *  @status
 *  @retval TSANOM_PARTIAL      `points` is full; call again with x + *taken
 *  @retval TSANOM_E_NONFINITE  a sample is NaN or infinite; nothing was taken in */
TSANOM_API tsanom_status tsanom_change_push(tsanom_change_detector *detector,
                                            const double *x, size_t n,
                                            tsanom_change_point *points, size_t capacity,
                                            size_t *count, size_t *taken);

/** Two sets of runs. Set struct_size to sizeof(tsanom_change_comparison). */
typedef struct tsanom_change_comparison {
  size_t struct_size; /**< set by the caller */
  double a;           /**< mean of the first set */
  double b;           /**< mean of the second set */
  double difference;  /**< b - a */
  double low;         /**< with 95 %, the true difference is at least this; -infinity:
                           not known */
  double high;        /**< and at most this; infinity: not known */
  /** Probability of a difference like this between sets of the same program. The sets
   *  differ if it is at most the `level` of the options. */
  double significance;
  /** Smallest true difference that this number of runs with this scatter can show:
   *  1.5 times as much is found in 95 % of comparisons. Infinity: there are too few runs
   *  for any difference to be significant. */
  double detectable;
  uint64_t reserved; /**< 0 */
} tsanom_change_comparison;

/** Compare two sets of runs, with one number per run, such as its median iteration time.
 *  Use logarithms if you expect a ratio. The samples of a set must be independent of each
 *  other; their distribution is arbitrary.
 *
 *  | runs                          | method                                            |
 *  |-------------------------------|---------------------------------------------------|
 *  | unpaired, such as 8 + 8       | all permutations of the runs, exact, up to 16384  |
 *  | up to 14 pairs                | all exchanges within pairs, exact                 |
 *  | more                          | Student's t                                       |
 *  | sequential                    | bets on the sign of the next difference           |
 *
 *  The significance is that of two one-sided tests of the difference of the means: twice the
 *  smaller one, at most 1. Differences that only rounding distinguishes are equal.
 *  With a level of 0.01, five runs of each program are the fewest that can differ, or
 *  eight pairs. A sequential comparison needs at least nine pairs. It allocates nothing.
 *  @param      a         one number per run of the first program, finite
 *  @param      a_count   number of these
 *  @param      b         one number per run of the second program, finite
 *  @param      b_count   number of these; a_count if `paired`
 *  @param      options   `level`, `paired` and `sequential` are used, `reference` must be
 *                        at its default. NULL: the defaults
 *  @param[out] comparison  struct_size is read; all other fields are written
 *  @exec @status
 *  @retval TSANOM_E_NONFINITE  a number is NaN or infinite; the fault has its index */
TSANOM_API tsanom_status tsanom_change_compare(const double *a, size_t a_count,
                                               const double *b, size_t b_count,
                                               const tsanom_change_options *options,
                                               const tsanom_exec *exec,
                                               tsanom_change_comparison *comparison);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
