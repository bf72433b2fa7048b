/* SPDX-License-Identifier: BSD-3-Clause */
/* Causes of what is not normal in a run.
 *
 *   run      comparable? -> enough beats? -> ended? -> does memory grow?
 *   thread   silent, stopped, paused  -> hang, shutdown
 *            page faults of a leak    -> memory leak
 *            waits for a processor    -> contention
 *            more than its team       -> imbalance
 *            more per beat            -> slowdown, or waiting for a thread with a cause
 *
 * Direct evidence comes first: what the kernel counted against a thread (a leak, waiting)
 * explains why it is slow, so that its pace is not evidence of anything else. Only a
 * thread without such a cause is slow by itself, and only if no other thread has one that
 * it may wait for.
 *
 * Limits are the ends of the learned ranges; all rules that are not ranges are here. */
#include <math.h>
#include <string.h>

#include "core/environment.h"
#include "diagnosis/causes.h"

enum {
  CAUSES_EACH = 4, /* of a thread, at most */
  CAUSES_OF_RUN = 4
};

/* A thread whose excess of page faults is this share of the greatest one leaks, too. */
static const double accomplice = 0.25;

typedef struct {
  const tsanom_hsa_normal *normal;
  const tsanom_hsa_run *run;
  tsanom_hsa_signs *signs; /* reserved[0]: bits of the causes found until now */
  size_t low, high;        /* parts of the normal runs that are compared with */
  double length;           /* beats over those of the longest normal run, >= 1 */
  bool begins;             /* fewer beats than the first part has */
  tsanom_hsa_cause *cause;
  size_t count;
  bool leaks;         /* the memory of the process grows */
  double most_faults; /* per beat and above their range, of all threads */
  bool has_culprit;   /* a thread has a cause */
  double disturbance; /* seconds without a processor that are no contention */
} inquiry;

/* The range of a sign of a thread: both parts together. */
static tsanom_hsa_range range_of(const inquiry *q, size_t thread, int32_t sign) {
  tsanom_hsa_range a = tsn_hsa_ranges_at(q->normal, q->low, thread)[sign];
  tsanom_hsa_range b = tsn_hsa_ranges_at(q->normal, q->high, thread)[sign];
  a.low = fmin(a.low, b.low);
  a.high = fmax(a.high, b.high);
  if (sign == TSANOM_HSA_SIGN_GROWTH) a.high *= q->begins ? INFINITY : q->length;
  return a;
}

static double sign_of(const inquiry *q, size_t thread, int32_t sign) {
  return q->signs[thread].value[sign];
}

/* Not if the sign or its range is not known. */
static bool is_above(const inquiry *q, size_t thread, int32_t sign) {
  return sign_of(q, thread, sign) > range_of(q, thread, sign).high;
}

static bool is_below(const inquiry *q, size_t thread, int32_t sign) {
  return sign_of(q, thread, sign) < range_of(q, thread, sign).low;
}

static tsanom_hsa_cause *add(inquiry *q, int32_t cause, int32_t thread, int32_t detail) {
  tsanom_hsa_cause *c = &q->cause[q->count++];
  if (thread >= 0) {
    q->signs[thread].reserved[0] |= UINT64_C(1) << cause;
    q->has_culprit = true;
  }
  *c = (tsanom_hsa_cause){.cause = cause,
                          .thread = thread,
                          .sign = -1,
                          .detail = detail,
                          .value = NAN,
                          .range = {-INFINITY, INFINITY},
                          .strength = INFINITY,
                          .number = {NAN, NAN}};
  return c;
}

/* A cause that follows from a sign above its range. */
static tsanom_hsa_cause *add_sign(inquiry *q, int32_t cause, int32_t thread,
                                  int32_t detail, int32_t sign) {
  size_t t = thread < 0 ? 0 : (size_t)thread;
  tsanom_hsa_cause *c = add(q, cause, thread, detail);
  c->sign = sign;
  c->value = sign_of(q, t, sign);
  c->range = range_of(q, t, sign);
  c->strength = c->range.high > 0 ? c->value / c->range.high : INFINITY;
  return c;
}

