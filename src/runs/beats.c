/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread number usually has one stream, and its series is that stream's array, not
 * copied. Nested parallel regions reuse numbers: then several streams have one number,
 * and the series is an array of its own, into which new beats are merged from the end:
 *
 *   time   | sorted, count beats | waiting beats, sorted | copy of the waiting beats |
 *          |<------------------- merged ---------------->|
 *
 * which moves only beats that are later than the earliest new one. Merging from the
 * beginning would need a copy of the old beats, which are many, instead of the new ones.
 * For w new beats the cost is O(w log w) to sort them and O(w + old beats behind the
 * earliest new one) to merge.
 *
 * `tsanom record` numbers the iterations of the main loop. When it finds that the loop it
 * has followed is only a part of the main loop, it begins anew:
 *
 *   tags   1 2 3 4 5 6 7 1 2 3 ...      the seven are not of the main loop
 *                        ^ restart
 *
 * Beats before the last restart are not shown: of a thread with one stream, sampled or
 * not, those before its own, of others, and of threads without one, those before the
 * leader's.
 *
 * A main loop is found after some iterations. Records in front of the first beat have in
 * their tags how long ago these began, and get these times. They are shown of a thread
 * with one stream:
 *
 *   recorded   |  |  |  |  |  |  |        ccc|        |        |
 *   shown      c           c         c       |        |        |
 *
 * The first time that a number gets its second stream, `taken` is zero for both, so that
 * all beats of the first one are merged as new. */
#include "runs/beats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/size.h"
#include "record/regions.h"
#include "runs/profile.h"

/* At most this many beats become new in one update, 256 MB while it is made. Of a run
 * with more the latest are shown. */
enum { FRESH_MOST = 1 << 24 };

typedef struct {
  uint64_t number, moment;
} slot;

/* The rows of one thread, and what they say. */
typedef struct {
  const tsn_regions_row *first, *thread;
  const slot *slot;
  size_t slots;
} group;

static size_t rows_of_group(const tsn_profile *profile, size_t at) {
  const tsn_regions_row *first = &profile->row[at];
  size_t rows = 1;
  while (at + rows < profile->count && first[rows].kind == TSN_REGIONS_ROW_BEATS &&
         first[rows].parent == first->parent && first[rows].place == rows) {
    rows++;
  }
  return rows;
}

static bool begins_group(const tsn_regions_row *row) {
  return row->kind == TSN_REGIONS_ROW_BEATS && row->place == 0;
}

static int by_number(const void *a, const void *b) {
  const slot *x = a, *y = b;
  return (x->number > y->number) - (x->number < y->number);
}

/* The slots in use, in order, each number once; there is space for them. */
static group read_group(const tsn_beats *beats, const tsn_profile *profile, size_t at) {
  size_t rows = rows_of_group(profile, at), used = 0, kept = 0;
  slot *slots = beats->slots.data;
  for (size_t i = 0; i < rows; i++) {
    const tsn_regions_row *r = &profile->row[at + i];
    if (r->visits) slots[used++] = (slot){r->visits, r->elapsed};
    if (r->useful) slots[used++] = (slot){r->useful, r->waiting};
  }
  qsort(slots, used, sizeof *slots, by_number);
  for (size_t i = 0; i < used; i++) {
    if (kept == 0 || slots[i].number != slots[kept - 1].number) slots[kept++] = slots[i];
  }
  return (group){.first = &profile->row[at],
                 .thread = &profile->row[profile->row[at].parent],
                 .slot = slots,
                 .slots = kept};
}

static double seconds(uint64_t moment, uint64_t began) {
  return (double)(int64_t)(moment - began) * 1e-9;
}

/* A slot behind those that are shown, and what lies between, at `to`, unless NULL. Returns
 * how many beats these are. */
static size_t show_slot(tsn_sampled_beats *s, tsn_sampled_thread *t, const slot *beat,
                        double time, double *to) {
  uint64_t steps = t->number ? beat->number - t->number : 1;
  double distance = (time - t->time) / (double)steps;
  for (uint64_t i = 1; to && i < steps; i++) to[i - 1] = t->time + distance * (double)i;
  if (to) to[steps - 1] = time;
  s->interpolated += steps - 1;
  s->known++;
  t->number = beat->number;
  t->time = time;
  return steps;
}

