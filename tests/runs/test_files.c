/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs that are files: heartbeats as CSV, region times as JSON, and many of these. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>
#include <tsanom/spmd.h>
#include <unistd.h>

#include "core/replace_file.h"
#include "runs/grown_run.h"
#include "runs/memory.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/exec.h"
#include "support/run_directory.h"
#include "support/skip.h"

enum { PATH = DIRECTORY_CAPACITY + 64 };

TestSuite(runs_files, .init = make_directory, .fini = remove_directory);

static const char *write_text(const char *name, const char *text) {
  const char *path = in_directory("%s", name);
  file_write(path, text, strlen(text));
  return path;
}

static tsanom_status open_text(const char *name, const char *text, tsanom_fault *fault,
                               tsanom_runs **run) {
  tsanom_exec exec = exec_reporting(fault);
  *run = NULL;
  return tsanom_runs_open(write_text(name, text), NULL, &exec, run);
}

Test(runs_files, beats_of_a_csv_file) {
  tsanom_fault fault;
  tsanom_runs *run;
  const tsanom_hsa_run *beats;
  static const char text[] =
      "\xef\xbb\xbftime, \"note\" ,thread\r\n1,\"a,b\",0\r\n\n# comment\n5,b,2\n2,,0\n";
  CHECK_STATUS(open_text("r.csv", text, &fault, &run), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
  cr_assert(beats->thread_count == 3 && beats->start == 1);
  cr_assert(beats->threads[0].beats == 2 && beats->threads[1].beats == 0);
  cr_assert(beats->threads[0].time[1] == 2 && beats->threads[2].time[0] == 5);
  tsanom_runs_info info = describe(run);
  cr_assert(info.parts == TSANOM_RUNS_BEATS && info.beats == 3 && info.last == 4);
  cr_assert(info.beat_streams == 3 && describe_stream(run, 2).count == 1);
  uint64_t added = 0;
  (void)write_text("r.csv", "thread\ttime\n0\t1\n0\t2\n0\t3\n7\t4\n");
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, &added), TSANOM_OK);
  cr_assert(added == 1 && describe(run).beat_streams == 8);
  tsanom_runs_stream stream;
  CHECK_STATUS(tsanom_runs_stream_at(run, TSANOM_RUNS_BEATS, 7, &stream), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_stream_at(run, TSANOM_RUNS_BEATS, 8, &stream), TSANOM_E_INDEX);
  tsanom_runs_destroy(run);
}

typedef struct {
  const char *text;
  uint64_t line, column;
  const char *sentence;
} bad_file;

/* The program may have a locale with a decimal comma. */
Test(runs_files, beats_of_a_csv_file_have_a_decimal_point) {
  tsanom_runs *run;
  tsanom_fault fault;
  char line[2 * PATH];
  (void)snprintf(line, sizeof line,
                 "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1",
                 directory);
  if (system(line) != 0 || setenv("LOCPATH", directory, 1) != 0 ||
      !setlocale(LC_ALL, "de_DE.UTF-8")) {
    SKIP_TEST("needs the Debian package locales");
  }
  cr_assert(*localeconv()->decimal_point == ',');
  CHECK_STATUS(open_text("r.csv", "thread,time\n0,1.5\n0,2.25\n0,3.5e0\n", &fault, &run),
               TSANOM_OK);
  const tsanom_hsa_run *beats = NULL;
  cr_assert(tsanom_runs_hsa(run, NULL, &beats) == TSANOM_OK);
  cr_assert(beats->threads[0].beats == 3 && beats->threads[0].time[1] == 2.25);
  tsanom_runs_destroy(run);
}

static const bad_file bad_csv[] = {
    {"", 0, 0, "header"},
    {"thread,time\n", 0, 0, "no numbers"},
    {"thread\n0\n", 1, 0, "\"time\" is missing"},
    {"thread,time,time\n0\n", 1, 3, "two columns"},
    {"thread,time\n0,1\n-1,2\n", 3, 1, "\"-1\" is not a thread number"},
    {"thread,time\n0,1\n0.5,2\n", 3, 1, "whole number"},
    {"thread,time\n0,1\n1e9,2\n", 3, 1, "65535"},
    {"thread,time\n0,nan\n", 2, 2, "not a finite"},
    {"thread,time\n0,1e999\n", 2, 2, "too large"},
    {"thread,time\n0,0x1\n", 2, 2, "not a finite"},
    {"thread,time\n0\n", 2, 0, "fewer fields"},
    {"thread,time\n0,3\n1,2\n0,2\n", 4, 2, "must not decrease"},
};

