/* SPDX-License-Identifier: BSD-3-Clause */
/* places.tsv: the places in the code that the events of a run name. The file only grows;
 * after its first line, line k describes place k. Version 1 has no identities. */
#ifndef TSN_RUNS_PLACES_H
#define TSN_RUNS_PLACES_H

#include <string.h>
#include <tsanom/runs.h>

#include "runs/memory.h"

typedef struct {
  tsanom_runs_place about;
  const char *identity; /* of the module; "-": not recorded */
  const char *name;     /* NULL: not looked up yet */
} tsn_place;

typedef struct {
  tsn_pool pool;   /* modules, identities and names */
  tsn_array place; /* tsn_place */
  size_t count, seen;
  bool has_identities; /* version 2 */
  bool salvage;        /* lines that do not describe a place are skipped */
  size_t skipped, skipped_seen;
  uint64_t offset, offset_seen; /* bytes that were read */
} tsn_places;

/* Read the lines of DIRECTORY/places.tsv that are new. */
tsanom_status tsn_places_read(tsn_places *places, const char *directory,
                              const tsanom_exec *exec);
/* Places that no line describes. */
size_t tsn_places_unknown(const tsn_places *places);

void tsn_places_commit(tsn_places *places);
void tsn_places_discard(tsn_places *places);
void tsn_places_free(tsn_places *places);

/* The name of a place; with `symbols`, by addr2line. NULL: out of memory. */
const char *tsn_places_name(tsn_places *places, size_t index, bool symbols);

static inline bool tsn_places_share_module(const tsn_place *a, const tsn_place *b) {
  return strcmp(a->about.module, b->about.module) == 0 &&
         strcmp(a->identity, b->identity) == 0;
}

static inline tsn_place *tsn_places_at(const tsn_places *places, size_t index) {
  return (tsn_place *)places->place.data + index;
}

#endif