/* What is new of a thread, at most `most` beats, behind the waiting ones of its number; or,
 * if `counts`, their number only. */
static void take_group(tsn_sampled_beats *s, const group *g, tsn_sampled_thread *t,
                       uint64_t most, uint64_t began, tsn_merged *m, bool counts) {
  if (g->first->cpu != t->anew) {
    *t = (tsn_sampled_thread){.anew = g->first->cpu,
                              .from = seconds(g->first->cpu, began)};
    if (g->thread->place) s->from = fmax(s->from, t->from);
  }
  t->thread = g->thread->thread;
  if (!g->slots) return;
  uint64_t last = g->slot[g->slots - 1].number, least = t->number;
  bool skips = last > t->number && last - t->number > most;
  if (skips) {
    least = last - most;
    t->number = 0;
  }
  for (size_t i = 0; i < g->slots; i++) {
    if (g->slot[i].number <= least) continue;
    double time = seconds(g->slot[i].moment, began);
    if (t->number && time <= t->time) continue;
    if (skips && !t->number) s->from = fmax(s->from, time);
    double *to = counts ? NULL : (double *)m->time.data + m->count + m->waiting;
    m->waiting += show_slot(s, t, &g->slot[i], time, to);
    m->is_sampled = true;
  }
}

static tsn_merged *merged_at(const tsn_beats *beats, size_t thread) {
  return (tsn_merged *)beats->merged.data + thread;
}

static size_t *taken_at(const tsn_beats *beats, size_t stream) {
  return (size_t *)beats->taken.data + stream;
}

static tsn_restart *restart_at(const tsn_beats *beats, size_t stream) {
  return (tsn_restart *)beats->restart.data + stream;
}

static tsanom_hsa_series *series_at(const tsn_beats *beats, size_t thread) {
  return (tsanom_hsa_series *)beats->series.data + thread;
}

static tsanom_status no_memory(const tsn_channel *channel, const tsanom_exec *exec) {
  tsn_file_place place = {.file = channel->directory};
  return tsn_reject_file(exec, TSANOM_E_MEMORY, &place, "out of memory");
}

/* The number of series: one more than the greatest thread number. A damaged or hostile
 * number would allocate a series for each number below it, so it is bounded first. */
static tsanom_status count_threads(const tsn_channel *channel, const tsn_profile *profile,
                                   const tsanom_exec *exec, size_t *threads) {
  for (size_t i = 0; i < channel->streams_seen; i++) {
    int32_t thread = tsn_channel_stream(channel, i)->thread;
    if (thread >= TSN_THREADS_MOST) {
      tsn_source source =
          tsn_source_named(exec, channel->directory, TSN_STREAM_FILE, (unsigned)i);
      return tsn_source_fault(
          &source, TSANOM_E_FORMAT, offsetof(tsn_stream_header, announced),
          "thread %d: numbers below %d are expected", thread, TSN_THREADS_MOST);
    }
    *threads = tsn_larger(*threads, (size_t)thread + 1);
  }
  for (size_t k = 1; k < profile->count; k++) {
    if (!begins_group(&profile->row[k])) continue;
    uint32_t thread = profile->row[profile->row[k].parent].thread;
    if (thread < TSN_THREADS_MOST) *threads = tsn_larger(*threads, (size_t)thread + 1);
  }
  return TSANOM_OK;
}

/* Grow the tables; new entries are empty. What is shown (beats->threads) does not
 * change. */
static bool reserve_threads(tsn_beats *beats, const tsn_channel *channel,
                            size_t threads) {
  const tsanom_exec *memory = channel->memory;
  size_t streams = channel->streams_seen;
  if (!tsn_array_reserve(&beats->series, memory, beats->threads, threads,
                         sizeof(tsanom_hsa_series)) ||
      !tsn_array_reserve(&beats->merged, memory, beats->threads, threads,
                         sizeof(tsn_merged)) ||
      !tsn_array_reserve(&beats->taken, memory, beats->streams, streams,
                         sizeof(size_t)) ||
      !tsn_array_reserve(&beats->restart, memory, beats->streams, streams,
                         sizeof(tsn_restart))) {
    return false;
  }
  for (size_t t = beats->threads; t < threads; t++) {
    *series_at(beats, t) = (tsanom_hsa_series){.beats = 0};
    *merged_at(beats, t) = (tsn_merged){.count = 0};
  }
  for (size_t i = beats->streams; i < streams; i++) {
    *taken_at(beats, i) = 0;
    *restart_at(beats, i) = (tsn_restart){.scanned = 0};
  }
  beats->threads_seen = threads;
  beats->streams_seen = streams;
  return true;
}

