/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of ranks: in any order, some of them in some ranks only, damaged, and of
 * several versions. */
#include <math.h>
#include <string.h>
#include <tsanom/runs.h>
#include <tsanom/spmd.h>

#include "runs/rank_run.h"
#include "support/exec.h"
#include "support/random.h"

enum { LINES = 14, RANKS = 7, TRIALS = 25, TEXT = 2048, US = 1000 };

TestSuite(runs_known_places, .init = make_directory, .fini = remove_directory);

/* Two places at an address differ by their communicator, or by their kind. */
static const char *const line[LINES] = {"mc\t10\t-\t/bin/a\tMPI_Init\t0",
                                        "mc\t20\t-\t/bin/a\tMPI_Send\t1",
                                        "mc\t20\t-\t/bin/a\tMPI_Send\t2",
                                        "mc\t20\t-\t/lib/b\tMPI_Send\t1",
                                        "mc\t21\t-\t/bin/a\tMPI_Send\t1",
                                        "mc\t21\t-\t/bin/a\tMPI_Recv\t1",
                                        "mc\t21\tfile:1\t/bin/a\tMPI_Bcast",
                                        "rf\t40\t-\t/bin/a",
                                        "mf\t20\t-\t/bin/a\tMPI_Send\t1",
                                        "mc\t30\t-\t/bin/a\tMPI_Wait\t1",
                                        "mc\t31\t-\t/bin/a\tMPI_Wait\t1",
                                        "mc\t32\t-\t/lib/b\tMPI_Wait\t1",
                                        "sf\t20\t-\t/bin/a",
                                        "mc\t33\t-\t/lib/b\tMPI_Wait\t10"};

/* The region of the computation before the call of each line; NULL: not a call, or not
 * a line. */
static const char *const region[LINES] = {"a > computation before MPI_Init +0xf",
                                          "a > computation before MPI_Send +0x1f",
                                          "a > computation before MPI_Send +0x1f",
                                          "b > computation before MPI_Send +0x1f",
                                          "a > computation before MPI_Send +0x20",
                                          "a > computation before MPI_Recv +0x20",
                                          NULL,
                                          NULL,
                                          "a > computation before MPI_Send +0x20",
                                          "a > computation before MPI_Wait +0x2f",
                                          "a > computation before MPI_Wait +0x30",
                                          "b > computation before MPI_Wait +0x31",
                                          NULL,
                                          "b > computation before MPI_Wait +0x32"};

/* The line without a communicator is not one. */
enum { DAMAGED = 6 };

typedef struct {
  double us[LINES]; /* in the computations before each line; 0: the rank lacks it */
} expected_rank;

/* Some lines in random order, and a computation before each of those that are calls. */
static expected_rank make_rank(size_t number, uint64_t *seed) {
  expected_rank expected = {{0}};
  size_t order[LINES], count = 0;
  char text[TEXT] = "tsanom places 3\n", name[32];
  bool is_usual = random_bits(seed) % 3 == 0;
  for (size_t i = 0; i < LINES; i++) {
    if (i == DAMAGED || (!is_usual && random_bits(seed) % 4 == 0)) continue;
    size_t at = is_usual ? count : random_between(seed, 0, count);
    memmove(order + at + 1, order + at, (count - at) * sizeof *order);
    order[at] = i;
    count++;
  }
  for (size_t k = 0; k < count; k++) {
    size_t used = strlen(text);
    (void)snprintf(text + used, sizeof text - used, "%zu\t%s\n", k, line[order[k]]);
  }
  (void)snprintf(name, sizeof name, "rank.%zu", number);
  grown_run rank = rank_create(directory, name, text);
  grown_append(&rank, 0, 1, begin_of(TSN_REGIONS_PLACES_MAX - 1));
  grown_append(&rank, 0, 1, end_of(TSN_REGIONS_PLACES_MAX - 1));
  for (uint32_t k = 0; k < count; k++) {
    uint64_t us = random_between(seed, 1, 50);
    if (!region[order[k]]) continue;
    expected.us[order[k]] = (double)us + (k ? 0 : 0.002);
    grown_append(&rank, 0, us * US, begin_of(k));
    grown_append(&rank, 0, US, end_of(k));
  }
  grown_finish(&rank);
  return expected;
}

/* What all ranks have in the region of a name. */
static double time_in(const expected_rank *rank, const char *name) {
  double us = 0;
  for (size_t i = 0; i < LINES; i++) {
    if (!region[i]) continue;
    bool is_function = strlen(name) == 1 && region[i][0] == name[0];
    if (is_function || strcmp(region[i], name) == 0) us += rank->us[i];
  }
  return us;
}

