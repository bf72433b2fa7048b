/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of events by region, from the kernel's performance counters
 * (perf_event_open(2)).
 *
 * All events that the machine has form one group, which is read by one system call:
 *
 *   file[0]  leader ─┬─ file[2]             read(leader): number, time enabled, time
 *   file[1]  absent  └─ file[3]             running, a value for each member
 *
 * The kernel counts a group as a whole or not at all, so that the counts of a region
 * belong to the same visits. Where more groups are open than the processor has counters,
 * the kernel lends the counters in turn; then the time enabled exceeds the time running.
 *
 * A missing count is never reported as zero, nor extrapolated: an event that cannot be
 * opened has none, and neither has a visit during which the kernel lent the counters to
 * other users. A zero would look like a region without cache misses. */
#include <linux/perf_event.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/exec.h"
#include "core/fault.h"
#include "record/spmd_internal.h"

enum { EVENTS = TSANOM_SPMD_EVENTS_MAX, ABSENT = -1 };

/* What read() returns of a group, in the order of read_format: see perf_event_open(2). */
typedef struct {
  uint64_t events, enabled, running, value[EVENTS];
} group_reading;

typedef struct {
  /* At the begin of the visit. */
  uint64_t enabled, running;
  uint64_t start[EVENTS], sum[EVENTS];
  /* `begun`: the open visit has a reading of its begin. `broken`: some visit was not
   * counted from begin to end, so the region has no count. */
  bool begun, broken;
} region_counts;

struct tsanom_spmd_counters {
  tsn_object owner;
  size_t events, regions;
  /* File descriptor; ABSENT: there is none. */
  int leader;
  int file[EVENTS];
  /* It could be opened. */
  bool present[EVENTS];
  /* Index in the group's reading, which has no gaps for absent events. */
  size_t place[EVENTS];
  region_counts *region;
};

