/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of MPI as regions of the thread that calls: their events are in the same stream
 * as those of parallel regions, so that iterations are found in both together, and time
 * in MPI is separated from the time between two calls:
 *
 *   computation        MPI_Allreduce          computation
 *   ... CPU of it ─▶ BEGIN place   END place ─▶ ... CPU of it ─▶ BEGIN ...
 *
 * A place is the function, the address to which the call returns, and the communicator.
 *
 * Elapsed time is not the work of a computation where ranks share processors. So the
 * watched thread records the processor time of a computation in front of the BEGIN that
 * ends it, if it has lasted so long that this takes at most 0.3 % of its time (usage.c). Of
 * shorter ones the elapsed time is nearly the same: a thread that loses its processor does
 * not have it back so soon.
 *
 * Only the end shows how long a computation is, and at each begin a reading would cost too
 * much. So that of the latest end stands for it, if the thread had its processor since:
 *
 *   CPU read       BEGIN  call  END     computation                  BEGIN
 *   | read                      | began                              | read again
 *   |<---- passes as elapsed -->|<------- recorded: the rest ------->|
 *
 * It is read at the begin if it is as old as a computation that is measured, or the kernel
 * says that the thread was switched out. Where the kernel does not say so (clock.c), a wait
 * between the two counts as processor time.
 *
 * With functions, each call has its processor time too, which is taken out of that of the
 * functions around it: a call that waits may use the processor.
 *
 * A thread that is neither watched nor in a team, as with MPI_THREAD_MULTIPLE, gets a
 * number of its own, above those of teams: its calls must not look like those of the
 * watched thread.
 *
 * A call within another one, by which a library implements it, is not recorded.
 *
 * A rank that waits in a loop of polls, such as MPI_Test, would write 300 MB a second, hide the
 * period of the program, and seem to compute between them. So polls between which
 * the thread has used less than 10 us are one visit: its END is taken back at the next poll,
 * and written again behind that.
 *
 *   poll 1           poll 2                  poll 3
 *   BEGIN  END 1     END 1 goes   END 2      END 2 goes   END 3
 *
 * At every instant the file shows what is so: the thread is in a poll, or behind the latest.
 * They are polls of one place, or of any where the loop has several: see CHANGES. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "asked.h"
#include "events.h"
#include "modules.h"
#include "mpi.h"
#include "record/guard.h"
#include "record/inside.h"
#include "runtime.h"
#include "section.h"

/* An argument: a number or a pointer, which travels in a register or a stack slot of its
 * own. MPI passes nothing else by value. */
typedef intptr_t word;

/* Where a call is on the stack: `top` is the stack pointer of its caller, below at most
 * `slack` bytes of arguments that the caller may have put there. */
typedef struct {
  const char *top;
  int64_t slack;
} call_frame;

/* That of a wrapper with `words` arguments. */
#define CALL_FRAME(words) \
  ((call_frame){__builtin_dwarf_cfa(), 8 * ((words) > 6 ? (words)-6 + 1 : 1)})

/* The place of a call that is not recorded: within another one, for example. */
enum { UNRECORDED = UINT16_MAX };

enum { SLOTS = 1 << 14, PROBES = 32, COMMUNICATORS = 256, NUMBER_BITS = 13 };

_Static_assert(TSN_REGIONS_PLACES_MAX == 1 << NUMBER_BITS, "a slot has the number");

/* Place by call: the upper bits of a hash, and the number; 0: free. In one word, so that
 * a lookup takes no lock. Two of n calls collide with probability n^2 / 2^52. */
static _Atomic uint64_t slots[SLOTS];
static const uint64_t number_mask = ((uint64_t)1 << NUMBER_BITS) - 1;

/* Communicators in the order in which they were first used. */
static word communicators[COMMUNICATORS];
static int known_communicators;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct {
  uint32_t depth;    /* calls that it is in */
  uint32_t place;    /* of the outermost; UNRECORDED: it is not recorded */
  const char *frame; /* top of the outermost, on the stack */
  bool computes;     /* a computation goes on */
  uint32_t polled;   /* 1 + place of the latest call, a poll; 0: it was none */
  uint32_t changes;  /* polls of another place than the one before, in one loop */
} mpi_thread;

