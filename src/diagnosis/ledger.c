/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_diagnosis_account(): the ledger of one run. Sums of a window are differences of
 * what each thread had counted at its ends, so that no memory is needed:
 *
 *   beats of the busiest         |--1/8--|--2/8--| ... |--8/8--|
 *   time                   e0    e1      e2      e3    e8      e9
 *   samples of thread i   o  o  o  o  o  o  o  o  o  o  o  o  o
 *
 * e0 is the first moment by which each thread that is as old has a sample, e9 the last sample.
 * What the program prepares before its first beat, e1, is part of the whole only.
 * A thread is at least as old as it worked and was ready: what it had counted at its first
 * sample, it is taken to have counted since. So one that began within the run, as the team of
 * a region behind a long preparation, does not hide what came before. */
#include <math.h>
#include <string.h>

#include "core/environment.h"
#include "core/sort.h"
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
  return number == TSN_LEDGER_READY ? v->wait_s : v->cpu_s;
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

/* What a thread had counted when it began, before its first sample that knows a number. */
static tsanom_hsa_vital begin_before(const tsanom_hsa_vital *first) {
  double used = (isfinite(first->cpu_s) ? first->cpu_s : 0) +
                (isfinite(first->wait_s) ? first->wait_s : 0);
  return (tsanom_hsa_vital){.time = first->time - used, .task = first->task};
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

static bool is_sampled_before(const tsanom_hsa_series *s, double time) {
  return s->vital_count && s->vital[0].time <= time;
}

/* The moment at which a thread began; -INFINITY: it is not known. */
static double begin_of(const tsanom_hsa_series *s) {
  size_t at = 0;
  const tsanom_hsa_vital *first = next_known(s, TSN_LEDGER_CPU, &at);
  return first ? begin_before(first).time : -INFINITY;
}

/* The time from which on all threads that have samples of their processor time are known,
 * and until which one is. Returns their number; `knows_ready`: whether all of them know how
 * long they were ready. */
static size_t sampled_ends(const tsanom_hsa_run *run, double *begin, double *end,
                           bool *knows_ready) {
  double span[2], first = INFINITY;
  size_t sampled = 0;
  *end = -INFINITY;
  *knows_ready = true;
  for (size_t t = 0; t < run->thread_count; t++) {
    if (ledger_span(&run->threads[t], TSN_LEDGER_CPU, span)) first = fmin(first, span[0]);
  }
  *begin = first;
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    if (!ledger_span(s, TSN_LEDGER_CPU, span)) continue;
    sampled++;
    if (begin_of(s) <= first) *begin = fmax(*begin, span[0]);
    *end = fmax(*end, span[1]);
    if (!ledger_span(s, TSN_LEDGER_READY, span)) *knows_ready = false;
  }
  return sampled;
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
  tsanom_hsa_vital own = before ? begin_before(before) : (tsanom_hsa_vital){.time = 0};
  if (before && own.time > time[0]) {
    before = &own;
    at--;
  }
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
  bool has_begun = false, comes_back = false, is_blocked = false;
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    if (!is_sampled_before(s, time) && begin_of(s) > time) continue;
    const tsanom_hsa_vital *v = nearest(s, time);
    if (!v || !v->state) return NAN;
    bool ready = v->state == 'R';
    has_begun = true;
    if (ready && v->waits != TSANOM_HSA_WAITS_TEAM) return 0;
    comes_back = comes_back || ready;
    is_blocked =
        is_blocked || v->waits == TSANOM_HSA_WAITS_OTHER || (!ready && v->state != 'S');
  }
  if (!has_begun) return NAN;
  return is_blocked || !comes_back;
}

/* Processor time between two times that no thread with samples used, of which the process knows:
 * that of threads which the program starts beside its parallel regions. */
