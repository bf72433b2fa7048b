/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom similar on runs that recorders of several processes and threads wrote. */
#include <criterion/criterion.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <tsanom/compat.h>
#include <unistd.h>

#include "record/regions.h"
#include "run.h"
#include "runs/grown_run.h"
#include "support/random.h"

TestSuite(command_similar_run, .init = enter_folder, .fini = leave_folder);

enum { STEP, TRIANGLE, IO, NEVER, REGIONS };

static const char *const names[REGIONS] = {"step", "the \"triangle\"\t\\", "io", "never"};

static void work(double seconds) {
  struct timespec start, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((double)(now.tv_sec - start.tv_sec) +
               1e-9 * (double)(now.tv_nsec - start.tv_nsec) <
           seconds);
}

/* Work of 5 ms and, in it, of 20 ms times the part; process 0 alone does I/O. */
static tsanom_spmd_recorder *record(int process, double part) {
  tsanom_spmd_recorder_options options;
  tsanom_spmd_recorder *r;
  tsanom_spmd_recorder_options_init(&options, sizeof options);
  options.clock = TSANOM_SPMD_CLOCK_CPU;
  cr_assert(tsanom_spmd_recorder_create(REGIONS, 2, &options, NULL, &r) == TSANOM_OK);
  Par_begin(r, STEP);
  work(5e-3);
  Par_begin(r, TRIANGLE);
  work(20e-3 * part);
  Par_end(r, TRIANGLE);
  Par_end(r, STEP);
  if (process == 0) {
    Par_begin(r, IO);
    Par_end(r, IO);
  }
  return r;
}

static tsanom_spmd_row row_of(const char *process) {
  tsanom_spmd_row row = {.struct_size = sizeof row};
  row.process = process;
  row.region = names;
  return row;
}

static tsanom_status write_process(int process, double part) {
  char name[32];
  tsanom_spmd_recorder *r = record(process, part);
  snprintf(name, sizeof name, "rank-%d", process);
  tsanom_spmd_row row = row_of(name);
  tsanom_status status = tsanom_spmd_recorder_write(r, "run", &row, NULL);
  tsanom_spmd_recorder_destroy(r);
  return status;
}

