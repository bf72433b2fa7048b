/* SPDX-License-Identifier: BSD-3-Clause */
/* The beats of a thread number come from its streams, from the totals of threads whose
 * events are added up, or from processor time. An update puts them behind those that are
 * shown, where no caller sees them, and counts them in a copy of the state:
 *
 *   times   | shown beats, in order | new beats | copy of the new beats, to merge |
 *   shown   first ............ count
 *   next    first ........... sorted ..... count
 *
 * A commit replaces the state that is shown by its copy as a whole. Without a commit the
 * copy is forgotten. New beats that are not in order are merged by the commit, which needs
 * no more memory by then. Most are in order; but nested parallel regions reuse numbers, so
 * that several streams have one.
 *
 * `tsanom record` numbers the iterations of the main loop. When it finds that the loop it
 * has followed is only a part of the main loop, it begins anew:
 *
 *   tags   1 2 3 4 5 6 7 1 2 3 ...      the seven are not of the main loop
 *                        ^ restart
 *
 * Beats before the last restart are not shown: of a thread with one stream those before
 * its own, of others, and of threads without one, those before the leader's.
 *
 * A main loop is found after some iterations. Records in front of the first beat have in
 * their tags how long ago these began, and get these times. They are shown of a thread
 * with one stream:
 *
 *   recorded   |  |  |  |  |  |  |        ccc|        |        |
 *   shown      c           c         c       |        |        | */
#include "runs/beats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/size.h"
#include "record/regions.h"
#include "runs/profile.h"

static tsn_stream_beats *stream_at(const tsn_beat_state *state, size_t stream) {
  return (tsn_stream_beats *)state->stream.data + stream;
}

static tsn_thread_beats *thread_at(const tsn_beat_state *state, size_t thread) {
  return (tsn_thread_beats *)state->thread.data + thread;
}

static tsn_array *times_at(const tsn_beats *beats, size_t thread) {
  return (tsn_array *)beats->times.data + thread;
}

/* Space behind the beats of a thread number for more of them; NULL: out of memory. */
static double *space_for(const tsn_beats *beats, size_t thread, size_t more,
                         const tsanom_exec *memory) {
  tsn_array *times = times_at(beats, thread);
  size_t used = thread_at(&beats->next, thread)->count;
  bool has_space = tsn_array_reserve(times, memory, used, used + more, sizeof(double));
  return has_space ? (double *)times->data + used : NULL;
}

/* ---- the next state */

static bool begins_group(const tsn_regions_row *row) {
  return row->kind == TSN_REGIONS_ROW_BEATS && row->place == 0;
}

static size_t rows_of_group(const tsn_profile *profile, size_t at) {
  const tsn_regions_row *first = &profile->row[at];
  size_t rows = 1;
  while (at + rows < profile->count && first[rows].kind == TSN_REGIONS_ROW_BEATS &&
         first[rows].parent == first->parent && first[rows].place == rows) {
    rows++;
  }
  return rows;
}

/* What there is: one number more than the greatest of a thread. A damaged or hostile
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

/* Copy `used` elements; further ones are zero. */
static bool copy(tsn_array *to, const tsn_array *from, size_t used, size_t needed,
                 size_t size, const tsanom_exec *memory) {
  if (!tsn_array_reserve(to, memory, 0, needed, size)) return false;
  if (used) memcpy(to->data, from->data, used * size);
  if (needed > used) memset((char *)to->data + used * size, 0, (needed - used) * size);
  return true;
}

/* Begin the next state as a copy of that which is shown; false: out of memory. */
static bool begin_next(tsn_beats *beats, const tsn_channel *channel, size_t threads,
                       size_t sampled) {
  const tsanom_exec *memory = channel->memory;
  const tsn_beat_state *shown = &beats->shown;
  tsn_beat_state *next = &beats->next;
  size_t streams = channel->streams_seen;
  sampled = tsn_larger(sampled, shown->of.sampled);
  if (!copy(&next->stream, &shown->stream, shown->of.streams, streams,
            sizeof(tsn_stream_beats), memory) ||
      !copy(&next->thread, &shown->thread, shown->of.threads, threads,
            sizeof(tsn_thread_beats), memory) ||
      !copy(&next->sampled, &shown->sampled, shown->of.sampled, sampled,
            sizeof(tsn_sampled_thread), memory) ||
      !tsn_array_reserve(&beats->series, memory, shown->of.threads, threads,
                         sizeof(tsanom_hsa_series)) ||
      !tsn_array_reserve(&beats->times, memory, beats->arrays, threads,
                         sizeof(tsn_array))) {
    return false;
  }
  while (beats->arrays < threads) *times_at(beats, beats->arrays++) = (tsn_array){0};
  next->of = shown->of;
  next->of.streams = streams;
  next->of.threads = threads;
  next->of.sampled = sampled;
  next->of.by_time = next->of.drops = false;
  return true;
}