/* A number that does not fit is none: the part that fits is another one. */
Test(runs_files, long_fields_of_a_csv_file) {
  for (int zeros = 1; zeros < 400; zeros++) {
    tsanom_fault fault;
    tsanom_runs *run = NULL;
    const tsanom_hsa_run *beats = NULL;
    char text[1024];
    (void)snprintf(text, sizeof text, "thread,time\n0,1\n0,2%0*de-%d%300s\n", zeros, 0,
                   zeros, "");
    tsanom_status status = open_text("r.csv", text, &fault, &run);
    if (status == TSANOM_OK) {
      CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
      cr_assert(beats->threads[0].time[1] == 2, "%d: %g", zeros,
                beats->threads[0].time[1]);
    } else {
      cr_assert(status == TSANOM_E_FORMAT && fault.line == 3 && fault.column == 2);
      cr_assert(strstr(fault.text, "000...\" is not a finite"), "%s", fault.text);
    }
    cr_assert((status == TSANOM_OK) == (zeros < 90) || (zeros >= 80 && zeros < 100));
    tsanom_runs_destroy(run);
  }
}

/* Lines that are blank and comments are skipped, also behind a byte-order mark. */
Test(runs_files, lines_of_a_csv_file_that_are_skipped) {
  static const char *const texts[] = {
      "\xef\xbb\xbfthread,time\n0,1\n",
      "\xef\xbb\xbf# from a sheet\nthread,time\n0,1\n",
      "\xef\xbb\xbf\nthread,time\n  \n0,1\n\t\n \t\r\n#0,2\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tsanom_fault fault;
    tsanom_runs *run = NULL;
    const tsanom_hsa_run *beats = NULL;
    CHECK_STATUS(open_text("r.csv", texts[i], &fault, &run), TSANOM_OK);
    CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
    cr_assert(beats->thread_count == 1 && beats->threads[0].beats == 1);
    tsanom_runs_destroy(run);
  }
}

Test(runs_files, bad_lines_of_a_csv_file_are_named) {
  for (size_t i = 0; i < sizeof bad_csv / sizeof *bad_csv; i++) {
    const bad_file *bad = &bad_csv[i];
    tsanom_fault fault;
    tsanom_runs *run;
    CHECK_STATUS(open_text("r.csv", bad->text, &fault, &run), TSANOM_E_FORMAT);
    cr_assert(!run && strstr(fault.file, "r.csv"));
    cr_assert(fault.line == bad->line && fault.column == bad->column, "%zu: %s", i,
              fault.text);
    cr_assert(strstr(fault.text, bad->sentence), "%s", fault.text);
  }
}

Test(runs_files, region_times_of_a_json_file) {
  static const char text[] =
      "{\"regions\": [{\"name\": \"a\"}, {\"name\": \"b\", \"parent\": \"a\"}],"
      " \"time\": [[2, 1], [4, 3]], \"processes\": [\"p\", \"q\"], \"elapsed\": 5,"
      " \"metrics\": [{\"name\": \"m\", \"value\": [[1, null], [2, 3]]}]}";
  tsanom_fault fault;
  tsanom_runs *run;
  tsanom_runs_spmd_data spmd;
  CHECK_STATUS(open_text("r.json", text, &fault, &run), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_spmd(run, NULL, &spmd), TSANOM_OK);
  cr_assert(spmd.data->regions == 2 && spmd.data->processes == 2);
  cr_assert(spmd.data->metrics == 1 && spmd.data->elapsed == 5);
  cr_assert(spmd.data->parent[0] == -1 && spmd.data->parent[1] == 0);
  cr_assert(spmd.data->time[3] == 3 && isnan(spmd.data->metric[1]));
  cr_assert(strcmp(spmd.region[1], "b") == 0 && strcmp(spmd.process[1], "q") == 0);
  cr_assert(strcmp(spmd.metric[0], "m") == 0);
  tsanom_runs_destroy(run);
}

