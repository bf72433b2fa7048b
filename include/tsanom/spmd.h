/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Similarity of the processes of an SPMD program: which of them differ, in which
 *  region of the code, and why.
 *
 *  Process i has the performance vector V_i of the CPU times T_ik of the code
 *  regions k. Distances of two processes are Euclidean (eq. 1 of the paper),
 *  Dist_ij = sqrt(sum_k (T_ik - T_jk)^2), and processes are classified by density.
 *  If there is more than one class, the five-step search of section 3 names the
 *  critical code regions (CCR) and their cores (CCCR), and the rough set of section
 *  4 the metrics that tell the classes apart in the cores.
 *
 *  Source: "A Novel Similarity Analysis and Rough Set Method" for SPMD programs,
 *  sections 3 to 5. Equation 2, the severity, is lost in the copy at hand: see
 *  tsanom_spmd_report.severity. Calls with distinct workspaces may run at once. */
#ifndef TSANOM_SPMD_H
#define TSANOM_SPMD_H

#include <tsanom/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How the region tree begins. ABI: append, never renumber. */
enum {
  /** Every region without a parent is of nested hierarchy 1, as in the paper's
   *  figure 1, where the program itself is no region (default). */
  TSANOM_SPMD_FOREST = 0,
  /** Exactly one region has no parent: it is the program, of hierarchy 0, and the
   *  regions nested in it directly are of hierarchy 1. */
  TSANOM_SPMD_PROGRAM = 1
};

/** What the largest distance is divided by. ABI: append, never renumber. */
enum {
  TSANOM_SPMD_LARGEST_NORM = 0, /**< the largest norm of a vector (default) */
  TSANOM_SPMD_MEAN_NORM = 1     /**< the mean of the norms */
};

/** Where processes become different kinds. ABI: append, never renumber. */
enum {
  /** At eps' = tolerance times the largest norm (default). */
  TSANOM_SPMD_CUT_TOLERANCE = 0,
  /** At a gap of the reachabilities that chance does not explain, if there is one above
   *  that eps', as tsanom_optics_split() finds it; else there is one class. Forgives
   *  noise of any size, and so does not see processes that all differ by as much. */
  TSANOM_SPMD_CUT_AUTOMATIC = 1,
  /** At that eps', or at what noise explains if that is larger. Noise is what varies
   *  independently in most regions of hierarchy 1, once a process's share of all work is
   *  taken out; with fewer than 5 regions it is not told from the rest. Forgives noise of
   *  any size, but also differences in most regions that have nothing to do with each
   *  other. */
  TSANOM_SPMD_CUT_NOISE = 2
};

/** What is analysed: fill by tsanom_spmd_data_init(), then set the fields. The
 *  arrays are only read. */
typedef struct tsanom_spmd_data {
  size_t struct_size;    /**< set by _init: which fields this caller knows */
  size_t processes;      /**< 1 ... 2^31 - 1 */
  size_t regions;        /**< 1 ... 2^31 - 1 */
  size_t metrics;        /**< accessory metrics; may be 0 */
  const int32_t *parent; /**< regions of them: the region that k is nested in
                              directly, or ::TSANOM_SPMD_NONE; in any order */
  const double *time;    /**< time[i * time_stride + k] = T_ik, the CPU time of
                              region k in process i with all that is nested in it;
                              finite and >= 0, in any one unit */
  size_t time_stride;    /**< >= regions; 0: regions */
  const double *metric;  /**< one matrix a metric, one behind the other: metric
                              m of region k in process i is
                              metric[(m * processes + i) * metric_stride + k]; a NaN
                              says that it was not measured */
  size_t metric_stride;  /**< >= regions; 0: regions */
  double elapsed;        /**< wall time of the whole, in the unit of time; 0: not
                              known (default) */
} tsanom_spmd_data;

