/* SPDX-License-Identifier: BSD-3-Clause */
/* A fit of samples that come bit by bit. The object is one block of memory
 * without pointers: this struct, then the arrays that parts_of() names. */
#include <stddef.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "core/exec.h"
#include "polyfit/polyfit_options.h"
#include "polyfit/polyfit_sums.h"

/* Samples that are added to the sums at a time. */
#define BLOCK ((size_t)2048)

struct tsanom_polyfit_stream {
  tsanom_polyfit_options options;
  size_t pending; /* samples not yet in sums */
  tsn_polyfit_sums sums, scratch;
  double arrays[];
};

typedef struct {
  double *x, *y, *weights; /* BLOCK pending samples */
  tsn_polyfit_sums_scratch scratch;
} stream_parts;

static int terms_of(const tsanom_polyfit_stream *stream) {
  return stream->options.degree + 1;
}

static size_t count_arrays(int terms) {
  return 3 * BLOCK + 5 * (size_t)terms * (size_t)terms;
}

static stream_parts parts_of(tsanom_polyfit_stream *stream) {
  size_t square = (size_t)terms_of(stream) * (size_t)terms_of(stream);
  double *next = stream->arrays + 3 * BLOCK;
  return (stream_parts){.x = stream->arrays,
                        .y = stream->arrays + BLOCK,
                        .weights = stream->arrays + 2 * BLOCK,
                        .scratch = {.triangle = (tsn_dd *)next,
                                    .r = next + 2 * square,
                                    .inverse = next + 3 * square,
                                    .matrix = next + 4 * square}};
}

static size_t bytes_of(const tsanom_polyfit_options *options) {
  return sizeof(tsanom_polyfit_stream) +
         count_arrays(options->degree + 1) * sizeof(double);
}

tsanom_status tsanom_polyfit_stream_size(const tsanom_polyfit_options *options,
                                         size_t *bytes) {
  tsanom_polyfit_options own;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = tsn_polyfit_options_read(&own, options);
  if (status < 0) return status;
  *bytes = bytes_of(&own);
  return TSANOM_OK;
}

tsanom_status tsanom_polyfit_stream_init(tsanom_polyfit_stream *stream, size_t bytes,
                                         const tsanom_polyfit_options *options) {
  tsanom_polyfit_options own;
  if (!stream) return TSANOM_E_NULL;
  tsanom_status status = tsn_polyfit_options_read(&own, options);
  if (status < 0) return status;
  if (bytes < bytes_of(&own)) return TSANOM_E_WORKSPACE;
  stream->options = own;
  stream->options.struct_size = sizeof own;
  stream->pending = 0;
  tsn_polyfit_sums_clear(&stream->sums);
  return TSANOM_OK;
}

tsanom_status tsanom_polyfit_stream_create(const tsanom_polyfit_options *options,
                                           const tsanom_exec *exec,
                                           tsanom_polyfit_stream **stream) {
  tsanom_exec own_exec;
  size_t bytes;
  if (!stream) return TSANOM_E_NULL;
  tsanom_status status = tsanom_polyfit_stream_size(options, &bytes);
  if (status < 0) return status;
  if ((status = tsn_exec_read(&own_exec, exec)) < 0) return status;
  tsanom_polyfit_stream *created = own_exec.alloc(bytes, own_exec.alloc_user);
  if (!created) return TSANOM_E_MEMORY;
  *stream = created;
  return tsanom_polyfit_stream_init(created, bytes, options);
}

tsanom_status tsanom_polyfit_stream_destroy(tsanom_polyfit_stream *stream,
                                            const tsanom_exec *exec) {
  tsanom_exec own_exec;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if (stream) own_exec.dealloc(stream, own_exec.alloc_user);
  return TSANOM_OK;
}

static tsanom_status check_samples(const double *x, const double *y,
                                   const double *weights, size_t n, int32_t isa) {
  const tsn_polyfit_kernels *kernels = tsn_polyfit_kernels_at(isa);
  if (!kernels->survey(x, n).finite || !kernels->survey(y, n).finite) {
    return TSANOM_E_NONFINITE;
  }
  if (!weights) return TSANOM_OK;
  tsn_polyfit_range range = kernels->survey(weights, n);
  if (!range.finite) return TSANOM_E_NONFINITE;
  return n == 0 || range.low > 0 ? TSANOM_OK : TSANOM_E_VALUE;
}

