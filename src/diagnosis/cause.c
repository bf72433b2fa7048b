/* SPDX-License-Identifier: BSD-3-Clause */
/* What is not normal in a run.
 *
 *   run      comparable? -> ended? -> enough beats?
 *   memory   grows by more than in normal runs         -> memory leak
 *   thread   never beat, or stopped before the others  -> shutdown
 *   gap      between beats, too long, its owner known  -> hang; it leaves the ledger
 *   time     a sign of what is left, above its limit,  -> contention, imbalance, slowdown
 *            that lost a tenth of the normal time, of the whole or of the eighths in which
 *            it is above */
#include <math.h>
#include <string.h>

#include "diagnosis/causes.h"

/* A thread whose excess of page faults is this share of the greatest one leaks, too. */
static const double accomplice = 0.25;

/* Seconds of a pause that are reported even if it is a small part of a run. */
static const double longest_least = 0.25;

/* Memory that a thread takes beside others that do so in normal runs. */
static const double page = 4096, least_leak = 3 << 20;

tsanom_diagnosis_finding *tsn_add_finding(tsanom_diagnosis_finding *found, size_t *count,
                                          int32_t cause, int32_t thread, int32_t detail) {
  tsanom_diagnosis_finding *f = &found[(*count)++];
  *f = (tsanom_diagnosis_finding){.cause = cause,
                                  .thread = thread,
                                  .sign = -1,
                                  .detail = detail,
                                  .value = NAN,
                                  .most = NAN,
                                  .limit = NAN,
                                  .lost_s = NAN,
                                  .begin = NAN,
                                  .end = NAN,
                                  .faults = NAN,
                                  .faults_limit = NAN,
                                  .ready_s = NAN};
  return f;
}

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
  for (size_t i = 0; i < tsn_range_count(normal); i++) {
    if (isfinite(normal->range[i].high)) return true;
  }
  return tsn_has_ledger(normal);
}

/* How many processors the program may use is no difference of the machines: a program that
 * may use fewer than normal lacks them (is_bound()). */
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
  q->is_comparable = q->count == 0;
  return q->is_comparable;
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

static tsanom_diagnosis_finding *add_leak(tsn_search *q, int32_t thread, int32_t detail,
                                          int32_t sign) {
  tsanom_diagnosis_finding *f = add_sign(q, TSANOM_HSA_MEMORY_LEAK, thread, detail, sign);
  f->begin = tsn_leak_onset(q->run, sign);
  return f;
}

static void add_leak_of(tsn_search *q, size_t t, int32_t detail) {
  tsanom_diagnosis_finding *f =
      add_leak(q, (int32_t)t, detail, TSANOM_DIAGNOSIS_SIGN_GROWTH);
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
      add_leak_of(q, t, TSANOM_DIAGNOSIS_DETAIL_NONE);
    } else if (!leaks && !q->begins && leaks_beside_growth(q, t)) {
      add_leak_of(q, t, TSANOM_DIAGNOSIS_DETAIL_FAULTS);
    }
  }
  bool leaked = is_above(q, 0, TSANOM_DIAGNOSIS_SIGN_EARLY);
  if ((leaks || leaked) && q->count == before) {
    (void)add_leak(q, TSANOM_HSA_PROCESS, TSANOM_DIAGNOSIS_DETAIL_NONE,
                   leaks ? TSANOM_DIAGNOSIS_SIGN_GROWTH : TSANOM_DIAGNOSIS_SIGN_EARLY);
  }
}

/* ---- gaps */

/* Shorter gaps have no sample inside that shows whose they are. */
static double sample_period(const tsn_search *q) {
  const tsanom_hsa_series *s = &q->run->threads[0];
  if (!q->grid.is_sampled || s->vital_count < 2) return 0;
  return (s->vital[s->vital_count - 1].time - s->vital[0].time) /
         (double)(s->vital_count - 1);
}

double tsn_least_pause(const tsn_model *m) {
  double wall = 0;
  for (size_t p = 0; p < TSN_PARTS; p++) {
    wall += m->beats / TSN_PARTS * tsn_rate(m, p)[TSN_WALL];
  }
  return fmin(longest_least, TSN_LEAST_LOST * wall);
}

static bool is_at_pause(const tsn_search *q, const tsn_gap *g) {
  return tsn_pauses_at(&q->model.pauses, g->beats);
}

