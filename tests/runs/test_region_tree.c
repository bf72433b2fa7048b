/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of regions from records that a test writes one by one: parts of regions, and
 * functions in them and of a process. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/runs.h>
#include <tsanom/spmd.h>

#include "record/regions.h"
#include "runs/grown_run.h"
#include "support/check.h"
#include "support/random.h"

TestSuite(region_tree, .init = make_directory, .fini = remove_directory);

/* Places. The tree shows their addresses: a+0x10, ... */
enum { REGION = 0, SHARE, F, G, HOT, CALL };

/* A run of region events; the process calls MPI at a place. */
static void create(grown_run *run) {
  static const char text[] =
      "tsanom places 3\n0\trf\t10\t-\t/a\n1\tsc\t21\t-\t/a\n2\trf\t30\t-\t/a\n"
      "3\trf\t40\t-\t/a\n4\trf\t50\t-\t/a\n5\tmc\t61\t-\t/a\tMPI_Send\t1\n";
  grown_create_regions(run, directory, text);
}

static uint32_t tag(uint32_t kind, uint32_t place, uint32_t threads) {
  return kind | place << TSN_REGIONS_KIND_BITS | threads << 16;
}

static uint32_t cpu(uint32_t nanoseconds) {
  return TSN_REGIONS_CPU | nanoseconds << 8;
}

/* Counts of a metric below 2^21; MISSING: it is not counted. */
enum { MISSING = TSN_REGIONS_NOT_COUNTED << 6 | 2u << 11 };

static uint32_t metric(uint32_t number, uint32_t count) {
  return TSN_REGIONS_METRIC | number << 3 | (count == MISSING ? MISSING : count << 11);
}

#define COUNT(count) metric(TSN_REGIONS_INSTRUCTIONS, count)
#define DISK(count) metric(TSN_REGIONS_DISK_BYTES, count)
#define NET(count) metric(TSN_REGIONS_NETWORK_BYTES, count)
#define BEGIN(place) tag(TSN_REGIONS_BEGIN, place, 0)
#define END(place) tag(TSN_REGIONS_END, place, 2)
#define REACH(place) tag(TSN_REGIONS_SHARE, place, 2)
#define ENTER(place) tag(TSN_REGIONS_FUNCTION, place, TSN_REGIONS_ENTERED)
#define LEAVE(place) tag(TSN_REGIONS_FUNCTION, place, TSN_REGIONS_LEFT)
#define DROP(place) tag(TSN_REGIONS_FUNCTION, place, TSN_REGIONS_DROPPED)

/* A region of the result: nanoseconds and visits of the process. */
typedef struct {
  const char *name;
  int32_t parent;
  double ns, visits;
} expected;

/* Of a file: the directory of the run is a process. */
static void check(tsanom_runs *run, const expected *e, size_t count) {
  tsanom_runs_spmd_data f;
  CHECK_STATUS(tsanom_runs_spmd(run, NULL, &f), TSANOM_OK);
  cr_assert(f.data->regions == count && f.data->processes == 1);
  for (size_t k = 0; k < count; k++) {
    cr_assert(strcmp(f.region[k], e[k].name) == 0, "%s", f.region[k]);
    cr_assert(f.data->parent[k] == e[k].parent, "%s", e[k].name);
    cr_assert(fabs(f.data->time[k] * 1e9 - e[k].ns) < 1e-6, "%s: %g", e[k].name,
              f.data->time[k]);
    cr_assert(f.data->metric[k] == e[k].visits, "%s: %g", e[k].name, f.data->metric[k]);
  }
}

/* Compare the metric of that name, of one process, with values by region; NaN: missing.
 */
static void check_metric(tsanom_runs *run, const char *name, const double *values) {
  tsanom_runs_spmd_data f;
  CHECK_STATUS(tsanom_runs_spmd(run, NULL, &f), TSANOM_OK);
  size_t m = 0;
  while (m < f.data->metrics && strcmp(f.metric[m], name) != 0) m++;
  cr_assert(m < f.data->metrics, "%s", name);
  for (size_t k = 0; k < f.data->regions; k++) {
    double value = f.data->metric[m * f.data->regions + k];
    cr_assert(value == values[k] || (isnan(value) && isnan(values[k])), "%s of %s: %g",
              name, f.region[k], value);
  }
}

static void write_run(const uint32_t *tags, size_t count) {
  grown_run grown;
  create(&grown);
  for (size_t i = 0; i < count; i++) grown_append(&grown, 0, 1000, tags[i]);
  grown_finish(&grown);
}