/* A cause of which the numbers are counts. */
static tsanom_hsa_cause *add_count(inquiry *q, int32_t cause, int32_t thread,
                                   int32_t detail, double value, double normal) {
  tsanom_hsa_cause *c = add(q, cause, thread, detail);
  c->value = value;
  c->range = (tsanom_hsa_range){normal, normal};
  return c;
}

static bool has_cause(const inquiry *q, size_t thread, int32_t cause) {
  return q->signs[thread].reserved[0] >> cause & 1;
}

static uint64_t beats_of(const inquiry *q) {
  return q->run->threads[tsn_hsa_busiest(q->run)].beats;
}

/* ---- the run */

static bool differ(const char *normal, const char *name) {
  size_t most = sizeof((tsanom_hsa_normal *)NULL)->program - 1;
  return *normal && name && strncmp(normal, name, most) != 0;
}

static bool has_ranges(const tsanom_hsa_normal *normal) {
  size_t count = TSANOM_HSA_PARTS * normal->thread_count * TSANOM_HSA_SIGNS;
  for (size_t i = 0; i < count; i++) {
    if (isfinite(normal->range[i].high)) return true;
  }
  return false;
}

/* How many processors the program may use is no difference of the machines: a program that
 * may use fewer than normal lacks them (judge_processors()). */
static bool is_other_machine(const inquiry *q) {
  const char *normal, *name;
  (void)tsn_hsa_processors(q->normal->machine, &normal);
  (void)tsn_hsa_processors(q->run->machine, &name);
  return differ(normal, name);
}

/* Whether the run is of what the ranges were learned from; adds the reason if not. */
static bool is_comparable(inquiry *q) {
  const tsanom_hsa_run *run = q->run;
  if (differ(q->normal->program, run->program)) {
    add(q, TSANOM_HSA_NOT_COMPARABLE, TSANOM_HSA_PROCESS, TSANOM_HSA_DETAIL_PROGRAM);
  } else if (is_other_machine(q)) {
    add(q, TSANOM_HSA_NOT_COMPARABLE, TSANOM_HSA_PROCESS, TSANOM_HSA_DETAIL_MACHINE);
  } else if (run->thread_count != q->normal->thread_count) {
    (void)add_count(q, TSANOM_HSA_NOT_COMPARABLE, TSANOM_HSA_PROCESS,
                    TSANOM_HSA_DETAIL_THREADS, (double)run->thread_count,
                    (double)q->normal->thread_count);
  } else if (!has_ranges(q->normal)) {
    add(q, TSANOM_HSA_NOT_COMPARABLE, TSANOM_HSA_PROCESS, TSANOM_HSA_DETAIL_NO_POWER);
  }
  return q->count == 0;
}

/* A finished run is compared with whole runs: its program made all of its phases, however
 * many beats they took. Before the end of the first part, a program may still allocate
 * what it needs. */
static void choose_parts(inquiry *q) {
  double beats = (double)beats_of(q), normal = fmax(1, (double)q->normal->beats);
  double eighths = fmin(1, beats / normal) * TSANOM_HSA_PARTS;
  q->begins = eighths < 1;
  if (q->run->state == TSANOM_HSA_STATE_FINISHED) eighths = TSANOM_HSA_PARTS;
  q->low = (size_t)fmax(1, floor(eighths)) - 1;
  q->high = (size_t)fmax(1, ceil(eighths)) - 1;
  q->length = fmax(1, beats / normal);
}

/* A file of beats does not say whether its program ended them, so that their number must
 * be that of the normal runs. */
