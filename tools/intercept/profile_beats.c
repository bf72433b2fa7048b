/* SPDX-License-Identifier: BSD-3-Clause */
/* Of the beats of a thread the latest are kept, and a sample of those before, with their
 * numbers:
 *
 *   latest    a ring of ICP_BEATS_LATEST beats
 *   sample    beats 0, s, 2s, 3s, ... of the thread; when ICP_BEATS_SAMPLE are full,
 * every second one is dropped, and s doubles
 *
 *   s = 1     0 1 2 3 4 5 6 7
 *   s = 2     0 2 4 6 . . . .     then 8, 10, 12, 14
 *
 * So between half and all of the sample is in use, at equal distances over the whole
 * time. A row has two slots for beats. The columns `cpu` of the first rows have what goes
 * with all slots (enum below).
 *
 * A slot without a number is empty. It has none while its time is written, so that a
 * process that is killed loses one beat at most; a beat that was being moved may be there
 * twice. */
#include "profile_beats.h"

#include <stdatomic.h>

#include "profile_rows.h"
#include "record/regions.h"

enum {
  ICP_BEATS_LATEST = 64,
  ICP_BEATS_SAMPLE = 128,
  SLOTS = ICP_BEATS_LATEST + ICP_BEATS_SAMPLE
};

/* Columns `cpu`, by row. The reader uses the first. */
enum { ANEW, COUNT, STRIDE, SAMPLED };

typedef struct {
  uint64_t number, moment;
} slot;

static uint64_t *column(uint32_t first, uint32_t row) {
  return &icp_rows[first + row].cpu;
}

static slot get(uint32_t first, uint64_t at) {
  const tsn_regions_row *r = &icp_rows[first + at / 2];
  return at % 2 ? (slot){r->useful, r->waiting} : (slot){r->visits, r->elapsed};
}

static void put(uint32_t first, uint64_t at, slot beat) {
  tsn_regions_row *r = &icp_rows[first + at / 2];
  uint64_t *number = at % 2 ? &r->useful : &r->visits;
  uint64_t *moment = at % 2 ? &r->waiting : &r->elapsed;
  *number = 0;
  atomic_signal_fence(memory_order_seq_cst);
  *moment = beat.moment;
  atomic_signal_fence(memory_order_seq_cst);
  *number = beat.number;
}

static void clear(uint32_t first, uint64_t from) {
  for (uint64_t at = from; at < SLOTS; at++) put(first, at, (slot){0});
}

/* The first row of the thread's beats, or ICP_NO_ROW. */
static uint32_t rows_of(uint32_t root) {
  icp_row_links *l = &icp_links[root];
  if (l->beats == ICP_NO_ROW && !l->has_no_beats) {
    l->beats = icp_rows_of_beats(root, SLOTS / 2);
    l->has_no_beats = l->beats == ICP_NO_ROW;
    if (l->beats != ICP_NO_ROW) *column(l->beats, STRIDE) = 1;
  }
  return l->beats;
}

/* Drop every second beat of the sample. */
static void thin(uint32_t first) {
  for (uint64_t i = 1; i < ICP_BEATS_SAMPLE / 2; i++) {
    put(first, ICP_BEATS_LATEST + i, get(first, ICP_BEATS_LATEST + 2 * i));
  }
  clear(first, ICP_BEATS_LATEST + ICP_BEATS_SAMPLE / 2);
  *column(first, SAMPLED) = ICP_BEATS_SAMPLE / 2;
  *column(first, STRIDE) *= 2;
}

bool icp_sample_beat(uint32_t root, uint64_t moment) {
  uint32_t first = rows_of(root);
  if (first == ICP_NO_ROW) return false;
  uint64_t before = (*column(first, COUNT))++;
  slot beat = {.number = before + 1, .moment = moment};
  put(first, before % ICP_BEATS_LATEST, beat);
  uint64_t *sampled = column(first, SAMPLED);
  if (before % *column(first, STRIDE) != 0) return true;
  if (*sampled == ICP_BEATS_SAMPLE) thin(first);
  if (before % *column(first, STRIDE) == 0) {
    put(first, ICP_BEATS_LATEST + (*sampled)++, beat);
  }
  return true;
}

void icp_sample_anew(uint32_t root, uint64_t moment) {
  uint32_t first = rows_of(root);
  if (first == ICP_NO_ROW) return;
  uint64_t beats = *column(first, COUNT);
  uint64_t last = beats ? get(first, (beats - 1) % ICP_BEATS_LATEST).moment : moment;
  clear(first, 0);
  *column(first, COUNT) = *column(first, SAMPLED) = 0;
  *column(first, STRIDE) = 1;
  *column(first, ANEW) = last + (moment - last) / 2;
}
