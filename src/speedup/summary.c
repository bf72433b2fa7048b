/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop whose iterations are known: the statistics of answers.c, and a prediction with
 * the interval of interval.c. */
#include "speedup/summary.h"

#include <math.h>

#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"

static size_t events_of(const tsanom_dpd_iteration *iteration) {
  return iteration->end - iteration->first;
}

/* When iteration i ends. */
static double end_of(const tsn_summary *s, size_t i) {
  size_t end = s->iteration[i].end;
  bool goes_on = i + 1 < s->iterations && s->iteration[i + 1].first == end;
  return goes_on ? s->event[end].begin : s->event[end - 1].end;
}

tsanom_speedup_iteration tsn_summary_iteration(const tsn_summary *s, size_t i) {
  const tsanom_dpd_iteration *place = &s->iteration[i];
  tsanom_speedup_iteration made = {
      .start = s->loop.start,
      .period = events_of(place),
      .number = i,
      .begin = s->event[place->first].begin,
      .threads = 1,
  };
  made.seconds = end_of(s, i) - made.begin;
  for (size_t e = place->first; e < place->end; e++) {
    made.parallel += s->event[e].end - s->event[e].begin;
    if (s->event[e].threads > made.threads) made.threads = s->event[e].threads;
  }
  return made;
}

/* Add up the iterations and runs. Returns the iterations of the latest run if it may be
 * going on: no more events have followed than the longest iteration has. */
static uint64_t add_up(tsn_summary *s) {
  tsn_loop *loop = &s->loop;
  size_t events = 0, longest = 0;
  uint64_t now = 0;
  loop->start = s->event[s->iteration->first].region;
  for (size_t i = 0; i < s->iterations; i++) {
    tsanom_speedup_iteration iteration = tsn_summary_iteration(s, i);
    bool goes_on = i && s->iteration[i - 1].end == s->iteration[i].first;
    if (!goes_on && loop->runs++) {
      loop->last_run = now;
      loop->between += iteration.begin - loop->last;
    }
    now = goes_on ? now + 1 : 1;
    tsn_loop_add(loop, &iteration, end_of(s, i));
    if (s->options.visit) s->options.visit(s->options.visit_user, &iteration);
    events += iteration.period;
    longest = tsn_larger(longest, iteration.period);
  }
  size_t n = tsn_larger(s->iterations, 1);
  loop->period = (events + n / 2) / n;
  if (s->count - s->iteration[s->iterations - 1].end <= longest) return now;
  loop->last_run = now;
  return 0;
}

static tsanom_status check(const tsn_summary *s, const tsanom_exec *exec) {
  enum { LONG = TSANOM_E_OVERFLOW };
  tsanom_status status;
  if ((status = tsn_require_size(exec, LONG, "count", s->count, 0,
                                 PTRDIFF_MAX / sizeof *s->event)) < 0 ||
      (status = tsn_require_size(exec, LONG, "iteration_count", s->iterations, 0,
                                 PTRDIFF_MAX / sizeof *s->iteration)) < 0 ||
      (status = tsn_speedup_check_all(exec, "events", s->event, s->count)) < 0) {
    return status;
  }
  size_t end = 0;
  for (size_t i = 0; i < s->iterations; i++) {
    const tsanom_dpd_iteration *place = &s->iteration[i];
    if (place->first < end || place->end <= place->first || place->end > s->count) {
      return tsn_reject_is(exec, TSANOM_E_INDEX, "iterations", i,
                           "[%zu, %zu); a part, not empty, of [%zu, %zu) is expected",
                           place->first, place->end, end, s->count);
    }
    end = place->end;
  }
  return TSANOM_OK;
}

static tsanom_status read_call(tsn_summary *s, const tsanom_speedup_options *options,
                               const tsanom_exec *caller, tsanom_exec *exec) {
  tsanom_speedup_options usual;
  tsanom_status status = tsn_exec_read(exec, caller);
  if (status < 0) return status;
  status = tsn_speedup_options_read(&s->options, options, exec);
  if (status < 0) return status;
  (void)tsn_speedup_options_read(&usual, NULL, exec);
  if ((status = tsn_speedup_unused(exec, "options.max_period", s->options.max_period,
                                   usual.max_period)) < 0 ||
      (status = tsn_speedup_unused(exec, "options.capacity", s->options.capacity,
                                   usual.capacity)) < 0 ||
      (status = tsn_require_array(exec, s->event, s->count, "events")) < 0 ||
      (status = tsn_require_array(exec, s->iteration, s->iterations, "iterations")) < 0) {
    return status;
  }
  return tsn_require_size(exec, TSANOM_E_COUNT, "iteration_count", s->iterations, 1,
                          SIZE_MAX);
}

static tsanom_status predict(const tsn_summary *s, uint64_t now, uint64_t expected,
                             tsanom_speedup_prediction *p) {
  double latest = s->event[s->count - 1].end;
  tsanom_status status = tsn_loop_predict(&s->loop, now, expected, latest, p);
  if (status != TSANOM_OK) return status;
  tsn_summary_predict(s, expected, p);
  if (!p->drifts) p->remaining_s = fmax(0, p->total_s - latest);
  return TSANOM_OK;
}

tsanom_status tsanom_speedup_summarize(const tsanom_speedup_event *events, size_t count,
                                       const tsanom_dpd_iteration *iterations,
                                       size_t iteration_count,
                                       const tsanom_speedup_options *options,
                                       uint64_t expected, const tsanom_exec *exec,
                                       tsanom_speedup_loop *loop,
                                       tsanom_speedup_prediction *prediction) {
  tsn_summary s = {.event = events,
                   .count = count,
                   .iteration = iterations,
                   .iterations = iteration_count};
  tsanom_exec own;
  tsanom_speedup_prediction p;
  tsanom_status status = read_call(&s, options, exec, &own);
  if (status < 0) return status;
  if ((status = tsn_require(&own, loop, "loop")) < 0) return status;
  if (prediction)
    status = tsn_struct_check(&own, &tsn_prediction_type, prediction, "prediction");
  if (status < 0) return status;
  if ((status = check(&s, &own)) < 0) return status;
  tsn_environment before = tsn_environment_enter();
  uint64_t now = add_up(&s);
  tsn_loop_describe(&s.loop, s.options.baseline, loop);
  status = prediction ? predict(&s, now, expected, &p) : TSANOM_OK;
  tsn_environment_leave(before);
  if (prediction && status == TSANOM_OK) {
    tsn_versioned_write(&tsn_prediction_type, prediction, &p);
  }
  return status;
}
