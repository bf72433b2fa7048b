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

/* The slots in use, in order, each number once. */
static bool read_group(tsn_sampled_beats *s, const tsn_profile *profile, size_t at,
                       const tsanom_exec *memory, group *g) {
  size_t rows = rows_of_group(profile, at), used = 0, kept = 0;
  if (!tsn_array_reserve(&s->slots, memory, 0, 2 * rows, sizeof(slot))) return false;
  slot *slots = s->slots.data;
  for (size_t i = 0; i < rows; i++) {
    const tsn_regions_row *r = &profile->row[at + i];
    if (r->visits) slots[used++] = (slot){r->visits, r->elapsed};
    if (r->useful) slots[used++] = (slot){r->useful, r->waiting};
  }
  qsort(slots, used, sizeof *slots, by_number);
  for (size_t i = 0; i < used; i++) {
    if (kept == 0 || slots[i].number != slots[kept - 1].number) slots[kept++] = slots[i];
  }
  *g = (group){.first = &profile->row[at],
               .thread = &profile->row[profile->row[at].parent],
               .slot = slots,
               .slots = kept};
  return true;
}

static double seconds(uint64_t moment, uint64_t began) {
  return (double)(int64_t)(moment - began) * 1e-9;
}

/* A slot behind those that are shown, and what lies between. */
static bool show_slot(tsn_sampled_beats *s, tsn_sampled_thread *t, const slot *beat,
                      double time, uint32_t thread, const tsanom_exec *memory) {
  uint64_t steps = t->number ? beat->number - t->number : 1;
  if (!tsn_array_reserve(&s->fresh, memory, s->fresh_count, s->fresh_count + steps,
                         sizeof(tsn_sampled_beat))) {
    return false;
  }
  tsn_sampled_beat *fresh = (tsn_sampled_beat *)s->fresh.data + s->fresh_count;
  double distance = (time - t->time) / (double)steps;
  for (uint64_t i = 1; i < steps; i++) {
    fresh[i - 1] = (tsn_sampled_beat){t->time + distance * (double)i, thread};
  }
  fresh[steps - 1] = (tsn_sampled_beat){time, thread};
  s->fresh_count += steps;
  s->next_interpolated += steps - 1;
  s->next_known++;
  t->number = beat->number;
  t->time = time;
  return true;
}

/* What is new of a thread, at most `most` beats. */
static bool take_group(tsn_sampled_beats *s, const group *g, tsn_sampled_thread *t,
                       uint64_t most, uint64_t began, const tsanom_exec *memory) {
  if (g->first->cpu != t->anew) {
    *t = (tsn_sampled_thread){.anew = g->first->cpu,
                              .from = seconds(g->first->cpu, began)};
    if (g->thread->place) s->next_from = fmax(s->next_from, t->from);
  }
  t->thread = g->thread->thread;
  if (!g->slots) return true;
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
    if (skips && !t->number) s->next_from = fmax(s->next_from, time);
    if (!show_slot(s, t, &g->slot[i], time, g->thread->thread, memory)) return false;
  }
  return true;
}

/* Forget the fresh beats. */
static void sampled_beats_discard(tsn_sampled_beats *s) {
  s->next_count = s->fresh_count = 0;
  s->next_from = s->from;
  s->next_interpolated = s->interpolated;
  s->next_known = s->known;
}

/* Find what is new in the profile, of a run that began at that moment of CLOCK_MONOTONIC.
 * False: out of memory. */
static bool sampled_beats_prepare(tsn_sampled_beats *s, const tsn_profile *profile,
                                  uint64_t began, const tsanom_exec *memory) {
  size_t groups = 0, at = 0;
  sampled_beats_discard(s);
  for (size_t k = 1; k < profile->count; k++) groups += begins_group(&profile->row[k]);
  if (!groups) return true;
  if (!tsn_array_reserve(&s->next, memory, 0, groups, sizeof(tsn_sampled_thread)) ||
      !tsn_array_reserve(&s->shown, memory, s->shown_count, groups,
                         sizeof(tsn_sampled_thread))) {
    return false;
  }
  tsn_sampled_thread *next = s->next.data;
  for (size_t k = 1; k < profile->count; k++) {
    group g;
    if (!begins_group(&profile->row[k])) continue;
    next[at] = (tsn_sampled_thread){.number = 0};
    if (at < s->shown_count) next[at] = ((tsn_sampled_thread *)s->shown.data)[at];
    if (!read_group(s, profile, k, memory, &g) ||
        !take_group(s, &g, &next[at], FRESH_MOST / groups, began, memory)) {
      return false;
    }
    at++;
  }
  s->next_count = groups;
  return true;
}