static void free_merged(tsn_beats *beats, size_t first, size_t end,
                        const tsanom_exec *memory) {
  for (size_t t = first; t < end; t++) {
    tsn_array_free(&merged_at(beats, t)->time, memory);
  }
}

/* A thread that continues by a sample counts as one with several streams. */
enum { SEVERAL = 2 };

/* Take what is new in the profile, of a run that began at that moment of CLOCK_MONOTONIC,
 * into the next state; there is space for it. */
static void take_sampled(tsn_beats *beats, const tsn_profile *profile, uint64_t began,
                         bool counts) {
  tsn_sampled_beats *next = &beats->sampled_next;
  tsn_sampled_thread *thread = next->thread.data;
  const tsn_array own = next->thread;
  size_t groups = 0, at = 0;
  for (size_t k = 1; k < profile->count; k++) groups += begins_group(&profile->row[k]);
  for (size_t i = 0; i < groups; i++) thread[i] = (tsn_sampled_thread){.number = 0};
  size_t shown = beats->sampled.count;
  if (shown) memcpy(thread, beats->sampled.thread.data, shown * sizeof *thread);
  *next = beats->sampled;
  next->thread = own;
  next->count = tsn_larger(groups, shown);
  tsn_merged nowhere = {.count = 0};
  for (size_t k = 1; k < profile->count; k++) {
    if (!begins_group(&profile->row[k])) continue;
    group g = read_group(beats, profile, k);
    bool is_shown = g.thread->thread < beats->threads_seen;
    take_group(next, &g, &thread[at++], FRESH_MOST / tsn_larger(groups, 1), began,
               is_shown ? merged_at(beats, g.thread->thread) : &nowhere,
               counts || !is_shown);
  }
}

static bool reserve_sampled(tsn_beats *beats, const tsn_profile *profile,
                            const tsanom_exec *memory) {
  size_t groups = 0, rows = 0;
  for (size_t k = 1; k < profile->count; k++) {
    if (!begins_group(&profile->row[k])) continue;
    groups++;
    rows = tsn_larger(rows, rows_of_group(profile, k));
  }
  return tsn_array_reserve(&beats->slots, memory, 0, 2 * rows, sizeof(slot)) &&
         tsn_array_reserve(&beats->sampled_next.thread, memory, 0,
                           tsn_larger(groups, beats->sampled.count),
                           sizeof(tsn_sampled_thread));
}

tsanom_status tsn_beats_prepare(tsn_beats *beats, const tsn_channel *channel,
                                const tsn_profile *profile, const tsanom_exec *exec) {
  size_t threads = beats->threads;
  tsanom_status status = count_threads(channel, profile, exec, &threads);
  if (status < 0) return status;
  if (!reserve_threads(beats, channel, threads) ||
      !reserve_sampled(beats, profile, channel->memory)) {
    return no_memory(channel, exec);
  }
  for (size_t t = 0; t < beats->threads_seen; t++) merged_at(beats, t)->waiting = 0;
  take_sampled(beats, profile, channel->header_seen.first.nanoseconds, true);
  for (size_t t = 0; t < beats->threads_seen; t++) {
    merged_at(beats, t)->streams = merged_at(beats, t)->is_sampled ? SEVERAL : 0;
  }
  for (size_t i = 0; i < channel->streams_seen; i++) {
    const tsn_stream *stream = tsn_channel_stream(channel, i);
    tsn_merged *merged = merged_at(beats, (size_t)stream->thread);
    merged->streams++;
    merged->waiting += stream->seen - *taken_at(beats, i);
  }
  for (size_t t = 0; t < beats->threads_seen; t++) {
    tsn_merged *m = merged_at(beats, t);
    if (m->streams < 2) continue;
    size_t copied = m->count ? m->waiting : 0; /* by merge_end() */
    if (!tsn_array_reserve(&m->time, channel->memory, m->count,
                           m->count + m->waiting + copied, sizeof(double))) {
      return no_memory(channel, exec);
    }
  }
  return TSANOM_OK;
}

