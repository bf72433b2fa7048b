/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  The processes of a program do the same work: which of them differ, in which region of
 *  the code, and why?
 *
 *  Measure the CPU time of each region in each process, and call tsanom_spmd_analyze(). If
 *  you also measure metrics, such as cache misses, the report names those that discern the
 *  classes. <tsanom/record.h> has a recorder that measures regions inside a program; if you
 *  recorded the program with `tsanom record`, take the data of tsanom_runs_spmd().
 *
 *  @code{.c}
 *  // seconds of 4 processes in 2 regions: the last process is slow in region 1
 *  double time[] = {2, 5, 2, 5, 2, 5, 2, 9};
 *  int32_t parent[] = {TSANOM_SPMD_NONE, TSANOM_SPMD_NONE}, class_of[4];
 *  tsanom_spmd_data data = {.struct_size = sizeof data, .processes = 4, .regions = 2,
 *                           .parent = parent, .time = time};
 *  tsanom_spmd_report report = {.struct_size = sizeof report, .class_of = class_of};
 *  tsanom_spmd_analyze(&data, NULL, NULL, &report);
 *  printf("%zu classes; the last process is in class %d\n", report.classes, class_of[3]);
 *  // -> 2 classes; the last process is in class 1
 *  printf("cause: region %d\n", report.verdict_region);  // -> cause: region 1
 *  @endcode
 *
 *  By default processes belong to one class if the distance of their times is at most 5 %
 *  of the largest norm. Set options.tolerance to the difference that matters to you. If you
 *  do not know one, set options.cut to ::TSANOM_SPMD_CUT_NOISE, best together with
 *  data.error.
 *
 *  Process i has the performance vector \f$V_i\f$ of the CPU times \f$T_{ik}\f$ of the
 *  code regions k. The distance of two processes is Euclidean (eq. 1 of the paper),
 *  \f$Dist_{ij} = \sqrt{\sum_k (T_{ik} - T_{jk})^2}\f$, and processes are classified by
 *  density. If there is more than one class, the five-step search of section 3 finds the
 *  critical code regions (CCR) and their cores (CCCR), and the rough set of section 4
 *  finds the metrics that discern the classes in the cores.
 *
 *  Errors besides the common ones: ::TSANOM_E_COUNT, also: a count above 2^31 - 1;
 *  ::TSANOM_E_OPTION, also: a leading dimension or the elapsed time is out of its range;
 *  ::TSANOM_E_NONFINITE, a time is NaN or infinite, or a metric infinite;
 *  ::TSANOM_E_VALUE, a time is negative; ::TSANOM_E_INDEX, a parent is not a region;
 *  ::TSANOM_E_FORMAT, the parents form a cycle. "data.time" with element i and second k
 *  is \f$T_{ik}\f$; "data.metric" with element m·processes + i and second k is metric m
 *  of region k in process i. Calls with different outputs may run at the same time.
 *
 *  Source: "A Novel Similarity Analysis and Rough Set Method" for SPMD programs,
 *  sections 3 to 5. Equation 2, the severity, is missing in the available copy: see
 *  tsanom_spmd_report::severity. */
#ifndef TSANOM_SPMD_H
#define TSANOM_SPMD_H

#include <tsanom/base.h>

/** @addtogroup spmd
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/** Roots of the region tree. ABI: append only. */
enum {
  /** Every region without a parent has nested hierarchy 1, as in the paper's figure 1,
   *  where the program itself is no region (default). */
  TSANOM_SPMD_FOREST = 0,
  /** Exactly one region has no parent: it is the program, of hierarchy 0, and the regions
   *  nested in it directly have hierarchy 1. */
  TSANOM_SPMD_PROGRAM = 1
};

/** Divisor of the largest distance. ABI: append only. */
enum {
  TSANOM_SPMD_LARGEST_NORM = 0, /**< the largest norm of a vector (default) */
  TSANOM_SPMD_MEAN_NORM = 1     /**< the mean of the norms */
};

/** Distance eps' from which processes belong to different classes. ABI: append only. */
enum {
  /** tolerance times the largest norm (default). */
  TSANOM_SPMD_CUT_TOLERANCE = 0,
  /** A gap of the reachabilities that chance does not explain, if there is one above the
   *  eps' of the tolerance, as tsanom_optics_split() finds it; else there is one class.
   *  Ignores noise of any size, and so does not detect processes that all differ by equal
   *  distances. */
  TSANOM_SPMD_CUT_AUTOMATIC = 1,
  /** Processes differ that differ from the median of the others by more than the eps' of
   *  the tolerance, and in some region of hierarchy 1 by more than noise explains, with
   *  an error of 1 % of all runs. The noise is stated by tsanom_spmd_data::error. Without
   *  it the scatter of 64 or more processes shows it; that of fewer is taken for 8 %
   *  of each time, and if none differs by more, the search ends with
   *  ::TSANOM_SPMD_UNKNOWN. Kinds are what eps' separates: what noise explains, or less if
   *  most processes are alike and one that differs is nearer to them. */
  TSANOM_SPMD_CUT_NOISE = 2
};

