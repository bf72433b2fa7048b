/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals instead of events: once a process has written the events that it may write, its
 * threads add their further events to rows of the file RUN/regions/profile (struct
 * tsn_regions_row), whose size depends on the number of regions, not on the time.
 *
 * One row for each thread, and one for each region within those around it:
 *
 *   thread 0 ─┬─ loop ─── loop inside it        all visits
 *             ├─ before MPI_Recv ─── loop       the computations that a call ends, and
 *             └─ before MPI_Send ─── loop       their share of the regions in them
 *
 * To which computation a region belongs is known only at the call that ends it. So a
 * region is added to its row in the thread, and what was added there since the last
 * computation is carried over to the row in the computation, as src/runs/process_times.c
 * does for events.
 *
 * A thread may begin to add up inside of regions. Each of them then has an END in the
 * events, and goes on in its row without a further visit. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "asked.h"
#include "environment.h"
#include "events.h"
#include "record/guard.h"
#include "record/inside.h"
#include "record/regions.h"

enum { ROWS_MOST = 1 << 16, NONE = 0, STEP = 1 << 12 };

typedef tsn_regions_row row;

/* ---- rows: found by what they are of, and added
 *
 * The file is a shared mapping: what was added survives SIGKILL. Disk space is reserved
 * before a row is used, since a write to a mapping without space would end the program.
 * A row is written by one thread only, without locks: a thread that ends releases its
 * rows to the next one of its number.
 *
 * The rows in a row are a ring, and the search begins behind the row found last. Programs
 * repeat their regions in one order, so that it finds most at once; without a table that
 * would take memory by capacity instead of use.
 *
 *   owner row ──latest──▶ row ──next──▶ row ──next──▶ row ──┐
 *                          ▲────────────────────────────────┘ */

/* What a row has besides, in memory. */
typedef struct {
  uint32_t next, latest; /* in its ring; of the rows in it */
  /* Of a region of a thread: what a computation has got of it, and the next in the list
   * of those of which the computation that goes on will get more. */
  uint64_t visits, elapsed;
  uint32_t pending;
  uint32_t unmeasured; /* visits since the latest with a processor time */
  bool is_pending;
  bool is_owned;     /* of a thread: by one that goes on */
  bool has_no_beats; /* of a thread: there is no space for its beats, */
  uint32_t beats;    /* which begin in this row */
} row_links;

/* Row 0 is the header; NULL: there is no file. */
static row *rows;
static row_links links[ROWS_MOST];

static uint32_t used, backed; /* rows; protected by the rows_lock, as is the growth */
static tsn_file file = {.descriptor = -1};
static pthread_mutex_t rows_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t at_exit;

/* Release the rows of a thread that ends. */
static void release(void *root) {
  tsn_guard guard;
  tsn_guard_enter(&guard);
  pthread_mutex_lock(&rows_lock);
  links[(row *)root - rows].is_owned = false;
  pthread_mutex_unlock(&rows_lock);
  tsn_guard_leave(&guard);
}

/* The mapping is as long as the file may become. */
static row *map_rows(void) {
  if (tsn_file_extend(&file, 0, STEP) != 0) return NULL;
  row *taken = mmap(NULL, ROWS_MOST * sizeof *taken, PROT_READ | PROT_WRITE, MAP_SHARED,
                    file.descriptor, 0);
  return taken == MAP_FAILED ? NULL : taken;
}

/* Create the file. */
static void create_rows(void) {
  if (pthread_key_create(&at_exit, release) != 0 ||
      tsn_record_create_file(icp_set.record, &file, TSN_REGIONS_PROFILE) != 0) {
    return;
  }
  row *taken = map_rows();
  tsn_record_settle(icp_set.record, &file);
  if (!taken) return;
  tsn_regions_profile head = {.magic = TSN_REGIONS_PROFILE_MAGIC,
                              .version = 1,
                              .row_bytes = (uint32_t)sizeof *taken};
  memcpy(taken, &head, sizeof head);
  used = 1;
  backed = STEP / sizeof *taken;
  rows = taken;
}

/* Whether there is disk space for one more row. */
static bool has_space(void) {
  off_t end = (off_t)(backed * sizeof *rows);
  if (used < backed) return true;
  if (used == ROWS_MOST) return false;
  int error = tsn_record_use_file(icp_set.record, &file, TSN_REGIONS_PROFILE);
  if (!error) error = tsn_file_extend(&file, end, end + STEP);
  tsn_record_settle(icp_set.record, &file);
  if (!error) backed += STEP / sizeof *rows;
  return !error;
}

