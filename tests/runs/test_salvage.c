/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs are damaged at random. Without salvage they are rejected; with it, exactly those
 * records of each stream are read that are in front of the first one that differs from
 * the undamaged copy, and the damage that is reported is that of the rejection. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "runs/grown_run.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/random.h"

enum { STREAMS = 3, PATH = DIRECTORY_CAPACITY + 64 };

TestSuite(runs_salvage, .init = make_directory, .fini = remove_directory);

/* A file of the run: as it was, and as it is. */
typedef struct {
  char path[PATH];
  unsigned char *intact, *now;
  size_t bytes, size;  /* of both */
  bool changed, moved; /* records */
} file;

typedef struct {
  file run, stream[STREAMS];
  uint64_t records[STREAMS];
  bool finished, regions;
} recorded;

static file take_file(const char *place, const char *name) {
  file f = {.size = 0};
  (void)snprintf(f.path, sizeof f.path, "%s/%s", place, name);
  f.intact = file_read(f.path, &f.bytes);
  f.size = f.bytes;
  f.now = malloc(f.bytes);
  memcpy(f.now, f.intact, f.bytes);
  return f;
}

static void free_file(file *f) {
  free(f->intact);
  free(f->now);
}

static recorded make_run(uint64_t *seed, bool finished, bool regions) {
  recorded r = {.finished = finished, .regions = regions};
  grown_run grown;
  if (regions) {
    grown_create_regions(&grown, directory,
                         "tsanom places 1\n0\trf\t10\t/a\n1\trc\t20\t/a\n");
  } else {
    grown_create(&grown, directory);
  }
  for (int32_t i = 1; i < STREAMS; i++) grown_add_stream(&grown, i == 2 ? 0 : i);
  uint64_t records = random_between(seed, 1, 300);
  for (uint64_t i = 0; i < records; i++) {
    uint32_t tag = regions ? (uint32_t)random_between(seed, 0, 1) << 3 : (uint32_t)i;
    grown_append(&grown, (uint32_t)random_between(seed, 0, STREAMS - 1),
                 random_between(seed, 0, 9999), tag);
  }
  if (finished) grown_finish(&grown);
  r.run = take_file(grown.directory, TSN_RUN_FILE);
  for (uint32_t i = 0; i < STREAMS; i++) {
    char name[TSN_FILE_NAME];
    (void)snprintf(name, sizeof name, TSN_STREAM_FILE, i);
    r.stream[i] = take_file(grown.directory, name);
    r.records[i] = grown.records[i];
  }
  return r;
}

static void free_run(recorded *r) {
  free_file(&r->run);
  for (int i = 0; i < STREAMS; i++) free_file(&r->stream[i]);
}

static tsanom_status open_with(int32_t salvage, tsanom_fault *fault, tsanom_runs **run) {
  tsanom_runs_options options;
  tsanom_exec exec = exec_reporting(fault);
  CHECK_STATUS(tsanom_runs_options_init(&options, sizeof options), TSANOM_OK);
  options.salvage = salvage;
  return tsanom_runs_open(directory, &options, &exec, run);
}

static tsanom_runs *salvage(void) {
  tsanom_fault fault;
  tsanom_runs *run = NULL;
  tsanom_status status = open_with(1, &fault, &run);
  cr_assert(status == TSANOM_OK, "%s: %s", fault.file, fault.text);
  return run;
}

/* --- Damage --- */

static void flip_bits(file *f, size_t from, size_t to, uint64_t *seed) {
  for (size_t i = random_between(seed, 1, 3); i > 0 && from < to; i--) {
    f->now[random_between(seed, from, to - 1)] ^=
        (unsigned char)(1u << random_between(seed, 0, 7));
  }
}

/* Blocks of whole records, or of any bytes. */
static size_t block_at(const file *f, uint64_t *seed, size_t length) {
  size_t at = random_between(seed, TSN_STREAM_HEADER, f->size - length);
  return random_between(seed, 0, 1) ? at : at / TSN_RECORD * TSN_RECORD;
}

static void zero_block(file *f, uint64_t *seed) {
  if (f->size < TSN_STREAM_HEADER + 1) return;
  size_t length = random_between(seed, 1, f->size - TSN_STREAM_HEADER);
  memset(f->now + block_at(f, seed, length), 0, length);
}

