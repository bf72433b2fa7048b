/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_diagnosis_account(): the ledger of one run. Sums of a window are differences of
 * what each thread had counted at its ends, so that no memory is needed:
 *
 *   beats of the busiest   |--1/8--|--2/8--| ... |--8/8--|
 *   time                   e0      e1      e2    e7      e8
 *   samples of thread i   o  o  o  o  o  o  o  o  o  o  o  o
 *
 * e0 is the first moment by which each thread has a sample, e8 the last sample. */
#include <math.h>

#include "core/environment.h"
#include "core/size.h"
#include "diagnosis/causes.h"
#include "diagnosis/judge.h"
#include "hsa/sentence.h"

/* Numbers of a thread at any time. Samples count from the beginning of a task, and some
 * do not know a number:
 *
 *   task     7    7    7    9    9
 *   cpu      o----o---NaN   o----o       counted:  _/--/ from o to o of one task
 *
 * Between two samples of one task the number grows in proportion to the time; between the
 * last sample of a task and the first one of the next it does not. Processor time in which
 * the thread waited for its team is no work. */

static double number_of(const tsanom_hsa_vital *v, int number) {
  return number == TSN_LEDGER_CPU ? v->cpu_s : v->wait_s;
}

static bool is_known(const tsanom_hsa_vital *v, int number) {
  return isfinite(number_of(v, number)) && isfinite(v->time);
}

/* The next sample from *at on that knows the number; NULL: there is none. */
static const tsanom_hsa_vital *next_known(const tsanom_hsa_series *s, int number,
                                          size_t *at) {
  while (*at < s->vital_count) {
    const tsanom_hsa_vital *v = &s->vital[(*at)++];
    if (is_known(v, number)) return v;
  }
  return NULL;
}

/* Of processor time only work, which may be counted a sample later. */
static double grown_between(const tsanom_hsa_vital *before, const tsanom_hsa_vital *after,
                            int number) {
  double grown = fmax(0, number_of(after, number) - number_of(before, number));
  double spun = number == TSN_LEDGER_CPU ? after->spun_s - before->spun_s : 0;
  return spun > 0 ? grown - spun : grown;
}

/* Whether the thread has two samples that know the number, and at which times its first
 * and last one are. */
static bool ledger_span(const tsanom_hsa_series *s, int number, double span[2]) {
  size_t at = 0;
  const tsanom_hsa_vital *first = next_known(s, number, &at), *last = first;
  if (!first) return false;
  for (const tsanom_hsa_vital *v; (v = next_known(s, number, &at));) last = v;
  span[0] = first->time;
  span[1] = last->time;
  return last != first;
}

size_t tsn_ledger_ends(const tsanom_hsa_run *run, double *begin, double *end,
                       bool *knows_ready) {
  double span[2];
  size_t sampled = 0;
  *begin = *end = -INFINITY;
  *knows_ready = true;
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    if (!ledger_span(s, TSN_LEDGER_CPU, span)) continue;
    sampled++;
    *begin = fmax(*begin, span[0]);
    *end = fmax(*end, span[1]);
    if (!ledger_span(s, TSN_LEDGER_READY, span)) *knows_ready = false;
  }
  return sampled;
}