static _Thread_local mpi_thread mine ICP_INITIAL_EXEC;

typedef struct {
  const char *name;
  void *found;
} definition;

static void find_anywhere(void *argument) {
  definition *d = argument;
  d->found = icp_defined(d->name);
}

/* A library that the program loaded by dlopen(), like a module of Python, may have
 * brought MPI with it. Then the search behind this library does not find MPI, but one
 * from the library that calls does; not if it jumped here, as its last call: then `site` is
 * in its caller. */
static void *find(const char *name, const void *site) {
  void *found = dlsym(RTLD_NEXT, name);
  Dl_info about;
  if (found) return found;
  void *caller =
      dladdr(site, &about) ? dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (caller) {
    found = dlsym(caller, name);
    (void)dlclose(caller);
  }
  if (found) return found;
  definition d = {.name = name};
  icp_section(find_anywhere, &d);
  return d.found;
}

/* The original of a wrapper, for a call from `site`; ends the program if there is none. */
static void *original(_Atomic(void *) *cache, const char *name, const void *site) {
  void *found = find(name, site);
  if (!found) {
    ICP_REPORT(0, "the program ends: its MPI library has no %s", name);
    abort();
  }
  atomic_store_explicit(cache, found, memory_order_release);
  return found;
}

/* The number of a communicator, from 1; 0: none, or too many. */
static uint32_t communicator_number(word communicator) {
  if (!communicator) return 0;
  pthread_mutex_lock(&lock);
  int i = 0;
  while (i < known_communicators && communicators[i] != communicator) i++;
  if (i == known_communicators && i < COMMUNICATORS) {
    communicators[known_communicators++] = communicator;
  }
  pthread_mutex_unlock(&lock);
  return i < COMMUNICATORS ? (uint32_t)i + 1 : 0;
}

/* A call that is not in the table. Another thread may add it at the same time, to
 * another slot; both have the same number. */
__attribute__((noinline)) static uint32_t add(uint64_t key, const char *name,
                                              const void *site, word communicator) {
  tsn_guard guard;
  tsn_guard_enter(&guard);
  icp_watched.has_calls = true;
  if (strncmp(name, "MPI_Comm_spawn", strlen("MPI_Comm_spawn")) == 0) icp_report_spawn();
  uint32_t number =
      icp_place_of_call((uintptr_t)site, name, communicator_number(communicator));
  uint32_t at = (uint32_t)(key >> 50);
  for (int i = 0; i < PROBES; i++) {
    uint64_t vacant = 0;
    if (atomic_compare_exchange_strong(&slots[(at + (uint32_t)i) % SLOTS], &vacant,
                                       key | number)) {
      break;
    }
  }
  tsn_guard_leave(&guard);
  return number;
}

/* Multiplicative hashing of the three, one after the other: address and name are
 * distinct in their lower 48 bits, communicators in 32. */
static inline uint32_t place_of(const char *name, const void *site, word communicator) {
  const uint64_t golden = 0x9E3779B97F4A7C15u;
  uint64_t hash = ((uint64_t)(uintptr_t)site * golden) ^ (uint64_t)(uintptr_t)name;
  hash = (hash ^ hash >> 32) * golden ^ (uint64_t)communicator;
  hash = (hash ^ hash >> 32) * golden;
  uint64_t key = (hash & ~number_mask) | (uint64_t)1 << NUMBER_BITS;
  uint32_t at = (uint32_t)(key >> 50);
  for (int i = 0; i < PROBES; i++, at = (at + 1) % SLOTS) {
    uint64_t slot = atomic_load_explicit(&slots[at], memory_order_relaxed);
    if (ICP_LIKELY((slot & ~number_mask) == key)) return (uint32_t)(slot & number_mask);
    if (!slot) break;
  }
  return add(key, name, site, communicator);
}

void icp_mpi_forget(void) {
  for (size_t i = 0; i < SLOTS; i++) {
    atomic_store_explicit(&slots[i], 0, memory_order_relaxed);
  }
}

enum { SHORTEST_WORK = 10000 }; /* ns; as src/runs/process_times.c has it */

