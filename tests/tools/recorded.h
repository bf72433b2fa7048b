/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that are built as a user would build them, and recorded. */
#ifndef TSANOM_TEST_RECORDED_H
#define TSANOM_TEST_RECORDED_H

#include <stdbool.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>

#include "run.h"

/* A compiler, and options of `tsanom record`. */
typedef struct {
  const char *compiler, *options;
} record_way;

enum { RECORD_WAYS = 3 };
extern const record_way record_ways[RECORD_WAYS];

/* Build a program of tests/tools/programs as `name`. `source` is its file, and options behind it. It is
 * compiled once for all tests, until its file changes: compiling takes longer than most tests. */
bool build_kept(const char *command, const char *source, const char *name);

/* Whether the compiler and its OpenMP runtime are installed. */
bool has_openmp(const char *compiler);

/* Build programs/NAME.c; false if !has_openmp(). */
bool build_program(const char *compiler, const char *name);

/* The ways in which the program can be built. */
#define FOR_EACH_WAY(way, name)               \
  for (int way = 0; way < RECORD_WAYS; way++) \
    if (build_program(record_ways[way].compiler, name))

/* Where the run of a way, or of another number, is recorded: "run.WAY". It lives until the next call. */
const char *run_of(int way);

/* Run `tsanom record` with the options of record_ways[way] and these arguments. */
__attribute__((format(printf, 2, 3))) outcome record(int way, const char *format, ...);

/* Record a program as `run`: the command must print what the program prints, nothing more, and
 * end as it does. Returns the exit status. */
int record_as_plain(int way, const char *run, const char *program);

/* By ./long.so in LD_PRELOAD, a program takes `factor` times as long as it does, after
 * that clock. */
void make_time_long(const char *clock, int factor);

/* Open a run, which stays open until the test ends; or only describe it. */
tsanom_runs *open_run(const char *path, tsanom_runs_info *info);
tsanom_runs_info info_of(const char *path);

/* Views of an open run. */
const tsanom_hsa_run *hsa_of(const tsanom_runs *run);
tsanom_runs_spmd_data spmd_of(tsanom_runs *run);

/* A stream of a part of a run. */
tsanom_runs_stream stream_of(const tsanom_runs *run, int32_t part, size_t index);

/* The number of beats in a stream of the run PATH. */
double beats_of(const char *path, uint32_t stream);

/* The beats of a thread as the analyses see them. */
size_t analyzed_beats(const char *path, size_t thread);

/* The first loop of the JSON of tsanom speedup. */
const json_t *first_region(const json_t *result);

#endif