static void append(tsanom_polyfit_stream *stream, const tsn_polyfit_samples *samples) {
  stream_parts parts = parts_of(stream);
  size_t at = stream->pending, bytes = samples->n * sizeof(double);
  memcpy(parts.x + at, samples->x, bytes);
  memcpy(parts.y + at, samples->y, bytes);
  for (size_t i = 0; i < samples->n; i++) {
    parts.weights[at + i] = samples->weights ? samples->weights[i] : 1;
  }
  stream->pending += samples->n;
}

/* Add the pending samples of `from` to `sums`. */
static void add_pending(const tsanom_polyfit_stream *from, tsn_polyfit_sums *sums,
                        int32_t isa) {
  if (from->pending == 0) return;
  tsn_polyfit_samples block = {.x = from->arrays,
                               .y = from->arrays + BLOCK,
                               .weights = from->arrays + 2 * BLOCK,
                               .n = from->pending};
  tsn_polyfit_sums_add(sums, terms_of(from), isa, from->options.refine, &block);
}

tsanom_status tsanom_polyfit_stream_push(tsanom_polyfit_stream *stream, const double *x,
                                         const double *y, const double *weights, size_t n,
                                         const tsanom_exec *exec) {
  tsanom_exec own_exec;
  if (!stream || !x || !y) return TSANOM_E_NULL;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if ((status = check_samples(x, y, weights, n, own_exec.isa)) < 0) return status;
  for (size_t i = 0; i < n;) {
    size_t left = n - i, room = BLOCK - stream->pending;
    size_t count = left < room ? left : room;
    tsn_polyfit_samples samples = {
        .x = x + i, .y = y + i, .weights = weights ? weights + i : NULL, .n = count};
    append(stream, &samples);
    if (stream->pending == BLOCK) {
      add_pending(stream, &stream->sums, own_exec.isa);
      stream->pending = 0;
    }
    i += count;
  }
  return TSANOM_OK;
}

tsanom_status tsanom_polyfit_stream_merge(tsanom_polyfit_stream *stream,
                                          const tsanom_polyfit_stream *other,
                                          const tsanom_exec *exec) {
  tsanom_exec own_exec;
  if (!stream || !other) return TSANOM_E_NULL;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if (stream == other || stream->options.degree != other->options.degree ||
      stream->options.refine != other->options.refine) {
    return TSANOM_E_OPTION;
  }
  stream->scratch = other->sums;
  add_pending(other, &stream->scratch, own_exec.isa);
  tsn_polyfit_sums_join(&stream->sums, terms_of(stream), &stream->scratch);
  return TSANOM_OK;
}

tsanom_status tsanom_polyfit_stream_fit(tsanom_polyfit_stream *stream,
                                        const tsanom_polyfit_options *options,
                                        const tsanom_exec *exec,
                                        tsanom_polyfit_model *model) {
  tsanom_exec own_exec;
  tsanom_polyfit_options own_options;
  if (!stream || !model) return TSANOM_E_NULL;
  tsanom_status status =
      tsn_polyfit_options_read(&own_options, options ? options : &stream->options);
  if (status < 0) return status;
  if ((status = tsn_exec_read(&own_exec, exec)) < 0) return status;
  if (model->struct_size < sizeof *model) return TSANOM_E_VERSION;
  if (own_options.degree > stream->options.degree) return TSANOM_E_OPTION;
  uint64_t samples = stream->sums.samples + stream->pending;
  if (samples == 0 || (own_options.selection == TSANOM_POLYFIT_FIXED &&
                       samples <= (uint64_t)own_options.degree)) {
    return TSANOM_E_COUNT;
  }
  int terms = terms_of(stream);
  stream->scratch = stream->sums;
  add_pending(stream, &stream->scratch, own_exec.isa);
  tsn_polyfit_sums_tighten(&stream->scratch, terms);
  stream_parts parts = parts_of(stream);
  return tsn_polyfit_sums_solve(&stream->scratch, terms, stream->options.refine,
                                &own_options, own_exec.isa, &parts.scratch, model);
}