/* Count the streams of each thread number, and take space for what they have; false: out of
 * memory. A number that gets its second stream shows all beats of the first one behind the
 * leader's restart. */
static bool count_streams(tsn_beats *beats, const tsn_channel *channel) {
  tsn_beat_state *next = &beats->next;
  for (size_t t = 0; t < next->of.threads; t++) {
    thread_at(next, t)->streams = thread_at(next, t)->more = 0;
  }
  for (size_t i = 0; i < next->of.streams; i++) {
    const tsn_stream *stream = tsn_channel_stream(channel, i);
    tsn_thread_beats *t = thread_at(next, (size_t)stream->thread);
    t->streams++;
    t->more += stream->seen - stream_at(next, i)->taken;
  }
  for (size_t i = 0; i < next->of.threads; i++) {
    tsn_thread_beats *t = thread_at(next, i);
    bool was_alone =
        i < beats->shown.of.threads && thread_at(&beats->shown, i)->streams == 1;
    if (was_alone && t->streams > 1 && !t->is_sampled) {
      t->first = t->sorted = 0;
      t->restart = 0;
      next->of.drops = true;
    }
    if (t->more && !space_for(beats, i, t->more, channel->memory)) return false;
  }
  return true;
}

/* ---- recorded beats */

static bool is_early(uint32_t tag) {
  return tag >> TSN_REGIONS_EARLY_BIT;
}

static bool is_step(uint32_t tag) {
  return tag >> TSN_REGIONS_STEP_BIT == 1;
}

/* The main loop begins anew with a beat of a stream, which was recorded at `now`. For other
 * threads it does between the last beat of the leader and this one, because the threads of
 * a team beat at nearly the same times. */
static void begin_anew(tsn_beats *beats, size_t stream, tsn_thread_beats *t, double now,
                       double time) {
  tsn_beat_state *next = &beats->next;
  const tsn_stream_beats *s = stream_at(next, stream);
  if (stream == beats->leader && t == thread_at(next, 0))
    next->of.from = s->taken ? s->time + (now - s->time) / 2 : time;
  if (t->streams > 1) return;
  t->restart = now;
  if (t->is_sampled) {
    t->from = fmax(t->from, now);
  } else {
    t->first = t->sorted = t->count;
  }
  next->of.drops = true;
}

/* The time of the next record of a stream. */
static double number_beat(tsn_beats *beats, size_t stream, tsn_thread_beats *t,
                          double now, uint32_t tag) {
  const uint32_t distance = (UINT32_C(1) << TSN_REGIONS_EARLY_BIT) - 1;
  tsn_stream_beats *s = stream_at(&beats->next, stream);
  bool is_behind_early = s->taken && is_early(s->tag);
  double time = is_early(tag) ? now - 1e-6 * (tag & distance) : now;
  if (is_early(tag) && is_behind_early) time = fmax(time, s->time);
  if (!is_behind_early && (is_early(tag) || (s->taken && tag <= s->tag))) {
    begin_anew(beats, stream, t, now, time);
  }
  beats->next.of.has_steps |= is_step(tag);
  beats->next.of.has_iterations |= !is_step(tag);
  s->time = time;
  s->tag = tag;
  return time;
}