static const char *part_of(char *text, size_t size, size_t i, size_t names) {
  size_t used = (size_t)snprintf(text, size, "{\"regions\": [");
  for (size_t k = 0; k < names; k++) {
    used += (size_t)snprintf(text + used, size - used, "%s{\"name\": \"region %zu\"}",
                             k ? "," : "", k);
  }
  used += (size_t)snprintf(text + used, size - used, "], \"time\": [[");
  for (size_t k = 0; k < names; k++) {
    used += (size_t)snprintf(text + used, size - used, "%s%zu", k ? "," : "", i);
  }
  (void)snprintf(text + used, size - used, "]], \"processes\": [\"p%zu\"]}", i);
  return text;
}

Test(runs_files, region_files_of_processes_are_merged) {
  enum { PROCESSES = 300, REGIONS = 40, SIZE = 1 << 14 };
  char *text = malloc(SIZE);
  cr_assert(mkdir(in_directory("spmd"), 0777) == 0);
  for (size_t i = 0; i < PROCESSES; i++) {
    char name[64];
    (void)snprintf(name, sizeof name, "spmd/rank-%zu.json", i);
    (void)write_text(name, part_of(text, SIZE, i, 1 + i % REGIONS));
  }
  free(text);
  tsanom_runs *run = open_run(directory);
  tsanom_runs_spmd_data spmd;
  CHECK_STATUS(tsanom_runs_spmd(run, NULL, &spmd), TSANOM_OK);
  cr_assert(spmd.data->processes == PROCESSES && spmd.data->regions == REGIONS);
  for (size_t i = 0; i < PROCESSES; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "p%zu", i);
    cr_assert(strcmp(spmd.process[i], name) == 0, "rank-2 comes before rank-10");
    for (size_t k = 0; k < REGIONS; k++) {
      double expected = k <= i % REGIONS ? (double)i : 0;
      cr_assert(spmd.data->time[i * REGIONS + k] == expected);
    }
  }
  tsanom_runs_destroy(run);
}

/* A search compares a name with those in the used slots from its own on: 60,000 names were
 * compared pairwise, which took 25 s. */
Test(runs_files, a_name_is_found_by_few_comparisons) {
  enum { NAMES = 60000, COMPARED_MOST = 200 };
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  tsn_pool pool = {.exec = &exec};
  tsn_names names;
  cr_assert(tsn_names_create(&names, &pool, NAMES));
  for (size_t i = 0; i < NAMES; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "process %zu", i);
    cr_assert(tsn_names_number(&names, name) == i);
  }
  size_t used = 0, most = 0;
  for (size_t i = 0; i < 2 * names.capacity; i++) {
    used = names.slot[i] ? used + 1 : 0;
    if (used > most) most = used;
  }
  cr_assert(most <= COMPARED_MOST, "%zu", most);
  tsn_pool_free(&pool);
}

/* In half-full tables of each size some names probe past the last slot. */
Test(runs_files, names_are_found_behind_the_end_of_their_table) {
  enum { SIZE = 1 << 12 };
  for (size_t names = 1; names <= 60; names++) {
    for (size_t variant = 0; variant < 10; variant++) {
      char text[SIZE];
      size_t used = (size_t)snprintf(text, SIZE, "{\"regions\": [{\"name\": \"a\"}]");
      for (size_t i = 0; i < names; i++) {
        used += (size_t)snprintf(text + used, SIZE - used, "%s\"%zu of %zu\"",
                                 i ? "," : ", \"processes\": [", i, variant);
      }
      for (size_t i = 0; i < names; i++) {
        used +=
            (size_t)snprintf(text + used, SIZE - used, i ? ",[1]" : "], \"time\": [[1]");
      }
      (void)snprintf(text + used, SIZE - used, "]}");
      test_allocator allocator = {0};
      tsanom_exec exec = test_exec(&allocator);
      tsanom_runs *run = NULL;
      tsanom_runs_spmd_data spmd;
      CHECK_STATUS(tsanom_runs_open(write_text("r.json", text), NULL, &exec, &run),
                   TSANOM_OK);
      CHECK_STATUS(tsanom_runs_spmd(run, NULL, &spmd), TSANOM_OK);
      cr_assert(spmd.data->processes == names);
      tsanom_runs_destroy(run);
    }
  }
}

