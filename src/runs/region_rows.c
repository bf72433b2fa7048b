/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix of region times from region events: a row for each thread, or one row for a
 * process. Four passes over the events (region_tree.c): the first finds the functions to
 * leave out, the second the nodes, the third adds the times to a matrix of the final
 * size, and the fourth their samples to batches (region_error.c). The vital signs add
 * what processors explain (processors.c). */
#include <math.h>
#include <tsanom/record.h>

#include "core/fault.h"
#include "runs/region_tree.h"

/* The function with which a thread of a program without teams starts, by its place; -1: it
 * is no such thread. */
static int32_t thread_function(const tsn_region_tree *r, const tsn_stream *stream) {
  tsn_walk walk = tsn_walk_begin(NULL, true);
  tsn_visit v;
  if (!tsn_walk_next(&walk, stream, &v) || v.kind != TSN_VISIT_BEGIN) return -1;
  bool is_known = v.place >= 0 && (size_t)v.place < r->places->count;
  return is_known && tsn_places_at(r->places, (size_t)v.place)->is_thread ? v.place : -1;
}

/* That of most threads, in *function: threads that start with different functions do
 * different work, and are not compared. -1: there are no such threads. */
static tsanom_status find_function(tsn_region_tree *r, int32_t *function) {
  size_t places = r->places->count, threads = 0;
  size_t *count = tsn_pool_take(&r->scratch, places + 1, sizeof *count);
  if (!count) return tsn_region_tree_no_memory(r);
  for (size_t i = 0; i < tsn_region_tree_streams(r) && !r->is_process; i++) {
    int32_t place = thread_function(r, tsn_channel_stream(r->channel, i));
    if (place < 0 || ++count[place] <= threads) continue;
    *function = place;
    threads = count[place];
  }
  return threads == 1 ? tsn_region_tree_reject(r, TSANOM_E_STATE,
                                               "no two threads start with one function")
                      : TSANOM_OK;
}

/* Threads that recorded regions are the processes; the run lasts from its first record
 * to its last. Rows are in the order of thread numbers, which need not be dense. */
static tsanom_status number_threads(tsn_region_tree *r) {
  bool is_first = true;
  int32_t function = -1;
  tsanom_status found = find_function(r, &function);
  if (found < 0) return found;
  for (size_t i = 0; i < tsn_region_tree_streams(r); i++) {
    const tsn_stream *stream = tsn_channel_stream(r->channel, i);
    size_t thread = (size_t)stream->thread;
    if (thread >= TSANOM_RECORD_STREAMS_MAX) {
      return tsn_region_tree_reject(r, TSANOM_E_FORMAT,
                                    "a thread number is not below 65536");
    }
    if (stream->count && !r->is_process && !tsn_stream_has(stream, TSN_REGIONS_BEGIN))
      continue;
    if (function >= 0 && thread_function(r, stream) != function) continue;
    if (!tsn_array_reserve(&r->row_of, r->exec, r->threads, thread + 1, sizeof(size_t))) {
      return tsn_region_tree_no_memory(r);
    }
    for (; r->threads <= thread; r->threads++)
      *tsn_region_tree_row(r, r->threads) = TSANOM_NONE;
    if (!stream->count) continue;
    const double *time = stream->time.data;
    *tsn_region_tree_row(r, thread) = 0;
    if (is_first || time[0] < r->first) r->first = time[0];
    if (is_first || time[stream->count - 1] > r->last) r->last = time[stream->count - 1];
    is_first = false;
  }
  for (size_t t = 0; t < r->threads; t++) {
    if (*tsn_region_tree_row(r, t) != TSANOM_NONE) *tsn_region_tree_row(r, t) = r->rows++;
  }
  return TSANOM_OK;
}

static tsanom_status allocate(tsn_region_tree *r) {
  tsn_spmd *s = r->spmd;
  tsn_pool *pool = &s->pool;
  size_t regions = r->nodes.count - 1, cells = 0;
  if (__builtin_mul_overflow(r->rows, regions, &cells))
    return tsn_region_tree_no_memory(r);
  s->region = (const char **)tsn_pool_take(pool, regions, sizeof *s->region);
  s->parent = tsn_pool_take(pool, regions, sizeof *s->parent);
  s->time = tsn_pool_take(pool, cells, sizeof *s->time);
  r->unmeasured = tsn_pool_take(&r->scratch, cells, sizeof *r->unmeasured);
  if (!s->region || !s->parent || !s->time || !r->unmeasured ||
      !tsn_metrics_take(s, r->metrics, cells)) {
    return tsn_region_tree_no_memory(r);
  }
  if (r->is_process) {
    s->waiting = tsn_pool_take(pool, 1, sizeof *s->waiting);
    if (!s->waiting) return tsn_region_tree_no_memory(r);
  }
  if (!r->is_process) {
    s->error = tsn_pool_take(pool, cells, sizeof *s->error);
    bool has_space =
        r->has_totals || tsn_spmd_take_samples(&r->samples, &r->scratch, cells);
    if (!s->error || !has_space) return tsn_region_tree_no_memory(r);
  }
  s->data.regions = regions;
  s->data.processes = r->rows;
  s->data.elapsed = r->last - r->first;
  return TSANOM_OK;
}