static double used_by_others(const tsanom_hsa_run *run, double begin, double end) {
  const tsanom_hsa_series process = {.vital = run->vital,
                                     .vital_count = run->vital_count};
  double time[2] = {begin, end}, used[2];
  if (!run->vital_count) return 0;
  tsn_ledger_trace(&process, TSN_LEDGER_USED, time, 2, used);
  double others = used[1] - used[0];
  for (size_t t = 0; t < run->thread_count && others > 0; t++) {
    tsn_ledger_trace(&run->threads[t], TSN_LEDGER_USED, time, 2, used);
    others -= used[1] - used[0];
  }
  return fmax(0, others);
}

/* The thread with most samples, of those that have some until a time, if there are any. */
static const tsanom_hsa_series *best_sampled(const tsanom_hsa_run *run, double time) {
  const tsanom_hsa_series *best = &run->threads[0];
  for (size_t t = 1; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    bool was = is_sampled_before(best, time), is = is_sampled_before(s, time);
    if (is > was || (is == was && s->vital_count > best->vital_count)) best = s;
  }
  return best;
}

/* A sample stands for the time until half of the way to the ones beside it, but for what others
 * used of it. */
static void trace_nobody(const tsanom_hsa_run *run, const double *time, size_t count,
                         double *value) {
  const tsanom_hsa_series *s = best_sampled(run, time[0]);
  double sum = 0, begin = -INFINITY;
  size_t i = 0;
  for (size_t k = 0; k < s->vital_count && i < count; k++) {
    bool last = k + 1 == s->vital_count;
    double now = s->vital[k].time;
    double end = last ? INFINITY : 0.5 * (now + s->vital[k + 1].time);
    double share = is_nobody(run, now);
    if (!isfinite(begin)) begin = fmin(now, time[0]);
    double whole = (last ? now : end) - begin;
    if (share > 0 && whole > 0)
      share = fmax(0, share - used_by_others(run, begin, begin + whole) / whole);
    for (; i < count && time[i] < end; i++)
      value[i] = sum + share * fmax(0, time[i] - begin);
    sum += share * (end - begin);
    begin = end;
  }
}

enum { EDGES = TSANOM_DIAGNOSIS_WINDOWS + 1 };

/* Of a whole and its eighths, the samples that know the processor time, after the begin of each
 * and until its end. */
static void count_samples(const tsanom_hsa_series *s, const double *edge,
                          uint64_t count[TSANOM_DIAGNOSIS_WINDOWS]) {
  size_t at = 0;
  memset(count, 0, TSANOM_DIAGNOSIS_WINDOWS * sizeof *count);
  for (const tsanom_hsa_vital *v; (v = next_known(s, TSN_LEDGER_CPU, &at));) {
    size_t e = 0; /* the first edge that is not before the sample */
    while (e < EDGES && v->time > edge[e]) e++;
    if (e == 0 || e == EDGES) continue;
    if (e > 1) count[e - 1]++;
    count[0]++;
  }
}

double tsn_beats_at(const tsanom_hsa_series *s, double time) {
  size_t made = tsn_diagnosis_beats_until(s, time);
  if (made == 0 || made == s->beats) return (double)made;
  double last = s->time[made - 1];
  return (double)made + (time - last) / (s->time[made] - last);
}

double tsn_time_of_beats(const tsanom_hsa_series *s, double beats) {
  if (beats < 1) return s->time[0];
  size_t made = (size_t)beats;
  double last = s->time[made - 1];
  return last + (beats - (double)made) * (s->time[made] - last);
}

/* Between the first and the last of its TSN_PARTS + 1 elements, `cut` gets the times at which a
 * thread has made the eighths of `total` beats. */
