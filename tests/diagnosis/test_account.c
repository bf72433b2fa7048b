/* SPDX-License-Identifier: BSD-3-Clause */
/* The ledger against its definition, evaluated naively on random runs in which numbers
 * are missing and tasks change; and runs whose truth is known. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scripted.h"
#include "support/check.h"
#include "support/random.h"

enum { WINDOWS = TSANOM_DIAGNOSIS_WINDOWS, THREADS = SCRIPTED_THREADS };

/* ---- random runs */

static double sometimes(uint64_t *seed, double value) {
  return random_between(seed, 0, 9) ? value : NAN;
}

static void make_thread(uint64_t *seed, scripted_run *made, size_t t) {
  double time = random_unit(seed), cpu = random_between(seed, 0, 1) ? 7 : 0, wait = 0,
         now = random_unit(seed);
  int32_t task = 7;
  tsanom_hsa_series *s = &made->series[t];
  *s = (tsanom_hsa_series){.time = made->time[t],
                           .vital = made->vital[t],
                           .beats = random_between(seed, 0, 200),
                           .vital_count = random_between(seed, 0, 60)};
  for (size_t i = 0; i < s->beats; i++) {
    made->time[t][i] = now;
    if (random_between(seed, 0, 3)) now += 0.05 * random_unit(seed);
  }
  for (size_t i = 0; i < s->vital_count; i++) {
    double step = random_between(seed, 0, 9) ? 0.2 * random_unit(seed) : 0;
    double on = step * random_unit(seed);
    time += step;
    cpu += on;
    wait += (step - on) * random_unit(seed);
    if (!random_between(seed, 0, 15)) {
      task++;
      cpu = wait = 0;
    }
    made->vital[t][i] = (tsanom_hsa_vital){.time = sometimes(seed, time),
                                           .cpu_s = sometimes(seed, cpu),
                                           .wait_s = sometimes(seed, wait),
                                           .task = task};
  }
}

static void make_random(uint64_t *seed, scripted_run *made) {
  static const char *const machines[] = {"1 x a", "2 x b", "3 x c", "d", NULL};
  memset(made, 0, sizeof *made);
  made->run = (tsanom_hsa_run){.threads = made->series,
                               .thread_count = random_between(seed, 1, THREADS),
                               .machine = machines[random_between(seed, 0, 4)]};
  for (size_t t = 0; t < made->run.thread_count; t++) make_thread(seed, made, t);
}

/* ---- the naive reference */

enum { CPU, READY };

static double number_of(const tsanom_hsa_vital *v, int what) {
  return what == CPU ? v->cpu_s : v->wait_s;
}

static size_t known_samples(const tsanom_hsa_series *s, int what,
                            const tsanom_hsa_vital **known) {
  size_t n = 0;
  for (size_t i = 0; i < s->vital_count; i++) {
    const tsanom_hsa_vital *v = &s->vital[i];
    if (!isnan(v->time) && !isnan(number_of(v, what))) known[n++] = v;
  }
  return n;
}

/* Of a thread that worked and was ready from its begin to its first sample. */
static tsanom_hsa_vital begin_of(const tsanom_hsa_vital *first) {
  double cpu = isnan(first->cpu_s) ? 0 : first->cpu_s,
         wait = isnan(first->wait_s) ? 0 : first->wait_s;
  return (tsanom_hsa_vital){.time = first->time - cpu - wait, .task = first->task};
}

/* The number that a thread counted between two times: of each pair of neighbors the part
 * that lies between them. One that began behind the begin of the ledger began with zero. */
static double counted(const tsanom_hsa_series *s, int what, double all, double begin,
                      double end) {
  const tsanom_hsa_vital *known[SCRIPTED_SAMPLES + 1];
  size_t n = known_samples(s, what, known);
  tsanom_hsa_vital own;
  double sum = 0;
  if (n && (own = begin_of(known[0])).time > all) {
    memmove(known + 1, known, n++ * sizeof *known);
    known[0] = &own;
  }
  for (size_t i = 1; i < n; i++) {
    const tsanom_hsa_vital *a = known[i - 1], *b = known[i];
    double grown = number_of(b, what) - number_of(a, what);
    if (a->task != b->task || grown < 0) continue;
    if (a->time == b->time) {
      sum += a->time >= begin && a->time < end ? grown : 0;
      continue;
    }
    double common = fmin(b->time, end) - fmax(a->time, begin);
    if (common > 0) sum += grown * common / (b->time - a->time);
  }
  return sum;
}