/* FNV-1a of what a row is of, which does not change. */
static uint64_t check_of(const row *identity) {
  const unsigned char *byte = (const unsigned char *)identity;
  uint64_t sum = 0xCBF29CE484222325u;
  for (size_t i = 0; i < offsetof(row, visits); i++) {
    /* The analyzer does not see that the four fields have no padding. */
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
    sum = (sum ^ byte[i]) * 0x100000001B3u;
  }
  return sum;
}

/* `count` new rows, numbered by their places from that of the first on; the first, or
 * NONE if there is no space for all. The check comes last: a row without it has not
 * been written. */
static uint32_t add_rows(row identity, uint32_t count) {
  uint32_t first = NONE;
  tsn_guard guard;
  tsn_guard_enter(&guard);
  pthread_mutex_lock(&rows_lock);
  for (uint32_t i = 0; i < count && rows; i++) {
    if (!has_space()) {
      first = NONE;
      break;
    }
    uint32_t at = used++;
    if (i == 0) first = at;
    rows[at] = identity;
    atomic_signal_fence(memory_order_release);
    rows[at].check = check_of(&identity);
    identity.place++;
  }
  pthread_mutex_unlock(&rows_lock);
  tsn_guard_leave(&guard);
  return first;
}

/* The row of a place in another row, added if needed; NONE: there is no space. */
static uint32_t row_in(uint32_t parent, uint32_t kind, uint32_t place) {
  uint32_t latest = links[parent].latest, at = latest;
  if (parent == NONE) return NONE;
  if (latest != NONE) {
    do {
      at = links[at].next;
      if (rows[at].place == place && rows[at].kind == kind) {
        links[parent].latest = at;
        return at;
      }
    } while (at != latest);
  }
  at = add_rows(
      (row){
          .kind = kind, .parent = parent, .thread = rows[parent].thread, .place = place},
      1);
  if (at == NONE) return NONE;
  links[at].next = latest == NONE ? at : links[latest].next;
  if (latest != NONE) links[latest].next = at;
  links[parent].latest = at;
  return at;
}

static uint32_t take_released(uint32_t number, bool watched) {
  uint32_t found = NONE;
  tsn_guard guard;
  tsn_guard_enter(&guard);
  pthread_mutex_lock(&rows_lock);
  for (uint32_t at = 1; at < used && found == NONE; at++) {
    const row *r = &rows[at];
    bool is_free = r->kind == TSN_REGIONS_ROW_THREAD && !links[at].is_owned;
    if (is_free && r->thread == number && !r->place == !watched) found = at;
  }
  if (found != NONE) links[found].is_owned = true;
  pthread_mutex_unlock(&rows_lock);
  tsn_guard_leave(&guard);
  return found;
}

/* Rows of a thread of that number that has ended, else new ones. The calling thread owns
 * them until it ends. */
static uint32_t row_of_thread(uint32_t number, bool watched) {
  if (!rows) return NONE;
  uint32_t at = take_released(number, watched);
  if (at == NONE) {
    at = add_rows(
        (row){.kind = TSN_REGIONS_ROW_THREAD, .thread = number, .place = watched}, 1);
    if (at == NONE) return NONE;
    links[at].is_owned = true;
  }
  (void)pthread_setspecific(at_exit, &rows[at]);
  return at;
}

/* Rows one behind the other in the row of a thread: the first, or NONE. */
static uint32_t rows_of_beats(uint32_t root, uint32_t count) {
  return add_rows(
      (row){.kind = TSN_REGIONS_ROW_BEATS, .parent = root, .thread = rows[root].thread},
      count);
}

/* ---- beats
 *
 * Of the beats of a thread the latest are kept, and a sample of those before, with their
 * numbers:
 *
 *   latest    a ring of LATEST beats
 *   sample    beats 0, s, 2s, 3s, ... of the thread; when SAMPLE are full,
 * every second one is dropped, and s doubles
 *
 *   s = 1     0 1 2 3 4 5 6 7
 *   s = 2     0 2 4 6 . . . .     then 8, 10, 12, 14
 *
 * So between half and all of the sample is in use, at equal distances over the whole
 * time. A row has two slots for beats. The columns `cpu` of the first rows have what goes
 * with all slots (enum below).
 *
 * A slot without a number is empty. It has none while its time is written, so that a
 * process that is killed loses one beat at most; a beat that was being moved may be there
 * twice. */