static void judge_end(inquiry *q) {
  double beats = (double)beats_of(q), fewest = (double)q->normal->fewest;
  if (q->run->state == TSANOM_HSA_STATE_KILLED) {
    tsanom_hsa_cause *c =
        add_count(q, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_PROCESS, TSANOM_HSA_DETAIL_KILLED,
                  beats, (double)q->normal->beats);
    if (q->run->exit_code) c->number[0] = q->run->exit_code;
  } else if (is_above(q, 0, TSANOM_HSA_SIGN_EXIT)) {
    tsanom_hsa_cause *c = add_sign(q, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_PROCESS,
                                   TSANOM_HSA_DETAIL_EXIT, TSANOM_HSA_SIGN_EXIT);
    c->number[0] = beats;
    c->number[1] = (double)q->normal->beats;
  } else if (q->run->state == TSANOM_HSA_STATE_UNKNOWN && beats < 0.99 * fewest) {
    (void)add_count(q, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_PROCESS, TSANOM_HSA_DETAIL_SHORT,
                    beats, (double)q->normal->beats);
  }
}

/* ---- threads */

/* Silent for longer than it ever was in a normal run, without the time in which it was
 * ready and had no processor. */
static bool is_silent(const inquiry *q, size_t t) {
  double limit = fmax(range_of(q, t, TSANOM_HSA_SIGN_SILENCE).high,
                      range_of(q, t, TSANOM_HSA_SIGN_GAP).high);
  double waited = tsn_hsa_wait_since_beat(&q->run->threads[t]);
  return sign_of(q, t, TSANOM_HSA_SIGN_SILENCE) - waited > limit;
}

/* A thread that waits for a processor does not hang: most of the gap must be other time.
 * Where normal runs have such gaps, as a program that begins on a busy machine, the time
 * that a thread is blocked in a gap is examined (judge_progress()). */
static bool paused(const inquiry *q, size_t t) {
  if (!is_above(q, t, TSANOM_HSA_SIGN_GAP)) return false;
  double wait = tsn_hsa_wait_in_gap(&q->run->threads[t]);
  return isnan(wait) || wait < 0.5 * sign_of(q, t, TSANOM_HSA_SIGN_GAP);
}

static void add_hang(inquiry *q, size_t t, int32_t detail, int32_t sign) {
  tsanom_hsa_cause *c = add_sign(q, TSANOM_HSA_HANG, (int32_t)t, detail, sign);
  if (sign == TSANOM_HSA_SIGN_SILENCE) { /* becomes a time in pause.c */
    c->number[0] = -c->value;
    c->number[1] = INFINITY;
  } else {
    tsn_hsa_find_gap(&q->run->threads[t], sign, c->number);
  }
}

/* While a program is observed, it has a time until now, by which a thread is silent. In a
 * run that is over, a thread that stopped has a part of the beats of the others. */
static void judge_progress(inquiry *q, size_t t) {
  bool observed = q->run->state == TSANOM_HSA_STATE_RUNNING ||
                  q->run->state == TSANOM_HSA_STATE_KILLED;
  int32_t thread = (int32_t)t;
  if (observed && is_silent(q, t)) {
    add_hang(q, t, TSANOM_HSA_DETAIL_NONE, TSANOM_HSA_SIGN_SILENCE);
  } else if (!observed && !q->signs[t].beats &&
             range_of(q, t, TSANOM_HSA_SIGN_SHARE).low > 0) {
    (void)add_count(q, TSANOM_HSA_SHUTDOWN, thread, TSANOM_HSA_DETAIL_NEVER, 0,
                    (double)beats_of(q));
  } else if (!observed && is_above(q, t, TSANOM_HSA_SIGN_TAIL) &&
             is_below(q, t, TSANOM_HSA_SIGN_SHARE)) {
    tsanom_hsa_cause *c = add_sign(q, TSANOM_HSA_SHUTDOWN, thread,
                                   TSANOM_HSA_DETAIL_STOPPED, TSANOM_HSA_SIGN_TAIL);
    c->number[0] = (double)q->signs[t].beats;
    c->number[1] = (double)beats_of(q);
  } else if (is_above(q, t, TSANOM_HSA_SIGN_BLOCKED_GAP)) {
    add_hang(q, t, TSANOM_HSA_DETAIL_PAUSED, TSANOM_HSA_SIGN_BLOCKED_GAP);
  } else if (paused(q, t)) {
    add_hang(q, t, TSANOM_HSA_DETAIL_PAUSED, TSANOM_HSA_SIGN_GAP);
  }
}

