/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_diagnosis_summarize(): the results of other functions about one run, or about the
 * ranks of a job one after the other, as numbers. The ledger is the mean of the runs,
 *
 *   L_n = L_{n-1} + (L - L_{n-1}) / n,
 *
 * and of the ends, findings and memory the worst one stays. tsanom_diagnosis_summarize_team():
 * the threads or ranks that take longer than the others. */
#include <float.h>
#include <math.h>

#include "core/environment.h"
#include "core/versioned.h"
#include "diagnosis/causes.h"
#include "diagnosis/judge.h"
#include "diagnosis/slow.h"
#include "diagnosis/watch.h"

/* Memory that grows less is not named: the least leak that is reported, and a share of all
 * memory. */
static const double least_growth = 3 << 20, least_share = 0.1;

/* Processors of one machine may differ by this factor for as long as a run, as those that share
 * a core with what others run do, and a slower one looks like more work. */
static const double processors_differ = 1.35;

/* The least share of the time in which regions show such a factor. */
static const double showing_share = 0.1;

/* Memory that grows is looked for in parts behind a share of the processor time: also in the last half
 * alone, if nearly all of its parts have samples. */
static const double settled[] = {0.25, 0.5};

enum { GROWN = 5, FEW_SAMPLES = 8 };

/* ---- the end */

/* A program that crashed may be why others were killed. */
static int badness_of(int32_t state, int32_t exit_code) {
  enum { KILL = 9, TERMINATE = 15 };
  if (exit_code == -KILL || exit_code == -TERMINATE) return 2;
  if (exit_code) return 3;
  return state == TSANOM_RUN_KILLED;
}

static double end_of(const tsanom_hsa_run *run) {
  return fmax(tsn_run_end(run), run->start);
}

/* Of ranks that ended equally badly, the first one is why others were killed. */
static void add_end(const tsanom_hsa_run *run, int32_t rank,
                    tsanom_diagnosis_summary *s) {
  double seconds = end_of(run) - run->start;
  int bad = badness_of(run->state, run->exit_code);
  int worst = badness_of(s->state, s->exit_code);
  if (!s->runs || bad > worst || (bad && bad == worst && seconds < s->ended_s)) {
    s->state = run->state;
    s->exit_code = run->exit_code;
    s->rank = rank;
    s->ended_s = seconds;
  }
  s->ended += run->state == TSANOM_RUN_FINISHED || run->state == TSANOM_RUN_KILLED;
  s->seconds = fmax(s->seconds, seconds);
  s->before_s = fmax(s->before_s, run->before_s);
  s->children_s = fmax(s->children_s, run->children_s);
  if (run->thread_count > s->threads) s->threads = run->thread_count;
}

/* ---- iterations, ledger, memory */

static void add_loop(const tsanom_hsa_run *run, tsanom_diagnosis_summary *s) {
  const tsanom_hsa_series *busiest = &run->threads[tsn_diagnosis_busiest(run)];
  double last = fmax(run->start, tsn_last_beat(run));
  if (tsn_is_observed(run)) s->silent_s = fmax(s->silent_s, end_of(run) - last);
  if (!s->runs) s->iteration_s = NAN;
  if (busiest->beats <= s->iterations) return;
  s->iterations = busiest->beats;
  double time = busiest->time[busiest->beats - 1] - busiest->time[0];
  s->iteration_s = busiest->beats > 1 ? time / (double)(busiest->beats - 1) : NAN;
}

static void join(double *mean, double value, double count) {
  *mean += (value - *mean) / count;
}

