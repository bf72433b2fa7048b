/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs are damaged at random. Without salvage they are rejected; with it, exactly the
 * records are read that are the same as in the undamaged copy, and the extent of the
 * damage is that of a comparison of the files, byte by byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "runs/grown_run.h"
#include "support/check.h"
#include "support/random.h"

enum { STREAMS = 3, PATH = DIRECTORY_CAPACITY + 64, HEADER = sizeof(tsn_stream_header) };

static char folder[DIRECTORY_CAPACITY];

static void make_folder(void) {
  directory_make(folder);
}

static void remove_folder(void) {
  directory_remove(folder);
}

TestSuite(runs_salvage, .init = make_folder, .fini = remove_folder);

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

static file take_file(const char *directory, const char *name) {
  file f = {.size = 0};
  (void)snprintf(f.path, sizeof f.path, "%s/%s", directory, name);
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
  char directory[DIRECTORY_CAPACITY + 16];
  grown_run grown;
  (void)snprintf(directory, sizeof directory, "%s%s", folder, regions ? "/regions" : "");
  if (regions) {
    char places[PATH];
    static const char text[] = "tsanom places 1\n0\trf\t10\t/a\n1\trc\t20\t/a\n";
    cr_assert(mkdir(directory, 0777) == 0);
    (void)snprintf(places, sizeof places, "%s/places.tsv", directory);
    file_write(places, text, sizeof text - 1);
  }
  grown_create(&grown, directory);
  for (int32_t i = 1; i < STREAMS; i++) grown_add_stream(&grown, i == 2 ? 0 : i);
  uint64_t records = random_between(seed, 1, 300);
  for (uint64_t i = 0; i < records; i++) {
    uint32_t tag = regions ? (uint32_t)random_between(seed, 0, 1) << 3 : (uint32_t)i;
    grown_append(&grown, (uint32_t)random_between(seed, 0, STREAMS - 1),
                 random_between(seed, 0, 9999), tag);
  }
  if (finished) grown_finish(&grown);
  r.run = take_file(directory, TSN_RUN_FILE);
  for (uint32_t i = 0; i < STREAMS; i++) {
    char name[TSN_FILE_NAME];
    (void)snprintf(name, sizeof name, TSN_STREAM_FILE, i);
    r.stream[i] = take_file(directory, name);
    r.records[i] = grown.records[i];
  }
  return r;
}

static void free_run(recorded *r) {
  free_file(&r->run);
  for (int i = 0; i < STREAMS; i++) free_file(&r->stream[i]);
}

static tsanom_status open_with(int32_t salvage, tsanom_fault *fault, tsanom_runs **run) {
  tsanom_exec exec;
  tsanom_runs_options options;
  tsanom_fault_init(fault, sizeof *fault);
  tsanom_exec_init(&exec, sizeof exec);
  exec.fault = fault;
  CHECK_STATUS(tsanom_runs_options_init(&options, sizeof options), TSANOM_OK);
  options.salvage = salvage;
  return tsanom_runs_open(folder, &options, &exec, run);
}

static tsanom_runs *salvage(void) {
  tsanom_fault fault;
  tsanom_runs *run = NULL;
  tsanom_status status = open_with(1, &fault, &run);
  cr_assert(status == TSANOM_OK, "%s: %s", fault.file, fault.text);
  return run;
}