/* Threads of a program that frees and allocates have page faults without a leak. */
static double excess_faults(const inquiry *q, size_t t) {
  return sign_of(q, t, TSANOM_HSA_SIGN_FAULTS) -
         range_of(q, t, TSANOM_HSA_SIGN_FAULTS).high;
}

static bool takes_memory(const inquiry *q, size_t t) {
  double excess = excess_faults(q, t);
  return excess > 0 && excess >= accomplice * q->most_faults;
}

/* The threads whose page faults are above normal; or the run, if there is none. */
static void judge_memory(inquiry *q) {
  bool found = false;
  q->leaks = is_above(q, 0, TSANOM_HSA_SIGN_GROWTH);
  if (!q->leaks) return;
  for (size_t t = 0; t < q->run->thread_count; t++) {
    q->most_faults = fmax(q->most_faults, excess_faults(q, t));
  }
  for (size_t t = 0; t < q->run->thread_count; t++) {
    if (!takes_memory(q, t)) continue;
    tsanom_hsa_cause *c = add_sign(q, TSANOM_HSA_MEMORY_LEAK, (int32_t)t,
                                   TSANOM_HSA_DETAIL_NONE, TSANOM_HSA_SIGN_GROWTH);
    c->number[0] = sign_of(q, t, TSANOM_HSA_SIGN_FAULTS);
    c->number[1] = range_of(q, t, TSANOM_HSA_SIGN_FAULTS).high;
    found = true;
  }
  if (!found) {
    add_sign(q, TSANOM_HSA_MEMORY_LEAK, TSANOM_HSA_PROCESS, TSANOM_HSA_DETAIL_NONE,
             TSANOM_HSA_SIGN_GROWTH);
  }
}

/* A processor that another process takes for a while, and work that is not shared
 * equally. A thread that stopped leaves its team without a comparison. */
static void judge_share(inquiry *q, size_t t, bool whole_team) {
  int32_t thread = (int32_t)t;
  double observed;
  if (is_above(q, t, TSANOM_HSA_SIGN_WAIT) &&
      tsn_hsa_waited(&q->run->threads[t], &observed) >= q->disturbance) {
    add_sign(q, TSANOM_HSA_CONTENTION, thread, TSANOM_HSA_DETAIL_NONE,
             TSANOM_HSA_SIGN_WAIT);
  }
  bool has_cpu = !isnan(sign_of(q, t, TSANOM_HSA_SIGN_TEAM_CPU));
  int32_t sign = has_cpu ? TSANOM_HSA_SIGN_TEAM_CPU : TSANOM_HSA_SIGN_TEAM_INTERVAL;
  if (whole_team && !has_cause(q, t, TSANOM_HSA_MEMORY_LEAK) && is_above(q, t, sign)) {
    add_sign(q, TSANOM_HSA_IMBALANCE, thread, TSANOM_HSA_DETAIL_NONE, sign);
  }
}

/* Threads lack processors that the program may not use, as under taskset(1). */
static void judge_processors(inquiry *q) {
  const char *name;
  size_t normal = tsn_hsa_processors(q->normal->machine, &name);
  size_t now = tsn_hsa_processors(q->run->machine, &name);
  bool lacks = false;
  for (size_t t = 0; t < q->run->thread_count; t++) {
    lacks = lacks || has_cause(q, t, TSANOM_HSA_CONTENTION);
  }
  if (!lacks || !now || now >= normal) return;
  (void)add_count(q, TSANOM_HSA_CONTENTION, TSANOM_HSA_PROCESS,
                  TSANOM_HSA_DETAIL_PROCESSORS, (double)now, (double)normal);
}

