/* SPDX-License-Identifier: BSD-3-Clause */
/* What the diagnosis says: findings and summaries as sentences, and which of them are alarms. */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "core/environment.h"
#include "core/sort.h"
#include "diagnosis/causes.h"
#include "diagnosis/judge.h"

/* ---- pieces of sentences */

enum { NAME_BYTES = 64 };

/* "31.9 MiB" */
static void put_bytes(tsn_sentence *s, double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 999.5 && unit < 4) {
    bytes /= 1024;
    unit++;
  }
  tsn_put_number(s, bytes);
  tsn_put(s, " %s", units[unit]);
}

/* "0.0123 s" */
static void put_seconds(tsn_sentence *s, double seconds) {
  tsn_put_number(s, seconds);
  tsn_put(s, " s");
}

/* "12.3 ms" */
static void put_time(tsn_sentence *s, double seconds) {
  static const char *const units[] = {"s", "ms", "us", "ns"};
  int unit = 0;
  while (fabs(seconds) < 0.9995 && seconds != 0 && unit < 3) {
    seconds *= 1000;
    unit++;
  }
  tsn_put_number(s, seconds);
  tsn_put(s, " %s", units[unit]);
}

/* Names of C++ templates are longer than the page. */
static void put_name(tsn_sentence *s, const char *name) {
  size_t length = strlen(name);
  if (length <= NAME_BYTES) {
    tsn_put(s, "%s", name);
    return;
  }
  size_t kept = NAME_BYTES / 2;
  const char *rest = name + length - kept;
  while (kept && ((unsigned char)name[kept] & 0xC0) == 0x80) kept--;
  while (((unsigned char)*rest & 0xC0) == 0x80) rest++;
  tsn_put(s, "%.*s...%s", (int)kept, name, rest);
}

/* "thread 3 (loader)" */
static void put_thread(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  tsn_put(s, "thread %d", f->thread);
  if (*f->name) tsn_put(s, " (%.*s)", (int)sizeof f->name, f->name);
}

/* "exited with status 3", of a program that ended its recording. */
static void put_exited(tsn_sentence *s, double code) {
  bool inside = code >= TSANOM_EXIT_INSIDE;
  tsn_put(s, "exited %swith status %.0f", inside ? "inside a parallel region " : "",
          inside ? code - TSANOM_EXIT_INSIDE : code);
}