/* Checks the run. */
static tsanom_status add_ledger(const tsanom_hsa_run *run, const tsanom_exec *exec,
                                tsanom_diagnosis_summary *s) {
  tsanom_diagnosis_ledger one;
  tsanom_status status = tsanom_diagnosis_account(run, exec, &one, NULL, 0);
  if (status < 0) return status;
  if (!s->accounted) s->ledger = one;
  if (!one.sampled) return TSANOM_OK;
  double n = (double)++s->accounted;
  for (size_t w = 0; w < TSANOM_DIAGNOSIS_WINDOWS && n > 1; w++) {
    tsanom_diagnosis_window *mean = &s->ledger.window[w];
    join(&mean->begin, one.window[w].begin, n);
    join(&mean->end, one.window[w].end, n);
    join(&mean->beats, one.window[w].beats, n);
    join(&mean->wall_s, one.window[w].wall_s, n);
    join(&mean->cpu_s, one.window[w].cpu_s, n);
    join(&mean->ready_s, one.window[w].ready_s, n);
    join(&mean->nobody_s, one.window[w].nobody_s, n);
    if (one.window[w].samples < mean->samples) mean->samples = one.window[w].samples;
  }
  return TSANOM_OK;
}

/* The share of the processor time of the process until a sample: a program that waits for a
 * processor does not grow. Without that time, of the samples. */
static double share_until(const tsanom_hsa_run *run, size_t sample) {
  double begin = run->vital[0].cpu_s, end = run->vital[run->vital_count - 1].cpu_s;
  return end > begin ? (run->vital[sample].cpu_s - begin) / (end - begin)
                     : (double)sample / (double)run->vital_count;
}

/* More than may be a disturbance. */
static bool is_growth(double bytes, double peak) {
  return bytes > fmax(least_growth, least_share * peak);
}

/* Whether each part adds at least half of the mean to what is more than may be a disturbance. A
 * part without samples, at infinity, shares what is added until the next one. */
static bool rises(const double bytes[GROWN], double peak) {
  double all = bytes[GROWN - 1] - bytes[0], mean = all / (GROWN - 1);
  if (!is_growth(mean * GROWN, peak) || isinf(all)) return false;
  for (size_t p = 1, last = 0; p < GROWN; p++) {
    if (isinf(bytes[p])) continue;
    if (!(bytes[p] - bytes[last] > 0.5 * mean * (double)(p - last))) return false;
    last = p;
  }
  return true;
}

/* Whether memory grows until the end, by the least from each part on, or the most until its end:
 * temporary memory hides one of these where it is there nearly all the time, or hardly ever.
 *
 *     most    ____/--/--/--      least    ___/--/--/---      of what the program has behind the
 *     memory  _|_/|/\|/|_/|                                  first share `begin`
 */
static bool grows_from(const tsanom_hsa_run *run, double peak, double begin,
                       size_t fewest) {
  double least[GROWN], most[GROWN];
  bool has[GROWN] = {false};
  for (size_t p = 0; p < GROWN; p++) {
    least[p] = INFINITY;
    most[p] = -INFINITY;
  }
  for (size_t i = 0; i < run->vital_count; i++) {
    double bytes = run->vital[i].anonymous, share = share_until(run, i);
    if (isnan(bytes) || !(share >= begin)) continue;
    size_t own = (size_t)fmin(GROWN * (share - begin) / (1 - begin), GROWN - 1);
    has[own] = true;
    for (size_t p = 0; p <= own; p++) least[p] = fmin(least[p], bytes);
    for (size_t p = own; p < GROWN; p++) most[p] = fmax(most[p], bytes);
  }
  size_t parts = 0;
  for (size_t p = 0; p < GROWN; p++) {
    parts += has[p];
    if (!has[p]) least[p] = most[p] = INFINITY;
  }
  return parts >= fewest && (rises(least, peak) || rises(most, peak));
}

static bool grows(const tsanom_hsa_run *run, double peak) {
  return run->vital_count >= FEW_SAMPLES &&
         (grows_from(run, peak, settled[0], 2) ||
          grows_from(run, peak, settled[1], GROWN - 1));
}

