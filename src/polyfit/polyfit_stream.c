/* SPDX-License-Identifier: BSD-3-Clause */
/* A fit of samples that arrive in pieces. The object is this struct, followed by the
 * arrays of parts_of(), whose offsets follow from the degree.
 *
 *   push:  | head | whole blocks of 2048 ...        | tail |
 *            |      summed where they are              kept as pending samples
 *            completes the pending block, which is summed
 *
 * Blocks are those of the stream, not of the pushes, so that the sums do not depend on
 * how the samples are divided among pushes. A push costs O(terms) per sample, a fit
 * O(terms^3), and the memory does not depend on the number of samples. Until the first
 * block is complete all samples are at hand, and the fit is that of arrays: it keeps the
 * digits that sums lose at condition numbers above 1e8.
 *
 * It bounds the memory: a fit of all samples at once needs them all (10^8 take 1.6 GB, a
 * stream of them 6 MiB, docs/polyfit.md). Python's FitStream is this object.
 *
 * A push is atomic: the sums are updated in `scratch`, which replaces them at the end. A
 * poll that stops it, or an invalid sample, leaves the stream as it was. */
#include <stddef.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "core/arena.h"
#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/state.h"
#include "polyfit/polyfit_call.h"
#include "polyfit/polyfit_solve.h"
#include "polyfit/polyfit_sums.h"

#define BLOCK ((size_t)TSN_POLYFIT_STREAM_BLOCK)

struct tsanom_polyfit_stream {
  tsn_object owner;
  tsanom_polyfit_options options; /* degree: the highest of any fit */
  size_t pending;                 /* samples not yet in sums, less than a block */
  tsn_polyfit_sums sums, scratch; /* of whole blocks; of the call in progress */
  tsn_polyfit_block blocks[TSN_POLYFIT_STREAM_WAVE];
  double arrays[]; /* see parts_of() */
};

typedef struct {
  double *x, *y, *weights;          /* BLOCK pending samples */
  tsn_polyfit_sums_scratch scratch; /* its lanes are the end of the arrays */
  tsn_polyfit_wave wave;
  double *solving; /* of the fit of pending samples; the memory of scratch and wave */
} stream_parts;

static int terms_of(const tsanom_polyfit_stream *stream) {
  return stream->options.degree + 1;
}

/* Doubles of the arrays before the lanes: pending samples, four squares (the double-double one
 * counts twice), the sums of the blocks of a wave, and scratch of their interval. Both functions
 * follow one order. */
static size_t lanes_begin(int terms) {
  size_t added = 2 * (3 * TSN_POLYFIT_STREAM_WAVE + TSN_POLYFIT_TURNING) * (size_t)terms;
  size_t sums = 5 * (size_t)terms * (size_t)terms + added;
  size_t solving = tsn_polyfit_scratch(BLOCK, (size_t)terms, 1);
  return 3 * BLOCK + (sums > solving ? sums : solving);
}

static stream_parts parts_of(tsanom_polyfit_stream *stream) {
  size_t terms = (size_t)terms_of(stream), square = terms * terms;
  double *next = stream->arrays + 3 * BLOCK;
  double *lanes = tsn_polyfit_lanes_in(stream->arrays + lanes_begin(terms_of(stream)));
  tsn_dd *added = (tsn_dd *)(next + 5 * square);
  return (stream_parts){.x = stream->arrays,
                        .y = stream->arrays + BLOCK,
                        .weights = stream->arrays + 2 * BLOCK,
                        .scratch = {.triangle = (tsn_dd *)next,
                                    .r = next + 2 * square,
                                    .inverse = next + 3 * square,
                                    .matrix = next + 4 * square,
                                    .lanes = lanes},
                        .wave = {.blocks = stream->blocks,
                                 .added = added,
                                 .turning = added + 3 * TSN_POLYFIT_STREAM_WAVE * terms},
                        .solving = next};
}

/* The block of a stream, and where its handle goes. */
typedef struct {
  tsanom_exec exec;
  tsanom_polyfit_options options;
  tsanom_polyfit_stream *stream, **handle;
} stream_block;

static void layout(tsn_arena *arena, void *context) {
  stream_block *block = context;
  int terms = block->options.degree + 1;
  size_t arrays = lanes_begin(terms) + tsn_polyfit_lanes_of(1, (size_t)terms);
  block->stream =
      tsn_arena_take(arena, 1, sizeof *block->stream + arrays * sizeof(double));
}

