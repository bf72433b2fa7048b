/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the summary of a run that one process has: its beats and vital signs. */
#include "summary.h"

#include <stdlib.h>

#include "diagnosis.h"
#include "rows.h"

void summary_free(run_summary *s) {
  for (size_t i = 0; i < s->missing_count; i++) free(s->missing[i]);
  free(s->missing);
  free(s->about.slow_of);
  free(s->team_text);
  similarity_free(&s->team);
  beats_free(&s->b);
  *s = (run_summary){0};
}

/* What the beats and vital signs of an open process say. */
static int summarize(const char *path, int32_t rank, const beats *b,
                     const tsanom_runs_info *info, const owned_model *m,
                     const tsanom_exec *exec, run_summary *s, failure *why) {
  tsanom_diagnosis_summary *about = &s->about;
  diagnosis d = {.path = path};
  uint64_t before = about->iterations;
  double iteration_s = about->iteration_s;
  int32_t in_call = -1;
  if (b->run.state != TSANOM_RUN_FINISHED && rank >= 0)
    (void)tsanom_runs_in_call(b->source, NULL, &in_call);
  if (m && diagnosis_causes(m, &b->run, exec, &d, why)) {
    diagnosis_free(&d);
    return -1;
  }
  about->slow = b->no_iterations ? NULL : s->slow;
  about->slow_capacity = SLOW_MOST;
  about->activities = tsanom_runs_activities;
  about->source = b->source;
  tsanom_status status =
      tsanom_diagnosis_summarize(&b->run, rank, in_call, d.cause, d.causes, exec, about);
  about->slow = s->slow;
  diagnosis_free(&d);
  if (status < 0) return fail_status(why, file_title(path), status);
  if (b->no_iterations) {
    about->iterations = before;
    about->iteration_s = iteration_s;
  } else if (b->complete != TSANOM_NONE) {
    about->iterations = before > b->complete ? before : b->complete;
  }
  about->records += info->beats + info->events;
  return 0;
}

int summary_add_process(const char *path, int32_t rank, const owned_model *m,
                        const tsanom_exec *exec, int salvage, tsanom_runs_info *info,
                        run_summary *s, failure *why) {
  beats_free(&s->b);
  if (beats_read_parts(path, 0, exec, salvage, &s->b, why)) return -1;
  *info = (tsanom_runs_info){.struct_size = sizeof *info};
  tsanom_status status = tsanom_runs_describe(s->b.source, info);
  if (status < 0) return fail_status(why, file_title(path), status);
  if (s->draws && rank < 0 && !s->b.no_iterations) {
    s->about.slow_of = calloc(beats_most(&s->b) + 1, sizeof *s->about.slow_of);
    if (!s->about.slow_of) return fail(why, "out of memory");
  }
  return beats_check_numbers(&s->b, path, why) ||
                 summarize(path, rank, &s->b, info, m, exec, s, why)
             ? -1
             : 0;
}

int summary_search(const char *path, const beats *b, run_summary *s, failure *why) {
  tsanom_runs_info info = {.struct_size = sizeof info};
  tsanom_status status = tsanom_runs_describe(b->source, &info);
  if (status < 0) return fail_status(why, file_title(path), status);
  return summarize(path, -1, b, &info, NULL, NULL, s, why);
}