static uint64_t get_shortest_ticks(void) {
  static _Atomic uint64_t shortest; /* the same; 0: not known yet */
  uint64_t ticks = atomic_load_explicit(&shortest, memory_order_relaxed);
  if (!ICP_LIKELY(ticks != 0)) {
    ticks = (uint64_t)(SHORTEST_WORK / icp_tick_length()) + 1;
    atomic_store_explicit(&shortest, ticks, memory_order_relaxed);
  }
  return ticks;
}

/* c->usage has the processor time of this moment. */
static void note_reading(icp_computation *c, uint64_t ticks) {
  c->read = ticks;
  c->stretch = tsn_cpu_clock_stretch();
}

/* Processor time when the computation began. */
static uint64_t cpu_at_begin(const icp_computation *c) {
  return c->usage.cpu + (c->began - c->read) * SHORTEST_WORK / get_shortest_ticks();
}

/* The computation ends that was behind the latest call. */
static void end_computation(void) {
  icp_computation *c = &icp_me.own->computation;
  uint64_t ticks = icp_ticks();
  if (!mine.computes) return;
  mine.computes = false;
  if (ticks - c->began < icp_enough) {
    icp_note_sampling();
    return;
  }
  icp_usage now = icp_usage_now();
  c->usage.cpu = cpu_at_begin(c);
  if (c->usage.cpu > now.cpu) c->usage.cpu = now.cpu;
  icp_record_between(&c->usage, &now);
  c->usage.cpu = now.cpu;
  note_reading(c, ticks);
}

static void begin_computation(void) {
  icp_computation *c = &icp_me.own->computation;
  uint64_t ticks = icp_ticks();
  if (icp_wants_functions || ticks - c->read >= icp_enough ||
      tsn_cpu_clock_stretch() != c->stretch) {
    icp_usage now = icp_usage_now();
    icp_record_network(&c->usage, &now);
    c->usage = now;
    note_reading(c, ticks);
  }
  mine.computes = true;
  c->began = ticks;
}

/* Whether the thread is the watched one, outside of regions. */
static bool is_outermost(void) {
  if (icp_me.state.depth != 0) return false;
  if (!icp_me.watched && icp_me.state.number == 0) {
    icp_me.state.number = icp_foreign_number();
  }
  return icp_me.watched;
}

/* The program has left calls by longjmp() or an exception, as an error handler of MPI may:
 * the caller of a new call is not below that of the outermost one. On another stack, which
 * is far away, it says nothing. */
static bool has_left(call_frame frame) {
  enum { FAR = 1 << 26 };
  const char *here = frame.top + frame.slack;
  return mine.depth != 0 && here >= mine.frame && here - mine.frame < FAR;
}

static void mpi_end(uint32_t place);

__attribute__((noinline)) static void end_left_calls(void) {
  mine.depth = 1;
  mpi_end(mine.place);
}

/* A call begins, at a frame. Returns its place. */
static inline uint32_t enter(const char *name, const void *site, word communicator,
                             call_frame frame) {
  if (!ICP_LIKELY(!has_left(frame))) end_left_calls();
  if (mine.depth++ != 0) return UNRECORDED;
  mine.frame = frame.top;
  mine.place = UNRECORDED;
  if (!icp_recording()) return UNRECORDED;
  return mine.place = place_of(name, site, communicator);
}

static inline void begin(uint32_t place) {
  if (is_outermost()) {
    unsigned unused = 0;
    end_computation();
    if (!ICP_LIKELY(!icp_watched.special)) {
      icp_open_specially(place, &unused);
    } else if (icp_iterations_push(&icp_watched.of_regions, place)) {
      icp_begin_iteration(&icp_watched.of_regions);
    }
    icp_beat(icp_iteration());
  }
  icp_record(TSN_REGIONS_BEGIN, place, 0);
  if (icp_wants_functions) icp_me.own->call = icp_usage_now();
}

/* A call from `site` begins. Returns the number of its place, or UNRECORDED. Each is followed
 * by mpi_end(). */
static uint32_t mpi_begin(const char *name, const void *site, word communicator,
                          call_frame frame) {
  uint32_t place = enter(name, site, communicator, frame);
  if (place == UNRECORDED) return place;
  mine.polled = mine.changes = 0;
  begin(place);
  return place;
}

/* The threads are those of the latest team, so that a call between two parallel regions
 * does not look like a change of their number. */
