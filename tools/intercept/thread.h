/* SPDX-License-Identifier: BSD-3-Clause */
/* The state that the parts of the interception library share: the run, the watched thread,
 * and each thread's own. Written by record.c and the functions of intercept.h. This header
 * needs no other part but the detector of iterations, so that all may include it. */
#ifndef TSN_INTERCEPT_THREAD_H
#define TSN_INTERCEPT_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tsanom/record.h>

#include "iterations.h"
#include "record/inside.h"
#include "record/regions.h"

#define ICP_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define ICP_INITIAL_EXEC __attribute__((tls_model("initial-exec")))

/* A thread with regard to the regions that it is in. 16 bytes, which are saved and
 * restored as a whole. */
typedef struct {
  /* Its stream: its number in the outermost team, and above it that of the team's opener. A
   * thread that opens a nested region and leads its team keeps it. */
  uint32_t number;
  /* Threads of the innermost team. */
  uint32_t team;
  /* Regions that it is in. */
  uint32_t depth;
  /* ICP_*, in that team. */
  uint16_t role;
  /* Number of the innermost region's runtime. */
  uint16_t runtime;
} icp_state;

enum {
  ICP_OTHER = 0, /* beats at no iteration */
  ICP_MEMBER,    /* of the watched thread's team, at depth 1 */
  ICP_LEADER     /* the watched thread itself: its worksharing is recorded */
};

/* What a thread has used since it began: see usage.h. */
typedef struct {
  uint64_t cpu; /* nanoseconds */
  uint64_t count[TSN_REGIONS_METRICS];
  uint32_t counted; /* bit m: count[m] is known */
} icp_usage;

/* Whose state it is. */
enum {
  ICP_OWN_COUNTERS = 0, /* usage.c; its memory is used when the thread ends */
  ICP_OWN_PROFILE,
  ICP_OWN_FUNCTIONS,
  ICP_OWN_TASKS,
  ICP_OWN_OPEN,  /* regions that two calls of the program begin and end: */
  ICP_OWN_ALONE, /* teams, or one thread */
  ICP_OWN_PARTS
};

/* Regions and calls within others, of which readers know. */
enum { ICP_DEPTH_MOST = 64 };

/* Phases of the process: ICP_OFF for good where no run was asked for or could be started;
 * ICP_PLAIN: its threads are recorded, not regions and calls; ICP_LOADED: it has come to none of
 * these yet. */
enum { ICP_UNTRIED = 0, ICP_RECORDING, ICP_OFF, ICP_PLAIN, ICP_LOADED };

/* Written when the run begins and ends. A page of its own, that the child of a fork finds
 * as zeros, however it is made: it has no run, and no lock is held. */
#if defined(__x86_64__)
enum { ICP_PAGE = 4096 };
#else
enum { ICP_PAGE = 65536 }; /* the largest that there is */
#endif
typedef struct {
  _Alignas(ICP_PAGE) _Atomic int32_t phase;
  /* By OMPT: the threads of a region cannot be set region by region. */
  bool by_ompt;
  bool want_cpu;       /* also of the parts of regions */
  bool beats_at_tasks; /* and at chunks, unless a main loop is followed */
  bool wants_metrics;
  /* The process has come to regions, which are not recorded: its run is PLAIN or LOADED. */
  _Atomic bool is_refused;
  pid_t process;   /* whose the run is */
  icp_usage began; /* what the watched thread had used when the run began */
  tsanom_record *record;
  /* Never held while the loader is called: a constructor that opens a region, and so needs
   * this lock, runs under the loader's. */
  pthread_mutex_t runtimes_lock;
} icp_settings;

/* The watched thread's: it alone writes, except at the start. Members of its team read
 * `iteration` behind their barriers; in a region they get it from the opener. What others
 * read has a cache line of its own. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
typedef struct {
  _Alignas(64) _Atomic uint32_t iteration;
  _Atomic uint32_t visits; /* odd while it is in a region: see watch.c */
  bool special;            /* regions are counted, or a baseline is measured */
  uintptr_t region;        /* the address by which its current region is known */
  uint32_t place;          /* and its number */
  uint32_t first;          /* iteration that was counted */
  icp_iterations of_regions, of_shares;
  /* Of worksharing: iterations, those of them that began in another visit than the one before, and
   * the visit of the latest. */
  uint32_t begun, apart, visit;
  icp_early early; /* when iterations of the loop that is followed began before it was */
  bool has_calls;  /* the process has called MPI */
  /* icp_me of the thread; NULL: it has ended. */
  _Alignas(64) _Atomic(struct icp_thread *) owner;
} icp_watch;

/* The processor time in which a thread waited for its team: that of a member is all but its
 * visits, that of the opener what lies before and behind its part: for members that have not come
 * back from the region before, and at the join. */
typedef struct {
  tsn_team_thread *shown;  /* to the sampler; NULL: it is not */
  uint64_t base;           /* what the thread before it with this number had */
  uint64_t first, worked;  /* of a member: at its first visit; in its visits */
  uint64_t outside;        /* between these */
  uint64_t inside, since;  /* at barriers and joins; when the latest began */
  uint32_t number, weight; /* 1 + that of the thread; that of a measured visit, else 0 */
} icp_waiting;