/* Gaps of a thread are one finding. */
static void add_pause(tsn_search *q, int32_t thread, const tsn_gap *g, double most,
                      double limit, double lost) {
  if (has_stopped(q, thread)) return; /* that is known already */
  for (size_t i = q->first_timed; i < q->count; i++) {
    tsanom_diagnosis_finding *f = &q->cause[i];
    if (f->cause != TSANOM_HSA_HANG || f->thread != thread) continue;
    f->lost_s += lost;
    return;
  }
  tsanom_diagnosis_finding *f =
      add(q, TSANOM_HSA_HANG, thread, TSANOM_DIAGNOSIS_DETAIL_PAUSED);
  f->sign = TSANOM_DIAGNOSIS_SIGN_GAP;
  f->value = g->end - g->begin;
  f->most = most;
  f->limit = limit;
  f->lost_s = lost;
  f->begin = g->begin;
  f->end = g->end;
}

/* The longest time without a beat in a gap, and the beats until then over their normal share. */
static void find_silence(const tsanom_hsa_series *s, const tsn_gap *gap, double share,
                         tsn_silence *found) {
  double last = gap->begin, longest = 0;
  for (size_t i = tsn_diagnosis_beats_until(s, last); i <= s->beats; i++) {
    double next = i < s->beats ? fmin(s->time[i], gap->end) : gap->end;
    if (next - last > longest) {
      longest = next - last;
      found->since = last;
      found->beats = (double)i / share;
    }
    last = next;
    if (next >= gap->end) break;
  }
  found->is_silent = longest > (gap->end - gap->begin) / 2;
}

/* Shares of the time between the samples in a gap in which a thread ran, and was ready. */
typedef struct {
  double ran, ready;
} gap_use;

/* What a thread did in a gap. It waits for nothing that others do if it runs, or sleeps for
 * something else than a thread more often than for one. */
static gap_use describe(const tsanom_hsa_series *s, const tsn_gap *gap,
                        tsn_silence *found) {
  double outer[2] = {gap->begin, gap->end}, cpu[2], ready[2];
  size_t first = tsn_samples_until(s->vital, s->vital_count, gap->begin), end = first;
  ptrdiff_t alone = 0, team = 0, stopped = 0;
  for (; end < s->vital_count && s->vital[end].time < gap->end; end++) {
    const tsanom_hsa_vital *v = &s->vital[end];
    stopped += v->state == 'T';
    alone += (v->waits == TSANOM_HSA_WAITS_OTHER) - (v->waits == TSANOM_HSA_WAITS_THREAD);
    team += v->waits == TSANOM_HSA_WAITS_TEAM;
  }
  size_t inside = end - first;
  if (inside > 1) {
    outer[0] = s->vital[first].time;
    outer[1] = s->vital[end - 1].time;
  }
  double span = fmax(outer[1] - outer[0], 1e-9);
  tsn_ledger_trace(s, TSN_LEDGER_CPU, outer, 2, cpu);
  tsn_ledger_trace(s, TSN_LEDGER_READY, outer, 2, ready);
  gap_use use = {(cpu[1] - cpu[0]) / span, (ready[1] - ready[0]) / span};
  found->is_known = inside > 0;
  found->is_stopped = stopped > 0;
  found->waits = 2 * (size_t)team > inside                         ? TSN_FOR_TEAM
                 : use.ran > 0.5 || alone + stopped > 0 || !inside ? TSN_ALONE
                                                                   : TSN_FOR_THREAD;
  return use;
}

size_t tsn_gap_owners(const tsanom_hsa_run *run, const tsn_gap *gap, const double *share,
                      tsn_silence *silence) {
  size_t threads = run->thread_count, owners = 0;
  double ran = 0, ready = 0;
  for (size_t t = 0; t < threads; t++) {
    silence[t] = (tsn_silence){.since = gap->begin};
    find_silence(&run->threads[t], gap, share[t], &silence[t]);
    gap_use use = describe(&run->threads[t], gap, &silence[t]);
    if (!silence[t].is_silent || silence[t].waits == TSN_FOR_TEAM) continue;
    ran = fmax(ran, use.ran);
    ready = fmax(ready, use.ready);
  }
  if (ran <= 0.5 && ready > 0.5) return 0;
  tsn_find_owners(silence, threads);
  for (size_t t = 0; t < threads; t++) owners += silence[t].is_owner;
  return owners;
}

static double limit_of_gap(const tsn_search *q, const tsn_gap *g, double least) {
  return fmax(is_at_pause(q, g) ? q->model.pauses.limit : q->model.gap_limit, least);
}

/* Name those that others waited for. A gap without one, since a thread lacked a processor,
 * stays in the ledger. */
