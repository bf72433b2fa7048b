/* SPDX-License-Identifier: BSD-3-Clause */
/* Learning the normal ranges of signs. Each normal run is measured after each eighth of
 * the beats of the longest one, as if it had been observed until then:
 *
 *   run 0   |----|----|----|----|----|----|----|----|
 *   run 1   |----|----|----|----|--|                     its end stands for later parts
 *   part       0    1    2    3    4    5    6    7
 *
 * A running program has the same part of the work behind it as the normal runs that it is
 * compared with, whatever a program does in its phases. */
#include <math.h>
#include <string.h>

#include "core/size.h"
#include "core/versioned.h"
#include "diagnosis/causes.h"

static const tsanom_diagnosis_normal empty_normal = {.struct_size = sizeof empty_normal,
                                                     .misfit = TSANOM_NONE};

static const tsn_versioned normal_type = {.size = sizeof(tsanom_diagnosis_normal),
                                          .first_size = sizeof(tsanom_diagnosis_normal),
                                          .defaults = &empty_normal};

typedef struct {
  tsanom_exec exec;
  const tsanom_hsa_run *runs;
  size_t run_count, thread_count;
  double coverage;
  tsanom_diagnosis_normal *normal;
  tsanom_hsa_series *series;     /* of a run that is cut */
  tsanom_diagnosis_signs *signs; /* of thread t of run i at i * thread_count + t */
  double *sample;
  tsn_ledger_training ledger;
} training;

static void layout(tsn_arena *arena, void *context) {
  training *l = context;
  size_t all;
  if (__builtin_mul_overflow(l->run_count, l->thread_count, &all)) arena->overflow = true;
  l->series = tsn_arena_take(arena, l->thread_count, sizeof *l->series);
  l->signs = tsn_arena_take(arena, all, sizeof *l->signs);
  l->sample = tsn_arena_take(arena, l->run_count, sizeof *l->sample);
  l->ledger.runs_count = l->run_count;
  l->ledger.threads = l->thread_count;
  tsn_ledger_training_layout(arena, &l->ledger);
}

size_t tsn_diagnosis_busiest(const tsanom_hsa_run *run) {
  size_t busiest = 0;
  for (size_t t = 1; t < run->thread_count; t++) {
    if (run->threads[t].beats > run->threads[busiest].beats) busiest = t;
  }
  return busiest;
}

tsanom_hsa_run tsn_cut_run(const tsanom_hsa_run *run, double time,
                           tsanom_hsa_series *series) {
  tsanom_hsa_run cut = *run;
  cut.end = time;
  cut.state = TSANOM_RUN_RUNNING;
  cut.vital_count = tsn_samples_until(run->vital, run->vital_count, time);
  cut.threads = series;
  for (size_t t = 0; t < run->thread_count; t++) {
    series[t] = run->threads[t];
    series[t].beats = tsn_diagnosis_beats_until(&run->threads[t], time);
    series[t].vital_count =
        tsn_samples_until(series[t].vital, series[t].vital_count, time);
  }
  return cut;
}

/* The run as it was when its busiest thread had that number of beats. */
static tsanom_hsa_run cut_run(const tsanom_hsa_run *run, uint64_t beats,
                              tsanom_hsa_series *series) {
  const tsanom_hsa_series *busiest = &run->threads[tsn_diagnosis_busiest(run)];
  if (busiest->beats <= beats) return *run;
  return tsn_cut_run(run, busiest->time[beats - 1], series);
}

static void learn_part(const training *l, size_t part) {
  size_t threads = l->thread_count;
  uint64_t beats = (l->normal->beats * (part + 1) + TSANOM_DIAGNOSIS_PARTS - 1) /
                   TSANOM_DIAGNOSIS_PARTS;
  for (size_t i = 0; i < l->run_count; i++) {
    tsanom_hsa_run cut = cut_run(&l->runs[i], beats, l->series);
    tsn_diagnosis_measure(&cut, l->signs + i * threads);
  }
  for (size_t t = 0; t < threads; t++) {
    tsanom_hsa_range *range =
        l->normal->range + (part * threads + t) * TSANOM_DIAGNOSIS_SIGNS;
    for (int32_t s = 0; s < TSANOM_DIAGNOSIS_SIGNS; s++) {
      size_t count = 0;
      for (size_t i = 0; i < l->run_count; i++) {
        if (t >= l->runs[i].thread_count) continue;
        l->sample[count++] = l->signs[i * threads + t].value[s];
      }
      range[s] = tsn_diagnosis_sign_range(s, l->sample, count, l->coverage);
    }
  }
}