#define WRITE(tags) write_run(tags, sizeof(tags) / sizeof *(tags))
#define CHECK(run, e) check(run, e, sizeof(e) / sizeof *(e))

/* The first processor time in front of an end is that of the last part. A worksharing
 * construct without a time, as of recordings without them, is no part. */
Test(region_tree, parts_lie_between_worksharing_constructs) {
  const uint32_t tags[] = {
      BEGIN(REGION), cpu(10),     REACH(SHARE),  cpu(20),      REACH(SHARE), cpu(5),
      cpu(40),       END(REGION), BEGIN(REGION), REACH(SHARE), cpu(7),       END(REGION),
      REACH(SHARE),  cpu(1),      REACH(SHARE),  cpu(9),       END(REGION)};
  static const expected e[] = {{"a+0x10", -1, 47, 2},
                               {"a+0x10 > until a+0x20", 0, 30, 2},
                               {"a+0x10 > rest", 0, 5, 1}};
  WRITE(tags);
  tsanom_runs *run = open_run(directory);
  CHECK(run, e);
  tsanom_runs_destroy(run);
}

/* One stands for those since the one before, the last one also for those behind it: naively, by
 * search from each visit. */
Test(region_tree, visits_without_a_time_are_as_the_next_one_with_a_time) {
  enum { VISITS = 400, TRIALS = 20 };
  uint64_t seed = 3;
  for (int trial = 0; trial < TRIALS; trial++) {
    static uint32_t tags[3 * VISITS], time[VISITS]; /* ns; 0: not measured */
    size_t used = 0, measured = 0;
    double ns = 0;
    for (size_t i = 0; i < VISITS; i++) {
      bool is_long = i > VISITS / 2;
      bool has_time = random_between(&seed, 0, is_long ? 1 : (size_t)trial) == 0;
      time[i] = has_time ? (uint32_t)random_between(&seed, 1, is_long ? 100000 : 10) : 0;
      tags[used++] = BEGIN(REGION);
      if (time[i]) tags[used++] = cpu(time[i]);
      tags[used++] = END(REGION);
      measured += time[i] > 0;
    }
    for (size_t i = 0; i < VISITS; i++) {
      size_t k = i;
      while (k < VISITS && !time[k]) k++;
      if (k == VISITS) k = i;
      while (!time[k]) k--;
      ns += time[k];
    }
    const expected e[] = {{"a+0x10", -1, ns, VISITS}};
    cr_assert(measured > 0);
    write_run(tags, used);
    tsanom_runs *run = open_run(directory);
    CHECK(run, e);
    tsanom_runs_destroy(run);
    remove_directory();
    cr_assert(mkdir(directory, 0777) == 0);
  }
}

/* The function of a region, one that is open already, and one that longjmp() left are no
 * regions of their own, or have no time; those outside of regions do not count; one that
 * was dropped is left out from the beginning. */
Test(region_tree, functions_lie_in_regions) {
  const uint32_t tags[] = {
      ENTER(G),    BEGIN(REGION), ENTER(REGION), ENTER(F),    ENTER(HOT),    ENTER(G),
      cpu(3),      LEAVE(G),      cpu(4),        LEAVE(HOT),  ENTER(F),      cpu(5),
      LEAVE(F),    cpu(8),        LEAVE(F),      cpu(50),     LEAVE(REGION), cpu(60),
      END(REGION), BEGIN(REGION), ENTER(F),      ENTER(G),    cpu(2),        LEAVE(F),
      DROP(HOT),   ENTER(G),      cpu(6),        END(REGION), cpu(100),      LEAVE(G)};
  static const expected e[] = {{"a+0x10", -1, 66, 2},
                               {"a+0x10 > a+0x30", 0, 10, 2},
                               {"a+0x10 > a+0x30 > a+0x40", 1, 3, 1},
                               {"a+0x10 > a+0x40", 0, 0, 0}};
  WRITE(tags);
  tsanom_runs *run = open_run(directory);
  CHECK(run, e);
  tsanom_runs_spmd_data f;
  CHECK_STATUS(tsanom_runs_spmd(run, NULL, &f), TSANOM_OK);
  cr_assert(f.dropped_count == 1 && strcmp(f.dropped[0], "a+0x50") == 0);
  tsanom_runs_destroy(run);
}