static double naive_beats(const tsanom_hsa_series *s, double time) {
  for (size_t i = 0; i < s->beats; i++) {
    if (s->time[i] <= time) continue;
    return i ? (double)i + (time - s->time[i - 1]) / (s->time[i] - s->time[i - 1]) : 0;
  }
  return (double)s->beats;
}

static double naive_time_of(const tsanom_hsa_series *s, double beats) {
  size_t whole = (size_t)beats;
  if (beats < 1) return s->time[0];
  if (whole >= s->beats) return s->time[s->beats - 1];
  return s->time[whole - 1] +
         (beats - (double)whole) * (s->time[whole] - s->time[whole - 1]);
}

typedef struct {
  double begin, end, edge[WINDOWS];
  size_t sampled;
  bool is_sampled[THREADS], knows_ready;
} naive_frame;

static naive_frame naive_edges(const tsanom_hsa_run *run) {
  naive_frame f = {.begin = INFINITY, .end = -INFINITY, .knows_ready = true};
  double earliest = INFINITY;
  const tsanom_hsa_vital *known[SCRIPTED_SAMPLES];
  const tsanom_hsa_series *busiest = &run->threads[0];
  for (size_t t = 0; t < run->thread_count; t++) {
    if (run->threads[t].beats > busiest->beats) busiest = &run->threads[t];
    size_t n = known_samples(&run->threads[t], CPU, known);
    f.is_sampled[t] = n > 1;
    if (n < 2) continue;
    f.sampled++;
    earliest = fmin(earliest, known[0]->time);
    f.end = fmax(f.end, known[n - 1]->time);
    if (known_samples(&run->threads[t], READY, known) < 2) f.knows_ready = false;
  }
  f.begin = earliest;
  for (size_t t = 0; t < run->thread_count; t++) {
    size_t n = known_samples(&run->threads[t], CPU, known);
    if (n > 1 && begin_of(known[0]).time <= earliest)
      f.begin = fmax(f.begin, known[0]->time);
  }
  for (size_t p = 0; p < WINDOWS; p++) {
    double share = (double)p / 8, time = f.begin + share * (f.end - f.begin);
    if (busiest->beats) time = naive_time_of(busiest, share * (double)busiest->beats);
    f.edge[p] = fmax(f.begin, fmin(f.end, time));
  }
  if (!busiest->beats) f.edge[0] = f.begin;
  f.edge[WINDOWS - 1] = f.end;
  return f;
}

static void check_close(double found, double expected) {
  if (isnan(expected)) {
    cr_assert(isnan(found), "%.17g instead of NaN", found);
  } else {
    cr_assert(fabs(found - expected) < 1e-9, "%.17g instead of %.17g", found, expected);
  }
}

static void check_window(const scripted_run *r, const naive_frame *f, size_t w,
                         const tsanom_diagnosis_window *found,
                         const tsanom_diagnosis_share *shares) {
  double begin = w ? f->edge[w - 1] : f->begin, end = w ? f->edge[w] : f->end;
  double wall = end - begin, most = 0, work = 0, ready = 0, off = wall, beats = 0;
  double processors = r->run.machine ? atof(r->run.machine) : 0;
  if (processors == 0) processors = (double)r->run.thread_count;
  for (size_t t = 0; t < r->run.thread_count; t++) {
    const tsanom_hsa_series *s = &r->series[t];
    double c = counted(s, CPU, f->begin, begin, end),
           wait = counted(s, READY, f->begin, begin, end);
    if (!f->is_sampled[t]) {
      check_close(shares[t].cpu_s, NAN);
      continue;
    }
    check_close(shares[t].cpu_s, c);
    check_close(shares[t].ready_s, f->knows_ready ? wait : NAN);
    check_close(shares[t].off_s, f->knows_ready ? fmax(0, wall - c - wait) : NAN);
    check_close(shares[t].beats, naive_beats(s, end) - naive_beats(s, begin));
    beats += (naive_beats(s, end) - naive_beats(s, begin)) / (double)f->sampled;
    most = fmax(most, c);
    work += c;
    ready += wait;
    off = fmin(off, fmax(0, wall - c - wait));
  }
  double least = fmin(wall, fmax(most, work / processors));
  double R = fmin(ready, wall - least), U = fmin(wall - least - R, off);
  check_close(found->begin, begin);
  check_close(found->wall_s, wall);
  check_close(found->beats, beats);
  check_close(found->cpu_s, wall - R - U);
  check_close(found->ready_s, f->knows_ready ? R : NAN);
  check_close(found->nobody_s, f->knows_ready ? U : NAN);
  cr_assert(found->cpu_s >= 0 && !(found->ready_s < 0) && !(found->nobody_s < 0));
}

