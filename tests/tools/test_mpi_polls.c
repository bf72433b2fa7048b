/* SPDX-License-Identifier: BSD-3-Clause */
/* Computations between calls of MPI, and between polls. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <tsanom/spmd.h>

#include "mpi_programs.h"
#include "record/regions.h"
#include "recorded.h"
#include "totals.h"

TestSuite(record_mpi_polls, .init = prepare_mpi, .fini = leave_folder, .timeout = 240);

typedef struct {
  size_t visits; /* of polls */
  double time;   /* in these */
  double work;   /* before polls, as similar has it */
  double polled; /* by the program's own clock */
} polls;

static bool is_poll(const tsanom_runs *run, int32_t number) {
  tsanom_runs_place place;
  cr_assert(tsanom_runs_place_at(run, (size_t)number, &place) == TSANOM_OK);
  return place.call &&
         (!strcmp(place.call, "MPI_Test") || !strcmp(place.call, "MPI_Iprobe"));
}

/* Of rank 0, by its events. */
static void count_visits(const tsanom_runs *run, polls *found) {
  tsanom_runs_stream stream = stream_of(run, TSANOM_RUNS_REGIONS, 0);
  for (size_t k = 0; k + 1 < stream.count; k++) {
    tsn_region_event event = tsn_region_decode(stream.tag[k]);
    if (event.kind != TSN_REGIONS_BEGIN || !is_poll(run, event.place)) continue;
    found->visits++;
    found->time += stream.time[k + 1] - stream.time[k];
  }
}

/* What rank 0 computes before calls of that name. */
static double work_before(const char *path, const char *call) {
  char computation[64];
  double work = 0;
  tsanom_runs_spmd_data spmd = times_of(path);
  (void)snprintf(computation, sizeof computation, "> computation before %s", call);
  for (size_t k = 0; k < spmd.data->regions; k++) {
    if (strstr(spmd.region[k], computation)) work += spmd.data->time[k];
  }
  return work;
}

/* What rank 0 printed. */
static double printed(int which) {
  double number[2] = {0};
  FILE *out = fopen("out", "r");
  cr_assert(out && fscanf(out, "%lf %lf", &number[0], &number[1]) > which);
  cr_assert(fclose(out) == 0);
  return number[which];
}

static polls polls_of(int library, const char *options, const char *program) {
  polls found = {.visits = 0};
  tsanom_runs_info info;
  (void)shell("rm -rf run");
  cr_assert(record_ranks(library, 2, options, "run", program) == 0, "%s", program);
  found.polled = printed(0);
  tsanom_runs *run = open_run("run/rank.0", &info);
  count_visits(run, &found);
  found.work = work_before("run", "MPI_Test") + work_before("run", "MPI_Iprobe");
  return found;
}

enum { TRIES = 5 };

/* 500: where the thread loses its processor, and the system does not report it in user
 * space. */
static bool is_one_visit(polls p) {
  return p.visits >= 5 && p.visits <= 500 && p.time > 0.1 * p.polled &&
         p.time < 1.2 * p.polled && p.work < 0.1 * p.polled;
}

/* On a busy machine, one of some runs decides. */
Test(record_mpi_polls, a_loop_of_polls_is_one_visit) {
  static const char *const programs[] = {"polls one 5 40000", "polls two 5 20000"};
  for (int library = 0; library < MPI_LIBRARIES; library++) {
    if (!build_mpi_program(library, "polls.c", "polls")) continue;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
      polls p = {0};
      for (int k = 0; k < TRIES && !is_one_visit(p); k++) {
        p = polls_of(library, "", programs[i]);
      }
      cr_assert(is_one_visit(p), "%s: %zu visits of %g s, work %g s, in %g s",
                programs[i], p.visits, p.time, p.work, p.polled);
    }
  }
}

/* In virtual machines the clock of processor time reads too low once in a thousand
 * intervals, and two polls are one visit: one of some runs decides. */
Test(record_mpi_polls, work_between_polls_stays_work) {
  enum { POLLS = 1000 };
  for (int library = 0; library < MPI_LIBRARIES; library++) {
    if (!build_mpi_program(library, "polls.c", "polls")) continue;
    polls p = {0};
    for (int i = 0; i < TRIES && p.visits != POLLS; i++) {
      p = polls_of(library, "", "polls work 2 500");
    }
    cr_assert(p.visits == POLLS, "%zu", p.visits);
    cr_assert(p.work > 0.99 * (POLLS - 2) * 50e-6 && p.work < 1.2 * p.polled,
              "%g of %g s", p.work, p.polled);
  }
}

/* Most of the rounds come behind the events. On a busy machine, what comes behind the loss of a
 * processor may count as work: one of some runs decides. */
Test(record_mpi_polls, totals_have_no_work_between_polls) {
  for (int library = 0; library < MPI_LIBRARIES; library++) {
    if (!build_mpi_program(library, "polls.c", "polls")) continue;
    polls p = {.work = 1};
    for (int i = 0; i < TRIES && !(p.work < 0.1 * p.polled); i++) {
      p = polls_of(library, "--profile", "polls one 2000 200");
    }
    cr_assert(p.work < 0.1 * p.polled, "%g of %g s", p.work, p.polled);
    p = polls_of(library, "--profile", "polls work 20 200");
    cr_assert(p.work > 0.9 * 20 * 199 * 50e-6, "%g of %g s", p.work, p.polled);
  }
}

/* Limits leave what the measured clock of a virtual machine differs. */
static bool is_measured(double work, double cpu, double elapsed) {
  return work > 0.9 * cpu && work < 0.8 * cpu + 0.2 * elapsed;
}

/* Whatever came before it at the place: elapsed time would contain that in which it sleeps, which
 * is longer. Where the host takes a processor away, one of some runs decides. */
Test(record_mpi_polls, long_computations_are_measured_behind_short_ones) {
  for (int library = 0; library < MPI_LIBRARIES; library++) {
    if (!build_mpi_program(library, "rare.c", "rare")) continue;
    for (int seed = 1; seed <= 4; seed++) {
      char program[32];
      double work = 0, cpu = 1, elapsed = 0;
      (void)snprintf(program, sizeof program, "rare %d 20", seed);
      for (int i = 0; i < TRIES && !is_measured(work, cpu, elapsed); i++) {
        (void)shell("rm -rf run");
        cr_assert(record_ranks(library, 2, seed % 2 ? "" : "--profile", "run", program) ==
                  0);
        work = work_before("run", "MPI_Barrier");
        cpu = printed(0);
        elapsed = printed(1);
      }
      cr_assert(is_measured(work, cpu, elapsed), "seed %d: %g of %g s, elapsed %g", seed,
                work, cpu, elapsed);
    }
  }
}