static tsanom_status check(void *context) {
  const stream_block *block = context;
  return tsn_require(&block->exec, block->handle, "stream");
}

static const tsn_saved saved;

tsanom_status tsanom_polyfit_stream_create(const tsanom_polyfit_options *options,
                                           const tsanom_exec *exec,
                                           tsanom_polyfit_stream **stream) {
  stream_block block = {.handle = stream};
  tsn_object owner;
  tsanom_status status = tsn_exec_read(&block.exec, exec);
  if (status < 0) return status;
  status = tsn_polyfit_options_read(&block.options, options, &block.exec);
  if (status < 0) return status;
  status = tsn_object_create(&block.exec, layout, check, &block, &owner);
  if (status < 0) return status;
  owner.saved = &saved;
  block.stream->owner = owner;
  block.stream->options = block.options;
  block.stream->pending = 0;
  tsn_polyfit_sums_clear(&block.stream->sums);
  *stream = block.stream;
  return TSANOM_OK;
}

void tsanom_polyfit_stream_destroy(tsanom_polyfit_stream *stream) {
  if (stream) tsn_object_release(&stream->owner);
}

/* The ranges of samples reveal NaN, infinity and weights that are not positive. Pending
 * samples are checked when they arrive, since they are summed by a later call, which
 * could not reject them. */
static bool valid_samples(const tsn_polyfit_samples *samples, int32_t isa) {
  if (samples->n == 0) return true;
  tsn_polyfit_ranges ranges = tsn_polyfit_ranges_of(samples, isa);
  return tsn_polyfit_valid(&ranges);
}

/* Copy samples after the pending ones, without counting them yet. Weights are stored even
 * if there are none: later pushes may have some. */
static void append(tsanom_polyfit_stream *stream, const tsn_polyfit_samples *samples) {
  stream_parts parts = parts_of(stream);
  size_t at = stream->pending, bytes = samples->n * sizeof(double);
  memcpy(parts.x + at, samples->x, bytes);
  memcpy(parts.y + at, samples->y, bytes);
  for (size_t i = 0; i < samples->n; i++) {
    parts.weights[at + i] = samples->weights ? samples->weights[i] : 1;
  }
}

static tsn_polyfit_adding adding_to(tsanom_polyfit_stream *stream,
                                    const tsanom_exec *exec) {
  stream_parts parts = parts_of(stream);
  return (tsn_polyfit_adding){.exec = exec,
                              .terms = terms_of(stream),
                              .exactly = stream->options.refine,
                              .lanes = parts.scratch.lanes,
                              .wave = parts.wave};
}

/* The first `count` of the arrays of a stream. */
static tsn_polyfit_samples pending_of(const tsanom_polyfit_stream *from, size_t count) {
  return (tsn_polyfit_samples){.x = from->arrays,
                               .y = from->arrays + BLOCK,
                               .weights = from->arrays + 2 * BLOCK,
                               .n = count};
}

/* Add the first `count` pending samples of `from` to the scratch of `stream`. */
static void add_pending(const tsanom_polyfit_stream *from, size_t count,
                        tsanom_polyfit_stream *stream, const tsanom_exec *exec) {
  if (count == 0) return;
  tsn_polyfit_adding how = adding_to(stream, exec);
  tsn_polyfit_samples block = pending_of(from, count);
  tsn_polyfit_sums_add(&stream->scratch, &how, &block);
}

/* Take samples that complete at least one block. The sums are updated in `scratch` and
 * copied at the end, so that all samples are taken or none. */
static tsanom_status take_samples(tsanom_polyfit_stream *stream,
                                  const tsn_polyfit_samples *samples,
                                  const tsanom_exec *exec) {
  size_t n = samples->n, pending = stream->pending;
  size_t head = pending ? BLOCK - pending : 0, whole = (n - head) / BLOCK * BLOCK;
  tsn_polyfit_samples first = tsn_polyfit_part(samples, 0, head);
  tsn_polyfit_samples middle = tsn_polyfit_part(samples, head, whole);
  tsn_polyfit_samples last = tsn_polyfit_part(samples, head + whole, n - head - whole);
  if (!valid_samples(&first, exec->isa) || !valid_samples(&last, exec->isa)) {
    return TSANOM_E_VALUE;
  }
  stream->scratch = stream->sums;
  if (head > 0) {
    if (tsn_exec_stop(exec, 0, n)) return TSANOM_STOPPED;
    append(stream, &first);
    add_pending(stream, BLOCK, stream, exec);
  }
  tsn_polyfit_adding how = adding_to(stream, exec);
  tsanom_status status =
      tsn_polyfit_sums_add_all(&stream->scratch, &how, &middle, head, n);
  if (status != TSANOM_OK) return status;
  stream->sums = stream->scratch;
  stream->pending = 0;
  append(stream, &last);
  stream->pending = last.n;
  return TSANOM_OK;
}

