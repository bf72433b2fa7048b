/* SPDX-License-Identifier: BSD-3-Clause */
/* Where iterations are slow. Against normal iterations of the same run: what the thread of
 * the iterations did longer; where it waited for its team, what the thread did longer that
 * the team waited for. Why: the account of the time of a thread around them. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tsanom/runs.h>

#include "core/fault.h"
#include "core/size.h"
#include "diagnosis/causes.h"
#include "diagnosis/judge.h"
#include "diagnosis/slow.h"

/* The account of the time of a thread (tsanom_diagnosis_account()). Samples rarely fall on their
 * ends:
 *
 *              sample        slow iterations          sample
 *              o---------[=========================]---o
 *              |<------------------ wall ------------->|
 *
 * less what normal iterations have in wall - lost: of the lost seconds c on a processor, r
 * ready without one, and the rest off it. */

/* Page faults explain processor time of this many seconds each at most. */
static const double fault_s = 2e-6;

/* Times that the time between samples that is not slow may exceed the lost time. */
static const double most_blurred = 10;

/* Normal iterations have at least this share of the time, or are taken to have had a
 * processor. */
static const double least_normal = 0.2;

typedef struct {
  double wall, cpu, ready, off, faults, major;
  size_t stopped;
} account;

/* Add what a thread did between two of its samples. */
static void add_samples(const tsanom_hsa_series *s, size_t first, size_t last,
                        account *to) {
  tsanom_hsa_series part = {.vital = s->vital + first, .vital_count = last - first + 1};
  tsanom_hsa_run run = {.threads = &part, .thread_count = 1};
  tsanom_diagnosis_ledger ledger;
  if (last <= first || tsanom_diagnosis_account(&run, NULL, &ledger, NULL, 0) < 0 ||
      !ledger.sampled)
    return;
  const tsanom_hsa_vital *a = &s->vital[first], *b = &s->vital[last];
  to->wall += ledger.window[0].wall_s;
  to->cpu += ledger.window[0].cpu_s;
  to->ready += ledger.window[0].ready_s;
  to->off += ledger.window[0].nobody_s;
  to->faults += b->minor_faults - a->minor_faults;
  to->major += b->major_faults - a->major_faults;
  for (size_t i = first; i <= last; i++) to->stopped += s->vital[i].state == 'T';
}

/* The last sample until a time, or the first; the first one after it, or the last. */
static size_t sample_until(const tsanom_hsa_series *s, double time) {
  size_t after = tsn_samples_until(s->vital, s->vital_count, time);
  return after ? after - 1 : 0;
}

static size_t sample_from(const tsanom_hsa_series *s, double time) {
  size_t i = sample_until(s, time);
  while (i + 1 < s->vital_count && s->vital[i].time < time) i++;
  return i;
}

/* The samples around all iterations of a class. */
static account account_for(const tsn_slow_process *p, const tsanom_hsa_series *s,
                           int32_t class) {
  const int32_t *class_of = p->search.class_of;
  account sum = {0};
  size_t first = TSANOM_NONE, last = 0;
  for (size_t i = 0; i < p->n; i++) {
    if (class_of[i] != class) continue;
    size_t end = i;
    while (end + 1 < p->n && class_of[end + 1] == class) end++;
    size_t from = sample_until(s, p->begin[i]), to = sample_from(s, p->begin[end + 1]);
    if (first != TSANOM_NONE && from < last) {
      last = to;
    } else {
      if (first != TSANOM_NONE) add_samples(s, first, last, &sum);
      first = from;
      last = to;
    }
    i = end;
  }
  if (first != TSANOM_NONE) add_samples(s, first, last, &sum);
  return sum;
}

static int32_t reason_of(const tsanom_diagnosis_slow *s, const account *slow,
                         double major) {
  double lost = s->lost_s;
  double most = fmax(s->cpu_s, fmax(s->ready_s, s->off_s));
  if (!(most >= 0.5 * lost)) return TSANOM_DIAGNOSIS_REASON_UNKNOWN;
  if (s->ready_s >= s->cpu_s && s->ready_s >= s->off_s)
    return TSANOM_DIAGNOSIS_REASON_READY;
  if (s->off_s > s->cpu_s) {
    if (slow->stopped) return TSANOM_DIAGNOSIS_REASON_STOPPED;
    return major >= (double)s->count ? TSANOM_DIAGNOSIS_REASON_READING
                                     : TSANOM_DIAGNOSIS_REASON_BLOCKED;
  }
  double faults = s->faults * (double)s->count;
  return faults * fault_s >= 0.5 * lost ? TSANOM_DIAGNOSIS_REASON_FAULTS
                                        : TSANOM_DIAGNOSIS_REASON_WORK;
}

