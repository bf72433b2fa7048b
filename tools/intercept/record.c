/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder: starts a run at the first parallel region of the process, writes the
 * events, and beats once an iteration. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <tsanom/heartbeat.h>
#include <tsanom/regions.h>

#include "intercept.h"
#include "iterations.h"
#include "places.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))

/* The emitter of regions: see region_emitter.h. */
tsanom_status tsn_region_init(const char *folder, int32_t threads,
                              const tsanom_heartbeat_options *options);
tsanom_status tsn_region_record(int32_t thread, uint32_t tag);
tsanom_status tsn_region_finish(void);

enum { UNTRIED, RECORDING, OFF };
enum { MOST_ANNOUNCED = 256 };

static _Atomic int phase = UNTRIED;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* What the command asked for. */
static uint32_t heartbeat_every; /* regions; 0: a beat an iteration */
static bool want_cpu;
static unsigned baseline_threads, baseline_left; /* iterations to measure; 0: none */
static int restore_threads; /* LLVM: what the program had; 0: nothing to restore */
static unsigned baseline_iterations;

/* The watched thread's. */
static icp_iterations of_regions, of_shares;
static uint32_t regions_since;
static _Atomic uint32_t iteration;

static _Thread_local icp_state me INITIAL_EXEC;
static _Thread_local uint32_t beaten INITIAL_EXEC; /* iteration of the last beat */
static _Thread_local bool watched INITIAL_EXEC;
static _Thread_local uint32_t left_team INITIAL_EXEC; /* threads of the latest team */

static int one(void) {
  return 1;
}

static int none(void) {
  return 0;
}

static void ignore(int threads) {
  (void)threads;
}

static int (*thread_number)(void) = none;
static int (*team_size)(void) = one;
static int (*max_threads)(void) = one;
static void (*set_threads)(int) = ignore;

int32_t icp_thread_number(void) {
  return thread_number();
}

int32_t icp_team_size(void) {
  return team_size();
}

static uint64_t cpu_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *runtime_function(const char *name) {
  static const char *const runtimes[] = {"libgomp.so.1", "libomp.so.5", "libomp.so",
                                         "libiomp5.so"};
  void *found = dlsym(RTLD_NEXT, name);
  for (size_t i = 0; !found && i < sizeof runtimes / sizeof *runtimes; i++) {
    void *runtime = dlopen(runtimes[i], RTLD_LAZY | RTLD_NOLOAD);
    if (runtime) found = dlsym(runtime, name);
  }
  return found;
}

/* dlsym() gives functions as pointers to data; POSIX has them convertible. */
#define TAKE(pointer, name)                                 \
  do {                                                      \
    void *found = runtime_function(name);                   \
    if (found) memcpy(&(pointer), &found, sizeof(pointer)); \
  } while (0)

