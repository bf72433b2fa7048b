/* SPDX-License-Identifier: BSD-3-Clause */
#include "vitals.h"

#include <math.h>

static double cpu_of(const tsanom_hsa_vital *v) {
  return v->cpu_s;
}

static double wait_of(const tsanom_hsa_vital *v) {
  return v->wait_s;
}

static double resident_of(const tsanom_hsa_vital *v) {
  return v->resident;
}

/* By how much a number changed within the window, and in which time; NaN: not known. */
typedef struct {
  double amount, seconds, last;
} change;

static change find_change(const tsanom_hsa_vital *v, size_t count,
                          double (*number)(const tsanom_hsa_vital *)) {
  const tsanom_hsa_vital *last = NULL;
  change found = {NAN, NAN, NAN};
  size_t first = count > VITALS_WINDOW ? count - VITALS_WINDOW : 0;
  for (size_t i = count; i-- > first;) {
    if (isnan(number(&v[i])) || isnan(v[i].time)) continue;
    if (!last) last = &v[i];
    if (v[i].task != last->task) break;
    found = (change){number(last) - number(&v[i]), last->time - v[i].time, number(last)};
  }
  return found;
}

vital_signs vitals_now(const watched *w) {
  change memory = find_change(w->run.vital, w->run.vital_count, resident_of);
  change cpu = find_change(w->run.vital, w->run.vital_count, cpu_of);
  double waits = 0, runs = 0;
  for (size_t t = 0; t < w->threads; t++) {
    const tsanom_hsa_series *s = &w->run.threads[t];
    change ready = find_change(s->vital, s->vital_count, wait_of);
    change used = find_change(s->vital, s->vital_count, cpu_of);
    if (isnan(ready.amount) || isnan(used.amount)) continue;
    waits += ready.amount;
    runs += used.amount;
  }
  return (vital_signs){
      .resident = memory.last,
      .growth = memory.seconds > 0 ? memory.amount / memory.seconds : NAN,
      .cpu = cpu.seconds > 0 ? cpu.amount / cpu.seconds : NAN,
      .wait = waits + runs > 0 ? waits / (waits + runs) : NAN};
}
