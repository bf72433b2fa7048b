/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of several ranks: what tsanom_runs_ranks() lists, and region times between calls
 * of MPI, from events whose times are known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/runs.h>
#include <tsanom/spmd.h>
#include <unistd.h>

#include "runs/rank_run.h"
#include "support/polls.h"

enum { US = 1000 };

/* Places of places.tsv below. */
enum { INIT, SEND, RECV, LOOP, INNER, SEND_AGAIN };

TestSuite(runs_ranks, .init = make_directory, .fini = remove_directory);

/* Less than 2^24 ns of processor time. */
static uint32_t cpu_of(uint32_t nanoseconds) {
  return TSN_REGIONS_CPU | nanoseconds << 8;
}

static grown_run make_rank(const char *name) {
  return rank_create(directory, name,
                     "tsanom places 3\n"
                     "0\tmc\t10\t-\t/bin/a\tMPI_Init\t0\n"
                     "1\tmc\t20\t-\t/bin/a\tMPI_Send\t1\n"
                     "2\tmc\t30\t-\t/bin/a\tMPI_Recv\t1\n"
                     "3\trf\t40\t-\t/bin/a\n"
                     "4\trf\t50\t-\t/bin/a\n"
                     "5\tmc\t20\t-\t/bin/a\tMPI_Send\t2\n");
}

typedef struct {
  uint32_t us, tag;
} event;

static void append(grown_run *rank, const event *events, size_t count) {
  for (size_t i = 0; i < count; i++) {
    grown_append(rank, 0, (uint64_t)events[i].us * US, events[i].tag);
  }
}

/* MPI_Init; 100 us with 40 us of two visits of a loop, of which 50 us were processor
 * time; 30 us in MPI_Send, once with each communicator; 8 us without a measurement. */
static void make_rank_0(void) {
  grown_run rank = make_rank("rank.0");
  const event events[] = {
      {1, begin_of(INIT)},      {2, end_of(INIT)},   {10, begin_of(LOOP)},
      {30, end_of(LOOP)},       {5, begin_of(LOOP)}, {4, begin_of(INNER)},
      {4, end_of(INNER)},       {2, end_of(LOOP)},   {45, cpu_of(50 * US)},
      {0, begin_of(SEND)},      {20, end_of(SEND)},  {8, begin_of(SEND_AGAIN)},
      {10, end_of(SEND_AGAIN)}, {7, begin_of(LOOP)}, {5, end_of(LOOP)}};
  append(&rank, events, sizeof events / sizeof *events);
  grown_finish(&rank);
}

/* 60 us in a loop that calls MPI_Recv for 20 of them, then MPI_Recv. */
static void make_rank_12(void) {
  grown_run rank = make_rank("rank.12");
  const event events[] = {{1, begin_of(INIT)},  {2, end_of(INIT)},  {0, begin_of(LOOP)},
                          {30, begin_of(RECV)}, {20, end_of(RECV)}, {10, end_of(LOOP)},
                          {0, begin_of(RECV)},  {15, end_of(RECV)}};
  append(&rank, events, sizeof events / sizeof *events);
}

static void make_ranks(void) {
  make_rank_0();
  make_rank_12();
  write_text(directory, "ranks.tsv", "tsanom ranks 1\nsize\t13\njob\t4711.0\n");
}

static tsanom_status open_all(int32_t parts, int32_t symbols, const tsanom_exec *exec,
                              tsanom_runs **run) {
  tsanom_runs_options options;
  CHECK_STATUS(tsanom_runs_options_init(&options, sizeof options), TSANOM_OK);
  options.parts = parts;
  options.symbols = symbols;
  return tsanom_runs_open(directory, &options, exec, run);
}

static size_t region_named(const tsanom_runs_spmd_data *spmd, const char *name) {
  for (size_t k = 0; k < spmd->data->regions; k++) {
    if (strcmp(spmd->region[k], name) == 0) return k;
  }
  cr_assert(false, "%s", name);
  return 0;
}