/** What to compute: fill by tsanom_spmd_options_init(), then change fields. */
typedef struct tsanom_spmd_options {
  size_t struct_size;       /**< set by _init: which fields this caller knows */
  double tolerance;         /**< two processes are neighbours if their vectors differ by
                                 at most so large a part of the largest norm; > 0;
                                 0.05 (default) */
  double metric_tolerance;  /**< the same for the values of one metric; 0.05
                                 (default) */
  int32_t tree;             /**< TSANOM_SPMD_FOREST (default) or _PROGRAM */
  int32_t norm;             /**< TSANOM_SPMD_LARGEST_NORM (default) or _MEAN_NORM */
  size_t combination_size;  /**< step 3 combines at most so many regions;
                                 SIZE_MAX (default) */
  size_t combination_limit; /**< step 3 tries at most so many combinations;
                                 2^16 (default) */
  int32_t cut;  /**< TSANOM_SPMD_CUT_TOLERANCE (default), ..., of processes and
                     of metrics that were measured in all */
  int32_t deep; /**< 1: beyond the paper, search on inside of what step 3
                     finds, and for combinations inside of a CCR; 0 (default) */
} tsanom_spmd_options;

/** What is known of one region. */
typedef struct tsanom_spmd_region {
  double min;         /**< smallest time of a process */
  double mean;        /**< mean time of the processes */
  double max;         /**< largest time of a process */
  double imbalance;   /**< max / mean - 1; 0 if all times are 0 */
  size_t min_process; /**< the first process with the smallest time */
  size_t max_process; /**< the first process with the largest time */
  int32_t level;      /**< nested hierarchy: 1 for the outermost regions */
  int32_t ccr;        /**< 1: a critical code region, a level-CCR; else 0 */
  int32_t cccr;       /**< 1: the core of a critical code region; else 0 */
  int32_t reserved0;  /**< 0 */
} tsanom_spmd_region;

/** One re-clustering of the search and what followed from it. */
typedef struct tsanom_spmd_decision {
  int32_t step;     /**< 1: all regions of hierarchy 1; 2: without one of them; 3:
                         without a combination of them, or, of a level above 1, with a
                         combination in the place of the region around them; 4: with a
                         nested region in the place of the region around it, or, of
                         level 1, with one region while what step 3 found is left out */
  int32_t level;    /**< hierarchy of the regions tried */
  int32_t changed;  /**< 1: the classes are not those of step 1 */
  int32_t critical; /**< 1: what was tried is a CCR: if the classes changed when it was
                         left out, if they did not when it was put in */
  size_t classes;   /**< how many classes there are then */
  size_t first;     /**< the regions tried are members first ... first + count - 1 */
  size_t count;     /**< how many: 0 in step 1, n in step 3, else 1 */
} tsanom_spmd_decision;

/** How the search ended. ABI: append, never renumber. */
enum {
  TSANOM_SPMD_SIMILAR = 0,  /**< one class: nothing to search */
  TSANOM_SPMD_DESCENT = 1,  /**< by steps 2, 4 and 5 */
  TSANOM_SPMD_COMBINED = 2, /**< by step 3; CCCR: the intersection of the
                                 combinations that are CCRs */
  /** By step 3, and the combinations have no region in common: CCCR: all of them. */
  TSANOM_SPMD_DISJOINT = 3,
  TSANOM_SPMD_NOT_FOUND = 4, /**< no combination tried changes the classes */
  TSANOM_SPMD_UNFINISHED = 5 /**< stopped by the poll */
};

/** The report: fill by tsanom_spmd_report_init(), then point the arrays that are
 *  wanted to memory; each may be NULL. The other fields are results. */
