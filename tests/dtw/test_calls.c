/* SPDX-License-Identifier: BSD-3-Clause */
/* Promises of all functions: memory, rejections, and results of a run that was stopped.
 */
#include <math.h>
#include <stdlib.h>

#define REAL f64
#define SERIES tsanom_series
#define TWIN(name) name
#define API(name) name
#include "calls.h"
#define REAL f32
#define SERIES tsanom_series_f32
#define TWIN(name) name##_f32
#define API(name) name##_f32
#include "calls.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/polls.h"
#include "support/random.h"

static tsanom_status run_medoid(const call_input *in, call_output *out) {
  tsanom_series set = series_of(in->f64, in->lengths, CALL_SERIES);
  return tsanom_dtw_medoid(&set, &in->options, &in->exec, OUT(&, count), OUT(, f64));
}

/* From the 32.5 that the output is filled with. */
static tsanom_status run_barycenter(const call_input *in, call_output *out) {
  tsanom_series set = series_of(in->f64, in->lengths, CALL_SERIES);
  return tsanom_dtw_barycenter(&set, in->longest, 100, 1e-3, &in->path_options, &in->exec,
                               OUT(, f64), OUT(&, f64[2 * CALL_LONGEST]));
}

static const struct {
  const char *name;
  run_call *run;
} calls[] = {
    {"distance", run_distance},
    {"distance_f32", run_distance_f32},
    {"path", run_path},
    {"path_f32", run_path_f32},
    {"one_to_many", run_one_to_many},
    {"one_to_many_f32", run_one_to_many_f32},
    {"condensed", run_condensed},
    {"condensed_f32", run_condensed_f32},
    {"cross", run_cross},
    {"cross_f32", run_cross_f32},
    {"medoid", run_medoid},
    {"barycenter", run_barycenter},
};

/* The series of `in`, of one length or of many. */
static void draw(call_input *in, uint64_t *seed, bool one_length) {
  *in = (call_input){.longest = 0};
  tsanom_dtw_options_init(&in->options, sizeof in->options);
  tsanom_dtw_options_init(&in->path_options, sizeof in->path_options);
  tsanom_exec_init(&in->exec, sizeof in->exec);
  size_t length = random_between(seed, 1, CALL_LONGEST);
  for (size_t k = 0; k < CALL_SERIES; k++) {
    if (!one_length) length = random_between(seed, 1, CALL_LONGEST);
    double *f64 = malloc(length * sizeof *f64);
    float *f32 = malloc(length * sizeof *f32);
    for (size_t i = 0; i < length; i++) {
      f64[i] = random_unit(seed);
      f32[i] = (float)f64[i];
    }
    in->f64[k] = f64;
    in->f32[k] = f32;
    in->lengths[k] = length;
    if (length > in->longest) in->longest = length;
  }
}

static void drop(call_input *in) {
  for (size_t k = 0; k < CALL_SERIES; k++) {
    free((void *)in->f64[k]);
    free((void *)in->f32[k]);
  }
}

static bool is_untouched(const call_output *out) {
  call_output fresh;
  call_output_fill(&fresh);
  return memcmp(out, &fresh, sizeof fresh) == 0;
}

/* Run in a workspace of `bytes` at `work`; NULL: the allocator. */
static tsanom_status run_in(size_t c, const call_input *in, void *work, size_t bytes,
                            call_output *out) {
  call_input own = *in;
  own.exec.work = work;
  own.exec.work_bytes = bytes;
  return calls[c].run(&own, out);
}

/* What the call needs, of which it has the counts alone. */
static size_t ask(size_t c, const call_input *in) {
  size_t bytes = 0;
  call_input counts = *in;
  memset(counts.f64, 0, sizeof counts.f64);
  memset(counts.f32, 0, sizeof counts.f32);
  counts.exec = ask_exec(&in->exec, &bytes);
  CHECK_STATUS(calls[c].run(&counts, NULL), TSANOM_E_WORKSPACE);
  return bytes;
}

/* With a workspace of exactly the size that the call asks for. A size that is too small is
 * rejected, and never replaced by an allocation. */
static void check_workspace(size_t c, const call_input *in, const test_allocator *a,
                            size_t shift, call_output *out) {
  size_t bytes = ask(c, in);
  unsigned char *block = malloc(bytes + shift);
  memset(block, 0xFF, bytes + shift); /* NaN: nothing is read before it is written */
  call_output_fill(out);
  CHECK_STATUS(run_in(c, in, block + shift, 1, out), TSANOM_E_WORKSPACE);
  CHECK_STATUS(run_in(c, in, block + shift, bytes - 1, out), TSANOM_E_WORKSPACE);
  cr_assert(is_untouched(out), "%s", calls[c].name);
  CHECK_STATUS(run_in(c, in, block + shift, bytes, out), TSANOM_OK);
  cr_assert(a->calls == 0, "%s allocates", calls[c].name);
  free(block);
}

/* Without one: every allocation fails in turn. */
static void check_allocator(size_t c, const call_input *in, test_allocator *a,
                            const call_output *expected) {
  call_output out;
  tsanom_status status = TSANOM_E_MEMORY;
  call_output_fill(&out);
  for (size_t fail_at = 1; status == TSANOM_E_MEMORY; fail_at++) {
    cr_assert(is_untouched(&out), "%s", calls[c].name);
    *a = (test_allocator){.fail_at = fail_at};
    status = run_in(c, in, NULL, 0, &out);
    cr_assert(a->live == 0, "%s leaks", calls[c].name);
  }
  CHECK_STATUS(status, TSANOM_OK);
  cr_assert(a->calls == 1, "%s allocates %zu blocks", calls[c].name, a->calls);
  cr_assert(memcmp(&out, expected, sizeof out) == 0, "%s", calls[c].name);
}