size_t tsn_samples_until(const tsanom_hsa_vital *vital, size_t count, double time) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (vital[middle].time <= time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The last sample until a time that knows the number; 0: there is none. */
static size_t last_known(const tsanom_hsa_series *s, int number, double time) {
  size_t at = tsn_samples_until(s->vital, s->vital_count, time);
  while (at && !is_known(&s->vital[at - 1], number)) at--;
  return at ? at - 1 : 0;
}

void tsn_ledger_trace(const tsanom_hsa_series *s, int number, const double *time,
                      size_t count, double *value) {
  size_t at = last_known(s, number, time[0]), i = 0;
  double sum = 0;
  const tsanom_hsa_vital *before = next_known(s, number, &at), *after;
  while (i < count && !(before && time[i] > before->time)) value[i++] = 0;
  for (; i < count && (after = next_known(s, number, &at)); before = after) {
    double grown = after->task == before->task ? grown_between(before, after, number) : 0;
    for (; i < count && time[i] < after->time; i++) {
      value[i] = sum + grown * ((time[i] - before->time) / (after->time - before->time));
    }
    sum += grown;
  }
  while (i < count) value[i++] = sum;
}

/* ---- when nobody ran */

/* Of samples in the order of their times, the one that is nearest to a time. */
static const tsanom_hsa_vital *nearest(const tsanom_hsa_series *s, double time) {
  size_t after = tsn_samples_until(s->vital, s->vital_count, time);
  if (after == s->vital_count) return after ? &s->vital[after - 1] : NULL;
  bool later =
      after == 0 || s->vital[after].time - time < time - s->vital[after - 1].time;
  return &s->vital[later ? after : after - 1];
}

/* 1: nobody worked or was ready for it at a time; 0: somebody; NaN: not known. A thread that
 * waits for its team and is ready may be one that others wait for, as it comes back from a
 * region that is over: unless something else than a thread blocks one of these. */
static double is_nobody(const tsanom_hsa_run *run, double time) {
  bool comes_back = false, is_blocked = false;
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_vital *v = nearest(&run->threads[t], time);
    if (!v || !v->state) return NAN;
    bool ready = v->state == 'R';
    if (ready && v->waits != TSANOM_HSA_WAITS_TEAM) return 0;
    comes_back = comes_back || ready;
    is_blocked =
        is_blocked || v->waits == TSANOM_HSA_WAITS_OTHER || (!ready && v->state != 'S');
  }
  return is_blocked || !comes_back;
}

const tsanom_hsa_series *tsn_best_sampled(const tsanom_hsa_run *run) {
  const tsanom_hsa_series *best = &run->threads[0];
  for (size_t t = 1; t < run->thread_count; t++) {
    if (run->threads[t].vital_count > best->vital_count) best = &run->threads[t];
  }
  return best;
}

/* A sample stands for the time until half of the way to the ones beside it. */
void tsn_ledger_nobody(const tsanom_hsa_run *run, const double *time, size_t count,
                       double *value) {
  const tsanom_hsa_series *s = tsn_best_sampled(run);
  double sum = 0, begin = -INFINITY;
  size_t i = 0;
  for (size_t k = 0; k < s->vital_count && i < count; k++) {
    bool last = k + 1 == s->vital_count;
    double now = s->vital[k].time;
    double end = last ? INFINITY : 0.5 * (now + s->vital[k + 1].time);
    double share = is_nobody(run, now);
    if (!isfinite(begin)) begin = fmin(now, time[0]);
    for (; i < count && time[i] < end; i++)
      value[i] = sum + share * fmax(0, time[i] - begin);
    sum += share * (end - begin);
    begin = end;
  }
}

/* Samples after times[0] and until times[1] that know the processor time. */
static uint64_t ledger_samples(const tsanom_hsa_series *s, const double times[2]) {
  size_t at = 0;
  uint64_t count = 0;
  for (const tsanom_hsa_vital *v; (v = next_known(s, TSN_LEDGER_CPU, &at));) {
    count += v->time > times[0] && v->time <= times[1];
  }
  return count;
}

double tsn_ledger_beats_at(const tsanom_hsa_series *s, double time) {
  size_t made = tsn_diagnosis_beats_until(s, time);
  if (made == 0 || made == s->beats) return (double)made;
  double last = s->time[made - 1];
  return (double)made + (time - last) / (s->time[made] - last);
}

double tsn_ledger_time_of(const tsanom_hsa_series *s, double beats) {
  if (beats < 1) return s->time[0];
  size_t made = (size_t)beats;
  double last = s->time[made - 1];
  return last + (beats - (double)made) * (s->time[made] - last);
}

void tsn_ledger_cut(const tsanom_hsa_series *s, double total, double *cut) {
  enum { PARTS = TSANOM_DIAGNOSIS_WINDOWS - 1 };
  double begin = cut[0], end = cut[PARTS];
  for (size_t p = 1; p < PARTS; p++) {
    double share = (double)p / PARTS, time = end;
    if (!s->beats) time = begin + share * (end - begin);
    if (share * total < (double)s->beats) time = tsn_ledger_time_of(s, share * total);
    cut[p] = fmin(fmax(time, begin), end);
  }
}