#define READ_MISSES(cache)                                                    \
  (PERF_COUNT_HW_CACHE_##cache | (uint64_t)PERF_COUNT_HW_CACHE_OP_READ << 8 | \
   (uint64_t)PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

/* Generic events by the names that perf(1) uses; which of them exist depends on the
 * machine. */
static const struct {
  const char *name;
  uint32_t type;
  uint64_t config;
} known[] = {{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
             {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
             {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
             {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
             {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
             {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
             {"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, READ_MISSES(L1D)},
             {"LLC-load-misses", PERF_TYPE_HW_CACHE, READ_MISSES(LL)},
             {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
             {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
             {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS}};

tsanom_status tsanom_spmd_event_named(const char *name, tsanom_spmd_event *event) {
  if (!name || !event) return TSANOM_E_NULL;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    if (strcmp(known[k].name, name) != 0) continue;
    *event = (tsanom_spmd_event){.config = known[k].config, .type = known[k].type};
    return TSANOM_OK;
  }
  return TSANOM_E_OPTION;
}

static tsanom_status check_sizes(const tsanom_exec *exec, size_t events, size_t regions) {
  tsanom_status status = tsn_spmd_check_count(exec, "events", events, EVENTS);
  return status < 0 ? status : tsn_spmd_check_count(exec, "regions", regions, INT32_MAX);
}

/* What counters are laid out for. */
typedef struct {
  size_t events, regions;
  tsanom_spmd_counters *counters;
  region_counts *region;
} placement;

static void layout(tsn_arena *arena, void *context) {
  placement *p = context;
  p->counters = tsn_arena_take(arena, 1, sizeof *p->counters);
  p->region = tsn_arena_take(arena, p->regions, sizeof *p->region);
}

tsanom_status tsanom_spmd_counters_size(size_t events, size_t regions, size_t *bytes) {
  placement p = {.regions = regions};
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = check_sizes(NULL, events, regions);
  return status < 0 ? status : tsn_layout_bytes(layout, &p, bytes);
}

/* Count an event of the calling thread, in user space where the machine can separate it:
 * this needs no privilege at the kernel's usual setting (perf_event_paranoid 2). Returns
 * a descriptor, or a negative number. */
static int open_event(const tsanom_spmd_event *event, int leader) {
  struct perf_event_attr attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = event->type;
  attributes.config = event->config;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format =
      PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, leader,
                      PERF_FLAG_FD_CLOEXEC);
}

/* Open the events that the machine has; returns their number. */
static size_t open_events(tsanom_spmd_counters *c, const tsanom_spmd_event *event) {
  size_t members = 0;
  for (size_t e = 0; e < c->events; e++) {
    c->file[e] = open_event(&event[e], c->leader);
    if (c->file[e] < 0) continue;
    if (c->leader == ABSENT) c->leader = c->file[e];
    c->present[e] = true;
    c->place[e] = members++;
  }
  return members;
}

/* In memory of the caller, or where it is NULL in a block of exec's allocator. */
static tsanom_status place(void *memory, size_t bytes, const tsanom_spmd_event *event,
                           placement p, const tsanom_exec *exec,
                           tsanom_spmd_counters **counters) {
  tsn_object owner;
  if (!event) return tsn_reject(exec, TSANOM_E_NULL, "event");
  if (!counters) return tsn_reject(exec, TSANOM_E_NULL, "counters");
  tsanom_status status = check_sizes(exec, p.events, p.regions);
  if (status < 0) return status;
  status = tsn_object_place(exec, layout, &p, memory, bytes, &owner);
  if (status < 0) return status;
  memset(p.region, 0, p.regions * sizeof *p.region);
  *p.counters = (tsanom_spmd_counters){.owner = owner,
                                       .events = p.events,
                                       .regions = p.regions,
                                       .leader = ABSENT,
                                       .region = p.region};
  *counters = p.counters;
  return open_events(p.counters, event) == p.events ? TSANOM_OK : TSANOM_PARTIAL;
}

tsanom_status tsanom_spmd_counters_init(void *memory, size_t bytes,
                                        const tsanom_spmd_event *event, size_t events,
                                        size_t regions, const tsanom_exec *exec,
                                        tsanom_spmd_counters **counters) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  if (!memory) return tsn_reject(&own, TSANOM_E_NULL, "memory");
  placement p = {.events = events, .regions = regions};
  return place(memory, bytes, event, p, &own, counters);
}

tsanom_status tsanom_spmd_counters_create(const tsanom_spmd_event *event, size_t events,
                                          size_t regions, const tsanom_exec *exec,
                                          tsanom_spmd_counters **counters) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  placement p = {.events = events, .regions = regions};
  return place(NULL, 0, event, p, &own, counters);
}

void tsanom_spmd_counters_close(tsanom_spmd_counters *c) {
  if (!c) return;
  for (size_t e = c->events; e-- > 0;) {
    if (c->file[e] >= 0) close(c->file[e]);
    c->file[e] = ABSENT;
  }
  c->leader = ABSENT;
}

void tsanom_spmd_counters_destroy(tsanom_spmd_counters *c) {
  if (!c) return;
  tsanom_spmd_counters_close(c);
  tsn_object owner = c->owner;
  tsn_object_release(&owner);
}

/* False: there is no group, or the kernel has no count (read() returns 0 at the end). */
static bool read_group(const tsanom_spmd_counters *c, group_reading *now) {
  return c->leader != ABSENT && read(c->leader, now, sizeof *now) > 0;
}

void tsn_spmd_count_begin(tsanom_spmd_counters *c, size_t region) {
  region_counts *r = &c->region[region];
  group_reading now;
  r->begun = read_group(c, &now);
  if (!r->begun) return;
  r->enabled = now.enabled;
  r->running = now.running;
  for (size_t e = 0; e < c->events; e++) r->start[e] = now.value[c->place[e]];
}

/* The counters ran all the time if `enabled` and `running` grew by the same amount. Else
 * the visit is broken, and with it the sum of the region. */
void tsn_spmd_count_end(tsanom_spmd_counters *c, size_t region) {
  region_counts *r = &c->region[region];
  group_reading now;
  if (!r->begun || !read_group(c, &now) ||
      now.enabled - r->enabled != now.running - r->running) {
    r->broken = true;
    return;
  }
  for (size_t e = 0; e < c->events; e++) {
    r->sum[e] += now.value[c->place[e]] - r->start[e];
  }
}

size_t tsn_spmd_counted_events(const tsanom_spmd_counters *c) {
  return c->events;
}

size_t tsn_spmd_counted_regions(const tsanom_spmd_counters *c) {
  return c->regions;
}

int tsn_spmd_counted(const tsanom_spmd_counters *c, size_t event, size_t region,
                     uint64_t *count) {
  if (!c->present[event] || c->region[region].broken) return 0;
  *count = c->region[region].sum[event];
  return 1;
}

tsanom_status tsanom_spmd_counters_read(const tsanom_spmd_counters *c, size_t event,
                                        double *value) {
  if (!c || !value) return TSANOM_E_NULL;
  if (event >= c->events) return TSANOM_E_OPTION;
  bool whole = true;
  for (size_t k = 0; k < c->regions; k++) {
    uint64_t count = 0;
    bool counted = tsn_spmd_counted(c, event, k, &count);
    value[k] = counted ? (double)count : NAN;
    whole = whole && counted;
  }
  return whole ? TSANOM_OK : TSANOM_PARTIAL;
}