static void take_stream(tsn_beats *beats, tsn_reader *reader, size_t index) {
  tsn_stream_beats *s = stream_at(&beats->next, index);
  size_t thread = (size_t)tsn_reader_open(reader, index)->thread;
  tsn_thread_beats *t = thread_at(&beats->next, thread);
  double *time = times_at(beats, thread)->data;
  for (; tsn_reader_has(reader, s->taken); s->taken++) {
    size_t k = s->taken - reader->first;
    double now = reader->time[k];
    time[t->count++] =
        beats->is_numbered ? number_beat(beats, index, t, now, reader->tag[k]) : now;
    beats->next.of.recorded = true;
  }
}

/* ---- sampled beats */

/* At most this many beats become new in one update, 128 MB. Of a run with more the latest
 * are shown. */
enum { FRESH_MOST = 1 << 24 };

typedef struct {
  uint64_t number, moment;
} slot;

/* What the rows of one thread say. */
typedef struct {
  uint64_t anew;
  bool is_leader;
  size_t thread;
  const slot *slot;
  size_t slots;
} group;

static int by_number(const void *a, const void *b) {
  const slot *x = a, *y = b;
  return (x->number > y->number) - (x->number < y->number);
}

/* The slots in use, in order, each number once; there is space for them. */
static group read_group(const tsn_beats *beats, const tsn_profile *profile, size_t at) {
  size_t rows = rows_of_group(profile, at), used = 0, kept = 0;
  slot *slots = beats->slots.data;
  const tsn_regions_row *first = &profile->row[at];
  const tsn_regions_row *thread = &profile->row[first->parent];
  for (size_t i = 0; i < rows; i++) {
    if (first[i].visits) slots[used++] = (slot){first[i].visits, first[i].elapsed};
    if (first[i].useful) slots[used++] = (slot){first[i].useful, first[i].waiting};
  }
  qsort(slots, used, sizeof *slots, by_number);
  for (size_t i = 0; i < used; i++) {
    if (kept == 0 || slots[i].number != slots[kept - 1].number) slots[kept++] = slots[i];
  }
  return (group){.anew = first->cpu,
                 .is_leader = thread->place,
                 .thread = thread->thread,
                 .slot = slots,
                 .slots = kept};
}

static double seconds(uint64_t moment, uint64_t began) {
  return (double)(int64_t)(moment - began) * 1e-9;
}

/* A slot behind those that are shown, and what lies between, at `to`, unless NULL. Returns
 * how many beats these are. */
static size_t show_slot(tsn_beat_state *next, tsn_sampled_thread *s, const slot *beat,
                        double time, double *to) {
  uint64_t steps = s->number ? beat->number - s->number : 1;
  double distance = (time - s->time) / (double)steps;
  for (uint64_t i = 1; to && i < steps; i++) to[i - 1] = s->time + distance * (double)i;
  if (to) to[steps - 1] = time;
  next->of.interpolated += steps - 1;
  next->of.known++;
  next->of.recorded = true;
  s->number = beat->number;
  s->time = time;
  return steps;
}

/* What is new of a thread that is sampled, at most `most` beats; false: out of memory. */
static bool take_slots(tsn_beats *beats, const group *g, tsn_sampled_thread *s,
                       uint64_t most, uint64_t began, const tsanom_exec *memory) {
  tsn_beat_state *next = &beats->next;
  bool is_shown = g->thread < next->of.threads;
  tsn_thread_beats nowhere = {0}, *t = is_shown ? thread_at(next, g->thread) : &nowhere;
  uint64_t last = g->slots ? g->slot[g->slots - 1].number : 0, least = s->number;
  if (last <= least) return true;
  bool skips = last - least > most;
  if (skips) {
    least = last - most;
    s->number = 0;
  }
  double *to =
      is_shown ? space_for(beats, g->thread, (size_t)(last - least), memory) : NULL;
  if (is_shown && !to) return false;
  next->of.drops |= !t->is_sampled;
  t->is_sampled = true;
  for (size_t i = 0; i < g->slots; i++) {
    if (g->slot[i].number <= least) continue;
    double time = seconds(g->slot[i].moment, began);
    if (s->number && time <= s->time) continue;
    if (skips && !s->number) {
      next->of.sampled_from = fmax(next->of.sampled_from, time);
    }
    size_t shown = show_slot(next, s, &g->slot[i], time, to);
    if (to) to += shown;
    t->count += shown;
  }
  return true;
}

