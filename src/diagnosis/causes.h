/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files about signs and causes; README.md lists them. */
#ifndef TSN_DIAGNOSIS_CAUSES_H
#define TSN_DIAGNOSIS_CAUSES_H

#include <tsanom/vital.h>

#include "hsa/hsa.h"

/* --- measure.c --- */

/* Whether signs can be computed of a run. `name` and `i` as for tsn_hsa_check_run(). */
tsanom_status tsn_hsa_check_vitals(const tsanom_hsa_run *run, const char *name, size_t i,
                                   const tsanom_exec *exec);

/* Of a machine as the recorder names it, "2 x AMD EPYC": the processors that the program
 * may use, 0 if that is not known; *name begins behind that. */
size_t tsn_hsa_processors(const char *machine, const char **name);

/* --- signs.c --- */

/* The part of the beats that does not count for memory, and the one after which its first
 * sample is late. */
#define TSN_HSA_BEGINNING 0.2
#define TSN_HSA_LATE 0.4

/* The signs of all threads of a checked run. */
void tsn_hsa_measure(const tsanom_hsa_run *run, tsanom_hsa_signs *signs);

/* Beats of a series that are not after a time, in O(log beats). */
size_t tsn_hsa_beats_until(const tsanom_hsa_series *series, double time);

/* Set the signs of a thread that follow from its samples alone. */
void tsn_hsa_measure_samples(const tsanom_hsa_series *series, double *value);

/* The sample that memory grows from, and the most memory after it; NaN: not known. */
typedef struct {
  double base, since, most;
} tsn_hsa_memory;

/* Of samples of the process. `end`: times by which half of the beginning, and all of it,
 * are over, and after which the next sample is late. */
tsn_hsa_memory tsn_hsa_find_growth(const tsanom_hsa_vital *vital, size_t count,
                                   const double end[3]);

/* Set the signs that compare the threads, of which the busiest has `most` beats. */
void tsn_hsa_measure_team(tsanom_hsa_signs *signs, size_t threads, uint64_t most);

/* Seconds without a processor, of the seconds between the samples that know it. */
double tsn_hsa_waited(const tsanom_hsa_series *series, double *observed);

/* Seconds without a processor during the longest gap between two beats, and up to the
 * samples around it; NaN: not known. */
double tsn_hsa_wait_in_gap(const tsanom_hsa_series *series);

/* Seconds without a processor since the last beat, and from the sample before it; 0: not
 * known. */
double tsn_hsa_wait_since_beat(const tsanom_hsa_series *series);

/* Share of the time between the samples around a gap, of any thread, in which this one
 * was ready without a processor; NaN: not known. */
double tsn_hsa_wait_share(const tsanom_hsa_series *series, const double gap[2]);

/* Beginning and end of the longest gap between two beats by TSANOM_HSA_SIGN_GAP or
 * _BLOCKED_GAP, of a series that has this sign. */
void tsn_hsa_find_gap(const tsanom_hsa_series *series, int32_t sign, double gap[2]);

/* --- disturbance.c --- */

/* Seconds without a processor below which a thread of the run has no contention. */
double tsn_hsa_disturbance(const tsanom_hsa_run *run);

/* --- pause.c --- */

/* By a sample: whether a thread is blocked by something other than a thread, or is gone.
 * One that runs may wait at a barrier in a loop. */
static inline bool tsn_hsa_blocks_alone(const tsanom_hsa_vital *v) {
  return v->waits == TSANOM_HSA_WAITS_OTHER || (v->state != 'S' && v->state != 'R');
}

/* Make threads that paused because they waited for another one waiting. The numbers of
 * hanging causes are their gaps. Returns the new number of causes. */
size_t tsn_hsa_settle_pauses(const tsanom_hsa_run *run, tsanom_hsa_signs *signs,
                             tsanom_hsa_cause *cause, size_t count);

/* --- normal.c --- */

tsanom_status tsn_hsa_read_normal(tsanom_hsa_normal *own, const tsanom_hsa_normal *caller,
                                  const tsanom_exec *exec);

/* Ranges of the signs of a thread after `part` + 1 eighths. */
static inline const tsanom_hsa_range *tsn_hsa_ranges_at(const tsanom_hsa_normal *normal,
                                                        size_t part, size_t thread) {
  return normal->range + (part * normal->thread_count + thread) * TSANOM_HSA_SIGNS;
}

/* The thread with most beats; of equal ones the first. */
size_t tsn_hsa_busiest(const tsanom_hsa_run *run);

/* --- sign_range.c --- */

/* The range of a sign from samples, which get sorted; NaN: not available. */
tsanom_hsa_range tsn_hsa_sign_range(int32_t sign, double *samples, size_t count,
                                    double coverage);

/* --- cause.c --- */

/* Fewer beats of the busiest thread say nothing. */
enum { TSN_HSA_FEW_BEATS = 16 };

/* The causes that the signs of a run are evidence of, sorted; at most 4 of each thread
 * and 4 of the run. The times of the run are read where a sign is a gap. */
size_t tsn_hsa_judge(const tsanom_hsa_normal *normal, const tsanom_hsa_run *run,
                     tsanom_hsa_signs *signs, tsanom_hsa_cause *causes);

/* --- cause_order.c --- */

void tsn_hsa_sort_causes(tsanom_hsa_cause *values, size_t count);

/* --- team.c: a thread among the threads of its run --- */

enum { TSN_HSA_BEATS = -1 }; /* in place of a sign: the number of beats */

double tsn_hsa_team_value(const tsanom_hsa_signs *signs, int32_t sign);

/* Two neighbors in the order of all values, from which the median of all but any one
 * follows; NaN: fewer than two threads have a value. */
typedef struct {
  double low, high;
} tsn_hsa_medians;

/* Of values >= 0. */
tsn_hsa_medians tsn_hsa_team_medians(const tsanom_hsa_signs *signs, size_t threads,
                                     int32_t sign);

/* The lower median of the values of all threads but one that has the value `own`. */
double tsn_hsa_median_of_others(const tsn_hsa_medians *medians, double own);

#endif
