/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpd/dpd_lists.h"

#include <string.h>

/* Lists per valid entry: about one list in five contains an N-gram. */
enum { LISTS = 4 };

void tsn_lists_layout(tsn_arena *arena, size_t most, tsn_lists *lists) {
  size_t places = 1;
  while (places < most) places *= 2;
  lists->head_mask = LISTS * places - 1;
  lists->head = tsn_arena_take(arena, LISTS * places, sizeof *lists->head);
  lists->place_mask = places - 1;
  lists->place = tsn_arena_take(arena, places, sizeof *lists->place);
}

/* Lists are empty if their heads are too old. */
void tsn_lists_clear(tsn_lists *lists, uint64_t number, size_t most) {
  lists->most = (uint32_t)most;
  for (uint64_t k = 0; k <= lists->head_mask; k++) {
    lists->head[k] = (uint32_t)(number - most - 1);
  }
  memset(lists->place, 0, (lists->place_mask + 1) * sizeof *lists->place);
}

/* The search ends at the first entry that is too old, whose successors may have been
 * overwritten. */
uint32_t tsn_lists_distance(const tsn_lists *lists, uint64_t hash, uint64_t now,
                            uint32_t least) {
  uint32_t number = *tsn_lists_head(lists, hash);
  for (;;) {
    uint32_t back = (uint32_t)now - number;
    if (back > lists->most) return 0;
    tsn_lists_place place = lists->place[number & lists->place_mask];
    if (place.hash == (uint32_t)hash && back > least) return back;
    number = place.older;
  }
}