static void name_owners(tsn_search *q, const tsn_gap *g, double least) {
  const tsn_model *m = &q->model;
  for (size_t t = 0; t < m->threads; t++) q->silence[t].is_owner = t == g->thread;
  if (q->grid.is_sampled && !tsn_gap_owners(q->run, g, m->share, q->silence)) return;
  for (size_t t = 0; t < m->threads; t++) {
    if (!q->silence[t].is_owner) continue;
    add_pause(q, (int32_t)t, g, is_at_pause(q, g) ? m->pauses.longest : m->longest_gap,
              limit_of_gap(q, g, least), g->length);
  }
  tsn_grid_drop(&q->grid, g->begin, g->end);
}

/* Before the first beat. How long a program takes to begin says nothing of its iterations. */
static void judge_start(tsn_search *q) {
  double most = q->model.longest_start, limit = fmax(2 * most, most + longest_least);
  tsn_gap g = tsn_first_gap(q->run, q->first);
  if (g.length > limit) {
    add_pause(q, TSANOM_HSA_PROCESS, &g, most, limit, g.length - most);
  }
}

/* Several gaps like each other are no pause but the pace of the run: they stay. The rule of
 * watch.c is for one that lasts. */
static void judge_gaps(tsn_search *q) {
  tsn_gap gap[TSN_GAPS];
  double sum = 0, longest = 0, end = tsn_run_end(q->run);
  double least = fmax(2 * sample_period(q), tsn_least_pause(&q->model));
  size_t gaps = 0;
  judge_start(q);
  for (size_t i = 0; i < q->gaps; i++) {
    tsn_gap g = q->gap[i];
    if (tsn_is_observed(q->run) && g.end >= end) {
      tsn_grid_end_at(&q->grid, g.begin);
    } else if (g.length > limit_of_gap(q, &g, least)) {
      longest = fmax(longest, g.length);
      sum += g.length;
      gap[gaps++] = g;
    }
  }
  bool is_pace = gaps > 2 && longest < sum / 2;
  for (size_t i = 0; i < gaps && !is_pace; i++) name_owners(q, &gap[i], least);
}

/* ---- time */

/* Of a run that goes on, the whole is fewer eighths than normal runs have. That a program may
 * use fewer processors is no chance, which a limit is for. */
static double limit_of(const tsn_search *q, size_t window, size_t sign) {
  tsn_limit limit = *tsn_limit_of(&q->model, window, sign);
  if (sign == TSN_CONTENTION && q->is_bound) return TSN_LEAST_LOST;
  if (!window && q->now && q->now < TSN_PARTS && sign != TSN_CONTENTION) {
    limit.scale = fmax(limit.scale, tsn_scale_of_mean(&q->model, sign, q->now));
  }
  return tsn_limit_at(&limit, tsn_model_chance(&q->model, window, sign, q->chance));
}

static tsn_sign *signs_of(const tsn_search *q, size_t window) {
  return q->sign + window * (TSN_IMBALANCE + q->model.threads);
}

static bool exceeds(const tsn_search *q, size_t window, size_t sign) {
  const tsn_sign *s = &signs_of(q, window)[sign];
  return q->window[window].cells >= TSN_LEAST_CELLS && s->lost > 0 &&
         s->value > limit_of(q, window, sign);
}

/* The whole is judged without the eighth that is not over. */
static void measure_windows(tsn_search *q) {
  bool running = q->run->state == TSANOM_RUN_RUNNING;
  q->now = TSN_PARTS;
  for (size_t e = 0; running && e + 1 < q->grid.edges; e++) {
    if (q->grid.edge[e] < q->grid.edge[e + 1]) q->now = q->grid.part[e];
  }
  unsigned whole = 0;
  for (size_t p = 0; p < q->now; p++) whole |= 2U << p;
  for (size_t w = 0; w < TSN_WINDOWS; w++) {
    double least = w && w - 1 == q->now ? q->scale * q->grid.total / TSN_PARTS : 0;
    q->normal_wall[w] = tsn_measure_signs(&q->model, &q->grid, w ? 1U << w : whole, least,
                                          &q->scratch, signs_of(q, w));
    q->window[w] = q->scratch.sums;
  }
}