static unsigned number_in(const char *name) {
  const char *text = getenv(name);
  return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

static void in_child(void) {
  atomic_store(&phase, OFF);
}

/* The first process that comes to a region has the run; the others find it taken. */
static int start_run(const char *folder) {
  char inner[PATH_MAX];
  int length = snprintf(inner, sizeof inner, "%s/regions", folder);
  if (length < 0 || (size_t)length >= sizeof inner) return -1;
  int threads = max_threads();
  if (threads < 1) threads = 1;
  if (threads > MOST_ANNOUNCED) threads = MOST_ANNOUNCED;
  if (icp_iterations_start(&of_regions) != 0 || icp_iterations_start(&of_shares) != 0) {
    return -1;
  }
  if (tsanom_heartbeat_init(folder, threads, NULL) < 0) return -1;
  if (tsn_region_init(inner, threads, NULL) < 0) {
    (void)tsanom_heartbeat_finish();
    return -1;
  }
  return icp_places_start(inner) == 0 ? 0 : -1;
}

static void start(void) {
  const char *folder = getenv("TSANOM_RECORD_FOLDER");
  int error = errno;
  if (!folder) {
    atomic_store(&phase, OFF);
    return;
  }
  heartbeat_every = number_in("TSANOM_RECORD_HEARTBEAT_EVERY");
  want_cpu = number_in("TSANOM_RECORD_CPU_TIME") != 0;
  baseline_threads = number_in("TSANOM_RECORD_BASELINE");
  baseline_left = baseline_iterations = number_in("TSANOM_RECORD_BASELINE_ITERATIONS");
  TAKE(thread_number, "omp_get_thread_num");
  TAKE(team_size, "omp_get_num_threads");
  TAKE(max_threads, "omp_get_max_threads");
  TAKE(set_threads, "omp_set_num_threads");
  bool started = pthread_atfork(NULL, NULL, in_child) == 0 && start_run(folder) == 0;
  watched = started;
  atomic_store(&phase, started ? RECORDING : OFF);
  errno = error;
}

static inline bool recording(void) {
  int now = atomic_load_explicit(&phase, memory_order_relaxed);
  if (LIKELY(now == RECORDING)) return true;
  if (now == UNTRIED) pthread_once(&once, start);
  return atomic_load_explicit(&phase, memory_order_relaxed) == RECORDING;
}

__attribute__((destructor)) static void finish(void) {
  if (atomic_exchange(&phase, OFF) != RECORDING) return;
  (void)tsn_region_finish();
  (void)tsanom_heartbeat_finish();
}

static inline void record(uint32_t kind, uint32_t place, uint32_t threads) {
  uint32_t shown = threads > UINT16_MAX ? UINT16_MAX : threads;
  (void)tsn_region_record(me.number,
                          kind | place << TSANOM_REGIONS_KIND_BITS | shown << 16);
}

static void record_cpu(uint64_t nanoseconds) {
  uint32_t exponent = 0;
  while (nanoseconds >> 24) {
    nanoseconds >>= 1;
    exponent++;
  }
  (void)tsn_region_record(me.number, TSANOM_REGIONS_CPU |
                                         exponent << TSANOM_REGIONS_KIND_BITS |
                                         (uint32_t)nanoseconds << 8);
}

static void next_iteration(void) {
  uint32_t now = atomic_load_explicit(&iteration, memory_order_relaxed);
  atomic_store_explicit(&iteration, now + 1, memory_order_relaxed);
}

/* Run the first iterations that are found with the baseline's threads. */
static void measure_baseline(bool begins, unsigned *threads) {
  if (begins) {
    baseline_left--;
    if (icp_by_ompt && !restore_threads) {
      restore_threads = max_threads();
      set_threads((int)baseline_threads);
    }
  }
  if (baseline_left < baseline_iterations) *threads = baseline_threads;
}

static void end_baseline(void) {
  baseline_threads = 0;
  if (restore_threads) set_threads(restore_threads);
  restore_threads = 0;
}

/* The watched thread opens a region outside of any. */
static void watch(uint32_t place, unsigned *threads) {
  if (heartbeat_every) {
    if (regions_since == 0) next_iteration();
    if (++regions_since == heartbeat_every) regions_since = 0;
    if (!baseline_threads) return;
  }
  bool begins = icp_iterations_push(&of_regions, place);
  if (begins && !heartbeat_every) next_iteration();
  if (__builtin_expect(baseline_threads != 0, 0)) {
    if (begins && baseline_left == 0) {
      end_baseline();
    } else {
      measure_baseline(begins, threads);
    }
  }
}

static inline void beat(void) {
  uint32_t now = atomic_load_explicit(&iteration, memory_order_relaxed);
  if (LIKELY(now == beaten)) return;
  beaten = now;
  (void)tsanom_heartbeat_beat(me.number, now);
}

icp_region icp_open(const void *address, bool is_call, unsigned *threads) {
  icp_region region = {.depth = me.depth};
  if (!recording()) return region;
  region.recorded = 1;
  region.place = icp_place((uintptr_t)address, TSANOM_REGIONS_BEGIN, is_call);
  record(TSANOM_REGIONS_BEGIN, region.place, 0);
  if (watched && me.depth == 0) {
    region.watched = 1;
    watch(region.place, threads);
    region.iteration = atomic_load_explicit(&iteration, memory_order_relaxed);
  }
  return region;
}

void icp_close(const icp_region *region) {
  if (region->recorded) record(TSANOM_REGIONS_END, region->place, left_team);
}

icp_state icp_enter(const icp_region *region, int32_t number, int32_t size,
                    uint64_t *cpu) {
  icp_state before = me;
  uint32_t shown = size > UINT16_MAX ? UINT16_MAX : (uint32_t)size;
  if (region->depth == 0 || number != 0) me.number = (uint16_t)number;
  me.team = (uint16_t)shown;
  me.depth = (uint16_t)(region->depth + 1);
  me.in_team = region->watched;
  me.is_leader = region->watched && number == 0;
  /* The opener has begun the region already, and ends it when it is closed. */
  if (number != 0) record(TSANOM_REGIONS_BEGIN, region->place, 0);
  if (region->watched) beat();
  if (want_cpu) *cpu = cpu_time();
  return before;
}

void icp_work_done(const icp_region *region, int32_t number, uint64_t cpu) {
  if (want_cpu) record_cpu(cpu_time() - cpu);
  if (number != 0) record(TSANOM_REGIONS_END, region->place, me.team);
}

void icp_leave(icp_state before) {
  left_team = me.team;
  me = before;
}

void icp_share(const void *return_address) {
  if (!me.is_leader || !recording()) return;
  uint32_t place = icp_place((uintptr_t)return_address, TSANOM_REGIONS_SHARE, true);
  record(TSANOM_REGIONS_SHARE, place, me.team);
  if (heartbeat_every) return;
  /* Worksharing tells the iterations where the regions do not. */
  if (icp_iterations_push(&of_shares, place) && !of_regions.period) next_iteration();
}

void icp_shared(void) {
  if (me.in_team && recording()) beat();
}