static void add_memory(const tsanom_hsa_run *run, int32_t rank,
                       tsanom_diagnosis_summary *s) {
  double peak = run->peak > 0 ? run->peak : NAN, growth = tsn_diagnosis_growth(run);
  for (size_t i = 0; i < run->vital_count; i++) {
    peak = fmax(peak, run->vital[i].resident);
  }
  if (!s->runs) s->peak = s->growth = NAN;
  if (!(peak <= s->peak)) {
    if (!isnan(peak)) s->peak_rank = rank;
    s->peak = fmax(s->peak, peak);
  }
  if (!(growth <= s->growth)) {
    if (!isnan(growth)) s->growth_rank = rank;
    s->growth = fmax(s->growth, growth);
  }
  s->grows |= is_growth(growth, peak) && grows(run, peak);
}

/* ---- findings */

/* A finding stays, but for a hang of a rank that waits for one that does not, or began later. */
static void add_finding(const tsanom_diagnosis_finding *f, int32_t rank, bool waits,
                        tsanom_diagnosis_summary *s) {
  bool has = s->finding.cause != TSANOM_HSA_NORMAL;
  bool hang = f->cause == TSANOM_HSA_HANG && s->finding.cause == TSANOM_HSA_HANG;
  bool earlier = waits == (bool)s->waits && f->begin < s->finding.begin;
  bool alarms =
      tsanom_diagnosis_cause_is_alarm(f) > tsanom_diagnosis_cause_is_alarm(&s->finding);
  if (has && !alarms && !(hang && (waits < (bool)s->waits || earlier))) return;
  s->finding = *f;
  s->finding_rank = rank;
  s->waits = waits;
}

/* A rank that is silent since another one ended badly waits for it. */
static void drop_follower(tsanom_diagnosis_summary *s) {
  const tsanom_diagnosis_finding *f = &s->finding;
  if (f->cause == TSANOM_HSA_HANG && s->finding_rank != s->rank &&
      badness_of(s->state, s->exit_code) && f->begin + f->limit > s->ended_s) {
    s->finding = (tsanom_diagnosis_finding){.cause = TSANOM_HSA_NORMAL};
  }
}

/* ---- a run */

typedef struct {
  tsanom_exec exec;
  const tsanom_hsa_run *run;
  int32_t rank;
  bool waits;
  const tsanom_diagnosis_finding *findings;
  size_t count;
  tsn_watch_frame frame; /* without threads: the run is not watched */
  tsn_slow_process slow; /* without iterations: it is not searched */
  tsanom_diagnosis_summary *summary;
} call;

static void layout(tsn_arena *arena, void *context) {
  call *c = context;
  if (c->frame.threads) tsn_watch_layout(arena, &c->frame);
  if (c->slow.n) tsn_slow_layout(arena, &c->slow);
}

/* Whether a program that has not ended its recording hangs, or hung when it was killed. */
static void watch(call *c, tsanom_diagnosis_summary *s) {
  const tsanom_diagnosis_watch *w = tsn_watch_whole(&c->frame, c->run);
  for (size_t i = 0; i < w->anomalies; i++) {
    const tsanom_diagnosis_finding *f = &w->anomaly[i].cause;
    if (f->cause == TSANOM_HSA_HANG) add_finding(f, c->rank, c->waits, s);
  }
}

static tsanom_status check(void *context) {
  const call *c = context;
  if (!c->findings && c->count) return tsn_reject_null(&c->exec, "findings", c->count);
  return tsn_require(&c->exec, c->summary, "summary");
}

static tsanom_status body(void *context) {
  call *c = context;
  tsanom_diagnosis_summary s = *c->summary;
  tsanom_status status = add_ledger(c->run, &c->exec, &s);
  if (status == TSANOM_OK && c->slow.n) status = tsn_slow_add(&c->slow, &s);
  if (status < 0) return status;
  if (c->frame.threads) watch(c, &s);
  add_end(c->run, c->rank, &s);
  add_loop(c->run, &s);
  add_memory(c->run, c->rank, &s);
  s.runs++;
  s.judged |= c->findings != NULL;
  if (c->findings && c->count) add_finding(c->findings, c->rank, c->waits, &s);
  drop_follower(&s);
  *c->summary = s;
  return TSANOM_OK;
}

