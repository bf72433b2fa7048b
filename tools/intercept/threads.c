/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that has come to no region and no call of MPI: its run begins when it is
 * loaded, and each of its threads is a visit of the function with which it starts:
 *
 *   pthread_create(start) ──▶ run_thread()      BEGIN start
 *                               start()
 *                                               CPU, END start; also by pthread_exit()
 *
 * So readers name threads as they name regions, and compare those that start alike. The
 * sampler knows them by their numbers; beats are of their processor time. The main thread
 * has number 0 and no visit. Where the program comes to a region later, another run begins
 * (record.c), which knows nothing of these. In all other programs a thread is created as if
 * this file were not there.
 *
 * Threads of thrd_create() are recorded alike; std::thread calls pthread_create(). Those that
 * clone() makes are in the samples of the process only. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <threads.h>

#include "asked.h"
#include "events.h"
#include "record/inside.h"
#include "runtime.h"

typedef void *starter(void *);
typedef int creator(pthread_t *, const pthread_attr_t *, starter *, void *);
typedef int c11_creator(thrd_t *, thrd_start_t, void *);

/* What new threads are to do, until they have read it. When all are in use, the next thread
 * is not recorded. */
enum { REQUESTS = 256 };
typedef struct {
  void (*start)(void); /* a starter or thrd_start_t */
  void *argument;
} job;
typedef struct {
  job job;
  uint32_t place; /* of the function */
  uint32_t number;
  atomic_bool taken;
} request;
static request requests[REQUESTS];

/* By number: 1 + the place of the function with which its latest thread started; BUSY: that
 * thread goes on; 0: none had it. Numbers beyond are those of own.c. */
enum { NUMBERS = 256, BUSY = 1 << 30 };
static _Atomic uint32_t latest[NUMBERS];

static bool is_plain(void) {
  return atomic_load_explicit(&icp_set.phase, memory_order_acquire) == ICP_PLAIN;
}

__attribute__((constructor)) static void begin_at_load(void) {
  icp_read_request();
  if (!(icp_asked.is_plain || icp_asked.is_loaded) || !icp_start_at_load()) return;
  if (icp_asked.is_loaded) icp_own_opener();
  tsn_record_enter(icp_set.record, 0);
}

/* All threads of GNU's C++ library start with one function, and what they do is a virtual
 * function of their argument, behind two destructors. The new thread must not ask the loader:
 * a constructor that creates it has the loader's lock. */
static uint32_t place_of(void (*start)(void), void *argument) {
  enum { RUN = 2 };
  Dl_info about;
  uintptr_t address = (uintptr_t)start;
  /* NOLINTNEXTLINE(performance-no-int-to-ptr): the loader takes addresses so */
  if (argument && dladdr((const void *)address, &about) &&
      strstr(about.dli_fname, "libstdc++.so")) {
    address = (*(uintptr_t *const *)argument)[RUN];
  }
  return icp_place(address, ICP_PLACE_THREAD, false);
}

/* A number that another thread had which did the same; else one that none had; else any;
 * 0: all are in use. Threads are numbered in the order in which they are created. */
static uint32_t take_number(uint32_t place) {
  for (int pass = 0; pass < 3; pass++) {
    for (uint32_t n = 1; n < NUMBERS; n++) {
      uint32_t had = atomic_load_explicit(&latest[n], memory_order_relaxed);
      bool fits = pass == 0 ? had == place + 1 : pass == 1 ? had == 0 : had < BUSY;
      if (fits && atomic_compare_exchange_strong(&latest[n], &had, BUSY)) return n;
    }
  }
  return 0;
}

static void give_back(uint32_t number, uint32_t place) {
  if (number && number < NUMBERS) atomic_store(&latest[number], place + 1);
}

/* Between the two events of its visit the thread is in none: a run with regions may begin. */
static void record_visit(uint32_t kind) {
  icp_own *own = icp_me.own;
  icp_state before = icp_me.state;
  icp_me.state.number = own->plain;
  icp_me.open = kind == TSN_REGIONS_END;
  if (kind == TSN_REGIONS_END) icp_record_cpu(icp_cpu_now());
  icp_record(kind, own->start, kind == TSN_REGIONS_END);
  icp_me.open = 0;
  icp_me.state = before;
}

static void begin_thread(uint32_t place, uint32_t number) {
  if (!icp_me.own) icp_own_make();
  if (icp_me.is_lost) {
    give_back(number, place);
    return;
  }
  icp_me.own->plain = number ? number : icp_foreign_number();
  icp_me.own->start = place;
  icp_me.own->is_started = true;
  if (!is_plain()) return;
  tsn_record_enter(icp_set.record, (int32_t)icp_me.own->plain);
  record_visit(TSN_REGIONS_BEGIN);
}

void icp_thread_ends(bool leaves) {
  icp_own *own = icp_me.own;
  if (!own || !own->plain) return;
  if (own->is_started && is_plain()) record_visit(TSN_REGIONS_END);
  own->is_started = false;
  if (leaves) give_back(own->plain, own->start);
}

static job begin(void *argument) {
  request *r = argument;
  job own = r->job;
  uint32_t place = r->place, number = r->number;
  atomic_store_explicit(&r->taken, false, memory_order_release);
  begin_thread(place, number);
  return own;
}

static void *run_thread(void *argument) {
  job own = begin(argument);
  void *result = ((starter *)own.start)(own.argument);
  icp_thread_ends(false);
  return result;
}

static int run_c11_thread(void *argument) {
  job own = begin(argument);
  int result = ((thrd_start_t)own.start)(own.argument);
  icp_thread_ends(false);
  return result;
}

static request *take_request(void) {
  for (int i = 0; i < REQUESTS; i++) {
    if (!atomic_exchange_explicit(&requests[i].taken, true, memory_order_acquire)) {
      return &requests[i];
    }
  }
  return NULL;
}

/* NULL: the thread is not recorded. */
static request *prepare(void (*start)(void), void *argument) {
  request *r = is_plain() ? take_request() : NULL;
  if (!r) return NULL;
  r->job = (job){.start = start, .argument = argument};
  r->place = place_of(start, argument);
  r->number = take_number(r->place);
  return r;
}

static int give_back_if(int error, request *r) {
  if (error) {
    give_back(r->number, r->place);
    atomic_store_explicit(&r->taken, false, memory_order_release);
  }
  return error;
}

/* The function behind this library. */
static void *original(_Atomic(void *) *cache, const char *name) {
  void *found = atomic_load_explicit(cache, memory_order_relaxed);
  if (!found) found = dlsym(RTLD_NEXT, name);
  atomic_store_explicit(cache, found, memory_order_relaxed);
  return found;
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): theirs are reserved */
ENTRY int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                         starter *start, void *argument) {
  static _Atomic(void *) cache;
  void *found = original(&cache, "pthread_create");
  creator *create;
  memcpy(&create, &found, sizeof create);
  if (!create) return EAGAIN;
  request *r = prepare((void (*)(void))start, argument);
  if (!r) return create(thread, attributes, start, argument);
  return give_back_if(create(thread, attributes, run_thread, r), r);
}

ENTRY int thrd_create(thrd_t *thread, thrd_start_t start, void *argument) {
  static _Atomic(void *) cache;
  void *found = original(&cache, "thrd_create");
  c11_creator *create;
  memcpy(&create, &found, sizeof create);
  if (!create) return thrd_error;
  request *r = prepare((void (*)(void))start, argument);
  if (!r) return create(thread, start, argument);
  return give_back_if(create(thread, run_c11_thread, r), r);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
