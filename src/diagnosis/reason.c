/* SPDX-License-Identifier: BSD-3-Clause */
/* The evidence of a cause as an English sentence, for example
 *
 *     the process took 31.9 MiB of memory after the first fifth of its beats, normally at
 *     most 3 MiB; this thread has 0.31 page faults per beat, normally at most 0.0002 */
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "core/environment.h"
#include "diagnosis/causes.h"
#include "hsa/sentence.h"

static void put_bytes(tsn_sentence *s, double bytes) {
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

static void put_time(tsn_sentence *s, double seconds) {
  static const char *const units[] = {"s", "ms", "us", "ns"};
  int unit = 0;
  while (fabs(seconds) < 1 && seconds != 0 && unit < 3) {
    seconds *= 1000;
    unit++;
  }
  tsn_put(s, "%.3g %s", seconds, units[unit]);
}

static void put_faults(tsn_sentence *s, const tsanom_hsa_cause *c) {
  if (isnan(c->number[0])) return;
  tsn_put(s, "; this thread has %.3g page faults per beat, normally at most %.3g",
          c->number[0], c->number[1]);
}

static void put_incomparable(tsn_sentence *s, const tsanom_hsa_cause *c) {
  switch (c->detail) {
    case TSANOM_HSA_DETAIL_PROGRAM:
      tsn_put(s, "the run is of another program than the normal runs");
      break;
    case TSANOM_HSA_DETAIL_MACHINE:
      tsn_put(s, "the run is from another machine than the normal runs");
      break;
    case TSANOM_HSA_DETAIL_THREADS:
      tsn_put(s, "the run has %.0f threads, the normal runs have %.0f", c->value,
              c->range.high);
      break;
    default:
      tsn_put(s, "the model has no ranges to compare with");
  }
}

/* "was killed by signal 9 (SIGKILL)" */
static void put_end(tsn_sentence *s, double code) {
  static const struct {
    int number;
    const char *name;
  } signals[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
                 {SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
                 {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"}, {SIGSEGV, "SIGSEGV"},
                 {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
                 {SIGXCPU, "SIGXCPU"}, {SIGSYS, "SIGSYS"}};
  if (isnan(code)) {
    tsn_put(s, "ended without ending its recording");
  } else if (code > 0) {
    tsn_put(s, "exited with status %.0f without ending its recording", code);
  } else {
    tsn_put(s, "was killed by signal %.0f", -code);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
      if (signals[i].number == -code) tsn_put(s, " (%s)", signals[i].name);
    }
  }
}

static void put_shutdown(tsn_sentence *s, const tsanom_hsa_cause *c) {
  switch (c->detail) {
    case TSANOM_HSA_DETAIL_KILLED:
      tsn_put(s, "the program ");
      put_end(s, c->number[0]);
      if (!isnan(c->value)) tsn_put(s, ", after %.0f beats", c->value);
      if (isfinite(c->range.high)) {
        tsn_put(s, "; the longest normal run has %.0f", c->range.high);
      }
      break;
    case TSANOM_HSA_DETAIL_EXIT:
      if (c->value >= TSANOM_EXIT_INSIDE) {
        tsn_put(s, "the program exited inside a parallel region with status %.0f",
                c->value - TSANOM_EXIT_INSIDE);
      } else {
        tsn_put(s, "the program exited with status %.0f, normally at most %.0f", c->value,
                c->range.high);
      }
      tsn_put(s, ", after %.0f beats; the longest normal run has %.0f", c->number[0],
              c->number[1]);
      break;
    case TSANOM_HSA_DETAIL_SHORT:
      tsn_put(s, "the run ends after %.0f beats; the longest normal run has %.0f",
              c->value, c->range.high);
      break;
    case TSANOM_HSA_DETAIL_NEVER:
      tsn_put(s, "the thread never beat; the busiest thread beat %.0f times",
              c->range.high);
      break;
    default:
      tsn_put(s, "the thread stopped after %.0f beats, the busiest thread made %.0f, ",
              c->number[0], c->number[1]);
      put_percent(s, c->value);
      tsn_put(s, " of them after that thread stopped; normally at most ");
      put_percent(s, c->range.high);
  }
}

static void put_hang(tsn_sentence *s, const tsanom_hsa_cause *c) {
  bool paused = c->detail == TSANOM_HSA_DETAIL_PAUSED;
  if (c->sign == TSANOM_HSA_SIGN_BLOCKED_GAP) {
    tsn_put(s, "between two beats, the thread was asleep or blocked for ");
  } else {
    tsn_put(s,
            paused ? "the thread did not beat for " : "the thread has not beaten for ");
  }
  put_time(s, c->value);
  tsn_put(s, paused ? ", and then went on; normally at most " : ", normally at most ");
  put_time(s, c->range.high);
  if (c->waiting) {
    tsn_put(s,
            c->waiting > 1 ? "; %llu other threads wait for it"
                           : "; %llu other thread waits for it",
            (unsigned long long)c->waiting);
  }
}

static void put_ratio(tsn_sentence *s, const tsanom_hsa_cause *c, const char *what) {
  tsn_put(s, "%s is %.3g times that of the other threads, normally %.3g to %.3g", what,
          c->value, c->range.low, c->range.high);
}

static void put_per_beat(tsn_sentence *s, const tsanom_hsa_cause *c) {
  bool cpu = c->sign == TSANOM_HSA_SIGN_CPU_QUARTILE;
  tsn_put(s, cpu ? "a beat takes " : "beats are ");
  put_time(s, c->value);
  tsn_put(s, cpu ? " of processor time, normally " : " apart, normally ");
  put_time(s, c->range.low);
  tsn_put(s, " to ");
  put_time(s, c->range.high);
}

static void put_slowdown(tsn_sentence *s, const tsanom_hsa_cause *c) {
  if (c->sign == TSANOM_HSA_SIGN_BLOCKED) {
    tsn_put(s, "it was asleep, blocked or stopped for ");
    put_percent(s, c->value);
    tsn_put(s, " of the time; reported above ");
    put_percent(s, c->range.high);
    return;
  }
  put_per_beat(s, c);
  if (c->detail == TSANOM_HSA_DETAIL_FAULTS) put_faults(s, c);
  if (c->detail == TSANOM_HSA_DETAIL_NO_CPU) {
    tsn_put(s, "; its processor time is not known");
  }
  if (c->detail == TSANOM_HSA_DETAIL_BLOCKED) {
    tsn_put(s, "; its processor time per beat is normal: it waits for a processor for ");
    put_percent(s, c->number[0]);
    tsn_put(s, " of its active time, and is asleep or blocked for ");
    put_percent(s, c->number[1]);
    tsn_put(s, " of all time");
  }
}

static void put_evidence(tsn_sentence *s, const tsanom_hsa_cause *c) {
  switch (c->cause) {
    case TSANOM_HSA_MEMORY_LEAK:
      tsn_put(s, "the process took ");
      put_bytes(s, c->value);
      tsn_put(s, " of memory after the first fifth of its beats, normally at most ");
      put_bytes(s, c->range.high);
      put_faults(s, c);
      break;
    case TSANOM_HSA_SHUTDOWN:
      put_shutdown(s, c);
      break;
    case TSANOM_HSA_HANG:
      put_hang(s, c);
      break;
    case TSANOM_HSA_CONTENTION:
      if (c->detail == TSANOM_HSA_DETAIL_PROCESSORS) {
        tsn_put(s, "the program may use %.0f %s, in the normal runs %.0f", c->value,
                c->value == 1 ? "processor" : "processors", c->range.high);
        break;
      }
      if (c->sign == TSANOM_HSA_SIGN_SILENCE) {
        put_hang(s, c);
        tsn_put(s, "; it was ready but without a processor for ");
        put_time(s, c->number[0]);
        break;
      }
      tsn_put(s, "the thread was ready but without a processor for ");
      put_percent(s, c->value);
      tsn_put(s, " of its active time, normally at most ");
      put_percent(s, c->range.high);
      break;
    case TSANOM_HSA_IMBALANCE:
      put_ratio(s, c,
                c->sign == TSANOM_HSA_SIGN_TEAM_CPU ? "its processor time per beat"
                                                    : "its time between beats");
      break;
    case TSANOM_HSA_SLOWDOWN:
      put_slowdown(s, c);
      break;
    case TSANOM_HSA_UNKNOWN:
      tsn_put(s, "the run has %.0f beats; at least %.0f are needed", c->value,
              ceil(c->range.high));
      break;
    case TSANOM_HSA_WAITING:
      if (c->sign == TSANOM_HSA_SIGN_INTERVAL ||
          c->sign == TSANOM_HSA_SIGN_CPU_QUARTILE) {
        put_per_beat(s, c);
      } else {
        put_hang(s, c);
      }
      tsn_put(s, ", while another thread has a cause");
      break;
    default:
      put_incomparable(s, c);
  }
}

tsanom_status tsanom_hsa_cause_text(const tsanom_hsa_cause *cause, char *text,
                                    size_t size, size_t *length) {
  if (!cause || (!text && size > 0)) return TSANOM_E_NULL;
  if (cause->cause <= TSANOM_HSA_NORMAL || cause->cause >= TSANOM_HSA_STATUSES) {
    return TSANOM_E_OPTION;
  }
  tsn_sentence s = {.text = text, .size = size, .length = 0};
  tsn_environment before = tsn_environment_enter();
  put_evidence(&s, cause);
  tsn_environment_leave(before);
  if (length) *length = s.length;
  return s.length < size ? TSANOM_OK : TSANOM_PARTIAL;
}
