/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares a run that has only totals with one of the same program that has all events:
 * regions, their parents and the visits of each process must be equal. */
#include "totals.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/spmd.h>

#include "recorded.h"

tsanom_runs_spmd_data times_of(const char *path) {
  tsanom_runs *run = NULL;
  tsanom_runs_options options;
  tsanom_runs_options_init(&options, sizeof options);
  options.parts = TSANOM_RUNS_REGION_TIMES;
  cr_assert(tsanom_runs_open(path, &options, NULL, &run) == TSANOM_OK, "%s", path);
  return spmd_of(run);
}

static size_t region_named(const tsanom_runs_spmd_data *spmd, const char *name) {
  size_t k = 0;
  while (k < spmd->data->regions && strcmp(spmd->region[k], name) != 0) k++;
  cr_assert(k < spmd->data->regions, "no region %s", name);
  return k;
}

/* Of the parts of regions there are no totals. */
static bool is_part(const char *name) {
  return strstr(name, " > until ") || strstr(name, " > rest");
}

void check_same_visits(const char *events, const char *totals) {
  tsanom_runs_spmd_data a = times_of(events), b = times_of(totals);
  size_t regions = a.data->regions, processes = a.data->processes;
  size_t compared = 0;
  cr_assert(processes == b.data->processes);
  for (size_t k = 0; k < regions; k++) {
    if (is_part(a.region[k])) continue;
    compared++;
    size_t other = region_named(&b, a.region[k]);
    int32_t parent = a.data->parent[k], its = b.data->parent[other];
    cr_assert((parent < 0) == (its < 0) &&
              (parent < 0 || strcmp(a.region[parent], b.region[its]) == 0));
    for (size_t i = 0; i < processes; i++) {
      double visits = a.data->metric[i * regions + k];
      double found = b.data->metric[i * b.data->regions + other];
      double time = b.data->time[i * b.data->regions + other];
      cr_assert(visits == found, "%s, process %zu: %.0f visits by events, %.0f by totals",
                a.region[k], i, visits, found);
      /* The processor time of one visit may be shorter than what interrupts took in it. */
      cr_assert(time <= b.data->elapsed && (visits <= 1 || time > 0), "%s: %g of %g s",
                a.region[k], time, b.data->elapsed);
    }
  }
  cr_assert(compared > 0 && compared == b.data->regions);
}

void check_totals_are_small(const char *run) {
  char path[64];
  struct stat file;
  tsanom_runs_info info = info_of(run);
  size_t most = 65536 + 100 * info.totals;
  (void)snprintf(path, sizeof path, "%s/regions/profile", run);
  cr_assert(stat(path, &file) == 0 && info.totals > 0);
  cr_assert((size_t)file.st_size <= most);
  cr_assert(info.events < 10000, "%llu", (unsigned long long)info.events);
  if (info.event_streams > 2) return;
  cr_assert(
      shell("test $(find '%s' -type f -exec cat {} + | wc -c) -le %zu", run, most) == 0,
      "%s", run);
}
