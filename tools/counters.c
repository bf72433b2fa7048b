/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel shares a page with the program for each event that it counts
 * (perf_event_open(2)):
 *
 *   index    which counter of the processor counts now, from 1; 0: none does
 *   offset   count = offset + that counter, a signed number of pmc_width bits
 *   lock     changes while the kernel writes: read again
 *
 * A reading takes about 40 cycles and no system call. No descriptor remains open: the
 * mapping keeps the event, so that a program that closes all descriptors, or has one of
 * the same number, is not disturbed.
 *
 * Where there are more events than counters, the kernel lends the counters in turn, and
 * the time enabled exceeds the time running. Such a count is not known: it is never
 * extrapolated. */
#include "counters.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/regions.h"

typedef struct {
  uint32_t type; /* PERF_TYPE_MAX: this processor has no known event */
  uint64_t config;
} event_code;

/* There is no generic event for misses of the second level. AMD's processors of family
 * 17h and later count them as cache misses; Intel's from Haswell on have L2_RQSTS.MISS
 * (event 24h, mask 3Fh); those of ARM L2D_CACHE_REFILL (17h). */
static event_code level_two(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_is("amd")) {
    return (event_code){PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES};
  }
  if (__builtin_cpu_is("intel") && __builtin_cpu_supports("avx2")) {
    return (event_code){PERF_TYPE_RAW, 0x3F24};
  }
#elif defined(__aarch64__)
  return (event_code){PERF_TYPE_RAW, 0x17};
#endif
  return (event_code){PERF_TYPE_MAX, 0};
}

static event_code code_of(int metric) {
  switch (metric) {
    case TSN_REGIONS_INSTRUCTIONS:
      return (event_code){PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS};
    case TSN_REGIONS_L1_MISSES:
      return (event_code){PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D |
                                                  PERF_COUNT_HW_CACHE_OP_READ << 8 |
                                                  PERF_COUNT_HW_CACHE_RESULT_MISS << 16};
    default:
      return level_two();
  }
}

int counter_open(int metric, const counter_page **page) {
  event_code code = code_of(metric);
  struct perf_event_attr attributes;
  if (code.type == PERF_TYPE_MAX) return ENOENT;
  memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = code.type;
  attributes.config = code.config;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  int file =
      (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (file < 0) return errno;
  const counter_page *mapped =
      mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, file, 0);
  int error = mapped == MAP_FAILED ? errno : 0;
  close(file);
  if (error) return error;
  if (!mapped->cap_user_rdpmc) {
    counter_close(mapped);
    return EOPNOTSUPP;
  }
  *page = mapped;
  return 0;
}

void counter_close(const counter_page *page) {
  if (page) munmap((void *)page, (size_t)sysconf(_SC_PAGESIZE));
}

bool counter_read_by(const counter_page *page, uint64_t (*read_hardware)(uint32_t i),
                     uint64_t *count) {
  const volatile counter_page *p = page;
  uint32_t before;
  bool counts;
  do {
    before = p->lock;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    uint32_t index = p->index;
    unsigned unused = 64u - p->pmc_width;
    counts = index != 0 && unused < 64 && p->time_enabled == p->time_running;
    if (counts) {
      int64_t value = (int64_t)(read_hardware(index - 1) << unused) >> unused;
      *count = (uint64_t)p->offset + (uint64_t)value;
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
  } while (p->lock != before);
  return counts;
}

#if defined(__x86_64__)
static uint64_t read_hardware(uint32_t i) {
  return (uint64_t)__builtin_ia32_rdpmc((int)i);
}
#else
/* Never called: without the instruction, counter_open() finds no cap_user_rdpmc. */
static uint64_t read_hardware(uint32_t i) {
  return i;
}
#endif

bool counter_read(const counter_page *page, uint64_t *count) {
  return counter_read_by(page, read_hardware, count);
}
