/* SPDX-License-Identifier: BSD-3-Clause */
/* Pushes of many blocks: on several threads, stopped, and rejected. */
#include <math.h>
#include <stdlib.h>
#include <tsanom/polyfit.h>

#include "reference.h"
#include "support/faults.h"
#include "support/polls.h"
#include "support/random.h"

/* Several waves of 32 blocks of 2048, and a part of a block. */
enum { MANY = 200000 };

typedef struct {
  double x[MANY], y[MANY], weights[MANY];
} many_samples;

static many_samples *new_samples(uint64_t seed) {
  many_samples *s = malloc(sizeof *s);
  for (size_t i = 0; i < MANY; i++) {
    s->x[i] = (double)i + random_unit(&seed);
    s->y[i] = sin(1e-4 * s->x[i]) * exp2((double)(i / 50000)) + random_unit(&seed);
    s->weights[i] = exp2((double)random_between(&seed, 0, i / 20000));
  }
  return s;
}

static tsanom_polyfit_stream *new_stream(int32_t degree, int32_t refine) {
  tsanom_polyfit_options options = options_of(degree, TSANOM_POLYFIT_FIXED, refine);
  tsanom_polyfit_stream *stream;
  CHECK_STATUS(tsanom_polyfit_stream_create(&options, NULL, &stream), TSANOM_OK);
  return stream;
}

static tsanom_polyfit_model fit_of(tsanom_polyfit_stream *stream) {
  tsanom_polyfit_model model = new_model();
  CHECK_STATUS(tsanom_polyfit_stream_fit(stream, NULL, NULL, &model), TSANOM_OK);
  return model;
}

static tsanom_polyfit_model push_all(const many_samples *s, const double *weights,
                                     size_t piece, int32_t refine,
                                     const tsanom_exec *exec) {
  tsanom_polyfit_stream *stream = new_stream(6, refine);
  for (size_t i = 0; i < MANY; i += piece) {
    size_t count = piece < MANY - i ? piece : MANY - i;
    CHECK_STATUS(tsanom_polyfit_stream_push(stream, s->x + i, s->y + i,
                                            weights ? weights + i : NULL, count, exec),
                 TSANOM_OK);
  }
  tsanom_polyfit_model model = fit_of(stream);
  tsanom_polyfit_stream_destroy(stream);
  return model;
}

Test(polyfit_stream_blocks, threads_levels_and_pieces_do_not_matter) {
  many_samples *s = new_samples(1);
  for (int trial = 0; trial < 4; trial++) {
    const double *weights = trial % 2 ? s->weights : NULL;
    int32_t refine = trial / 2;
    tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, 1);
    tsanom_polyfit_model first = push_all(s, weights, 777, refine, &exec);
    cr_assert(first.samples == MANY);
    static const size_t pieces[] = {2048, 2049, 65536, 100001, MANY};
    for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
      FOR_EACH_ISA (isa) {
        exec = exec_at(isa, (int32_t)k + 1);
        tsanom_polyfit_model model = push_all(s, weights, pieces[k], refine, &exec);
        cr_assert(same_model(&model, &first), "trial %d, piece %zu, isa %d", trial,
                  pieces[k], isa);
      }
    }
  }
  free(s);
}

Test(polyfit_stream_blocks, ones_as_weights_are_no_weights) {
  many_samples *s = new_samples(2);
  tsanom_polyfit_stream *with = new_stream(3, 1), *without = new_stream(3, 1);
  double heavy = 0x1p900;
  for (size_t i = 0; i < MANY; i++) s->weights[i] = 1;
  tsanom_polyfit_stream_push(with, s->x, s->y, &heavy, 1, NULL);
  tsanom_polyfit_stream_push(without, s->x, s->y, &heavy, 1, NULL);
  tsanom_polyfit_stream_push(with, s->x, s->y, s->weights, MANY, NULL);
  tsanom_polyfit_stream_push(without, s->x, s->y, NULL, MANY, NULL);
  tsanom_polyfit_model a = new_model(), b = new_model();
  tsanom_status status = tsanom_polyfit_stream_fit(with, NULL, NULL, &a);
  CHECK_STATUS(tsanom_polyfit_stream_fit(without, NULL, NULL, &b), status);
  cr_assert(status >= 0 && same_model(&a, &b));
  tsanom_polyfit_stream_destroy(with);
  tsanom_polyfit_stream_destroy(without);
  free(s);
}

