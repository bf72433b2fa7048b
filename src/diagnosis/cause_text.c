/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of causes: their order, whether they are alarms, and what to do next; and their
 * evidence as sentences. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/environment.h"
#include "core/sort.h"
#include "diagnosis/causes.h"
#include "hsa/sentence.h"

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

void tsn_put_thread(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  tsn_put(s, "thread %d", f->thread);
  if (*f->name) tsn_put(s, " (%.*s)", (int)sizeof f->name, f->name);
}

static bool is_of_beats(const tsanom_diagnosis_finding *f) {
  return f->detail == TSANOM_DIAGNOSIS_DETAIL_BEATS;
}

/* The evidence of a cause as an English sentence, for example
 *
 *     the process took 31.9 MiB of memory after the first fifth of its beats; reported above
 *     3 MiB; this thread has 0.31 page faults per beat, reported above 0.0002 */

void tsn_put_bytes(tsn_sentence *s, double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    unit++;
  }
  tsn_put(s, "%.3g %s", bytes, units[unit]);
}

/* From here on, a share is easier to read as a multiple. */
static const double multiple = 2;

static void put_share(tsn_sentence *s, double share) {
  if (share > multiple) {
    tsn_put(s, "%.1f times", share);
  } else {
    tsn_put(s, "%.3g %%", 100 * share);
  }
}

void tsn_put_time(tsn_sentence *s, double seconds) {
  static const char *const units[] = {"s", "ms", "us", "ns"};
  int unit = 0;
  while (fabs(seconds) < 1 && seconds != 0 && unit < 3) {
    seconds *= 1000;
    unit++;
  }
  tsn_put(s, "%.3g %s", seconds, units[unit]);
}

static void put_ratio(tsn_sentence *s, double ratio) {
  tsn_put(s, "%.3g", ratio);
}

/* "; normal runs: at most 0.9 %; reported above 15 %" */
static void put_limits(tsn_sentence *s, const tsanom_diagnosis_finding *f,
                       void (*put)(tsn_sentence *s, double value)) {
  if (isfinite(f->most)) {
    tsn_put(s, "; normal runs: at most ");
    put(s, f->most);
  }
  if (isfinite(f->limit)) {
    tsn_put(s, "; reported above ");
    put(s, f->limit);
  }
}

static void put_lost(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  if (!isnan(f->lost_s)) {
    tsn_put(s, "; it cost ");
    tsn_put_time(s, f->lost_s);
  }
  if (is_of_beats(f)) {
    tsn_put(s, "; without vital signs, a lack of processors looks the same");
  }
}

/* ", from 1.2 s until 3.4 s (from iteration 120)" */
static void put_times(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  if (isnan(f->begin)) return;
  tsn_put(s, ", from ");
  tsn_put_time(s, f->begin);
  if (isfinite(f->end)) {
    tsn_put(s, " until ");
    tsn_put_time(s, f->end);
  }
  if (f->iteration) {
    tsn_put(s, " (iteration %llu)", (unsigned long long)f->iteration);
  }
}

static void put_incomparable(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  switch (f->detail) {
    case TSANOM_DIAGNOSIS_DETAIL_PROGRAM:
      tsn_put(s, "the run is of another program than the normal runs");
      break;
    case TSANOM_DIAGNOSIS_DETAIL_MACHINE:
      tsn_put(s, "the run is from another machine than the normal runs");
      break;
    case TSANOM_DIAGNOSIS_DETAIL_THREADS:
      tsn_put(s, "the run has %llu threads, the normal runs have %llu",
              (unsigned long long)f->threads, (unsigned long long)f->normal_threads);
      break;
    default:
      tsn_put(s, "the model has no ranges to compare with");
  }
}