/* Show the fresh beats. */
static void sampled_beats_commit(tsn_sampled_beats *s) {
  if (s->next_count) {
    memcpy(s->shown.data, s->next.data, s->next_count * sizeof(tsn_sampled_thread));
    s->shown_count = s->next_count;
  }
  s->from = s->next_from;
  s->interpolated = s->next_interpolated;
  s->known = s->next_known;
  sampled_beats_discard(s);
}

static void sampled_beats_free(tsn_sampled_beats *s, const tsanom_exec *memory) {
  tsn_array_free(&s->shown, memory);
  tsn_array_free(&s->next, memory);
  tsn_array_free(&s->fresh, memory);
  tsn_array_free(&s->slots, memory);
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

static const tsn_sampled_beat *sampled_at(const tsn_sampled_beats *sampled,
                                          size_t index) {
  return (const tsn_sampled_beat *)sampled->fresh.data + index;
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
static tsanom_status count_threads(const tsn_channel *channel,
                                   const tsn_sampled_beats *sampled,
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
  for (size_t i = 0; i < sampled->fresh_count; i++) {
    uint32_t thread = sampled_at(sampled, i)->thread;
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

static void count_sampled(const tsn_beats *beats) {
  for (size_t i = 0; i < beats->sampled.fresh_count; i++) {
    uint32_t thread = sampled_at(&beats->sampled, i)->thread;
    if (thread >= beats->threads_seen) continue;
    tsn_merged *m = merged_at(beats, thread);
    m->waiting++;
    m->is_sampled = true;
  }
  for (size_t t = 0; t < beats->threads_seen; t++) {
    if (merged_at(beats, t)->is_sampled) merged_at(beats, t)->streams += SEVERAL;
  }
}

tsanom_status tsn_beats_prepare(tsn_beats *beats, const tsn_channel *channel,
                                const tsn_profile *profile, const tsanom_exec *exec) {
  size_t threads = beats->threads;
  if (!sampled_beats_prepare(&beats->sampled, profile,
                             channel->header_seen.first.nanoseconds, channel->memory)) {
    return no_memory(channel, exec);
  }
  tsanom_status status = count_threads(channel, &beats->sampled, exec, &threads);
  if (status < 0) return status;
  if (!reserve_threads(beats, channel, threads)) return no_memory(channel, exec);
  for (size_t t = 0; t < beats->threads_seen; t++) {
    merged_at(beats, t)->streams = merged_at(beats, t)->waiting = 0;
  }
  count_sampled(beats);
  for (size_t i = 0; i < channel->streams_seen; i++) {
    const tsn_stream *stream = tsn_channel_stream(channel, i);
    tsn_merged *merged = merged_at(beats, (size_t)stream->thread);
    merged->streams++;
    merged->waiting += stream->seen - *taken_at(beats, i);
  }
  for (size_t t = 0; t < beats->threads_seen; t++) {
    tsn_merged *m = merged_at(beats, t);
    if (m->streams < 2) continue;
    if (!tsn_array_reserve(&m->time, channel->memory, m->count, m->count + 2 * m->waiting,
                           sizeof(double))) {
      return no_memory(channel, exec);
    }
  }
  return TSANOM_OK;
}

static int by_time(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sort the `added` beats behind the first `count`, and merge both from the end. Of equal
 * times the old one comes first. The loop ends as soon as all new beats are placed: the
 * old ones before them are where they belong. */
static void merge_end(double *time, size_t count, size_t added) {
  double *copy = time + count + added;
  qsort(time + count, added, sizeof *time, by_time);
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
static void take_sampled(tsn_beats *beats) {
  for (size_t i = 0; i < beats->sampled.fresh_count; i++) {
    const tsn_sampled_beat *beat = sampled_at(&beats->sampled, i);
    if (beat->thread >= beats->threads_seen) continue;
    tsn_merged *m = merged_at(beats, beat->thread);
    ((double *)m->time.data)[m->count + m->waiting++] = beat->time;
  }
  sampled_beats_commit(&beats->sampled);
  beats->from = fmax(beats->from, beats->sampled.from);
  for (size_t i = 0; i < beats->sampled.shown_count; i++) {
    const tsn_sampled_thread *t = (tsn_sampled_thread *)beats->sampled.shown.data + i;
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
bool tsn_beats_update(tsn_beats *beats, const tsn_channel *channel) {
  double from = beats->from;
  bool is_new = false; /* a merged number, whose early beats are no longer shown */
  if (beats->is_numbered) find_restarts(beats, channel);
  for (size_t t = 0; t < beats->threads_seen; t++) merged_at(beats, t)->waiting = 0;
  take_sampled(beats);
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
  sampled_beats_discard(&beats->sampled);
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
  sampled_beats_free(&beats->sampled, memory);
}
