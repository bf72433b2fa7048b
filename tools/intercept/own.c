/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a thread, besides the few words of icp_me. Static TLS lies on the stacks of
 * the program's threads, which may be of 16 KiB: this does not. It is mapped when the
 * thread comes to its first region or call, and serves another thread when that one ends.
 *
 * One mapping for each thread: its icp_own, and the parts of the modules behind it. Those
 * of ended threads are kept in a table, from which an exchange takes one and to which a
 * compare-and-swap adds one, so that no lock is needed. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "asked.h"
#include "record/guard.h"
#include "usage.h"

enum { BYTES = 32 << 10, KEPT = 64, FIRST = 1 << 15, WORD = 64 };

static _Atomic(icp_own *) kept[KEPT];

/* Of threads without memory: nothing reads what they write here. */
static icp_own nothing;

/* Numbers that are in use, from FIRST on. */
static _Atomic uint64_t taken[FIRST / WORD];

/* Threads that open regions, as bits by their numbers, of which the last one stands for all beyond. A
 * thread has a number of its own, if it does not go on for the one that ended last, as long as there
 * are few of them. */
#define APART ((uint64_t)UINT16_MAX)
icp_opener icp_openers[TSN_REGIONS_OPENERS];
static struct {
  _Atomic uint64_t used, had;
  _Atomic uint64_t ended; /* last */
  _Atomic uint64_t work;  /* of all, by then */
} openers;

static pthread_key_t key;
static bool has_key;

static icp_own *take_kept(void) {
  icp_own *own = NULL;
  for (int i = 0; i < KEPT && !own; i++) {
    if (atomic_load_explicit(&kept[i], memory_order_relaxed)) {
      own = atomic_exchange(&kept[i], NULL);
    }
  }
  return own;
}

static void keep(icp_own *own) {
  memset(own, 0, own->used);
  for (int i = 0; i < KEPT; i++) {
    icp_own *vacant = NULL;
    if (atomic_compare_exchange_strong(&kept[i], &vacant, own)) return;
  }
  (void)munmap(own, BYTES);
}

static void give_back_number(uint32_t number) {
  if (number < FIRST) return;
  number -= FIRST;
  atomic_fetch_and(&taken[number / WORD], ~((uint64_t)1 << number % WORD));
}

static uint64_t sum_of_work(void) {
  uint64_t sum = 0;
  for (int i = 0; i < TSN_REGIONS_OPENERS; i++) sum += atomic_load(&icp_openers[i].cpu);
  return sum;
}

/* A number that is not in use. */
static uint32_t choose_opener(uint64_t used) {
  uint64_t ended = atomic_load(&openers.ended), had = atomic_load(&openers.had);
  bool goes_on = ended && !(used & ended) && atomic_load(&openers.work) == sum_of_work();
  if (goes_on) return (uint32_t)__builtin_ctzll(ended);
  uint64_t known = (used | had) & APART;
  if (known != APART) return (uint32_t)__builtin_ctzll(~known);
  return ~used ? (uint32_t)__builtin_ctzll(~used) : TSN_REGIONS_OPENERS - 1;
}

void icp_own_opener(void) {
  uint32_t number;
  uint64_t used = atomic_load(&openers.used);
  do {
    number = choose_opener(used);
  } while (
      !atomic_compare_exchange_weak(&openers.used, &used, used | UINT64_C(1) << number));
  atomic_fetch_or(&openers.had, UINT64_C(1) << number);
  icp_me.own->opener = number + 1;
  icp_me.state.number = number << TSN_REGIONS_OPENER_SHIFT;
}

static void give_back_opener(uint32_t opener) {
  if (!opener) return;
  uint64_t bit = UINT64_C(1) << (opener - 1);
  atomic_store(&openers.work, sum_of_work());
  atomic_store(&openers.ended, bit);
  atomic_fetch_and(&openers.used, ~bit);
}

/* A thread ends. What it records after this, in a destructor of another library, gets
 * memory again. */
static void end_thread(void *argument) {
  icp_own *own = argument;
  tsn_guard guard;
  icp_thread_ends(true);
  icp_watch_ends();
  tsn_guard_enter(&guard);
  if (own->part_of[ICP_OWN_COUNTERS]) icp_usage_end(own->part_of[ICP_OWN_COUNTERS]);
  give_back_number(own->foreign);
  give_back_opener(own->opener);
  icp_me = (icp_thread){.own = NULL};
  keep(own);
  tsn_guard_leave(&guard);
}

void icp_own_start(void) {
  if (!has_key) has_key = pthread_key_create(&key, end_thread) == 0;
  if (has_key && !icp_me.is_lost) (void)pthread_setspecific(key, icp_me.own);
}

static icp_own *map(void) {
  void *made = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return made == MAP_FAILED ? NULL : made;
}

void icp_own_make(void) {
  static atomic_flag has_reported = ATOMIC_FLAG_INIT;
  tsn_guard guard;
  tsn_guard_enter(&guard);
  icp_own *own = take_kept();
  if (!own) own = map();
  if (own) {
    own->used = (sizeof *own + 63) / 64 * 64;
    icp_me.own = own;
    if (has_key) (void)pthread_setspecific(key, own);
  } else {
    icp_me.own = &nothing;
    icp_me.is_over = icp_me.is_lost = true;
    if (!atomic_flag_test_and_set(&has_reported)) {
      ICP_REPORT(errno, "threads are not recorded: the system gives no memory for them");
    }
  }
  tsn_guard_leave(&guard);
}

void *icp_own_part(int part, size_t bytes) {
  if (!ICP_LIKELY(icp_me.own != NULL)) icp_own_make();
  icp_own *own = icp_me.own;
  if (ICP_LIKELY(own->part_of[part] != NULL)) return own->part_of[part];
  size_t space = (bytes + 63) / 64 * 64; /* parts may have whole cache lines */
  if (icp_me.is_lost || space > BYTES - own->used) return NULL;
  own->part_of[part] = (char *)own + own->used;
  own->used += space;
  return own->part_of[part];
}

/* The lowest number that is not taken; the last one stands for all beyond. */
static uint32_t lowest(void) {
  for (uint32_t i = 0; i < FIRST / WORD; i++) {
    uint64_t word = atomic_load_explicit(&taken[i], memory_order_relaxed);
    while (~word) {
      uint32_t bit = (uint32_t)__builtin_ctzll(~word);
      if (atomic_compare_exchange_weak(&taken[i], &word, word | (uint64_t)1 << bit)) {
        return FIRST + i * WORD + bit;
      }
    }
  }
  return 2 * FIRST - 1;
}

uint32_t icp_foreign_number(void) {
  icp_own *own = icp_me.own;
  if (!own->foreign && !icp_me.is_lost) own->foreign = lowest();
  return own->foreign;
}