/* The contiguous eighths with the largest sum of what was lost above a tenth. */
static void find_onset(const tsn_search *q, size_t sign, tsanom_diagnosis_finding *f) {
  double best = -INFINITY, sum = 0, begin = NAN;
  for (size_t w = 1; w < TSN_WINDOWS; w++) {
    if (!q->window[w].cells) continue;
    if (!(sum > 0)) {
      sum = 0;
      begin = q->window[w].begin;
    }
    sum += signs_of(q, w)[sign].lost - TSN_LEAST_LOST * q->normal_wall[w];
    if (!(sum > best)) continue;
    best = sum;
    f->begin = begin;
    f->end = q->window[w].end;
  }
}

/* What each sign of the ledger is for the outside; a ratio enters by its logarithm. */
static const struct {
  int32_t cause, sign, detail;
  bool is_ratio;
} kinds[] = {[TSN_SLOWDOWN] = {TSANOM_HSA_SLOWDOWN, TSANOM_DIAGNOSIS_SIGN_SLOWDOWN,
                               TSANOM_DIAGNOSIS_DETAIL_NONE, true},
             [TSN_CONTENTION] = {TSANOM_HSA_CONTENTION, TSANOM_DIAGNOSIS_SIGN_CONTENTION,
                                 TSANOM_DIAGNOSIS_DETAIL_NONE, false},
             [TSN_BLOCKED] = {TSANOM_HSA_SLOWDOWN, TSANOM_DIAGNOSIS_SIGN_NOBODY,
                              TSANOM_DIAGNOSIS_DETAIL_BLOCKED, false},
             [TSN_IMBALANCE] = {TSANOM_HSA_IMBALANCE, TSANOM_DIAGNOSIS_SIGN_IMBALANCE,
                                TSANOM_DIAGNOSIS_DETAIL_NONE, true}};

static double shown(size_t kind, double value) {
  return kinds[kind].is_ratio ? exp(value) : value;
}

/* `part`: of what was lost, that would be reported. It is lost above 1 or 0 of the sign. */
static void add_loss(tsn_search *q, size_t sign, size_t window, double lost,
                     double part) {
  bool own = sign >= TSN_IMBALANCE;
  size_t kind = own ? TSN_IMBALANCE : sign;
  tsanom_diagnosis_finding *f =
      add(q, kinds[kind].cause,
          own ? (int32_t)(sign - TSN_IMBALANCE) : TSANOM_HSA_PROCESS, kinds[kind].detail);
  f->sign = kinds[kind].sign;
  f->value = shown(kind, signs_of(q, window)[sign].value);
  f->most = shown(kind, tsn_limit_of(&q->model, window, sign)->most);
  double none = shown(kind, 0);
  f->limit =
      fmax(shown(kind, limit_of(q, window, sign)), none + part * (f->value - none));
  f->lost_s = lost;
  find_onset(q, sign, f);
  if (!q->model.is_sampled) f->detail = TSANOM_DIAGNOSIS_DETAIL_BEATS;
  if (kind != TSN_CONTENTION || !q->is_bound) return;
  const char *name;
  f->detail = TSANOM_DIAGNOSIS_DETAIL_PROCESSORS;
  f->processors = tsn_diagnosis_processors(q->run->machine, &name);
  f->normal_processors = tsn_diagnosis_processors(q->normal->machine, &name);
}

/* What of a run that goes on, which is judged again and again, may be chance: that all threads
 * sleep in one or two samples, which are much of an eighth that has three; and what the lack
 * of processors explains, which shifts work between threads, and makes them wait. */
static double chance_loss(const tsn_search *q, size_t sign, double lacked) {
  bool shifts = sign == TSN_BLOCKED || sign >= TSN_IMBALANCE;
  if (q->run->state != TSANOM_RUN_RUNNING || !shifts) return 0;
  double asleep = (TSN_LEAST_CELLS - 1) * sample_period(q);
  return fmax(lacked, sign == TSN_BLOCKED ? asleep : 0);
}

static void judge_sign(tsn_search *q, size_t sign) {
  const tsn_entries *all = &q->window[0];
  bool whole = all->cells && exceeds(q, 0, sign);
  double lost = whole ? signs_of(q, 0)[sign].lost : 0, least = q->normal_wall[0];
  double lacked = whole ? all->lacked : 0;
  size_t window = 0;
  for (size_t w = 1; w < TSN_WINDOWS; w++) {
    const tsn_sign *s = &signs_of(q, w)[sign];
    if (!q->window[w].cells) continue;
    if (!all->cells) least = q->normal_wall[w];
    if (whole || !exceeds(q, w, sign)) continue;
    if (!window || s->lost > signs_of(q, window)[sign].lost) window = w;
    lost += s->lost;
    lacked += q->window[w].lacked;
  }
  if (!(whole || window) || lost <= chance_loss(q, sign, lacked)) return;
  least *= TSN_LEAST_LOST;
  if (lost >= least) add_loss(q, sign, window, lost, least / lost);
}