/* Real processes, as the ranks of a program are. */
static void write_run(int processes, double part_of_odd) {
  for (int p = 0; p < processes; p++) {
    pid_t child = fork();
    if (child == 0) {
      _exit(write_process(p, p % 2 ? part_of_odd : 1) == TSANOM_OK ? 0 : 1);
    }
    int ended;
    cr_assert(child > 0 && waitpid(child, &ended, 0) == child);
    cr_assert(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
  }
}

Test(command_similar_run, ranks_write_one_run) {
  write_run(12, 3);
  json_t *r = tsanom_json("similar run --json --tolerance 0.3");
  const json_t *clusters = json_object_get(r, "clusters");
  cr_assert_eq(json_array_size(clusters), 2);
  cr_assert_eq(json_array_size(json_array_get(clusters, 1)), 6);
  /* In the order of their numbers, so that 10 comes after 2. */
  cr_assert_str_eq(text_at(json_array_get(clusters, 0), 5), "rank-10");
  cr_assert_str_eq(text_at(json_object_get(r, "cccr"), 0), names[TRIANGLE]);
  cr_assert_eq(size_of(r, "cccr"), 1);
  const json_t *regions = json_object_get(r, "regions");
  cr_assert_eq(json_array_size(regions), 3, "a region that none entered is not there");
  cr_assert_str_eq(
      json_string_value(json_object_get(json_array_get(regions, 1), "parent")), "step");
  /* rank 0 alone did I/O: no time elsewhere. */
  cr_assert_eq(number_of(json_array_get(regions, 2), "min"), 0);
  cr_assert_eq(number_of(json_array_get(regions, 2), "max_process"), 0);
  cr_assert_gt(number_of(json_object_get(r, "balance"), "scheduling"), 0);
  cr_assert_str_eq(
      text_at(json_object_get(json_object_get(r, "decision_table"), "attributes"), 0),
      "calls");
  cr_assert_eq(tsanom("similar --check run --tolerance 0.3 --plot p.svg").status, 1);
  check_svg("p.svg");
  CHECK_REJECTED(tsanom("similar --program run"), 3, "run", "--program", "step", "io");
}

Test(command_similar_run, alike_processes_are_one_kind) {
  write_run(3, 1);
  cr_assert_eq(tsanom("similar --check run --tolerance 0.5").status, 0);
  CHECK_REJECTED(tsanom("summary run"), 3, "run: the run has no heartbeats");
}

/* One process that did not measure a metric, another that did not have it: missing, not
 * zero. */
Test(command_similar_run, metrics_that_were_not_measured_are_missing) {
  static const char *const metric[] = {"misses"};
  static const double value[REGIONS] = {NAN, NAN, NAN, NAN};
  tsanom_spmd_recorder *r = record(1, 1);
  tsanom_spmd_row row = row_of("one");
  row.metrics = 1;
  row.metric = metric;
  row.value = value;
  cr_assert(tsanom_spmd_recorder_write(r, "run", &row, NULL) == TSANOM_OK);
  tsanom_spmd_recorder_destroy(r);
  cr_assert(write_process(2, 1) == TSANOM_OK);
  json_t *all = tsanom_json("similar run --json --tolerance 1");
  const json_t *rows = json_object_get(json_object_get(all, "decision_table"), "rows");
  for (size_t i = 0; i < 2; i++) {
    cr_assert(json_is_null(json_array_get(json_array_get(rows, i), 1)));
    cr_assert(json_is_integer(json_array_get(json_array_get(rows, i), 0)));
  }
}

Test(command_similar_run, what_does_not_fit_together_is_rejected) {
  static const char row[] = "\"time\": [[1, 1]], \"processes\": [\"%s\"]}";
  char text[256];
  CHECK_REJECTED(tsanom("similar ."), 3, "places.tsv", "recorder_write");
  mkdir("run", 0777);
  mkdir("run/spmd", 0777);
  CHECK_REJECTED(tsanom("similar run"), 3, "run/spmd", "no process");
  write_text("run/spmd/a.json",
             "{\"regions\": [], \"time\": [[]], \"processes\": [\"a\"]}");
  CHECK_REJECTED(tsanom("similar run"), 3, "no process entered a region");
  write_text("run/spmd/a.json", "{\"regions\": [{\"name\": \"x\"}], \"time\": [[1]]}");
  CHECK_REJECTED(tsanom("similar run"), 3, "a.json", "processes", "names");
  snprintf(text, sizeof text,
           "{\"regions\": [{\"name\": \"x\"}, {\"name\": \"y\", \"parent\": \"x\"}], %s",
           "\"time\": [[1, 1]], \"processes\": [\"a\"]}");
  write_text("run/spmd/a.json", text);
  snprintf(text, sizeof text, row, "b");
  char other[512];
  snprintf(other, sizeof other,
           "{\"regions\": [{\"name\": \"y\"}, {\"name\": \"x\"}], %s", text);
  write_text("run/spmd/b.json", other);
  CHECK_REJECTED(tsanom("similar run"), 3, "b.json", "region y", "no region", "in x in",
                 "a.json");
  snprintf(text, sizeof text, row, "a");
  snprintf(other, sizeof other,
           "{\"regions\": [{\"name\": \"x\"}, {\"name\": \"z\"}], %s", text);
  write_text("run/spmd/b.json", other);
  CHECK_REJECTED(tsanom("similar run"), 3, "b.json", "process a", "another file");
}

/* Numbers are read as they were, in a locale that writes 0,1 too. */
Test(command_similar_run, the_programs_own_metrics) {
  static const char *const metric[] = {"steps", "bytes"};
  static const double value[2 * REGIONS] = {0.1, -1e-300,          1e22, 4,
                                            NAN, 1234567890123456, 7,    8};
  (void)(setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "fr_FR.UTF-8"));
  tsanom_spmd_recorder *r = record(0, 0);
  tsanom_spmd_row row = row_of("one");
  row.metrics = 2;
  row.metric = metric;
  row.value = value;
  cr_assert(tsanom_spmd_recorder_write(r, "run", &row, NULL) == TSANOM_OK);
  tsanom_spmd_recorder_destroy(r);
  setlocale(LC_ALL, "C");
  json_t *file = json_load_file("run/spmd/one.json", 0, NULL);
  const json_t *metrics = json_object_get(file, "metrics");
  cr_assert_eq(json_array_size(metrics), 3);
  for (size_t m = 0; m < 2; m++) {
    const json_t *own = json_array_get(metrics, m + 1);
    cr_assert_str_eq(text_of(own, "name"), metric[m]);
    const json_t *values = item_of(own, "value", 0);
    for (size_t k = 0; k < NEVER; k++) {
      const json_t *number = json_array_get(values, k);
      double expected = value[m * REGIONS + k];
      if (isnan(expected)) {
        cr_assert(json_is_null(number));
      } else {
        cr_assert_eq(json_number_value(number), expected);
      }
    }
  }
  json_decref(file);
  cr_assert_eq(tsanom("similar run").status, 0);
}

