/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples into a stream, in both precisions. A sample that is not finite ends the call
 * before it (TSANOM_PARTIAL): those before it are taken, and the stream stays usable. */
#include "core/environment.h"
#include "core/size.h"
#include "lbkeogh/lbkeogh_precision.h"
#include "lbkeogh/lbkeogh_stream.h"

tsanom_status tsanom_lbkeogh_stream_push(tsanom_lbkeogh_stream *stream, const real *x,
                                         size_t count, real *lower, real *upper,
                                         size_t *produced, size_t *taken) {
  if (!stream || !produced || !taken || (count > 0 && (!x || !lower || !upper))) {
    return TSANOM_E_NULL;
  }
  if (!tsn_array_fits(count, sizeof(real))) return TSANOM_E_OVERFLOW;
  tsn_environment before = tsn_environment_enter();
  size_t end = tsn_all_finite(x, count) ? count : tsn_first_nonfinite(x, count);
  size_t made = 0;
  for (size_t i = 0; i < end; i++) {
    double sample = (double)x[i] + 0; /* a zero is positive, as in an envelope */
    tsn_extremes out = tsn_lbkeogh_stream_step(stream, (tsn_extremes){sample, sample});
    if (stream->pending < stream->radius) {
      stream->pending++;
      continue;
    }
    lower[made] = (real)out.low;
    upper[made++] = (real)out.high;
  }
  tsn_environment_leave(before);
  *produced = made;
  *taken = end;
  return end == count ? TSANOM_OK : TSANOM_PARTIAL;
}
