/* SPDX-License-Identifier: BSD-3-Clause */
/* A fit of samples that come bit by bit. The object is one block of memory
 * without pointers: this struct, then the arrays that parts_of() names. */
#include <stddef.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "core/exec.h"
#include "polyfit/polyfit_options.h"
#include "polyfit/polyfit_sums.h"

#define BLOCK ((size_t)TSN_POLYFIT_STREAM_BLOCK)

struct tsanom_polyfit_stream {
  tsanom_polyfit_options options;
  size_t pending; /* samples not yet in sums */
  tsn_polyfit_sums sums, scratch;
  tsn_polyfit_block blocks[TSN_POLYFIT_STREAM_WAVE];
  double arrays[];
};

typedef struct {
  double *x, *y, *weights; /* BLOCK pending samples */
  tsn_polyfit_sums_scratch scratch;
  tsn_polyfit_wave wave;
} stream_parts;

static int terms_of(const tsanom_polyfit_stream *stream) {
  return stream->options.degree + 1;
}

static size_t count_arrays(int terms) {
  size_t added = 2 * 3 * (size_t)terms * TSN_POLYFIT_STREAM_WAVE;
  return 3 * BLOCK + 5 * (size_t)terms * (size_t)terms + added;
}

static stream_parts parts_of(tsanom_polyfit_stream *stream) {
  size_t square = (size_t)terms_of(stream) * (size_t)terms_of(stream);
  double *next = stream->arrays + 3 * BLOCK;
  return (stream_parts){
      .x = stream->arrays,
      .y = stream->arrays + BLOCK,
      .weights = stream->arrays + 2 * BLOCK,
      .scratch = {.triangle = (tsn_dd *)next,
                  .r = next + 2 * square,
                  .inverse = next + 3 * square,
                  .matrix = next + 4 * square},
      .wave = {.blocks = stream->blocks, .added = (tsn_dd *)(next + 5 * square)}};
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
  tsanom_polyfit_stream *created = own_exec.alloc(own_exec.alloc_user, bytes);
  if (!created) return TSANOM_E_MEMORY;
  *stream = created;
  return tsanom_polyfit_stream_init(created, bytes, options);
}

tsanom_status tsanom_polyfit_stream_destroy(tsanom_polyfit_stream *stream,
                                            const tsanom_exec *exec) {
  tsanom_exec own_exec;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if (stream) own_exec.dealloc(own_exec.alloc_user, stream);
  return TSANOM_OK;
}

static tsanom_status check_samples(const tsn_polyfit_samples *samples, int32_t isa) {
  if (samples->n == 0) return TSANOM_OK;
  tsn_polyfit_ranges ranges = tsn_polyfit_survey_block(samples, isa);
  return tsn_polyfit_check(&ranges);
}

/* Put samples behind the pending ones, without counting them yet. */
static void put_behind(tsanom_polyfit_stream *stream,
                       const tsn_polyfit_samples *samples) {
  stream_parts parts = parts_of(stream);
  size_t at = stream->pending, bytes = samples->n * sizeof(double);
  memcpy(parts.x + at, samples->x, bytes);
  memcpy(parts.y + at, samples->y, bytes);
  for (size_t i = 0; i < samples->n; i++) {
    parts.weights[at + i] = samples->weights ? samples->weights[i] : 1;
  }
}

static tsn_polyfit_adding adding_to(const tsanom_polyfit_stream *stream,
                                    const tsanom_exec *exec) {
  return (tsn_polyfit_adding){
      .exec = exec, .terms = terms_of(stream), .exactly = stream->options.refine};
}

/* Add the first `count` samples that wait in `from` to `sums`. */
static void add_waiting(const tsanom_polyfit_stream *from, size_t count,
                        tsn_polyfit_sums *sums, const tsanom_exec *exec) {
  if (count == 0) return;
  tsn_polyfit_adding how = adding_to(from, exec);
  tsn_polyfit_samples block = {.x = from->arrays,
                               .y = from->arrays + BLOCK,
                               .weights = from->arrays + 2 * BLOCK,
                               .n = count};
  tsn_polyfit_sums_add(sums, &how, &block);
}

/* Samples in three pieces: the head completes the pending block, whole blocks go
 * into the sums from where they are, the tail waits. The sums grow in scratch, so
 * that all samples are taken or none. */
static tsanom_status take_samples(tsanom_polyfit_stream *stream,
                                  const tsn_polyfit_samples *samples,
                                  const tsanom_exec *exec) {
  size_t n = samples->n, pending = stream->pending;
  size_t head = pending ? BLOCK - pending : 0, whole = (n - head) / BLOCK * BLOCK;
  tsn_polyfit_samples first = tsn_polyfit_part(samples, 0, head);
  tsn_polyfit_samples middle = tsn_polyfit_part(samples, head, whole);
  tsn_polyfit_samples last = tsn_polyfit_part(samples, head + whole, n - head - whole);
  tsanom_status status = check_samples(&first, exec->isa);
  if (status == TSANOM_OK) status = check_samples(&last, exec->isa);
  if (status < 0) return status;
  stream->scratch = stream->sums;
  if (head > 0) {
    if (tsn_exec_stop(exec, 0, n)) return TSANOM_STOPPED;
    put_behind(stream, &first);
    add_waiting(stream, BLOCK, &stream->scratch, exec);
  }
  tsn_polyfit_adding how = adding_to(stream, exec);
  stream_parts parts = parts_of(stream);
  status =
      tsn_polyfit_sums_add_all(&stream->scratch, &how, &middle, &parts.wave, head, n);
  if (status != TSANOM_OK) return status;
  stream->sums = stream->scratch;
  stream->pending = 0;
  put_behind(stream, &last);
  stream->pending = last.n;
  return TSANOM_OK;
}

tsanom_status tsanom_polyfit_stream_push(tsanom_polyfit_stream *stream, const double *x,
                                         const double *y, const double *weights, size_t n,
                                         const tsanom_exec *exec) {
  tsanom_exec own_exec;
  if (!stream || !x || !y) return TSANOM_E_NULL;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  tsn_polyfit_samples samples = {.x = x, .y = y, .weights = weights, .n = n};
  if (n >= BLOCK - stream->pending) return take_samples(stream, &samples, &own_exec);
  if ((status = check_samples(&samples, own_exec.isa)) < 0) return status;
  put_behind(stream, &samples);
  stream->pending += n;
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
  add_waiting(other, other->pending, &stream->scratch, &own_exec);
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
  add_waiting(stream, stream->pending, &stream->scratch, &own_exec);
  tsn_polyfit_sums_tighten(&stream->scratch, terms);
  stream_parts parts = parts_of(stream);
  return tsn_polyfit_sums_solve(&stream->scratch, terms, stream->options.refine,
                                &own_options, own_exec.isa, &parts.scratch, model);
}