Test(diagnosis_account, random_runs_match_the_definition) {
  static scripted_run r;
  tsanom_diagnosis_ledger ledger;
  tsanom_diagnosis_share shares[WINDOWS * THREADS];
  uint64_t seed = 1;
  size_t known = 0;
  for (int round = 0; round < 4000; round++) {
    make_random(&seed, &r);
    naive_frame f = naive_edges(&r.run);
    bool all = f.sampled == r.run.thread_count && f.knows_ready;
    CHECK_STATUS(
        tsanom_diagnosis_account(&r.run, NULL, &ledger, shares, WINDOWS * THREADS),
        all ? TSANOM_OK : TSANOM_PARTIAL);
    cr_assert_eq(ledger.sampled, f.sampled);
    known += f.sampled > 0;
    for (size_t w = 0; w < WINDOWS; w++) {
      if (f.sampled) {
        check_window(&r, &f, w, &ledger.window[w], shares + w * r.run.thread_count);
      } else {
        check_close(ledger.window[w].cpu_s, NAN);
        check_close(ledger.window[w].wall_s, NAN);
      }
    }
  }
  cr_assert(known > 3000);
}

/* ---- what holds for every run */

/* A sample between two others that lies on the line between them adds nothing, and the
 * order of threads does not matter. */
Test(diagnosis_account, more_samples_and_another_order_change_nothing) {
  static const char *const scripts[] = {"cccc----rrcc", "cc--rr--cccc", "cccccc----cc"};
  static const char *const turned[] = {"cccccc----cc", "cccc----rrcc", "cc--rr--cccc"};
  static scripted_run coarse, fine, other;
  tsanom_diagnosis_ledger a, b, c;
  scripted_make(&coarse, scripts, 3, 100, 0.1);
  scripted_make(&fine, scripts, 3, 100, 0.025);
  scripted_make(&other, turned, 3, 100, 0.1);
  CHECK_STATUS(tsanom_diagnosis_account(&coarse.run, NULL, &a, NULL, 0), TSANOM_OK);
  CHECK_STATUS(tsanom_diagnosis_account(&fine.run, NULL, &b, NULL, 0), TSANOM_OK);
  CHECK_STATUS(tsanom_diagnosis_account(&other.run, NULL, &c, NULL, 0), TSANOM_OK);
  for (size_t w = 0; w < WINDOWS; w++) {
    check_close(a.window[w].cpu_s, b.window[w].cpu_s);
    check_close(a.window[w].nobody_s, b.window[w].nobody_s);
    check_close(a.window[w].cpu_s, c.window[w].cpu_s);
    check_close(a.window[w].ready_s, c.window[w].ready_s);
  }
}

/* ---- runs whose truth is known */

static void expect(const char *first, const char *second, double cpu, double ready,
                   double nobody) {
  static scripted_run r;
  tsanom_diagnosis_ledger l;
  scripted_make(&r, (const char *const[]){first, second}, 2, 40, 0.05);
  CHECK_STATUS(tsanom_diagnosis_account(&r.run, NULL, &l, NULL, 0), TSANOM_OK);
  const tsanom_diagnosis_window *w = &l.window[0];
  cr_assert(fabs(w->cpu_s - cpu) < 1e-9 && fabs(w->ready_s - ready) < 1e-9 &&
                fabs(w->nobody_s - nobody) < 1e-9,
            "%s %s: %g %g %g", first, second, w->cpu_s, w->ready_s, w->nobody_s);
}

Test(diagnosis_account, known_runs) {
  expect("cccccccccc", "cccccccccc", 1, 0, 0);
  expect("cccccccccc", "ccccc-----", 1, 0, 0); /* one waits for the other */
  expect("ccccc-----", "ccccc-----", 0.5, 0, 0.5);
  expect("cccccrrrrr", "ccccc-----", 0.5, 0.5, 0);
  expect("ccccrr----", "cccc------", 0.4, 0.2, 0.4);
  expect("----------", "----------", 0, 0, 1);
}