/** Input of the analysis. Begin with `{.struct_size = sizeof x}`, then set the
 *  fields. The arrays are only read. */
typedef struct tsanom_spmd_data {
  size_t struct_size;    /**< sizeof, set by the caller */
  size_t processes;      /**< 1 ... 2^31 - 1 */
  size_t regions;        /**< 1 ... 2^31 - 1 */
  size_t metrics;        /**< accessory metrics; may be 0 */
  const int32_t *parent; /**< `regions` values: the region that region k is nested in
                              directly, or ::TSANOM_SPMD_NONE; in any order */
  const double *time;    /**< time[i * time_ld + k] = T_ik, the CPU time of region k in
                              process i, nested regions included; finite and >= 0, in
                              any unit */
  size_t time_ld;        /**< >= regions; 0: regions */
  const double *metric;  /**< `metrics` matrices one behind another: metric m of region k
                              in process i is metric[(m * processes + i) * metric_ld + k];
                              NaN: not measured */
  size_t metric_ld;      /**< >= regions; 0: regions */
  double elapsed;        /**< wall time of the program, same unit; 0 (default): unknown */
  const double *error;   /**< error[i * time_ld + k]: the standard error of T_ik, from
                              the scatter of 10 blocks of the run, for example, in the
                              unit of time; >= 0, or NaN: not known. NULL: of none
                              (default).
                              Used by ::TSANOM_SPMD_CUT_NOISE */
} tsanom_spmd_data;

/** What to compute. Initialize it with tsanom_spmd_options_init(), then change fields. */
typedef struct tsanom_spmd_options {
  size_t struct_size;       /**< set by _init */
  double tolerance;         /**< two processes are neighbors if the distance of their
                                 vectors is at most this part of the largest norm;
                                 0 < tolerance <= 1; 0.05 (default) */
  double metric_tolerance;  /**< the same for the values of one metric; 0.05 (default) */
  int32_t tree;             /**< TSANOM_SPMD_FOREST (default) or _PROGRAM */
  int32_t norm;             /**< TSANOM_SPMD_LARGEST_NORM (default) or _MEAN_NORM */
  size_t combination_size;  /**< most regions that step 3 combines; SIZE_MAX (default) */
  size_t combination_limit; /**< most combinations that step 3 tries; 2^16 (default) */
  int32_t cut;              /**< TSANOM_SPMD_CUT_*; tolerance (default); of processes, and
                                 of metrics that were measured in all */
  int32_t deep;             /**< 1: beyond the paper, continue the search inside the
                                 regions that step 3 finds, and for combinations inside a
                                 CCR; 0 (default) */
} tsanom_spmd_options;

/** One region of the report. */
typedef struct tsanom_spmd_region {
  double min;           /**< smallest time of a process */
  double mean;          /**< mean time of the processes */
  double max;           /**< largest time of a process */
  double imbalance;     /**< max / mean - 1; 0 if all times are 0 */
  size_t min_process;   /**< the first process with the smallest time */
  size_t max_process;   /**< the first process with the largest time */
  int32_t level;        /**< nested hierarchy: 1 for the outermost regions */
  int32_t ccr;          /**< 1: a critical code region, a level-CCR; else 0 */
  int32_t cccr;         /**< 1: the core of a critical code region; else 0 */
  int32_t reserved0;    /**< 0 */
  uint64_t reserved[4]; /**< 0 */
} tsanom_spmd_region;

/** One re-clustering of the search and its result. */
typedef struct tsanom_spmd_decision {
  int32_t step;     /**< 1: all regions of hierarchy 1; 2: without one of them; 3: without
                         a combination of them or, for a level above 1, with a combination
                         in place of the region around them; 4: with a nested region in
                         place of the region around it or, for level 1, with one region
                         while the others that step 3 found are left out */
  int32_t level;    /**< hierarchy of the regions tried */
  int32_t changed;  /**< 1: the classes differ from those of step 1 */
  int32_t critical; /**< 1: what was tried is a CCR: classes changed without it or not
                         with it */
  size_t classes;   /**< number of classes */
  size_t first;     /**< the regions tried are members first ... first + count - 1 */
  size_t count;     /**< their number: 0 in step 1, n in step 3, else 1 */
  uint64_t reserved[2]; /**< 0 */
} tsanom_spmd_decision;