static inline uint32_t threads_shown(void) {
  return icp_me.left_team ? icp_me.left_team : 1;
}

/* Returns whether a computation of the watched thread begins. */
static inline bool end(uint32_t place) {
  if (mine.depth) mine.depth--;
  if (place == UNRECORDED) return false;
  if (icp_wants_functions) icp_record_usage(&icp_me.own->call);
  icp_record(TSN_REGIONS_END, place, threads_shown());
  if (!is_outermost()) return false;
  icp_me.calls = true;
  return true;
}

static void mpi_end(uint32_t place) {
  if (end(place)) begin_computation();
}

/* ---- polls */

/* The latest visit of the place continues, if it ended less than `age` ticks ago and
 * nothing came behind it. */
static bool continue_visit(uint32_t place, uint64_t age) {
  if (icp_me.is_over) return icp_me.profiles && icp_profile_continue(place, age);
  uint32_t event = icp_event(TSN_REGIONS_END, place, threads_shown());
  if (!tsn_record_take_back(icp_set.record, (int32_t)icp_me.state.number, event, age)) {
    return false;
  }
  icp_me.quota++;
  icp_note_begin(place);
  return true;
}

/* A thread that lost its processor between two polls has not worked. */
static bool has_not_worked(void) {
  const icp_computation *c = &icp_me.own->computation;
  bool is_known = c->read == c->began || c->stretch;
  return mine.computes && is_known && icp_cpu_now() < cpu_at_begin(c) + SHORTEST_WORK;
}

/* Whether the poll of a place belongs to the visit before it, whose place it gets. Of a loop
 * with polls of several places, the first CHANGES are visits of their own. */
static bool continues(uint32_t *place) {
  enum { CHANGES = 8 };
  uint32_t before = mine.polled - 1;
  if (!mine.polled || icp_wants_functions) return false;
  if (before != *place && mine.changes < CHANGES) {
    mine.changes++;
    return false;
  }
  if (!continue_visit(before, get_shortest_ticks()) &&
      !(has_not_worked() && continue_visit(before, UINT64_MAX))) {
    mine.changes = 0;
    return false;
  }
  mine.computes = false;
  mine.place = *place = before;
  return true;
}

/* The same of a call that asks and does not wait. Polls between which the program does nothing
 * are one visit of a place. */
static uint32_t mpi_begin_poll(const char *name, const void *site, word communicator,
                               call_frame frame) {
  uint32_t place = enter(name, site, communicator, frame);
  if (place != UNRECORDED && !continues(&place)) begin(place);
  return place;
}

static void mpi_end_poll(uint32_t place) {
  bool computes = end(place);
  if (place == UNRECORDED) return;
  mine.polled = place + 1;
  if (computes) begin_computation();
}

/* MPI_COMM_WORLD as C passes it: that of MPICH and its relatives is a number; Open MPI
 * converts the one of Fortran, because the address of the object is that of a copy if the
 * program refers to it. 0: of another library, which may end the program if it is passed
 * a wrong one. */
static word world_of(const void *site) {
  static const char *const relatives[] = {"MPICH", "MVAPICH", "Intel(R) MPI"};
  static char version[1 << 14]; /* MPICH writes up to 8192 bytes */
  int (*get_version)(char *, int *) = NULL;
  word (*from_fortran)(int) = NULL;
  int length = 0;
  void *found = find("PMPI_Get_library_version", site);
  void *convert = find("PMPI_Comm_f2c", site);
  if (!found || !convert) return 0;
  memcpy(&get_version, &found, sizeof found);
  memcpy(&from_fortran, &convert, sizeof convert);
  if (get_version(version, &length) != 0) return 0;
  if (strstr(version, "Open MPI")) return from_fortran(0);
  for (size_t i = 0; i < sizeof relatives / sizeof *relatives; i++) {
    if (strstr(version, relatives[i])) return 0x44000000;
  }
  return 0;
}

/* The result of a function with two arguments, the world and a pointer; -1: failed. */
static int ask(const char *name, word world, const void *site) {
  int (*function)(word, int *) = NULL;
  int result = -1;
  void *found = find(name, site);
  if (!found) return -1;
  memcpy(&function, &found, sizeof found);
  return function(world, &result) == 0 ? result : -1;
}

