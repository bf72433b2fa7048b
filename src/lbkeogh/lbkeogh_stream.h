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
#ifndef TSN_LBKEOGH_STREAM_H
#define TSN_LBKEOGH_STREAM_H

#include <math.h>
#include <tsanom/lbkeogh.h>

#include "core/arena.h"

typedef struct {
  double low, high;
} tsn_extremes;

/* The object of both precisions: a float is exact as a double. */
struct tsanom_lbkeogh_stream {
  tsn_object owner;
  size_t radius, window;
  size_t at;          /* samples of the block under way */
  size_t pending;     /* samples taken in whose pair has not come out */
  tsn_extremes begun; /* of the block under way */
  /* Up to `at` the samples of the block under way; from there on the extremes of the
   * block before from its sample k to its end. */
  tsn_extremes end[];
};

/* The extremes of no samples. */
static inline tsn_extremes tsn_no_extremes(void) {
  return (tsn_extremes){INFINITY, -INFINITY};
}

static inline tsn_extremes tsn_join_extremes(tsn_extremes a, tsn_extremes b) {
  return (tsn_extremes){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

/* Take in the extremes of one place; returns those of the window that ends there. */
static inline tsn_extremes tsn_lbkeogh_stream_step(tsanom_lbkeogh_stream *stream,
                                                   tsn_extremes sample) {
  size_t at = stream->at++;
  stream->begun = tsn_join_extremes(stream->begun, sample);
  stream->end[at] = sample;
  if (stream->at < stream->window) {
    return tsn_join_extremes(stream->end[at + 1], stream->begun);
  }
  tsn_extremes whole = stream->begun;
  for (size_t k = stream->window - 1; k-- > 0;) {
    stream->end[k] = tsn_join_extremes(stream->end[k], stream->end[k + 1]);
  }
  stream->at = 0;
  stream->begun = tsn_no_extremes();
  return whole;
}

#endif
