/* SPDX-License-Identifier: BSD-3-Clause */
/* Salvage of whole files, and of runs that grow. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>
#include <tsanom/spmd.h>
#include <unistd.h>

#include "runs/grown_run.h"
#include "support/check.h"
#include "support/random.h"
#include "support/skip.h"

enum { BEATS = 60 };

TestSuite(runs_salvage_files, .init = make_directory, .fini = remove_directory);

static grown_run make_run(void) {
  grown_run grown;
  grown_create(&grown, directory);
  grown_add_stream(&grown, 1);
  grown_add_stream(&grown, 5);
  for (uint32_t i = 0; i < 3 * BEATS; i++) grown_append(&grown, i % 3, 100, i);
  return grown;
}

static tsanom_status open_salvaging(const tsanom_exec *exec, tsanom_runs **run) {
  tsanom_runs_options options;
  CHECK_STATUS(tsanom_runs_options_init(&options, sizeof options), TSANOM_OK);
  options.salvage = 1;
  return tsanom_runs_open(directory, &options, exec, run);
}

static tsanom_runs *salvage(void) {
  tsanom_runs *run = NULL;
  CHECK_STATUS(open_salvaging(NULL, &run), TSANOM_OK);
  return run;
}

/* The file of the first damage, without the run's directory; "": there is none. */
static const char *damaged_file(const tsanom_runs *run) {
  static tsanom_fault damage;
  damage = (tsanom_fault){.struct_size = sizeof damage};
  CHECK_STATUS(tsanom_runs_first_damage(run, &damage), TSANOM_OK);
  cr_assert((damage.status == TSANOM_OK) == (damage.file[0] == '\0'));
  cr_assert((damage.status == TSANOM_OK) == (damage.text[0] == '\0'));
  return damage.file[0] ? damage.file + strlen(directory) + 1 : "";
}

static void check_rejected(void) {
  tsanom_runs *run = NULL;
  tsanom_status status = tsanom_runs_open(directory, NULL, NULL, &run);
  cr_assert(status == TSANOM_E_FORMAT || status == TSANOM_E_IO);
}

static void flip_byte(const char *name, off_t at) {
  unsigned char byte;
  const char *path = in_directory("%s", name);
  int file = open(path, O_RDWR | O_CLOEXEC);
  cr_assert(file >= 0 && pread(file, &byte, 1, at) == 1);
  byte ^= 0xFF;
  cr_assert(pwrite(file, &byte, 1, at) == 1 && close(file) == 0);
}

Test(runs_salvage_files, an_intact_run_has_no_damage) {
  grown_run grown = make_run();
  for (int finished = 0; finished < 2; finished++) {
    tsanom_runs *run = salvage();
    cr_assert(describe(run).beats == 3 * (uint64_t)BEATS && !*damaged_file(run));
    tsanom_runs_destroy(run);
    grown_finish(&grown);
  }
}

/* Streams that are missing, foreign, or not files are left out; others keep their place.
 */
Test(runs_salvage_files, streams_that_cannot_be_read_are_left_out) {
  const char *path, *other;
  grown_run grown = make_run();
  grown_finish(&grown);
  path = in_directory("heartbeat.00001");
  other = in_directory("heartbeat.00002");
  for (int kind = 0; kind < 4; kind++) {
    size_t bytes;
    unsigned char *intact = file_read(path, &bytes);
    if (kind == 1) file_write(path, "thread,time\n", 12);
    if (kind != 1) cr_assert(unlink(path) == 0);
    if (kind == 2) cr_assert(mkfifo(path, 0600) == 0);
    if (kind == 3) cr_assert(link(other, path) == 0);
    check_rejected();
    tsanom_runs *run = salvage();
    cr_assert(strcmp(damaged_file(run), "heartbeat.00001") == 0);
    cr_assert(describe(run).beats == 2 * (uint64_t)BEATS && describe(run).skipped == 0);
    cr_assert(describe_stream(run, 2).thread == 5 && describe_stream(run, 1).count == 0);
    const tsanom_hsa_run *beats;
    CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
    cr_assert(beats->thread_count == 6 && beats->threads[5].beats == BEATS);
    tsanom_runs_destroy(run);
    cr_assert(kind == 1 || kind == 0 || unlink(path) == 0);
    file_write(path, intact, bytes);
    free(intact);
  }
}

