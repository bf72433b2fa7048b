/* SPDX-License-Identifier: BSD-3-Clause */
/* What is not normal in a run.
 *
 *   run      comparable? -> ended? -> enough beats?
 *   memory   grows by more than in normal runs        -> memory leak
 *   thread   never beat, or stopped before the others -> shutdown
 *   time     of the ledger (judge.c)                  -> hang, contention, imbalance, slowdown
 *
 * A run that goes on is judged as by a watch that gets all of it in one update. */
#include <math.h>
#include <string.h>

#include "core/size.h"
#include "diagnosis/watch.h"

/* A thread whose excess of page faults is this share of the greatest one leaks, too. */
static const double accomplice = 0.25;

/* Memory that a thread takes beside others that do so in normal runs. */
static const double page = 4096, least_leak = 3 << 20;

/* The range of a sign of a thread: both parts together. */
static tsanom_hsa_range range_of(const tsn_search *q, size_t thread, int32_t sign) {
  tsanom_hsa_range a = tsn_diagnosis_ranges_at(q->normal, q->low, thread)[sign];
  tsanom_hsa_range b = tsn_diagnosis_ranges_at(q->normal, q->high, thread)[sign];
  a.low = fmin(a.low, b.low);
  a.high = fmax(a.high, b.high);
  if (sign == TSANOM_DIAGNOSIS_SIGN_GROWTH || sign == TSANOM_DIAGNOSIS_SIGN_EARLY) {
    a.high *= q->begins ? INFINITY : q->length;
  }
  return a;
}

static double sign_of(const tsn_search *q, size_t thread, int32_t sign) {
  return q->signs[thread].value[sign];
}

/* Not if the sign or its range is not known. */
static bool is_above(const tsn_search *q, size_t thread, int32_t sign) {
  return sign_of(q, thread, sign) > range_of(q, thread, sign).high;
}

static bool is_below(const tsn_search *q, size_t thread, int32_t sign) {
  return sign_of(q, thread, sign) < range_of(q, thread, sign).low;
}

static tsanom_diagnosis_finding *add(tsn_search *q, int32_t cause, int32_t thread,
                                     int32_t detail) {
  return tsn_add_finding(q->cause, &q->count, cause, thread, detail);
}

/* A cause that follows from a sign above its range. */
static tsanom_diagnosis_finding *add_sign(tsn_search *q, int32_t cause, int32_t thread,
                                          int32_t detail, int32_t sign) {
  size_t t = thread < 0 ? 0 : (size_t)thread;
  tsanom_diagnosis_finding *f = add(q, cause, thread, detail);
  f->sign = sign;
  f->value = sign_of(q, t, sign);
  f->limit = range_of(q, t, sign).high;
  return f;
}

static uint64_t beats_of(const tsn_search *q) {
  double times = (double)q->run->threads[tsn_diagnosis_busiest(q->run)].beats;
  return (uint64_t)(times * q->scale);
}

/* ---- the run */

static bool differ(const char *normal, const char *name) {
  size_t most = sizeof((tsanom_diagnosis_normal *)NULL)->program - 1;
  return *normal && name && strncmp(normal, name, most) != 0;
}

static bool has_ranges(const tsanom_diagnosis_normal *normal) {
  size_t count = TSANOM_DIAGNOSIS_PARTS * normal->thread_count * TSANOM_DIAGNOSIS_SIGNS;
  for (size_t i = 0; i < count; i++) {
    if (isfinite(normal->range[i].high)) return true;
  }
  return tsn_has_ledger(normal);
}

/* How many processors the program may use is no difference of the machines: a program that
 * may use fewer than normal lacks them (explain_contention()). */
static bool is_other_machine(const tsn_search *q) {
  const char *normal, *name;
  (void)tsn_diagnosis_processors(q->normal->machine, &normal);
  (void)tsn_diagnosis_processors(q->run->machine, &name);
  return differ(normal, name);
}