static bool take_group(tsn_beats *beats, const group *g, tsn_sampled_thread *s,
                       uint64_t most, uint64_t began, const tsanom_exec *memory) {
  tsn_beat_state *next = &beats->next;
  if (g->anew != s->anew) {
    *s = (tsn_sampled_thread){.anew = g->anew, .from = seconds(g->anew, began)};
    if (g->is_leader) next->of.sampled_from = fmax(next->of.sampled_from, s->from);
  }
  if (!take_slots(beats, g, s, most, began, memory)) return false;
  if (!s->anew || g->thread >= next->of.threads) return true;
  tsn_thread_beats *t = thread_at(next, g->thread);
  if (t->is_sampled && t->streams < 2) t->from = fmax(t->from, s->from);
  return true;
}

/* What is new in the profile of a run that began at that moment of CLOCK_MONOTONIC. */
static bool take_sampled(tsn_beats *beats, const tsn_profile *profile, size_t groups,
                         uint64_t began, const tsanom_exec *memory) {
  tsn_sampled_thread *sampled = beats->next.sampled.data;
  for (size_t k = 1; k < profile->count; k++) {
    if (!begins_group(&profile->row[k])) continue;
    size_t slots = 2 * rows_of_group(profile, k);
    if (!tsn_array_reserve(&beats->slots, memory, 0, slots, sizeof(slot))) return false;
    group g = read_group(beats, profile, k);
    if (!take_group(beats, &g, sampled++, FRESH_MOST / groups, began, memory)) {
      return false;
    }
  }
  return true;
}

/* ---- beats from processor time */

/* That of the samples by default, ns. A damaged sample must not take much memory: between
 * two samples are at most MOST beats, 200 s. */
enum { PERIOD = 50000000, MOST = 1 << 12 };

/* The beats of a thread number until a sample, at a time that may be NaN; false: out of
 * memory. */
static bool take_sample(tsn_beats *beats, size_t thread, uint64_t cpu, int32_t task,
                        double time, const tsanom_exec *memory) {
  const uint64_t most = (uint64_t)MOST * PERIOD - PERIOD;
  tsn_thread_beats *t = thread_at(&beats->next, thread);
  tsn_used_time before = t->used;
  bool continues = before.task == task && cpu >= before.cpu;
  uint64_t used = continues ? cpu - before.cpu : 0;
  if (used > most) used = most;
  t->used = (tsn_used_time){
      .cpu = cpu, .total = before.total + used, .task = task, .time = time};
  double distance = time - before.time;
  size_t fresh = (size_t)(t->used.total / PERIOD - before.total / PERIOD);
  if (!fresh || !(distance >= 0)) return true;
  double *to = space_for(beats, thread, fresh, memory);
  if (!to) return false;
  for (size_t i = 0; i < fresh; i++) {
    uint64_t since = (before.total / PERIOD + i + 1) * PERIOD - before.total;
    to[i] = before.time + distance * (double)since / (double)used;
  }
  t->count += fresh;
  beats->next.of.timed += fresh;
  return true;
}

/* ---- all of them */

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
 * copy.
 *
 * Merging from the beginning would need a copy of the old beats, which are many, instead of
 * the new ones. For w new beats the cost is O(w log w) to sort them and O(w + old beats
 * behind the earliest new one) to merge. */
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

/* Beats that are in order need not be merged; for others there must be space. False: out of
 * memory. */
static bool end_next(const tsn_beats *beats, const tsanom_exec *memory) {
  for (size_t i = 0; i < beats->next.of.threads; i++) {
    tsn_thread_beats *t = thread_at(&beats->next, i);
    size_t old = t->sorted - t->first, added = t->count - t->sorted;
    const double *time = times_at(beats, i)->data;
    if (!added) continue;
    if (is_sorted(time + t->sorted - (old > 0), added + (old > 0))) {
      t->sorted = t->count;
    } else if (old && !space_for(beats, i, added, memory)) {
      return false;
    }
  }
  return true;
}