enum { LATEST = 64, SAMPLE = 128, SLOTS = LATEST + SAMPLE };

/* Columns `cpu`, by row. The reader uses the first. */
enum { ANEW, COUNT, STRIDE, SAMPLED };

typedef struct {
  uint64_t number, moment;
} slot;

static uint64_t *column(uint32_t first, uint32_t which) {
  return &rows[first + which].cpu;
}

static slot get_beat(uint32_t first, uint64_t at) {
  const row *r = &rows[first + at / 2];
  return at % 2 ? (slot){r->useful, r->waiting} : (slot){r->visits, r->elapsed};
}

static void put_beat(uint32_t first, uint64_t at, slot beat) {
  row *r = &rows[first + at / 2];
  uint64_t *number = at % 2 ? &r->useful : &r->visits;
  uint64_t *moment = at % 2 ? &r->waiting : &r->elapsed;
  *number = 0;
  atomic_signal_fence(memory_order_seq_cst);
  *moment = beat.moment;
  atomic_signal_fence(memory_order_seq_cst);
  *number = beat.number;
}

static void clear_beats(uint32_t first, uint64_t from) {
  for (uint64_t at = from; at < SLOTS; at++) put_beat(first, at, (slot){0});
}

/* The first row of the thread's beats, or NONE. */
static uint32_t beats_of(uint32_t root) {
  row_links *l = &links[root];
  if (l->beats == NONE && !l->has_no_beats) {
    l->beats = rows_of_beats(root, SLOTS / 2);
    l->has_no_beats = l->beats == NONE;
    if (l->beats != NONE) *column(l->beats, STRIDE) = 1;
  }
  return l->beats;
}

/* Drop every second beat of the sample. */
static void drop_half(uint32_t first) {
  for (uint64_t i = 1; i < SAMPLE / 2; i++) {
    put_beat(first, LATEST + i, get_beat(first, LATEST + 2 * i));
  }
  clear_beats(first, LATEST + SAMPLE / 2);
  *column(first, SAMPLED) = SAMPLE / 2;
  *column(first, STRIDE) *= 2;
}

/* A beat, at that moment of CLOCK_MONOTONIC, of the thread that owns the row `root`. False: there
 * is no space for its beats. */
static bool sample_beat(uint32_t root, uint64_t moment) {
  uint32_t first = beats_of(root);
  if (first == NONE) return false;
  uint64_t before = (*column(first, COUNT))++;
  slot beat = {.number = before + 1, .moment = moment};
  put_beat(first, before % LATEST, beat);
  uint64_t *sampled = column(first, SAMPLED);
  if (before % *column(first, STRIDE) != 0) return true;
  if (*sampled == SAMPLE) drop_half(first);
  if (before % *column(first, STRIDE) == 0) {
    put_beat(first, LATEST + (*sampled)++, beat);
  }
  return true;
}

/* The thread that owns the row begins to count anew, because its beats until now were of a loop
 * inside of the main loop. The beginning is between the last of them and the moment. */
static void sample_anew(uint32_t root, uint64_t moment) {
  uint32_t first = beats_of(root);
  if (first == NONE) return;
  uint64_t beats = *column(first, COUNT);
  uint64_t last = beats ? get_beat(first, (beats - 1) % LATEST).moment : moment;
  clear_beats(first, 0);
  *column(first, COUNT) = *column(first, SAMPLED) = 0;
  *column(first, STRIDE) = 1;
  *column(first, ANEW) = last + (moment - last) / 2;
}

/* ---- totals */

typedef struct {
  uint64_t begin, excluded, cpu; /* `excluded` of the thread when it began */
  uint32_t row; /* of a call of MPI: its place. NONE: the table is full */
  bool is_call;
  bool continues;      /* its visit is in the events: */
  uint64_t cpu_before; /* processor time of the thread until then */
} open_region;

typedef struct {
  uint32_t root, depth, pending; /* rows; the first of the list */
  bool watched, has_cpu;
  uint32_t computation; /* row of the latest */
  uint32_t behind;      /* place of the call that ended last; NONE: a region came since */
  uint64_t started,
      before; /* ticks, and ns from the first event of its rows until then */
  uint64_t cpu, began, excluded, excluded_before;
  open_region open[ICP_DEPTH_MOST];
} profile_thread;