static void check_write(const tsanom_spmd_recorder *r, const char *folder,
                        const tsanom_spmd_row *row, tsanom_status expected) {
  tsanom_status status = tsanom_spmd_recorder_write(r, folder, row, NULL);
  cr_assert_eq(status, expected, "%d, not %d", status, expected);
}

Test(command_similar_run, the_writer_rejects_what_it_cannot_write) {
  static const char *const bad[] = {"", ".", "../up", "a/b", "a b", ".hidden"};
  tsanom_spmd_recorder *r = record(1, 0);
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
    tsanom_spmd_row row = row_of(bad[b]);
    check_write(r, "run", &row, TSANOM_E_VALUE);
  }
  tsanom_spmd_row good = row_of("a");
  check_write(r, "no/run", &good, TSANOM_E_IO);
  cr_assert_eq(count_files(), 0);
  Par_begin(r, STEP);
  check_write(r, "run", &good, TSANOM_PARTIAL);
  write_text("file", "");
  check_write(r, "file", &good, TSANOM_E_IO);
  tsanom_spmd_recorder_destroy(r);
}

/* A run of two threads whose processor times in visits of two regions scatter: in the second one that
 * of a thread may be longer. */
static void write_visits(const char *path, uint64_t *seed) {
  grown_run run;
  double most[] = {random_unit(seed), 4 * random_unit(seed)},
         longer = .4 * random_unit(seed);
  cr_assert(mkdir(path, 0777) == 0);
  grown_create_regions(&run, path,
                       "tsanom places 3\n0\trf\t10\t-\t/a\n1\trf\t20\t-\t/a\n");
  grown_add_stream(&run, 1);
  size_t visits = random_between(seed, 10, 60);
  for (uint32_t i = 0; i < 4 * visits; i++) {
    uint32_t thread = i % 2, place = i / 2 % 2;
    double work =
        (1 + most[place] * random_unit(seed)) * (thread == place ? 1 + longer : 1);
    uint32_t tag = place << TSN_REGIONS_KIND_BITS | 2u << 16;
    grown_append(&run, thread, 1000, TSN_REGIONS_BEGIN | tag);
    grown_append(&run, thread, 1000, TSN_REGIONS_CPU | (uint32_t)(1e6 * work) << 8);
    grown_append(&run, thread, 1000, TSN_REGIONS_END | tag);
  }
  grown_finish(&run);
}

/* Kinds that no thread is named for differ by noise, as in a summary. */
Test(command_similar_run, threads_that_are_not_named_are_not_accused) {
  uint64_t seed = 5;
  int named = 0, noise = 0;
  for (int trial = 0; trial < 60; trial++) {
    shell_ok("rm -rf run");
    write_visits("run", &seed);
    json_t *r = tsanom_json("similar run --json");
    bool is_named =
        !json_is_null(json_object_get(json_object_get(r, "verdict"), "sentence"));
    if (size_of(r, "clusters") < 2) continue;
    outcome o = tsanom("similar run");
    bool is_noise =
        strstr(o.out, "do not differ by more than the noise of this run") != NULL;
    cr_assert(is_named != is_noise, "%s", o.out);
    named += is_named;
    noise += is_noise;
  }
  cr_assert(named >= 5 && noise >= 5, "%d, %d", named, noise);
}