/* Seconds in which nobody ran, where the samples know what the threads do. */
static double nobody_of(const char *first, const char *second) {
  static scripted_run r;
  tsanom_diagnosis_ledger l;
  const char *const scripts[] = {first, second};
  scripted_make(&r, scripts, 2, 40, 0.01);
  scripted_know_states(&r, scripts);
  CHECK_STATUS(tsanom_diagnosis_account(&r.run, NULL, &l, NULL, 0), TSANOM_OK);
  const tsanom_diagnosis_window *w = &l.window[0];
  check_close(w->cpu_s + w->ready_s + w->nobody_s, w->wall_s);
  return w->nobody_s;
}

/* Of sums alone, threads that work in turn look as if nobody ran for half of the time. */
Test(diagnosis_account, states_tell_when_nobody_ran) {
  double slack = 0.02;
  cr_assert(nobody_of("cc--cc--cc--", "--cc--cc--cc") < slack);
  cr_assert(nobody_of("rc--rc--rc--", "--cr--cr--cr") < slack);
  cr_assert(fabs(nobody_of("cc----cc----", "--cc----cc--") - 0.4) < slack);
  cr_assert(fabs(nobody_of("ccwwccwwccww", "ccbbccbbccbb") - 0.6) < slack);
  cr_assert(nobody_of("ccwwccwwccww", "cc--cc--cc--") < slack);
  cr_assert(nobody_of("cccc", "ccww") < slack);
}

/* Its processor time and waiting leave the rest, however few samples know the state. */
Test(diagnosis_account, one_thread_rests_whenever_it_does_not_run) {
  enum { ROUNDS = 200, LETTERS = 20 };
  static scripted_run r;
  tsanom_diagnosis_ledger l;
  uint64_t seed = 4;
  for (int round = 0; round < ROUNDS; round++) {
    char script[LETTERS + 1] = {0};
    double rest = 0;
    for (size_t k = 0; k < LETTERS; k++) {
      script[k] = "cr--"[random_between(&seed, 0, 3)];
      rest += script[k] == '-' ? 1.0 / LETTERS : 0;
    }
    const char *const scripts[] = {script};
    scripted_make(&r, scripts, 1, 40, 0.25);
    scripted_know_states(&r, scripts);
    CHECK_STATUS(tsanom_diagnosis_account(&r.run, NULL, &l, NULL, 0), TSANOM_OK);
    double wall = l.window[0].wall_s;
    cr_assert(fabs(l.window[0].nobody_s - rest * wall) < 1e-9, "%s: %g of %g", script,
              l.window[0].nobody_s, wall);
  }
}

/* The process knows the processor time of a thread without samples, as one that a program starts
 * beside its parallel regions, for which it had processors. How long that was ready is not known, where
 * threads with samples were. */
Test(diagnosis_account, a_thread_without_samples_is_somebody) {
  enum { ROUNDS = 200, LETTERS = 20, TASKS = 3 };
  static scripted_run r;
  static tsanom_hsa_vital process[SCRIPTED_SAMPLES];
  tsanom_diagnosis_ledger l;
  uint64_t seed = 3;
  for (int round = 0; round < ROUNDS; round++) {
    char script[TASKS][LETTERS + 1] = {{0}};
    const char *const scripts[] = {script[0], script[1], script[2]};
    double nobody = 0;
    bool is_busy = round % 2;
    for (size_t k = 0; k < LETTERS; k++) {
      bool is_quiet = true;
      for (size_t t = 0; t < TASKS; t++) {
        const char *letters =
            is_busy ? (t < 2 ? "r---" : "crrr") : (t < 2 ? "c---" : "c-c-");
        script[t][k] = letters[random_between(&seed, 0, 3)];
        is_quiet = is_quiet && script[t][k] == '-';
      }
      nobody += is_quiet ? 0.1 : 0;
    }
    scripted_make(&r, scripts, TASKS, 40, 0.01);
    scripted_know_states(&r, scripts);
    for (size_t i = 0; i < r.series[0].vital_count; i++) {
      process[i] = r.vital[0][i];
      process[i].cpu_s += r.vital[1][i].cpu_s + r.vital[2][i].cpu_s;
      process[i].spun_s = process[i].wait_s = NAN;
    }
    r.run.thread_count = 2;
    r.run.vital = process;
    r.run.vital_count = r.series[0].vital_count;
    CHECK_STATUS(tsanom_diagnosis_account(&r.run, NULL, &l, NULL, 0), TSANOM_OK);
    double found = l.window[0].nobody_s, slack = is_busy ? 0.3 : 0.1;
    cr_assert(fabs(found - nobody) < slack || (is_busy && isnan(found)),
              "%s %s %s: %g, not %g", script[0], script[1], script[2], found, nobody);
    double used = process[r.run.vital_count - 1].cpu_s - process[0].cpu_s;
    double least = fmin(l.window[0].wall_s, used / (double)l.processors);
    cr_assert(l.window[0].cpu_s > least - 0.01, "%s %s %s: %g, not %g", script[0],
              script[1], script[2], l.window[0].cpu_s, least);
  }
}