Test(polyfit_stream_blocks, a_stopped_push_takes_nothing) {
  many_samples *s = new_samples(3);
  for (int32_t threads = 1; threads <= 2; threads++) {
    tsanom_polyfit_stream *stream = new_stream(5, 1);
    tsanom_polyfit_stream_push(stream, s->x, s->y, NULL, 6100, NULL);
    tsanom_polyfit_model before = fit_of(stream);
    uint64_t stop_at = 1;
    tsanom_status status = TSANOM_STOPPED;
    for (; status == TSANOM_STOPPED; stop_at++) {
      test_polls p = {.stop_at = stop_at};
      tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, threads);
      exec.poll = test_poll;
      exec.poll_user = &p;
      status = tsanom_polyfit_stream_push(stream, s->x, s->y, NULL, MANY, &exec);
      tsanom_polyfit_model after = fit_of(stream);
      cr_assert(status == TSANOM_OK || same_model(&after, &before));
      cr_assert(p.total == MANY && p.done < MANY);
    }
    CHECK_STATUS(status, TSANOM_OK);
    cr_assert(stop_at > 4 && fit_of(stream).samples == 6100 + MANY);
    tsanom_polyfit_stream_destroy(stream);
  }
  free(s);
}

/* The samples complete the block that was begun before, and no other. */
Test(polyfit_stream_blocks, a_push_of_one_block_can_be_stopped) {
  many_samples *s = new_samples(5);
  tsanom_polyfit_stream *stream = new_stream(5, 1);
  tsanom_polyfit_stream_push(stream, s->x, s->y, NULL, 5000, NULL);
  tsanom_polyfit_model before = fit_of(stream);
  test_polls p = {.stop_at = 1};
  tsanom_exec exec = exec_polled(test_poll, &p);
  CHECK_STATUS(tsanom_polyfit_stream_push(stream, s->x, s->y, NULL, 1200, &exec),
               TSANOM_STOPPED);
  tsanom_polyfit_model after = fit_of(stream);
  cr_assert(same_model(&after, &before));
  tsanom_polyfit_stream_destroy(stream);
  free(s);
}

Test(polyfit_stream_blocks, a_rejected_push_takes_nothing_and_names_the_sample) {
  many_samples *s = new_samples(4);
  tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, 2);
  tsanom_polyfit_stream *stream = new_stream(5, 1);
  tsanom_polyfit_stream_push(stream, s->x, s->y, NULL, 3000, NULL);
  tsanom_polyfit_model before = fit_of(stream);
  static const size_t places[] = {0, 1500, 60000, 131072, MANY - 1};
  static const char *const names[] = {"x", "y", "weights", "weights"};
  tsanom_fault fault = {.struct_size = sizeof fault};
  exec.fault = &fault;
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    double *faulty[] = {&s->x[places[k]], &s->y[places[k]], &s->weights[places[k]],
                        &s->weights[places[k]]};
    static const double faults[] = {NAN, INFINITY, -INFINITY, 0};
    for (int f = 0; f < 4; f++) {
      double good = *faulty[f];
      *faulty[f] = faults[f];
      CHECK_STATUS(
          tsanom_polyfit_stream_push(stream, s->x, s->y, s->weights, MANY, &exec),
          f < 3 ? TSANOM_E_NONFINITE : TSANOM_E_VALUE);
      check_fault(&fault, names[f], places[k], TSANOM_NONE);
      *faulty[f] = good;
      tsanom_polyfit_model after = fit_of(stream);
      cr_assert(same_model(&after, &before));
    }
  }
  tsanom_polyfit_stream_destroy(stream);
  free(s);
}