/* Time in microseconds and visits of a region in both ranks, and the region around it. */
static void check_region(const tsanom_runs_spmd_data *spmd, const char *name,
                         const char *parent, const double time[2],
                         const double visits[2]) {
  const tsanom_spmd_data *d = spmd->data;
  size_t k = region_named(spmd, name);
  int32_t expected =
      parent ? (int32_t)region_named(spmd, parent) : (int32_t)TSANOM_SPMD_NONE;
  cr_assert(d->parent[k] == expected, "%s", name);
  for (size_t i = 0; i < 2; i++) {
    double found = d->time[i * d->regions + k] * 1e6;
    cr_assert(fabs(found - time[i]) < 1e-6, "%s: %g, not %g", name, found, time[i]);
    cr_assert(d->metric[i * d->regions + k] == visits[i], "%s", name);
  }
}

#define BOTH(a, b)    \
  (const double[2]) { \
    a, b              \
  }

Test(runs_ranks, computations_between_calls) {
  tsanom_runs *run = NULL;
  tsanom_runs_spmd_data spmd;
  make_ranks();
  CHECK_STATUS(open_all(TSANOM_RUNS_REGION_TIMES, 0, NULL, &run), TSANOM_OK);
  for (int round = 0; round < 2; round++) {
    CHECK_STATUS(tsanom_runs_spmd(run, NULL, &spmd), TSANOM_OK);
    cr_assert(spmd.data->processes == 2 && spmd.data->metrics == 1);
    cr_assert(strcmp(spmd.process[0], "0") == 0 && strcmp(spmd.process[1], "12") == 0);
    cr_assert(strcmp(spmd.metric[0], "calls") == 0);
    cr_assert(spmd.data->regions == 6, "%zu", spmd.data->regions);
    check_region(&spmd, "a", NULL, BOTH(58, 40), BOTH(2, 1));
    check_region(&spmd, "a > computation before MPI_Send +0x1f", "a", BOTH(58, 0),
                 BOTH(2, 0));
    /* Half of the elapsed time, as that of the computation. */
    check_region(&spmd, "a > computation before MPI_Send +0x1f > a+0x40",
                 "a > computation before MPI_Send +0x1f", BOTH(20, 0), BOTH(2, 0));
    check_region(&spmd, "a > computation before MPI_Send +0x1f > a+0x40 > a+0x50",
                 "a > computation before MPI_Send +0x1f > a+0x40", BOTH(2, 0),
                 BOTH(1, 0));
    check_region(&spmd, "a > computation before MPI_Recv +0x2f", "a", BOTH(0, 40),
                 BOTH(0, 1));
    check_region(&spmd, "a > computation before MPI_Recv +0x2f > a+0x40",
                 "a > computation before MPI_Recv +0x2f", BOTH(0, 40), BOTH(0, 1));
    cr_assert(fabs(spmd.waiting[0] * 1e6 - 32) < 1e-6, "%g", spmd.waiting[0]);
    cr_assert(fabs(spmd.waiting[1] * 1e6 - 37) < 1e-6, "%g", spmd.waiting[1]);
    cr_assert(fabs(spmd.stalled[0] * 1e6 - 50) < 1e-6, "%g", spmd.stalled[0]);
    cr_assert(spmd.stalled[1] == 0, "%g", spmd.stalled[1]);
    cr_assert(fabs(spmd.data->elapsed * 1e6 - 152) < 1e-6, "%g", spmd.data->elapsed);
    CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  }
  tsanom_runs_info info = {.struct_size = sizeof info};
  CHECK_STATUS(tsanom_runs_describe(run, &info), TSANOM_OK);
  cr_assert(info.parts == TSANOM_RUNS_SPMD && info.events == 23);
  cr_assert(info.state == TSANOM_RUN_KILLED);
  tsanom_runs_destroy(run);
}