/* "was killed by signal 9 (SIGKILL)" */
static void put_end(tsn_sentence *s, int32_t code) {
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

/* ---- findings: their evidence as a sentence, for example
 *
 *     the process took 31.9 MiB of memory after the first fifth of its beats; reported above
 *     3 MiB; this thread has 0.31 page faults per beat, reported above 0.0002
 *
 * and the table of causes: their order, whether they are alarms, and what to do next. */

static bool is_of_beats(const tsanom_diagnosis_finding *f) {
  return f->detail == TSANOM_DIAGNOSIS_DETAIL_BEATS;
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

/* " (1.2 to 1.3)" */
static void put_range(tsn_sentence *s, double low, double high) {
  tsn_put(s, " (");
  tsn_put_number(s, low);
  tsn_put(s, " to ");
  tsn_put_number(s, high);
  tsn_put(s, ")");
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
    put_time(s, f->lost_s);
  }
  if (is_of_beats(f)) {
    tsn_put(s, "; without vital signs, a lack of processors looks the same");
  }
}

/* ", from 1.2 s until 3.4 s (from iteration 120)" */
static void put_times(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  if (isnan(f->begin)) return;
  tsn_put(s, ", from ");
  put_time(s, f->begin);
  if (isfinite(f->end)) {
    tsn_put(s, " until ");
    put_time(s, f->end);
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

static void put_exit(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  tsn_put(s, "the program ");
  put_exited(s, f->value);
  if (f->value < TSANOM_EXIT_INSIDE) tsn_put(s, ", normally at most %.0f", f->limit);
}

static void put_shutdown(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  unsigned long long beats = f->beats, normal = f->normal_beats;
  switch (f->detail) {
    case TSANOM_DIAGNOSIS_DETAIL_KILLED:
      tsn_put(s, "the program ");
      put_end(s, f->exit_code);
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
  put_time(s, f->value);
  if (paused && !begins) tsn_put(s, ", and then continued");
  put_times(s, f);
  put_limits(s, f, put_time);
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
    of_blocked =
        {put_share,
         "waiting for something else than a processor (asleep, blocked, stopped, or "
         "one thread for another) added "},
    of_ledger[] = {
        [TSANOM_HSA_CONTENTION] = {put_share, "waiting for a processor added "},
        [TSANOM_HSA_SLOWDOWN] = {tsn_put_number, "an iteration takes "},
        [TSANOM_HSA_IMBALANCE] = {tsn_put_number,
                                  "compared with the other threads, it takes "}};

/* "an iteration takes 1.5 times as much processor time as in normal runs, from ..."
 * "waiting for a processor added 31 % of the time of a normal run, from ..." */
static void put_sign(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  bool is_blocked = f->detail == TSANOM_DIAGNOSIS_DETAIL_BLOCKED;
  const words *k = is_blocked ? &of_blocked : &of_ledger[f->cause];
  tsn_put(s, "%s", k->before);
  k->put(s, f->value);
  if (k->put == tsn_put_number) {
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
    put_time(s, f->ready_s);
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
  put_bytes(s, f->value);
  tsn_put(s, f->sign == TSANOM_DIAGNOSIS_SIGN_EARLY
                 ? " of memory in the first fifth of its beats"
                 : " of memory after the first fifth of its beats");
  put_times(s, f);
  if (f->detail != TSANOM_DIAGNOSIS_DETAIL_FAULTS) put_limits(s, f, put_bytes);
  if (isnan(f->faults)) return;
  tsn_put(s, "; this thread has ");
  tsn_put_number(s, f->faults);
  tsn_put(s, " page faults per beat, reported above ");
  tsn_put_number(s, f->faults_limit);
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

/* ::TSANOM_DIAGNOSIS_CAUSE_NEXT of a cause. */
static void put_next(tsn_sentence *s, const tsanom_diagnosis_finding *cause) {
  const char *next = next_of(cause), *of = strstr(next, "%s");
  tsn_put(s, "%.*s", of ? (int)(of - next) : (int)strlen(next), next);
  bool hangs = cause->cause == TSANOM_HSA_HANG;
  if (of && cause->thread >= 0) {
    tsn_put(s, hangs ? " " : " of ");
    put_thread(s, cause);
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
  (part == TSANOM_DIAGNOSIS_CAUSE_NEXT ? put_next : table[cause->cause].put)(&s, cause);
  tsn_environment_leave(before);
  return tsn_sentence_end(&s, length);
}

/* ---- summaries: the answer, the first of these that holds,
 *
 *   a finding; the program failed; what cost most time; memory grows; it lacked processors
 *
 * whether anything is an alarm, and both as a page. A row of the table below is a label and what
 * follows it,
 *
 *   The program ended normally after 10 s; thread 1 takes 1.48 times as long as the others in
 *   compute (a.c:12), and ideal balance would save 2.1 s.
 *
 *   end          exit status 0, after 10 s; 4 threads
 *   iterations   400 of 25 ms; none is slow
 *
 * Words of a row that do not fit into the line continue below the first one. */

/* Time in which none had a processor, and what slow iterations lost, is the answer from TSN_LEAST_LOST
 * of all on, as signs of the ledger are. So is time in which nobody ran, and what ideal balance of
 * threads or ranks would save, of the time that other programs left. The page has less anyway. */

/* Where threads wait for each other's processor, samples show up to some hundredths of the run as
 * time in which nobody ran. */
static const double least_rest = 0.05;

/* MPI_Init() of Open MPI sleeps for nearly as long. */
static const double start_of_ranks_s = 0.25;

/* ---- slow iterations: which, by how much, where, and why */

/* What slow iterations show: what runs beside the program, or a slower processor, may be why; or
 * it may not; or processor times have them, too, which what runs beside it does not change. */
enum { BESIDE, PROGRAM, PROCESSOR_TIME };

static int evidence_of(const tsanom_diagnosis_slow *s) {
  if (s->reason == TSANOM_DIAGNOSIS_REASON_READY || s->of_machine) return BESIDE;
  return s->of_processor ? PROCESSOR_TIME : PROGRAM;
}

/* Of what those of another evidence lost: less is a small part. */
static const double least_of_most = .2;

/* What is said of all of them: those with the most evidence that the program is why, if they are not
 * a small part of all. */
typedef struct {
  const tsanom_diagnosis_slow *first; /* NULL: none are known */
  double lost_s;
  int evidence;
} slow_shown;

/* Whether the slow iterations of a summary can be read. */
static tsanom_status check_slow(const tsanom_diagnosis_summary *s) {
  if (s->slow_count > s->slow_capacity) return TSANOM_E_COUNT;
  return s->slow || !s->slow_count ? TSANOM_OK : TSANOM_E_NULL;
}

static slow_shown show_slow(const tsanom_diagnosis_summary *s) {
  double lost[PROCESSOR_TIME + 1] = {0}, most = 0;
  slow_shown shown = {.evidence = PROCESSOR_TIME};
  for (size_t i = 0; i < s->slow_count; i++) {
    double *of = &lost[evidence_of(&s->slow[i])];
    *of += s->slow[i].lost_s;
    most = fmax(most, *of);
  }
  while (shown.evidence > BESIDE && !(lost[shown.evidence] > least_of_most * most)) {
    shown.evidence--;
  }
  for (size_t i = s->slow_count; i > 0; i--) {
    if (evidence_of(&s->slow[i - 1]) == shown.evidence) shown.first = &s->slow[i - 1];
  }
  shown.lost_s = lost[shown.evidence];
  return shown;
}

/* "3, 7-9, 20, 31 and 2 more" */
static void put_ranges(tsn_sentence *t, const tsanom_diagnosis_slow *s) {
  for (uint64_t i = 0; i < s->ranges && i < TSANOM_DIAGNOSIS_RANGES; i++) {
    unsigned long long first = s->range[i][0], last = s->range[i][1];
    tsn_put(t, i ? ", %llu" : "%llu", first);
    if (last > first) tsn_put(t, "-%llu", last);
  }
  if (s->ranges > TSANOM_DIAGNOSIS_RANGES)
    tsn_put(t, " and %llu more", (unsigned long long)s->ranges - TSANOM_DIAGNOSIS_RANGES);
}

static void put_times_as(tsn_sentence *t, double ratio, const char *of) {
  tsn_put_number(t, ratio);
  tsn_put(t, " times %s", of);
}

static void put_which(tsn_sentence *t, const tsanom_diagnosis_slow *s) {
  unsigned long long first = s->first, last = s->last, count = s->count,
                     of = s->iterations;
  bool since = s->kind == TSANOM_DIAGNOSIS_SLOW_SINCE;
  if (since || s->kind == TSANOM_DIAGNOSIS_SLOW_UNTIL) {
    tsn_put(t, since ? "since iteration %llu" : "until iteration %llu",
            since ? first : last + 1);
    if (s->place_low < s->place_high)
      tsn_put(t, " (between %zu and %zu)", s->place_low, s->place_high);
    tsn_put(t, " of %llu, iterations %s ", of, since ? "take" : "took");
    put_times_as(t, s->ratio, s->of_processor ? "the processor time" : "as long");
    return;
  }
  tsn_put(t, "%llu of %llu iterations (", count, of);
  if (s->kind == TSANOM_DIAGNOSIS_SLOW_RECURRING) {
    tsn_put(t, "every %llu from %llu", (unsigned long long)s->period, first);
  } else {
    put_ranges(t, s);
  }
  tsn_put(t, ") took ");
  put_times_as(t, s->ratio,
               s->of_processor ? "the processor time" : "as long as the others");
}

/* "since iteration 50 of 200, iterations take 2 times as long" */
static void put_iterations(tsn_sentence *t, const tsanom_diagnosis_slow *s) {
  static const char *const reasons[] = {
      [TSANOM_DIAGNOSIS_REASON_WORK] = "they had a processor",
      [TSANOM_DIAGNOSIS_REASON_READY] = "they waited for a processor",
      [TSANOM_DIAGNOSIS_REASON_READING] = "they waited for page faults with input",
      [TSANOM_DIAGNOSIS_REASON_BLOCKED] = "they slept or were blocked",
      [TSANOM_DIAGNOSIS_REASON_STOPPED] = "the program was stopped"};
  put_which(t, s);
  if (!isnan(s->low)) put_range(t, s->low, s->high);
  if (s->rank >= 0) tsn_put(t, ", on rank %d", s->rank);
  if (s->rank >= 0 && s->ranks > 1)
    tsn_put(t, " and %llu more", (unsigned long long)s->ranks - 1);
  if (s->region[0]) {
    tsn_put(t, ", in ");
    put_name(t, s->region);
  }
  if (s->thread >= 0) tsn_put(t, " of thread %d", s->thread);
  if (s->reason == TSANOM_DIAGNOSIS_REASON_FAULTS) {
    tsn_put(t, "; each had %.0f page faults more", s->faults);
  } else if (s->reason > TSANOM_DIAGNOSIS_REASON_UNKNOWN &&
             s->reason <= TSANOM_DIAGNOSIS_REASON_STOPPED) {
    tsn_put(t, "; %s", reasons[s->reason]);
  }
}

/* ---- the answer */

/* Iterations and seconds without a beat after which a program is not said to make progress. */
static const double silent_iterations = 10, silent_least_s = 1;

static bool is_silent(const tsanom_diagnosis_summary *s) {
  return s->iterations > 1 && s->silent_s > silent_least_s &&
         s->silent_s > silent_iterations * s->iteration_s;
}

static bool has_failed(const tsanom_diagnosis_summary *s) {
  return s->exit_code || s->state == TSANOM_RUN_KILLED;
}

/* Whether there are slow iterations that lost so much that they are an answer. */
static bool lost_much(const tsanom_diagnosis_summary *s, const slow_shown *slow) {
  return slow->first && slow->lost_s >= TSN_LEAST_LOST * s->seconds;
}

/* Whether nothing lost much but what recurs from the begin to the end, and computes: a program that
 * does more in each tenth step is made so. */
static bool is_usual(const tsanom_diagnosis_summary *s, const slow_shown *slow) {
  const tsanom_diagnosis_slow *f = slow->first;
  return f->kind == TSANOM_DIAGNOSIS_SLOW_RECURRING &&
         f->reason == TSANOM_DIAGNOSIS_REASON_WORK && f->first < 2 * f->period &&
         f->last + 2 * f->period >= f->iterations &&
         slow->lost_s - f->lost_s < TSN_LEAST_LOST * s->seconds;
}

/* Slow iterations that the program makes, and not what runs beside it. */
static bool is_slow(const tsanom_diagnosis_summary *s) {
  slow_shown slow = show_slow(s);
  int least = tsn_has_waited(s) ? PROCESSOR_TIME : PROGRAM;
  return lost_much(s, &slow) && slow.evidence >= least && !is_usual(s, &slow);
}

/* Seconds in which no work waited for a processor, or may not have. */
static double had_processor(const tsanom_diagnosis_summary *s) {
  const tsanom_diagnosis_window *w = &s->ledger.window[0];
  if (!s->accounted) return s->seconds;
  return isnan(w->ready_s) ? w->wall_s : w->wall_s - w->ready_s;
}

/* Whether balance would save enough of the time in which the run had processors. */
static bool is_much(const tsanom_diagnosis_summary *s, double saved_s) {
  return saved_s >= TSN_LEAST_LOST * had_processor(s);
}

static bool has_team(const tsanom_diagnosis_summary *s) {
  return s->team.members && !s->team.other_work &&
         is_much(s, s->team.saved_s - s->team.processor_s);
}

static bool is_job(const tsanom_diagnosis_summary *s) {
  return s->rank >= 0;
}

static bool has_rested(const tsanom_diagnosis_summary *s) {
  const tsanom_diagnosis_window *w = &s->ledger.window[0];
  double rest = w->nobody_s - (is_job(s) ? start_of_ranks_s : 0);
  return s->accounted && rest >= TSN_LEAST_LOST * had_processor(s) &&
         rest >= least_rest * w->wall_s;
}

/* Of what cost time, what cost most: as a share, because slow iterations are known in seconds of
 * the run, which beside other programs are several times those in which it had processors. */
static int32_t costliest(const tsanom_diagnosis_summary *s) {
  double slow = is_slow(s) ? show_slow(s).lost_s / s->seconds : 0;
  double team = has_team(s) ? s->team.saved_s / had_processor(s) : 0;
  double nobody = has_rested(s) ? s->ledger.window[0].nobody_s / had_processor(s) : 0;
  if (nobody > fmax(slow, team)) return TSANOM_DIAGNOSIS_NOBODY;
  if (team > slow) return TSANOM_DIAGNOSIS_TEAM;
  return slow > 0 ? TSANOM_DIAGNOSIS_SLOW : TSANOM_DIAGNOSIS_QUIET;
}

static int32_t answer_of(const tsanom_diagnosis_summary *s) {
  if (s->finding.cause != TSANOM_HSA_NORMAL) return TSANOM_DIAGNOSIS_FINDING;
  if (has_failed(s)) return TSANOM_DIAGNOSIS_ENDED;
  int32_t answer = costliest(s);
  if (answer != TSANOM_DIAGNOSIS_QUIET) return answer;
  if (s->grows) return TSANOM_DIAGNOSIS_GROWS;
  return tsn_has_waited(s) ? TSANOM_DIAGNOSIS_READY : TSANOM_DIAGNOSIS_QUIET;
}

static bool is_alarm(const tsanom_diagnosis_summary *s) {
  return has_failed(s) || has_team(s) || is_slow(s) || s->grows ||
         tsanom_diagnosis_cause_is_alarm(&s->finding);
}

tsanom_status tsanom_diagnosis_summary_answer(const tsanom_diagnosis_summary *summary,
                                              int32_t *answer, int32_t *alarm) {
  if (!summary || !answer || !alarm) return TSANOM_E_NULL;
  tsanom_status status = check_slow(summary);
  if (status < 0) return status;
  tsn_environment before = tsn_environment_enter();
  *answer = answer_of(summary);
  *alarm = is_alarm(summary);
  tsn_environment_leave(before);
  return TSANOM_OK;
}

/* ---- pieces of a summary */

enum { LINES = 24, COLUMNS = 100, LABEL = 13, ROW_BYTES = 2048 };

/* An eighth differs if it takes this many times the median of the eighths. */
static const double eighth_differs = 1.25;

/* To record one: 12 ns for a heartbeat, 12 to 25 for an event (docs/heartbeat.md, docs/mpi.md). */
static const double record_s = 25e-9;

static const char *plural(uint64_t count) {
  return count == 1 ? "" : "s";
}

static const char *member(const tsanom_diagnosis_summary *s) {
  return is_job(s) ? "rank" : "thread";
}

static void put_how(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  if (s->exit_code < 0 || s->state == TSANOM_RUN_KILLED) {
    put_end(t, s->exit_code);
  } else if (s->exit_code) {
    put_exited(t, s->exit_code);
  } else {
    tsn_put(t, "ended normally");
  }
}

/* What a program does before its run is said if it takes this many seconds, and this part of the run: the
 * command starts in less. */
static const double least_before_s = 0.5, least_before = 0.05;

static bool began_late(const tsanom_diagnosis_summary *s) {
  return s->before_s >= least_before_s && s->before_s >= least_before * s->seconds;
}

/* How long the program ran: "5.2 s (recorded: the last 1.09 s)". */
static void put_duration(tsn_sentence *t, const tsanom_diagnosis_summary *s,
                         double seconds) {
  bool is_late = began_late(s);
  put_time(t, seconds + (is_late ? s->before_s : 0));
  if (!is_late) return;
  tsn_put(t, " (recorded: the last ");
  put_time(t, seconds);
  tsn_put(t, ")");
}

/* How the program ended, or whether it makes progress. */
static void put_ending(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  bool failed = has_failed(s);
  unsigned long long runs = s->runs;
  if (s->state == TSANOM_RUN_UNKNOWN) {
    tsn_put(t, "The recording has ");
    put_time(t, s->seconds);
  } else if (!failed && s->ended < s->runs) {
    bool hangs = s->finding.cause == TSANOM_HSA_HANG;
    tsn_put(t, is_job(s) ? "The %llu ranks have run" : "The program has run", runs);
    bool beats = s->iterations > 1 && !is_silent(s);
    tsn_put(t, " for ");
    put_duration(t, s, s->seconds);
    tsn_put(t, " and %s%s%s",
            hangs   ? "hang"
            : beats ? "make"
                    : "continue",
            is_job(s) ? "" : "s", !hangs && beats ? " progress" : "");
    if (!hangs && is_silent(s)) {
      tsn_put(t, ", without an iteration for ");
      put_time(t, s->silent_s);
    }
  } else {
    if (is_job(s) && failed) {
      tsn_put(t, "Rank %d of %llu ", s->rank, runs);
    } else if (is_job(s)) {
      tsn_put(t, "The %llu ranks ", runs);
    } else {
      tsn_put(t, "The program ");
    }
    put_how(t, s);
    tsn_put(t, " after ");
    put_duration(t, s, failed ? s->ended_s : s->seconds);
  }
}

/* "thread 1 hangs: the thread has made no beat for 3 s" */
static void put_finding(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  char text[ROW_BYTES];
  const tsanom_diagnosis_finding *f = &s->finding;
  if (f->cause == TSANOM_HSA_NORMAL) return;
  tsn_put(t, "%s", tsanom_hsa_status_name(f->cause));
  if (s->finding_rank >= 0) tsn_put(t, " on rank %d", s->finding_rank);
  if (f->thread >= 0) {
    tsn_put(t, " in ");
    put_thread(t, f);
  }
  (void)tsanom_diagnosis_cause_text(f, TSANOM_DIAGNOSIS_CAUSE_EVIDENCE, text, sizeof text,
                                    NULL);
  tsn_put(t, ": %s", text);
}

/* Who differs, without what that costs. */
static void put_members(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  const tsanom_diagnosis_team *m = &s->team;
  bool one = m->members == 1;
  tsn_put(t, one ? "%s " : "the %ss like ", member(s));
  if (s->team_member) {
    put_name(t, s->team_member);
  } else {
    tsn_put(t, "%zu", m->first);
  }
  if (!one) tsn_put(t, " (%zu of %zu)", m->members, m->processes);
  if (isfinite(m->ratio)) {
    tsn_put(t, one ? " takes " : " take ");
    tsn_put_number(t, m->ratio);
    if (m->half_width > 0)
      put_range(t, fmax(0, m->ratio - m->half_width), m->ratio + m->half_width);
    tsn_put(t, " times as long as the other%s", plural(m->processes - m->members));
  } else {
    tsn_put(t, one ? " does all the work" : " do all the work");
  }
  if (s->team_region) {
    tsn_put(t, " in ");
    put_name(t, s->team_region);
  }
  if (m->other_work) tsn_put(t, ", perhaps of different work");
}

static void put_team(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  put_members(t, s);
  if (s->team.other_work) return;
  tsn_put(t, ", and ideal balance would save ");
  put_time(t, s->team.saved_s);
  if (!tsn_has_waited(s)) return;
  tsn_put(t, " of the ");
  put_seconds(t, had_processor(s));
  tsn_put(t, " without waiting for a processor");
}

/* With what speaks against a fault. */
static void put_whole_team(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  const tsanom_diagnosis_team *m = &s->team;
  if (is_much(s, m->saved_s)) {
    put_team(t, s);
    if (!m->other_work && !has_team(s)) tsn_put(t, ", as on a slower processor");
    return;
  }
  tsn_put(t, "ideal balance would save only ");
  put_time(t, m->saved_s);
  tsn_put(t, " of ");
  put_seconds(t, had_processor(s));
  tsn_put(t, tsn_has_waited(s) ? " without waiting for a processor: " : ": ");
  put_members(t, s);
}

static void put_growth(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  tsn_put(t, "memory ");
  if (is_job(s)) tsn_put(t, "of rank %d ", s->growth_rank);
  tsn_put(t, "grows until the end, by ");
  put_bytes(t, s->growth);
  tsn_put(t, " after the first fifth of the %s", s->iterations ? "iterations" : "beats");
}

/* ---- the verdict */

static bool is_normal(const tsanom_diagnosis_summary *s) {
  return s->judged && s->finding.cause == TSANOM_HSA_NORMAL;
}

/* Those that cost much, and that what runs beside the program or a slower processor may
 * explain. That a processor was waited for now and then says no more. */
static void put_explained(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  slow_shown slow = show_slow(s);
  bool waited = tsn_has_waited(s);
  if (!lost_much(s, &slow)) return;
  if (is_usual(s, &slow)) {
    tsn_put(t, "; ");
    put_iterations(t, slow.first);
    return;
  }
  if (waited ? slow.first->kind == TSANOM_DIAGNOSIS_SLOW_SINGLE : !slow.first->of_machine)
    return;
  tsn_put(t,
          waited ? "; this may explain that " : "; a slower processor may explain that ");
  put_iterations(t, slow.first);
}

/* What is there besides: none of it was found to be wrong. */
static void put_quiet(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  if (s->iterations > 1) {
    tsn_put(t, ": %llu iterations of ", (unsigned long long)s->iterations);
    put_time(t, s->iteration_s);
    if (s->searched && !s->slow_count) tsn_put(t, ", none of them slow");
    put_explained(t, s);
  } else {
    tsn_put(t, ": no iterations were found");
  }
  if (s->team.members && is_much(s, s->team.saved_s)) {
    tsn_put(t, "; ");
    put_whole_team(t, s);
  } else if (s->team.members) {
    tsn_put(t, "; its %zu %ss hardly differ", s->team.processes, member(s));
  } else if (s->team.processes > 1) {
    tsn_put(t, "; its %zu %ss do the same", s->team.processes, member(s));
  }
}

static void put_slow(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  put_iterations(t, show_slow(s).first);
}

/* Processes that a program started explain its rest if they worked for a tenth of it: a busy machine
 * leaves them little. */
static bool has_awaited(const tsanom_diagnosis_summary *s) {
  return s->children_s >= TSN_LEAST_LOST * s->ledger.window[0].nobody_s;
}

static void put_nobody(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  const tsanom_diagnosis_window *w = &s->ledger.window[0];
  if (has_awaited(s)) {
    tsn_put(t, "of ");
    put_seconds(t, w->wall_s);
    tsn_put(t, " it rested for ");
    put_seconds(t, w->nobody_s);
    tsn_put(t, ", in which processes that it started took ");
    put_seconds(t, s->children_s);
    tsn_put(t, " of processor time, and are not recorded");
  } else {
    tsn_put(t, "nobody ran for ");
    tsn_put_number(t, w->nobody_s);
    tsn_put(t, " of ");
    put_seconds(t, w->wall_s);
    tsn_put(t, ": asleep, blocked or stopped");
  }
  if (!tsn_has_waited(s)) return;
  tsn_put(t, "; for ");
  put_seconds(t, w->ready_s);
  tsn_put(t, " work was ready without a processor");
}

static void put_ready(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  const tsanom_diagnosis_window *w = &s->ledger.window[0];
  tsn_put(t, "work was ready without a processor for ");
  tsn_put_number(t, w->ready_s);
  tsn_put(t, " of ");
  put_seconds(t, w->wall_s);
  put_explained(t, s);
}

/* What the answers say, and commands to type next, which the path follows. */
static const struct {
  void (*put)(tsn_sentence *t, const tsanom_diagnosis_summary *s);
  const char *command;
} answers[] = {[TSANOM_DIAGNOSIS_QUIET] = {NULL, "tsanom compare --against OTHER-RUN "},
               [TSANOM_DIAGNOSIS_FINDING] = {put_finding, "tsanom watch "},
               [TSANOM_DIAGNOSIS_ENDED] = {NULL, "tsanom rate --vitals "},
               [TSANOM_DIAGNOSIS_TEAM] = {put_team, "tsanom similar "},
               [TSANOM_DIAGNOSIS_SLOW] = {put_slow, "tsanom slow "},
               [TSANOM_DIAGNOSIS_GROWS] = {put_growth, "tsanom rate --vitals "},
               [TSANOM_DIAGNOSIS_NOBODY] = {put_nobody, "tsanom rate --cpu "},
               [TSANOM_DIAGNOSIS_READY] = {put_ready, "tsanom rate --cpu "}};

/* What cost less than the answer, and is an alarm, too. */
static void put_others(tsn_sentence *t, const tsanom_diagnosis_summary *s,
                       int32_t answer) {
  bool cost = answer == TSANOM_DIAGNOSIS_TEAM || answer == TSANOM_DIAGNOSIS_SLOW ||
              answer == TSANOM_DIAGNOSIS_NOBODY;
  if (cost && answer != TSANOM_DIAGNOSIS_SLOW && is_slow(s)) {
    tsn_put(t, "; ");
    put_slow(t, s);
  }
  if (cost && answer != TSANOM_DIAGNOSIS_TEAM && has_team(s)) {
    tsn_put(t, "; ");
    put_team(t, s);
  }
  if (s->grows && answer != TSANOM_DIAGNOSIS_GROWS) {
    tsn_put(t, "; ");
    put_growth(t, s);
  }
}

static void put_verdict(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  int32_t answer = answer_of(s);
  put_ending(t, s);
  if (answer == TSANOM_DIAGNOSIS_QUIET) {
    put_quiet(t, s);
  } else if (answers[answer].put) {
    tsn_put(t, "; ");
    answers[answer].put(t, s);
  }
  put_others(t, s, answer);
  if (is_normal(s) && !has_failed(s)) tsn_put(t, "; normal by the model");
  tsn_put(t, ".");
}

/* ---- rows */

static void put_end_row(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  unsigned long long threads = s->threads, runs = s->runs, ended = s->ended;
  if (is_job(s)) {
    tsn_put(t, "%llu of %llu ranks ended, after at most ", ended, runs);
  } else if (s->ended) {
    put_how(t, s);
    tsn_put(t, ", after ");
  } else {
    bool runs_on = s->state == TSANOM_RUN_RUNNING;
    tsn_put(t, runs_on ? "still runs, for " : "not known, after ");
  }
  put_duration(t, s, s->seconds);
  tsn_put(t, "; %llu thread%s", threads, plural(s->threads));
  if (is_job(s)) tsn_put(t, " in a rank");
}

static void put_loop_row(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  if (s->iterations < 2) {
    tsn_put(t, "none were found");
    return;
  }
  tsn_put(t, "%llu of ", (unsigned long long)s->iterations);
  put_time(t, s->iteration_s);
  slow_shown slow = show_slow(s);
  if (slow.first) {
    tsn_put(t, "; ");
    put_iterations(t, slow.first);
    tsn_put(t, slow.first->of_machine ? "; the machine may be why (" : " (");
    put_time(t, slow.first->lost_s);
    tsn_put(t, " lost)");
  } else {
    tsn_put(t, s->searched ? "; none is slow" : "; slow ones were not searched for");
  }
}

static void put_ledger_row(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  char text[ROW_BYTES];
  if (!s->accounted) return;
  (void)tsanom_diagnosis_window_text(&s->ledger.window[0], text, sizeof text, NULL);
  tsn_put(t, s->accounted > 1 ? "%s (mean of the ranks)" : "%s", text);
}

/* The eighth of the beats that takes longest, against the median of all eighths. */
static void put_eighth_row(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  enum { FEW = 3 };
  const tsanom_diagnosis_window *w = s->ledger.window + 1;
  size_t longest = 0, shorter = 0;
  if (!s->accounted || s->iterations < TSN_PARTS) return;
  for (size_t i = 1; i < TSN_PARTS; i++) {
    if (w[i].wall_s > w[longest].wall_s) longest = i;
  }
  for (size_t i = 0; i < TSN_PARTS; i++) {
    shorter += w[i].wall_s * eighth_differs < w[longest].wall_s;
  }
  if (2 * shorter <= TSN_PARTS || w[longest].samples < FEW) return;
  char text[ROW_BYTES];
  (void)tsanom_diagnosis_window_text(&w[longest], text, sizeof text, NULL);
  tsn_put(t, "longest in eighth %zu, from ", longest + 1);
  put_seconds(t, w[longest].begin);
  tsn_put(t, " until ");
  put_seconds(t, w[longest].end);
  tsn_put(t, ": %s", text);
}

static void put_team_row(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  if (s->team.members) {
    put_whole_team(t, s);
  } else if (s->team.processes > 1) {
    tsn_put(t, "%zu, which do not differ by more than the noise of the run",
            s->team.processes);
  }
}

/* Of a program that did not end its recording, what its memory grew by since the last sample is
 * not known. */
static void put_memory_row(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  if (isnan(s->peak)) return;
  tsn_put(t, s->state == TSANOM_RUN_FINISHED ? "peak " : "peak at least ");
  put_bytes(t, s->peak);
  if (is_job(s)) tsn_put(t, " on rank %d", s->peak_rank);
  if (s->grows) {
    tsn_put(t, "; ");
    put_growth(t, s);
  } else if (!isnan(s->growth)) {
    tsn_put(t, "; grew by ");
    put_bytes(t, s->growth);
  }
}

static void put_records_row(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  tsn_put(t, "%llu heartbeats and events", (unsigned long long)s->records);
  tsn_put(t, ", about ");
  put_time(t, record_s * (double)s->records);
  tsn_put(t, " of processor time");
  if (!s->bytes) return;
  tsn_put(t, ", ");
  put_bytes(t, (double)s->bytes);
  tsn_put(t, " on disk");
}

static void put_finding_row(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  if (s->finding.cause != TSANOM_HSA_NORMAL) {
    put_finding(t, s);
  } else if (is_normal(s)) {
    tsn_put(t, "normal by the model");
  }
}

static const struct {
  const char *label, *of_job;
  void (*put)(tsn_sentence *t, const tsanom_diagnosis_summary *s);
} rows[] = {{"end", "end", put_end_row},
            {"found", "found", put_finding_row},
            {"iterations", "iterations", put_loop_row},
            {"time", "time", put_ledger_row},
            {"", "", put_eighth_row},
            {"threads", "ranks", put_team_row},
            {"memory", "memory", put_memory_row},
            {"recorded", "recorded", put_records_row}};

static void put_command(tsn_sentence *t, const tsanom_diagnosis_summary *s) {
  int32_t answer = answer_of(s);
  if (answer == TSANOM_DIAGNOSIS_FINDING &&
      (s->ended || s->finding.cause != TSANOM_HSA_HANG)) {
    put_next(t, &s->finding);
    return;
  }
  if (answer == TSANOM_DIAGNOSIS_ENDED &&
      s->iterations < 2) { /* which tsanom rate needs */
    tsn_put(t, "read what the program printed; a recording does not have it");
    return;
  }
  if (answer == TSANOM_DIAGNOSIS_NOBODY && has_awaited(s)) {
    tsn_put(t, "tsanom record -o OTHER-RUN -- PROGRAM, of a process that took long");
    return;
  }
  tsn_put(t, "%s%s", answers[answer].command, s->path ? s->path : "RUN");
}

/* ---- the page */

typedef struct {
  tsn_sentence *out;
  size_t lines;
} page;

static size_t columns_of(const char *text, size_t bytes) {
  size_t columns = 0;
  for (size_t i = 0; i < bytes; i++) columns += ((unsigned char)text[i] & 0xC0) != 0x80;
  return columns;
}

/* A row, in at most `most` lines in all of the page. */
static void add_row(page *p, const char *label, int indent, const char *text,
                    size_t most) {
  if (p->lines >= most) return;
  tsn_put(p->out, "%-*s", indent, label);
  p->lines++;
  size_t used = (size_t)indent;
  for (bool first = true; *text; first = false) {
    size_t bytes = strcspn(text, " "), columns = columns_of(text, bytes);
    if (!first && used + 1 + columns > COLUMNS) {
      if (p->lines == most) break;
      tsn_put(p->out, "\n%*s", indent, "");
      p->lines++;
      used = (size_t)indent;
    } else if (!first) {
      tsn_put(p->out, " ");
      used++;
    }
    tsn_put(p->out, "%.*s", (int)bytes, text);
    used += columns;
    text += bytes + (text[bytes] == ' ');
  }
  tsn_put(p->out, "\n");
}

static void add_put(page *p, const char *label, int indent, size_t most,
                    void (*put)(tsn_sentence *t, const tsanom_diagnosis_summary *s),
                    const tsanom_diagnosis_summary *s) {
  char text[ROW_BYTES] = "";
  tsn_sentence row = {.text = text, .size = sizeof text, .length = 0};
  put(&row, s);
  if (*text) add_row(p, label, indent, text, most);
}

static void put_page(tsn_sentence *out, const tsanom_diagnosis_summary *s) {
  enum { VERDICT = 6, NEXT = 2 };
  page p = {.out = out};
  add_put(&p, "", 0, VERDICT, put_verdict, s);
  add_row(&p, "", 0, "", LINES);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    add_put(&p, is_job(s) ? rows[i].of_job : rows[i].label, LABEL, LINES - NEXT,
            rows[i].put, s);
  }
  for (size_t i = 0; i < s->missing_count; i++) {
    add_row(&p, i ? "" : "not recorded", LABEL, s->missing[i], LINES - NEXT);
  }
  add_put(&p, "next", LABEL, LINES, put_command, s);
}

tsanom_status tsanom_diagnosis_summary_text(const tsanom_diagnosis_summary *summary,
                                            int32_t part, char *text, size_t size,
                                            size_t *length) {
  static void (*const parts[])(tsn_sentence *, const tsanom_diagnosis_summary *) = {
      [TSANOM_DIAGNOSIS_SUMMARY_PAGE] = put_page,
      [TSANOM_DIAGNOSIS_SUMMARY_VERDICT] = put_verdict,
      [TSANOM_DIAGNOSIS_SUMMARY_NEXT] = put_command,
      [TSANOM_DIAGNOSIS_SUMMARY_TEAM] = put_team_row};
  if (!summary || (!text && size > 0)) return TSANOM_E_NULL;
  if (!summary->missing && summary->missing_count) return TSANOM_E_NULL;
  tsanom_status status = check_slow(summary);
  if (status < 0) return status;
  int32_t cause = summary->finding.cause;
  int64_t slow = (int64_t)part - TSANOM_DIAGNOSIS_SUMMARY_SLOW;
  if (part < TSANOM_DIAGNOSIS_SUMMARY_PAGE || slow >= (int64_t)summary->slow_count ||
      cause < TSANOM_HSA_NORMAL || cause >= TSANOM_HSA_STATUSES) {
    return TSANOM_E_OPTION;
  }
  tsn_sentence s = {.text = text, .size = size, .length = 0};
  tsn_environment before = tsn_environment_enter();
  if (slow >= 0) {
    put_iterations(&s, &summary->slow[slow]);
  } else {
    parts[part](&s, summary);
  }
  tsn_environment_leave(before);
  return tsn_sentence_end(&s, length);
}