static int by_time(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bool is_sorted(const double *time, size_t count) {
  size_t i = 1;
  while (i < count && time[i - 1] <= time[i]) i++;
  return i >= count;
}

/* Sort the `added` beats behind the first `count`, and merge both from the end. Of equal
 * times the old one comes first. The loop ends as soon as all new beats are placed: the
 * old ones before them are where they belong. Without old ones there is no space for a
 * copy. */
static void merge_end(double *time, size_t count, size_t added) {
  double *copy = time + count + added;
  if (!is_sorted(time + count, added)) qsort(time + count, added, sizeof *time, by_time);
  if (!count) return;
  memcpy(copy, time + count, added * sizeof *time);
  size_t old = count, fresh = added;
  while (fresh) {
    size_t to = old + fresh - 1;
    if (old && time[old - 1] > copy[fresh - 1]) {
      time[to] = time[--old];
    } else {
      time[to] = copy[--fresh];
    }
  }
}

static bool is_early(uint32_t tag) {
  return tag >> TSN_REGIONS_EARLY_BIT;
}

/* Whether record k of a stream is the first of those at a restart, or, of an early one,
 * at the beginning. */
static bool begins_anew(const uint32_t *tag, size_t k) {
  if (k && is_early(tag[k - 1])) return false;
  return is_early(tag[k]) || (k && tag[k] <= tag[k - 1]);
}

/* Find the last restart of each stream, and of the leader's when it was: between its last
 * beat before and its first behind, since the other threads of its team beat at nearly
 * the same times. */
static void find_restarts(tsn_beats *beats, const tsn_channel *channel) {
  const uint32_t distance = (UINT32_C(1) << TSN_REGIONS_EARLY_BIT) - 1;
  for (size_t i = 0; i < channel->stream_count; i++) {
    const tsn_stream *stream = tsn_channel_stream(channel, i);
    tsn_restart *restart = restart_at(beats, i);
    const uint32_t *tag = stream->tag.data;
    double *time = stream->time.data;
    for (; restart->scanned < stream->count; restart->scanned++) {
      size_t k = restart->scanned;
      double now = time[k];
      if (is_early(tag[k])) {
        time[k] = now - 1e-6 * (tag[k] & distance);
        if (k && is_early(tag[k - 1])) time[k] = fmax(time[k], time[k - 1]);
      }
      if (!begins_anew(tag, k)) continue;
      restart->first = k;
      restart->at = now;
      if (i == 0) beats->from = k ? time[k - 1] + (now - time[k - 1]) / 2 : time[k];
    }
  }
}

static void show_from(const tsn_beats *beats, size_t thread, const double *time,
                      size_t count, size_t first) {
  *series_at(beats, thread) =
      (tsanom_hsa_series){.time = first ? time + first : time, .beats = count - first};
}

/* The beats of a thread from its own restart on, but none before the leader's. */
static void show(const tsn_beats *beats, const tsn_stream *stream,
                 const tsn_restart *restart) {
  const double *time = stream->time.data;
  size_t first = restart->first;
  if (restart->at < beats->from) {
    while (first < stream->count && time[first] < beats->from) first++;
  }
  show_from(beats, (size_t)stream->thread, time, stream->count, first);
}

static void show_merged(const tsn_beats *beats, size_t thread) {
  const tsn_merged *m = merged_at(beats, thread);
  const double *time = m->time.data;
  double from = m->restart < beats->from ? fmax(m->from, beats->from) : m->from;
  size_t first = 0;
  while (first < m->count && time[first] < from) first++;
  show_from(beats, thread, time, m->count, first);
}

/* The beats that continue a thread are new ones of a merged number. */
static void show_sampled(tsn_beats *beats, const tsn_profile *profile, uint64_t began) {
  take_sampled(beats, profile, began, false);
  tsn_sampled_beats before = beats->sampled;
  beats->sampled = beats->sampled_next;
  beats->sampled_next = before;
  beats->from = fmax(beats->from, beats->sampled.from);
  for (size_t i = 0; i < beats->sampled.count; i++) {
    const tsn_sampled_thread *t = (tsn_sampled_thread *)beats->sampled.thread.data + i;
    if (t->thread >= beats->threads_seen) continue;
    tsn_merged *m = merged_at(beats, t->thread);
    if (t->anew && m->streams <= SEVERAL + 1) m->from = fmax(m->from, t->from);
  }
}

/* Of the one stream of a sampled thread, take no beats before its restart, or show none
 * that are taken. */
static void skip_inner(tsn_merged *m, const tsn_restart *restart, size_t *taken) {
  if (*taken && *taken <= restart->first) m->from = fmax(m->from, restart->at);
  *taken = tsn_larger(*taken, restart->first);
  m->restart = restart->at;
}

/* Show what the channel has committed. Collect the new beats of each merged number
 * behind its sorted ones, then merge once, however many streams it has. */
bool tsn_beats_update(tsn_beats *beats, const tsn_channel *channel,
                      const tsn_profile *profile) {
  double from = beats->from;
  bool is_new = false; /* a merged number, whose early beats are no longer shown */
  if (beats->is_numbered) find_restarts(beats, channel);
  for (size_t t = 0; t < beats->threads_seen; t++) merged_at(beats, t)->waiting = 0;
  show_sampled(beats, profile, channel->header.first.nanoseconds);
  for (size_t i = 0; i < channel->stream_count; i++) {
    const tsn_stream *stream = tsn_channel_stream(channel, i);
    size_t thread = (size_t)stream->thread, *taken = taken_at(beats, i);
    tsn_merged *m = merged_at(beats, thread);
    if (m->streams < 2) {
      show(beats, stream, restart_at(beats, i));
      continue;
    }
    if (m->streams == SEVERAL + 1) skip_inner(m, restart_at(beats, i), taken);
    size_t added = stream->count - *taken;
    if (!added) continue;
    double *to = (double *)m->time.data + m->count + m->waiting;
    memcpy(to, (double *)stream->time.data + *taken, added * sizeof *to);
    m->waiting += added;
    *taken = stream->count;
  }
  for (size_t t = 0; t < beats->threads_seen; t++) {
    tsn_merged *m = merged_at(beats, t);
    if (m->streams < 2) continue;
    is_new |= !m->count && m->waiting;
    if (m->waiting) merge_end(m->time.data, m->count, m->waiting);
    m->count += m->waiting;
    show_merged(beats, t);
  }
  beats->threads = beats->threads_seen;
  beats->streams = beats->streams_seen;
  beats->run =
      (tsanom_hsa_run){.threads = beats->series.data, .thread_count = beats->threads};
  return is_new || beats->from != from;
}

/* Arrays that grew have moved, and the series that are shown point into them. */
void tsn_beats_discard(tsn_beats *beats, const tsn_channel *channel) {
  free_merged(beats, beats->threads, beats->threads_seen, channel->memory);
  beats->threads_seen = beats->threads;
  beats->streams_seen = beats->streams;
  for (size_t i = 0; i < channel->stream_count; i++) {
    const tsn_stream *stream = tsn_channel_stream(channel, i);
    size_t thread = (size_t)stream->thread;
    const tsn_merged *m = merged_at(beats, thread);
    if (m->count) {
      show_merged(beats, thread);
    } else if (stream->count) {
      show(beats, stream, restart_at(beats, i));
    }
  }
  beats->run.threads = beats->series.data;
}

void tsn_beats_free(tsn_beats *beats, const tsanom_exec *memory) {
  free_merged(beats, 0, beats->threads_seen, memory);
  tsn_array_free(&beats->series, memory);
  tsn_array_free(&beats->merged, memory);
  tsn_array_free(&beats->taken, memory);
  tsn_array_free(&beats->restart, memory);
  tsn_array_free(&beats->sampled.thread, memory);
  tsn_array_free(&beats->sampled_next.thread, memory);
  tsn_array_free(&beats->slots, memory);
}
