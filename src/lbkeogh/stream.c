/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation, end and reuse of an envelope stream, the object of lbkeogh_stream.h. */
#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "lbkeogh/lbkeogh_stream.h"

/* The state before the first sample; the block before it is empty. */
static void begin(tsanom_lbkeogh_stream *stream) {
  stream->at = stream->pending = 0;
  stream->begun = tsn_no_extremes();
  for (size_t k = 0; k < stream->window; k++) stream->end[k] = tsn_no_extremes();
}

typedef struct {
  size_t radius;
  tsanom_lbkeogh_stream *stream;
} placement;

static void layout(tsn_arena *arena, void *context) {
  placement *p = context;
  size_t window, blocks, bytes = 0;
  if (__builtin_mul_overflow(p->radius, 2, &window) ||
      __builtin_mul_overflow(window + 1, sizeof(tsn_extremes), &blocks) ||
      __builtin_add_overflow(blocks, sizeof(tsanom_lbkeogh_stream), &bytes)) {
    arena->overflow = true;
  }
  p->stream = tsn_arena_take(arena, 1, bytes);
}

tsanom_status tsanom_lbkeogh_stream_size(size_t radius, size_t *bytes) {
  placement p = {.radius = radius};
  return bytes ? tsn_layout_bytes(layout, &p, bytes) : TSANOM_E_NULL;
}

/* In memory of the caller, or where it is NULL in a block of exec's allocator. */
static tsanom_status place(void *memory, size_t bytes, size_t radius,
                           const tsanom_exec *exec, tsanom_lbkeogh_stream **stream) {
  placement p = {.radius = radius};
  tsn_object owner;
  tsanom_status status = tsn_object_place(exec, layout, &p, memory, bytes, &owner);
  if (status < 0) return status;
  p.stream->owner = owner;
  p.stream->radius = radius;
  p.stream->window = 2 * radius + 1;
  begin(p.stream);
  *stream = p.stream;
  return TSANOM_OK;
}

tsanom_status tsanom_lbkeogh_stream_init(void *memory, size_t bytes, size_t radius,
                                         const tsanom_exec *exec,
                                         tsanom_lbkeogh_stream **stream) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  if (!memory) return tsn_reject(&own, TSANOM_E_NULL, "memory");
  if (!stream) return tsn_reject(&own, TSANOM_E_NULL, "stream");
  return place(memory, bytes, radius, &own, stream);
}

tsanom_status tsanom_lbkeogh_stream_create(size_t radius, const tsanom_exec *exec,
                                           tsanom_lbkeogh_stream **stream) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  if (!stream) return tsn_reject(&own, TSANOM_E_NULL, "stream");
  return place(NULL, 0, radius, &own, stream);
}

void tsanom_lbkeogh_stream_destroy(tsanom_lbkeogh_stream *stream) {
  if (!stream) return;
  tsn_object owner = stream->owner;
  tsn_object_release(&owner);
}

/* With fewer samples than the radius, the pairs of the first samples have not come out
 * either: the first `missing` windows end before position 0. */
tsanom_status tsanom_lbkeogh_stream_finish(tsanom_lbkeogh_stream *stream, double *lower,
                                           double *upper, size_t *produced) {
  if (!stream || !lower || !upper || !produced) return TSANOM_E_NULL;
  tsn_environment before = tsn_environment_enter();
  size_t made = 0, missing = stream->radius - stream->pending;
  for (size_t i = 0; i < stream->radius; i++) {
    tsn_extremes out = tsn_lbkeogh_stream_step(stream, tsn_no_extremes());
    if (i < missing) continue;
    lower[made] = out.low;
    upper[made++] = out.high;
  }
  begin(stream);
  tsn_environment_leave(before);
  *produced = made;
  return TSANOM_OK;
}