typedef struct tsanom_spmd_report {
  size_t struct_size;             /**< set by _init: which fields this caller knows */
  int32_t *class_of;              /**< processes values: the class, counted from 0 in
                                       order of first appearance */
  tsanom_spmd_region *region;     /**< regions of them */
  tsanom_spmd_decision *decision; /**< the first decisions, in order */
  size_t decision_capacity;       /**< decisions that fit */
  size_t *member;                 /**< regions that the decisions refer to */
  size_t member_capacity;         /**< regions that fit */
  int32_t *code;                  /**< processes * metrics values: the decision table's
                                       attributes, code[i * metrics + m]: the class of
                                       metric m in the CCCRs, or
                                       ::TSANOM_ROUGHSET_MISSING; its decision is
                                       class_of */
  uint64_t *core;                 /**< (metrics + 63) / 64 words: metrics in every
                                       reduct */
  uint64_t *reduct;               /**< as many words for each root cause */
  size_t reduct_capacity;         /**< root causes that fit */
  size_t *order;                  /**< processes values: their OPTICS order in step 1,
                                       MinPts = 1, eps infinite */
  double *reachability;           /**< processes values in that order, in the unit of
                                       time; the first is INFINITY */

  double eps;              /**< result: eps', in the unit of time; INFINITY if the
                                automatic cut finds one class */
  size_t classes;          /**< result: kinds of processes */
  double severity;         /**< result: S = largest distance / largest norm; 0 if all
                                processes are equal; at most sqrt(2) of the largest */
  double largest_distance; /**< result: of two processes, over hierarchy 1 */
  double largest_norm;     /**< result: of a process, over hierarchy 1 */
  double mean_norm;        /**< result: of the processes */
  size_t ccrs;             /**< result: regions that are CCRs */
  size_t cccrs;            /**< result: regions that are CCCRs */
  size_t decisions;        /**< result: how many there are, beyond capacity too */
  size_t members;          /**< result: how many there are, beyond capacity too */
  size_t combination;      /**< result: the n at which step 3 ended; 0: not needed */
  int32_t search;          /**< result: TSANOM_SPMD_SIMILAR ... */
  int32_t limited;         /**< result: 1: combination_limit ended step 3 */
  double dependency;       /**< result: part of the processes whose class the metrics
                                determine (gamma of rough sets); 0 without metrics */
  size_t reducts;          /**< result: root causes, beyond capacity too: the paper's
                                choice among the reducts, all that tie */

  double mean_total;      /**< result: mean over processes of the time in hierarchy 1 */
  double max_total;       /**< result: the largest of them */
  double region_total;    /**< result: sum over hierarchy 1 of the largest times, the
                               least that a program needs that waits for all after
                               each region */
  double load_balance;    /**< result: mean_total / max_total; 1 if all is 0 */
  double serialisation;   /**< result: max_total / region_total: what is lost because
                               different processes are late in different regions; 1 if
                               all is 0 */
  double scheduling;      /**< result: region_total / elapsed: what is lost outside the
                               regions; valid if has_elapsed */
  double efficiency;      /**< result: mean_total / elapsed if has_elapsed, else
                               mean_total / region_total */
  int32_t has_elapsed;    /**< result: 1: elapsed was given */
  int32_t verdict_class;  /**< result: the class that is slowest in verdict_region, or
                               ::TSANOM_SPMD_NONE */
  int32_t verdict_region; /**< result: the CCCR with the largest max - mean, or
                               ::TSANOM_SPMD_NONE */
  int32_t verdict_metric; /**< result: the lowest metric of the first root cause, or
                               ::TSANOM_SPMD_NONE */
  double verdict_saving;  /**< result: 1 - mean_total / region_total: an ideal balance
                               would run in so much less time */
} tsanom_spmd_report;