/* That of the calling thread, which adds up: start_totals() made it. */
static profile_thread *own_profile(void) {
  return icp_me.own->part_of[ICP_OWN_PROFILE];
}

_Atomic bool icp_has_totals;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static double tick = 1; /* ns */

/* Nanoseconds of a duration; 0 of one in which the counter restarted. */
static inline uint64_t nanoseconds(uint64_t ticks) {
  return (int64_t)ticks > 0 ? (uint64_t)((double)ticks * tick) : 0;
}

static void begin_totals(void) {
  create_rows();
  tick = icp_tick_length();
}

static void begin(profile_thread *t, uint32_t place, uint64_t now);

/* The regions in which the thread is go on. */
static void go_on(profile_thread *t, const uint16_t *places, uint32_t count,
                  uint64_t now) {
  for (uint32_t i = 0; i < count; i++) {
    begin(t, places[i], now);
    if (t->depth > ICP_DEPTH_MOST) continue;
    open_region *o = &t->open[t->depth - 1];
    o->continues = true;
    o->cpu_before = icp_usage_now().cpu;
  }
}

/* The calling thread adds up its events from now on, as the thread of that number.
 * `watched`: its calls of MPI end computations. It is in `count` regions, of these places
 * from the outermost on. Returns false if there is no file, for lack of disk space or
 * memory. */
static bool start_totals(uint32_t number, bool watched, const uint16_t *open,
                         uint32_t count) {
  tsn_guard guard;
  tsn_guard_enter(&guard);
  pthread_once(&once, begin_totals);
  uint64_t now = icp_ticks();
  uint32_t root = row_of_thread(number, watched);
  tsn_guard_leave(&guard);
  profile_thread *t = icp_own_part(ICP_OWN_PROFILE, sizeof *t);
  if (root == NONE || !t) return false;
  atomic_store_explicit(&icp_has_totals, true, memory_order_relaxed);
  uint64_t moment = tsn_clock_monotonic();
  if (!rows[root].useful) rows[root].useful = moment;
  *t = (profile_thread){.root = root,
                        .behind = NONE,
                        .watched = watched,
                        .began = now,
                        .started = now,
                        .before = moment - rows[root].useful};
  go_on(t, open, count, now);
  return true;
}

/* The row of a region in a computation; `at` is that in the thread. */
static uint32_t row_in_computation(const profile_thread *t, uint32_t within,
                                   uint32_t at) {
  uint32_t outer = rows[at].parent;
  uint32_t parent = outer == t->root ? within : row_in_computation(t, within, outer);
  return row_in(parent, TSN_REGIONS_ROW_REGION, rows[at].place);
}

/* Regions since the last computation, which belong to `within`, or to nothing. */
static void settle(profile_thread *t, uint32_t within, double scale) {
  for (uint32_t at = t->pending; at != NONE; at = links[at].pending) {
    row_links *l = &links[at];
    uint32_t to = within == NONE ? NONE : row_in_computation(t, within, at);
    if (to != NONE) {
      uint64_t elapsed = rows[at].elapsed - l->elapsed;
      rows[to].visits += rows[at].visits - l->visits;
      rows[to].elapsed += elapsed;
      rows[to].useful += (uint64_t)((double)elapsed * scale);
    }
    l->visits = rows[at].visits;
    l->elapsed = rows[at].elapsed;
    l->is_pending = false;
  }
  t->pending = NONE;
}

/* There is no computation in front of the first call, which is MPI_Init. */
static void end_computation(profile_thread *t, uint32_t place, uint64_t now) {
  uint64_t elapsed = nanoseconds(now - t->began - (t->excluded - t->excluded_before));
  uint64_t useful = t->has_cpu && t->cpu < elapsed ? t->cpu : elapsed;
  bool has_cpu = t->has_cpu;
  t->has_cpu = false;
  t->computation = row_in(t->root, TSN_REGIONS_ROW_COMPUTATION, place);
  if (t->computation != NONE) {
    row *r = &rows[t->computation];
    r->visits++;
    r->elapsed += elapsed;
    r->useful += useful;
    if (has_cpu) r->cpu += t->cpu;
  }
  settle(t, t->computation, elapsed ? (double)useful / (double)elapsed : 1);
}