/* Fill the reason of finding `index`, its seconds and its page faults, by the samples of
 * its thread. Returns how many times the processor time of normal iterations they had; 0: it is
 * not known. */
static double find_reason(const tsn_slow_process *p, size_t index,
                          tsanom_diagnosis_slow *s) {
  size_t thread = s->thread < 0 ? p->thread : (size_t)s->thread;
  s->cpu_s = s->ready_s = s->off_s = s->faults = NAN;
  if (thread >= p->run->thread_count) return 0;
  const tsanom_hsa_series *samples = &p->run->threads[thread];
  if (samples->vital_count < 2) return 0;
  account slow = account_for(p, samples, (int32_t)index + 1);
  account rest = {0};
  add_samples(samples, 0, samples->vital_count - 1, &rest);
  double lost = s->lost_s, normal = slow.wall - lost;
  double slow_s = lost + (double)s->count * p->search.median_s;
  rest.wall -= slow.wall;
  if (!(slow.wall > 0) || slow.wall - slow_s > most_blurred * lost) return 0;
  account usual = {.cpu = normal};
  if (rest.wall >= least_normal * normal) {
    double part = normal / rest.wall;
    usual = (account){.cpu = part * (rest.cpu - slow.cpu),
                      .ready = part * (rest.ready - slow.ready),
                      .off = part * (rest.off - slow.off),
                      .faults = part * (rest.faults - slow.faults),
                      .major = part * (rest.major - slow.major)};
  }
  s->cpu_s = slow.cpu - usual.cpu;
  s->ready_s = slow.ready - usual.ready;
  s->off_s = slow.off - usual.off;
  s->faults = (slow.faults - usual.faults) / (double)s->count;
  s->reason = reason_of(s, &slow, slow.major - usual.major);
  return rest.wall >= least_normal * normal && usual.cpu > 0 ? slow.cpu / usual.cpu : 0;
}

/* A thread takes longer than the others if its excess is as many times theirs. */
static const double thread_differs = 1.5;

/* A level that is higher by less is not worth a line, unless one region has it; what runs beside
 * the program, and uses its processors or memory, hardly ever causes more than the second. */
static const double least_level = 1.2, most_of_machine = 1.75;

/* Such a processor makes the regions of a thread longer by factors of which the largest was hardly
 * ever more than 1.3 times that of the others together; where one region had twice the work, it was
 * mostly more than 1.4 times (docs/measurements.md). The others show it if they have the least share of the time. */
static const double region_differs = 1.4, showing_share = 0.02;

/* A region shows that it takes longer if, visited as often as in slow iterations, normal ones should
 * have this many with it. */
static const double fewest_visited = 5;

/* The time in which threads wait for processors over that in which they have one, by their
 * visits of regions or by their samples. */
static const double is_busy = 0.05, least_if_busy = 1.4;

/* Share of the time of what only waited for a processor there: each run has some. */
static const double least_waited = 0.05;

/* ---- where */

/* Whose activities: of the thread of the iterations, of the others, of both. */
enum { OTHERS, OWN, ALL };

/* What threads did in the iterations of each class, of which one is looked at. */
typedef struct {
  const tsn_slow_process *p;
  tsanom_runs_loop sums;
  size_t counts[TSN_SLOW_MOST + 1]; /* iterations */
  size_t class;
} comparison;

/* Seconds in an iteration of a class. */
static double seconds_of(const comparison *c, const tsanom_runs_activity *item,
                         size_t class) {
  return c->counts[class] ? item->seconds[class] / (double)c->counts[class] : 0;
}

/* More seconds in an iteration of the class than in a normal one. */
static double excess_of(const comparison *c, const tsanom_runs_activity *item) {
  return seconds_of(c, item, c->class) - seconds_of(c, item, 0);
}

static bool is_own(const comparison *c, const tsanom_runs_activity *item) {
  return item->thread == (int32_t)c->p->thread;
}