bool tsn_diagnosis_compare_conditions(tsn_search *q) {
  const tsanom_hsa_run *run = q->run;
  if (differ(q->normal->program, run->program)) {
    add(q, TSANOM_HSA_NOT_COMPARABLE, TSANOM_HSA_PROCESS,
        TSANOM_DIAGNOSIS_DETAIL_PROGRAM);
  } else if (is_other_machine(q)) {
    add(q, TSANOM_HSA_NOT_COMPARABLE, TSANOM_HSA_PROCESS,
        TSANOM_DIAGNOSIS_DETAIL_MACHINE);
  } else if (run->thread_count != q->normal->thread_count) {
    tsanom_diagnosis_finding *f = add(q, TSANOM_HSA_NOT_COMPARABLE, TSANOM_HSA_PROCESS,
                                      TSANOM_DIAGNOSIS_DETAIL_THREADS);
    f->threads = run->thread_count;
    f->normal_threads = q->normal->thread_count;
  } else if (!has_ranges(q->normal)) {
    add(q, TSANOM_HSA_NOT_COMPARABLE, TSANOM_HSA_PROCESS,
        TSANOM_DIAGNOSIS_DETAIL_NO_POWER);
  }
  q->comparable = q->count == 0;
  return q->comparable;
}

/* A finished run is compared with whole runs: its program made all of its phases, however
 * many beats they took. Before the end of the first part, a program may still allocate
 * what it needs. */
static void choose_parts(tsn_search *q) {
  double beats = (double)beats_of(q), normal = fmax(1, (double)q->normal->beats);
  double eighths = fmin(1, beats / normal) * TSANOM_DIAGNOSIS_PARTS;
  q->begins = eighths < 1;
  if (q->run->state == TSANOM_RUN_FINISHED) eighths = TSANOM_DIAGNOSIS_PARTS;
  q->low = (size_t)fmax(1, floor(eighths)) - 1;
  q->high = (size_t)fmax(1, ceil(eighths)) - 1;
  q->length = fmax(1, beats / normal);
}

/* A file of beats does not say whether its program ended them, so that their number must
 * be that of the normal runs. */
static void judge_end(tsn_search *q) {
  double fewest = (double)q->normal->fewest;
  tsanom_diagnosis_finding *f;
  if (q->run->state == TSANOM_RUN_KILLED) {
    f = add(q, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_PROCESS, TSANOM_DIAGNOSIS_DETAIL_KILLED);
  } else if (is_above(q, 0, TSANOM_DIAGNOSIS_SIGN_EXIT)) {
    f = add_sign(q, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_PROCESS, TSANOM_DIAGNOSIS_DETAIL_EXIT,
                 TSANOM_DIAGNOSIS_SIGN_EXIT);
  } else if (q->run->state == TSANOM_RUN_UNKNOWN && (double)beats_of(q) < 0.99 * fewest) {
    f = add(q, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_PROCESS, TSANOM_DIAGNOSIS_DETAIL_SHORT);
  } else {
    return;
  }
  f->beats = beats_of(q);
  f->normal_beats = q->normal->beats;
  f->exit_code = q->run->exit_code;
}

/* ---- threads */

/* In a run that is over, a thread that stopped has a part of the beats of the others. */
static void judge_progress(tsn_search *q, size_t t) {
  int32_t thread = (int32_t)t;
  tsanom_diagnosis_finding *f;
  if (tsn_is_observed(q->run)) return;
  if (!q->signs[t].beats && range_of(q, t, TSANOM_DIAGNOSIS_SIGN_SHARE).low > 0) {
    f = add(q, TSANOM_HSA_SHUTDOWN, thread, TSANOM_DIAGNOSIS_DETAIL_NEVER);
  } else if (is_above(q, t, TSANOM_DIAGNOSIS_SIGN_TAIL) &&
             is_below(q, t, TSANOM_DIAGNOSIS_SIGN_SHARE)) {
    f = add_sign(q, TSANOM_HSA_SHUTDOWN, thread, TSANOM_DIAGNOSIS_DETAIL_STOPPED,
                 TSANOM_DIAGNOSIS_SIGN_TAIL);
    f->begin =
        q->signs[t].beats ? q->run->threads[t].time[q->run->threads[t].beats - 1] : NAN;
  } else {
    return;
  }
  f->beats = q->signs[t].beats;
  f->normal_beats = beats_of(q);
}

