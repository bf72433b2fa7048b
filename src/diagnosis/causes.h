/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files about signs and causes; README.md lists them. */
#ifndef TSN_DIAGNOSIS_CAUSES_H
#define TSN_DIAGNOSIS_CAUSES_H

#include <tsanom/diagnosis.h>

#include "diagnosis/judge.h"
#include "hsa/hsa.h"
#include "hsa/sentence.h"

/* --- vital_signs.c --- */

/* Whether signs can be computed of a run. `name` and `i` as for tsn_hsa_check_run(). */
tsanom_status tsn_diagnosis_check_vitals(const tsanom_hsa_run *run, const char *name,
                                         size_t i, const tsanom_exec *exec);

/* Of a machine as the recorder names it, "2 x AMD EPYC": the processors that the program
 * may use, 0 if that is not known; *name begins behind that. */
size_t tsn_diagnosis_processors(const char *machine, const char **name);

/* The signs of all threads of a checked run; those of gaps and of the ledger are NaN. */
void tsn_diagnosis_measure(const tsanom_hsa_run *run, tsanom_diagnosis_signs *signs);

/* ::TSANOM_DIAGNOSIS_SIGN_GROWTH of a checked run. */
double tsn_diagnosis_growth(const tsanom_hsa_run *run);

/* When the memory began to grow that ::TSANOM_DIAGNOSIS_SIGN_GROWTH or _EARLY is of; NaN: it did
 * not last. */
double tsn_leak_onset(const tsanom_hsa_run *run, int32_t sign);

/* Beats of a series, or samples, that are not after a time, in O(log count). */
size_t tsn_diagnosis_beats_until(const tsanom_hsa_series *series, double time);
size_t tsn_samples_until(const tsanom_hsa_vital *vital, size_t count, double time);

/* Beats of a thread until a time, and between two of them in proportion to the time; and the time
 * at which it has made 1, 2.5, ... of its beats, less than all of them: ledger.c. */
double tsn_beats_at(const tsanom_hsa_series *series, double time);
double tsn_time_of_beats(const tsanom_hsa_series *series, double beats);

/* The range of a sign from samples, which get sorted; infinite: the sign has none. */
tsanom_hsa_range tsn_diagnosis_sign_range(int32_t sign, double *samples, size_t count,
                                          double coverage);

/* --- learn.c --- */

/* Copy the caller's normal ranges, and check what does not need their arrays; then these. */
tsanom_status tsn_diagnosis_read_normal(tsanom_diagnosis_normal *own,
                                        const tsanom_diagnosis_normal *caller,
                                        const tsanom_exec *exec);
tsanom_status tsn_diagnosis_check_normal(const tsanom_diagnosis_normal *own,
                                         const tsanom_exec *exec);

/* Elements of the ranges, of a number of threads for which they exist. */
static inline size_t tsn_range_count(const tsanom_diagnosis_normal *normal) {
  return normal->thread_count * TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS;
}

/* Ranges of the signs of a thread after `part` + 1 eighths. */
static inline tsanom_hsa_range *tsn_diagnosis_ranges_at(
    const tsanom_diagnosis_normal *normal, size_t part, size_t thread) {
  return normal->range + (part * normal->thread_count + thread) * TSANOM_DIAGNOSIS_SIGNS;
}

/* The thread with most beats; of equal ones the first. */
size_t tsn_diagnosis_busiest(const tsanom_hsa_run *run);

/* --- cause.c --- */

/* Fewer beats of the busiest thread say nothing. */
enum { TSN_DIAGNOSIS_FEW_BEATS = 16 };

/* Findings of each thread and of the run at most: of a run, in which a thread is silent or has
 * stopped, but not both; and of a watch, with both kinds of silences and a killed program. */
enum {
  TSN_DIAGNOSIS_CAUSES_EACH = 4,
  TSN_DIAGNOSIS_CAUSES_OF_RUN = 8,
  TSN_CAUSES_EACH = 6,
  TSN_CAUSES_OF_RUN = 9
};

/* A search for causes. */
typedef struct {
  const tsanom_diagnosis_normal *normal;
  const tsanom_hsa_run *run;
  double scale;  /* beats that each time of a beat stands for */
  double chance; /* of a finding in a normal run */
  tsanom_diagnosis_signs *signs;
  double first;          /* beat */
  tsn_gap gap[TSN_GAPS]; /* the longest */
  size_t gaps;
  tsn_gap *candidates; /* for these: TSN_GAPS_EACH for each thread */
  tsanom_diagnosis_finding *cause;
  size_t count, first_timed; /* from there on those of the ledger */
  size_t low, high;          /* parts of the normal runs that are compared with */
  double length;             /* beats over those of the longest normal run, >= 1 */
  bool begins;               /* fewer beats than the first part has */
  bool is_comparable;
  bool is_bound;   /* the program may use fewer processors than in normal runs */
  tsn_model model; /* processors 0: none */
  tsn_grid grid;
  tsn_sign_scratch scratch;
  tsn_silence *silence;
  tsn_sign *sign; /* of window w at w * (TSN_IMBALANCE + threads) */
  tsn_entries window[TSN_WINDOWS];
  double normal_wall[TSN_WINDOWS]; /* W0 */
  size_t now;                      /* the eighth that is not over; TSN_PARTS: none */
} tsn_search;

void tsn_search_layout(tsn_arena *arena, tsn_search *q, size_t threads);

/* Whether the run is of what the ranges were learned from; adds the reason if not. */
bool tsn_diagnosis_compare_conditions(tsn_search *q);

/* Find causes in a checked run. Before: the fields until `gaps`, and `model`. */
void tsn_diagnosis_find(tsn_search *q);

/* Seconds of the shortest pause that is worth a report. */
double tsn_least_pause(const tsn_model *model);

/* Append a finding, all numbers of which are unknown. */
tsanom_diagnosis_finding *tsn_add_finding(tsanom_diagnosis_finding *found, size_t *count,
                                          int32_t cause, int32_t thread, int32_t detail);

/* A run of which there is no verdict. */
void tsn_add_few_beats(tsn_search *q, uint64_t beats, uint64_t least);

/* --- text.c --- */

/* By their ranks, and the seconds that they cost. */
void tsn_diagnosis_sort_causes(tsanom_diagnosis_finding *values, size_t count);

/* --- summary.c --- */

/* Whether work waited for processors for a share of the time that is reported. */
bool tsn_has_waited(const tsanom_diagnosis_summary *summary);

#endif