/* The mean share of time without a processor; the signs are those of the whole runs. */
static double find_load(const training *l) {
  double sum = 0, count = 0;
  for (size_t i = 0; i < l->run_count; i++) {
    for (size_t t = 0; t < l->runs[i].thread_count; t++) {
      double wait = l->signs[i * l->thread_count + t].value[TSANOM_DIAGNOSIS_SIGN_WAIT];
      if (isnan(wait)) continue;
      sum += wait;
      count++;
    }
  }
  return count > 0 ? sum / count : NAN;
}

/* A name that all runs have; else empty. */
static void keep_common_name(char *to, size_t size, const char *name, bool is_first) {
  if (!name || (!is_first && strncmp(to, name, size - 1) != 0)) {
    *to = '\0';
  } else if (is_first) {
    (void)strncpy(to, name, size - 1);
    to[size - 1] = '\0';
  }
}

static void describe_runs(const training *l, tsanom_diagnosis_normal *normal) {
  normal->thread_count = l->thread_count;
  normal->run_count = l->run_count;
  normal->fewest = UINT64_MAX;
  for (size_t i = 0; i < l->run_count; i++) {
    const tsanom_hsa_run *run = &l->runs[i];
    uint64_t beats = run->threads[tsn_diagnosis_busiest(run)].beats;
    if (beats > normal->beats) normal->beats = beats;
    if (beats < normal->fewest) normal->fewest = beats;
    keep_common_name(normal->program, sizeof normal->program, run->program, i == 0);
    keep_common_name(normal->machine, sizeof normal->machine, run->machine, i == 0);
  }
}

static void learn_ledger(training *l) {
  size_t count = tsn_ledger_numbers(l->thread_count);
  if (!l->normal->ledger) return;
  if (tsn_ledger_can_learn(l->runs, l->run_count)) {
    l->ledger.runs = l->runs;
    l->ledger.model = tsn_model_of(l->normal);
    tsn_ledger_learn(&l->ledger);
    tsn_model_write(&l->ledger.model, l->normal);
    l->normal->misfit = l->ledger.misfit;
    if (tsn_model_is_valid(l->normal)) return;
  }
  l->normal->misfit = TSANOM_NONE;
  for (size_t i = 0; i < count; i++) l->normal->ledger[i] = 0;
}

static tsanom_status body(void *context) {
  training *l = context;
  for (size_t i = 0; i < l->run_count; i++) {
    tsanom_status status = tsn_diagnosis_check_vitals(&l->runs[i], "runs", i, &l->exec);
    if (status < 0) return status;
  }
  for (size_t part = 0; part < TSANOM_DIAGNOSIS_PARTS; part++) {
    if (tsn_exec_stop(&l->exec, part, TSANOM_DIAGNOSIS_PARTS)) return TSANOM_STOPPED;
    learn_part(l, part);
  }
  l->normal->load = find_load(l);
  learn_ledger(l);
  return l->run_count < 3 ? TSANOM_PARTIAL : TSANOM_OK;
}

/* Whether an array of the struct has the elements that these threads need; SIZE_MAX: none
 * has. */
static tsanom_status check_array(const tsanom_exec *exec, const char *name, size_t count,
                                 size_t threads, size_t needed) {
  if (count >= needed && needed < SIZE_MAX) return TSANOM_OK;
  return tsn_reject_is(exec, TSANOM_E_COUNT, name, TSANOM_NONE,
                       "%zu; at least %zu, for %zu threads, is expected", count, needed,
                       threads);
}

static tsanom_status check_ranges(const tsanom_diagnosis_normal *n, size_t threads,
                                  const tsanom_exec *exec) {
  size_t needed;
  if (__builtin_mul_overflow(
          threads, (size_t)TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS, &needed)) {
    needed = SIZE_MAX;
  }
  return check_array(exec, "normal.range_count", n->range_count, threads, needed);
}

static tsanom_status check_ledger(const tsanom_diagnosis_normal *n, size_t threads,
                                  const tsanom_exec *exec) {
  if (!n->ledger && n->ledger_count) {
    return tsn_reject_null(exec, "normal.ledger", n->ledger_count);
  }
  if (!n->ledger) return TSANOM_OK;
  return check_array(exec, "normal.ledger_count", n->ledger_count, threads,
                     tsn_ledger_numbers(threads));
}