/* What a thread does between two calls of MPI. */
typedef struct {
  icp_usage usage;      /* at the latest reading; the counts: when it began */
  uint64_t began, read; /* ticks: when it began, and of that reading */
  int64_t stretch;      /* of the processor, then: tsn_cpu_clock_stretch() */
} icp_computation;

/* A thread's memory: see own.c. */
typedef struct {
  /* Places of the regions and calls that are open, from the outermost on. */
  uint16_t place[ICP_DEPTH_MOST];
  icp_state outside; /* the state before the outermost region */
  icp_usage part;    /* when the part of its region began that goes on */
  icp_usage call;    /* when the call of MPI began */
  icp_computation computation;
  icp_waiting waiting;
  uint64_t opened[ICP_DEPTH_MOST]; /* ticks, of those that are measured */
  uint64_t random;                 /* state of a generator; 0: none yet */
  size_t used;                     /* bytes of the mapping */
  uint32_t foreign;                /* its number outside of teams; 0: none */
  uint32_t opener;  /* 1 and its number among those that open regions; 0: none yet */
  uint32_t sampled; /* by that number, in the team of an opener but the first; else 0 */
  /* Of a thread that may become the watched one (watch.c): visits of that one, regions that it
   * opened meanwhile and since when, regions beside visits of that one, and which it takes the
   * place of. */
  uint32_t visits, alone, beside;
  uint64_t since;
  struct icp_thread *before_me;
  uint32_t plain;  /* its number in a program without teams; 0: none */
  uint32_t start;  /* place of the function with which it started, */
  bool is_started; /* which has not ended */
  void *part_of[ICP_OWN_PARTS];
} icp_own;

/* A thread's own: in its static TLS, of which all together are at most 512 bytes. */
typedef struct icp_thread {
  icp_state state;
  uint32_t beaten;    /* the last iteration that beat */
  uint32_t tag;       /* of the last beat */
  uint32_t left_team; /* threads of the latest team */
  uint32_t chunks;    /* of loops that it took in its region */
  uint32_t quota;     /* records that it may write before it asks for more */
  uint32_t open;      /* regions and calls that its events have begun */
  uint16_t caller;    /* element of icp_callers to which a call returned last */
  bool watched;
  bool has_parts; /* its region, of the watched thread, had worksharing; with CPU times */
  bool calls;     /* it has ended a call of MPI, as the watched thread */
  bool is_over;   /* the events that the process may write are written: */
  bool stays;     /* and the thread has not left its regions since, */
  bool profiles;  /* its events are added up */
  bool is_lost;   /* there is no memory for it: nothing is written */
  const char *frame; /* of the outermost region that it is in, on the stack */
  icp_own *own;      /* NULL: it has not come to a region or call yet */
} icp_thread;

extern icp_settings icp_set;
extern icp_watch icp_watched;
extern bool icp_wants_functions; /* --functions */
extern _Thread_local icp_thread icp_me ICP_INITIAL_EXEC;

/* The calling thread's memory for a part, zeros at first. NULL: the system gives none. A
 * few instructions after the first time; safe in a signal handler. */
void *icp_own_part(int part, size_t bytes);

/* Give the calling thread its icp_own. */
void icp_own_make(void);

/* A number for a thread that is neither watched nor in a team, above those of teams. The
 * number of a thread that has ended is used again, and with it its streams. */
uint32_t icp_foreign_number(void);

/* Processor time of a thread in its outermost regions, by its number among those that open them: how long
 * these take depends on who has a processor. */
typedef struct {
  _Alignas(64) _Atomic uint64_t cpu; /* nanoseconds */
} icp_opener;
extern icp_opener icp_openers[TSN_REGIONS_OPENERS];

/* Give the calling thread a number among those that open outermost regions: that of the thread that ended
 * last, if no other one has worked in its regions since, as where each job has a thread. */
void icp_own_opener(void);

/* Before the first thread has memory: notice the ends of threads. */
void icp_own_start(void);

/* Whether the run could be started, once, when a thread comes to a region, of the runtime
 * of that number; and give the thread its memory. */
bool icp_start(uint16_t runtime);

/* Whether a run could be started when the library is loaded: ICP_PLAIN or ICP_LOADED. */
bool icp_start_at_load(void);

/* The visit of the thread's function ends, if it has not; `leaves`: and the thread, whose
 * number others may have. */
void icp_thread_ends(bool leaves);

/* The calling thread ends, and if it is the watched one, another may be. */
void icp_watch_ends(void);

/* Two loads and comparisons in the usual case. The first acquires what was prepared before
 * the phase was published; on x86-64 this costs nothing. */
static inline bool icp_is_recorded(void) {
  return ICP_LIKELY(atomic_load_explicit(&icp_set.phase, memory_order_acquire) ==
                    ICP_RECORDING) &&
         ICP_LIKELY(icp_me.own != NULL);
}

static inline bool icp_may_record(void) {
  return atomic_load_explicit(&icp_set.phase, memory_order_relaxed) != ICP_OFF;
}

static inline bool icp_recording(void) {
  return icp_is_recorded() || (icp_may_record() && icp_start(0));
}

/* Whether this thread may write a record, by --max-size. The first that may not ends the
 * recording. */
bool icp_take_quota(void);

static inline bool icp_may_write(void) {
  if (!ICP_LIKELY(icp_me.quota != 0)) return icp_take_quota();
  icp_me.quota--;
  return true;
}

#endif
