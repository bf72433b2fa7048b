/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files about limits of the ledger and findings share; README.md lists them. */
#ifndef TSN_DIAGNOSIS_JUDGE_H
#define TSN_DIAGNOSIS_JUDGE_H

#include "core/arena.h"
#include "diagnosis/ledger.h"

enum {
  TSN_PARTS = 8,
  TSN_WINDOWS = TSN_PARTS + 1, /* the whole run, then its eighths */
  TSN_GAPS = 16,               /* longest gaps of a run: enough for their tail */
  TSN_EDGES = TSN_PARTS + 1 + 2 * TSN_GAPS + 2,
  TSN_LEAST_CELLS = 3 /* of a cause: one cell may be a sample that came late */
};

/* The smallest lost share of the time that is reported: what a user would act on. */
#define TSN_LEAST_LOST 0.10

/* Signs of a window: three of the team, then the imbalance of each thread. */
enum { TSN_SLOWDOWN, TSN_CONTENTION, TSN_BLOCKED, TSN_IMBALANCE };

/* Normal rates of a part, per beat: of the team, then c of each thread. */
enum { TSN_WALL, TSN_READY, TSN_NOBODY, TSN_CPU, TSN_ALL_READY, TSN_OFF, TSN_THREAD_CPU };

/* --- grid.c: a run, cut at the eighths of its beats and around what is dropped --- */

/* Between two edges lies a segment, of one part, which is kept or not. Numbers of thread t
 * at edge e are at t * TSN_EDGES + e. */
typedef struct {
  const tsanom_hsa_run *run;
  double total;    /* beats that the whole run has, or will have */
  bool is_sampled; /* else the time of a thread for its beats stands for processor time */
  size_t edges;
  double edge[TSN_EDGES];
  size_t part[TSN_EDGES];
  uint64_t cells[TSN_EDGES];
  bool keep[TSN_EDGES];
  double cut[TSN_PARTS + 1];
  double dropped[TSN_GAPS + 1][2];
  size_t drops;
  double *cpu, *ready, *beats;
} tsn_grid;

/* For a run of at most `threads` threads. */
void tsn_grid_layout(tsn_arena *arena, tsn_grid *grid, size_t threads);

/* Begin with a checked run. */
void tsn_grid_begin(tsn_grid *grid, const tsanom_hsa_run *run, double total);

/* Drop the cells that a time overlaps: between two samples nothing is known. */
void tsn_grid_drop(tsn_grid *grid, double begin, double end);

/* Drop what begins at or after a time. */
void tsn_grid_end_at(tsn_grid *grid, double time);

/* Trace all numbers. */
void tsn_grid_fill(tsn_grid *grid);

/* Whether a segment belongs to a window and is kept. */
static inline bool tsn_grid_has(const tsn_grid *g, size_t window, size_t segment) {
  return g->keep[segment] && (!window || g->part[segment] == window - 1);
}

/* Sums of the kept segments of a window: its wall time, the mean beats, the cells; c and r
 * of each thread. */
typedef struct {
  double wall, beats, off, begin, end;
  uint64_t cells;
  double *cpu, *ready;
} tsn_entries;

/* `windows` has a bit for each window, whose segments are summed together. */
void tsn_grid_sum(const tsn_grid *grid, unsigned windows, tsn_entries *sums);

/* Mean beats of the segments of a part, with those that were dropped. */
double tsn_grid_beats(const tsn_grid *grid, size_t part);

/* --- gap.c: times between two beats --- */

typedef struct {
  double length; /* without the time in which a thread was ready without a processor */
  double begin, end;
  size_t thread;
} tsn_gap;

enum { TSN_GAPS_EACH = 32 };

/* The last moment of a run: the end that it has, or its last beat or sample. */
double tsn_run_end(const tsanom_hsa_run *run);

/* The longest first. */
void tsn_sort_gaps(tsn_gap *values, size_t count);

/* The longest gaps of a run, the longest first, none of them inside of another; at most
 * TSN_GAPS. `scratch` has TSN_GAPS_EACH for each thread. */
size_t tsn_find_gaps(const tsanom_hsa_run *run, tsn_gap *scratch, tsn_gap *gaps);

/* The length above which a gap is not normal, of the longest gaps of `runs` normal runs,
 * which get sorted. */
double tsn_gap_limit(double *v, size_t count, size_t runs);

/* Which threads the others waited for in a gap: marks them, and returns their number; 0: a
 * thread had no processor. `share`: normal beats of each thread over those of the busiest. */
size_t tsn_gap_owners(const tsanom_hsa_run *run, const tsn_gap *gap, const double *share,
                      bool *owner, double *state);

enum { TSN_GAP_STATES = 6 }; /* elements of `state` for each thread */

/* --- limit.c --- */

/* A prediction limit is mean + t(freedom) * scale. */
typedef struct {
  double mean, scale, most;
  size_t freedom;
} tsn_limit;

/* Limits of signs whose samples are at value[group * count + i]; their scatter is pooled
 * and joined with that of `prior`. The samples get sorted. */
void tsn_learn_limits(double *value, size_t groups, size_t count, double prior,
                      tsn_limit *limits);

double tsn_limit_at(const tsn_limit *limit, double alpha);

/* Whether a value is the one that the others, at least four, exclude. */
bool tsn_is_outlier(const double *value, size_t count, size_t i);

/* --- judge.c --- */

/* Hangs that last first, then those that lost most. */
void tsn_sort_findings(tsanom_finding *values, size_t count);

/* --- signs.c --- */

typedef struct {
  double value, lost;
} tsn_sign;

/* What the ledger learns from normal runs. */
struct tsanom_diagnosis_model {
  tsn_object owner;
  size_t threads, runs;
  double processors, beats, longest_gap, gap_limit;
  double *rate;       /* of part p at p * (TSN_THREAD_CPU + threads) */
  tsn_limit *limit;   /* of window w at w * (TSN_IMBALANCE + threads) */
  double *share;      /* normal beats of each thread over those of the busiest */
  bool *is_disturbed; /* by run */
};

static inline const double *tsn_rate(const tsanom_diagnosis_model *m, size_t part) {
  return m->rate + part * (TSN_THREAD_CPU + m->threads);
}

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
double tsn_measure_signs(const tsanom_diagnosis_model *model, const tsn_grid *grid,
                         unsigned windows, double least, tsn_sign_scratch *scratch,
                         tsn_sign *signs);

#endif
