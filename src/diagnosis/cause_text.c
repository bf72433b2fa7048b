/* SPDX-License-Identifier: BSD-3-Clause */
/* The evidence of a cause as an English sentence, for example
 *
 *     the process took 31.9 MiB of memory after the first fifth of its beats; reported above
 *     3 MiB; this thread has 0.31 page faults per beat, reported above 0.0002 */
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "core/environment.h"
#include "diagnosis/causes.h"
#include "hsa/sentence.h"

void tsn_put_bytes(tsn_sentence *s, double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    unit++;
  }
  tsn_put(s, "%.3g %s", bytes, units[unit]);
}

static void put_percent(tsn_sentence *s, double share) {
  tsn_put(s, "%.3g %%", 100 * share);
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
  tsn_put(s, "%.3g x", ratio);
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
  if (isnan(f->lost_s)) return;
  tsn_put(s, "; it cost ");
  tsn_put_time(s, f->lost_s);
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
      tsn_put(s, "the thread never beat; the busiest thread beat %llu times", normal);
      return;
    default:
      tsn_put(s, "the thread stopped after %llu beats, the busiest thread made %llu, ",
              beats, normal);
      put_percent(s, f->value);
      tsn_put(s, " of them after that thread stopped");
      put_limits(s, f, put_percent);
      return;
  }
  if (normal) tsn_put(s, "; the longest normal run has %llu", normal);
}

/* A silence, or of contention one that a missing processor explains. */
static void put_gap(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  bool paused = f->detail == TSANOM_DIAGNOSIS_DETAIL_PAUSED;
  bool begins = f->thread < 0; /* before the first beat */
  tsn_put(s, begins   ? "the program did not begin to beat for "
             : paused ? "the thread did not beat for "
                      : "the thread has not beaten for ");
  tsn_put_time(s, f->value);
  if (paused) tsn_put(s, ", and then went on");
  put_times(s, f);
  put_limits(s, f, tsn_put_time);
  if (f->threads) {
    tsn_put(s,
            f->threads > 1 ? "; %llu other threads wait for it"
                           : "; %llu other thread waits for it",
            (unsigned long long)f->threads);
  }
}

static void put_contention(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  if (f->sign == TSANOM_DIAGNOSIS_SIGN_GAP) {
    put_gap(s, f);
    tsn_put(s, "; it was ready but without a processor for ");
    tsn_put_time(s, f->ready_s);
    return;
  }
  tsn_put(s, "work was ready but without a processor for ");
  put_percent(s, f->value);
  tsn_put(s, " of the time of a normal run longer than there");
  put_times(s, f);
  put_limits(s, f, put_percent);
  put_lost(s, f);
  if (f->detail == TSANOM_DIAGNOSIS_DETAIL_PROCESSORS) {
    tsn_put(s, "; the program may use %llu %s, in the normal runs %llu",
            (unsigned long long)f->processors,
            f->processors == 1 ? "processor" : "processors",
            (unsigned long long)f->normal_processors);
  }
}

static const char *kind_of_time(const tsanom_diagnosis_finding *f) {
  return f->detail == TSANOM_DIAGNOSIS_DETAIL_BEATS ? "time" : "processor time";
}

static void put_slowdown(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  bool is_blocked = f->detail == TSANOM_DIAGNOSIS_DETAIL_BLOCKED;
  if (is_blocked) {
    tsn_put(s, "nobody ran (asleep, blocked or stopped) for ");
    put_percent(s, f->value);
    tsn_put(s, " of the time of a normal run longer than there");
  } else {
    tsn_put(s, "an iteration takes ");
    put_ratio(s, f->value);
    tsn_put(s, " the %s of normal runs", kind_of_time(f));
  }
  put_times(s, f);
  put_limits(s, f, is_blocked ? put_percent : put_ratio);
  put_lost(s, f);
}

static void put_imbalance(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  tsn_put(s, "against the other threads, it takes ");
  put_ratio(s, f->value);
  tsn_put(s, " the %s that it has in normal runs", kind_of_time(f));
  put_times(s, f);
  put_limits(s, f, put_ratio);
  put_lost(s, f);
}

static void put_leak(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  tsn_put(s, "the process took ");
  tsn_put_bytes(s, f->value);
  tsn_put(s, f->sign == TSANOM_DIAGNOSIS_SIGN_EARLY
                 ? " of memory in the first fifth of its beats"
                 : " of memory after the first fifth of its beats");
  if (f->detail != TSANOM_DIAGNOSIS_DETAIL_FAULTS) put_limits(s, f, tsn_put_bytes);
  if (isnan(f->faults)) return;
  tsn_put(s, "; this thread has %.3g page faults per beat, reported above %.3g",
          f->faults, f->faults_limit);
}

static void put_evidence(tsn_sentence *s, const tsanom_diagnosis_finding *f) {
  switch (f->cause) {
    case TSANOM_HSA_MEMORY_LEAK:
      put_leak(s, f);
      break;
    case TSANOM_HSA_SHUTDOWN:
      put_shutdown(s, f);
      break;
    case TSANOM_HSA_HANG:
      put_gap(s, f);
      break;
    case TSANOM_HSA_CONTENTION:
      put_contention(s, f);
      break;
    case TSANOM_HSA_IMBALANCE:
      put_imbalance(s, f);
      break;
    case TSANOM_HSA_SLOWDOWN:
      put_slowdown(s, f);
      break;
    case TSANOM_HSA_UNKNOWN:
      tsn_put(s, "the run has %llu beats; at least %llu are needed",
              (unsigned long long)f->beats, (unsigned long long)f->normal_beats);
      break;
    case TSANOM_HSA_WAITING:
      put_gap(s, f);
      tsn_put(s, ", while another thread has a cause");
      break;
    default:
      put_incomparable(s, f);
  }
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
  (part == TSANOM_DIAGNOSIS_CAUSE_NEXT ? tsn_put_next : put_evidence)(&s, cause);
  tsn_environment_leave(before);
  return tsn_sentence_end(&s, length);
}