static void swap_blocks(file *f, uint64_t *seed) {
  if (f->size < TSN_STREAM_HEADER + TSN_RECORD) return;
  size_t most = (f->size - TSN_STREAM_HEADER) / TSN_RECORD;
  size_t length = random_between(seed, 1, most) * TSN_RECORD;
  size_t a = block_at(f, seed, length), b = block_at(f, seed, length);
  unsigned char *copy = malloc(length);
  memcpy(copy, f->now + a, length);
  memmove(f->now + a, f->now + b, length);
  memcpy(f->now + b, copy, length);
  free(copy);
}

static size_t differences(const file *f, size_t from, size_t to) {
  size_t count = 0;
  for (size_t i = from; i < to; i++) count += i >= f->size || f->now[i] != f->intact[i];
  return count;
}

/* One bit of a record that is intact: a bit of its time and one of its tag, flipped
 * together, can leave its check the same. */
static void flip_in_record(file *f, uint64_t *seed) {
  if (f->size < TSN_STREAM_HEADER + TSN_RECORD) return;
  size_t most = (f->size - TSN_STREAM_HEADER) / TSN_RECORD - 1;
  size_t at = TSN_STREAM_HEADER + random_between(seed, 0, most) * TSN_RECORD;
  if (differences(f, at, at + TSN_RECORD)) return;
  at += random_between(seed, 0, TSN_RECORD - 1);
  f->now[at] ^= (unsigned char)(1u << random_between(seed, 0, 7));
}

/* A record at the place of another has the wrong number in its check. Further damage can
 * make it right: no stream gets both. */
static void damage_stream(recorded *r, uint64_t *seed) {
  file *f = &r->stream[random_between(seed, 0, STREAMS - 1)];
  switch (random_between(seed, 0, 5)) {
    case 0:
      for (int i = 0; i < 3 && !f->moved; i++) flip_in_record(f, seed);
      f->changed = true;
      break;
    case 1:
      flip_bits(f, 0, f->size < TSN_STREAM_HEADER ? f->size : TSN_STREAM_HEADER, seed);
      break;
    case 2:
      f->size = random_between(seed, random_between(seed, 0, f->size), f->size);
      break;
    case 3:
      if (!f->moved) zero_block(f, seed);
      f->changed = true;
      break;
    case 4:
      if (!f->changed) swap_blocks(f, seed);
      f->moved = true;
      break;
    default:
      flip_bits(&r->run, 0, r->run.size, seed);
  }
}

static void write_files(const recorded *r) {
  file_write(r->run.path, r->run.now, r->run.size);
  for (int i = 0; i < STREAMS; i++) {
    file_write(r->stream[i].path, r->stream[i].now, r->stream[i].size);
  }
}

/* --- What is expected --- */

/* Records that are not zero, to the last one. */
static uint64_t written(const file *f) {
  uint64_t end = 0;
  for (size_t i = TSN_STREAM_HEADER; i < f->size; i++) {
    if (f->now[i]) end = (i - TSN_STREAM_HEADER) / TSN_RECORD + 1;
  }
  return end;
}

static bool is_lost(const file *f) {
  return differences(f, 0, TSN_STREAM_HEADER) > 0;
}

/* Records in front of the first one that is damaged. */
static uint64_t expected_records(const recorded *r, int stream) {
  uint64_t kept = 0;
  while (kept < r->records[stream] && !is_lost(&r->stream[stream])) {
    size_t at = TSN_STREAM_HEADER + kept * TSN_RECORD;
    if (differences(&r->stream[stream], at, at + TSN_RECORD)) break;
    kept++;
  }
  return kept;
}

/* Zeros at the end of an unfinished stream may be records that are not written yet. */
static bool is_damaged(const recorded *r, int stream) {
  const file *f = &r->stream[stream];
  uint64_t kept = expected_records(r, stream);
  bool is_short = r->finished ? kept < r->records[stream] : f->size < f->bytes;
  return is_lost(f) || is_short || written(f) > kept;
}

/* The records, with the times and tags that they have in the undamaged run. Returns how
 * many are known to be missing. */