/* A construct in a function ends a part of the region around it. */
Test(region_tree, functions_have_no_parts) {
  const uint32_t tags[] = {BEGIN(REGION), ENTER(F), cpu(10), REACH(SHARE),
                           cpu(20),       LEAVE(F), cpu(40), END(REGION)};
  static const expected e[] = {{"a+0x10", -1, 40, 1},
                               {"a+0x10 > a+0x30", 0, 20, 1},
                               {"a+0x10 > until a+0x20", 0, 10, 1}};
  WRITE(tags);
  tsanom_runs *run = open_run(directory);
  CHECK(run, e);
  tsanom_runs_destroy(run);
}

/* Functions outside of regions count in a process; calls of MPI do not, whatever they are
 * in. */
Test(region_tree, functions_of_a_process) {
  const uint32_t tags[] = {
      ENTER(F),      ENTER(G), BEGIN(CALL), cpu(30),  END(CALL), cpu(70),
      LEAVE(G),      cpu(15),  BEGIN(CALL), cpu(10),  END(CALL), DROP(HOT),
      BEGIN(REGION), cpu(11),  END(REGION), cpu(150), LEAVE(F),  ENTER(HOT),
      BEGIN(REGION), cpu(4),   END(REGION)};
  static const expected e[] = {{"a+0x30", -1, 110, 1},
                               {"a+0x30 > a+0x40", 0, 40, 1},
                               {"a+0x30 > a+0x10", 0, 11, 1},
                               {"a+0x10", -1, 4, 1}};
  const char *const paths[] = {directory};
  tsanom_runs *run = NULL;
  WRITE(tags);
  CHECK_STATUS(tsanom_runs_open_processes(paths, 1, NULL, NULL, &run), TSANOM_OK);
  CHECK(run, e);
  tsanom_runs_spmd_data f;
  CHECK_STATUS(tsanom_runs_spmd(run, NULL, &f), TSANOM_OK);
  cr_assert(fabs(f.waiting[0] - 4e-6) < 1e-12, "%g s", f.waiting[0]);
  cr_assert(f.dropped_count == 1 && strcmp(f.dropped[0], "a+0x50") == 0);
  tsanom_runs_destroy(run);
}

/* Counts belong to the next processor time, as it belongs to the next event. A visit
 * without a count, or with one that is not known, leaves its region without; of a metric
 * that is counted nowhere all regions lack it. Threads share the network. */
/* Two teams of one thread open G within F, as each member calls a function with a region; before,
 * after or between those, teams of two open G at the outermost level, where what the second thread
 * did belongs. */
Test(region_tree, what_also_ran_nested_is_outermost_for_the_other_threads) {
  enum { TURNS = 12 };
  uint64_t seed = 11;
  for (int trial = 0; trial < 20; trial++) {
    double ns[2][3] = {{0}};
    bool opened = false;
    grown_run run;
    create(&run);
    grown_add_stream(&run, 1);
    for (int turn = 0; turn < TURNS; turn++) {
      bool is_nested = random_between(&seed, 0, 1) || turn < 2;
      for (uint32_t t = 0; t < 2; t++) {
        uint32_t own = (uint32_t)random_between(&seed, 1, 1000), more = own + 500;
        if (is_nested) grown_append(&run, t, 1000, BEGIN(F));
        grown_append(&run, t, 1000, BEGIN(G));
        grown_append(&run, t, 1000, cpu(own));
        grown_append(&run, t, 1000, END(G));
        if (is_nested) grown_append(&run, t, 1000, cpu(more));
        if (is_nested) grown_append(&run, t, 1000, END(F));
        if (is_nested) ns[t][0] += more;
        ns[t][is_nested ? 1 : 2] += own;
        opened |= !is_nested;
      }
    }
    grown_finish(&run);
    tsanom_runs *read = open_run(directory);
    tsanom_runs_spmd_data f;
    CHECK_STATUS(tsanom_runs_spmd(read, NULL, &f), TSANOM_OK);
    static const char *const names[] = {"a+0x30", "a+0x30 > a+0x40", "a+0x40"};
    cr_assert(f.data->processes == 2 && f.data->regions == (opened ? 3u : 2u));
    for (size_t k = 0; k < f.data->regions; k++) {
      cr_assert_str_eq(f.region[k], names[k]);
      for (size_t t = 0; t < 2; t++) {
        double found = f.data->time[t * f.data->regions + k] * 1e9;
        cr_assert(fabs(found - ns[t][k]) < 1e-6, "%zu %zu: %g, not %g", t, k, found,
                  ns[t][k]);
      }
    }
    tsanom_runs_destroy(read);
    remove_directory();
    make_directory();
  }
}