/* Whether the result fits into the caller's arrays. */
static tsanom_status check(void *context) {
  const training *l = context;
  if (!l->normal->range) {
    return tsn_reject_null(&l->exec, "normal.range", l->normal->range_count);
  }
  tsanom_status status = check_ranges(l->normal, l->thread_count, &l->exec);
  return status < 0 ? status : check_ledger(l->normal, l->thread_count, &l->exec);
}

static tsanom_status read_runs(training *l) {
  tsanom_status status = tsn_hsa_check_runs(l->runs, l->run_count, &l->exec);
  if (status < 0) return status;
  if (!(isgreater(l->coverage, 0) && isless(l->coverage, 1))) {
    return tsn_reject_value(&l->exec, TSANOM_E_OPTION, "coverage", TSANOM_NONE,
                            TSANOM_NONE, l->coverage,
                            "more than 0 and less than 1 is expected");
  }
  for (size_t i = 0; i < l->run_count; i++) {
    l->thread_count = tsn_larger(l->thread_count, l->runs[i].thread_count);
  }
  return TSANOM_OK;
}

/* Ranges are written into the caller's memory only when all runs are known to be valid,
 * and a call that the poll stopped says so by its status. */
tsanom_status tsanom_diagnosis_learn_normal(const tsanom_hsa_run *runs, size_t run_count,
                                            double coverage, const tsanom_exec *exec,
                                            tsanom_diagnosis_normal *normal) {
  training l = {.runs = runs, .run_count = run_count, .coverage = coverage};
  tsanom_status status = tsn_exec_read(&l.exec, exec);
  if (status < 0) return status;
  status = tsn_struct_check(&l.exec, &normal_type, normal, "normal");
  if (status < 0) return status;
  if ((status = read_runs(&l)) < 0) return status;
  tsanom_diagnosis_normal own = {.struct_size = sizeof own,
                                 .range = normal->range,
                                 .range_count = normal->range_count,
                                 .ledger = normal->ledger,
                                 .ledger_count = normal->ledger_count,
                                 .misfit = TSANOM_NONE};
  describe_runs(&l, &own);
  l.normal = &own;
  status = tsn_workspace_run(&l.exec, layout, check, body, &l);
  if (status == TSANOM_OK || status == TSANOM_PARTIAL) {
    tsn_versioned_write(&normal_type, normal, &own);
  }
  return status;
}

tsanom_status tsn_diagnosis_read_normal(tsanom_diagnosis_normal *own,
                                        const tsanom_diagnosis_normal *caller,
                                        const tsanom_exec *exec) {
  if (!caller) return tsn_reject_null(exec, "normal", TSANOM_NONE);
  tsanom_status status = tsn_struct_read(exec, &normal_type, own, caller, "normal");
  if (status < 0) return status;
  status = tsn_require_size(exec, TSANOM_E_COUNT, "normal.thread_count",
                            own->thread_count, 1, SIZE_MAX);
  if (status < 0) return status;
  status = tsn_require_size(exec, TSANOM_E_COUNT, "normal.run_count", own->run_count, 1,
                            SIZE_MAX);
  return status < 0 ? status : check_ranges(own, own->thread_count, exec);
}

/* A file that a program loaded may be damaged. */
tsanom_status tsn_diagnosis_check_normal(const tsanom_diagnosis_normal *own,
                                         const tsanom_exec *exec) {
  size_t count = own->thread_count * TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS;
  if (!own->range) return tsn_reject_null(exec, "normal.range", count);
  if (memchr(own->program, 0, sizeof own->program) == NULL ||
      memchr(own->machine, 0, sizeof own->machine) == NULL) {
    return tsn_reject_is(exec, TSANOM_E_FORMAT, "normal.program", TSANOM_NONE,
                         "not terminated, or normal.machine; a 0 is expected");
  }
  for (size_t i = 0; i < count; i++) {
    double low = own->range[i].low, high = own->range[i].high;
    if (isnan(low) || isnan(high)) {
      return tsn_reject_value(exec, TSANOM_E_NONFINITE, "normal.range", i, TSANOM_NONE,
                              NAN, "two numbers are expected");
    }
    if (low > high) {
      return tsn_reject_is(exec, TSANOM_E_FORMAT, "normal.range", i,
                           "from %.9g to %.9g; low <= high is expected", low, high);
    }
  }
  tsanom_status status = check_ledger(own, own->thread_count, exec);
  if (status < 0 || !own->ledger || tsn_model_is_valid(own)) return status;
  return tsn_reject_is(exec, TSANOM_E_FORMAT, "normal.ledger", TSANOM_NONE,
                       "not what learning writes; finite numbers are expected, and no "
                       "time or count below 0");
}
