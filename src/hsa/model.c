/* SPDX-License-Identifier: BSD-3-Clause */
/* A model: one block with the references of all threads and their arrays.
 *
 *   | model | reference 0 | ... | reference T-1 | time, rate, window_rate, coefficient of
 *                                                 thread 0 | ... of thread T-1 |
 *
 * The arrays have the lengths of the references that the model is created from; a learned
 * model has capacity for the longest series of each thread. The pointers of the stored
 * references refer to the block, so that tsanom_hsa_model_read() needs no copy. */
#include <string.h>

#include "hsa/hsa.h"

/* 3 windows + 2 numbers of time, rate and window_rate, and degree + 1 coefficients. */
bool tsn_hsa_model_extend(tsn_hsa_model_frame *frame, size_t windows, size_t degree) {
  size_t numbers;
  return !__builtin_mul_overflow(windows, (size_t)3, &numbers) &&
         !__builtin_add_overflow(numbers, degree, &numbers) &&
         !__builtin_add_overflow(numbers, (size_t)3, &numbers) &&
         !__builtin_add_overflow(frame->count, numbers, &frame->count);
}

void tsn_hsa_model_layout(tsn_arena *arena, tsn_hsa_model_frame *f) {
  f->model = tsn_arena_take(arena, 1, sizeof *f->model);
  f->references = tsn_arena_take(arena, f->thread_count, sizeof *f->references);
  f->numbers = tsn_arena_take(arena, f->count, sizeof *f->numbers);
}

/* The references are appended later, in order of the threads: the sizes of their arrays
 * follow from each. */
tsanom_hsa_model *tsn_hsa_model_begin(const tsn_hsa_model_frame *f,
                                      const tsn_object *owner, size_t run_count,
                                      const tsanom_hsa_options *options) {
  *f->model = (tsanom_hsa_model){.owner = *owner,
                                 .options = *options,
                                 .thread_count = f->thread_count,
                                 .run_count = run_count,
                                 .references = f->references,
                                 .numbers = f->numbers};
  return f->model;
}

/* Copy `count` numbers to the end of the model's. */
static const double *store(tsanom_hsa_model *model, const double *values, size_t count) {
  double *place = model->numbers + model->numbers_used;
  if (count > 0) memcpy(place, values, count * sizeof *place);
  model->numbers_used += count;
  return place;
}

/* A reference without beats keeps its counts only: its other fields have no meaning and
 * must not refer to the caller's memory. */
void tsn_hsa_model_add(tsanom_hsa_model *model, const tsanom_hsa_reference *reference) {
  tsanom_hsa_reference *own = &model->references[model->threads_added++];
  if (reference->beats == 0) {
    *own = (tsanom_hsa_reference){.sample_runs = reference->sample_runs,
                                  .silent_runs = reference->silent_runs};
    return;
  }
  *own = *reference;
  own->time = store(model, reference->time, reference->windows + 1);
  own->rate = store(model, reference->rate, reference->windows + 1);
  own->window_rate = store(model, reference->window_rate, reference->windows);
  own->coefficient = store(model, reference->coefficient, reference->degree + 1);
}

/* The owner is copied first: it lies in the block that is released. */
void tsanom_hsa_model_destroy(tsanom_hsa_model *model) {
  if (!model) return;
  tsn_object owner = model->owner;
  tsn_object_release(&owner);
}