static tsanom_status push(tsanom_polyfit_stream *stream,
                          const tsn_polyfit_samples *samples, const tsanom_exec *exec) {
  if (samples->n >= BLOCK - stream->pending) return take_samples(stream, samples, exec);
  if (!valid_samples(samples, exec->isa)) return TSANOM_E_VALUE;
  append(stream, samples);
  stream->pending += samples->n;
  return TSANOM_OK;
}

tsanom_status tsanom_polyfit_stream_push(tsanom_polyfit_stream *stream, const double *x,
                                         const double *y, const double *weights, size_t n,
                                         const tsanom_exec *exec) {
  tsanom_exec own_exec;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if ((status = tsn_require(&own_exec, stream, "stream")) < 0) return status;
  if (!x || !y) return tsn_reject_null(&own_exec, x ? "y" : "x", n);
  if ((status = tsn_polyfit_check_size(n, &own_exec)) < 0) return status;
  tsn_polyfit_samples samples = {.x = x, .y = y, .weights = weights, .n = n};
  TSN_IN_ENVIRONMENT(before);
  status = push(stream, &samples, &own_exec);
  return status < 0 ? tsn_polyfit_reject(&samples, &own_exec) : status;
}

/* `other` is not changed: its pending samples are added to a copy of its sums, as one
 * shorter block. Interval and units of the result contain both. */
tsanom_status tsanom_polyfit_stream_merge(tsanom_polyfit_stream *stream,
                                          const tsanom_polyfit_stream *other,
                                          const tsanom_exec *exec) {
  tsanom_exec own_exec;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if (!stream || !other) {
    return tsn_reject_null(&own_exec, stream ? "other" : "stream", TSANOM_NONE);
  }
  const tsanom_polyfit_options *own = &stream->options, *added = &other->options;
  if (stream == other) {
    return tsn_reject_is(&own_exec, TSANOM_E_OPTION, "other", TSANOM_NONE,
                         "stream; another one is expected");
  }
  if (own->degree != added->degree || own->refine != added->refine) {
    return tsn_reject_is(
        &own_exec, TSANOM_E_OPTION, "other", TSANOM_NONE,
        "of degree %d with refine %d; degree %d and refine %d are expected",
        (int)added->degree, (int)added->refine, (int)own->degree, (int)own->refine);
  }
  tsn_environment before = tsn_environment_enter();
  stream->scratch = other->sums;
  add_pending(other, other->pending, stream, &own_exec);
  tsn_polyfit_sums_join(&stream->sums, terms_of(stream), &stream->scratch,
                        parts_of(stream).wave.turning);
  tsn_environment_leave(before);
  return TSANOM_OK;
}

/* The degree of a fit may be lower than the stream's, whose sums contain those of every
 * lower degree. refine = 0 has no effect on sums that are in double-double already, and
 * is rejected. */
static tsanom_status check_fit(const tsanom_polyfit_stream *stream,
                               const tsanom_polyfit_options *options,
                               const tsanom_polyfit_model *model,
                               const tsanom_exec *exec) {
  tsanom_status status = tsn_polyfit_model_check(model, exec);
  if (status < 0) return status;
  if (options->degree > stream->options.degree) {
    return tsn_reject_is(exec, TSANOM_E_OPTION, "options.degree", TSANOM_NONE,
                         "%d; at most %d is expected, the degree of the stream",
                         (int)options->degree, (int)stream->options.degree);
  }
  if (!options->refine && stream->options.refine) {
    return tsn_reject_is(exec, TSANOM_E_OPTION, "options.refine", TSANOM_NONE,
                         "0; 1 is expected, as for the stream");
  }
  return tsn_polyfit_check_count(stream->sums.samples + stream->pending, options, exec);
}

