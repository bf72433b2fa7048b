/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank of a run of several ranks, as a test writes it. */
#ifndef TSANOM_TEST_RANK_RUN_H
#define TSANOM_TEST_RANK_RUN_H

#include <stdio.h>
#include <sys/stat.h>

#include "record/regions.h"
#include "runs/grown_run.h"
#include "support/check.h"

enum { RANK_PATH = DIRECTORY_CAPACITY + 64 };

static inline uint32_t begin_of(uint32_t place) {
  return TSN_REGIONS_BEGIN | place << TSN_REGIONS_KIND_BITS;
}

static inline uint32_t end_of(uint32_t place) {
  return TSN_REGIONS_END | place << TSN_REGIONS_KIND_BITS | 1u << 16;
}

static inline void write_text(const char *folder, const char *name, const char *text) {
  char path[RANK_PATH];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* A rank without events, and its places.tsv. */
static inline grown_run rank_create(const char *folder, const char *name,
                                    const char *places) {
  char path[RANK_PATH];
  grown_run beats, regions;
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  cr_assert(mkdir(path, 0777) == 0);
  grown_create(&beats, path);
  grown_finish(&beats);
  grown_create_regions(&regions, path, places);
  grown_add_stream(&regions, 0);
  return regions;
}

#endif
