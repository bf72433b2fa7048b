/* SPDX-License-Identifier: BSD-3-Clause */
/* One row for each thread, and one for each region within those around it:
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
#include "profile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <tsanom/regions.h>
#include <unistd.h>

#include "intercept.h"

enum { ROWS_MOST = 1 << 16, STEP = 1 << 14, DEPTH_MOST = 64, NONE = 0 };

typedef tsanom_regions_row row;

/* What a row has besides, in memory. */
typedef struct {
  uint32_t next, latest; /* in its ring; of the rows in it */
  /* Of a region of a thread: what a computation has got of it, and the next in the list
   * of those of which the computation that goes on will get more. */
  uint64_t visits, elapsed;
  uint32_t pending;
  bool is_pending;
  bool is_owned; /* of a thread: by one that goes on */
} row_links;

static char path[PATH_MAX], run_header[PATH_MAX];
static row *rows; /* row 0 is the header */
static row_links links[ROWS_MOST];
static uint32_t used, backed; /* rows; protected by the lock, as is the growth */
static int file = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_exit;

typedef struct {
  uint64_t begin, excluded, cpu; /* `excluded` of the thread when it began */
  uint32_t row;                  /* NONE: a call of MPI, or the table is full */
  bool is_call;
} open_region;

typedef struct {
  uint32_t root, depth, pending; /* rows; the first of the list */
  bool watched, has_cpu;
  uint32_t computation; /* row of the latest */
  uint64_t started,
      before; /* ticks, and ns from the first event of its rows until then */
  uint64_t cpu, began, excluded, excluded_before;
  open_region open[DEPTH_MOST];
} profile_thread;

static _Thread_local profile_thread mine ICP_INITIAL_EXEC;

/* By the clock of the run, which its header names (docs/formats.md): a counter of which a
 * reading takes 10 ns, or CLOCK_MONOTONIC, 23 ns. */
static bool by_counter;
static double tick = 1; /* ns */

static uint64_t nanoseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t ticks_now(void) {
#if defined(__x86_64__)
  if (ICP_LIKELY(by_counter)) return __builtin_ia32_rdtsc();
#endif
  return nanoseconds_now();
}

/* Nanoseconds of a duration; 0 of one in which the counter restarted. */
static inline uint64_t nanoseconds(uint64_t ticks) {
  return (int64_t)ticks > 0 ? (uint64_t)((double)ticks * tick) : 0;
}

/* The length of a tick follows from the time since the run began, which was some thousand
 * events ago. */
static void choose_clock(void) {
  enum { CLOCK = 36, FIRST = 56, COUNTER = 1 };
  uint32_t clock = 0;
  uint64_t first[2];
  int header = open(run_header, O_RDONLY | O_CLOEXEC);
  if (header < 0) return;
  by_counter = pread(header, &clock, sizeof clock, CLOCK) == sizeof clock &&
               pread(header, first, sizeof first, FIRST) == sizeof first &&
               clock == COUNTER;
  close(header);
  if (!by_counter) return;
  double ticks = (double)(int64_t)(ticks_now() - first[0]);
  tick = (double)(nanoseconds_now() - first[1]) / ticks;
  by_counter = tick > 0 && tick < 1000;
  if (!by_counter) tick = 1;
}

/* Release the rows of a thread that ends. */
static void release(void *root) {
  pthread_mutex_lock(&lock);
  links[(row *)root - rows].is_owned = false;
  pthread_mutex_unlock(&lock);
}

void icp_profile_prepare(const char *folder) {
  int length = snprintf(path, sizeof path, "%s/" TSANOM_REGIONS_PROFILE, folder);
  if (length < 0 || (size_t)length >= sizeof path) *path = '\0';
  (void)snprintf(run_header, sizeof run_header, "%s/heartbeat.run", folder);
}

