/* SPDX-License-Identifier: BSD-3-Clause */
/* Salvage of whole files, of headers, and of runs that grow. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "runs/grown_run.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"
#include "support/skip.h"

enum { BEATS = 60, PATH = DIRECTORY_CAPACITY + 64 };

static char folder[DIRECTORY_CAPACITY];

static void make_folder(void) {
  directory_make(folder);
}

static void remove_folder(void) {
  directory_remove(folder);
}

TestSuite(runs_salvage_files, .init = make_folder, .fini = remove_folder);

static void path_of(const char *name, char path[PATH]) {
  (void)snprintf(path, PATH, "%s/%s", folder, name);
}

static grown_run make_run(void) {
  grown_run grown;
  grown_create(&grown, folder);
  grown_add_stream(&grown, 1);
  grown_add_stream(&grown, 5);
  for (uint32_t i = 0; i < 3 * BEATS; i++) grown_append(&grown, i % 3, 100, i);
  return grown;
}

static tsanom_runs *salvage_with(const tsanom_exec *exec, tsanom_status expected) {
  tsanom_runs_options options;
  tsanom_runs *run = NULL;
  CHECK_STATUS(tsanom_runs_options_init(&options, sizeof options), TSANOM_OK);
  options.salvage = 1;
  CHECK_STATUS(tsanom_runs_open(folder, &options, exec, &run), expected);
  return run;
}

static tsanom_runs *salvage(void) {
  return salvage_with(NULL, TSANOM_OK);
}

static tsanom_runs_damage damage_of(const tsanom_runs *run, size_t stream) {
  tsanom_runs_damage d;
  int32_t part = stream == TSANOM_NONE ? 0 : TSANOM_RUNS_BEATS;
  CHECK_STATUS(tsanom_runs_damage_init(&d, sizeof d), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_damage_at(run, part, stream, &d), TSANOM_OK);
  return d;
}

static void check_rejected(void) {
  tsanom_runs *run = NULL;
  tsanom_status status = tsanom_runs_open(folder, NULL, NULL, &run);
  cr_assert(status == TSANOM_E_FORMAT || status == TSANOM_E_IO);
}

static void flip_byte(const char *name, off_t at) {
  char path[PATH];
  unsigned char byte;
  path_of(name, path);
  int file = open(path, O_RDWR | O_CLOEXEC);
  cr_assert(file >= 0 && pread(file, &byte, 1, at) == 1);
  byte ^= 0xFF;
  cr_assert(pwrite(file, &byte, 1, at) == 1 && close(file) == 0);
}

Test(runs_salvage_files, an_intact_run_has_no_damage) {
  grown_run grown = make_run();
  for (int finished = 0; finished < 2; finished++) {
    tsanom_runs *run = salvage();
    tsanom_runs_damage d = damage_of(run, TSANOM_NONE);
    tsanom_runs_damage none = {.struct_size = sizeof d, .kept = 3 * (uint64_t)BEATS};
    cr_assert(memcmp(&d, &none, sizeof d) == 0);
    tsanom_runs_close(run);
    grown_finish(&grown);
  }
}

/* Streams that are missing, foreign, or not files are left out; others keep their place.
 */
Test(runs_salvage_files, streams_that_cannot_be_read_are_left_out) {
  char path[PATH], other[PATH];
  grown_run grown = make_run();
  grown_finish(&grown);
  path_of("heartbeat.00001", path);
  path_of("heartbeat.00002", other);
  for (int kind = 0; kind < 4; kind++) {
    size_t bytes;
    unsigned char *intact = file_read(path, &bytes);
    if (kind == 1) file_write(path, "thread,time\n", 12);
    if (kind != 1) cr_assert(unlink(path) == 0);
    if (kind == 2) cr_assert(mkfifo(path, 0600) == 0);
    if (kind == 3) cr_assert(link(other, path) == 0);
    check_rejected();
    tsanom_runs *run = salvage();
    tsanom_runs_damage d = damage_of(run, 1), all = damage_of(run, TSANOM_NONE);
    cr_assert(d.header == TSANOM_RUNS_HEADER_LOST && d.streams_lost == 1);
    cr_assert(d.kept == 0 && d.ranges == 1 && d.first_record == 0 && d.first_offset == 0);
    cr_assert(d.skipped == (kind == 3 ? BEATS : 0));
    cr_assert(strcmp(d.file, "heartbeat.00001") == 0 && strcmp(all.file, d.file) == 0);
    cr_assert(all.kept == 2 * (uint64_t)BEATS && describe(run).beats == all.kept);
    cr_assert(describe_stream(run, 2).thread == 5 && describe_stream(run, 1).count == 0);
    const tsanom_hsa_run *beats;
    CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
    cr_assert(beats->thread_count == 6 && beats->threads[5].beats == BEATS);
    tsanom_runs_close(run);
    cr_assert(kind == 1 || kind == 0 || unlink(path) == 0);
    file_write(path, intact, bytes);
    free(intact);
  }
}