static bool is_initialized(const void *site) {
  int (*function)(int *) = NULL;
  int result = 0;
  void *found = find("PMPI_Initialized", site);
  if (!found) return false;
  memcpy(&function, &found, sizeof found);
  return function(&result) == 0 && result;
}

/* Before and after MPI_Init is called from `site`, as `name`: find the rank, and start the run.
 * The second gets what the first returned.
 *
 * A run that a parallel region began has MPI_Init as a call, and a computation in front
 * of it. */
static uint32_t mpi_starting(const char *name, const void *site, call_frame frame) {
  if (atomic_load(&icp_set.phase) == ICP_RECORDING && icp_recording()) {
    mine.computes = icp_me.watched;
    icp_me.own->computation = (icp_computation){.usage = icp_set.began};
    return mpi_begin(name, site, 0, frame);
  }
  if (mine.depth++ == 0) {
    mine.frame = frame.top;
    mine.place = UNRECORDED;
  }
  return UNRECORDED;
}

/* A run that begins here has it as a call that takes no time: what is before it belongs
 * to no run. */
static void mpi_started(uint32_t place, const char *name, const void *site,
                        call_frame frame) {
  bool is_inner = mine.depth > 1;
  if (!is_inner && *icp_asked.run && is_initialized(site)) {
    word world = world_of(site);
    int rank = world ? ask("PMPI_Comm_rank", world, site) : -1;
    int size = world ? ask("PMPI_Comm_size", world, site) : -1;
    if (rank >= 0 && size > 0) icp_rank_is(rank, size);
  }
  mpi_end(place);
  if (!is_inner && place == UNRECORDED) {
    mpi_end(mpi_begin(name, site, 0, frame));
  }
}

/* ---- wrappers
 *
 * MPI's functions, in front of the originals, by one table (mpi_calls.h). They forward
 * machine words, so that no mpi.h is needed and one library serves every MPI:
 *
 *   C         MPI_Send(...)            communicators by value
 *   Fortran   mpi_send_, mpi_send__    mpif.h and `use mpi`; all arguments by reference
 *             mpi_send_f08_            `use mpi_f08` without descriptors, as Open MPI
 *             mpi_send_f08ts_          with descriptors, as MPICH
 *
 * A Fortran function may call the one for C, which then is within a call and not
 * recorded: each call of the program counts once. The functions with the prefix PMPI_ are
 * left to the program. */

#define P0 void
#define P1 word a
#define P2 P1, word b
#define P3 P2, word c
#define P4 P3, word d
#define P5 P4, word e
#define P6 P5, word f
#define P7 P6, word g
#define P8 P7, word h
#define P9 P8, word i
#define P10 P9, word j
#define P11 P10, word k
#define P12 P11, word l
#define P13 P12, word m
#define P14 P13, word n
#define A0
#define A1 a
#define A2 A1, b
#define A3 A2, c
#define A4 A3, d
#define A5 A4, e
#define A6 A5, f
#define A7 A6, g
#define A8 A7, h
#define A9 A8, i
#define A10 A9, j
#define A11 A10, k
#define A12 A11, l
#define A13 A12, m
#define A14 A13, n

/* Argument `at` of those, as C and as Fortran pass a communicator. */
#define C0 0
#define C1 a
#define C2 b
#define C3 c
#define C4 d
#define C5 e
#define C6 f
#define C7 g
#define C8 h
#define C9 i
#define C11 k
#define VALUE(at) C##at
#define REFERENCE(at) read_handle(C##at)

/* Handles of Fortran are integers of 32 bits, in mpi_f08 the only member of a struct. 0
 * is one of them, and becomes another number. */
static inline word read_handle(word address) {
  int32_t handle = 0;
  /* NOLINTNEXTLINE(performance-no-int-to-ptr): the argument is a pointer */
  if (address) memcpy(&handle, (const void *)address, sizeof handle);
  return (word)((uint32_t)handle | (uint64_t)1 << 32);
}