static void begin(profile_thread *t, uint32_t place, uint64_t now) {
  bool is_call = icp_place_is_call(place);
  if (is_call && t->depth == 0 && t->watched) end_computation(t, place, now);
  if (t->depth++ >= ICP_DEPTH_MOST) return;
  open_region *o = &t->open[t->depth - 1];
  *o = (open_region){.begin = now, .excluded = t->excluded, .is_call = is_call};
  t->behind = NONE;
  if (is_call) {
    o->row = place;
    rows[t->root].cpu = 1;
    return;
  }
  uint32_t outer = t->depth > 1 && !o[-1].is_call ? o[-1].row : t->root;
  o->row = row_in(outer, TSN_REGIONS_ROW_REGION, place);
}

static void end_call(profile_thread *t, const open_region *o, uint64_t now) {
  uint64_t elapsed = now - o->begin;
  t->excluded += elapsed;
  rows[t->root].waiting += nanoseconds(elapsed);
  rows[t->root].cpu = 0;
  if (t->depth != 0) return;
  if (t->computation != NONE) {
    rows[t->computation].waiting += nanoseconds(elapsed);
  }
  t->began = now;
  t->behind = o->row;
  t->excluded_before = t->excluded;
}

/* A visit that was measured stands for those since the one before, which were not. */
static void add_cpu(const open_region *o) {
  row_links *l = &links[o->row];
  l->unmeasured += !o->cpu && !o->continues;
  if (!o->cpu) return;
  rows[o->row].cpu += o->cpu * (1 + l->unmeasured);
  l->unmeasured = 0;
}

static void end(profile_thread *t, uint64_t now) {
  if (t->depth == 0 || --t->depth >= ICP_DEPTH_MOST) return;
  const open_region *o = &t->open[t->depth];
  if (o->is_call) {
    end_call(t, o, now);
    return;
  }
  if (o->row == NONE) return;
  uint64_t elapsed = nanoseconds(now - o->begin - (t->excluded - o->excluded));
  row *r = &rows[o->row];
  r->visits += !o->continues;
  r->elapsed += elapsed;
  r->useful += o->cpu ? o->cpu : elapsed;
  add_cpu(o);
  r->waiting += nanoseconds(t->excluded - o->excluded);
  if (!t->watched || links[o->row].is_pending) return;
  links[o->row].is_pending = true;
  links[o->row].pending = t->pending;
  t->pending = o->row;
}

static void note_event(const profile_thread *t, uint64_t now) {
  row *root = &rows[t->root];
  root->visits++;
  root->elapsed = t->before + nanoseconds(now - t->started);
}

/* The child of a fork shares the file. */
static void add_event(uint32_t kind, uint32_t place) {
  if (!icp_recording()) return;
  profile_thread *t = own_profile();
  uint64_t now = icp_ticks();
  note_event(t, now);
  if (kind == TSN_REGIONS_BEGIN) begin(t, place, now);
  if (kind == TSN_REGIONS_END) end(t, now);
}

bool icp_profile_continue(uint32_t place, uint64_t age) {
  if (!icp_recording()) return false;
  profile_thread *t = own_profile();
  uint64_t now = icp_ticks();
  if (t->depth || t->behind != place || now - t->began >= age) return false;
  note_event(t, now);
  t->open[t->depth++] = (open_region){
      .begin = t->began, .excluded = t->excluded, .row = place, .is_call = true};
  rows[t->root].cpu = 1;
  return true;
}

void icp_profile_cpu(uint64_t nanoseconds) {
  profile_thread *t = own_profile();
  if (t->depth == 0) {
    t->cpu = nanoseconds;
    t->has_cpu = true;
  } else if (t->depth <= ICP_DEPTH_MOST) {
    open_region *o = &t->open[t->depth - 1];
    o->cpu = o->continues ? icp_usage_now().cpu - o->cpu_before : nanoseconds;
  }
}

/* A beat is counted, and may be kept. `anew`: those before were of a loop inside of the main
 * loop. False: there is no space for beats. */
static bool add_beat(bool anew) {
  uint64_t now = tsn_clock_monotonic();
  if (!icp_recording()) return true;
  uint32_t root = own_profile()->root;
  if (anew) sample_anew(root, now);
  return sample_beat(root, now);
}

/* ---- when they begin
 *
 * How many records a process may write, by --max-size, and how many of them may be events
 * before these are added up, by --profile. The records of all threads count. A thread
 * takes GRANT of them at once, so that it seldom meets the others. */

enum { RECORD_BYTES = 16, GRANT = 256 };