static void check_times(const tsanom_runs_spmd_data *spmd,
                        const expected_rank expected[RANKS]) {
  const tsanom_spmd_data *d = spmd->data;
  cr_assert(d->processes == RANKS);
  for (size_t i = 0; i < RANKS; i++) {
    double sum = 0, all = 0;
    for (size_t k = 0; k < d->regions; k++) {
      double us = d->time[i * d->regions + k] * 1e6;
      bool is_inner = strlen(spmd->region[k]) > 1;
      cr_assert(fabs(us - time_in(&expected[i], spmd->region[k])) < 0.01, "%s: %g",
                spmd->region[k], us);
      cr_assert((d->parent[k] >= 0) == is_inner);
      if (is_inner) {
        cr_assert(spmd->region[d->parent[k]][0] == spmd->region[k][0]);
        sum += us;
      }
    }
    for (size_t l = 0; l < LINES; l++) all += expected[i].us[l];
    cr_assert(fabs(sum - all) < 0.1, "%zu: %g, not %g", i, sum, all);
  }
}

static tsanom_status open_ranks(const char *path, int32_t salvage, tsanom_fault *fault,
                                tsanom_runs **run) {
  tsanom_runs_options options;
  tsanom_exec exec = exec_reporting(fault);
  CHECK_STATUS(tsanom_runs_options_init(&options, sizeof options), TSANOM_OK);
  options.symbols = 0;
  options.salvage = salvage;
  return tsanom_runs_open(path, &options, &exec, run);
}

static void open_all(int32_t salvage, tsanom_runs **run, tsanom_runs_spmd_data *spmd) {
  tsanom_fault fault;
  write_text(directory, "ranks.tsv", "tsanom ranks 1\nsize\t7\njob\t1\n");
  CHECK_STATUS(open_ranks(directory, salvage, &fault, run), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_spmd(*run, NULL, spmd), TSANOM_OK);
}

Test(runs_known_places, ranks_have_their_lines_in_any_order) {
  uint64_t seed = 3;
  for (int trial = 0; trial < TRIALS; trial++) {
    expected_rank expected[RANKS];
    tsanom_runs *run = NULL;
    tsanom_runs_spmd_data spmd;
    for (size_t i = 0; i < RANKS; i++) expected[i] = make_rank(i, &seed);
    open_all(0, &run, &spmd);
    check_times(&spmd, expected);
    tsanom_runs_destroy(run);
    remove_directory();
    make_directory();
  }
}

/* The fault is the same as of the rank by itself. One rank has a call without a communicator,
 * one a communicator without a call. */
Test(runs_known_places, damaged_lines_are_rejected_in_each_rank) {
#define LINES_BEFORE                                     \
  "tsanom places 3\n0\tmc\t10\t-\t/bin/a\tMPI_Init\t0\n" \
  "1\tmc\t21\tfile:1\t/bin/a\t"
  static const char *const text[] = {NULL, LINES_BEFORE "MPI_Bcast\n",
                                     LINES_BEFORE "1\n"};
  uint64_t seed = 4;
  tsanom_runs *run = NULL;
  tsanom_fault alone, together;
  (void)make_rank(0, &seed);
  for (int i = 1; i < 3; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "rank.%d", i);
    grown_run rank = rank_create(directory, name, text[i]);
    grown_append(&rank, 0, 10 * US, begin_of(1));
    grown_append(&rank, 0, US, end_of(1));
    grown_finish(&rank);
  }
  write_text(directory, "ranks.tsv", "tsanom ranks 1\nsize\t3\njob\t1\n");
  CHECK_STATUS(open_ranks(directory, 0, &together, &run), TSANOM_E_FORMAT);
  CHECK_STATUS(open_ranks(in_directory("rank.1"), 0, &alone, &run), TSANOM_E_FORMAT);
  cr_assert(strcmp(alone.text, together.text) == 0, "%s", together.text);
  cr_assert(alone.offset == together.offset && alone.offset > 0);
  tsanom_runs_spmd_data spmd;
  open_all(1, &run, &spmd);
  const tsanom_spmd_data *d = spmd.data;
  for (size_t k = 0; k < d->regions; k++) {
    cr_assert(d->time[d->regions + k] == d->time[2 * d->regions + k]);
  }
  tsanom_runs_destroy(run);
}

/* Version 1 has no identities: what is one in version 3 is part of the path. */
Test(runs_known_places, lines_of_other_versions_are_other_places) {
  static const char *const text[] = {"tsanom places 3\n0\trf\t40\tx\tb\n",
                                     "tsanom places 1\n0\trf\t40\tx\tb\n",
                                     "tsanom places 3\n0\trf\t40\tx\tb\n"};
  tsanom_runs *run = NULL;
  tsanom_runs_spmd_data spmd;
  for (int i = 0; i < 3; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "rank.%d", i);
    grown_run rank = rank_create(directory, name, text[i]);
    grown_append(&rank, 0, US, begin_of(0));
    grown_append(&rank, 0, 10 * US, end_of(0));
    grown_finish(&rank);
  }
  open_all(0, &run, &spmd);
  cr_assert(spmd.data->regions == 2);
  cr_assert(strcmp(spmd.region[0], "b+0x40") == 0, "%s", spmd.region[0]);
  cr_assert(strcmp(spmd.region[1], "x\tb+0x40") == 0, "%s", spmd.region[1]);
  for (size_t i = 0; i < 3; i++) {
    double us = spmd.data->time[2 * i + i % 2] * 1e6;
    cr_assert(fabs(us - 10) < 1e-6 && spmd.data->time[2 * i + (i + 1) % 2] == 0);
  }
  tsanom_runs_destroy(run);
}