static void cut_eighths(const tsanom_hsa_series *s, double total, double *cut) {
  double begin = cut[0], end = cut[TSN_PARTS];
  for (size_t p = 1; p < TSN_PARTS; p++) {
    double share = (double)p / TSN_PARTS, time = end;
    if (!s->beats) time = begin + share * (end - begin);
    if (share * total < (double)s->beats) time = tsn_time_of_beats(s, share * total);
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
 * that has most to do. The sum is that of the process, also of threads without samples. U is what
 * the samples say, in which nobody ran and nobody was ready:
 *
 *   samples  o    o    o    o    o
 *   states   RS   RR   SS   RS   TT        U: here two of five cells
 *
 * and at most W - c_i - r_i for each i. R is at most what is left; then C, work and
 * processors that idle since it lies on too few threads. Where the samples do not know the
 * states, U is what R leaves: then threads that wait for each other's processor look as if
 * nobody ran. */

/* Seconds of a team in a window: the most and the sum of its threads' c, the sum of their r,
 * the least of what remains, and by the samples, in which nobody ran or was ready (NaN: not
 * known). */
typedef struct {
  double wall, most, work, ready, off, nobody;
  double others; /* processor time of threads without samples */
} team_sums;

/* What the wall time of a team is made of. */
typedef struct {
  double cpu, ready, nobody;
} team_entries;

static team_sums begin_sums(double wall, double nobody) {
  return (team_sums){.wall = wall, .off = wall, .nobody = nobody};
}

/* Add a thread's c and r. */
static void add_sums(team_sums *s, double cpu, double ready) {
  s->most = fmax(s->most, cpu);
  s->work += cpu;
  s->ready += ready;
  s->off = fmin(s->off, fmax(0, s->wall - cpu - ready));
}

/* Split the wall time among `processors`, of which at most `ready` is contention. */
static team_entries split_wall(const team_sums *s, double processors, double ready) {
  double least = fmin(s->wall, fmax(s->most, (s->work + s->others) / processors));
  double rest = s->wall - least;
  double nobody = fmin(rest, s->off);
  nobody = fmin(nobody, isnan(s->nobody) ? fmax(0, rest - ready) : s->nobody);
  ready = fmin(ready, rest - nobody);
  return (team_entries){s->wall - ready - nobody, ready, nobody};
}

typedef struct {
  const tsanom_hsa_run *run;
  tsanom_diagnosis_ledger *ledger;
  tsanom_diagnosis_share *shares; /* NULL: not wanted */
  double edge[EDGES];
  team_sums sums[TSANOM_DIAGNOSIS_WINDOWS];
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
  ends[0] = window;
  ends[1] = window ? window + 1 : EDGES - 1;
}

static void begin_windows(account *a) {
  trace_nobody(a->run, a->edge, EDGES, a->nobody);
  for (size_t w = 0; w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
    size_t e[2];
    ends_of(w, e);
    double begin = a->edge[e[0]], end = a->edge[e[1]];
    a->ledger->window[w] = (tsanom_diagnosis_window){
        .begin = begin, .end = end, .wall_s = end - begin, .samples = UINT64_MAX};
    a->sums[w] = begin_sums(end - begin, a->nobody[e[1]] - a->nobody[e[0]]);
  }
}

static void add_thread(account *a, size_t thread) {
  const tsanom_hsa_series *s = &a->run->threads[thread];
  double cpu[EDGES], ready[EDGES], span[2];
  uint64_t samples[TSANOM_DIAGNOSIS_WINDOWS];
  if (!ledger_span(s, TSN_LEDGER_CPU, span)) return;
  tsn_ledger_trace(s, TSN_LEDGER_CPU, a->edge, EDGES, cpu);
  tsn_ledger_trace(s, TSN_LEDGER_READY, a->edge, EDGES, ready);
  count_samples(s, a->edge, samples);
  for (size_t w = 0; w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
    tsanom_diagnosis_window *window = &a->ledger->window[w];
    size_t e[2];
    ends_of(w, e);
    double c = cpu[e[1]] - cpu[e[0]], r = ready[e[1]] - ready[e[0]];
    double beats = tsn_beats_at(s, window->end) - tsn_beats_at(s, window->begin);
    add_sums(&a->sums[w], c, r);
    window->beats += beats / (double)a->ledger->sampled;
    if (samples[w] < window->samples) window->samples = samples[w];
    if (!a->shares) continue;
    a->shares[w * a->run->thread_count + thread] = (tsanom_diagnosis_share){
        .cpu_s = c,
        .ready_s = a->knows_ready ? r : NAN,
        .off_s = a->knows_ready ? fmax(0, window->wall_s - c - r) : NAN,
        .beats = beats};
  }
}

/* Of the time of a window, the least that matters. */
static const double least_unknown = 0.05;

/* Seconds by which clocks of the process and of its threads may differ in a window, as a sampler
 * reads them one after the other. */
static const double read_apart = 0.002;

/* Threads without samples may be ready, too: for a second on a processor as long as those with
 * samples are. If they worked as much as these or more, and that may be much of the time in which
 * nobody of these ran, whether somebody was ready is not known. Returns their processor time;
 * 0: it is known. */
static double ready_others(const account *a, size_t w, double nobody) {
  const tsanom_diagnosis_window *window = &a->ledger->window[w];
  const team_sums *s = &a->sums[w];
  double least = least_unknown * window->wall_s;
  if (!(s->ready > 0) || !(nobody >= least)) return 0;
  bool may_be = s->others > read_apart && s->others >= s->work &&
                s->others * s->ready >= least * s->work;
  return may_be ? s->others : 0;
}

/* One thread rests whenever it neither runs nor is ready, more exactly than samples know. */
static void know_rest(team_sums *s) {
  s->nobody = fmax(0, s->off - s->others);
}

/* Where these may be ready, those with samples may wait for them, and what is left of the wall
 * time is no work of anybody: that is no longer than the program had processors. */
static void set_entries(account *a) {
  double processors = (double)a->ledger->processors;
  for (size_t w = 0; w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
    tsanom_diagnosis_window *window = &a->ledger->window[w];
    a->sums[w].others = used_by_others(a->run, window->begin, window->end);
    if (a->run->thread_count == 1) know_rest(&a->sums[w]);
    team_entries e = split_wall(&a->sums[w], processors, a->sums[w].ready);
    double others = ready_others(a, w, e.nobody);
    bool knows_ready = a->knows_ready && others == 0;
    window->cpu_s = others > 0 ? fmin(e.cpu, a->sums[w].work + others) : e.cpu;
    window->ready_s = knows_ready ? e.ready : NAN;
    window->nobody_s = knows_ready ? e.nobody : NAN;
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
      sampled_ends(a->run, &a->edge[0], &a->edge[EDGES - 1], &a->knows_ready);
  if (!a->ledger->sampled) return TSANOM_PARTIAL;
  const tsanom_hsa_series *busiest = &a->run->threads[tsn_diagnosis_busiest(a->run)];
  a->edge[1] = a->edge[0];
  if (busiest->beats)
    a->edge[1] = fmin(fmax(busiest->time[0], a->edge[0]), a->edge[EDGES - 1]);
  cut_eighths(busiest, (double)busiest->beats, a->edge + 1);
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

static void put_seconds(tsn_sentence *s, double seconds, const char *what) {
  tsn_put_number(s, seconds);
  tsn_put(s, " s%s", what);
}

static void put_window(tsn_sentence *s, const tsanom_diagnosis_window *w) {
  if (isnan(w->wall_s) || isnan(w->cpu_s)) {
    tsn_put(s, "no samples of processor time");
    return;
  }
  tsn_put(s, "of ");
  put_seconds(s, w->wall_s, " ");
  put_seconds(s, w->cpu_s, " on a processor, ");
  if (isnan(w->ready_s) || isnan(w->nobody_s)) {
    put_seconds(s, w->wall_s - w->cpu_s, " not");
  } else {
    put_seconds(s, w->ready_s, " ready without one, ");
    put_seconds(s, w->nobody_s, " nobody ran");
  }
}

tsanom_status tsanom_diagnosis_window_text(const tsanom_diagnosis_window *window,
                                           char *text, size_t size, size_t *length) {
  if (!window || (!text && size > 0)) return TSANOM_E_NULL;
  tsn_sentence s = {.text = text, .size = size, .length = 0};
  put_window(&s, window);
  return tsn_sentence_end(&s, length);
}

/* ---- segments and their signs */

/* A run in segments. The edges are the eighths of its beats and the ends of what is
 * dropped; sums over any of the segments are differences at edges:
 *
 *   parts    |   0   |   1   |   2   |        |   7   |
 *   dropped              xxxxxx
 *   edges    e0      e1  e2 e3 e4 ...
 */

void tsn_grid_begin(tsn_grid *g, const tsanom_hsa_run *run, double total, double scale) {
  const tsanom_hsa_series *busiest = &run->threads[tsn_diagnosis_busiest(run)];
  bool knows_ready;
  size_t sampled = sampled_ends(run, &g->cut[0], &g->cut[TSN_PARTS], &knows_ready);
  g->run = run;
  g->best = best_sampled(run, g->cut[0]);
  g->scale = scale;
  g->total = total;
  g->drops = 0;
  g->is_sampled =
      sampled == run->thread_count && knows_ready && g->cut[0] < g->cut[TSN_PARTS];
  if (g->is_sampled) {
    g->cut[0] = fmax(g->cut[0], fmin(busiest->time[0], g->cut[TSN_PARTS]));
  } else {
    total = (double)busiest->beats;
    g->cut[0] = busiest->time[0];
    g->cut[TSN_PARTS] = busiest->time[busiest->beats - 1];
  }
  cut_eighths(busiest, total, g->cut);
}

/* The ends of the cell that contains a time: the nearest samples or cuts. */
static void find_cell(const tsn_grid *g, double time, double cell[2]) {
  const tsanom_hsa_series *s = g->best;
  size_t until = tsn_samples_until(s->vital, s->vital_count, time);
  cell[0] = until ? s->vital[until - 1].time : -INFINITY;
  cell[1] = cell[0] == time          ? time
            : until < s->vital_count ? s->vital[until].time
                                     : INFINITY;
  for (size_t p = 0; p <= TSN_PARTS; p++) {
    double t = g->cut[p];
    if (t <= time) cell[0] = fmax(cell[0], t);
    if (t >= time) cell[1] = fmin(cell[1], t);
  }
}

void tsn_grid_drop(tsn_grid *g, double begin, double end) {
  double first[2], last[2];
  if (g->drops > TSN_GAPS) return;
  find_cell(g, begin, first);
  find_cell(g, end, last);
  g->dropped[g->drops][0] = first[0];
  g->dropped[g->drops++][1] = last[1];
}

void tsn_grid_end_at(tsn_grid *g, double time) {
  double cell[2];
  if (g->drops > TSN_GAPS) return;
  find_cell(g, time, cell);
  g->dropped[g->drops][0] = cell[1];
  g->dropped[g->drops++][1] = INFINITY;
}

static void sort_edges(tsn_grid *g) {
  double first = g->cut[0], last = g->cut[TSN_PARTS];
  g->edges = 0;
  for (size_t p = 0; p <= TSN_PARTS; p++) g->edge[g->edges++] = g->cut[p];
  for (size_t i = 0; i < g->drops; i++) {
    for (int k = 0; k < 2; k++) {
      g->edge[g->edges++] = fmin(fmax(g->dropped[i][k], first), last);
    }
  }
  tsn_sort(g->edge, g->edges);
}

/* Cells of a segment: the times between samples, and its ends. */
static uint64_t count_cells(const tsn_grid *g, double begin, double end) {
  const tsanom_hsa_series *s = g->best;
  if (!(begin < end)) return 0;
  size_t first = tsn_samples_until(s->vital, s->vital_count, begin);
  size_t last = tsn_samples_until(s->vital, s->vital_count, nextafter(end, -INFINITY));
  return last - first + 1;
}

static void describe_segments(tsn_grid *g) {
  for (size_t e = 0; e + 1 < g->edges; e++) {
    double middle = 0.5 * (g->edge[e] + g->edge[e + 1]);
    g->part[e] = 0;
    for (size_t p = 1; p < TSN_PARTS; p++) {
      if (g->cut[p] <= middle) g->part[e] = p;
    }
    g->keep[e] = true;
    for (size_t i = 0; i < g->drops; i++) {
      if (g->dropped[i][0] <= middle && middle < g->dropped[i][1]) g->keep[e] = false;
    }
    g->cells[e] = count_cells(g, g->edge[e], g->edge[e + 1]);
  }
}

/* Of beats alone: at each edge the time of as many beats as the busiest thread has, by its
 * own time for an iteration: a slower thread of a program that runs has fewer. */
static void trace_beats(tsn_grid *g, size_t t) {
  const tsanom_hsa_series *s = &g->run->threads[t];
  tsn_trace *of = &g->thread[t];
  double last = (double)s->beats,
         all = (double)g->run->threads[tsn_diagnosis_busiest(g->run)].beats;
  for (size_t e = 0; e < g->edges; e++) {
    double share = (double)e / (double)(g->edges - 1);
    double beat = 1 + share * (last - 1);
    double time = !s->beats     ? 0
                  : beat < last ? tsn_time_of_beats(s, beat)
                                : s->time[s->beats - 1];
    double of_all = last > 1 ? (all - 1) / (last - 1) : 1;
    of->cpu[e] = s->beats ? of_all * (time - s->time[0]) : 0;
    of->ready[e] = 0;
    of->beats[e] = share * all;
  }
}

void tsn_grid_fill(tsn_grid *g) {
  if (!g->is_sampled) g->drops = 0;
  sort_edges(g);
  describe_segments(g);
  for (size_t e = 0; e < g->edges; e++) g->nobody[e] = 0;
  if (g->is_sampled) trace_nobody(g->run, g->edge, g->edges, g->nobody);
  for (size_t t = 0; t < g->run->thread_count; t++) {
    const tsanom_hsa_series *s = &g->run->threads[t];
    tsn_trace *of = &g->thread[t];
    if (!g->is_sampled) {
      trace_beats(g, t);
      continue;
    }
    tsn_ledger_trace(s, TSN_LEDGER_CPU, g->edge, g->edges, of->cpu);
    tsn_ledger_trace(s, TSN_LEDGER_READY, g->edge, g->edges, of->ready);
    for (size_t e = 0; e < g->edges; e++) of->beats[e] = tsn_beats_at(s, g->edge[e]);
  }
}

/* Mean beats of a segment. */
static double beats_of(const tsn_grid *g, size_t e) {
  double sum = 0;
  for (size_t t = 0; t < g->run->thread_count; t++) {
    sum += g->thread[t].beats[e + 1] - g->thread[t].beats[e];
  }
  return g->scale * sum / (double)g->run->thread_count;
}

/* Mean beats of the segments of a part, with those that were dropped. */
static double grid_beats(const tsn_grid *g, size_t part) {
  double sum = 0;
  for (size_t e = 0; e + 1 < g->edges; e++) {
    if (g->part[e] == part) sum += beats_of(g, e);
  }
  return sum;
}

static bool is_in(const tsn_grid *g, unsigned windows, size_t e) {
  return g->keep[e] && g->edge[e] < g->edge[e + 1] &&
         ((windows & 1U) || (windows >> (g->part[e] + 1) & 1U));
}

bool tsn_grid_has(const tsn_grid *g, unsigned windows) {
  bool any = false;
  for (size_t e = 0; e + 1 < g->edges && !any; e++) any = is_in(g, windows, e);
  return any;
}

/* Of beats alone, the wall time is that of the slowest thread. */
static double wall_of(const tsn_grid *g, size_t e) {
  double most = g->edge[e + 1] - g->edge[e];
  for (size_t t = 0; !g->is_sampled && t < g->run->thread_count; t++) {
    const double *c = g->thread[t].cpu;
    most = t ? fmax(most, c[e + 1] - c[e]) : c[e + 1] - c[e];
  }
  return most;
}

/* The segments of `windows` are summed together. */
static void grid_sum(const tsn_grid *g, unsigned windows, tsn_entries *s) {
  size_t threads = g->run->thread_count;
  s->wall = s->beats = s->nobody = 0;
  s->cells = 0;
  s->begin = INFINITY;
  s->end = -INFINITY;
  for (size_t t = 0; t < threads; t++) s->cpu[t] = s->ready[t] = 0;
  for (size_t e = 0; e + 1 < g->edges; e++) {
    if (!is_in(g, windows, e)) continue;
    s->wall += wall_of(g, e);
    s->nobody += g->nobody[e + 1] - g->nobody[e];
    s->beats += fmax(beats_of(g, e), 1e-9);
    s->cells += g->cells[e];
    s->begin = fmin(s->begin, g->edge[e]);
    s->end = fmax(s->end, g->edge[e + 1]);
    for (size_t t = 0; t < threads; t++) {
      const tsn_trace *of = &g->thread[t];
      s->cpu[t] += of->cpu[e + 1] - of->cpu[e];
      s->ready[t] += of->ready[e + 1] - of->ready[e];
    }
  }
}

/* Signs of a window, and the seconds that each lost against the normal runs:
 *
 *   W = C + R + U            normal: W0 = C0 + R0 + U0, for the same beats of the same parts
 *   q_k = c_k / c0_k         q: lower median; of two threads max(min q_k, min(1, C / C0))
 *   slowdown      log q                            lost (q - 1) (C0 + R0)
 *   imbalance k   log of q_k over the others' q    lost e = c_k - c0_k q_others, at most
 *                                                  C - q C0, and e R0 / sum of c0
 *   contention    (R - g R0) / W0                  lost R - g R0
 *   blocked       (U - U0 + I) / W0                lost U - U0 + I
 *
 * On a busy machine, waiting for processors grows with the work, by g. I is the part of C - q C0
 * that no imbalance explains: threads wait for each other, as for a lock, or the sampler is stopped
 * together with the program and does not see it. So the sum of slowdown, the largest imbalance,
 * contention and blocked is W - W0. */

static const double least_time = 1e-9;

void tsn_sign_layout(tsn_arena *arena, tsn_sign_scratch *s, size_t threads) {
  size_t rates = threads + TSN_THREAD_CPU;
  s->sums.cpu = tsn_arena_take(arena, threads, sizeof(double));
  s->sums.ready = tsn_arena_take(arena, threads, sizeof(double));
  s->expected = tsn_arena_take(arena, rates, sizeof(double));
  s->ratio = tsn_arena_take(arena, threads, sizeof(double));
  s->sorted = tsn_arena_take(arena, threads, sizeof(double));
}

static team_sums team_of(const tsn_entries *s, size_t threads) {
  team_sums team = begin_sums(s->wall, s->nobody);
  for (size_t t = 0; t < threads; t++) add_sums(&team, s->cpu[t], s->ready[t]);
  return team;
}

void tsn_measure_rates(const tsn_grid *g, size_t window, double processors,
                       tsn_sign_scratch *scratch, double *rate) {
  size_t threads = g->run->thread_count;
  tsn_entries *s = &scratch->sums;
  grid_sum(g, 1U << window, s);
  team_sums team = team_of(s, threads);
  team_entries e = split_wall(&team, processors, team.ready);
  rate[TSN_WALL] = s->wall / s->beats;
  rate[TSN_READY] = e.ready / s->beats;
  rate[TSN_NOBODY] = e.nobody / s->beats;
  rate[TSN_CPU] = e.cpu / s->beats;
  rate[TSN_ALL_READY] = team.ready / s->beats;
  for (size_t t = 0; t < threads; t++) rate[TSN_THREAD_CPU + t] = s->cpu[t] / s->beats;
}

/* What normal runs need for the beats of the windows' parts. */
static void expect(const tsn_model *m, const tsn_grid *g, unsigned windows, double least,
                   double *expected) {
  size_t rates = TSN_THREAD_CPU + m->threads;
  for (size_t i = 0; i < rates; i++) expected[i] = 0;
  for (size_t p = 0; p < TSN_PARTS; p++) {
    if (!(windows & (1U | 2U << p)) || !tsn_grid_has(g, 2U << p)) continue;
    double beats = fmax(least, grid_beats(g, p));
    for (size_t i = 0; i < rates; i++) expected[i] += beats * tsn_rate(m, p)[i];
  }
}

/* Of the time that threads were ready, only what exceeds the normal runs' is contention:
 * threads of one team wait for each other's processor. */
static team_entries split_excess(const team_sums *team, double processors,
                                 const double *normal, double more) {
  double excess = fmax(0, team->ready - normal[TSN_ALL_READY] * more);
  return split_wall(team, processors, normal[TSN_READY] * more + excess);
}

/* The lower median of all values but one. */
static double median_of_others(const double *sorted, size_t count, double own) {
  size_t middle = (count - 2) / 2;
  return own <= sorted[middle] ? sorted[middle + 1] : sorted[middle];
}

double tsn_measure_signs(const tsn_model *m, const tsn_grid *g, unsigned windows,
                         double least, tsn_sign_scratch *scratch, tsn_sign *sign) {
  size_t threads = m->threads;
  tsn_entries *s = &scratch->sums;
  const double *normal = scratch->expected;
  double *q = scratch->ratio, *sorted = scratch->sorted;
  grid_sum(g, windows, s);
  expect(m, g, windows, least, scratch->expected);
  team_sums team = team_of(s, threads);
  double W0 = fmax(normal[TSN_WALL], least_time), C0 = normal[TSN_CPU];
  double R0 = normal[TSN_READY], work = least_time;
  for (size_t t = 0; t < threads; t++) {
    work += normal[TSN_THREAD_CPU + t];
    q[t] = fmax(s->cpu[t], least_time) / fmax(normal[TSN_THREAD_CPU + t], least_time);
    sorted[t] = q[t];
  }
  tsn_sort(sorted, threads);
  double common = sorted[(threads - 1) / 2], more = fmax(1, team.work / work);
  team_entries e = split_excess(&team, m->processors, normal, more);
  s->lacked = e.ready;
  if (threads == 2) common = fmax(common, fmin(1, e.cpu / fmax(C0, least_time)));
  sign[TSN_SLOWDOWN] = (tsn_sign){log(common), (common - 1) * (C0 + R0)};
  sign[TSN_CONTENTION] = (tsn_sign){(e.ready - R0 * more) / W0, e.ready - R0 * more};
  double idle = e.cpu - common * C0, most = 0;
  for (size_t t = 0; t < threads; t++) {
    tsn_sign *own = &sign[TSN_IMBALANCE + t];
    *own = (tsn_sign){0, 0};
    if (threads < 2) continue;
    double others = median_of_others(sorted, threads, q[t]);
    double lost = s->cpu[t] - normal[TSN_THREAD_CPU + t] * others;
    *own = (tsn_sign){log(q[t] / others), fmin(lost, idle) + lost * R0 / work};
    most = fmax(most, lost);
  }
  double blocked = e.nobody - normal[TSN_NOBODY] + fmax(0, idle - most);
  sign[TSN_BLOCKED] = (tsn_sign){blocked / W0, blocked};
  return W0;
}
