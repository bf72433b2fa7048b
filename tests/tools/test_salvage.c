/* SPDX-License-Identifier: BSD-3-Clause */
/* --salvage of the subcommands that read runs. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/heartbeat.h>

#include "record/regions.h"
#include "run.h"

enum { BEATS = 500, HEADER = 4096, RECORD = 16 };

TestSuite(command_salvage, .init = enter_folder, .fini = leave_folder);

static void flip_byte(const char *path, long at) {
  FILE *file = fopen(path, "r+b");
  cr_assert(file && fseek(file, at, SEEK_SET) == 0);
  int byte = fgetc(file);
  cr_assert(byte != EOF && fseek(file, at, SEEK_SET) == 0);
  cr_assert(fputc(byte ^ 0xFF, file) != EOF && fclose(file) == 0);
}

static void record_run(const char *path) {
  cr_assert(tsanom_heartbeat_init(path, 2, NULL, NULL) == TSANOM_OK);
  for (uint32_t i = 0; i < BEATS; i++) {
    cr_assert(tsanom_heartbeat_beat((int32_t)(i % 2), i) == TSANOM_OK);
  }
  cr_assert(tsanom_heartbeat_finish() == TSANOM_OK);
}

static const json_t *warning_of(const json_t *result) {
  const json_t *warnings = json_object_get(result, "warnings");
  cr_assert(json_array_size(warnings) == 1);
  return json_array_get(warnings, 0);
}

Test(command_salvage, beats_up_to_the_damage_are_used_and_the_rest_is_reported) {
  record_run("run");
  json_t *intact = tsanom_json("rate run --salvage --json");
  cr_assert(!json_object_get(intact, "warnings"));
  flip_byte("run/heartbeat.00001", HEADER + 7 * RECORD);
  flip_byte("run/heartbeat.00001", HEADER + 9 * RECORD);
  CHECK_REJECTED(tsanom("rate run"), 3, "run/heartbeat.00001: byte 4208", "record 7",
                 "--salvage\n");
  outcome o = tsanom_ok("rate run --salvage");
  cr_assert(!strcmp(o.err,
                    "tsanom: warning: run: run/heartbeat.00001: byte 4208: record 7 is "
                    "damaged; 257 of 500 records kept\n"),
            "%s", o.err);
  json_t *r = tsanom_json("rate run --salvage --json 2>/dev/null");
  const json_t *warning = warning_of(r);
  cr_assert(number_of(warning, "kept") == 257 && number_of(warning, "skipped") == 243);
  cr_assert(!strcmp(text_of(warning, "run"), "run"));
  cr_assert(strstr(text_of(warning, "text"), "257 of 500 records kept"));
}

Test(command_salvage, learn_and_diagnose_read_damaged_runs) {
  record_run("run");
  flip_byte("run/heartbeat.00000", HEADER + 200 * RECORD);
  CHECK_REJECTED(tsanom("learn -o m.json run"), 3, "run/heartbeat.00000", "--salvage\n");
  CHECK_WARNS(tsanom("learn -o m.json --salvage run"), "450 of 500 records kept");
  CHECK_REJECTED(tsanom("diagnose -m m.json run"), 3, "--salvage\n");
  CHECK_WARNS(tsanom("diagnose -m m.json --salvage run --check"),
              "450 of 500 records kept");
}

Test(command_salvage, a_run_without_its_own_file_is_rejected) {
  record_run("run");
  flip_byte("run/heartbeat.run", 60);
  outcome o = tsanom("rate run");
  cr_assert(o.status == 3 && !strstr(o.err, "--salvage"), "%s", o.err);
  o = tsanom("rate run --salvage");
  cr_assert(o.status == 3 && !strstr(o.err, "--salvage"), "%s", o.err);
}

static void event(int32_t thread, int32_t kind, uint32_t rest) {
  uint32_t tag = (uint32_t)kind | rest << TSN_REGIONS_KIND_BITS;
  cr_assert(tsanom_heartbeat_beat(thread, tag) == TSANOM_OK);
}

/* A region channel has the format of heartbeats. Two threads open 300 regions, by turns
 * at two places. */