Test(region_tree, metrics_of_threads) {
  const uint32_t tags[] = {
      BEGIN(REGION), COUNT(3),     DISK(5),  NET(9),      metric(1, MISSING),
      cpu(10),       REACH(SHARE), COUNT(4), DISK(6),     cpu(20),
      COUNT(7),      DISK(11),     cpu(40),  END(REGION), BEGIN(G),
      COUNT(1),      cpu(5),       END(G),   BEGIN(F),    COUNT(100),
      DISK(8),       cpu(5),       END(F),   BEGIN(F),    COUNT(1),
      DISK(MISSING), cpu(5),       END(F),   metric(7, 1)};
  static const double count[] = {7, 3, 4, 1, 101}, missing[] = {NAN, NAN, NAN, NAN, NAN},
                      disk[] = {11, 5, 6, NAN, NAN};
  WRITE(tags);
  tsanom_runs *run = open_run(directory);
  check_metric(run, "instructions", count);
  check_metric(run, "disk-bytes", disk);
  check_metric(run, "L1-misses", missing);
  tsanom_runs_spmd_data f;
  CHECK_STATUS(tsanom_runs_spmd(run, NULL, &f), TSANOM_OK);
  cr_assert(f.data->metrics == 4 && strcmp(f.metric[0], "calls") == 0);
  tsanom_runs_destroy(run);
}

/* A thread that could not count lacks the metric also where it was not. */
Test(region_tree, metrics_of_a_thread_without_counters) {
  const uint32_t tags[2][8] = {
      {BEGIN(F), COUNT(3), cpu(5), END(F), BEGIN(G), COUNT(4), cpu(5), END(G)},
      {BEGIN(F), COUNT(MISSING), cpu(5), END(F)}};
  grown_run grown;
  tsanom_runs_spmd_data f;
  create(&grown);
  for (uint32_t thread = 0; thread < 2; thread++) {
    if (thread) grown_add_stream(&grown, (int32_t)thread);
    for (size_t i = 0; i < (thread ? 4 : 8); i++) {
      grown_append(&grown, thread, 1000, tags[thread][i]);
    }
  }
  grown_finish(&grown);
  tsanom_runs *run = open_run(directory);
  CHECK_STATUS(tsanom_runs_spmd(run, NULL, &f), TSANOM_OK);
  const double *count = f.data->metric + 4;
  cr_assert(f.data->regions == 2 && f.data->processes == 2 && f.data->metrics == 2);
  cr_assert(count[0] == 3 && count[1] == 4 && isnan(count[2]) && isnan(count[3]));
  tsanom_runs_destroy(run);
}

/* Instructions and network bytes of the recorded process. */
static void check_counts(const double *instructions, const double *network) {
  const char *const paths[] = {directory};
  tsanom_runs *run = NULL;
  CHECK_STATUS(tsanom_runs_open_processes(paths, 1, NULL, NULL, &run), TSANOM_OK);
  check_metric(run, "instructions", instructions);
  check_metric(run, "network-bytes", network);
  tsanom_runs_destroy(run);
}

/* What a call of MPI counts is taken out of the functions around it, but not what it
 * sends. */
Test(region_tree, metrics_of_functions) {
  const uint32_t tags[] = {ENTER(F),  BEGIN(CALL), COUNT(30), NET(400), cpu(30),
                           END(CALL), COUNT(70),   NET(500),  cpu(70),  LEAVE(F)};
  static const double count[] = {40}, network[] = {500};
  WRITE(tags);
  check_counts(count, network);
}

/* A process without functions: the network bytes of a computation come behind the call
 * that ends it. Parallel regions in computations are not counted, nor is a computation
 * whose network bytes are missing. */
Test(region_tree, metrics_of_computations) {
  const uint32_t tags[] = {BEGIN(CALL), END(CALL),   BEGIN(REGION), END(REGION), COUNT(7),
                           cpu(10),     BEGIN(CALL), END(CALL),     NET(50),     COUNT(8),
                           NET(3),      cpu(10),     BEGIN(CALL),   END(CALL),   NET(60)};
  static const double count[] = {15, 15, NAN}, network[] = {110, 110, NAN};
  WRITE(tags);
  check_counts(count, network);
}

static tsanom_status open_process(const tsanom_exec *exec, tsanom_runs **run) {
  const char *const paths[] = {directory};
  return tsanom_runs_open_processes(paths, 1, NULL, exec, run);
}

Test(region_tree, out_of_memory) {
  const uint32_t tags[] = {ENTER(F), ENTER(G), DROP(HOT), COUNT(3),
                           cpu(70),  LEAVE(G), cpu(90),   LEAVE(F)};
  WRITE(tags);
  check_allocations(open_process);
}
