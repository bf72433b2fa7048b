/* SPDX-License-Identifier: BSD-3-Clause */
/* The power of a model, as a line such as
 *
 *   found in 95 %: slowdown 1.4 x, imbalance 1.25 x, waiting for a processor 15 %, nobody
 *   runs 11 %, memory leak 3 MiB (0.7 MiB per 10,000 beats), of the first fifth behind its
 *   first sample 3 MiB, pause 0.25 s
 *
 * and warnings if it is of no use. */
#include "power.h"

#include <math.h>
#include <stdio.h>

#include "failure.h"
#include "report.h"

static const double mebibyte = 1 << 20;

/* Effects that nobody would need a model to see. */
static const tsanom_diagnosis_power useless = {.slowdown = 2,
                                               .imbalance = 2,
                                               .contention = 0.9,
                                               .blocked = 0.9,
                                               .leak = 1 << 30,
                                               .hang = 60};

static void print_effect(const char *before, const char *name, double value, double unit,
                         const char *symbol) {
  if (isfinite(value)) {
    printf("%s%s %.3g%s", before, name, value / unit, symbol);
  } else {
    printf("%s%s never", before, name);
  }
}

void power_print(const tsanom_diagnosis_normal *normal) {
  tsanom_diagnosis_power p;
  if (tsanom_diagnosis_normal_power(normal, &p) < 0) return;
  print_effect("\nfound in 95 %: ", "slowdown", p.slowdown, 1, " x");
  if (normal->thread_count > 1) print_effect(", ", "imbalance", p.imbalance, 1, " x");
  print_effect(", ", "waiting for a processor", p.contention, 0.01, " %");
  print_effect(", ", "nobody runs", p.blocked, 0.01, " %");
  print_effect(", ", "memory leak", p.leak, mebibyte, " MiB");
  if (isfinite(p.leak) && normal->beats) {
    printf(" (%.3g MiB per 10,000 beats)",
           p.leak / mebibyte / (0.8 * (double)normal->beats) * 1e4);
  }
  if (isfinite(p.early)) {
    print_effect(", ", "of the first fifth behind its first sample", p.early, mebibyte,
                 " MiB");
  }
  print_effect(", ", "pause", p.hang, 1, " s");
  if (isfinite(p.more_runs)) {
    printf("\nfurther normal runs until half of that slowdown is found: %.0f",
           p.more_runs);
  }
  printf("\nload: ");
  if (isnan(normal->load)) {
    printf("not known\n");
  } else {
    printf("the normal runs waited for a processor %.3g %% of their active time\n",
           100 * normal->load);
  }
}

static void warn_of(const char *cause, double value, double limit, const char *unit,
                    double scale) {
  failure why;
  if (!(value > limit)) return;
  if (isinf(value)) {
    fail(&why, "%s is never reported: it is part of the normal runs", cause);
  } else {
    fail(&why,
         "the normal runs differ much: %s is reported only from %.3g%s; record more "
         "normal runs under equal conditions",
         cause, value / scale, unit);
  }
  warn(&why);
}

/* Runs without vital signs, such as CSV files, cannot have a power of which these decide:
 * the line about the power says so. */
void power_warn(const tsanom_diagnosis_normal *normal) {
  tsanom_diagnosis_power p;
  if (tsanom_diagnosis_normal_power(normal, &p) < 0) return;
  warn_of("a slowdown", p.slowdown, useless.slowdown, " times", 1);
  if (normal->thread_count > 1) {
    warn_of("an imbalance", p.imbalance, useless.imbalance, " times", 1);
  }
  warn_of("a pause", p.hang, useless.hang, " s", 1);
  if (isnan(normal->load)) return;
  warn_of("contention", p.contention, useless.contention, " %", 0.01);
  warn_of("a blocked program", p.blocked, useless.blocked, " %", 0.01);
  warn_of("a memory leak", p.leak, useless.leak, " MiB", mebibyte);
}
