/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom record --profile of MPI programs. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_programs.h"
#include "recorded.h"
#include "totals.h"

static void prepare(void) {
  prepare_mpi();
  setenv("OMP_WAIT_POLICY", "passive", 1); /* ranks share processors */
  setenv("OMP_NUM_THREADS", "2", 1);
}

/* 2048 records by --profile, less 960 for the other thread, and a grant of 256 for each.
 */
static void check_events_of_two_threads(const char *run) {
  tsanom_runs_info info = info_of(run);
  cr_assert(info.event_streams == 2 && info.events <= 1600, "%zu streams, %llu events",
            info.event_streams, (unsigned long long)info.events);
}

TestSuite(record_mpi_totals, .init = prepare, .fini = leave_folder, .timeout = 240);

Test(record_mpi_totals, visits_are_those_of_events) {
  static const char *const programs[] = {"ranks plain 1500 10", "ranks hybrid 500 10",
                                         "ranks split 1500 10"};
  for (int library = 0; library < MPI_LIBRARIES; library++) {
    if (!build_mpi_program(library, "ranks.c", "ranks")) continue;
    for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
      char events[32], totals[32], rank[64];
      (void)snprintf(events, sizeof events, "events%d%zu", library, k);
      (void)snprintf(totals, sizeof totals, "totals%d%zu", library, k);
      cr_assert(record_ranks(library, 2, "--events", events, programs[k]) == 0);
      cr_assert(record_ranks(library, 2, "--profile", totals, programs[k]) == 0);
      check_same_visits(events, totals);
      (void)snprintf(rank, sizeof rank, "%s/rank.1", totals);
      check_totals_are_small(rank);
      if (k == 1) check_events_of_two_threads(rank);
      tsanom_ok("similar %s", totals);
    }
  }
}
