/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of all processes of a program, by their lines in places.tsv behind the
 * number. Most processes have the lines of the process before, in the same order:
 *
 *   process before    17 a   18 b   19 c
 *   this one          17 a   18 b   19 d
 *                               │      └─ not the expected one: found by hash, or new
 *                               └─ the one behind a: one comparison, nothing is parsed
 *
 * A known place keeps its strings, its names, and the regions of which it is a part. */
#ifndef TSN_RUNS_KNOWN_PLACES_H
#define TSN_RUNS_KNOWN_PLACES_H

#include "runs/names.h"
#include "runs/places.h"

struct tsn_known_place {
  tsn_place place; /* without names, until they are known */
  /* Of a call of MPI: the region of the computation before it, and that of the function
   * around this one, each plus 1; 0: not known yet. */
  uint32_t before, function;
};

typedef struct tsn_known_places {
  tsn_names line;
  tsn_known_place **known; /* by number */
  size_t expected; /* number of the next place, if it is as in the process before */
} tsn_known_places;

/* At most `capacity` places; false: out of memory. */
bool tsn_known_places_create(tsn_known_places *places, tsn_pool *pool, size_t capacity);

/* The place of a line; NULL: it is not known. */
tsn_known_place *tsn_known_places_find(tsn_known_places *places, const char *line);

/* A new place for that line, to be filled with what tsn_place_parse() makes of `*copy`,
 * which lasts as long as the places. There must be space for it. NULL: out of memory. */
tsn_known_place *tsn_known_places_add(tsn_known_places *places, const char *line,
                                      char **copy);

/* Keep the names of a place that is known. False: out of memory. */
bool tsn_known_place_name(const tsn_known_places *places, const tsn_place *place);

#endif