/* The item with the greatest excess, in place `place` or in any (TSANOM_NONE); NULL: none has
 * one. */
static const tsanom_runs_activity *most_of(const comparison *c, int whose, size_t place,
                                           double *most) {
  const tsanom_runs_activity *best = NULL;
  *most = 0;
  for (size_t k = 0; k < c->sums.count; k++) {
    const tsanom_runs_activity *item = &c->sums.activity[k];
    if (whose != ALL && is_own(c, item) != (whose == OWN)) continue;
    if (place != TSANOM_NONE && item->place != place) continue;
    if (whose == OTHERS && item->what == TSANOM_RUNS_ACTIVITY_WAIT) continue;
    double excess = excess_of(c, item);
    if (excess <= *most) continue;
    *most = excess;
    best = item;
  }
  return best;
}

/* Whether other threads do the same longer, too. */
static bool is_shared(const comparison *c, const tsanom_runs_activity *item) {
  double excess = excess_of(c, item);
  for (size_t k = 0; k < c->sums.count; k++) {
    const tsanom_runs_activity *other = &c->sums.activity[k];
    if (other->thread == item->thread || other->place != item->place ||
        other->what != item->what)
      continue;
    if (excess < thread_differs * excess_of(c, other)) return true;
  }
  return false;
}

static void find_place(const comparison *c, tsanom_diagnosis_slow *s) {
  double most, others;
  int whose = s->of_processor ? ALL : OWN;
  const tsanom_runs_activity *best = most_of(c, whose, TSANOM_NONE, &most);
  if (!best) return;
  bool waits = best->what == TSANOM_RUNS_ACTIVITY_WAIT;
  if (whose == OWN && (best->what == TSANOM_RUNS_ACTIVITY_REGION || waits)) {
    const tsanom_runs_activity *other = most_of(c, OTHERS, best->place, &others);
    if (!other) other = most_of(c, OTHERS, TSANOM_NONE, &others);
    if (other && (waits || others > most)) best = other;
  }
  if (c->p->run->thread_count > 1 && best->what == TSANOM_RUNS_ACTIVITY_REGION &&
      !is_shared(c, best))
    s->thread = best->thread;
  bool before = best->what == TSANOM_RUNS_ACTIVITY_BEFORE;
  (void)snprintf(s->region, sizeof s->region, "%s%s", before ? "the code before " : "",
                 best->name);
  s->computing_s = 0;
  for (size_t k = 0; k < c->sums.count; k++) {
    const tsanom_runs_activity *item = &c->sums.activity[k];
    bool is_call = item->what == TSANOM_RUNS_ACTIVITY_CALL;
    if (whose == OWN && (!is_own(c, item) || is_call)) continue;
    s->computing_s += excess_of(c, item) * (double)c->counts[c->class];
  }
}

static bool computes(const tsanom_runs_activity *item) {
  return item->what == TSANOM_RUNS_ACTIVITY_REGION ||
         item->what == TSANOM_RUNS_ACTIVITY_BEFORE;
}

/* Whether a region takes longer by another factor than the other code of its thread, and has half of
 * what is lost: then the program does more there. Of a processor or memory that others slow down all
 * code takes longer. */
static bool is_of_region(const comparison *c) {
  const tsanom_runs_activity *best = NULL;
  double most = 0, normal = 0, slow = 0;
  for (size_t k = 0; k < c->sums.count; k++) {
    const tsanom_runs_activity *item = &c->sums.activity[k];
    if (!computes(item) || excess_of(c, item) <= most) continue;
    most = excess_of(c, item);
    best = item;
  }
  if (!best || (double)c->counts[0] * best->iterations[c->class] <
                   fewest_visited * (double)c->counts[c->class])
    return false;
  for (size_t k = 0; k < c->sums.count; k++) {
    const tsanom_runs_activity *item = &c->sums.activity[k];
    if (item == best || !computes(item) || item->thread != best->thread) continue;
    normal += seconds_of(c, item, 0);
    slow += seconds_of(c, item, c->class);
  }
  double own = seconds_of(c, best, 0);
  if (!(normal > showing_share * (own + normal))) return false;
  return most >= slow - normal && (own + most) * normal >= region_differs * own * slow;
}

/* ---- why */