static void add_slowdown(inquiry *q, size_t t, bool more_cpu) {
  int32_t thread = (int32_t)t;
  bool faults = is_above(q, t, TSANOM_HSA_SIGN_FAULTS);
  int32_t sign = more_cpu ? TSANOM_HSA_SIGN_CPU_QUARTILE : TSANOM_HSA_SIGN_INTERVAL;
  int32_t detail = TSANOM_HSA_DETAIL_NONE;
  if (more_cpu && faults) detail = TSANOM_HSA_DETAIL_FAULTS;
  if (!more_cpu) {
    detail = isnan(sign_of(q, t, TSANOM_HSA_SIGN_CPU_QUARTILE))
                 ? TSANOM_HSA_DETAIL_NO_CPU
                 : TSANOM_HSA_DETAIL_BLOCKED;
  }
  tsanom_hsa_cause *c = add_sign(q, TSANOM_HSA_SLOWDOWN, thread, detail, sign);
  if (detail == TSANOM_HSA_DETAIL_FAULTS) {
    c->number[0] = sign_of(q, t, TSANOM_HSA_SIGN_FAULTS);
    c->number[1] = range_of(q, t, TSANOM_HSA_SIGN_FAULTS).high;
  } else if (detail == TSANOM_HSA_DETAIL_BLOCKED) {
    c->number[0] = sign_of(q, t, TSANOM_HSA_SIGN_WAIT);
    c->number[1] = sign_of(q, t, TSANOM_HSA_SIGN_BLOCKED);
  }
}

/* What the causes of a thread found until now do not explain. Waiting for a processor
 * does not need more processor time, a slow thread that waits, too, has two causes. */
static bool is_explained(const inquiry *q, size_t t) {
  return has_cause(q, t, TSANOM_HSA_MEMORY_LEAK) ||
         has_cause(q, t, TSANOM_HSA_IMBALANCE) || has_cause(q, t, TSANOM_HSA_HANG) ||
         has_cause(q, t, TSANOM_HSA_SHUTDOWN);
}

/* Whether the run lost time in which none of its threads ran, as in a few of its beats, or
 * while it was stopped: the quartiles of its beats stay as they are. While one thread
 * works, the others may wait for it, so that all must be blocked for longer than normal.
 * Less work for a beat is a larger share of the same waiting. */
static bool is_blocked(const inquiry *q) {
  if (q->run->state != TSANOM_HSA_STATE_FINISHED) return false;
  for (size_t t = 0; t < q->run->thread_count; t++) {
    if (!is_above(q, t, TSANOM_HSA_SIGN_BLOCKED)) return false;
    if (is_below(q, t, TSANOM_HSA_SIGN_CPU)) return false;
  }
  return true;
}

static void judge_pace(inquiry *q, size_t t, bool others) {
  bool more_cpu = is_above(q, t, TSANOM_HSA_SIGN_CPU_QUARTILE);
  bool slower = is_above(q, t, TSANOM_HSA_SIGN_INTERVAL);
  if (has_cause(q, t, TSANOM_HSA_CONTENTION)) slower = false;
  if (is_explained(q, t)) return;
  if (!more_cpu && !slower) {
    if (!others && is_blocked(q)) {
      add_sign(q, TSANOM_HSA_SLOWDOWN, (int32_t)t, TSANOM_HSA_DETAIL_BLOCKED,
               TSANOM_HSA_SIGN_BLOCKED);
    }
    return;
  }
  if (others && !has_cause(q, t, TSANOM_HSA_CONTENTION)) {
    add_sign(q, TSANOM_HSA_WAITING, (int32_t)t, TSANOM_HSA_DETAIL_NONE,
             slower ? TSANOM_HSA_SIGN_INTERVAL : TSANOM_HSA_SIGN_CPU_QUARTILE);
  } else {
    add_slowdown(q, t, more_cpu);
  }
}