/* Declare `real`, the original. */
#define MPI_REAL(symbol, words)                                                \
  static _Atomic(void *) cache;                                                \
  const void *site = __builtin_return_address(0);                              \
  void *original_address = atomic_load_explicit(&cache, memory_order_acquire); \
  if (__builtin_expect(!original_address, 0)) {                                \
    original_address = original(&cache, #symbol, site);                        \
  }                                                                            \
  word (*real)(P##words);                                                      \
  memcpy(&real, &original_address, sizeof real)

#define WRAP(symbol, name, words, communicator, begins, ends)              \
  ENTRY word symbol(P##words);                                             \
  ENTRY word symbol(P##words) {                                            \
    MPI_REAL(symbol, words);                                               \
    uint32_t place = begins(#name, site, communicator, CALL_FRAME(words)); \
    word result = real(A##words);                                          \
    ends(place);                                                           \
    return result;                                                         \
  }

#define EACH(name, fortran, words, fortran_words, at, begins, ends)      \
  WRAP(name, name, words, VALUE(at), begins, ends)                       \
  WRAP(fortran##_, name, fortran_words, REFERENCE(at), begins, ends)     \
  WRAP(fortran##__, name, fortran_words, REFERENCE(at), begins, ends)    \
  WRAP(fortran##_f08_, name, fortran_words, REFERENCE(at), begins, ends) \
  WRAP(fortran##_f08ts_, name, fortran_words, REFERENCE(at), begins, ends)

#define CALL(name, fortran, words, fortran_words, at) \
  EACH(name, fortran, words, fortran_words, at, mpi_begin, mpi_end)
#define POLL(name, fortran, words, fortran_words, at) \
  EACH(name, fortran, words, fortran_words, at, mpi_begin_poll, mpi_end_poll)
#define LARGE(name, fortran, words, fortran_words, at) \
  CALL(name, fortran, words, fortran_words, at)        \
  WRAP(name##_c, name##_c, words, VALUE(at), mpi_begin, mpi_end)

#include "mpi_calls.h"

#undef CALL
#undef POLL
#undef LARGE
#define CALL(name, ...) {#name, (void (*)(void))name},
#define POLL CALL
#define LARGE(name, ...) CALL(name, ) CALL(name##_c, )

/* Functions of MPI 4, of which an older one lacks some. */
static const struct {
  const char *name;
  void (*function)(void);
} in_c[] = {
#include "mpi_calls.h"
};

/* Modules that are loaded later, and dlsym(), find what the library has that defines this. */
static void hide_others(void *initialize) {
  Dl_info about;
  void *library = dladdr(initialize, &about)
                      ? dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                      : NULL;
  if (!library) return;
  icp_clear_asked(library, "MPI_");
  for (size_t i = 0; i < sizeof in_c / sizeof *in_c; i++) {
    if (!dlsym(library, in_c[i].name)) icp_hide(icp_address_of(in_c[i].function));
  }
  (void)icp_dlclose(library);
}

static void look_for_others(const void *site) {
  static atomic_flag is_known = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&is_known)) return;
  void *initialize = find("PMPI_Init", site);
  if (initialize) icp_section(hide_others, initialize);
}

/* The rank is known behind these, so that the run starts there. Before, a call is not
 * recorded that one of them makes. */
#define INITIALIZE(symbol, name, words)                \
  ENTRY word symbol(P##words);                         \
  ENTRY word symbol(P##words) {                        \
    MPI_REAL(symbol, words);                           \
    call_frame frame = CALL_FRAME(words);              \
    look_for_others(site);                             \
    uint32_t place = mpi_starting(#name, site, frame); \
    word result = real(A##words);                      \
    mpi_started(place, #name, site, frame);            \
    return result;                                     \
  }

INITIALIZE(MPI_Init, MPI_Init, 2)
INITIALIZE(mpi_init_, MPI_Init, 1)
INITIALIZE(mpi_init__, MPI_Init, 1)
INITIALIZE(mpi_init_f08_, MPI_Init, 1)
INITIALIZE(mpi_init_f08ts_, MPI_Init, 1)
INITIALIZE(MPI_Init_thread, MPI_Init_thread, 4)
INITIALIZE(mpi_init_thread_, MPI_Init_thread, 3)
INITIALIZE(mpi_init_thread__, MPI_Init_thread, 3)
INITIALIZE(mpi_init_thread_f08_, MPI_Init_thread, 3)
INITIALIZE(mpi_init_thread_f08ts_, MPI_Init_thread, 3)