/* Metrics with empty rows promise more numbers than the file has. */
Test(runs_files, memory_is_bounded_by_the_file) {
  static const char text[] =
      "{\"regions\": [{\"name\": \"a\"}], \"time\": [[1], [2]],"
      " \"metrics\": [{\"name\": \"m\", \"value\": [[1], [2]]},"
      "               {\"name\": \"n\", \"value\": [[], []]}]}";
  tsanom_fault fault;
  tsanom_runs *run;
  CHECK_STATUS(open_text("r.json", text, &fault, &run), TSANOM_E_FORMAT);
  cr_assert(strstr(fault.text, "metrics[1].value[0]: 1 numbers"), "%s", fault.text);
}

static tsanom_status open_csv(const tsanom_exec *exec, tsanom_runs **run) {
  return tsanom_runs_open(write_text("r.csv", "thread,time\n0,1\n1,2\n0,3\n"), NULL, exec,
                          run);
}

static tsanom_status open_json(const tsanom_exec *exec, tsanom_runs **run) {
  static const char text[] =
      "{\"regions\": [{\"name\": \"a\"}], \"time\": [[1]], \"processes\": [\"p\"],"
      " \"metrics\": [{\"name\": \"m\", \"value\": [[1]]}]}";
  return tsanom_runs_open(write_text("r.json", text), NULL, exec, run);
}

Test(runs_files, failing_allocations_leak_nothing) {
  check_allocations(open_csv);
  check_allocations(open_json);
}

/* With the name of a file a path of 4095 bytes is too long; without the directory, the
 * name would be that of another run. */
Test(runs_files, the_directory_of_a_path_that_is_too_long_is_not_dropped) {
  grown_run grown;
  grown_create(&grown, directory);
  grown_finish(&grown);
  cr_assert(chdir(directory) == 0);
  tsanom_runs_destroy(open_run("."));
  for (size_t length = 4060; length <= 4095; length++) {
    char path[4096];
    for (size_t i = 0; i < length; i++) path[i] = i % 2 ? '/' : '.';
    path[length] = '\0';
    if (length % 2 == 0) path[length - 1] = '/';
    tsanom_runs *run = NULL;
    tsanom_status status = tsanom_runs_open(path, NULL, NULL, &run);
    bool fits = length + 1 + sizeof "heartbeat.00000" <= 4096;
    cr_assert(fits ? status == TSANOM_OK : status == TSANOM_E_IO, "%zu: %d", length,
              status);
    tsanom_runs_destroy(run);
  }
}

static bool replaces(const char *path, const void *bytes, size_t count) {
  int error;
  return tsn_replace_file(path, bytes, count, &error) == NULL;
}

/* The limit is lifted at once: a coverage build writes its counters at the end. */
static bool write_limited(const char *path, const void *bytes, size_t count,
                          rlim_t most) {
  struct rlimit usual;
  cr_assert(getrlimit(RLIMIT_FSIZE, &usual) == 0);
  const struct rlimit limited = {most, usual.rlim_max};
  cr_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR &&
            setrlimit(RLIMIT_FSIZE, &limited) == 0);
  bool is_written = replaces(path, bytes, count);
  cr_assert(setrlimit(RLIMIT_FSIZE, &usual) == 0);
  return is_written;
}

Test(runs_files, a_file_that_cannot_be_written_whole_leaves_none) {
  enum { MOST = 4096 };
  static const char bytes[2 * MOST];
  const char *path = in_directory("file");
  cr_assert(!write_limited(path, bytes, sizeof bytes, MOST));
  DIR *folder = opendir(directory);
  for (struct dirent *item; (item = readdir(folder)) != NULL;) {
    cr_assert(strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0,
              "%s is left", item->d_name);
  }
  closedir(folder);
  cr_assert(write_limited(path, bytes, MOST, MOST));
}