/* The stream can grow on: the fit works on a copy of the sums, to which the pending
 * samples are added and whose interval becomes that of the samples. */
static tsanom_status fit_sums(tsanom_polyfit_stream *stream,
                              const tsanom_polyfit_options *options,
                              const tsanom_exec *exec, tsanom_polyfit_model *model) {
  int terms = terms_of(stream);
  stream_parts parts = parts_of(stream);
  stream->scratch = stream->sums;
  add_pending(stream, stream->pending, stream, exec);
  tsn_polyfit_sums_tighten(&stream->scratch, terms, parts.wave.turning);
  return tsn_polyfit_sums_solve(&stream->scratch, terms, stream->options.refine, options,
                                exec->isa, &parts.scratch, model);
}

static tsanom_status fit_pending(tsanom_polyfit_stream *stream,
                                 const tsanom_polyfit_options *options,
                                 const tsanom_exec *exec, tsanom_polyfit_model *model) {
  tsn_polyfit_samples samples = pending_of(stream, stream->pending);
  tsanom_polyfit_options own = *options;
  tsanom_exec alone = *exec;
  own.refine = stream->options.refine;
  alone.threads = 1;
  alone.poll = NULL;
  return tsn_polyfit_solve(&samples, &own, &alone, parts_of(stream).solving, model);
}

tsanom_status tsanom_polyfit_stream_fit(tsanom_polyfit_stream *stream,
                                        const tsanom_polyfit_options *options,
                                        const tsanom_exec *exec,
                                        tsanom_polyfit_model *model) {
  tsanom_exec own_exec;
  tsanom_polyfit_options own_options;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if ((status = tsn_require(&own_exec, stream, "stream")) < 0) return status;
  if (!options) options = &stream->options;
  status = tsn_polyfit_options_read(&own_options, options, &own_exec);
  if (status == TSANOM_OK) status = check_fit(stream, &own_options, model, &own_exec);
  if (status < 0) return status;
  tsn_environment before = tsn_environment_enter();
  status = (stream->sums.samples ? fit_sums : fit_pending)(stream, &own_options,
                                                           &own_exec, model);
  tsn_environment_leave(before);
  return status;
}

/* All fields but the options. Before the first block there are no sums, and the map of x
 * follows from the interval and the units. */
static void exchange(tsn_state *state, void *object) {
  tsanom_polyfit_stream *stream = object;
  tsn_polyfit_sums *sums = &stream->sums;
  double *ranges[] = {&sums->frame.low, &sums->frame.high, &sums->x_low,
                      &sums->x_high,    &sums->y_low,      &sums->y_high};
  tsn_state_field(state, &stream->pending, sizeof stream->pending);
  tsn_state_field(state, &sums->samples, sizeof sums->samples);
  if (stream->pending >= BLOCK) {
    state->damaged = true;
    return;
  }
  for (size_t i = 0; i < 3; i++) {
    tsn_state_field(state, stream->arrays + i * BLOCK, stream->pending * sizeof(double));
  }
  if (sums->samples == 0) {
    if (state->from) tsn_polyfit_sums_clear(sums);
    return;
  }
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    tsn_state_field(state, ranges[i], sizeof **ranges);
  }
  tsn_polyfit_map *map = &sums->frame.map;
  tsn_state_field(state, &map->y_exponent, sizeof map->y_exponent);
  tsn_state_field(state, &map->weight_exponent, sizeof map->weight_exponent);
  tsn_state_field(state, sums->sums, 3 * (size_t)terms_of(stream) * sizeof *sums->sums);
}

/* Whether the restored fields are those of samples. */
static bool resume(void *object) {
  tsanom_polyfit_stream *stream = object;
  tsn_polyfit_samples pending = pending_of(stream, stream->pending);
  return valid_samples(&pending, TSANOM_ISA_BASE) &&
         (stream->sums.samples == 0 ||
          tsn_polyfit_sums_restore(&stream->sums, terms_of(stream)));
}

static const tsn_saved saved = {
    .kind = UINT64_C(0x4D41455254535450), /* "PTSTREAM" */
    .options = offsetof(tsanom_polyfit_stream, options),
    .options_bytes = sizeof(tsanom_polyfit_options),
    .exchange = exchange,
    .resume = resume,
};