/** How the search ended. ABI: append only. */
enum {
  TSANOM_SPMD_SIMILAR = 0,  /**< one class: no search */
  TSANOM_SPMD_DESCENT = 1,  /**< by steps 2, 4 and 5 */
  TSANOM_SPMD_COMBINED = 2, /**< by step 3; CCCR: the intersection of the combinations
                                 that are CCRs */
  /** By step 3, and the combinations have no region in common: CCCR: all of them. */
  TSANOM_SPMD_DISJOINT = 3,
  TSANOM_SPMD_NOT_FOUND = 4,  /**< no combination tried changes the classes */
  TSANOM_SPMD_UNFINISHED = 5, /**< stopped by the poll */
  /** One class, because one measurement per region of fewer than 64 processes cannot tell
   *  smaller differences from noise: ::TSANOM_SPMD_CUT_NOISE without errors. */
  TSANOM_SPMD_UNKNOWN = 6
};

/** The report. Begin with `{.struct_size = sizeof x}`, then point the arrays that
 *  are wanted to memory; each may be NULL. The fields from eps on are results, written as
 *  far as struct_size reaches. */
typedef struct tsanom_spmd_report {
  size_t struct_size;             /**< sizeof, set by the caller */
  int32_t *class_of;              /**< `processes` values: the class, from 0 in order of
                                       appearance */
  tsanom_spmd_region *region;     /**< `regions` elements */
  tsanom_spmd_decision *decision; /**< the first decisions, in order */
  size_t decision_capacity;       /**< elements of `decision` */
  size_t *member;                 /**< regions that the decisions refer to */
  size_t member_capacity;         /**< elements of `member` */
  int32_t *code;                  /**< processes * metrics values: the attributes of the
                                       decision table, code[i * metrics + m]: the class of
                                       metric m in the CCCRs, or
                                       ::TSANOM_ROUGHSET_MISSING; its decision is
                                       class_of */
  uint64_t *core;         /**< (metrics + 63) / 64 words: metrics in every reduct */
  uint64_t *reduct;       /**< that number of words for each root cause */
  size_t reduct_capacity; /**< root causes that fit in `reduct` */
  size_t *order;          /**< `processes` values: their OPTICS order in step 1,
                               MinPts = 1, eps infinite */
  double *reachability;   /**< `processes` values in that order, in the unit of
                               time; the first is INFINITY */

  double eps;              /**< eps', in the unit of time; INFINITY if the
                                automatic cut, or that by noise, finds one class */
  size_t classes;          /**< number of classes */
  double severity;         /**< S = largest distance / largest norm; 0 if all processes
                                are equal; at most √2 for the largest norm */
  double largest_distance; /**< of two processes, over hierarchy 1; of many processes
                                in many regions, of those that were compared */
  double largest_norm;     /**< of a process, over hierarchy 1 */
  double mean_norm;        /**< of the processes */
  size_t ccrs;             /**< regions that are CCRs */
  size_t cccrs;            /**< regions that are CCCRs */
  size_t decisions;        /**< number of decisions; may exceed the capacity */
  size_t members;          /**< number of members; may exceed the capacity */
  size_t combination;      /**< the n at which step 3 ended; 0: not needed */
  int32_t search;          /**< TSANOM_SPMD_SIMILAR ... */
  int32_t limited;         /**< 1: combination_limit ended step 3 */
  double dependency;       /**< part of the processes whose class the metrics
                                determine (gamma of rough sets); 0 without metrics */
  size_t reducts;          /**< number of root causes, all that tie in the paper's
                                choice among the reducts; may exceed the capacity */

  double mean_total;      /**< mean over processes of the time in hierarchy 1 */
  double max_total;       /**< the largest of them */
  double region_total;    /**< sum over hierarchy 1 of the largest times, the
                               least time of a program in which all processes wait for
                               each other after each region */
  double load_balance;    /**< mean_total / max_total; 1 if all is 0 */
  double serialization;   /**< max_total / region_total: the loss because different
                               processes are late in different regions; 1 if all is 0 */
  double scheduling;      /**< region_total / elapsed: the loss outside the
                               regions; valid if has_elapsed */
  double efficiency;      /**< mean_total / elapsed if has_elapsed, else
                               mean_total / region_total */
  int32_t has_elapsed;    /**< 1: elapsed was given */
  int32_t verdict_class;  /**< the class that takes longest in hierarchy 1, or
                               ::TSANOM_SPMD_NONE if there is one class */
  int32_t verdict_region; /**< of the CCCRs in which one of verdict_class is slowest that
                               with the largest max - mean, less twice the standard error
                               of that, or ::TSANOM_SPMD_NONE */
  int32_t verdict_metric; /**< lowest metric of the first root cause, or
                               ::TSANOM_SPMD_NONE */
  double verdict_saving;  /**< 1 - mean_total / region_total: the part of the run
                               time that an ideal balance saves */
} tsanom_spmd_report;