/* 0: any number. */
static uint64_t most_records, most_events;
static _Atomic uint64_t granted;

void icp_quota_start(void) {
  most_records = icp_asked.max_size / RECORD_BYTES;
  most_events = icp_asked.events / RECORD_BYTES;
}

/* A further thread takes 15 KiB besides: a page in each of its two streams, and the rows
 * of its heartbeats. With --profile this is taken from the events. A quarter of these
 * remains, in which iterations are found. */
void icp_quota_share(int threads) {
  const uint64_t all = ENVIRONMENT_EVENTS_PROFILE / RECORD_BYTES, most = all / 4 * 3;
  const uint64_t taken = (uint64_t)(threads - 1) * (15 << 10) / RECORD_BYTES;
  if (most_events == all) most_events -= taken < most ? taken : most;
}

/* 3/8 of the bytes of the events, up to 8 MiB: with --profile 96 samples. */
int32_t icp_quota_vitals(void) {
  enum { SAMPLE_BYTES = 128, MOST = 1 << 16 };
  uint64_t samples = most_events * RECORD_BYTES * 3 / 8 / SAMPLE_BYTES;
  return samples < MOST ? (int32_t)samples : MOST;
}

/* Where --max-size is not reached. */
static void grant(uint64_t records) {
  static atomic_flag has_reported = ATOMIC_FLAG_INIT;
  icp_me.quota = GRANT - 1;
  if (!most_events || records <= most_events) return;
  icp_me.stays = icp_me.is_over;
  icp_me.is_over = true;
  if (most_events <= ENVIRONMENT_EVENTS_PROFILE / RECORD_BYTES ||
      atomic_flag_test_and_set(&has_reported))
    return;
  ICP_REPORT(0,
             "%llu KiB of events are written; from now on events are added up, as with "
             "--profile (--events keeps all)",
             (unsigned long long)(most_events * RECORD_BYTES >> 10));
}

bool icp_take_quota(void) {
  if (!most_records && !most_events) {
    icp_me.quota = UINT32_MAX;
    return true;
  }
  uint64_t records = atomic_fetch_add(&granted, GRANT) + GRANT;
  if (!most_records || records <= most_records) {
    grant(records);
    return true;
  }
  if (icp_end_recording()) {
    ICP_REPORT(0, ENVIRONMENT_FULL);
  }
  return false;
}

/* Of a thread that stays in its regions: they end here as far as the events are
 * concerned, and go on in the totals. A call of MPI around them ends soon. */
static void start_inside(void) {
  if (icp_me.open > ICP_DEPTH_MOST ||
      (icp_me.open && icp_place_is_call(icp_me.own->place[0])))
    return;
  icp_me.profiles =
      start_totals(icp_me.state.number, icp_me.watched, icp_me.own->place, icp_me.open);
  icp_me.is_over = icp_me.profiles;
  icp_me.stays = false;
  for (uint32_t i = icp_me.open; icp_me.profiles && i-- > 0;) {
    (void)tsanom_record_region(
        icp_set.record, (int32_t)icp_me.state.number,
        icp_event(TSN_REGIONS_END, icp_me.own->place[i], icp_me.state.team));
  }
}

/* Events are added up from the end of a region on that is in no other one, and from that
 * of a call, where there are calls: a computation before a call of MPI is either all in
 * events or all in totals. A thread that has written a whole GRANT without such an end
 * does not wait for it. The ends of worksharing constructs have no totals. */
bool icp_record_total(uint32_t kind, uint32_t place) {
  if (icp_me.is_lost) return true;
  if (icp_me.stays) start_inside();
  bool has_total = kind != TSN_REGIONS_SHARE && kind != TSN_REGIONS_WORK;
  if (icp_me.profiles) {
    if (kind != TSN_REGIONS_WORK) add_event(kind, place);
    return true;
  }
  if (!has_total) return true;
  if (kind == TSN_REGIONS_END && icp_me.open == 1 &&
      (!icp_me.calls || icp_place_is_call(place))) {
    icp_me.profiles =
        start_totals(icp_me.state.number, icp_me.watched, icp_me.own->place, 0);
    icp_me.is_over = icp_me.profiles;
  }
  return false;
}

bool icp_beat_total(bool anew) {
  if (icp_me.is_lost) return true;
  if (icp_me.stays) start_inside();
  return icp_me.profiles && add_beat(anew);
}