tsanom_status tsanom_diagnosis_summarize(const tsanom_hsa_run *run, int32_t rank,
                                         int32_t in_call,
                                         const tsanom_diagnosis_finding *findings,
                                         size_t count, const tsanom_exec *exec,
                                         tsanom_diagnosis_summary *summary) {
  call c = {.run = run,
            .rank = rank,
            .waits = in_call == 1,
            .findings = findings,
            .count = count,
            .summary = summary};
  tsanom_status status = tsn_exec_read(&c.exec, exec);
  if (status < 0) return status;
  if (!run) return tsn_reject_null(&c.exec, "run", TSANOM_NONE);
  if ((status = tsn_watch_check_run(&c.frame, run, &c.exec)) < 0) return status;
  if (!tsn_is_observed(run)) c.frame.threads = 0;
  status = tsn_slow_begin(&c.slow, run, rank, summary, &c.exec);
  if (status < 0) return status;
  return tsn_workspace_run(&c.exec, layout, check, body, &c);
}

/* ---- threads or ranks that differ */

static double time_of(const tsanom_spmd_data *d, size_t process, size_t region) {
  return d->time[process * (d->time_ld ? d->time_ld : d->regions) + region];
}

/* The verdict is about a region, or without one about all outermost regions together. */
static bool is_part(const tsanom_spmd_report *r, size_t of, size_t region) {
  return of == TSANOM_NONE ? r->region[region].level == 1 : region == of;
}

static double time_in(const tsanom_spmd_data *d, const tsanom_spmd_report *r,
                      size_t process, size_t of) {
  double sum = 0;
  if (of != TSANOM_NONE) return time_of(d, process, of);
  for (size_t k = 0; k < d->regions; k++) {
    if (is_part(r, of, k)) sum += time_of(d, process, k);
  }
  return sum;
}

/* Inner regions may be where one process alone waits, as where neighbors send and receive in
 * opposite orders. */
static size_t outermost(const tsanom_spmd_data *d, const tsanom_spmd_report *r) {
  if (r->verdict_region < 0) return TSANOM_NONE;
  size_t region = (size_t)r->verdict_region;
  for (size_t depth = 0; depth < d->regions && r->region[region].level > 1; depth++) {
    int32_t parent = d->parent[region];
    if (parent < 0 || (size_t)parent >= d->regions) break;
    region = (size_t)parent;
  }
  return region;
}

/* Mean times of the slow ones and of the others, and the squares of the standard errors of
 * their sums, as far as these are known. */
typedef struct {
  double slow, others, slow_square, others_square;
} pair;

static pair means_in(const tsanom_spmd_data *d, const tsanom_spmd_report *r, size_t of,
                     const tsanom_diagnosis_team *team) {
  size_t ld = d->time_ld ? d->time_ld : d->regions;
  double slow = (double)team->members, others = (double)d->processes - slow;
  pair sum = {0, 0, 0, 0};
  for (size_t i = 0; i < d->processes; i++) {
    bool is_slow = r->class_of[i] == r->verdict_class;
    *(is_slow ? &sum.slow : &sum.others) += time_in(d, r, i, of);
    for (size_t k = 0; d->error && k < d->regions; k++) {
      double error = d->error[i * ld + k];
      if (!is_part(r, of, k) || isnan(error)) continue;
      *(is_slow ? &sum.slow_square : &sum.others_square) += error * error;
    }
  }
  sum.slow /= slow;
  sum.others /= others;
  return sum;
}

/* How many times as long as the others the slow ones take, s / o, and how far below it the interval
 * begins (E. C. Fieller, J. R. Statist. Soc. B 16 (1954) 175-185): at the least ratio for which
 *
 *   (s - ratio o)^2 <= 4 (error of s)^2 + ratio^2 4 (error of o)^2
 *
 * Others that hardly work are not known by a tenth of their time, and yet are faster. */
