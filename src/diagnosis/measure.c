/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_diagnosis_measure(): the checks of a run with vital signs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/environment.h"
#include "diagnosis/causes.h"

/* A time that is NaN has no order. */
static size_t first_disorder(const tsanom_hsa_vital *vital, size_t count) {
  double last = -INFINITY;
  for (size_t i = 0; i < count; i++) {
    if (vital[i].time < last) return i;
    if (!isnan(vital[i].time)) last = vital[i].time;
  }
  return count;
}

static tsanom_status check_samples(const tsanom_hsa_vital *vital, size_t count,
                                   const char *name, size_t thread,
                                   const tsanom_exec *exec) {
  if (!count) return TSANOM_OK;
  if (!vital) {
    return tsn_reject_is(exec, TSANOM_E_NULL, name, thread,
                         "NULL; an array of %zu is expected", count);
  }
  size_t i = first_disorder(vital, count);
  if (i == count) return TSANOM_OK;
  return tsn_reject_pair_is(exec, TSANOM_E_ORDER, name, thread, i,
                            "at %.9g; a time that is not before the last sample is "
                            "expected",
                            vital[i].time);
}

tsanom_status tsn_diagnosis_check_vitals(const tsanom_hsa_run *run, const char *name,
                                         size_t i, const tsanom_exec *exec) {
  char argument[64], threads[64];
  tsanom_status status = tsn_hsa_check_run(run, name, i, exec);
  if (status == TSANOM_OK &&
      (run->state < TSANOM_RUN_UNKNOWN || run->state > TSANOM_RUN_RUNNING)) {
    status = tsn_reject_field_is(exec, TSANOM_E_OPTION, name, "state", i,
                                 "%d; %d to %d is expected", run->state,
                                 TSANOM_RUN_UNKNOWN, TSANOM_RUN_RUNNING);
  }
  if (status == TSANOM_OK && !isfinite(run->end)) {
    status = tsn_reject_field_is(exec, TSANOM_E_NONFINITE, name, "end", i,
                                 "%s; a finite time is expected",
                                 isnan(run->end) ? "NaN" : "infinite");
  }
  if (status < 0) return status;
  (void)snprintf(argument, sizeof argument, "%s.vital", name);
  status = check_samples(run->vital, run->vital_count, argument, i, exec);
  (void)snprintf(argument, sizeof argument, "%s.threads.vital", name);
  (void)snprintf(threads, sizeof threads, "%s.threads", name);
  for (size_t t = 0; t < run->thread_count && status == TSANOM_OK; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    tsn_hsa_place place = {exec, i == TSANOM_NONE ? threads : name, i, t};
    status = tsn_hsa_check_series(&place, s, run->start, SIZE_MAX);
    if (status == TSANOM_OK) {
      status = check_samples(s->vital, s->vital_count, argument, t, exec);
    }
  }
  return status;
}

size_t tsn_diagnosis_processors(const char *machine, const char **name) {
  static const char separator[] = " x ";
  char *end;
  *name = machine;
  if (!machine || *machine < '0' || *machine > '9') return 0;
  unsigned long count = strtoul(machine, &end, 10);
  if (strncmp(end, separator, strlen(separator)) != 0) return 0;
  *name = end + strlen(separator);
  return (size_t)count;
}

tsanom_status tsanom_diagnosis_measure(const tsanom_hsa_run *run, const tsanom_exec *exec,
                                       tsanom_diagnosis_signs *signs) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  if (!run) return tsn_reject_null(&own, "run", TSANOM_NONE);
  if (!signs) return tsn_reject_null(&own, "signs", run->thread_count);
  tsn_environment before = tsn_environment_enter();
  status = tsn_diagnosis_check_vitals(run, "run", TSANOM_NONE, &own);
  if (status == TSANOM_OK) tsn_diagnosis_measure(run, signs);
  tsn_environment_leave(before);
  return status;
}