/* Each byte of the run's own header can be restored, and its unused end. */
Test(runs_salvage_files, the_run_header_is_repaired) {
  char path[PATH];
  size_t bytes;
  grown_run grown = make_run();
  grown_finish(&grown);
  tsanom_runs *intact = open_run(folder);
  tsanom_runs_info info = describe(intact);
  path_of(TSN_RUN_FILE, path);
  unsigned char *header = file_read(path, &bytes), longer[300] = {0};
  cr_assert(bytes == sizeof(tsn_run_header));
  memcpy(longer, header, bytes);
  for (size_t at = 0; at < bytes + sizeof longer; at++) {
    file_write(path, header, bytes);
    if (at < bytes) {
      flip_byte(TSN_RUN_FILE, (off_t)at);
    } else if (at - bytes != bytes) {
      file_write(path, longer, at - bytes);
    } else {
      continue;
    }
    bool is_short = at >= bytes && at - bytes < offsetof(tsn_run_header, reserved);
    check_rejected();
    tsanom_runs *run = salvage_with(NULL, is_short ? TSANOM_E_FORMAT : TSANOM_OK);
    if (!run) continue;
    tsanom_runs_damage d = damage_of(run, TSANOM_NONE);
    tsanom_runs_info own = describe(run);
    cr_assert(d.header == TSANOM_RUNS_HEADER_REPAIRED && d.skipped == 0 && d.ranges == 0);
    cr_assert(strcmp(d.file, TSN_RUN_FILE) == 0 && d.first_offset == 0);
    cr_assert(memcmp(&own, &info, sizeof own) == 0);
    tsanom_runs_close(run);
  }
  tsanom_runs_close(intact);
  free(header);
}

/* What is damaged, or repaired, between two looks is as in a run opened anew. */
Test(runs_salvage_files, a_damaged_run_is_followed) {
  uint64_t seed = 3;
  grown_run grown = make_run();
  tsanom_runs *run = salvage();
  for (int step = 0; step < 200; step++) {
    uint64_t before = describe(run).beats, added = 0;
    for (uint64_t n = random_between(&seed, 1, 40); n > 0; n--) {
      uint32_t stream = (uint32_t)random_between(&seed, 0, 2);
      grown_append(&grown, stream, 100, (uint32_t)n);
      if (step < 20 || random_between(&seed, 0, 99)) continue;
      char name[TSN_FILE_NAME];
      (void)snprintf(name, sizeof name, TSN_STREAM_FILE, stream);
      flip_byte(name, (off_t)(TSN_STREAM_HEADER +
                              (grown.records[stream] - 1) * TSN_RECORD + n % TSN_RECORD));
    }
    if (step == 150) flip_byte("heartbeat.00001", 60);
    if (step == 160) flip_byte("heartbeat.00001", 61);
    if (step == 170) flip_byte("heartbeat.00001", 61);
    if (step == 199) grown_finish(&grown);
    CHECK_STATUS(tsanom_runs_refresh(run, NULL, &added), TSANOM_OK);
    tsanom_runs *fresh = salvage();
    uint64_t now = describe(run).beats;
    cr_assert(now == describe(fresh).beats && added == (now > before ? now - before : 0));
    for (size_t i = 0; i < 3; i++) {
      tsanom_runs_damage d = damage_of(run, i), e = damage_of(fresh, i);
      cr_assert(memcmp(&d, &e, sizeof d) == 0);
      tsanom_runs_stream s = describe_stream(run, (uint32_t)i);
      tsanom_runs_stream t = describe_stream(fresh, (uint32_t)i);
      cr_assert(s.count == t.count && s.thread == t.thread);
      for (size_t k = 0; k < s.count; k++) {
        cr_assert(s.time[k] == t.time[k] && s.tag[k] == t.tag[k]);
      }
    }
    tsanom_runs_close(fresh);
  }
  cr_assert(damage_of(run, TSANOM_NONE).skipped > 0);
  tsanom_runs_close(run);
}