/* Region times do not depend on vital signs. */
Test(runs_ranks, vital_signs_of_ranks_are_not_read) {
  tsanom_runs *run = NULL;
  make_ranks();
  write_text(directory, "rank.0/regions/" TSN_VITAL_FILE, "not vital signs");
  CHECK_STATUS(open_all(0, 0, NULL, &run), TSANOM_OK);
  tsanom_runs_destroy(run);
}

/* The computation in front of the first MPI_Send does not end before the damage. */
Test(runs_ranks, salvage_reads_ranks_up_to_the_damage) {
  enum { DAMAGED = 8 };
  size_t bytes = 0;
  tsanom_runs *run = NULL;
  tsanom_runs_spmd_data spmd;
  tsanom_runs_options options;
  make_ranks();
  const char *path = in_directory("rank.0/regions/heartbeat.00000");
  unsigned char *file = file_read(path, &bytes);
  file[TSN_STREAM_HEADER + DAMAGED * sizeof(tsn_record)] ^= 1;
  file_write(path, file, bytes);
  free(file);
  CHECK_STATUS(open_all(0, 0, NULL, &run), TSANOM_E_FORMAT);
  CHECK_STATUS(tsanom_runs_options_init(&options, sizeof options), TSANOM_OK);
  options.symbols = 0;
  options.salvage = 1;
  CHECK_STATUS(tsanom_runs_open(directory, &options, NULL, &run), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_spmd(run, NULL, &spmd), TSANOM_OK);
  check_region(&spmd, "a", NULL, BOTH(0, 40), BOTH(0, 1));
  cr_assert(fabs(spmd.waiting[0] * 1e6 - 2) < 1e-6, "%g", spmd.waiting[0]);
  tsanom_runs_info info = {.struct_size = sizeof info};
  CHECK_STATUS(tsanom_runs_describe(run, &info), TSANOM_OK);
  cr_assert(info.events == DAMAGED + 8 && info.skipped == 15 - DAMAGED);
  tsanom_fault damage = {.struct_size = sizeof damage};
  CHECK_STATUS(tsanom_runs_first_damage(run, &damage), TSANOM_OK);
  cr_assert(damage.status == TSANOM_E_FORMAT && strcmp(damage.file, path) == 0);
  tsanom_runs_destroy(run);
}

/* Without MPI the parallel regions are the outermost ones. */
Test(runs_ranks, separate_runs_are_processes) {
  const event first[] = {
      {1, begin_of(LOOP)}, {3, begin_of(INNER)}, {4, end_of(INNER)}, {2, end_of(LOOP)}};
  const char *list[2] = {in_directory("first"), in_directory("second")};
  for (int i = 0; i < 2; i++) {
    const char *name = i ? "second" : "first";
    grown_run rank = make_rank(name);
    for (int k = 0; k <= i; k++) append(&rank, first, 4);
    grown_finish(&rank);
  }
  tsanom_runs *run = NULL;
  tsanom_runs_spmd_data spmd;
  CHECK_STATUS(tsanom_runs_open_processes(list, 2, NULL, NULL, &run), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_spmd(run, NULL, &spmd), TSANOM_OK);
  cr_assert(strcmp(spmd.process[1], list[1]) == 0);
  cr_assert(spmd.data->regions == 2);
  check_region(&spmd, "a+0x40", NULL, BOTH(9, 18), BOTH(1, 2));
  check_region(&spmd, "a+0x40 > a+0x50", "a+0x40", BOTH(4, 8), BOTH(1, 2));
  tsanom_runs_destroy(run);
  run = NULL;
  for (uint64_t at = 0; at <= 2; at++) { /* a process is asked for before it is read */
    test_polls polls = {.stop_at = at};
    tsanom_exec exec = exec_polled(test_poll, &polls);
    CHECK_STATUS(tsanom_runs_open_processes(list, 2, NULL, &exec, &run),
                 at ? TSANOM_STOPPED : TSANOM_OK);
    cr_assert(polls.calls == (at ? at : 2) && !run == (at > 0));
    tsanom_runs_destroy(run);
    run = NULL;
  }
  list[1] = list[0];
  CHECK_STATUS(tsanom_runs_open_processes(list, 2, NULL, NULL, &run), TSANOM_E_FORMAT);
  cr_assert(run == NULL);
}