/* As in /tmp: everybody may create names, and delete only their own. */
Test(runs_files, links_of_other_users_are_not_followed) {
  enum { OTHER = 12345 };
  const char *folder = in_directory("all"), *target = in_directory("target"),
             *name = in_directory("all/name");
  cr_assert(mkdir(folder, 0777) == 0 && chmod(folder, 01777) == 0);
  file_write(target, "old", 3);
  cr_assert(symlink(target, name) == 0);
  cr_assert(replaces(name, "new", 3));
  struct stat about;
  cr_assert(lstat(name, &about) == 0 && S_ISLNK(about.st_mode));
  char text[4] = "";
  FILE *file = fopen(target, "re");
  cr_assert(file && fread(text, 1, 3, file) == 3 && strcmp(text, "new") == 0);
  (void)fclose(file);
  if (lchown(name, OTHER, OTHER) != 0) return; /* only root may give it away */
  cr_assert(!replaces(name, "bad", 3));
  cr_assert(lchown(folder, OTHER, OTHER) == 0);
  cr_assert(replaces(name, "own", 3));
  cr_assert(lchown(folder, 0, 0) == 0 && chmod(folder, 0777) == 0);
  cr_assert(replaces(name, "one", 3));
  cr_assert(chmod(folder, 01777) == 0 && unlink(name) == 0 && mkfifo(name, 0666) == 0 &&
            lchown(name, OTHER, OTHER) == 0);
  cr_assert(!replaces(name, "bad", 3));
  cr_assert(unlink(name) == 0 && symlink("nowhere", name) == 0 &&
            lchown(name, OTHER, OTHER) == 0);
  cr_assert(!replaces(name, "bad", 3));
}

static void ignore_alarm(int number) {
  (void)number;
}

/* Nobody reads from it, but a child that ends a call which no signal ends. */
Test(runs_files, a_pipe_without_a_reader_can_be_left) {
  const char *path = in_directory("pipe");
  struct sigaction noted = {.sa_handler = ignore_alarm};
  struct itimerval often = {{.tv_usec = 20000}, {.tv_usec = 20000}}, never = {{0}, {0}};
  int error = 0;
  cr_assert(mkfifo(path, 0666) == 0 && sigaction(SIGALRM, &noted, NULL) == 0);
  pid_t reader = fork();
  if (reader == 0) {
    (void)sleep(10);
    _exit(open(path, O_RDONLY | O_CLOEXEC) < 0);
  }
  cr_assert(setitimer(ITIMER_REAL, &often, NULL) == 0);
  cr_assert(tsn_replace_file(path, "abc", 3, &error) && error == EINTR);
  cr_assert(setitimer(ITIMER_REAL, &never, NULL) == 0 && kill(reader, SIGKILL) == 0);
}

/* /dev/stdout is a link to a name that is no path. */
Test(runs_files, a_pipe_is_written_by_its_link) {
  int ends[2];
  char name[64], text[4] = "";
  cr_assert(pipe(ends) == 0);
  (void)snprintf(name, sizeof name, "/proc/self/fd/%d", ends[1]);
  cr_assert(replaces(name, "abc", 3));
  cr_assert(read(ends[0], text, 3) == 3 && strcmp(text, "abc") == 0);
  (void)close(ends[0]);
  (void)close(ends[1]);
}

Test(runs_files, parts_that_are_not_there_are_reported) {
  tsanom_fault fault;
  tsanom_runs *run = NULL;
  tsanom_runs_options options;
  tsanom_exec exec = exec_reporting(&fault);
  tsanom_runs_options_init(&options, sizeof options);
  const char *path = write_text("r.csv", "thread,time\n0,1\n");
  options.parts = TSANOM_RUNS_REGIONS;
  CHECK_STATUS(tsanom_runs_open(path, &options, &exec, &run), TSANOM_E_IO);
  cr_assert(strstr(fault.file, "r.csv/regions/places.tsv"));
  options.parts = TSANOM_RUNS_SPMD;
  CHECK_STATUS(tsanom_runs_open(path, &options, &exec, &run), TSANOM_E_FORMAT);
  cr_assert(strstr(fault.text, "not JSON"));
  options.parts = 0;
  CHECK_STATUS(tsanom_runs_open(directory, &options, &exec, &run), TSANOM_E_IO);
  cr_assert(strstr(fault.text, "not a run"));
  CHECK_STATUS(tsanom_runs_open(path, &options, &exec, &run), TSANOM_OK);
  tsanom_runs_spmd_data spmd;
  CHECK_STATUS(tsanom_runs_spmd(run, &exec, &spmd), TSANOM_E_STATE);
  tsanom_runs_place place;
  const char *name = NULL;
  CHECK_STATUS(tsanom_runs_place_at(run, 0, &place), TSANOM_E_INDEX);
  CHECK_STATUS(tsanom_runs_place_name(run, 0, &exec, &name), TSANOM_E_INDEX);
  cr_assert(strcmp(fault.argument, "index") == 0);
  tsanom_runs_destroy(run);
}