static bool has_stopped(const tsn_search *q, int32_t thread) {
  for (size_t i = 0; i < q->count; i++) {
    const tsanom_diagnosis_finding *f = &q->cause[i];
    if (f->cause == TSANOM_HSA_SHUTDOWN && f->thread == thread) return true;
  }
  return false;
}

/* ---- memory */

/* Threads of a program that frees and allocates have page faults without a leak. */
static double excess_faults(const tsn_search *q, size_t t) {
  return sign_of(q, t, TSANOM_DIAGNOSIS_SIGN_FAULTS) -
         range_of(q, t, TSANOM_DIAGNOSIS_SIGN_FAULTS).high;
}

/* Whether the page faults of a thread are more memory than may be a disturbance, beside
 * growth that normal runs have, too, and that is at least as much. */
static bool leaks_beside_growth(const tsn_search *q, size_t t) {
  double bytes = excess_faults(q, t) * page * (1 - 0.2) * (double)q->signs[t].beats;
  return bytes > least_leak && sign_of(q, t, TSANOM_DIAGNOSIS_SIGN_GROWTH) >= bytes;
}

static void add_leak(tsn_search *q, size_t t, int32_t detail) {
  tsanom_diagnosis_finding *f = add_sign(q, TSANOM_HSA_MEMORY_LEAK, (int32_t)t, detail,
                                         TSANOM_DIAGNOSIS_SIGN_GROWTH);
  f->faults = sign_of(q, t, TSANOM_DIAGNOSIS_SIGN_FAULTS);
  f->faults_limit = range_of(q, t, TSANOM_DIAGNOSIS_SIGN_FAULTS).high;
  if (detail == TSANOM_DIAGNOSIS_DETAIL_FAULTS) f->limit = NAN; /* the growth is normal */
}

/* The threads whose page faults are above normal; or the run, if there is none, or if the
 * leak ended before page faults count. */
static void judge_memory(tsn_search *q) {
  size_t before = q->count, threads = q->run->thread_count;
  bool leaks = is_above(q, 0, TSANOM_DIAGNOSIS_SIGN_GROWTH);
  double most = 0;
  for (size_t t = 0; t < threads; t++) most = fmax(most, excess_faults(q, t));
  for (size_t t = 0; t < threads; t++) {
    double excess = excess_faults(q, t);
    if (leaks && excess > 0 && excess >= accomplice * most) {
      add_leak(q, t, TSANOM_DIAGNOSIS_DETAIL_NONE);
    } else if (!leaks && !q->begins && leaks_beside_growth(q, t)) {
      add_leak(q, t, TSANOM_DIAGNOSIS_DETAIL_FAULTS);
    }
  }
  bool leaked = is_above(q, 0, TSANOM_DIAGNOSIS_SIGN_EARLY);
  if ((leaks || leaked) && q->count == before) {
    (void)add_sign(q, TSANOM_HSA_MEMORY_LEAK, TSANOM_HSA_PROCESS,
                   TSANOM_DIAGNOSIS_DETAIL_NONE,
                   leaks ? TSANOM_DIAGNOSIS_SIGN_GROWTH : TSANOM_DIAGNOSIS_SIGN_EARLY);
  }
}

/* ---- time */

/* Whether threads lack processors that the program may not use, as under taskset(1). */
static bool find_processors(const tsn_search *q, size_t *now, size_t *normal) {
  const char *name;
  *normal = tsn_diagnosis_processors(q->normal->machine, &name);
  *now = tsn_diagnosis_processors(q->run->machine, &name);
  return *now && *now < *normal;
}

static void explain_contention(const tsn_search *q, tsanom_diagnosis_finding *f) {
  size_t now, normal;
  if (f->cause != TSANOM_HSA_CONTENTION || !find_processors(q, &now, &normal)) return;
  f->detail = TSANOM_DIAGNOSIS_DETAIL_PROCESSORS;
  f->processors = now;
  f->normal_processors = normal;
}