/* Samples that find a thread ready more often than it is make no work of its sleep, if it may wait
 * for a thread without samples. */
Test(diagnosis_account, nobody_works_longer_than_the_process) {
  const char *const scripts[] = {"--------r--rr--rr--r", "cc------------------"};
  static scripted_run r;
  static tsanom_hsa_vital process[SCRIPTED_SAMPLES];
  tsanom_diagnosis_ledger l;
  scripted_make(&r, scripts, 2, 40, 0.4);
  scripted_know_states(&r, scripts);
  for (size_t i = 0; i < r.series[0].vital_count; i++) {
    process[i] = r.vital[0][i];
    process[i].cpu_s += r.vital[1][i].cpu_s;
    process[i].spun_s = process[i].wait_s = NAN;
  }
  r.run.thread_count = 1;
  r.run.vital = process;
  r.run.vital_count = r.series[0].vital_count;
  CHECK_STATUS(tsanom_diagnosis_account(&r.run, NULL, &l, NULL, 0), TSANOM_OK);
  cr_assert(isnan(l.window[0].ready_s));
  check_close(l.window[0].cpu_s, 0.2);
}

/* Waiting on a processor is no work. */
Test(diagnosis_account, time_on_a_processor_without_work_does_not_count) {
  static scripted_run spins, sleeps;
  tsanom_diagnosis_ledger l;
  tsanom_diagnosis_share a[WINDOWS * 2], b[WINDOWS * 2];
  scripted_make(&spins, (const char *const[]){"cwwwccwccc", "cccccccccc"}, 2, 40, 0.05);
  scripted_make(&sleeps, (const char *const[]){"c---cc-ccc", "cccccccccc"}, 2, 40, 0.05);
  CHECK_STATUS(tsanom_diagnosis_account(&spins.run, NULL, &l, a, WINDOWS * 2), TSANOM_OK);
  CHECK_STATUS(tsanom_diagnosis_account(&sleeps.run, NULL, &l, b, WINDOWS * 2),
               TSANOM_OK);
  for (size_t i = 0; i < WINDOWS * 2; i++) {
    check_close(a[i].cpu_s, b[i].cpu_s);
    check_close(a[i].off_s, b[i].off_s);
  }
}

Test(diagnosis_account, eighths_follow_the_beats) {
  static scripted_run r;
  tsanom_diagnosis_ledger l;
  /* 0.8 s, one eighth each letter; the third and fourth are blocked. The first eighth begins with
   * the first beat. */
  scripted_make(&r, (const char *const[]){"cc--cccc", "cc--cccc"}, 2, 100, 0.1);
  CHECK_STATUS(tsanom_diagnosis_account(&r.run, NULL, &l, NULL, 0), TSANOM_OK);
  uint64_t samples = 0;
  for (size_t w = 1; w < WINDOWS; w++) {
    bool blocked = w == 3 || w == 4;
    check_close(l.window[w].nobody_s, blocked ? 0.1 : 0);
    check_close(l.window[w].beats, w == 1 ? 9 : 10);
    samples += l.window[w].samples;
  }
  cr_assert(samples == 8 && l.window[0].samples == 8);
}

/* More threads than processors: 4 threads that need 2 processors lack none. */
Test(diagnosis_account, threads_of_a_team_share_the_processors) {
  static scripted_run r;
  tsanom_diagnosis_ledger l;
  const char *const scripts[] = {"crcrcrcrcr", "crcrcrcrcr", "rcrcrcrcrc", "rcrcrcrcrc"};
  scripted_make(&r, scripts, 4, 100, 0.1);
  CHECK_STATUS(tsanom_diagnosis_account(&r.run, NULL, &l, NULL, 0), TSANOM_OK);
  check_close(l.window[0].cpu_s, 1);
  check_close(l.window[0].ready_s, 0);
  r.run.machine = "4 x processor";
  CHECK_STATUS(tsanom_diagnosis_account(&r.run, NULL, &l, NULL, 0), TSANOM_OK);
  check_close(l.window[0].cpu_s, 0.5);
  check_close(l.window[0].ready_s, 0.5);
}
