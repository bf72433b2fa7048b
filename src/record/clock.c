/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU time of a thread, in user space where possible.
 *
 * Only the kernel knows a thread's CPU time, and asking it is a system call. But between
 * two context switches CPU time passes as fast as elapsed time, which the C library
 * reads in user space. What is missing is a sign of a switch.
 *
 * Linux gives that sign to threads that registered for restartable sequences, as the C
 * library does (rseq(2); glibc from 2.35): whenever a thread comes back from having been
 * switched out, from a move to another processor or from a signal, the kernel clears the
 * thread's field rseq_cs if that points to the description of a sequence which the
 * thread is not in. The one here is empty, so that no thread is ever in it. While the
 * field still holds our description nothing happened since it was stored, and CPU time
 * is what it was then plus the elapsed time since; else the kernel is asked, and the
 * field stored again:
 *
 *   field     ours ........ ours ........ 0 ............ ours
 *             stored        read        switched out     stored again
 *   CPU time  asked: c0     c0 + e - e0                  asked: c1
 *             elapsed e0    elapsed e
 *
 * The order of the loads matters in one place: elapsed time is read first and the field
 * after it. If the field is still ours then, it was ours when elapsed time was read.
 *
 * Newer kernels may leave the field alone when a thread waits of its own accord, so that
 * the first thread of a process tries it; if it fails, the kernel is asked each time. A
 * thread that did not register asks as well. Others may use the field, too: their sequences look
 * like a switch, which costs a system call and no accuracy. The description lies in the
 * thread's own memory, not in the library's, which could be unloaded before the next
 * switch; the kernel would then read an address that is not mapped and end the program. */
#include "record/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)) && \
    __has_include(<sys/rseq.h>)
#include <sys/resource.h>
#include <sys/rseq.h>
#define HAVE_SEQUENCES 1
#endif

#define LIKELY(condition) __builtin_expect(!!(condition), 1)

static int64_t kernel_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#ifdef HAVE_SEQUENCES

/* Of each thread. `empty` and what it points to must stay while the thread lives. */
typedef struct {
  _Alignas(32) struct rseq_cs empty; /* what the kernel reads */
  uint32_t unused, signature;        /* it checks the word before the abort address */
  volatile uint64_t *field;          /* the thread's rseq_cs; NULL: cannot be used */
  int64_t elapsed, cpu;              /* when the field was stored */
  int64_t offset;                    /* our result minus the kernel's */
  int64_t latest;                    /* result */
} thread_clock;

enum { UNTRIED = 0, WORKS, FAILS };
static _Atomic int field_state;

static _Thread_local thread_clock own __attribute__((tls_model("initial-exec")));

static char *thread_pointer(void) {
#if defined(__x86_64__)
  char *pointer;
  __asm__("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
#else
  return __builtin_thread_pointer();
#endif
}

static uint64_t address_of(const void *object) {
  return (uint64_t)(uintptr_t)object;
}

/* Whether the thread was not switched out since the field was stored. */
static bool undisturbed(void) {
  return *own.field == address_of(&own.empty);
}

/* Waits of this thread; -1: not known. */
static long waits_until_now(void) {
  struct rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : -1;
}

/* Whether the kernel reports a wait. Being preempted just before would look the same,
 * but hardly happens three times. A process that concludes wrongly here would count waits
 * as CPU time, so all tries must succeed; but for those without a wait, whose time was over
 * before the thread had left its processor: 1 in 12000 on a busy virtual machine. */
static bool waiting_is_seen(void) {
  static const struct timespec pause = {.tv_nsec = 20000};
  bool seen = true;
  for (int i = 0; i < 3; i++) {
    long before = waits_until_now();
    *own.field = address_of(&own.empty);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    bool is_clear = *own.field == 0;
    seen = seen && (is_clear || (before >= 0 && waits_until_now() == before));
  }
  *own.field = 0;
  return seen;
}

/* Describe the empty sequence, unless the thread is not registered or the field does not
 * work. The kernel checks the signature in front of the abort address even if it never
 * jumps there. */
static void use_field(void) {
  int state = atomic_load_explicit(&field_state, memory_order_relaxed);
  if (state == FAILS || __rseq_size == 0) return;
  struct rseq *area = (struct rseq *)(void *)(thread_pointer() + __rseq_offset);
  if ((int32_t)area->cpu_id < 0) return;
  own.signature = RSEQ_SIG;
  own.empty.start_ip = address_of(&own.unused);
  own.empty.abort_ip = address_of(&own.signature + 1);
  own.field = (volatile uint64_t *)(void *)&area->rseq_cs;
  if (state == UNTRIED) {
    state = waiting_is_seen() ? WORKS : FAILS;
    atomic_store_explicit(&field_state, state, memory_order_relaxed);
  }
  if (state == FAILS) own.field = NULL;
}

/* Ask the kernel. The field is stored before the clocks are read: a switch in between
 * leaves a moment that the next call does not use. */
__attribute__((noinline)) static int64_t ask(void) {
  if (!own.field) use_field();
  if (own.field) *own.field = address_of(&own.empty);
  int64_t kernel = kernel_time();
  own.elapsed = (int64_t)tsn_clock_monotonic();
  own.cpu = kernel + own.offset;
  /* The kernel takes interrupts out of CPU time, and a forked child begins anew. */
  if (own.cpu < own.latest) {
    own.offset += own.latest - own.cpu;
    own.cpu = own.latest;
  }
  return own.latest = own.cpu;
}

int64_t tsn_cpu_clock_now(void) {
  if (LIKELY(own.field != NULL)) {
    int64_t elapsed = (int64_t)tsn_clock_monotonic();
    if (LIKELY(undisturbed())) return own.latest = own.cpu + (elapsed - own.elapsed);
  }
  return ask();
}

bool tsn_cpu_clock_is_in_user_space(void) {
  if (!own.field) use_field();
  return own.field != NULL;
}

/* The moment of the latest store of the field is such a number. */
int64_t tsn_cpu_clock_stretch(void) {
  return own.field && undisturbed() ? own.elapsed : 0;
}

#else

int64_t tsn_cpu_clock_stretch(void) {
  return 0;
}

int64_t tsn_cpu_clock_now(void) {
  return kernel_time();
}

bool tsn_cpu_clock_is_in_user_space(void) {
  return false;
}

#endif
