/* SPDX-License-Identifier: BSD-3-Clause */
/* places.tsv: the places in the code that the events of a run name. The file only grows;
 * after its first line, line k describes place k:
 *
 *   tsanom places 3
 *   0 TAB rf TAB 1a40 TAB build-id:8c1f... TAB /home/user/program
 *   1 TAB mc TAB 1b07 TAB build-id:8c1f... TAB /home/user/program TAB MPI_Send TAB 1
 *
 * with the number, the kind (r region, s share, t tasks, h the function with which a
 * thread starts, m call of MPI), how the address is known
 * (f function, c call), the address as linked, the identity and path of the module, and
 * of calls of MPI the function and the communicator. Version 2 has no calls of MPI,
 * version 1 no identities. */
#ifndef TSN_RUNS_PLACES_H
#define TSN_RUNS_PLACES_H

#include <string.h>
#include <tsanom/runs.h>

#include "runs/memory.h"

typedef struct tsn_place {
  tsanom_runs_place about;
  /* Of the module; "-": not recorded. */
  const char *identity;
  /* NULL: not looked up yet. `site` is the name of the address; that of a call of MPI has
   * the function in front. */
  const char *name, *site;
  /* The place that other processes share, without names until they are known; or NULL. */
  struct tsn_place *known;
  bool is_thread; /* the function with which a thread starts */
} tsn_place;

typedef struct {
  /* Modules, identities and names. Names are added on request, long after the lines were
   * read. */
  tsn_pool pool;
  struct tsn_known_places *shared; /* with other processes, or NULL */
  tsn_array place;                 /* tsn_place */
  size_t count, seen;
  /* Versions 2 and 3. */
  bool has_identities, has_calls;
  /* The file is read up to its damage; NULL: it must be intact. */
  tsanom_fault *damage;
  /* Bytes that were read: where the next look begins, at the beginning of a line. */
  uint64_t offset, offset_seen;
} tsn_places;

/* Read the lines of DIRECTORY/places.tsv that are new since the latest commit, which makes them
 * visible. */
tsanom_status tsn_places_read(tsn_places *places, const char *directory,
                              const tsanom_exec *exec);
static inline void tsn_places_commit(tsn_places *places) {
  places->count = places->seen;
  places->offset = places->offset_seen;
}
void tsn_places_free(tsn_places *places);

/* The name of a place; with `symbols`, by addr2line, which is run for all unnamed places
 * of its module at once. NULL: out of memory. The name lasts as long as the places. */
const char *tsn_places_name(tsn_places *places, size_t index, bool symbols);

/* Path and identity: a library that was rebuilt during the run is another module. */
static inline bool tsn_places_share_module(const tsn_place *a, const tsn_place *b) {
  return strcmp(a->about.module, b->about.module) == 0 &&
         strcmp(a->identity, b->identity) == 0;
}

static inline tsn_place *tsn_places_at(const tsn_places *places, size_t index) {
  return (tsn_place *)places->place.data + index;
}

/* The places of all processes of a program, by their lines in places.tsv behind the
 * number, without the communicator, which differs by rank. Most processes have the lines of
 * the process before, in the same order:
 *
 *   process before    17 a   18 b   19 c
 *   this one          17 a   18 b   19 d
 *                               │      └─ not the expected one: found by hash, or new
 *                               └─ the one behind a: one comparison, nothing is parsed
 *
 * A known place keeps its strings and its names. The reader of the processes creates the set, and
 * keeps the names (processes.c). */
typedef struct tsn_known_places {
  tsn_names line;
  tsn_place **known; /* by number */
  size_t expected;   /* number of the next place, if it is as in the process before */
} tsn_known_places;

#endif