/* The functions that were left out. */
static tsanom_status name_left_out(const tsn_region_tree *r) {
  tsn_spmd *s = r->spmd;
  size_t count = 0;
  for (size_t i = 0; i < r->places->count; i++) count += r->left_out[i];
  if (!count) return TSANOM_OK;
  s->dropped = (const char **)tsn_pool_take(&s->pool, count, sizeof *s->dropped);
  if (!s->dropped) return tsn_region_tree_no_memory(r);
  for (size_t i = 0; i < r->places->count; i++) {
    if (!r->left_out[i]) continue;
    const char *name = tsn_places_name(r->places, i, r->symbols);
    const char *own = name ? tsn_pool_copy(&s->pool, name) : NULL;
    if (!own) return tsn_region_tree_no_memory(r);
    s->dropped[s->dropped_count++] = own;
  }
  return TSANOM_OK;
}

/* Processes need names only if some threads recorded nothing. */
static tsanom_status name_threads(tsn_region_tree *r) {
  tsn_spmd *s = r->spmd;
  if (r->rows == r->threads) return TSANOM_OK;
  s->process = (const char **)tsn_pool_take(&s->pool, r->rows, sizeof *s->process);
  if (!s->process) return tsn_region_tree_no_memory(r);
  for (size_t t = 0; t < r->threads; t++) {
    size_t row = *tsn_region_tree_row(r, t);
    if (row == TSANOM_NONE) continue;
    s->process[row] = tsn_pool_print(&s->pool, "%zu", t);
    if (!s->process[row]) return tsn_region_tree_no_memory(r);
  }
  return TSANOM_OK;
}

/* What the measured visits of a cell are multiplied by to stand for all; 1: all are
 * measured, or none. */
static double scale_of(const tsn_region_tree *r, size_t cell, double measured) {
  return measured > 0 ? 1 + r->unmeasured[cell] / measured : 1;
}

/* The times of the events, in front of the totals. */
static void scale_times(const tsn_region_tree *r) {
  size_t cells = r->rows * r->spmd->data.regions;
  for (size_t i = 0; i < cells; i++) {
    double scale = scale_of(r, i, r->spmd->value[i]);
    r->spmd->time[i] *= scale;
    r->spmd->value[i] *= scale;
  }
}

static void scale_errors(const tsn_region_tree *r) {
  size_t cells = r->rows * r->spmd->data.regions;
  for (size_t i = 0; i < cells; i++) {
    r->spmd->error[i] *= scale_of(r, i, r->spmd->value[i] - r->unmeasured[i]);
  }
}

/* Totals do not show how visits scatter. What a sum of many of them scatters by is assumed,
 * so that not only factors of 1.5 are seen; of few nothing is known. */
static void assume_errors(const tsn_region_tree *r) {
  const double many = 100, part = 0.04;
  size_t cells = r->rows * r->spmd->data.regions;
  for (size_t i = 0; i < cells; i++) {
    r->spmd->error[i] = r->spmd->value[i] >= many ? part * r->spmd->time[i] : NAN;
  }
}

static tsanom_status read_pass(tsn_region_tree *r) {
  tsanom_status status = tsn_region_tree_read(r);
  if (status == TSANOM_OK && r->pass == TSN_PASS_ADD) scale_times(r);
  return status == TSANOM_OK && r->profile ? tsn_region_tree_read_totals(r) : status;
}

