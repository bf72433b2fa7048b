/* SPDX-License-Identifier: BSD-3-Clause */
/* The watch: options, memory, and the checks of a piece of a run. */
#include "diagnosis/watch.h"

#include <math.h>
#include <string.h>

#include "core/environment.h"
#include "core/size.h"
#include "core/versioned.h"

static const tsanom_diagnosis_watch_options defaults = {.struct_size = sizeof defaults};

static const tsn_versioned options_type = {
    .size = sizeof(tsanom_diagnosis_watch_options),
    .first_size = sizeof(tsanom_diagnosis_watch_options),
    .defaults = &defaults};

tsanom_status tsanom_diagnosis_watch_options_init(tsanom_diagnosis_watch_options *options,
                                                  size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* ---- memory */

typedef struct {
  tsanom_exec exec;
  size_t threads, ranges, numbers;
  tsanom_diagnosis_normal normal; /* the caller's; thread_count 0: none */
  tsanom_diagnosis_watch own;
  tsanom_diagnosis_watch *watch, **wanted;
  double *rings, *marks;
  tsn_gap *gaps;
  tsanom_hsa_vital *samples;
} frame;

/* Anomalies of earlier updates and their successors may all be in the list, of which each
 * has another cause or thread. A number of threads for which `causes` overflows is too large
 * for the beats, too. */
static void layout(tsn_arena *arena, void *context) {
  frame *f = context;
  size_t n = f->threads;
  size_t causes = n * TSN_WATCH_CAUSES_EACH + TSN_WATCH_CAUSES_OF_RUN;
  f->watch = tsn_arena_take(arena, 1, sizeof *f->watch);
  f->own.thread = tsn_arena_take(arena, n, sizeof *f->own.thread);
  f->own.scratch =
      tsn_arena_take(arena, TSANOM_DIAGNOSIS_WATCH_INTERVALS, sizeof *f->own.scratch);
  f->own.sums =
      tsn_arena_take(arena, TSANOM_DIAGNOSIS_WATCH_SAMPLES, sizeof *f->own.sums);
  f->own.signs = tsn_arena_take(arena, n, sizeof *f->own.signs);
  f->own.series = tsn_arena_take(arena, n, sizeof *f->own.series);
  f->own.points.thread = tsn_arena_take(arena, n, sizeof *f->own.points.thread);
  f->own.search.cause = tsn_arena_take(arena, causes, sizeof *f->own.search.cause);
  f->own.verdict = tsn_arena_take(arena, causes, sizeof *f->own.verdict);
  f->own.search.ledger.threads = n;
  tsn_inquiry_layout(arena, &f->own.search.ledger);
  f->own.anomaly = tsn_arena_take(arena, causes, 2 * sizeof *f->own.anomaly);
  f->own.normal.range = tsn_arena_take(arena, f->ranges, sizeof *f->own.normal.range);
  f->own.normal.ledger = tsn_arena_take(arena, f->numbers, sizeof *f->own.normal.ledger);
  f->rings = tsn_arena_take(arena, n, TSN_WATCH_RING * sizeof *f->rings);
  f->marks = tsn_arena_take(arena, n, TSN_WATCH_MARKS * sizeof *f->marks);
  f->gaps = tsn_arena_take(arena, n, TSN_GAPS_EACH * sizeof *f->gaps);
  f->samples =
      tsn_arena_take(arena, n + 1, TSANOM_DIAGNOSIS_WATCH_SAMPLES * sizeof *f->samples);
}

/* Of a caller who asks for the size, the arrays of the ranges may be missing. */
static tsanom_status read_normal(const tsanom_diagnosis_normal *normal, frame *f) {
  tsanom_status status = tsn_diagnosis_read_normal(&f->normal, normal, &f->exec);
  if (status < 0) return status;
  f->ranges = f->normal.thread_count * TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS;
  f->numbers = f->normal.ledger_count ? tsn_ledger_numbers(f->normal.thread_count) : 0;
  return status;
}

static tsanom_status check(void *context) {
  const frame *f = context;
  if (!f->wanted) return tsn_reject_null(&f->exec, "watch", TSANOM_NONE);
  return f->normal.thread_count ? tsn_diagnosis_check_normal(&f->normal, &f->exec)
                                : TSANOM_OK;
}

static void start(frame *f) {
  tsanom_diagnosis_watch *w = &f->own;
  const tsanom_diagnosis_normal *normal = &f->normal;
  tsanom_hsa_range *ranges = w->normal.range;
  double *ledger = w->normal.ledger;
  w->normal = *normal;
  w->normal.range = ranges;
  w->normal.ledger = normal->ledger ? ledger : NULL;
  if (normal->range) memcpy(ranges, normal->range, f->ranges * sizeof *ranges);
  if (normal->ledger) memcpy(ledger, normal->ledger, f->numbers * sizeof *ledger);
  w->stride = 1;
  w->points = tsn_points_begin(&f->watch->normal, w->points.thread);
  w->pauses = (tsn_pauses){.first = 0};
  w->longest_gap = 0;
  if (tsn_has_ledger(&w->normal)) {
    tsn_model model = tsn_model_of(&w->normal);
    w->pauses = model.pauses;
    w->longest_gap = model.longest_gap;
  }
  w->capacity = f->threads;
  w->first = INFINITY;
  w->last = -INFINITY;
  w->vital = (tsn_watch_samples){.kept = f->samples, .stride = 1};
  for (size_t t = 0; t < f->threads; t++) {
    w->points.thread[t] = (tsn_point_thread){.made = 0};
    w->thread[t] = (tsn_watch_thread){
        .pulse = {.last = NAN, .rate = NAN, .limit = INFINITY},
        .limit = INFINITY,
        .ring = f->rings + t * TSN_WATCH_RING,
        .mark = f->marks + t * TSN_WATCH_MARKS,
        .gap = f->gaps + t * TSN_GAPS_EACH,
        .vital = {.kept = f->samples + (t + 1) * TSANOM_DIAGNOSIS_WATCH_SAMPLES,
                  .stride = 1},
        .since = NAN};
  }
  *f->watch = *w;
}

tsanom_status tsanom_diagnosis_watch_create(size_t thread_count,
                                            const tsanom_diagnosis_normal *normal,
                                            const tsanom_diagnosis_watch_options *options,
                                            const tsanom_exec *exec,
                                            tsanom_diagnosis_watch **watch) {
  frame f = {.threads = thread_count, .wanted = watch};
  tsanom_status status = tsn_exec_read(&f.exec, exec);
  if (status < 0) return status;
  status = thread_count ? TSANOM_E_OVERFLOW : TSANOM_E_COUNT;
  status = tsn_require_size(&f.exec, status, "thread_count", thread_count, 1, INT32_MAX);
  if (status < 0) return status;
  if (normal && (status = read_normal(normal, &f)) < 0) return status;
  status = tsn_struct_read(&f.exec, &options_type, &f.own.options, options, "options");
  if (status < 0) return status;
  double hang = f.own.options.hang;
  if (!isgreaterequal(hang, 0) || isinf(hang)) {
    return tsn_reject_value(&f.exec, TSANOM_E_OPTION, "options.hang", TSANOM_NONE,
                            TSANOM_NONE, hang, "at least 0 and finite is expected");
  }
  status = tsn_object_create(&f.exec, layout, check, &f, &f.own.owner);
  if (status < 0) return status;
  start(&f);
  *watch = f.watch;
  return TSANOM_OK;
}

/* The owner is copied first: it lies in the block that is released. */
void tsanom_diagnosis_watch_destroy(tsanom_diagnosis_watch *watch) {
  if (!watch) return;
  tsn_object owner = watch->owner;
  tsn_object_release(&owner);
}

/* ---- a whole run */

tsanom_status tsn_watch_whole_bytes(const tsanom_exec *exec, const tsanom_hsa_run *run,
                                    const tsanom_diagnosis_normal *normal,
                                    size_t *bytes) {
  tsanom_exec ask = tsn_exec_asking(exec, bytes);
  return tsn_asked(
      tsanom_diagnosis_watch_create(run->thread_count, normal, NULL, &ask, NULL));
}

tsanom_status tsn_watch_whole(const tsanom_exec *exec, tsn_piece *piece,
                              const tsanom_hsa_run *run,
                              const tsanom_diagnosis_normal *normal,
                              tsanom_diagnosis_watch **watch) {
  tsanom_exec own = tsn_exec_in_piece(exec, piece);
  tsanom_hsa_run now = *run;
  now.state = TSANOM_RUN_RUNNING;
  now.end = fmax(tsn_run_end(run), run->start);
  tsanom_status status =
      tsanom_diagnosis_watch_create(now.thread_count, normal, NULL, &own, watch);
  if (status < 0) return status;
  tsn_watch_feed(*watch, &now);
  tsn_watch_judge(*watch, &now);
  return TSANOM_OK;
}

/* ---- updates */

tsanom_status tsanom_diagnosis_watch_update(tsanom_diagnosis_watch *watch,
                                            const tsanom_hsa_run *news,
                                            const tsanom_exec *exec,
                                            const tsanom_diagnosis_anomaly **anomalies,
                                            size_t *count) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  if (!watch) return tsn_reject_null(&own, "watch", TSANOM_NONE);
  if (!news) return tsn_reject_null(&own, "news", TSANOM_NONE);
  if (!anomalies) return tsn_reject_null(&own, "anomalies", TSANOM_NONE);
  if (!count) return tsn_reject_null(&own, "count", TSANOM_NONE);
  tsn_environment before = tsn_environment_enter();
  status = tsn_diagnosis_check_vitals(news, "news", TSANOM_NONE, &own);
  if (status == TSANOM_OK && news->thread_count > watch->capacity) {
    status = tsn_reject_is(&own, TSANOM_E_COUNT, "news.thread_count", TSANOM_NONE,
                           "%zu; the watch was made for at most %zu", news->thread_count,
                           watch->capacity);
  }
  if (status == TSANOM_OK) {
    watch->waits = false;
    tsn_watch_feed(watch, news);
    tsn_watch_judge(watch, news);
    *anomalies = watch->anomaly;
    *count = watch->anomalies;
  }
  tsn_environment_leave(before);
  return status;
}

tsanom_status tsanom_diagnosis_watch_pulse(const tsanom_diagnosis_watch *watch,
                                           size_t thread, tsanom_diagnosis_pulse *pulse) {
  if (!watch || !pulse) return TSANOM_E_NULL;
  if (thread >= watch->threads) return TSANOM_E_INDEX;
  *pulse = watch->thread[thread].pulse;
  pulse->status = tsn_watch_status(watch, thread);
  return TSANOM_OK;
}