/* What threads waited for a processor, in units of what they had one. */
static double waiting_share(const tsanom_hsa_run *run) {
  double waited = 0, had = 0;
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    if (!s->vital_count || isnan(s->vital[s->vital_count - 1].wait_s)) continue;
    waited += s->vital[s->vital_count - 1].wait_s;
    had += s->vital[s->vital_count - 1].cpu_s;
  }
  return had > 0 ? waited / had : 0;
}

static bool is_level(const tsanom_diagnosis_slow *f) {
  return f->kind != TSANOM_DIAGNOSIS_SLOW_SINGLE &&
         f->kind != TSANOM_DIAGNOSIS_SLOW_RECURRING;
}

/* Whether a level is listed: what runs beside the program does not make one region longer, nor
 * processor times by more than a factor. */
static bool is_listed(const comparison *c, const tsanom_diagnosis_slow *f) {
  bool is_shared = waiting_share(c->p->run) >= is_busy;
  if (!is_level(f) || is_of_region(c)) return true;
  if (c->sums.of_processor) return f->ratio >= most_of_machine;
  return f->ratio >= (is_shared ? least_if_busy : least_level);
}

/* Whether one that is listed may be of the machine all the same. Where ranks only communicate
 * longer, now and then, none of them is the reason. */
static bool is_of_machine(const comparison *c, const tsanom_diagnosis_slow *f) {
  if (f->kind == TSANOM_DIAGNOSIS_SLOW_SINGLE)
    return f->rank >= 0 && f->computing_s < 0.5 * f->lost_s;
  return is_level(f) && f->ratio < most_of_machine && !is_of_region(c);
}

/* Where threads wait for processors and the events do not know the processor time of iterations, that
 * of a level is the one of the samples, if what runs beside the program does not explain it. Each
 * second of it takes as long as others of the run. Ranks may wait on a processor. */
static void take_samples(const tsn_slow_process *p, double times,
                         tsanom_diagnosis_slow *one) {
  bool is_known = p->waited > 0 || p->rank >= 0;
  double share = waiting_share(p->run);
  if (is_known || share < is_busy) return;
  if (!is_level(one) || times < most_of_machine) return;
  one->of_processor = 1;
  one->of_machine = 0;
  one->ratio = times;
  one->lost_s = fmin(one->lost_s, one->cpu_s * (1 + share));
  one->low = one->high = NAN; /* of the times */
  one->reason = TSANOM_DIAGNOSIS_REASON_WORK;
}

/* ---- a process, and all of them */

/* The findings of the series that was searched, with their reasons. If it is that of times, the
 * same walk over the events gives the processor times, which are searched next. */
static tsanom_status explain(tsn_slow_process *p, bool of_processor) {
  const tsn_slow_search *q = &p->search;
  const tsanom_diagnosis_summary *about = p->summary;
  comparison c = {.p = p,
                  .sums = {.iterations = p->n,
                           .begin = p->begin,
                           .thread = (int32_t)p->thread,
                           .of_processor = of_processor,
                           .class_of = q->count ? q->class_of : NULL,
                           .classes = q->count + 1,
                           .processor_s = of_processor ? NULL : p->processor_s}};
  tsanom_status status = TSANOM_OK;
  if (about->activities && (q->count || !of_processor))
    status = about->activities(about->source, NULL, &c.sums);
  if (!of_processor) p->waited = c.sums.waited;
  if (!q->count) return status < 0 ? status : TSANOM_OK;
  for (size_t i = 0; i < p->n; i++) {
    if (q->class_of[i] >= 0) c.counts[q->class_of[i]]++;
  }
  for (size_t k = 0; k < q->count && status >= 0; k++) {
    c.class = k + 1;
    if (!is_listed(&c, &q->finding[k])) continue;
    tsanom_diagnosis_slow *one = &p->item[p->count++];
    *one = q->finding[k];
    one->of_processor = of_processor;
    one->rank = p->rank;
    one->thread = -1;
    one->iterations = p->n + 1;
    one->computing_s = NAN;
    find_place(&c, one);
    one->of_machine = !of_processor && is_of_machine(&c, one);
    double times = find_reason(p, k, one);
    if (!of_processor) {
      take_samples(p, times, one);
      continue;
    }
    one->lost_s *= p->waited; /* each second is that many of the run */
    if (one->reason != TSANOM_DIAGNOSIS_REASON_FAULTS)
      one->reason = TSANOM_DIAGNOSIS_REASON_WORK;
  }
  return status < 0 ? status : TSANOM_OK;
}