/* Find the regions; name them, and take space for their times. */
static tsanom_status read_regions(tsn_region_tree *r) {
  size_t totals = r->profile ? r->profile->count : 0;
  r->node_of = tsn_pool_take(&r->scratch, totals, sizeof *r->node_of);
  r->has_totals = totals > 1;
  if (!r->node_of || !tsn_region_nodes_start(&r->nodes)) {
    return tsn_region_tree_no_memory(r);
  }
  tsn_region_tree_leave_out(r);
  r->metrics = tsn_metrics_of(r->channel);
  if (!r->is_process) r->metrics &= ~(1u << TSN_REGIONS_NETWORK_BYTES);
  tsanom_status status = number_threads(r);
  if (status == TSANOM_OK) status = read_pass(r);
  if (status < 0) return status;
  if (r->nodes.count == 1)
    return tsn_region_tree_reject(r, TSANOM_E_STATE, "the run has no regions");
  if (r->measured == 0) {
    return tsn_region_tree_reject(r, TSANOM_E_STATE, "the run has no processor times");
  }
  status = allocate(r);
  if (status < 0) return status;
  if (!tsn_region_nodes_name(&r->nodes, r->places, r->symbols, &r->scratch, r->spmd)) {
    return tsn_region_tree_no_memory(r);
  }
  status = name_threads(r);
  return status == TSANOM_OK ? name_left_out(r) : status;
}

static tsanom_status add_processor_errors(tsn_region_tree *r) {
  tsn_pool *pool = &r->scratch;
  uint32_t *home = tsn_pool_take(pool, r->threads, sizeof *home);
  if (!home || !tsn_homes_read(r->channel->directory, r->threads, pool, home) ||
      !tsn_homes_read(r->directory, r->threads, pool, home)) {
    return tsn_region_tree_no_memory(r);
  }
  for (size_t t = 0; t < r->threads; t++) { /* rows are in the order of threads */
    size_t row = *tsn_region_tree_row(r, t);
    if (row != TSANOM_NONE) home[row] = home[t];
  }
  return tsn_spmd_add_processor_errors(home, r->spmd, pool)
             ? TSANOM_OK
             : tsn_region_tree_no_memory(r);
}

static tsanom_status read_all(tsn_region_tree *r) {
  tsanom_status status = read_regions(r);
  r->pass = TSN_PASS_ADD;
  if (status == TSANOM_OK) status = read_pass(r);
  if (status < 0) return status;
  tsn_metrics_complete(r->spmd);
  if (r->is_process) r->spmd->waiting[0] = r->waiting;
  if (r->is_process) return TSANOM_OK;
  if (r->has_totals) {
    assume_errors(r);
    return TSANOM_OK;
  }
  r->pass = TSN_PASS_BATCH;
  status = read_pass(r);
  tsn_spmd_errors(&r->samples, r->rows, r->spmd->data.regions, r->spmd->error);
  scale_errors(r);
  return status == TSANOM_OK ? add_processor_errors(r) : status;
}

/* The tsn_region_tree has a table of all places, too large for a stack: it is made in the pool
 * `whole`. */
static tsn_region_tree *start(tsn_pool *whole, const tsn_channel *channel,
                              tsn_places *places, tsn_spmd *spmd) {
  const tsanom_exec *exec = whole->exec;
  tsn_region_tree *r = tsn_pool_take(whole, 1, sizeof *r);
  if (!r) return NULL;
  r->channel = channel;
  r->places = places;
  r->spmd = spmd;
  r->exec = r->scratch.exec = r->nodes.exec = exec;
  return r;
}

/* Also ends the tree, and the pool. */
static tsanom_status finish(tsn_region_tree *r, tsn_pool *whole) {
  if (!r) return tsn_reject_memory(whole->exec, sizeof *r);
  tsanom_status status = read_all(r);
  tsn_region_nodes_free(&r->nodes);
  tsn_array_free(&r->row_of, whole->exec);
  tsn_pool_free(&r->scratch);
  tsn_pool_free(whole);
  return status;
}

tsanom_status tsn_spmd_read_events(const char *directory, const tsn_channel *channel,
                                   const tsn_profile *profile, tsn_places *places,
                                   bool symbols, const tsanom_exec *exec,
                                   tsn_spmd *spmd) {
  tsn_pool whole = {.exec = exec};
  tsn_region_tree *threads = start(&whole, channel, places, spmd);
  if (threads) {
    threads->directory = directory;
    threads->profile = profile;
    threads->symbols = symbols;
  }
  tsanom_status status = finish(threads, &whole);
  if (status == TSANOM_OK) tsn_spmd_complete(spmd);
  return status;
}

tsanom_status tsn_spmd_read_functions(const tsn_channel *channel, tsn_places *places,
                                      const tsanom_exec *exec, tsn_spmd *spmd) {
  tsn_pool whole = {.exec = exec};
  tsn_region_tree *process = start(&whole, channel, places, spmd);
  if (process) process->is_process = true;
  return finish(process, &whole);
}