Test(runs_ranks, ranks_are_listed) {
  int32_t ranks[3] = {-7, -7, -7};
  size_t count = 9, size = 9;
  CHECK_STATUS(tsanom_runs_ranks(directory, NULL, ranks, 3, &count, &size), TSANOM_OK);
  cr_assert(count == 0 && size == 0 && ranks[0] == -7);
  make_ranks();
  /* Neither of them is a rank that recorded a run. */
  (void)make_rank("rank.007");
  (void)make_rank("other");
  cr_assert(mkdir(in_directory("rank.3"), 0777) == 0);
  CHECK_STATUS(tsanom_runs_ranks(directory, NULL, NULL, 0, &count, &size), TSANOM_OK);
  cr_assert(count == 2 && size == 13);
  CHECK_STATUS(tsanom_runs_ranks(directory, NULL, ranks, 1, &count, &size),
               TSANOM_PARTIAL);
  cr_assert(count == 2 && ranks[0] == 0 && ranks[1] == -7);
  CHECK_STATUS(tsanom_runs_ranks(directory, NULL, ranks, 3, &count, &size), TSANOM_OK);
  cr_assert(ranks[0] == 0 && ranks[1] == 12 && ranks[2] == -7);
}

/* The ranks of one run, and runs without any. */
Test(runs_ranks, a_run_of_ranks_has_region_times_only) {
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  tsanom_runs *run = NULL;
  write_text(directory, "ranks.tsv", "tsanom ranks 1\nsize\t4\njob\t-\n");
  CHECK_STATUS(open_all(TSANOM_RUNS_BEATS, 0, &exec, &run), TSANOM_E_STATE);
  cr_assert(strstr(fault.text, "no rank recorded a run"), "%s", fault.text);
  grown_run rank = make_rank("rank.3");
  grown_finish(&rank);
  CHECK_STATUS(open_all(TSANOM_RUNS_BEATS, 0, &exec, &run), TSANOM_E_STATE);
  cr_assert(strstr(fault.text, "such as rank.3"), "%s", fault.text);
}

Test(runs_ranks, what_is_no_run_of_ranks_is_rejected) {
  static const char *const texts[] = {"", "tsanom ranks 2\nsize\t4\njob\t-\n",
                                      "tsanom ranks 1\nsize\t-4\njob\t-\n",
                                      "tsanom ranks 1\nsize\t4\n"};
  size_t count, size;
  tsanom_runs *run = NULL;
  make_ranks();
  CHECK_STATUS(open_all(TSANOM_RUNS_BEATS, 0, NULL, &run), TSANOM_E_STATE);
  CHECK_STATUS(open_all(TSANOM_RUNS_REGIONS, 0, NULL, &run), TSANOM_E_STATE);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    write_text(directory, "ranks.tsv", texts[i]);
    CHECK_STATUS(tsanom_runs_ranks(directory, NULL, NULL, 0, &count, &size),
                 TSANOM_E_FORMAT);
    CHECK_STATUS(open_all(0, 0, NULL, &run), TSANOM_E_FORMAT);
  }
  write_text(directory, "ranks.tsv", "tsanom ranks 1\nsize\t0\njob\t-\n");
  CHECK_STATUS(open_all(0, 0, NULL, &run), TSANOM_OK);
  tsanom_runs_destroy(run);
}

static tsanom_status open_whole(const tsanom_exec *exec, tsanom_runs **run) {
  return open_all(0, 0, exec, run);
}

Test(runs_ranks, out_of_memory) {
  make_ranks();
  check_allocations(open_whole);
}