/* A stream that is cut, or that its program did not complete, keeps what it has. */
Test(runs_salvage_files, whole_records_of_a_cut_stream_are_kept) {
  grown_run grown = make_run();
  tsanom_runs *run;
  const char *path = in_directory("heartbeat.00001");
  for (int finished = 0; finished < 2; finished++) {
    size_t bytes, kept = 10;
    unsigned char *intact = file_read(path, &bytes);
    cr_assert(truncate(path, (off_t)(TSN_STREAM_HEADER + kept * TSN_RECORD + 5)) == 0);
    check_rejected();
    run = salvage();
    cr_assert(describe_stream(run, 1).count == kept);
    cr_assert(describe(run).skipped == (finished ? BEATS - kept : 0));
    tsanom_runs_destroy(run);
    file_write(path, intact, bytes);
    free(intact);
    if (!finished) grown_finish(&grown);
  }
  grown.stream[1].state = TSN_RUNNING;
  grown.stream[1].count = 0;
  grown.stream[1].checksum =
      tsn_checksum(&grown.stream[1], offsetof(tsn_stream_header, checksum));
  int file = open(path, O_WRONLY | O_CLOEXEC);
  cr_assert(pwrite(file, &grown.stream[1], sizeof *grown.stream, 0) > 0);
  cr_assert(close(file) == 0);
  check_rejected();
  run = salvage();
  cr_assert(describe_stream(run, 1).count == BEATS);
  tsanom_runs_destroy(run);
}

static void check_same(const tsanom_runs *a, const tsanom_runs *b) {
  for (uint32_t i = 0; i < 3; i++) {
    tsanom_runs_stream s = describe_stream(a, i), t = describe_stream(b, i);
    cr_assert(s.count == t.count && s.thread == t.thread);
    for (size_t k = 0; k < s.count; k++) {
      cr_assert(s.time[k] == t.time[k] && s.tag[k] == t.tag[k]);
    }
  }
}

/* Records that are damaged before they are read, and repaired later: as in a run opened
 * anew. */
Test(runs_salvage_files, a_damaged_run_is_followed) {
  uint64_t seed = 3, damaged[3] = {0};
  grown_run grown = make_run();
  tsanom_runs *run = salvage();
  char name[TSN_FILE_NAME];
  for (int step = 0; step < 200; step++) {
    uint64_t before = describe(run).beats, added = 0;
    uint32_t stream = (uint32_t)random_between(&seed, 0, 2);
    for (uint64_t n = random_between(&seed, 1, 40); n > 0; n--) {
      grown_append(&grown, stream, 100, (uint32_t)n);
    }
    (void)snprintf(name, sizeof name, TSN_STREAM_FILE, stream);
    if (!damaged[stream] && random_between(&seed, 0, 9) == 0) {
      damaged[stream] = TSN_STREAM_HEADER + (grown.records[stream] - 1) * TSN_RECORD + 3;
      flip_byte(name, (off_t)damaged[stream]);
    } else if (damaged[stream] && random_between(&seed, 0, 4) == 0) {
      flip_byte(name, (off_t)damaged[stream]);
      damaged[stream] = 0;
    }
    CHECK_STATUS(tsanom_runs_refresh(run, NULL, &added), TSANOM_OK);
    tsanom_runs *fresh = salvage();
    check_same(run, fresh);
    cr_assert(strcmp(damaged_file(run), damaged_file(fresh)) == 0);
    cr_assert(!*damaged_file(run) == !(damaged[0] || damaged[1] || damaged[2]));
    cr_assert(describe(run).beats == before + added);
    tsanom_runs_destroy(fresh);
  }
  tsanom_runs_destroy(run);
}

/* What was verified once stays while the program runs; at its end all is read again. */
Test(runs_salvage_files, verified_records_stay_until_the_run_finishes) {
  grown_run grown = make_run();
  tsanom_runs *run = salvage();
  uint64_t added;
  flip_byte("heartbeat.00001", 60);
  grown_append(&grown, 1, 100, 0);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, &added), TSANOM_OK);
  cr_assert(describe(run).beats == 3 * (uint64_t)BEATS && added == 0);
  cr_assert(strcmp(damaged_file(run), "heartbeat.00001") == 0);
  grown_finish(&grown);
  flip_byte("heartbeat.00001", 60);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, &added), TSANOM_OK);
  cr_assert(describe(run).beats == 2 * (uint64_t)BEATS && added == 0);
  tsanom_runs *fresh = salvage();
  check_same(run, fresh);
  tsanom_runs_destroy(fresh);
  tsanom_runs_destroy(run);
}