/* The wall time of a team, split into work, contention and time in which nobody ran.
 *
 *   thread 0  cccccccc rr cc ------        c  on a processor
 *   thread 1  cccc ------- cc ------       r  ready without one
 *   team      CCCCCCCC RR CC UUUUUU        -  off it: asleep, blocked, stopped
 *
 * P processors need max(max c_i, sum c_i / P) for the work: threads that meet wait for the one
 * that has most to do. U is what the samples say, in which nobody ran and nobody was ready:
 *
 *   samples  o    o    o    o    o
 *   states   RS   RR   SS   RS   TT        U: here two of five cells
 *
 * and at most W - c_i - r_i for each i. R is at most what is left; then C, work and
 * processors that idle since it lies on too few threads. Where the samples do not know the
 * states, U is what R leaves: then threads that wait for each other's processor look as if
 * nobody ran. */

tsn_ledger_sums tsn_ledger_begin(double wall, double nobody) {
  return (tsn_ledger_sums){.wall = wall, .off = wall, .nobody = nobody};
}

void tsn_ledger_add(tsn_ledger_sums *s, double cpu, double ready) {
  s->most = fmax(s->most, cpu);
  s->work += cpu;
  s->ready += ready;
  s->off = fmin(s->off, fmax(0, s->wall - cpu - ready));
}

tsn_ledger_entries tsn_ledger_split(const tsn_ledger_sums *s, double processors,
                                    double ready) {
  double least = fmin(s->wall, fmax(s->most, s->work / processors));
  double rest = s->wall - least;
  double nobody = fmin(rest, s->off);
  nobody = fmin(nobody, isnan(s->nobody) ? fmax(0, rest - ready) : s->nobody);
  ready = fmin(ready, rest - nobody);
  return (tsn_ledger_entries){s->wall - ready - nobody, ready, nobody};
}

enum { EDGES = TSANOM_DIAGNOSIS_WINDOWS };

typedef struct {
  const tsanom_hsa_run *run;
  tsanom_diagnosis_ledger *ledger;
  tsanom_diagnosis_share *shares; /* NULL: not wanted */
  double edge[EDGES];
  tsn_ledger_sums sums[TSANOM_DIAGNOSIS_WINDOWS];
  double nobody[EDGES];
  bool knows_ready; /* of all sampled threads */
} account;

static size_t processors_of(const tsanom_hsa_run *run) {
  const char *name;
  size_t count = tsn_diagnosis_processors(run->machine, &name);
  return count ? count : run->thread_count;
}

/* Beginning and end of a window. */
static void ends_of(size_t window, size_t ends[2]) {
  ends[0] = window ? window - 1 : 0;
  ends[1] = window ? window : EDGES - 1;
}

static void begin_windows(account *a) {
  tsn_ledger_nobody(a->run, a->edge, EDGES, a->nobody);
  for (size_t w = 0; w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
    size_t e[2];
    ends_of(w, e);
    double begin = a->edge[e[0]], end = a->edge[e[1]];
    a->ledger->window[w] = (tsanom_diagnosis_window){
        .begin = begin, .end = end, .wall_s = end - begin, .samples = UINT64_MAX};
    a->sums[w] = tsn_ledger_begin(end - begin, a->nobody[e[1]] - a->nobody[e[0]]);
  }
}

static void add_thread(account *a, size_t thread) {
  const tsanom_hsa_series *s = &a->run->threads[thread];
  double cpu[EDGES], ready[EDGES], span[2];
  if (!ledger_span(s, TSN_LEDGER_CPU, span)) return;
  tsn_ledger_trace(s, TSN_LEDGER_CPU, a->edge, EDGES, cpu);
  tsn_ledger_trace(s, TSN_LEDGER_READY, a->edge, EDGES, ready);
  for (size_t w = 0; w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
    tsanom_diagnosis_window *window = &a->ledger->window[w];
    size_t e[2];
    ends_of(w, e);
    double c = cpu[e[1]] - cpu[e[0]], r = ready[e[1]] - ready[e[0]];
    double beats =
        tsn_ledger_beats_at(s, window->end) - tsn_ledger_beats_at(s, window->begin);
    uint64_t samples = ledger_samples(s, (const double[]){window->begin, window->end});
    tsn_ledger_add(&a->sums[w], c, r);
    window->beats += beats / (double)a->ledger->sampled;
    if (samples < window->samples) window->samples = samples;
    if (!a->shares) continue;
    a->shares[w * a->run->thread_count + thread] = (tsanom_diagnosis_share){
        .cpu_s = c,
        .ready_s = a->knows_ready ? r : NAN,
        .off_s = a->knows_ready ? fmax(0, window->wall_s - c - r) : NAN,
        .beats = beats};
  }
}