/* That a thread stopped is known already. */
static void take_findings(tsn_search *q, size_t first) {
  const tsanom_hsa_series *busiest = &q->run->threads[tsn_diagnosis_busiest(q->run)];
  size_t found = q->count;
  q->count = first;
  for (size_t i = first; i < found; i++) {
    tsanom_diagnosis_finding f = q->cause[i];
    if (f.cause == TSANOM_HSA_HANG && has_stopped(q, f.thread)) continue;
    explain_contention(q, &f);
    f.iteration =
        (uint64_t)(q->scale * (double)tsn_diagnosis_beats_until(busiest, f.begin));
    q->cause[q->count++] = f;
  }
}

static void judge_ledger(tsn_search *q, double chance) {
  tsn_inquiry *l = &q->ledger;
  size_t first = q->count, now, normal;
  if (!tsn_has_ledger(q->normal)) return;
  q->model = tsn_model_of(q->normal);
  l->model = &q->model;
  l->found = q->cause + first;
  l->count = 0;
  tsn_inquiry_begin(l, q->run, q->scale, chance);
  l->is_bound = find_processors(q, &now, &normal);
  tsn_judge_gaps(l);
  tsn_judge_time(l, q->signs);
  q->count += l->count;
  take_findings(q, first);
}

static void add_few_beats(tsn_search *q, uint64_t least) {
  tsanom_diagnosis_finding *f =
      add(q, TSANOM_HSA_UNKNOWN, TSANOM_HSA_PROCESS, TSANOM_DIAGNOSIS_DETAIL_FEW_BEATS);
  f->beats = beats_of(q);
  f->normal_beats = least;
}

void tsn_diagnosis_find(tsn_search *q, double chance) {
  q->count = 0;
  if (!tsn_diagnosis_compare_conditions(q)) return;
  choose_parts(q);
  judge_end(q);
  double least = fmin(TSN_DIAGNOSIS_FEW_BEATS, (double)q->normal->beats / 8 + 1);
  if ((double)beats_of(q) >= least) {
    for (size_t t = 0; t < q->run->thread_count; t++) judge_progress(q, t);
    judge_memory(q);
    judge_ledger(q, chance);
  } else if (!q->count && (q->run->state == TSANOM_RUN_RUNNING ||
                           q->run->state == TSANOM_RUN_FINISHED)) {
    add_few_beats(q, (uint64_t)ceil(least));
  }
  tsn_diagnosis_sort_causes(q->cause, q->count);
}

/* ---- a whole run */

typedef struct {
  tsanom_exec exec;
  tsn_search search;
  tsanom_diagnosis_normal normal;
  const tsanom_hsa_run *run;
  size_t capacity, *count; /* of the caller's causes */
  tsn_piece piece;         /* of a watch; no bytes: the run is over */
} call;

static void layout(tsn_arena *arena, void *context) {
  call *c = context;
  tsn_inquiry_layout(arena, &c->search.ledger);
  c->piece.memory = tsn_arena_take(arena, c->piece.bytes, 1);
}

static void find_in_whole(call *c) {
  tsn_search *q = &c->search;
  q->run = c->run;
  tsn_diagnosis_measure(c->run, q->signs);
  if (tsn_has_ledger(q->normal) && c->run->thread_count == q->normal->thread_count) {
    tsn_pauses pauses = tsn_model_of(q->normal).pauses;
    q->ledger.candidate_count = tsn_all_gaps(c->run, &pauses, q->ledger.candidates);
    q->ledger.first = tsn_first_beat(c->run);
  }
  tsn_diagnosis_find(q, TSN_CHANCE);
}