/** Write the defaults described at ::tsanom_spmd_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_spmd_options_init(tsanom_spmd_options *options,
                                                  size_t struct_size);

/** Analyze one run.
 *
 *  Classes: those of OPTICS with MinPts = 1 cut at eps', by default tolerance times the
 *  largest norm of step 1. With MinPts = 1 the cut consists of the connected components
 *  of the graph of distances up to eps', which is how it is computed; a process without
 *  neighbors is a class of its own. eps' does not change during the search.
 *
 *  Step 1: only hierarchy 1 counts. Step 2: a region without which the classification
 *  changes is a 1-CCR. Step 3, if there is none: combinations of n = 2, 3, ... regions
 *  are left out together; at the first n at which the classification changes, the CCCR is
 *  the intersection of all combinations that change it, and the search ends. Step 4: in
 *  the vectors an (I-1)-CCR is replaced by one region nested directly in it; if the
 *  classification is that of step 1, that region is an I-CCR. Step 5: a CCR that contains
 *  no CCR is a CCCR. A region whose time is 0 in all processes is not tried, and step 3
 *  leaves out regions whose time is the same in all, which cannot change a distance.
 *
 *  The paper ends with step 3, at hierarchy 1. With options->deep, steps 4 and 5 continue
 *  inside each of the regions it finds, with the others left out, if the region alone
 *  gives the classification of step 1; and if no single region nested in a CCR is a CCR,
 *  combinations of n = 2, 3, ... of them take its place together, their times added:
 *  those of the first n at which the classification is that of step 1 are CCRs, and their
 *  intersection, or all of them if it is empty, is the CCCR.
 *
 *  Cause: each metric is a vector over the CCCRs (over hierarchy 1 if there is none),
 *  classified as above with metric_tolerance. Processes by metrics are the decision
 *  table, the classes of the processes its decision, and the root causes are the reducts
 *  that tsanom_roughset_paper_choice() chooses, or the one of tsanom_roughset_greedy()
 *  beyond 24 metrics or 4096 discernibility elements. The empty set is never one.
 *
 *  One process, or all equal: one class, severity 0, no CCR. One thread computes, of 4096
 *  and more processes in many classes up to 15. A re-clustering costs
 *  O(processes·classes·regions) if classes are compact, and O(processes^2·regions) in the
 *  worst case, as does the order, which is computed if it is requested, or if the cut is
 *  automatic and the steps between the largest classes do not determine it. Steps 2 and 4
 *  need at most one for each region, step 3 at most combination_limit. One of step 2 or 3
 *  costs O(classes^2·regions) if the classes, at most 64, remain far apart. The poll is
 *  called before each, and after each 4 million coordinates that were read.
 *
 *  The workspace is O(processes·(regions + metrics)), and what the rough set needs.
 *
 *  The largest distance is exact if pairs with 2^32 coordinates determine it: 6400
 *  processes in 200 regions, more in fewer regions or if some processes are far from the
 *  others. Otherwise it is the largest one of all pairs of the outermost processes, and
 *  of 8 of these with all others. With the radii r, the distances from the mean process,
 *  it is at least sqrt(max r^2 + mean r^2), and so at least half of the largest one.
 *  @param         data    the measurements
 *  @param[in,out] report  the arrays that are wanted; results
 *  @options @exec @status
 *  @retval TSANOM_PARTIAL  an array has not enough capacity for all decisions, members or
 *                          root causes, or combination_limit was reached
 *  @retval TSANOM_STOPPED  the poll stopped the call: the report has the search so far,
 *                          no root cause; before step 1 ended, one class, and the
 *                          largest distance found so far */
TSANOM_API tsanom_status tsanom_spmd_analyze(const tsanom_spmd_data *data,
                                             const tsanom_spmd_options *options,
                                             const tsanom_exec *exec,
                                             tsanom_spmd_report *report);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