static void set_entries(account *a) {
  double processors = (double)a->ledger->processors;
  for (size_t w = 0; w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
    tsn_ledger_entries e = tsn_ledger_split(&a->sums[w], processors, a->sums[w].ready);
    tsanom_diagnosis_window *window = &a->ledger->window[w];
    window->cpu_s = e.cpu;
    window->ready_s = a->knows_ready ? e.ready : NAN;
    window->nobody_s = a->knows_ready ? e.nobody : NAN;
  }
}

/* What is not known. */
static void clear(account *a) {
  *a->ledger = (tsanom_diagnosis_ledger){.processors = processors_of(a->run)};
  for (size_t w = 0; w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
    a->ledger->window[w] =
        (tsanom_diagnosis_window){NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, {0, 0}};
  }
  size_t shares = a->shares ? TSANOM_DIAGNOSIS_WINDOWS * a->run->thread_count : 0;
  for (size_t i = 0; i < shares; i++) {
    a->shares[i] = (tsanom_diagnosis_share){NAN, NAN, NAN, NAN};
  }
}

static tsanom_status account_for(account *a) {
  clear(a);
  a->ledger->sampled =
      tsn_ledger_ends(a->run, &a->edge[0], &a->edge[EDGES - 1], &a->knows_ready);
  if (!a->ledger->sampled) return TSANOM_PARTIAL;
  const tsanom_hsa_series *busiest = &a->run->threads[tsn_diagnosis_busiest(a->run)];
  tsn_ledger_cut(busiest, (double)busiest->beats, a->edge);
  begin_windows(a);
  for (size_t t = 0; t < a->run->thread_count; t++) add_thread(a, t);
  set_entries(a);
  bool all = a->ledger->sampled == a->run->thread_count && a->knows_ready;
  return all ? TSANOM_OK : TSANOM_PARTIAL;
}

static tsanom_status check_capacity(const account *a, size_t capacity,
                                    const tsanom_exec *exec) {
  size_t threads = a->run->thread_count, windows = TSANOM_DIAGNOSIS_WINDOWS;
  if (!capacity) return TSANOM_OK;
  if (!a->shares) return tsn_reject_null(exec, "shares", capacity);
  if (capacity / windows >= threads) return TSANOM_OK;
  return tsn_reject_is(exec, TSANOM_E_COUNT, "capacity", TSANOM_NONE,
                       "%zu; 0, or at least %zu for each of %zu threads, is expected",
                       capacity, windows, threads);
}

tsanom_status tsanom_diagnosis_account(const tsanom_hsa_run *run, const tsanom_exec *exec,
                                       tsanom_diagnosis_ledger *ledger,
                                       tsanom_diagnosis_share *shares, size_t capacity) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  if (!run) return tsn_reject_null(&own, "run", TSANOM_NONE);
  if (!ledger) return tsn_reject_null(&own, "ledger", TSANOM_NONE);
  account a = {.run = run, .ledger = ledger, .shares = shares};
  tsn_environment before = tsn_environment_enter();
  status = tsn_diagnosis_check_vitals(run, "run", TSANOM_NONE, &own);
  if (status == TSANOM_OK) status = check_capacity(&a, capacity, &own);
  if (!capacity) a.shares = NULL;
  if (status == TSANOM_OK) status = account_for(&a);
  tsn_environment_leave(before);
  return status;
}

static void put_window(tsn_sentence *s, const tsanom_diagnosis_window *w) {
  if (isnan(w->wall_s) || isnan(w->cpu_s)) {
    tsn_put(s, "no samples of processor time");
    return;
  }
  tsn_put(s, "of %.3g s %.3g s on a processor", w->wall_s, w->cpu_s);
  if (isnan(w->ready_s) || isnan(w->nobody_s)) {
    tsn_put(s, ", %.3g s not", w->wall_s - w->cpu_s);
  } else {
    tsn_put(s, ", %.3g s ready without one, %.3g s nobody ran", w->ready_s, w->nobody_s);
  }
}

tsanom_status tsanom_diagnosis_window_text(const tsanom_diagnosis_window *window,
                                           char *text, size_t size, size_t *length) {
  if (!window || (!text && size > 0)) return TSANOM_E_NULL;
  tsn_sentence s = {.text = text, .size = size, .length = 0};
  put_window(&s, window);
  return tsn_sentence_end(&s, length);
}