/* "was killed by signal 9 (SIGKILL)" */
void tsn_put_end(tsn_sentence *s, int32_t code) {
  static const struct {
    int number;
    const char *name;
  } signals[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
                 {SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
                 {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"}, {SIGSEGV, "SIGSEGV"},
                 {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
                 {SIGXCPU, "SIGXCPU"}, {SIGSYS, "SIGSYS"}};
  if (!code) {
    tsn_put(s, "ended without ending its recording");
  } else if (code > 0) {
    tsn_put(s, "exited with status %d without ending its recording", code);
  } else {
    tsn_put(s, "was killed by signal %d", -code);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
      if (signals[i].number == -code) tsn_put(s, " (%s)", signals[i].name);
    }
  }
}

static void put_exit(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  if (f->value >= TSANOM_EXIT_INSIDE) {
    tsn_put(s, "the program exited inside a parallel region with status %.0f",
            f->value - TSANOM_EXIT_INSIDE);
  } else {
    tsn_put(s, "the program exited with status %.0f, normally at most %.0f", f->value,
            f->limit);
  }
}

static void put_shutdown(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  unsigned long long beats = f->beats, normal = f->normal_beats;
  switch (f->detail) {
    case TSANOM_DIAGNOSIS_DETAIL_KILLED:
      tsn_put(s, "the program ");
      tsn_put_end(s, f->exit_code);
      tsn_put(s, ", after %llu beats", beats);
      break;
    case TSANOM_DIAGNOSIS_DETAIL_EXIT:
      put_exit(s, f);
      tsn_put(s, ", after %llu beats", beats);
      break;
    case TSANOM_DIAGNOSIS_DETAIL_SHORT:
      tsn_put(s, "the run ends after %llu beats", beats);
      break;
    case TSANOM_DIAGNOSIS_DETAIL_NEVER:
      tsn_put(s, "the thread made no beat; the busiest thread made %llu", normal);
      return;
    default:
      tsn_put(s, "the thread stopped after %llu beats, the busiest thread made %llu, ",
              beats, normal);
      put_share(s, f->value);
      tsn_put(s, " of them after that thread stopped");
      put_limits(s, f, put_share);
      return;
  }
  if (normal) tsn_put(s, "; the longest normal run has %llu", normal);
}

/* A silence, or of contention one that a missing processor explains. */
static void put_gap(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  bool paused = f->detail == TSANOM_DIAGNOSIS_DETAIL_PAUSED;
  bool begins = f->thread < 0; /* before the first beat */
  tsn_put(s, begins   ? "the program made its first beat after "
             : paused ? "the thread made no beat for "
                      : "the thread has made no beat for ");
  tsn_put_time(s, f->value);
  if (paused && !begins) tsn_put(s, ", and then continued");
  put_times(s, f);
  put_limits(s, f, tsn_put_time);
  if (f->threads) {
    tsn_put(s,
            f->threads > 1 ? "; %llu other threads wait for it"
                           : "; %llu other thread waits for it",
            (unsigned long long)f->threads);
  }
}

/* The sentence of a sign of the ledger, around its value. */
typedef struct {
  void (*put)(tsn_sentence *s, double value);
  const char *before;
} words;

static const words
    nobody = {put_share,
              "waiting for something else than a processor (asleep, blocked, stopped, or "
              "one thread for another) added "},
    of_ledger[] = {
        [TSANOM_HSA_CONTENTION] = {put_share, "waiting for a processor added "},
        [TSANOM_HSA_SLOWDOWN] = {put_ratio, "an iteration takes "},
        [TSANOM_HSA_IMBALANCE] = {put_ratio,
                                  "compared with the other threads, it takes "}};

/* "an iteration takes 1.5 times as much processor time as in normal runs, from ..."
 * "waiting for a processor added 31 % of the time of a normal run, from ..." */
static void put_sign(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  bool is_blocked = f->detail == TSANOM_DIAGNOSIS_DETAIL_BLOCKED;
  const words *k = is_blocked ? &nobody : &of_ledger[f->cause];
  tsn_put(s, "%s", k->before);
  k->put(s, f->value);
  if (k->put == put_ratio) {
    tsn_put(s, " times as %s as in normal runs",
            is_of_beats(f) ? "long" : "much processor time");
  } else {
    tsn_put(s, "%s the time of a normal run", f->value > multiple ? "" : " of");
  }
  put_times(s, f);
  put_limits(s, f, k->put);
  put_lost(s, f);
}

static void put_contention(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  if (f->sign == TSANOM_DIAGNOSIS_SIGN_GAP) {
    put_gap(s, f);
    tsn_put(s, "; it was ready but without a processor for ");
    tsn_put_time(s, f->ready_s);
    return;
  }
  put_sign(s, f);
  if (f->detail == TSANOM_DIAGNOSIS_DETAIL_PROCESSORS) {
    tsn_put(s, "; the program may use %llu %s, in the normal runs %llu",
            (unsigned long long)f->processors,
            f->processors == 1 ? "processor" : "processors",
            (unsigned long long)f->normal_processors);
  }
}

static void put_leak(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  tsn_put(s, "the process took ");
  tsn_put_bytes(s, f->value);
  tsn_put(s, f->sign == TSANOM_DIAGNOSIS_SIGN_EARLY
                 ? " of memory in the first fifth of its beats"
                 : " of memory after the first fifth of its beats");
  put_times(s, f);
  if (f->detail != TSANOM_DIAGNOSIS_DETAIL_FAULTS) put_limits(s, f, tsn_put_bytes);
  if (isnan(f->faults)) return;
  tsn_put(s, "; this thread has %.3g page faults per beat, reported above %.3g",
          f->faults, f->faults_limit);
}

static void put_few_beats(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  tsn_put(s, "the run has %llu beats; at least %llu are needed",
          (unsigned long long)f->beats, (unsigned long long)f->normal_beats);
}

static void put_waiting(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  put_gap(s, f);
  tsn_put(s, ", while another thread has a cause");
}

/* Causes of one rank are in the order of the seconds that they cost. `next` of the run, or
 * of a thread, whose number replaces %s. */
static const struct {
  int rank;
  bool is_alarm;
  void (*put)(tsn_sentence *s, const tsanom_diagnosis_finding *f);
  const char *next;
} table[TSANOM_HSA_STATUSES] = {
    [TSANOM_HSA_NOT_COMPARABLE] = {0, false, put_incomparable,
                                   "learn a model from runs like this one"},
    [TSANOM_HSA_SHUTDOWN] = {1, true, put_shutdown,
                             "look at the output and exit status of the program"},
    [TSANOM_HSA_MEMORY_LEAK] = {2, true, put_leak,
                                "look at the allocations%s in an iteration"},
    [TSANOM_HSA_HANG] = {4, true, put_gap,
                         "see where%s waits or loops, with a debugger (gdb -p PID)"},
    [TSANOM_HSA_CONTENTION] =
        {4, false, put_contention,
         "look for other programs, the binding of threads, and limits of "
         "the processor time"},
    [TSANOM_HSA_IMBALANCE] = {4, true, put_sign,
                              "look at the share of the work%s in an iteration"},
    [TSANOM_HSA_SLOWDOWN] =
        {4, true, put_sign,
         "compare it with a normal run: tsanom compare RUN --against NORMAL"},
    [TSANOM_HSA_UNKNOWN] = {5, false, put_few_beats, "let the program run for longer"},
    [TSANOM_HSA_WAITING] = {6, false, put_waiting, "look at the thread that hangs"},
    [TSANOM_HSA_NORMAL] = {7, false, NULL, ""}};

static int rank_of(const tsanom_diagnosis_finding *f) {
  bool lasts = f->cause == TSANOM_HSA_HANG && f->detail != TSANOM_DIAGNOSIS_DETAIL_PAUSED;
  return lasts ? 3 : table[f->cause].rank;
}

/* Seconds that are not known cost nothing. */
static double lost_by(const tsanom_diagnosis_finding *f) {
  return isnan(f->lost_s) ? 0 : f->lost_s;
}

static bool comes_before(const tsanom_diagnosis_finding *a,
                         const tsanom_diagnosis_finding *b) {
  if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b);
  if (lost_by(a) != lost_by(b)) return lost_by(a) > lost_by(b);
  return a->thread < b->thread;
}

TSN_HEAPSORT(tsn_diagnosis_sort_causes, tsanom_diagnosis_finding, comes_before)

static bool concerns_all(const tsanom_diagnosis_finding *c) {
  return c->thread < 0 &&
         (c->cause == TSANOM_HSA_NOT_COMPARABLE || c->cause == TSANOM_HSA_SHUTDOWN ||
          c->cause == TSANOM_HSA_UNKNOWN);
}

tsanom_status tsanom_diagnosis_cause_status(const tsanom_diagnosis_finding *causes,
                                            size_t count, int32_t thread,
                                            int32_t *status) {
  if ((!causes && count) || !status) return TSANOM_E_NULL;
  int32_t found = TSANOM_HSA_NORMAL;
  bool is_own = false;
  for (size_t i = 0; i < count && !is_own; i++) {
    is_own = thread < 0 || causes[i].thread == thread;
    if (is_own || (concerns_all(&causes[i]) && found == TSANOM_HSA_NORMAL)) {
      found = causes[i].cause;
    }
  }
  *status = found;
  return TSANOM_OK;
}

int32_t tsanom_diagnosis_cause_is_alarm(const tsanom_diagnosis_finding *cause) {
  return cause && cause->cause > TSANOM_HSA_NORMAL &&
         cause->cause < TSANOM_HSA_STATUSES && table[cause->cause].is_alarm &&
         !is_of_beats(cause);
}

/* What to do next differs by what the cause follows from. */
static const char *next_of(const tsanom_diagnosis_finding *f) {
  switch (f->detail) {
    case TSANOM_DIAGNOSIS_DETAIL_BLOCKED:
      return "look at what the program waits for: locks, files, connections, sleep";
    case TSANOM_DIAGNOSIS_DETAIL_BEATS:
      return "record vital signs with the beats, of the normal runs and of this program";
    case TSANOM_DIAGNOSIS_DETAIL_PAUSED:
      return f->thread < 0 ? "look at what the program does before its first beat"
                           : "see what that iteration did: tsanom slow RUN";
    default:
      return table[f->cause].next;
  }
}

void tsn_put_next(tsn_sentence *s, const tsanom_diagnosis_finding *cause) {
  const char *next = next_of(cause), *of = strstr(next, "%s");
  tsn_put(s, "%.*s", of ? (int)(of - next) : (int)strlen(next), next);
  bool hangs = cause->cause == TSANOM_HSA_HANG;
  if (of && cause->thread >= 0) {
    tsn_put(s, hangs ? " " : " of ");
    tsn_put_thread(s, cause);
  } else if (of && hangs) {
    tsn_put(s, " the program");
  }
  if (of) tsn_put(s, "%s", of + 2);
}

tsanom_status tsanom_diagnosis_cause_text(const tsanom_diagnosis_finding *cause,
                                          int32_t part, char *text, size_t size,
                                          size_t *length) {
  if (!cause || (!text && size > 0)) return TSANOM_E_NULL;
  if (cause->cause <= TSANOM_HSA_NORMAL || cause->cause >= TSANOM_HSA_STATUSES ||
      part < TSANOM_DIAGNOSIS_CAUSE_EVIDENCE || part > TSANOM_DIAGNOSIS_CAUSE_NEXT) {
    return TSANOM_E_OPTION;
  }
  tsn_sentence s = {.text = text, .size = size, .length = 0};
  tsn_environment before = tsn_environment_enter();
  (part == TSANOM_DIAGNOSIS_CAUSE_NEXT ? tsn_put_next : table[cause->cause].put)(&s,
                                                                                 cause);
  tsn_environment_leave(before);
  return tsn_sentence_end(&s, length);
}
