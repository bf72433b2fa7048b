/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files about limits of the ledger and findings share; README.md lists them. */
#ifndef TSN_DIAGNOSIS_JUDGE_H
#define TSN_DIAGNOSIS_JUDGE_H

#include <stdbool.h>
#include <tsanom/diagnosis.h>
#include "core/arena.h"

/* --- ledger.c: a thread at given times --- */

/* CPU is without the processor time in which the thread waited for its team, USED with it. */
enum { TSN_LEDGER_CPU, TSN_LEDGER_READY, TSN_LEDGER_USED };

/* A number at `count` times that do not decrease, counted from the last sample until the first of
 * them that knows it. O(log samples + samples from there on + count). */
void tsn_ledger_trace(const tsanom_hsa_series *series, int number, const double *time,
                      size_t count, double *value);

enum {
  TSN_PARTS = 8,
  TSN_WINDOWS = TSN_PARTS + 1, /* the whole run, then its eighths */
  TSN_GAPS = 16,               /* longest gaps of a run: enough for their tail */
  TSN_EDGES = TSN_PARTS + 1 + 2 * TSN_GAPS + 2,
  TSN_LEAST_CELLS = 3 /* of a cause: one cell may be a sample that came late */
};

/* Chance of a finding in a normal run at its end, and once more before. */
#define TSN_CHANCE 0.01

/* The smallest lost share of the time that is reported: what a user would act on. */
#define TSN_LEAST_LOST 0.10

/* Signs of a window: three of the team, then the imbalance of each thread. */
enum { TSN_SLOWDOWN, TSN_CONTENTION, TSN_BLOCKED, TSN_IMBALANCE };

/* Normal rates of a part, per beat: of the team, then c of each thread. */
enum { TSN_WALL, TSN_READY, TSN_NOBODY, TSN_CPU, TSN_ALL_READY, TSN_THREAD_CPU };

/* --- ledger.c: a run, cut at the eighths of its beats and around what is dropped --- */

/* Numbers of a thread at each edge. */
typedef struct {
  double cpu[TSN_EDGES], ready[TSN_EDGES], beats[TSN_EDGES];
} tsn_trace;

/* Between two edges lies a segment, of one part, which is kept or not. */
typedef struct {
  const tsanom_hsa_run *run;
  const tsanom_hsa_series *best; /* sampled */
  double scale;                  /* beats that each time of a beat stands for */
  double total;                  /* of these, that the whole run has, or will have */
  bool is_sampled; /* else the time of a thread for its beats stands for processor time */
  size_t edges;
  double edge[TSN_EDGES];
  size_t part[TSN_EDGES];
  uint64_t cells[TSN_EDGES];
  bool keep[TSN_EDGES];
  double cut[TSN_PARTS + 1];
  double dropped[TSN_GAPS + 1][2];
  size_t drops;
  double nobody[TSN_EDGES];
  tsn_trace *thread; /* of the run's, the caller's memory */
} tsn_grid;

/* Begin with a checked run, of which each time of a beat stands for `scale` beats. */
void tsn_grid_begin(tsn_grid *grid, const tsanom_hsa_run *run, double total,
                    double scale);

/* Drop the cells that a time overlaps: between two samples nothing is known. */
void tsn_grid_drop(tsn_grid *grid, double begin, double end);

/* Drop what begins at or after a time. */
void tsn_grid_end_at(tsn_grid *grid, double time);

/* Trace all numbers. */
void tsn_grid_fill(tsn_grid *grid);

/* Whether anything of some windows is kept. `windows` has a bit for each. */
bool tsn_grid_has(const tsn_grid *grid, unsigned windows);

/* Sums of the kept segments of a window: its wall time, the mean beats, the cells; c and r
 * of each thread; R, where it was computed. */
typedef struct {
  double wall, beats, nobody, begin, end, lacked;
  uint64_t cells;
  double *cpu, *ready;
} tsn_entries;

/* --- gap.c: times between two beats --- */