/* A byte behind a hole of 20 GB is no record, and the hole is not read. */
Test(runs_salvage_files, holes_of_sparse_files_are_not_read) {
  const off_t huge = (off_t)20 << 30;
  (void)make_run();
  const char *path = in_directory("heartbeat.00001");
  if (truncate(path, huge) != 0) SKIP_TEST("the file system has no large files");
  flip_byte("heartbeat.00001", huge - 1);
  tsanom_runs *run = salvage();
  cr_assert(describe_stream(run, 1).count == BEATS);
  cr_assert(strcmp(damaged_file(run), "heartbeat.00001") == 0);
  tsanom_runs_destroy(run);
}

static void write_text(const char *name, const char *text) {
  const char *path = in_directory("%s", name);
  file_write(path, text, strlen(text));
}

/* Places in front of the line that cannot be read. */
Test(runs_salvage_files, places_up_to_the_damage) {
  grown_run grown;
  grown_create_regions(&grown, directory, "");
  static const struct {
    const char *text;
    size_t places;
  } cases[] = {
      {"tsanom places 1\n0\trf\t10\t/a\n1\trf\t20\t/a\n2\tsc\t30\t/b\n", 3},
      {"tsanom places 1\n0\trf\t10\t/a\n1 rf\t20\t/a\n2\tsc\t30\t/b\n", 1},
      {"tsanom places 1\n0\trf\t10\t/a\n2\tsc\t30\t/b\n", 1},
      {"tsanom Places 1\n0\trf\t10\t/a\n", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_text("regions/places.tsv", cases[i].text);
    if (i) check_rejected();
    tsanom_runs *run = salvage();
    for (int look = 0; look < 2; look++) {
      cr_assert(describe(run).places == cases[i].places);
      cr_assert(strcmp(damaged_file(run), i ? "regions/places.tsv" : "") == 0);
      CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
    }
    tsanom_runs_destroy(run);
  }
}

/* Of region times, the files of other processes are read. */
Test(runs_salvage_files, damaged_region_files_are_left_out) {
  const char *path = in_directory("spmd");
  cr_assert(mkdir(path, 0777) == 0);
  write_text("spmd/rank-0.json",
             "{\"regions\": [{\"name\": \"a\"}], \"time\": [[1]], "
             "\"processes\": [\"p\"]}");
  write_text("spmd/rank-1.json", "{\"regions\": [{\"name\"");
  path = in_directory("spmd/rank-2.json");
  cr_assert(mkfifo(path, 0600) == 0);
  check_rejected();
  tsanom_runs *run = salvage();
  tsanom_runs_spmd_data spmd;
  CHECK_STATUS(tsanom_runs_spmd(run, NULL, &spmd), TSANOM_OK);
  cr_assert(spmd.data->processes == 1 && strcmp(spmd.process[0], "p") == 0);
  cr_assert(strcmp(damaged_file(run), "spmd/rank-1.json") == 0);
  tsanom_runs_destroy(run);
  path = in_directory("spmd/rank-0.json");
  cr_assert(unlink(path) == 0);
  CHECK_STATUS(open_salvaging(NULL, &run), TSANOM_E_IO);
}

Test(runs_salvage_files, failing_allocations_are_reported) {
  grown_run grown = make_run();
  grown_finish(&grown);
  flip_byte("heartbeat.00001", TSN_STREAM_HEADER + 5 * TSN_RECORD);
  flip_byte("heartbeat.00002", 3);
  check_allocations(open_salvaging);
}

Test(runs_salvage_files, bad_arguments_are_rejected) {
  tsanom_runs_options options;
  tsanom_runs *run = NULL;
  (void)make_run();
  CHECK_STATUS(tsanom_runs_options_init(&options, sizeof options), TSANOM_OK);
  cr_assert(options.salvage == 0);
  /* A caller from before that field, whatever lies behind its struct. */
  options.struct_size = offsetof(tsanom_runs_options, salvage);
  options.salvage = 2;
  CHECK_STATUS(tsanom_runs_open(directory, &options, NULL, &run), TSANOM_OK);
  tsanom_runs_destroy(run);
  options.struct_size = sizeof options;
  options.salvage = 2;
  CHECK_STATUS(tsanom_runs_open(directory, &options, NULL, &run), TSANOM_E_OPTION);
  options.salvage = 0;
  options.reserved0 = 1;
  CHECK_STATUS(tsanom_runs_open(directory, &options, NULL, &run), TSANOM_E_OPTION);
}