static uint64_t check_records(const recorded *r, const tsanom_runs *run,
                              const tsanom_runs *intact, int stream) {
  int32_t part = r->regions ? TSANOM_RUNS_REGIONS : TSANOM_RUNS_BEATS;
  tsanom_runs_stream s, t;
  CHECK_STATUS(tsanom_runs_stream_at(run, part, (size_t)stream, &s), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_stream_at(intact, part, (size_t)stream, &t), TSANOM_OK);
  uint64_t kept = expected_records(r, stream);
  cr_assert(s.count == kept, "stream %d: %zu records, not %llu", stream, s.count,
            (unsigned long long)kept);
  for (size_t i = 0; i < s.count; i++) {
    cr_assert(s.time[i] == t.time[i] && s.tag[i] == t.tag[i]);
  }
  bool lost = is_lost(&r->stream[stream]);
  cr_assert(lost || (s.thread == t.thread && s.dropped == t.dropped));
  return r->finished && !lost ? r->records[stream] - kept : 0;
}

/* The damage that is reported is that of the first damaged stream, and the reason for
 * which the run is rejected without salvage. */
static void check_damage(const recorded *r, const tsanom_runs *run) {
  int first = 0;
  tsanom_fault found, fault;
  tsanom_runs *without = NULL;
  while (first < STREAMS && !is_damaged(r, first)) first++;
  found = (tsanom_fault){.struct_size = sizeof found};
  CHECK_STATUS(tsanom_runs_first_damage(run, &found), TSANOM_OK);
  tsanom_status status = open_with(0, &fault, &without);
  tsanom_runs_destroy(without);
  cr_assert(memcmp(&found, &fault, sizeof found) == 0, "%s, not %s", found.text,
            fault.text);
  cr_assert(found.status == status);
  cr_assert(status == (first < STREAMS ? TSANOM_E_FORMAT : TSANOM_OK));
  if (first == STREAMS) return;
  uint64_t kept = expected_records(r, first);
  cr_assert(strcmp(found.file, r->stream[first].path) == 0);
  cr_assert(is_lost(&r->stream[first]) ||
            found.offset >= TSN_STREAM_HEADER + kept * TSN_RECORD);
}

static void check_run(const recorded *r, const tsanom_runs *intact) {
  tsanom_fault fault;
  tsanom_runs *run = NULL;
  if (differences(&r->run, 0, r->run.bytes)) {
    CHECK_STATUS(open_with(1, &fault, &run), TSANOM_E_FORMAT);
    cr_assert(strcmp(fault.file, r->run.path) == 0 && !run);
    return;
  }
  run = salvage();
  uint64_t missing = 0;
  for (int i = 0; i < STREAMS; i++) missing += check_records(r, run, intact, i);
  cr_assert(describe(run).skipped == missing && describe(run).restarts == 0);
  check_damage(r, run);
  tsanom_runs_destroy(run);
}

static void damage_and_check(uint64_t seed, bool finished, bool regions) {
  enum { RUNS = 25, DAMAGES = 40 };
  for (int i = 0; i < CASES(RUNS); i++) {
    recorded r = make_run(&seed, finished, regions);
    tsanom_runs *intact = open_run(directory);
    for (int k = 0; k < DAMAGES; k++) {
      for (uint64_t n = random_between(&seed, 1, 4); n > 0; n--) damage_stream(&r, &seed);
      write_files(&r);
      check_run(&r, intact);
      for (int f = 0; f <= STREAMS; f++) {
        file *restored = f < STREAMS ? &r.stream[f] : &r.run;
        memcpy(restored->now, restored->intact, restored->bytes);
        restored->size = restored->bytes;
        restored->changed = restored->moved = false;
      }
    }
    tsanom_runs_destroy(intact);
    free_run(&r);
    remove_directory();
    make_directory();
  }
}

Test(runs_salvage, records_of_a_finished_run_up_to_the_damage) {
  damage_and_check(1, true, false);
}

Test(runs_salvage, records_of_an_unfinished_run_up_to_the_damage) {
  damage_and_check(2, false, false);
}

Test(runs_salvage, region_events_up_to_the_damage) {
  damage_and_check(3, true, true);
  damage_and_check(4, false, true);
}