Test(dtw_calls, memory_is_the_workspace_or_one_block) {
  uint64_t seed = 1;
  for (int trial = 0; trial < 24; trial++) {
    call_input in;
    draw(&in, &seed, trial % 2);
    in.path_options.path_memory = trial / 2 % 2;
    test_allocator allocator = {0};
    in.exec = test_exec(&allocator);
    in.exec.threads = 1 + trial % 3;
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
      call_output out;
      allocator = (test_allocator){0};
      check_workspace(c, &in, &allocator, (size_t)trial % 5, &out);
      check_allocator(c, &in, &allocator, &out);
    }
    drop(&in);
  }
}

static size_t pair_bytes(size_t n, size_t m, const tsanom_dtw_options *o,
                         const tsanom_exec *exec) {
  size_t bytes;
  tsanom_exec ask = ask_exec(exec, &bytes);
  CHECK_STATUS(tsanom_dtw_distance(NULL, n, NULL, m, o, &ask, NULL), TSANOM_E_WORKSPACE);
  return bytes;
}

static size_t path_bytes(size_t n, size_t m, const tsanom_dtw_options *o,
                         const tsanom_exec *exec) {
  size_t bytes;
  tsanom_exec ask = ask_exec(exec, &bytes);
  CHECK_STATUS(tsanom_dtw_path(NULL, n, NULL, m, o, &ask, NULL, NULL, NULL),
               TSANOM_E_WORKSPACE);
  return bytes;
}

/* The size of the largest case serves all smaller ones, in either order of lengths. */
Test(dtw_calls, workspaces_are_monotone) {
  uint64_t seed = 5;
  for (int trial = 0; trial < CASES(3000); trial++) {
    tsanom_dtw_options o;
    tsanom_dtw_options_init(&o, sizeof o);
    o.window = trial % 2;
    if (trial % 3) o.radius = random_between(&seed, 0, 300);
    if (trial % 5 == 0) o.open_end_x = random_between(&seed, 0, 9);
    if (trial % 5 == 1) o.open_end_y = random_between(&seed, 0, 9);
    if (trial % 4 == 0) o.cutoff = 10;
    tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, 1 + trial % 3);
    size_t n = random_between(&seed, 1, 2000), m = random_between(&seed, 1, 2000);
    size_t fewer = random_between(&seed, 1, n), less = random_between(&seed, 1, m);
    cr_assert(pair_bytes(fewer, less, &o, &exec) <= pair_bytes(n, m, &o, &exec),
              "%zu %zu, %zu %zu", n, m, fewer, less);
    o.path_memory = trial / 2 % 2;
    cr_assert(path_bytes(fewer, less, &o, &exec) <= path_bytes(n, m, &o, &exec),
              "path: %zu %zu, %zu %zu", n, m, fewer, less);
  }
}

/* Stop a run of `total` distances at every poll in turn. Whatever was counted is
 * what a whole run gives; one thread gets further and further, and is stopped
 * on the way at least once. */
static void check_stops(run_call *run, call_input *in, size_t total) {
  call_output whole, out;
  size_t before = 0, partly = 0;
  tsanom_status status = TSANOM_STOPPED;
  call_output_fill(&whole);
  CHECK_STATUS(run(in, &whole), TSANOM_OK);
  cr_assert(whole.count == total);
  for (uint64_t at = 1; status == TSANOM_STOPPED; at++) {
    test_polls p = {.stop_at = at};
    in->exec.poll = test_poll;
    in->exec.poll_user = &p;
    call_output_fill(&out);
    status = run(in, &out);
    cr_assert(out.count <= total && p.calls <= at);
    for (size_t k = 0; k < out.count; k++) {
      cr_assert(out.f64[k] == whole.f64[k] && out.f32[k] == whole.f32[k]);
    }
    if (in->exec.threads == 1) cr_assert(out.count >= before);
    if (status == TSANOM_STOPPED && out.count > 0 && out.count < total) partly++;
    before = out.count;
  }
  in->exec.poll = NULL;
  CHECK_STATUS(status, TSANOM_OK);
  cr_assert(out.count == total);
  if (in->exec.threads == 1) cr_assert(partly > 0);
}

Test(dtw_calls, a_stopped_run_counts_its_valid_distances) {
  uint64_t seed = 2;
  for (int trial = 0; trial < 16; trial++) {
    call_input in;
    draw(&in, &seed, trial % 2);
    in.exec.threads = 1 + trial / 2 % 4;
    size_t pairs = (size_t)CALL_SERIES * (CALL_SERIES - 1) / 2;
    size_t all = (size_t)CALL_SERIES * CALL_SERIES;
    check_stops(run_condensed, &in, pairs);
    check_stops(run_condensed_f32, &in, pairs);
    check_stops(run_cross, &in, all);
    check_stops(run_cross_f32, &in, all);
    check_stops(run_one_to_many, &in, CALL_SERIES);
    check_stops(run_one_to_many_f32, &in, CALL_SERIES);
    drop(&in);
  }
}

Test(dtw_calls, a_path_is_rejected_or_stopped_before_it_begins) {
  double x[] = {1, 2, 3}, y[] = {1, NAN, 3}, distance = 7;
  size_t path[10] = {9}, length = 5;
  CHECK_STATUS(tsanom_dtw_path(x, 3, y, 3, NULL, NULL, path, &length, &distance),
               TSANOM_E_NONFINITE);
  test_polls p = {.stop_at = 1};
  tsanom_exec exec = exec_polled(test_poll, &p);
  CHECK_STATUS(tsanom_dtw_path(x, 3, x, 3, NULL, &exec, path, &length, &distance),
               TSANOM_STOPPED);
  cr_assert(path[0] == 9 && length == 5 && distance == 7);
}
