/* SPDX-License-Identifier: BSD-3-Clause */
/* The envelope of a stream, by van Herk's and Gil and Werman's blocks. */
#include <math.h>
#include <tsanom/lbkeogh.h>

#include "core/check.h"
#include "lbkeogh/lbkeogh_internal.h"

typedef struct {
  double low, high;
} pair;

/* Blocks are as long as the window. Of the block before, end[k] holds the
 * extremes from its sample k on, as long as a window needs them: up to the
 * place that the block under way has reached. There its samples are kept
 * instead, until it is complete and becomes the block before. */
struct tsanom_lbkeogh_stream {
  size_t radius, window;
  size_t at;      /* samples of the block under way */
  size_t pending; /* samples taken in, whose pair has not come out */
  pair begun;     /* extremes of the block under way */
  pair end[];
};

static const pair nothing = {INFINITY, -INFINITY};

static pair join(pair a, pair b) {
  return (pair){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

tsanom_status tsanom_lbkeogh_stream_size(const tsanom_lbkeogh_options *options,
                                         size_t *bytes) {
  tsanom_lbkeogh_options own;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = tsn_lbkeogh_read_options(&own, options);
  if (status < 0) return status;
  size_t window, blocks, sum;
  if (__builtin_mul_overflow(own.radius, 2, &window) ||
      __builtin_mul_overflow(window + 1, sizeof(pair), &blocks) ||
      __builtin_add_overflow(blocks, sizeof(tsanom_lbkeogh_stream), &sum) ||
      sum > PTRDIFF_MAX) {
    return TSANOM_E_OVERFLOW;
  }
  *bytes = sum;
  return TSANOM_OK;
}

static void begin(tsanom_lbkeogh_stream *stream) {
  stream->at = stream->pending = 0;
  stream->begun = nothing;
  for (size_t k = 0; k < stream->window; k++) stream->end[k] = nothing;
}

tsanom_status tsanom_lbkeogh_stream_init(void *memory, size_t bytes,
                                         const tsanom_lbkeogh_options *options,
                                         tsanom_lbkeogh_stream **stream) {
  size_t needed;
  if (!memory || !stream) return TSANOM_E_NULL;
  tsanom_status status = tsanom_lbkeogh_stream_size(options, &needed);
  if (status < 0) return status;
  if (bytes < needed || (uintptr_t)memory % _Alignof(tsanom_lbkeogh_stream) != 0) {
    return TSANOM_E_WORKSPACE;
  }
  tsanom_lbkeogh_options own;
  (void)tsn_lbkeogh_read_options(&own, options);
  tsanom_lbkeogh_stream *made = memory;
  made->radius = own.radius;
  made->window = 2 * own.radius + 1;
  begin(made);
  *stream = made;
  return TSANOM_OK;
}

/* Take in the extremes of one place, and give those of the window that ends
 * with it. */
static pair step(tsanom_lbkeogh_stream *stream, pair sample) {
  size_t at = stream->at++;
  stream->begun = join(stream->begun, sample);
  stream->end[at] = sample;
  if (stream->at < stream->window) return join(stream->end[at + 1], stream->begun);
  pair whole = stream->begun;
  for (size_t k = stream->window - 1; k-- > 0;) {
    stream->end[k] = join(stream->end[k], stream->end[k + 1]);
  }
  stream->at = 0;
  stream->begun = nothing;
  return whole;
}

/* One sample in; whether a pair came out. */
static int take(tsanom_lbkeogh_stream *stream, double x, pair *out) {
  /* Zeros are positive, as those of tsanom_lbkeogh_envelope(). */
  *out = step(stream, (pair){x + 0, x + 0});
  if (stream->pending == stream->radius) return 1;
  stream->pending++;
  return 0;
}

#define PUSH(name, type, all_finite)                                             \
  tsanom_status name(tsanom_lbkeogh_stream *stream, const type *x, size_t count, \
                     type *lower, type *upper, size_t *produced) {               \
    if (!stream || !produced || (count > 0 && (!x || !lower || !upper))) {       \
      return TSANOM_E_NULL;                                                      \
    }                                                                            \
    if (!all_finite(x, count)) return TSANOM_E_NONFINITE;                        \
    size_t made = 0;                                                             \
    for (size_t i = 0; i < count; i++) {                                         \
      pair out;                                                                  \
      if (!take(stream, (double)x[i], &out)) continue;                           \
      lower[made] = (type)out.low;                                               \
      upper[made++] = (type)out.high;                                            \
    }                                                                            \
    *produced = made;                                                            \
    return TSANOM_OK;                                                            \
  }

PUSH(tsanom_lbkeogh_stream_push, double, tsn_all_finite)
PUSH(tsanom_lbkeogh_stream_push_f32, float, tsn_all_finite_f32)

tsanom_status tsanom_lbkeogh_stream_finish(tsanom_lbkeogh_stream *stream, double *lower,
                                           double *upper, size_t *produced) {
  if (!stream || !lower || !upper || !produced) return TSANOM_E_NULL;
  size_t made = 0, missing = stream->radius - stream->pending;
  for (size_t i = 0; i < stream->radius; i++) {
    pair out = step(stream, nothing);
    if (i < missing) continue;
    lower[made] = out.low;
    upper[made++] = out.high;
  }
  begin(stream);
  *produced = made;
  return TSANOM_OK;
}