/* Whether a finding has fewer iterations, here and there, which lost much more. Of processor times,
 * which show nothing of what sleeps, only that does. */
static bool stands_out(const tsanom_diagnosis_slow *a, const tsanom_diagnosis_slow *b) {
  bool slept = a->reason == TSANOM_DIAGNOSIS_REASON_BLOCKED ||
               a->reason == TSANOM_DIAGNOSIS_REASON_STOPPED ||
               a->reason == TSANOM_DIAGNOSIS_REASON_READING;
  return a->kind == TSANOM_DIAGNOSIS_SLOW_SINGLE && a->count < b->count &&
         a->lost_s > 2 * b->lost_s && (slept || !b->of_processor);
}

/* Whether two findings are of the same iterations: they overlap by half of the shorter, and none
 * stands out of the other. */
static bool is_same(const tsanom_diagnosis_slow *a, const tsanom_diagnosis_slow *b) {
  bool recurs = a->kind == TSANOM_DIAGNOSIS_SLOW_RECURRING;
  if (stands_out(a, b) || stands_out(b, a)) return false;
  if (recurs != (b->kind == TSANOM_DIAGNOSIS_SLOW_RECURRING)) return false;
  uint64_t first = a->first > b->first ? a->first : b->first;
  uint64_t last = a->last < b->last ? a->last : b->last;
  uint64_t one = a->last - a->first + 1, other = b->last - b->first + 1;
  uint64_t shorter = one < other ? one : other;
  return last + 1 > first && 2 * (last + 1 - first) >= shorter;
}

/* Whether a finding is one of the processor time, too, or only of how long threads waited
 * for a processor, which is as uneven as what runs beside them. */
static bool is_replaced(const tsn_slow_process *p, const tsanom_diagnosis_slow *one) {
  if (one->reason == TSANOM_DIAGNOSIS_REASON_READY &&
      (one->lost_s < least_waited * p->total_s ||
       (is_level(one) && one->ratio < most_of_machine)))
    return true;
  for (size_t j = 0; j < p->count; j++) {
    if (p->item[j].of_processor && is_same(&p->item[j], one)) return true;
  }
  return false;
}

/* Where threads wait for processors, the processor times of regions show what the program
 * does more than before: the times of iterations show what runs beside it. */
static tsanom_status take_processor(tsn_slow_process *p) {
  if (!(p->waited > 0 && fmax(p->waited - 1, waiting_share(p->run)) >= is_busy))
    return TSANOM_OK;
  tsanom_status status = tsn_slow_find(&p->search, p->begin, p->processor_s, p->n);
  if (status == TSANOM_OK) status = explain(p, true);
  if (status < 0) return status;
  size_t kept = 0;
  for (size_t k = 0; k < p->count; k++) {
    if (!p->item[k].of_processor && is_replaced(p, &p->item[k])) continue;
    if (kept < k) p->item[kept] = p->item[k];
    kept++;
  }
  p->count = kept;
  p->is_few &= p->search.is_few;
  p->lasting = fmax(p->lasting, least_if_busy);
  p->worked_single = p->search.single;
  p->worked_lasting = fmax(p->search.lasting, least_if_busy);
  return TSANOM_OK;
}

/* Insert a finding where what lost more is before it. */
static void insert(tsanom_diagnosis_summary *s, const tsanom_diagnosis_slow *one) {
  size_t at = s->slow_count;
  if (at == s->slow_capacity) {
    if (!at || !(s->slow[at - 1].lost_s < one->lost_s)) return;
    s->slow_count = --at;
  }
  for (; at && s->slow[at - 1].lost_s < one->lost_s; at--) s->slow[at] = s->slow[at - 1];
  s->slow[at] = *one;
  s->slow_count++;
}

static double computing(const tsanom_diagnosis_slow *s) {
  return isnan(s->computing_s) ? 0 : s->computing_s;
}

/* Add a finding. Of the same iterations of several ranks, the one that computed longer stays:
 * those that computed less waited for it, the others are counted. */