/** Write empty data.
 *  @param[out] data         the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     data is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_spmd_data_init(tsanom_spmd_data *data,
                                               size_t struct_size);

/** Write the defaults described at ::tsanom_spmd_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_spmd_options_init(tsanom_spmd_options *options,
                                                  size_t struct_size);

/** Write an empty report.
 *  @param[out] report       the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     report is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_spmd_report_init(tsanom_spmd_report *report,
                                                 size_t struct_size);

/** Bytes of workspace that tsanom_spmd_analyse() needs:
 *  O(processes (regions + metrics)), and what rough sets need for so many rows and
 *  attributes. Monotone in each size.
 *  @param      processes  >= 1
 *  @param      regions    >= 1
 *  @param      metrics    may be 0
 *  @param      options    NULL: the defaults
 *  @param      exec       NULL: one thread
 *  @param[out] bytes      the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_spmd_workspace(size_t processes, size_t regions,
                                               size_t metrics,
                                               const tsanom_spmd_options *options,
                                               const tsanom_exec *exec, size_t *bytes);

/** Analyse one run.
 *
 *  Classes: those of OPTICS with MinPts = 1 cut at eps', by default tolerance times
 *  the largest norm of step 1. With MinPts = 1 the cut is the connected components of
 *  the graph of distances up to eps', which is how it is computed; a process without
 *  neighbours is a class of its own. eps' is kept through the search.
 *
 *  Step 1: only hierarchy 1 counts. Step 2: a region without which the
 *  classification changes is a 1-CCR. Step 3, if there is none: combinations of
 *  n = 2, 3, ... regions are taken out together; at the first n at which the
 *  classification changes, the CCCR is the intersection of all combinations that
 *  change it, and the search ends. Step 4: in the vectors an (I-1)-CCR is replaced by
 *  one region nested directly in it; if the classification is that of step 1, that
 *  region is an I-CCR. Step 5: a CCR that holds no CCR is a CCCR. A region whose
 *  time is 0 in all processes is not tried, and step 3 leaves out regions whose time
 *  is the same in all, which cannot change a distance.
 *
 *  The paper ends with step 3, at hierarchy 1. With options->deep, steps 4 and 5 go on
 *  inside each of the regions it finds, with the others left out, if the region alone
 *  gives the classification of step 1; and where no single region nested in a CCR is a
 *  CCR, combinations of n = 2, 3, ... of them take its place together, their times
 *  added: those of the first n at which the classification is that of step 1 are CCRs,
 *  and their intersection, or all if it is empty, is CCCR.
 *
 *  Cause: each metric is a vector over the CCCRs (over hierarchy 1 if there is
 *  none), and classified as above with metric_tolerance; processes by metrics are the
 *  decision table, the classes of the processes its decision, and the root causes are
 *  the reducts that tsanom_roughset_paper_choice() chooses, or the one of
 *  tsanom_roughset_greedy() beyond 24 metrics or 4096 discernibility elements. The
 *  empty set is never a root cause.
 *
 *  One process, or all equal: one class, severity 0, no CCR. One thread computes.
 *  A re-clustering costs O(processes * classes * regions) where classes are compact
 *  and at worst O(processes^2 regions); so does the order, if it is asked for or the
 *  cut is automatic. Steps 2 and 4 make at most one for each region,
 *  step 3 up to combination_limit. The poll is asked before each.
 *  @param         data        what was measured
 *  @param         options     NULL: the defaults
 *  @param         exec        NULL: no poll, the C heap
 *  @param         work        scratch that overlaps nothing; NULL: one block is
 *                             borrowed from exec's allocator
 *  @param         work_bytes  at least tsanom_spmd_workspace()'s answer
 *  @param[in,out] report      the arrays that are wanted; results
 *  @retval TSANOM_PARTIAL      an array is too small for all decisions, members or
 *                              root causes, or combination_limit was reached
 *  @retval TSANOM_STOPPED      the poll asked to stop: the search is as far as it came,
 *                              and there is no root cause
 *  @retval TSANOM_E_NULL       data, report, or an array of data is NULL
 *  @retval TSANOM_E_COUNT      no process or no region; too many; with
 *                              ::TSANOM_SPMD_PROGRAM not exactly one region without
 *                              a parent
 *  @retval TSANOM_E_OPTION     a field of options, a stride or elapsed is out of its
 *                              range
 *  @retval TSANOM_E_FORMAT     the parents make a cycle
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the times, an infinity among
 *                              the metrics
 *  @retval TSANOM_E_VALUE      a negative time, or a parent that is no region
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused struct or exec */
TSANOM_API tsanom_status tsanom_spmd_analyse(const tsanom_spmd_data *data,
                                             const tsanom_spmd_options *options,
                                             const tsanom_exec *exec, void *work,
                                             size_t work_bytes,
                                             tsanom_spmd_report *report);

#ifdef __cplusplus
}
#endif
#endif