typedef struct {
  double length; /* without the time in which a thread was ready without a processor */
  double begin, end;
  size_t thread;
  double beats; /* of the thread until then */
} tsn_gap;

enum { TSN_GAPS_EACH = 32 };

/* The last beat of all threads; -infinity: there is none. */
double tsn_last_beat(const tsanom_hsa_run *run);

/* The last moment of a run: the end that it has, or its last beat or sample. */
double tsn_run_end(const tsanom_hsa_run *run);

/* Whether a run was not seen to its end by its own recorder. */
static inline bool tsn_is_observed(const tsanom_hsa_run *run) {
  return run->state == TSANOM_RUN_RUNNING || run->state == TSANOM_RUN_KILLED;
}

/* From the first sample of the process to the first beat. Length 0: not known. */
tsn_gap tsn_first_gap(const tsanom_hsa_run *run, double first_beat);

/* Where normal runs pause, each of them, and how long: in each `period`-th iteration from
 * `first` on, 0: only in that one. `first` 0: there is no such place. */
typedef struct {
  double first, period, longest, limit;
} tsn_pauses;

/* Of a thread, as its beats come: the longest gaps that ended, without known pauses that are not
 * too long; the longest first. */
typedef struct {
  tsn_gap *gap; /* of TSN_GAPS_EACH */
  size_t count;
  double longest; /* of all, in seconds; NaN: none ended */
} tsn_gaps;

void tsn_add_gap(tsn_gaps *gaps, const tsn_pauses *known, tsn_gap gap);

/* Copy the gaps, with the one since the last beat: until the end of a run that its recorder did
 * not end, or, if the thread has far fewer than `most` beats, until `last.end`, the last beat of
 * any. Returns their number. */
size_t tsn_take_gaps(const tsanom_hsa_run *run, const tsn_gaps *of, tsn_gap last,
                     double most, tsn_gap *gaps);

/* Of gaps of threads, which get sorted: the longest, none of them inside of another; at
 * most TSN_GAPS. */
size_t tsn_select_gaps(const tsanom_hsa_run *run, tsn_gap *all, size_t count,
                       tsn_gap *gaps);

/* What a silent thread waits for: nothing that others do, until another one wakes it, its team. */
enum { TSN_ALONE, TSN_FOR_THREAD, TSN_FOR_TEAM };

/* A thread in a gap, or at a moment. */
typedef struct {
  double since, beats; /* when its silence began, and its beats until then */
  double same_time;    /* silences that begin so soon after this one begin together */
  int waits;           /* TSN_ALONE, ... */
  bool is_silent;      /* for longer than it may be */
  bool is_known;       /* what it waits for */
  bool is_stopped;     /* by a signal */
  bool is_owner;       /* others wait for it */
} tsn_silence;

/* The rule for hangs: which of the silent threads the others wait for. Where threads meet at
 * barriers, all of a team are silent if one stops:
 *
 *     thread 0  ──x──x──x──x──|    waits: it reached the barrier and beat before it
 *     thread 1  ──x──x──x─         hangs: its silence began an interval earlier
 *
 * A thread that sleeps until another one wakes it waits for one that is as silent and blocked
 * by something else. One that has done its part of a region waits for one that has not: of two
 * threads that sleep, only one may wait for a lock. Of those that are left, the one hangs whose
 * silence began first.
 *
 * If the whole process stops, the silences begin within a part of an interval. On a busy machine
 * they need not; but threads that meet, and beat equally often, are in the same iteration, so
 * that none waits for the other. */
void tsn_find_owners(tsn_silence *silence, size_t count);

/* --- cause.c: a gap --- */

/* Which threads the others waited for in a gap that ended; returns their number; 0: a thread had
 * no processor. `share`: normal beats of each thread over those of the busiest. */
size_t tsn_gap_owners(const tsanom_hsa_run *run, const tsn_gap *gap, const double *share,
                      tsn_silence *silence);

/* --- learn.c: limits --- */

bool tsn_pauses_at(const tsn_pauses *pauses, double beats);

