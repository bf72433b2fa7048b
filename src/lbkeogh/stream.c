/* SPDX-License-Identifier: BSD-3-Clause */
/* The envelope of a stream, by the blocks of M. van Herk and of J. Gil and M. Werman.
 * Blocks are as long as the window of 2r+1 samples. A window is the end of the block
 * before and the beginning of the block under way:
 *
 *   ... | a b c d e | f g h . . |         window of c d e f g: join(end[2], begun)
 *             end[k]  begun
 *
 * Both blocks share one array: the block under way fills the places that no window needs
 * any more of the block before. A complete block is scanned from its end once, so that a
 * sample takes O(1) amortized, and O(r) in the worst case, once in 2r+1 samples.
 *
 * The pair of sample i comes out with sample i + r. The first r samples produce none, and
 * tsanom_lbkeogh_stream_finish() brings out the last r by taking in empty places. */
#include <math.h>
#include <tsanom/lbkeogh.h>

#include "core/arena.h"
#include "core/check.h"
#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"

typedef struct {
  double low, high;
} extremes;

struct tsanom_lbkeogh_stream {
  tsn_object owner;
  size_t radius, window;
  size_t at;      /* samples of the block under way */
  size_t pending; /* samples taken in whose pair has not come out */
  extremes begun; /* of the block under way */
  /* Up to `at` the samples of the block under way; from there on the extremes of the
   * block before from its sample k to its end. */
  extremes end[];
};

/* The extremes of no samples. */
static inline extremes no_extremes(void) {
  return (extremes){INFINITY, -INFINITY};
}

static inline extremes join(extremes a, extremes b) {
  return (extremes){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

/* Take in the extremes of one place; returns those of the window that ends there. */
static inline extremes step(tsanom_lbkeogh_stream *stream, extremes sample) {
  size_t at = stream->at++;
  stream->begun = join(stream->begun, sample);
  stream->end[at] = sample;
  if (stream->at < stream->window) {
    return join(stream->end[at + 1], stream->begun);
  }
  extremes whole = stream->begun;
  for (size_t k = stream->window - 1; k-- > 0;) {
    stream->end[k] = join(stream->end[k], stream->end[k + 1]);
  }
  stream->at = 0;
  stream->begun = no_extremes();
  return whole;
}

/* The state before the first sample; the block before it is empty. */
static void begin(tsanom_lbkeogh_stream *stream) {
  stream->at = stream->pending = 0;
  stream->begun = no_extremes();
  for (size_t k = 0; k < stream->window; k++) stream->end[k] = no_extremes();
}

typedef struct {
  size_t radius;
  const tsanom_exec *exec;
  tsanom_lbkeogh_stream *stream, **made; /* made: the caller's */
} placement;

static void layout(tsn_arena *arena, void *context) {
  placement *p = context;
  size_t window = tsn_sum(tsn_product(p->radius, 2), 1);
  p->stream = tsn_arena_take(
      arena, 1,
      tsn_sum(tsn_product(window, sizeof(extremes)), sizeof(tsanom_lbkeogh_stream)));
}

static tsanom_status check(void *context) {
  const placement *p = context;
  return tsn_require(p->exec, p->made, "stream");
}

tsanom_status tsanom_lbkeogh_stream_create(size_t radius, const tsanom_exec *exec,
                                           tsanom_lbkeogh_stream **stream) {
  tsanom_exec own;
  placement p = {.radius = radius, .exec = &own, .made = stream};
  tsn_object owner;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0 || (status = tsn_object_create(&own, layout, check, &p, &owner)) < 0) {
    return status;
  }
  p.stream->owner = owner;
  p.stream->radius = radius;
  p.stream->window = 2 * radius + 1;
  begin(p.stream);
  *stream = p.stream;
  return TSANOM_OK;
}

void tsanom_lbkeogh_stream_destroy(tsanom_lbkeogh_stream *stream) {
  if (!stream) return;
  tsn_object owner = stream->owner;
  tsn_object_release(&owner);
}

/* A sample that is not finite ends the call before it (TSANOM_PARTIAL): those before it
 * are taken, and the stream stays usable. */
tsanom_status tsanom_lbkeogh_stream_push(tsanom_lbkeogh_stream *stream, const double *x,
                                         size_t count, double *lower, double *upper,
                                         size_t *produced, size_t *taken) {
  if (!stream || !produced || !taken || (count > 0 && (!x || !lower || !upper))) {
    return TSANOM_E_NULL;
  }
  if (!tsn_array_fits(count, sizeof(double))) return TSANOM_E_OVERFLOW;
  tsn_environment before = tsn_environment_enter();
  size_t end = tsn_all_finite(x, count) ? count : tsn_first_nonfinite(x, count);
  size_t made = 0;
  for (size_t i = 0; i < end; i++) {
    double sample = x[i] + 0; /* a zero is positive, as in an envelope */
    extremes out = step(stream, (extremes){sample, sample});
    if (stream->pending < stream->radius) {
      stream->pending++;
      continue;
    }
    lower[made] = out.low;
    upper[made++] = out.high;
  }
  tsn_environment_leave(before);
  *produced = made;
  *taken = end;
  return end == count ? TSANOM_OK : TSANOM_PARTIAL;
}

/* With fewer samples than the radius, the pairs of the first samples have not come out
 * either: the first `missing` windows end before position 0. */
tsanom_status tsanom_lbkeogh_stream_finish(tsanom_lbkeogh_stream *stream, double *lower,
                                           double *upper, size_t *produced) {
  if (!stream || !lower || !upper || !produced) return TSANOM_E_NULL;
  tsn_environment before = tsn_environment_enter();
  size_t made = 0, missing = stream->radius - stream->pending;
  for (size_t i = 0; i < stream->radius; i++) {
    extremes out = step(stream, no_extremes());
    if (i < missing) continue;
    lower[made] = out.low;
    upper[made++] = out.high;
  }
  begin(stream);
  tsn_environment_leave(before);
  *produced = made;
  return TSANOM_OK;
}