static void merge(tsanom_diagnosis_summary *s, const tsanom_diagnosis_slow *one) {
  tsanom_diagnosis_slow most = *one;
  size_t j = 0,
         seen = s->searched + 1; /* ranks, of which each may have several findings */
  most.ranks = 1;
  while (j < s->slow_count &&
         (s->slow[j].rank == one->rank || !is_same(&s->slow[j], one)))
    j++;
  if (j < s->slow_count) {
    tsanom_diagnosis_slow *before = &s->slow[j];
    double own = computing(one), other = computing(before);
    bool stays = one->of_processor < before->of_processor ||
                 (one->of_processor == before->of_processor && own <= other);
    bool is_near = thread_differs * (stays ? own : other) >= (stays ? other : own);
    if (stays) {
      before->ranks = tsn_smaller(before->ranks + is_near, seen);
      return;
    }
    if (is_near) most.ranks = tsn_smaller(before->ranks + 1, seen);
    s->slow_count--;
    for (size_t k = j; k < s->slow_count; k++) s->slow[k] = s->slow[k + 1];
  }
  insert(s, &most);
}

static void add_to(tsanom_diagnosis_summary *s, const tsn_slow_process *p) {
  for (size_t k = 0; k < p->count; k++) merge(s, &p->item[k]);
  if (p->n >= s->slow_beats) {
    s->slow_beats = p->n + 1;
    s->slow_median_s = p->median_s;
    s->slow_whole_s = p->total_s;
  }
  s->slow_few |= p->is_few;
  s->slow_single = fmax(s->slow_single, p->single);
  s->slow_lasting = fmax(s->slow_lasting, p->lasting);
  s->slow_worked_single = fmax(s->slow_worked_single, p->worked_single);
  s->slow_worked_lasting = fmax(s->slow_worked_lasting, p->worked_lasting);
  s->searched++;
}

static void take_series(tsn_slow_process *p) {
  const tsn_slow_search *q = &p->search;
  int32_t *slow_of = p->summary->slow_of;
  p->median_s = q->median_s;
  p->is_few = q->is_few;
  p->single = q->single;
  p->lasting = q->lasting;
  for (size_t i = 0; slow_of && i < p->n; i++)
    slow_of[i] = q->class_of[i] > 0 ? 1 : q->class_of[i];
}

tsanom_status tsn_slow_begin(tsn_slow_process *p, const tsanom_hsa_run *run, int32_t rank,
                             const tsanom_diagnosis_summary *summary,
                             const tsanom_exec *exec) {
  size_t thread = tsn_diagnosis_busiest(run), beats = run->threads[thread].beats;
  *p = (tsn_slow_process){.run = run, .thread = thread, .rank = rank, .summary = summary};
  if (!summary || !summary->slow || beats <= TSN_SLOW_FEWEST) return TSANOM_OK;
  tsanom_status status = tsn_require_size(exec, TSANOM_E_COUNT, "summary.slow_count",
                                          summary->slow_count, 0, summary->slow_capacity);
  if (status < 0) return status;
  p->n = beats - 1;
  return tsn_slow_search_ask(&p->search, exec, p->n);
}

void tsn_slow_layout(tsn_arena *arena, tsn_slow_process *p) {
  p->begin = tsn_arena_take(arena, p->n + 1, sizeof *p->begin);
  p->processor_s = tsn_arena_take(arena, p->n, sizeof *p->processor_s);
  p->item = tsn_arena_take(arena, 2 * (size_t)TSN_SLOW_MOST, sizeof *p->item);
  tsn_slow_search_layout(arena, &p->search, p->n);
}

tsanom_status tsn_slow_add(tsn_slow_process *p, tsanom_diagnosis_summary *summary) {
  const tsanom_diagnosis_summary *about = p->summary;
  tsanom_runs_loop loop = {
      .iterations = p->n, .begin = p->begin, .thread = (int32_t)p->thread};
  tsanom_status status = TSANOM_OK;
  memcpy(p->begin, p->run->threads[p->thread].time, (p->n + 1) * sizeof *p->begin);
  if (about->activities) status = about->activities(about->source, NULL, &loop);
  if (status < 0) return status;
  p->total_s = p->begin[p->n] - p->begin[0];
  status = tsn_slow_find(&p->search, p->begin, NULL, p->n);
  if (status < 0) return status;
  take_series(p);
  status = explain(p, false);
  if (status == TSANOM_OK) status = take_processor(p);
  if (status == TSANOM_OK) add_to(summary, p);
  return status;
}
