/* SPDX-License-Identifier: BSD-3-Clause */
/* The file is a shared mapping: what was added survives SIGKILL. Disk space is reserved
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
#include "profile_rows.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "record/guard.h"
#include "record/inside.h"
#include "thread.h"

enum { STEP = 1 << 12 };

typedef tsn_regions_row row;

row *icp_rows;
icp_row_links icp_links[ICP_ROWS_MOST];

static uint32_t used, backed; /* rows; protected by the lock, as is the growth */
static tsn_file file = {.descriptor = -1};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t at_exit;

/* Release the rows of a thread that ends. */
static void release(void *root) {
  tsn_guard guard;
  tsn_guard_enter(&guard);
  pthread_mutex_lock(&lock);
  icp_links[(row *)root - icp_rows].is_owned = false;
  pthread_mutex_unlock(&lock);
  tsn_guard_leave(&guard);
}

/* The mapping is as long as the file may become. */
static row *create(void) {
  if (tsn_file_extend(&file, 0, STEP) != 0) return NULL;
  row *taken = mmap(NULL, ICP_ROWS_MOST * sizeof *taken, PROT_READ | PROT_WRITE,
                    MAP_SHARED, file.descriptor, 0);
  return taken == MAP_FAILED ? NULL : taken;
}

void icp_rows_create(void) {
  if (pthread_key_create(&at_exit, release) != 0 ||
      tsn_record_create_file(icp_set.record, &file, TSN_REGIONS_PROFILE) != 0) {
    return;
  }
  row *taken = create();
  tsn_record_settle(icp_set.record, &file);
  if (!taken) return;
  tsn_regions_profile head = {.magic = TSN_REGIONS_PROFILE_MAGIC,
                              .version = 1,
                              .row_bytes = (uint32_t)sizeof *taken};
  memcpy(taken, &head, sizeof head);
  used = 1;
  backed = STEP / sizeof *taken;
  icp_rows = taken;
}

/* Whether there is disk space for one more row. */
static bool has_space(void) {
  off_t end = (off_t)(backed * sizeof *icp_rows);
  if (used < backed) return true;
  if (used == ICP_ROWS_MOST) return false;
  int error = tsn_record_use_file(icp_set.record, &file, TSN_REGIONS_PROFILE);
  if (!error) error = tsn_file_extend(&file, end, end + STEP);
  tsn_record_settle(icp_set.record, &file);
  if (!error) backed += STEP / sizeof *icp_rows;
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
 * ICP_NO_ROW if there is no space for all. The check comes last: a row without it has not
 * been written. */
static uint32_t add_rows(row identity, uint32_t count) {
  uint32_t first = ICP_NO_ROW;
  tsn_guard guard;
  tsn_guard_enter(&guard);
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < count && icp_rows; i++) {
    if (!has_space()) {
      first = ICP_NO_ROW;
      break;
    }
    uint32_t at = used++;
    if (i == 0) first = at;
    icp_rows[at] = identity;
    atomic_signal_fence(memory_order_release);
    icp_rows[at].check = check_of(&identity);
    identity.place++;
  }
  pthread_mutex_unlock(&lock);
  tsn_guard_leave(&guard);
  return first;
}

uint32_t icp_row_in(uint32_t parent, uint32_t kind, uint32_t place) {
  uint32_t latest = icp_links[parent].latest, at = latest;
  if (parent == ICP_NO_ROW) return ICP_NO_ROW;
  if (latest != ICP_NO_ROW) {
    do {
      at = icp_links[at].next;
      if (icp_rows[at].place == place && icp_rows[at].kind == kind) {
        icp_links[parent].latest = at;
        return at;
      }
    } while (at != latest);
  }
  at = add_rows((row){.kind = kind,
                      .parent = parent,
                      .thread = icp_rows[parent].thread,
                      .place = place},
                1);
  if (at == ICP_NO_ROW) return ICP_NO_ROW;
  icp_links[at].next = latest == ICP_NO_ROW ? at : icp_links[latest].next;
  if (latest != ICP_NO_ROW) icp_links[latest].next = at;
  icp_links[parent].latest = at;
  return at;
}

static uint32_t take_released(uint32_t number, bool watched) {
  uint32_t found = ICP_NO_ROW;
  tsn_guard guard;
  tsn_guard_enter(&guard);
  pthread_mutex_lock(&lock);
  for (uint32_t at = 1; at < used && found == ICP_NO_ROW; at++) {
    const row *r = &icp_rows[at];
    bool is_free = r->kind == TSN_REGIONS_ROW_THREAD && !icp_links[at].is_owned;
    if (is_free && r->thread == number && !r->place == !watched) found = at;
  }
  if (found != ICP_NO_ROW) icp_links[found].is_owned = true;
  pthread_mutex_unlock(&lock);
  tsn_guard_leave(&guard);
  return found;
}

uint32_t icp_row_of_thread(uint32_t number, bool watched) {
  if (!icp_rows) return ICP_NO_ROW;
  uint32_t at = take_released(number, watched);
  if (at == ICP_NO_ROW) {
    at = add_rows(
        (row){.kind = TSN_REGIONS_ROW_THREAD, .thread = number, .place = watched}, 1);
    if (at == ICP_NO_ROW) return ICP_NO_ROW;
    icp_links[at].is_owned = true;
  }
  (void)pthread_setspecific(at_exit, &icp_rows[at]);
  return at;
}

uint32_t icp_rows_of_beats(uint32_t root, uint32_t count) {
  return add_rows(
      (row){
          .kind = TSN_REGIONS_ROW_BEATS, .parent = root, .thread = icp_rows[root].thread},
      count);
}