tsanom_status tsn_beats_read(tsn_beats *beats, const tsn_channel *channel,
                             const tsn_profile *profile, const tsanom_exec *exec) {
  tsn_beat_state *next = &beats->next;
  size_t threads = beats->shown.of.threads, groups = 0;
  tsanom_status status = count_threads(channel, profile, exec, &threads);
  if (status < 0) return status;
  for (size_t k = 1; k < profile->count; k++) groups += begins_group(&profile->row[k]);
  if (!begin_next(beats, channel, threads, groups) || !count_streams(beats, channel)) {
    return tsn_path_no_memory(exec, channel->directory);
  }
  if (beats->wants_time) return TSANOM_OK;
  tsn_reader reader = {.channel = channel, .exec = exec};
  beats->leader = tsn_channel_leader(channel);
  for (size_t i = 0; i < next->of.streams; i++) take_stream(beats, &reader, i);
  status = tsn_reader_end(&reader);
  if (status < 0) return status;
  if (!take_sampled(beats, profile, groups, channel->header_seen.first.nanoseconds,
                    channel->memory) ||
      !end_next(beats, channel->memory)) {
    return tsn_path_no_memory(exec, channel->directory);
  }
  next->of.from = fmax(next->of.from, next->of.sampled_from);
  next->of.drops |= next->of.from != beats->shown.of.from;
  return TSANOM_OK;
}

tsanom_status tsn_beats_read_time(tsn_beats *beats, const tsn_channel *channel,
                                  const tsn_vitals *vitals, const tsanom_exec *exec) {
  tsn_beat_state *next = &beats->next;
  const tsn_vital_record *record = vitals->record.data;
  next->of.by_time = true;
  next->of.drops |= !beats->shown.of.by_time;
  for (; next->of.samples < vitals->seen; next->of.samples++) {
    const tsn_vital_record *r = &record[next->of.samples];
    /* That of the process is too large. */
    size_t thread = (size_t)tsn_number_in_team(r->thread, channel->header_seen.opener);
    if (thread >= next->of.threads || r->cpu == TSN_UNAVAILABLE) continue;
    double time = tsn_vitals_time(r, channel);
    if (!take_sample(beats, thread, r->cpu, r->task, time, channel->memory)) {
      return tsn_path_no_memory(exec, channel->directory);
    }
  }
  return end_next(beats, channel->memory) ? TSANOM_OK
                                          : tsn_path_no_memory(exec, channel->directory);
}

void tsn_beats_show(tsn_beats *beats) {
  const tsn_beat_state *shown = &beats->shown;
  tsanom_hsa_series *series = beats->series.data;
  for (size_t i = 0; i < shown->of.threads; i++) {
    const tsn_thread_beats *t = thread_at(shown, i);
    const double *time = times_at(beats, i)->data;
    double from = t->restart < shown->of.from ? fmax(t->from, shown->of.from) : t->from;
    size_t first = t->first;
    while (from > 0 && first < t->count && time[first] < from) first++;
    series[i] = (tsanom_hsa_series){.time = first ? time + first : time,
                                    .beats = t->count - first};
  }
  beats->run = (tsanom_hsa_run){.threads = series, .thread_count = shown->of.threads};
}

bool tsn_beats_commit(tsn_beats *beats) {
  tsn_beat_state before = beats->shown;
  beats->shown = beats->next;
  beats->next = before;
  for (size_t i = 0; i < beats->shown.of.threads; i++) {
    tsn_thread_beats *t = thread_at(&beats->shown, i);
    double *time = times_at(beats, i)->data;
    if (t->sorted == t->count) continue;
    merge_end(time + t->first, t->sorted - t->first, t->count - t->sorted);
    t->sorted = t->count;
  }
  tsn_beats_show(beats);
  return beats->shown.of.drops;
}

static void free_state(tsn_beat_state *state, const tsanom_exec *memory) {
  tsn_array_free(&state->stream, memory);
  tsn_array_free(&state->thread, memory);
  tsn_array_free(&state->sampled, memory);
}

void tsn_beats_free(tsn_beats *beats, const tsanom_exec *memory) {
  while (beats->arrays) tsn_array_free(times_at(beats, --beats->arrays), memory);
  free_state(&beats->shown, memory);
  free_state(&beats->next, memory);
  tsn_array_free(&beats->times, memory);
  tsn_array_free(&beats->series, memory);
  tsn_array_free(&beats->slots, memory);
}