static void judge_threads(inquiry *q) {
  size_t threads = q->run->thread_count;
  for (size_t t = 0; t < threads; t++) judge_progress(q, t);
  q->count = tsn_hsa_settle_pauses(q->run, q->signs, q->cause, q->count);
  q->has_culprit = q->count && q->cause[q->count - 1].thread >= 0;
  bool whole_team = !q->has_culprit;
  judge_memory(q);
  q->disturbance = tsn_hsa_disturbance(q->run);
  for (size_t t = 0; t < threads; t++) judge_share(q, t, whole_team);
  judge_processors(q);
  bool others = q->has_culprit || q->leaks;
  for (size_t t = 0; t < threads; t++) judge_pace(q, t, others);
}

static void find_causes(inquiry *q) {
  if (!is_comparable(q)) return;
  choose_parts(q);
  judge_end(q);
  double least = fmin(TSN_HSA_FEW_BEATS, (double)q->normal->beats / 8 + 1);
  if ((double)beats_of(q) >= least) {
    judge_threads(q);
  } else if (!q->count && (q->run->state == TSANOM_HSA_STATE_RUNNING ||
                           q->run->state == TSANOM_HSA_STATE_FINISHED)) {
    (void)add_count(q, TSANOM_HSA_UNKNOWN, TSANOM_HSA_PROCESS,
                    TSANOM_HSA_DETAIL_FEW_BEATS, (double)beats_of(q), least);
  }
  tsn_hsa_sort_causes(q->cause, q->count);
  for (size_t t = 0; t < q->run->thread_count; t++) q->signs[t].reserved[0] = 0;
}

size_t tsn_hsa_judge(const tsanom_hsa_normal *normal, const tsanom_hsa_run *run,
                     tsanom_hsa_signs *signs, tsanom_hsa_cause *causes) {
  inquiry q = {.normal = normal, .run = run, .signs = signs, .cause = causes};
  find_causes(&q);
  return q.count;
}

static tsanom_status check_capacity(const tsanom_hsa_run *run, size_t capacity,
                                    const tsanom_exec *exec) {
  if (capacity >= CAUSES_OF_RUN &&
      (capacity - CAUSES_OF_RUN) / CAUSES_EACH >= run->thread_count) {
    return TSANOM_OK;
  }
  return tsn_reject_text(exec, TSANOM_E_COUNT, "capacity", TSANOM_NONE,
                         "%zu; %d for each of %zu threads and %d are needed", capacity,
                         CAUSES_EACH, run->thread_count, CAUSES_OF_RUN);
}

tsanom_status tsanom_hsa_find_causes(const tsanom_hsa_normal *normal,
                                     const tsanom_hsa_run *run, const tsanom_exec *exec,
                                     tsanom_hsa_signs *signs, tsanom_hsa_cause *causes,
                                     size_t capacity, size_t *count) {
  tsanom_exec own;
  tsanom_hsa_normal read = {.thread_count = 0};
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  if (!run) return tsn_reject(&own, TSANOM_E_NULL, "run");
  if (!signs) return tsn_reject(&own, TSANOM_E_NULL, "signs");
  if (!causes) return tsn_reject(&own, TSANOM_E_NULL, "causes");
  if (!count) return tsn_reject(&own, TSANOM_E_NULL, "count");
  tsn_environment before = tsn_environment_enter();
  status = tsn_hsa_read_normal(&read, normal, &own);
  if (status == TSANOM_OK) status = check_capacity(run, capacity, &own);
  if (status == TSANOM_OK) status = tsn_hsa_check_vitals(run, "run", TSANOM_NONE, &own);
  if (status == TSANOM_OK) {
    tsn_hsa_measure(run, signs);
    *count = tsn_hsa_judge(&read, run, signs, causes);
  }
  tsn_environment_leave(before);
  return status;
}