/* The mapping is as long as the file may become. */
static void create(void) {
  enum { FIRST_NUMBER = 256 }; /* out of the way of the program's own files */
  int opened = *path ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
  if (opened < 0 || pthread_key_create(&at_exit, release) != 0) return;
  file = fcntl(opened, F_DUPFD_CLOEXEC, FIRST_NUMBER);
  close(opened);
  if (file < 0 || posix_fallocate(file, 0, STEP) != 0) return;
  row *taken =
      mmap(NULL, ROWS_MOST * sizeof *rows, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (taken == MAP_FAILED) return;
  tsanom_regions_profile head = {.magic = TSANOM_REGIONS_PROFILE_MAGIC,
                                 .version = 1,
                                 .row_bytes = (uint32_t)sizeof *rows};
  memcpy(taken, &head, sizeof head);
  choose_clock();
  used = 1;
  backed = STEP / sizeof *rows;
  rows = taken;
}

/* Whether there is disk space for one more row. The descriptor may have been closed by
 * the program, and be that of another file: the program's own is not extended. */
static bool has_space(void) {
  struct stat own, named;
  if (used < backed) return true;
  if (used == ROWS_MOST || file < 0) return false;
  if (fstat(file, &own) != 0 || stat(path, &named) != 0 || own.st_ino != named.st_ino ||
      own.st_dev != named.st_dev ||
      posix_fallocate(file, 0, (off_t)(backed * sizeof *rows + STEP)) != 0) {
    return false;
  }
  backed += STEP / sizeof *rows;
  return true;
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

/* A new row, or NONE. The check comes last: a row without it has not been written. */
static uint32_t add_row(const row *identity) {
  uint32_t at = NONE;
  int error = errno;
  pthread_mutex_lock(&lock);
  if (rows && has_space()) {
    at = used++;
    rows[at] = *identity;
    atomic_signal_fence(memory_order_release);
    rows[at].check = check_of(identity);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return at;
}

/* The row of a place in another row, added if needed. */
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
  const row identity = {
      .kind = kind, .parent = parent, .thread = rows[parent].thread, .place = place};
  at = add_row(&identity);
  if (at == NONE) return NONE;
  links[at].next = latest == NONE ? at : links[latest].next;
  if (latest != NONE) links[latest].next = at;
  links[parent].latest = at;
  return at;
}

/* Rows of a thread of that number that has ended; else new ones. */
static uint32_t root_of(uint32_t number, bool watched) {
  uint32_t found = NONE;
  pthread_mutex_lock(&lock);
  for (uint32_t at = 1; at < used && found == NONE; at++) {
    bool is_free = rows[at].kind == TSANOM_REGIONS_ROW_THREAD && !links[at].is_owned;
    if (is_free && rows[at].thread == number && !rows[at].place == !watched) found = at;
  }
  if (found != NONE) links[found].is_owned = true;
  pthread_mutex_unlock(&lock);
  if (found != NONE) return found;
  const row identity = {
      .kind = TSANOM_REGIONS_ROW_THREAD, .thread = number, .place = watched};
  found = add_row(&identity);
  if (found != NONE) links[found].is_owned = true;
  return found;
}

bool icp_profile_start(uint32_t number, bool watched) {
  int error = errno;
  pthread_once(&once, create);
  uint64_t now = ticks_now();
  uint32_t root = rows ? root_of(number, watched) : NONE;
  errno = error;
  if (root == NONE) return false;
  uint64_t moment = nanoseconds_now();
  if (!rows[root].useful) rows[root].useful = moment;
  mine = (profile_thread){.root = root,
                          .watched = watched,
                          .began = now,
                          .started = now,
                          .before = moment - rows[root].useful};
  (void)pthread_setspecific(at_exit, &rows[root]);
  return true;
}

/* The row of a region in a computation; `at` is that in the thread. */
static uint32_t row_in_computation(uint32_t within, uint32_t at) {
  uint32_t outer = rows[at].parent;
  uint32_t parent = outer == mine.root ? within : row_in_computation(within, outer);
  return row_in(parent, TSANOM_REGIONS_ROW_REGION, rows[at].place);
}

/* Regions since the last computation, which belong to `within`, or to nothing. */
static void settle(uint32_t within, double scale) {
  for (uint32_t at = mine.pending; at != NONE; at = links[at].pending) {
    row_links *l = &links[at];
    uint32_t to = within == NONE ? NONE : row_in_computation(within, at);
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
  mine.pending = NONE;
}

/* There is no computation in front of the first call, which is MPI_Init. */
static void end_computation(uint32_t place, uint64_t now) {
  uint64_t elapsed =
      nanoseconds(now - mine.began - (mine.excluded - mine.excluded_before));
  uint64_t useful = mine.has_cpu && mine.cpu < elapsed ? mine.cpu : elapsed;
  bool has_cpu = mine.has_cpu;
  mine.has_cpu = false;
  mine.computation = row_in(mine.root, TSANOM_REGIONS_ROW_COMPUTATION, place);
  if (mine.computation != NONE) {
    row *r = &rows[mine.computation];
    r->visits++;
    r->elapsed += elapsed;
    r->useful += useful;
    if (has_cpu) r->cpu += mine.cpu;
  }
  settle(mine.computation, elapsed ? (double)useful / (double)elapsed : 1);
}

static void begin(uint32_t place, uint64_t now) {
  bool is_call = icp_place_is_call(place);
  if (is_call && mine.depth == 0 && mine.watched) end_computation(place, now);
  if (mine.depth++ >= DEPTH_MOST) return;
  open_region *o = &mine.open[mine.depth - 1];
  *o = (open_region){.begin = now, .excluded = mine.excluded, .is_call = is_call};
  if (is_call) return;
  uint32_t outer = mine.depth > 1 && !o[-1].is_call ? o[-1].row : mine.root;
  o->row = row_in(outer, TSANOM_REGIONS_ROW_REGION, place);
}

static void end_call(uint64_t elapsed, uint64_t now) {
  mine.excluded += elapsed;
  rows[mine.root].waiting += nanoseconds(elapsed);
  if (mine.depth != 0) return;
  if (mine.computation != NONE) {
    rows[mine.computation].waiting += nanoseconds(elapsed);
  }
  mine.began = now;
  mine.excluded_before = mine.excluded;
}

static void end(uint64_t now) {
  if (mine.depth == 0 || --mine.depth >= DEPTH_MOST) return;
  const open_region *o = &mine.open[mine.depth];
  if (o->is_call) {
    end_call(now - o->begin, now);
    return;
  }
  if (o->row == NONE) return;
  uint64_t elapsed = nanoseconds(now - o->begin - (mine.excluded - o->excluded));
  row *r = &rows[o->row];
  r->visits++;
  r->elapsed += elapsed;
  r->useful += o->cpu ? o->cpu : elapsed;
  r->cpu += o->cpu;
  r->waiting += nanoseconds(mine.excluded - o->excluded);
  if (!mine.watched || links[o->row].is_pending) return;
  links[o->row].is_pending = true;
  links[o->row].pending = mine.pending;
  mine.pending = o->row;
}

/* The child of a fork shares the file. */
void icp_profile_event(uint32_t kind, uint32_t place) {
  if (!icp_recording()) return;
  uint64_t now = ticks_now();
  row *root = &rows[mine.root];
  root->visits++;
  root->elapsed = mine.before + nanoseconds(now - mine.started);
  if (kind == TSANOM_REGIONS_BEGIN) begin(place, now);
  if (kind == TSANOM_REGIONS_END) end(now);
}

void icp_profile_cpu(uint64_t nanoseconds) {
  if (mine.depth == 0) {
    mine.cpu = nanoseconds;
    mine.has_cpu = true;
  } else if (mine.depth <= DEPTH_MOST) {
    mine.open[mine.depth - 1].cpu = nanoseconds;
  }
}