/* A run that goes on has what it had at its latest point, or if it has none yet, too few beats. */
static tsanom_status find_observed(call *c) {
  tsn_search *q = &c->search;
  tsanom_diagnosis_watch *w;
  q->run = c->run;
  tsanom_status status = tsn_watch_whole(&c->exec, &c->piece, c->run, &c->normal, &w);
  if (status < 0) return status;
  if (c->run->state == TSANOM_RUN_KILLED) {
    find_in_whole(c);
    if (!q->comparable) return TSANOM_OK;
  } else {
    q->count = w->findings;
    memcpy(q->cause, w->verdict, q->count * sizeof *q->cause);
    if (isfinite(w->points.time)) {
      memcpy(q->signs, w->signs, c->run->thread_count * sizeof *q->signs);
    } else {
      tsn_diagnosis_measure(c->run, q->signs);
    }
    q->comparable = !q->count || q->cause->cause != TSANOM_HSA_NOT_COMPARABLE;
    if (!q->comparable) return TSANOM_OK;
    if (!isfinite(w->points.time)) add_few_beats(q, TSANOM_DIAGNOSIS_FIRST_POINT);
  }
  tsn_watch_find_silences(w, q->cause, &q->count);
  tsn_diagnosis_sort_causes(q->cause, q->count);
  return TSANOM_OK;
}

static tsanom_status check(void *context) {
  const call *c = context;
  size_t threads = c->run->thread_count;
  if (!c->search.signs) return tsn_reject_null(&c->exec, "signs", threads);
  if (!c->search.cause) return tsn_reject_null(&c->exec, "causes", c->capacity);
  if (!c->count) return tsn_reject_null(&c->exec, "count", TSANOM_NONE);
  if (c->capacity >= TSN_DIAGNOSIS_CAUSES_OF_RUN &&
      (c->capacity - TSN_DIAGNOSIS_CAUSES_OF_RUN) / TSN_DIAGNOSIS_CAUSES_EACH >=
          threads) {
    return TSANOM_OK;
  }
  return tsn_reject_is(&c->exec, TSANOM_E_COUNT, "capacity", TSANOM_NONE,
                       "%zu; at least %d for each of %zu threads and %d is expected",
                       c->capacity, TSN_DIAGNOSIS_CAUSES_EACH, threads,
                       TSN_DIAGNOSIS_CAUSES_OF_RUN);
}

static tsanom_status body(void *context) {
  call *c = context;
  tsn_search *q = &c->search;
  tsanom_status status = tsn_diagnosis_check_normal(&c->normal, &c->exec);
  if (status == TSANOM_OK) {
    status = tsn_diagnosis_check_vitals(c->run, "run", TSANOM_NONE, &c->exec);
  }
  if (status < 0) return status;
  if (c->piece.bytes) {
    status = find_observed(c);
    if (status < 0) return status;
  } else {
    find_in_whole(c);
  }
  for (size_t i = 0; i < q->count; i++) {
    if (q->cause[i].thread < 0) continue;
    const tsanom_hsa_series *of = &c->run->threads[q->cause[i].thread];
    tsn_name_thread(&q->cause[i], of->vital, of->vital_count);
  }
  *c->count = q->count;
  return TSANOM_OK;
}

tsanom_status tsanom_diagnosis_find_causes(const tsanom_diagnosis_normal *normal,
                                           const tsanom_hsa_run *run,
                                           const tsanom_exec *exec,
                                           tsanom_diagnosis_signs *signs,
                                           tsanom_diagnosis_finding *causes,
                                           size_t capacity, size_t *count) {
  call c = {.run = run,
            .capacity = capacity,
            .count = count,
            .search = {.signs = signs, .cause = causes, .scale = 1}};
  tsanom_status status = tsn_exec_read(&c.exec, exec);
  if (status < 0) return status;
  if (!run) return tsn_reject_null(&c.exec, "run", TSANOM_NONE);
  status = tsn_diagnosis_read_normal(&c.normal, normal, &c.exec);
  if (status == TSANOM_OK) status = tsn_hsa_check_run(run, "run", TSANOM_NONE, &c.exec);
  if (status < 0) return status;
  if (tsn_is_observed(run)) {
    status = tsn_watch_whole_bytes(&c.exec, run, &c.normal, &c.piece.bytes);
    if (status < 0) return tsn_reject(&c.exec, status, "run.thread_count");
  }
  c.search.normal = &c.normal;
  c.search.ledger.threads = run->thread_count;
  return tsn_workspace_run(&c.exec, layout, check, body, &c);
}