/* A byte behind a hole of 20 GB is no record, and the hole is not read. */
Test(runs_salvage_files, holes_of_sparse_files_are_not_read) {
  const off_t huge = (off_t)20 << 30;
  char path[PATH];
  (void)make_run();
  path_of("heartbeat.00001", path);
  if (truncate(path, huge) != 0) SKIP_TEST("the file system has no large files");
  flip_byte("heartbeat.00001", huge - 1);
  tsanom_runs *run = salvage();
  tsanom_runs_damage d = damage_of(run, 1);
  cr_assert(d.kept == BEATS && d.skipped == 0 && d.ranges == 1);
  cr_assert(d.first_record >= BEATS);
  tsanom_runs_close(run);
}

static void write_text(const char *name, const char *text) {
  char path[PATH];
  path_of(name, path);
  file_write(path, text, strlen(text));
}

static void check_place(tsanom_runs *run, size_t index, const char *expected) {
  const char *name;
  CHECK_STATUS(tsanom_runs_place_name(run, index, NULL, &name), TSANOM_OK);
  cr_assert(strcmp(name, expected) == 0, "%s", name);
}

/* Lines that cannot be read leave their places unknown; others keep their numbers. */
Test(runs_salvage_files, damaged_places_are_unknown) {
  static const char intact[] =
      "tsanom places 1\n0\trf\t10\t/a\n1\trf\t20\t/a\n2\tsc\t30\t/b\n";
  char directory[PATH];
  grown_run grown;
  path_of("regions", directory);
  cr_assert(mkdir(directory, 0777) == 0);
  grown_create(&grown, directory);
  static const struct {
    const char *text, *name[3];
    size_t skipped;
  } cases[] = {
      {intact, {"a+0x10", "a+0x20", "b+0x2f"}, 0},
      {"tsanom places 1\n0\trf\t10\t/a\n1 rf\t20\t/a\n2\tsc\t30\t/b\n",
       {"a+0x10", "unknown place", "b+0x2f"},
       1},
      {"tsanom places 1\n0\trf\t10\t/a 1\trf\t20\t/a\n2\tsc\t30\t/b\n",
       {"a+0x10", "unknown place", "b+0x2f"},
       1},
      {"tsanom Places 1\n0\trx\t10\t/a\n\n2\tsc\t30\t/b\n9000\tsc\t30\t/b\n",
       {"unknown place", "unknown place", "b+0x2f"},
       4},
      {"tsanom places "
       "3\n0\trf\t10\t-\t/a\n1\tmc\t20\t-\t/a\n2\tmc\t30\t-\t/b\tMPI_Send\t1\n",
       {"a+0x10", "unknown place", "MPI_Send in b+0x2f"},
       1},
      {"tsanom places 3\n0\tmc\t10\t-\t/a\tMPI_Send\n1\tmc\t21\t-\t/a\tMPI_Recv\t2x\n"
       "2\tmc\t30\t-\t/b\tMPI_Send\t1\n",
       {"unknown place", "unknown place", "MPI_Send in b+0x2f"},
       2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_text("regions/places.tsv", cases[i].text);
    if (i) check_rejected();
    tsanom_runs *run = salvage();
    cr_assert(describe(run).places == 3);
    for (size_t k = 0; k < 3; k++) check_place(run, k, cases[i].name[k]);
    tsanom_runs_damage d = damage_of(run, TSANOM_NONE);
    cr_assert(d.places_skipped == cases[i].skipped && d.ranges == 0, "%zu: %zu", i,
              d.places_skipped);
    cr_assert(strcmp(d.file, d.places_skipped ? "regions/places.tsv" : "") == 0);
    CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
    cr_assert(describe(run).places == 3);
    tsanom_runs_close(run);
  }
}

/* Of region times, the files of other processes are read. */
Test(runs_salvage_files, damaged_region_files_are_left_out) {
  char path[PATH];
  path_of("spmd", path);
  cr_assert(mkdir(path, 0777) == 0);
  write_text("spmd/rank-0.json",
             "{\"regions\": [{\"name\": \"a\"}], \"time\": [[1]], "
             "\"processes\": [\"p\"]}");
  write_text("spmd/rank-1.json", "{\"regions\": [{\"name\"");
  path_of("spmd/rank-2.json", path);
  cr_assert(mkfifo(path, 0600) == 0);
  check_rejected();
  tsanom_runs *run = salvage();
  tsanom_runs_spmd_data spmd;
  CHECK_STATUS(tsanom_runs_spmd(run, NULL, &spmd), TSANOM_OK);
  cr_assert(spmd.data->processes == 1 && strcmp(spmd.process[0], "p") == 0);
  tsanom_runs_damage d = damage_of(run, TSANOM_NONE);
  cr_assert(d.files_skipped == 2 && strcmp(d.file, "spmd/rank-1.json") == 0);
  tsanom_runs_close(run);
  path_of("spmd/rank-0.json", path);
  cr_assert(unlink(path) == 0);
  cr_assert(!salvage_with(NULL, TSANOM_E_IO));
}

Test(runs_salvage_files, failing_allocations_are_reported) {
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  grown_run grown = make_run();
  grown_finish(&grown);
  flip_byte("heartbeat.00001", TSN_STREAM_HEADER + 5 * TSN_RECORD);
  flip_byte("heartbeat.00002", 3);
  tsanom_runs_close(salvage_with(&exec, TSANOM_OK));
  size_t calls = allocator.calls;
  for (size_t i = 1; i <= calls; i++) {
    allocator = (test_allocator){.fail_at = i};
    cr_assert(!salvage_with(&exec, TSANOM_E_MEMORY));
    cr_assert(allocator.live == 0);
  }
}

Test(runs_salvage_files, bad_arguments_are_rejected) {
  tsanom_runs_options options;
  tsanom_runs_damage d;
  tsanom_runs *run = NULL;
  (void)make_run();
  CHECK_STATUS(tsanom_runs_options_init(&options, sizeof options), TSANOM_OK);
  cr_assert(options.salvage == 0);
  /* A caller from before that field, whatever lies behind its struct. */
  options.struct_size = offsetof(tsanom_runs_options, salvage);
  options.salvage = 2;
  CHECK_STATUS(tsanom_runs_open(folder, &options, NULL, &run), TSANOM_OK);
  tsanom_runs_close(run);
  options.struct_size = sizeof options;
  options.salvage = 2;
  CHECK_STATUS(tsanom_runs_open(folder, &options, NULL, &run), TSANOM_E_OPTION);
  options.salvage = 0;
  options.reserved0 = 1;
  CHECK_STATUS(tsanom_runs_open(folder, &options, NULL, &run), TSANOM_E_OPTION);
  run = salvage();
  CHECK_STATUS(tsanom_runs_damage_init(NULL, sizeof d), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_runs_damage_init(&d, sizeof d - 1), TSANOM_E_VERSION);
  cr_assert(tsanom_runs_damage_size() == sizeof d);
  CHECK_STATUS(tsanom_runs_damage_init(&d, sizeof d), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_damage_at(NULL, 0, TSANOM_NONE, &d), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_runs_damage_at(run, 0, TSANOM_NONE, NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_runs_damage_at(run, 0, 0, &d), TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_runs_damage_at(run, TSANOM_RUNS_SPMD, 0, &d), TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_runs_damage_at(run, 3, TSANOM_NONE, &d), TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_runs_damage_at(run, TSANOM_RUNS_BEATS, 3, &d), TSANOM_E_INDEX);
  CHECK_STATUS(tsanom_runs_damage_at(run, TSANOM_RUNS_REGIONS, 0, &d), TSANOM_E_INDEX);
  CHECK_STATUS(tsanom_runs_damage_at(run, TSANOM_RUNS_BEATS, 2, &d), TSANOM_OK);
  tsanom_runs_close(run);
}