static tsanom_runs_damage damage_at(const tsanom_runs *run, int32_t part, size_t index) {
  tsanom_runs_damage d;
  CHECK_STATUS(tsanom_runs_damage_init(&d, sizeof d), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_damage_at(run, part, index, &d), TSANOM_OK);
  return d;
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
  switch (random_between(seed, 0, 6)) {
    case 0:
      for (int i = 0; i < 3 && !f->moved; i++) flip_in_record(f, seed);
      f->changed = true;
      break;
    case 1:
      flip_bits(f, 0, f->size < HEADER ? f->size : HEADER, seed);
      break;
    case 2:
      flip_bits(f, HEADER, f->size < TSN_STREAM_HEADER ? f->size : TSN_STREAM_HEADER,
                seed);
      break;
    case 3:
      f->size = random_between(seed, random_between(seed, 0, f->size), f->size);
      break;
    case 4:
      if (!f->moved) zero_block(f, seed);
      f->changed = true;
      break;
    case 5:
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

static int32_t expected_header(const file *f) {
  size_t fields = differences(f, 0, HEADER);
  size_t zeros = differences(f, HEADER, TSN_STREAM_HEADER);
  if (fields > 1 || f->size < HEADER) return TSANOM_RUNS_HEADER_LOST;
  return fields || zeros ? TSANOM_RUNS_HEADER_REPAIRED : TSANOM_RUNS_HEADER_INTACT;
}

/* Records that are not zero, to the last one. */
static uint64_t written(const file *f) {
  uint64_t end = 0;
  for (size_t i = TSN_STREAM_HEADER; i < f->size; i++) {
    if (f->now[i]) end = (i - TSN_STREAM_HEADER) / TSN_RECORD + 1;
  }
  return end;
}

static bool is_kept(const recorded *r, int stream, uint64_t record) {
  size_t at = TSN_STREAM_HEADER + record * TSN_RECORD;
  return record < r->records[stream] &&
         differences(&r->stream[stream], at, at + TSN_RECORD) == 0;
}

/* One more lost range, which is followed by nothing but lost records until `end`. */
static void expect_range(tsanom_runs_damage *d, uint64_t from) {
  if (d->ranges++ > 0) return;
  d->first_record = from;
  d->first_offset = TSN_STREAM_HEADER + from * TSN_RECORD;
}

static tsanom_runs_damage expected_damage(const recorded *r, int stream) {
  const file *f = &r->stream[stream];
  tsanom_runs_damage d = {.struct_size = sizeof d, .header = expected_header(f)};
  uint64_t end = written(f), last = 0;
  if (d.header == TSANOM_RUNS_HEADER_LOST) {
    d.skipped = end;
    d.ranges = d.streams_lost = 1;
    return d;
  }
  for (uint64_t i = 0; i < r->records[stream]; i++) {
    if (is_kept(r, stream, i)) last = i + 1;
  }
  uint64_t all = r->finished ? r->records[stream] : end > last ? end : last;
  bool lost = false;
  for (uint64_t i = 0; i < all; i++) {
    bool kept = is_kept(r, stream, i);
    if (!kept && !lost) expect_range(&d, i);
    lost = !kept;
    d.kept += kept;
    d.skipped += !kept;
  }
  if (r->finished && end > all) expect_range(&d, all);
  if (!r->finished && f->size < f->bytes) {
    expect_range(
        &d, f->size < TSN_STREAM_HEADER ? 0 : (f->size - TSN_STREAM_HEADER) / TSN_RECORD);
  }
  return d;
}

static bool is_damage(const tsanom_runs_damage *d) {
  return d->ranges || d->header;
}

/* The records, with the times and tags that they have in the undamaged run. */
static void check_records(const recorded *r, const tsanom_runs *run,
                          const tsanom_runs *intact, int32_t part, int stream) {
  tsanom_runs_stream s, t;
  CHECK_STATUS(tsanom_runs_stream_at(run, part, (size_t)stream, &s), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_stream_at(intact, part, (size_t)stream, &t), TSANOM_OK);
  bool lost = expected_header(&r->stream[stream]) == TSANOM_RUNS_HEADER_LOST;
  size_t k = 0;
  for (uint64_t i = 0; i < t.count && !lost; i++) {
    if (!is_kept(r, stream, i)) continue;
    cr_assert(k < s.count && s.time[k] == t.time[i] && s.tag[k] == t.tag[i]);
    k++;
  }
  cr_assert(k == s.count);
  cr_assert(lost || (s.thread == t.thread && s.dropped == t.dropped));
}

static void check_run(const recorded *r, const tsanom_runs *intact) {
  int32_t part = r->regions ? TSANOM_RUNS_REGIONS : TSANOM_RUNS_BEATS;
  size_t in_run = differences(&r->run, 0, r->run.bytes);
  tsanom_fault fault;
  tsanom_runs *run = NULL;
  if (in_run > 1) {
    CHECK_STATUS(open_with(1, &fault, &run), TSANOM_E_FORMAT);
    cr_assert(strcmp(fault.file, r->run.path) == 0 && !run);
    return;
  }
  run = salvage();
  tsanom_runs_damage sum = {.struct_size = sizeof sum};
  sum.header = in_run ? TSANOM_RUNS_HEADER_REPAIRED : TSANOM_RUNS_HEADER_INTACT;
  for (int i = 0; i < STREAMS; i++) {
    tsanom_runs_damage d = expected_damage(r, i), found = damage_at(run, part, (size_t)i);
    const char *name = strrchr(r->stream[i].path, '/') + 1,
               *at = strrchr(found.file, '/');
    cr_assert(!is_damage(&d) || strcmp(at ? at + 1 : found.file, name) == 0);
    memcpy(d.file, found.file, sizeof d.file);
    cr_assert(memcmp(&d, &found, sizeof d) == 0,
              "stream %d: %llu kept, %llu lost, %llu ranges from %llu, header %d", i,
              (unsigned long long)found.kept, (unsigned long long)found.skipped,
              (unsigned long long)found.ranges, (unsigned long long)found.first_record,
              (int)found.header);
    check_records(r, run, intact, part, i);
    sum.kept += d.kept;
    sum.skipped += d.skipped;
    sum.ranges += d.ranges;
    sum.streams_lost += d.streams_lost;
    if (d.header > sum.header) sum.header = d.header;
  }
  tsanom_runs_damage all = damage_at(run, 0, TSANOM_NONE);
  cr_assert(all.kept == sum.kept && all.skipped == sum.skipped);
  cr_assert(all.ranges == sum.ranges && all.streams_lost == sum.streams_lost);
  cr_assert(all.header == sum.header && !*all.file == !is_damage(&sum));
  cr_assert(describe(run).skipped == sum.skipped && describe(run).restarts == 0);
  tsanom_runs *without = NULL;
  tsanom_status status = open_with(0, &fault, &without);
  cr_assert(status == (is_damage(&sum) ? TSANOM_E_FORMAT : TSANOM_OK), "%s: %llu: %s",
            fault.file, (unsigned long long)fault.offset, fault.text);
  tsanom_runs_close(without);
  tsanom_runs_close(run);
}

static void damage_and_check(uint64_t seed, bool finished, bool regions) {
  enum { RUNS = 25, DAMAGES = 40 };
  for (int i = 0; i < RUNS; i++) {
    recorded r = make_run(&seed, finished, regions);
    tsanom_runs *intact = open_run(folder);
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
    tsanom_runs_close(intact);
    free_run(&r);
    directory_remove(folder);
    directory_make(folder);
  }
}

Test(runs_salvage, exactly_the_intact_records_of_a_finished_run) {
  damage_and_check(1, true, false);
}

Test(runs_salvage, exactly_the_intact_records_of_an_unfinished_run) {
  damage_and_check(2, false, false);
}

Test(runs_salvage, exactly_the_intact_region_events) {
  damage_and_check(3, true, true);
  damage_and_check(4, false, true);
}