static void record_regions(void) {
  enum { THREADS_SHIFT = 16 - TSN_REGIONS_KIND_BITS, NANOSECONDS_SHIFT = 5 };
  cr_assert(tsanom_heartbeat_init("run/regions", 2, NULL, NULL) == TSANOM_OK);
  write_text("run/regions/places.tsv", "tsanom places 1\n0\trf\t10\t/a\n1\trf\t20\t/a\n");
  for (uint32_t i = 0; i < 300; i++) {
    for (int32_t thread = 0; thread < 2; thread++) {
      event(thread, TSN_REGIONS_BEGIN, i % 2);
      event(thread, TSN_REGIONS_CPU, 1000 << NANOSECONDS_SHIFT);
      event(thread, TSN_REGIONS_END, i % 2 | 2 << THREADS_SHIFT);
    }
  }
  cr_assert(tsanom_heartbeat_finish() == TSANOM_OK);
}

Test(command_salvage, region_events_are_read_by_period_speedup_and_similar) {
  static const char *const commands[] = {"period run", "speedup run", "similar run"};
  cr_assert(mkdir("run", 0777) == 0);
  record_regions();
  flip_byte("run/regions/heartbeat.00000", HEADER + 602 * RECORD);
  flip_byte("run/regions/heartbeat.00001", HEADER - 1);
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    CHECK_REJECTED(tsanom("%s", commands[i]), 3, "run/regions/heartbeat.00000",
                   "record 602", "--salvage\n");
    json_t *r = tsanom_json("%s --salvage --json 2>/dev/null", commands[i]);
    const json_t *warning = warning_of(r);
    cr_assert(number_of(warning, "kept") == 602 && number_of(warning, "skipped") == 298);
  }
  /* The end of region 200 is lost. */
  json_t *r = tsanom_json("period run --salvage --json 2>/dev/null");
  cr_assert(number_of(r, "samples") == 200);
  write_text("run/regions/places.tsv", "tsanom places 1\n?\trf\t10\t/a\n1\trf\t20\t/a\n");
  outcome o = CHECK_WARNS(tsanom("speedup run --salvage"), "places.tsv: byte 16: line 2");
  cr_assert(strstr(o.err, "602 of 900 records kept"), "%s", o.err);
}

/* The main loop of the events has 150 iterations. */
Test(command_salvage, damaged_events_take_no_iterations_away) {
  enum { ALL = -1 }; /* the file is missing */
  static const struct {
    uint32_t beats;
    long damaged;
    double expected;
  } cases[] = {{150, 600, 150}, {150, ALL, 150}, {30, 602, 100}, {30, ALL, 30}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    cr_assert(tsanom_heartbeat_init("run", 2, NULL, NULL) == TSANOM_OK);
    for (uint32_t i = 0; i < 2 * cases[k].beats; i++)
      cr_assert(tsanom_heartbeat_beat((int32_t)(i % 2), UINT32_C(1) << 31) == TSANOM_OK);
    cr_assert(tsanom_heartbeat_finish() == TSANOM_OK);
    record_regions();
    if (cases[k].damaged == ALL) {
      cr_assert(remove("run/regions/heartbeat.00000") == 0);
    } else {
      flip_byte("run/regions/heartbeat.00000", HEADER + cases[k].damaged * RECORD);
    }
    json_t *r = tsanom_json("rate run --salvage --json 2>/dev/null");
    const json_t *thread = json_array_get(json_object_get(r, "threads"), 0);
    cr_assert(number_of(thread, "beats") == cases[k].expected, "%zu: %g", k,
              number_of(thread, "beats"));
    /* Events that are used have their damage reported. */
    cr_assert(!json_object_get(r, "warnings") == (cases[k].expected == cases[k].beats));
    shell_ok("rm -r run");
  }
}