static void set_ratio(const tsanom_spmd_data *d, const tsanom_spmd_report *r, size_t of,
                      tsanom_diagnosis_team *team) {
  pair mean = means_in(d, r, of, team);
  double slow = mean.slow * (double)team->members;
  double others = mean.others * (double)(d->processes - team->members);
  double slow_square = slow * slow - 4 * mean.slow_square;
  double others_square = others * others - 4 * mean.others_square;
  double both = slow * others;
  double root = sqrt(fmax(0, both * both - slow_square * others_square));
  team->ratio = mean.slow / mean.others;
  team->half_width = 0;
  if (mean.slow_square > 0 || mean.others_square > 0) {
    double below = 1 - slow_square / (both + root) * others / slow;
    team->half_width = team->ratio * fmax(below, DBL_EPSILON);
  }
}

/* A processor that is slower for as long as the run makes all regions longer by a factor: that of
 * the regions but the one which stands for the difference, at most this. Of two threads or ranks
 * nobody shows how much processors differ. */
static double largest_factor(const tsanom_spmd_data *d, const tsanom_spmd_report *r) {
  double least = INFINITY, most = 0;
  size_t others = 0;
  for (size_t i = 0; i < d->processes; i++) {
    if (r->class_of[i] == r->verdict_class) continue;
    double time = time_in(d, r, i, TSANOM_NONE);
    least = fmin(least, time);
    most = fmax(most, time);
    others++;
  }
  return others > 1 && most < processors_differ * least ? most / least
                                                        : processors_differ;
}

/* Of the seconds that balance would save, those that processors may explain. If the region has
 * nearly all of the time, the others do not show a factor: it may be any up to the largest. */
static double explained_by_processors(const tsanom_spmd_data *d,
                                      const tsanom_spmd_report *r,
                                      const tsanom_diagnosis_team *team) {
  pair all = means_in(d, r, TSANOM_NONE, team), in = {0, 0, 0, 0};
  double lost = all.slow - all.others, largest = largest_factor(d, r);
  if (!(lost > 0) || !(all.others > 0)) return 0;
  if (team->region != TSANOM_NONE) in = means_in(d, r, team->region, team);
  if (all.others - in.others < showing_share * all.others)
    return all.slow < largest * all.others ? team->saved_s : 0;
  double factor = (all.slow - in.slow) / (all.others - in.others);
  double excess = fmin(fmax(factor, 1), largest) - 1;
  return team->saved_s * fmin(excess * all.others / lost, 1);
}

bool tsn_has_waited(const tsanom_diagnosis_summary *s) {
  const tsanom_diagnosis_window *w = &s->ledger.window[0];
  return s->accounted && w->ready_s >= TSN_LEAST_LOST * w->wall_s;
}

/* Members without iterations and without an error of their times have one visit each: that some take
 * this many times as long shows that they do different work. Where work waited for processors, any
 * ratio may be what these made of one queue. */
static const double other_work = 4;

/* Who had a processor asks for more of the work that is distributed on demand: visits of the region
 * of the verdict, the first metric, explain half of what it takes longer than others that visit it. */
static bool has_asked_for_more(const tsanom_spmd_data *d, const tsanom_spmd_report *r) {
  double visits[2] = {0, 0}, time[2] = {0, 0}, members[2] = {0, 0};
  if (r->verdict_region < 0 || !d->metric || !d->metrics) return false;
  size_t region = (size_t)r->verdict_region,
         ld = d->metric_ld ? d->metric_ld : d->regions;
  for (size_t i = 0; i < d->processes; i++) {
    bool is_slow = r->class_of[i] == r->verdict_class;
    double own = d->metric[i * ld + region];
    if (!(own > 0)) continue;
    visits[is_slow] += own;
    time[is_slow] += time_of(d, i, region);
    members[is_slow]++;
  }
  double share = members[0] / members[1];
  return visits[1] / visits[0] * share - 1 > 0.5 * (time[1] / time[0] * share - 1);
}

static bool may_do_other_work(const tsanom_diagnosis_summary *s,
                              const tsanom_spmd_data *d, const tsanom_spmd_report *r) {
  const tsanom_diagnosis_team *team = &s->team;
  bool is_single = s->iterations < 2 && !(team->half_width > 0);
  if (tsn_has_waited(s)) return is_single || has_asked_for_more(d, r);
  return is_single && team->ratio >= other_work;
}