static void write_signs(const tsn_search *q) {
  if (!q->window[0].cells) return;
  for (size_t t = 0; t < q->model.threads; t++) {
    for (size_t k = 0; k <= TSN_IMBALANCE; k++) {
      size_t sign = k < TSN_IMBALANCE ? k : TSN_IMBALANCE + t;
      q->signs[t].value[kinds[k].sign] = shown(k, signs_of(q, 0)[sign].value);
    }
  }
}

/* Whether threads lack processors that the program may not use, as under taskset(1). */
static bool is_bound(const tsn_search *q) {
  const char *name;
  size_t now = tsn_diagnosis_processors(q->run->machine, &name);
  return now && now < tsn_diagnosis_processors(q->normal->machine, &name);
}

/* Beats alone are not compared with processor time, and do not stand for samples that will
 * come. */
static void judge_ledger(tsn_search *q) {
  const tsanom_hsa_series *busiest = &q->run->threads[tsn_diagnosis_busiest(q->run)];
  if (!(q->model.processors > 0)) return;
  q->is_bound = is_bound(q);
  q->first_timed = q->count;
  double made = (double)busiest->beats, normal = q->model.beats / q->scale;
  tsn_grid_begin(&q->grid, q->run, tsn_is_observed(q->run) ? fmax(normal, made) : made,
                 q->scale);
  judge_gaps(q);
  if (q->grid.is_sampled == q->model.is_sampled) {
    tsn_grid_fill(&q->grid);
    measure_windows(q);
    size_t threads = q->model.threads;
    for (size_t s = 0; s < TSN_IMBALANCE + (threads > 1 ? threads : 0); s++) {
      judge_sign(q, s);
    }
    write_signs(q);
  }
}

static void set_iterations(tsn_search *q) {
  const tsanom_hsa_series *busiest = &q->run->threads[tsn_diagnosis_busiest(q->run)];
  for (size_t i = 0; i < q->count; i++) {
    tsanom_diagnosis_finding *f = &q->cause[i];
    double beats = (double)tsn_diagnosis_beats_until(busiest, f->begin);
    f->iteration = (uint64_t)(q->scale * beats);
  }
}

/* ---- all */

void tsn_add_few_beats(tsn_search *q, uint64_t beats, uint64_t least) {
  tsanom_diagnosis_finding *f =
      add(q, TSANOM_HSA_UNKNOWN, TSANOM_HSA_PROCESS, TSANOM_DIAGNOSIS_DETAIL_FEW_BEATS);
  f->beats = beats;
  f->normal_beats = least;
}

void tsn_diagnosis_find(tsn_search *q) {
  q->count = 0;
  if (!tsn_diagnosis_compare_conditions(q)) return;
  choose_parts(q);
  judge_end(q);
  double least = fmin(TSN_DIAGNOSIS_FEW_BEATS, (double)q->normal->beats / 8 + 1);
  if ((double)beats_of(q) >= least) {
    for (size_t t = 0; t < q->run->thread_count; t++) judge_progress(q, t);
    judge_memory(q);
    judge_ledger(q);
  } else if (!q->count && (q->run->state == TSANOM_RUN_RUNNING ||
                           q->run->state == TSANOM_RUN_FINISHED)) {
    tsn_add_few_beats(q, beats_of(q), (uint64_t)ceil(least));
  }
  set_iterations(q);
  tsn_diagnosis_sort_causes(q->cause, q->count);
}

/* ---- memory of a search */

void tsn_search_layout(tsn_arena *arena, tsn_search *q, size_t threads) {
  size_t causes = threads * TSN_CAUSES_EACH + TSN_CAUSES_OF_RUN;
  q->grid.thread = tsn_arena_take(arena, threads, sizeof *q->grid.thread);
  tsn_sign_layout(arena, &q->scratch, threads);
  q->signs = tsn_arena_take(arena, threads, sizeof *q->signs);
  q->cause = tsn_arena_take(arena, causes, sizeof *q->cause);
  q->candidates = tsn_arena_take(arena, threads, TSN_GAPS_EACH * sizeof(tsn_gap));
  q->silence = tsn_arena_take(arena, threads, sizeof *q->silence);
  q->sign =
      tsn_arena_take(arena, TSN_IMBALANCE + threads, TSN_WINDOWS * sizeof(tsn_sign));
}