/* Of the longest gaps of normal runs: those of run r at gap[r * TSN_GAPS], count[r] of them,
 * the longest first; 0: the run does not count. */
tsn_pauses tsn_find_pauses(const tsn_gap *gap, const size_t *count, size_t runs);

/* The length above which a gap is not normal, of the longest gaps of `runs` normal runs,
 * which get sorted. */
double tsn_gap_limit(double *v, size_t count, size_t runs);

/* A prediction limit is mean + t(freedom) * scale. */
typedef struct {
  double mean, scale, most, freedom;
} tsn_limit;

/* Limits of a sign whose samples are at value[group * count + i]; their scatter is pooled
 * and joined with that of foreign programs. The samples get sorted; NaN: there is none.
 * `drops`: one that the others exclude does not count. */
void tsn_learn_limits(double *value, size_t groups, size_t count, size_t sign, bool drops,
                      tsn_limit *limits);

double tsn_limit_at(const tsn_limit *limit, double alpha);

/* The variance of the samples alone, of which the limit is for a sign; `widening`:
 * 1 + 1 / n of n of them. */
double tsn_own_variance(const tsn_limit *limit, size_t sign, double widening);

/* How far below its mean the sign of a run is with the probability `tail`, at most. If a
 * program scatters more than foreign ones, joining these made its scatter too small, and
 * that of its own samples counts. */
double tsn_limit_margin(const tsn_limit *limit, size_t sign, double widening,
                        double tail);

/* --- learn.c: the numbers of tsanom_diagnosis_normal::ledger --- */

/*   processors beats longest_gap gap_limit (0: none) is_sampled longest_start
 *   known pauses: first (0: none) period longest limit (0: none)
 *   share of each thread
 *   rates of each part: of the team, then c of each thread
 *   limits of each window: of the team, then of each thread: mean scale most freedom */
typedef struct {
  size_t threads;
  double processors; /* 0: nothing was learned */
  double beats, longest_start;
  double longest_gap, gap_limit; /* without known pauses */
  tsn_pauses pauses;
  bool is_sampled; /* else beats alone are compared */
  double *share;   /* normal beats of each thread over those of the busiest */
  double *rate;
  tsn_limit *limit;
} tsn_model;

/* Whether anything was learned; without, there is no model. */
static inline bool tsn_has_ledger(const tsanom_diagnosis_normal *normal) {
  return normal->thread_count && normal->ledger && normal->ledger[0] > 0;
}

tsn_model tsn_model_of(const tsanom_diagnosis_normal *normal);

size_t tsn_ledger_numbers(size_t threads);

static inline tsn_limit *tsn_limit_of(const tsn_model *m, size_t window, size_t sign) {
  return m->limit + window * (TSN_IMBALANCE + m->threads) + sign;
}

/* The scale of the mean of the first eighths, which scatter each on its own. */
double tsn_scale_of_mean(const tsn_model *model, size_t sign, size_t parts);

static inline double *tsn_rate(const tsn_model *m, size_t part) {
  return m->rate + part * (TSN_THREAD_CPU + m->threads);
}

/* As in a window, the chance that a sign of a normal run is above its limit. */
double tsn_model_chance(const tsn_model *model, size_t window, size_t sign, double alpha);

typedef struct {
  double value, lost;
} tsn_sign;

/* Scratch for signs. */
typedef struct {
  tsn_entries sums;
  double *expected, *ratio, *sorted;
} tsn_sign_scratch;

void tsn_sign_layout(tsn_arena *arena, tsn_sign_scratch *scratch, size_t threads);

/* Rates of a window per beat, as the model has them. */
void tsn_measure_rates(const tsn_grid *grid, size_t window, double processors,
                       tsn_sign_scratch *scratch, double *rate);

/* The signs of some windows together, bit w for window w; returns the normal wall time.
 * `least`: beats that are expected of each part at least. */
double tsn_measure_signs(const tsn_model *model, const tsn_grid *grid, unsigned windows,
                         double least, tsn_sign_scratch *scratch, tsn_sign *signs);

#endif