static bool is_longer(const tsanom_diagnosis_team *team) {
  return !(team->half_width > 0) || team->ratio - team->half_width > 1;
}

/* A region that has less than half of the difference does not stand for it. */
static bool explains(const tsanom_spmd_data *d, const tsanom_spmd_report *r,
                     const tsanom_diagnosis_team *team) {
  pair all = means_in(d, r, TSANOM_NONE, team), in = means_in(d, r, team->region, team);
  return in.slow - in.others >= (all.slow - all.others) / 2;
}

/* Members are named where their interval does not contain 1: in the outermost region around that
 * of the verdict, or in this. */
static void compare_members(const tsanom_spmd_data *d, const tsanom_spmd_report *r,
                            tsanom_diagnosis_team *team) {
  for (size_t i = 0; i < d->processes; i++) {
    if (r->class_of[i] == r->verdict_class && !team->members++) team->first = i;
  }
  if (!team->members || team->members == d->processes) {
    team->members = 0;
    return;
  }
  size_t core = r->verdict_region < 0 ? TSANOM_NONE : (size_t)r->verdict_region;
  if (!explains(d, r, team)) team->region = TSANOM_NONE;
  size_t outer = team->region;
  set_ratio(d, r, outer, team);
  if (!is_longer(team)) set_ratio(d, r, team->region = core, team);
  bool is_unknown = team->region != outer && !(team->half_width > 0);
  if (!is_longer(team) || is_unknown) {
    *team = (tsanom_diagnosis_team){.processes = team->processes};
    return;
  }
  double longest = r->has_elapsed ? r->max_total : r->region_total;
  team->saved_s = longest - r->mean_total;
  team->processor_s = explained_by_processors(d, r, team);
}

static tsanom_status read_team(const tsanom_spmd_data *data,
                               const tsanom_spmd_report *report, tsanom_spmd_data *d,
                               tsanom_spmd_report *r) {
  static const tsanom_spmd_data no_data = {.struct_size = sizeof no_data};
  static const tsanom_spmd_report no_report = {.struct_size = sizeof no_report};
  static const tsn_versioned data_type = {sizeof no_data, sizeof no_data, &no_data};
  static const tsn_versioned report_type = {sizeof no_report, sizeof no_report,
                                            &no_report};
  if (!data || !report) return TSANOM_E_NULL;
  tsanom_status status = tsn_versioned_read(&data_type, d, data);
  if (status == TSANOM_OK) status = tsn_versioned_read(&report_type, r, report);
  if (status < 0) return status;
  if (d->processes < 1 || d->processes > INT32_MAX || d->regions < 1 ||
      d->regions > INT32_MAX)
    return TSANOM_E_COUNT;
  if (!isfinite(d->elapsed)) return TSANOM_E_OPTION;
  if (!d->time || !d->parent || !r->class_of || !r->region) return TSANOM_E_NULL;
  return r->verdict_region < 0 || (size_t)r->verdict_region < d->regions ? TSANOM_OK
                                                                         : TSANOM_E_INDEX;
}

tsanom_status tsanom_diagnosis_summarize_team(const tsanom_spmd_data *data,
                                              const tsanom_spmd_report *report,
                                              tsanom_diagnosis_summary *summary) {
  tsanom_spmd_data d = {.struct_size = sizeof d};
  tsanom_spmd_report r = {.struct_size = sizeof r};
  if (!summary) return TSANOM_E_NULL;
  tsanom_status status = read_team(data, report, &d, &r);
  if (status < 0) return status;
  tsanom_diagnosis_team team = {.processes = d.processes};
  tsn_environment before = tsn_environment_enter();
  if (r.classes > 1) {
    team.region = outermost(&d, &r);
    compare_members(&d, &r, &team);
  }
  summary->team = team;
  summary->team.other_work = team.members && may_do_other_work(summary, &d, &r);
  tsn_environment_leave(before);
  return TSANOM_OK;
}
