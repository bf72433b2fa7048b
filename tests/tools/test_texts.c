/* SPDX-License-Identifier: BSD-3-Clause */
/* What the commands print and draw, as a whole, is what texts.txt has. A command is a line
 * that begins with "$ "; it is run by sh with the functions of texts.sh. To write the file
 * again: TSANOM_TEXTS=FILE test_tools --filter 'texts/…'; then read what has changed. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/regions.h"
#include "run.h"
#include "runs/grown_run.h"

/* ---- recorded runs, whose times do not vary */

enum { ITERATIONS = 30, THREADS = 2, RANKS = 4, SLOW_RANK = 3 };
enum { STEP, SOLVE, CHECK, SEND }; /* places */

static uint32_t tag_of(uint32_t kind, uint32_t place) {
  return kind | place << TSN_REGIONS_KIND_BITS | THREADS << 16;
}

/* A region of all threads. */
static void append_region(grown_run *run, uint32_t place, const uint32_t *nanoseconds) {
  for (uint32_t t = 0; t < THREADS; t++) {
    grown_append(run, t, 100, tag_of(TSN_REGIONS_BEGIN, place));
  }
  for (uint32_t t = 0; t < THREADS; t++) {
    grown_append(run, t, nanoseconds[t], TSN_REGIONS_CPU | nanoseconds[t] << 8);
    grown_append(run, t, 100, tag_of(TSN_REGIONS_END, place));
  }
}

/* Iterations of two regions and a call, and a third region in each tenth. */
static void write_regions(const char *path, uint32_t iterations, bool calls,
                          uint32_t solve) {
  char name[256];
  grown_run run;
  cr_assert(mkdir(path, 0777) == 0);
  grown_create(&run, path);
  grown_add_stream(&run, 1);
  for (uint32_t i = 0; i < iterations; i++) {
    uint32_t again = 1000 + i % 3 * 10;
    append_region(&run, STEP, (uint32_t[]){50 * again, 60 * again});
    append_region(&run, SOLVE, (uint32_t[]){solve * again, 2 * solve * again});
    if (i % 10 == 9) append_region(&run, CHECK, (uint32_t[]){again, again});
    if (!calls) continue;
    grown_append(&run, 0, 1000, tag_of(TSN_REGIONS_BEGIN, SEND));
    grown_append(&run, 0, 200000 - 50 * again, tag_of(TSN_REGIONS_END, SEND));
  }
  grown_finish(&run);
  (void)snprintf(name, sizeof name, "%s/places.tsv", path);
  write_text(name,
             "tsanom places 3\n0\trf\t10\t-\t/a\n1\trf\t20\t-\t/a\n"
             "2\trf\t30\t-\t/a\n3\tmc\t41\t-\t/a\tMPI_Send\t1\n");
}

/* With beats of the iterations. */
static void write_run(const char *path, uint32_t iterations, bool calls, uint32_t solve) {
  char regions[128];
  grown_run run;
  cr_assert(mkdir(path, 0777) == 0);
  grown_create(&run, path);
  grown_add_stream(&run, 1);
  for (uint32_t i = 0; i < THREADS * iterations; i++) {
    grown_append(&run, i % THREADS, 100000 + i % 7 * 1000, 1 + i / THREADS);
  }
  grown_finish(&run);
  (void)snprintf(regions, sizeof regions, "%s/regions", path);
  write_regions(regions, iterations, calls, solve);
}

/* Twice, three iterations take 20 ms more, in which the thread has no processor. */
static void write_waits(const char *path) {
  enum { FIRST = 30, SECOND = 70, SEVERAL = 3 };
  const uint64_t half_ms = 500000;
  grown_run run;
  cr_assert(mkdir(path, 0777) == 0);
  grown_create(&run, path);
  run.task = 41;
  for (uint32_t i = 0; i < 100; i++) {
    bool waits = i - FIRST < SEVERAL || i - SECOND < SEVERAL;
    run.cpu += 10 * half_ms;
    grown_append(&run, 0, (waits ? 50 : 10) * half_ms + i % 5 * 9999, 1 + i);
    grown_sample(&run, 0);
  }
  grown_finish(&run);
}

static void write_runs(void) {
  char path[64];
  write_waits("waits");
  write_run("team", ITERATIONS, false, 100);
  write_run("slower", ITERATIONS, false, 130);
  write_run("brief", 1, false, 100);
  cr_assert(mkdir("job", 0777) == 0);
  write_text("job/ranks.tsv", "tsanom ranks 1\nsize\t4\njob\t7\n");
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    (void)snprintf(path, sizeof path, "job/rank.%u", rank);
    write_run(path, ITERATIONS, true, rank == SLOW_RANK ? 190 : 100);
  }
}

/* ---- the texts */

static void prepare(void) {
  char path[4096];
  enter_folder();
  write_runs();
  write_text("gnuplot", "#!/bin/sh\ncat >script.txt\necho '<svg></svg>'\n");
  cr_assert(chmod("gnuplot", 0755) == 0);
  cr_assert(symlink(TSANOM_TEST_DATA, "data") == 0);
  (void)snprintf(path, sizeof path, "%s:%s", getcwd((char[1024]){0}, 1024),
                 getenv("PATH"));
  cr_assert(setenv("PATH", path, 1) == 0);
}

TestSuite(texts, .init = prepare, .fini = leave_folder, .timeout = 120);

/* What the command prints; to be freed. */
static char *output_of(const char *command) {
  FILE *file = fopen("command", "w");
  cr_assert(file &&
            fprintf(file, ". '%s/texts.sh'\ntsanom() { '%s' \"$@\"; }\n{ %s\n} >o 2>&1\n",
                    TSANOM_TEXTS, TSANOM_COMMAND, command) > 0);
  cr_assert(fclose(file) == 0 && system("sh ./command") >= 0);
  return slurp("o");
}

/* Up to the next command. */
static size_t expected_bytes(const char *text) {
  const char *end = text;
  while (*end && strncmp(end, "$ ", 2) != 0) {
    const char *line = strchr(end, '\n');
    end = line ? line + 1 : end + strlen(end);
  }
  return (size_t)(end - text);
}

Test(texts, are_those_that_are_stored) {
  char *stored = slurp(TSANOM_TEXTS "/texts.txt"), *text = stored;
  const char *written = getenv("TSANOM_TEXTS");
  FILE *again = written ? fopen(written, "w") : NULL;
  size_t commands = 0, different = 0;
  for (; !strncmp(text, "$ ", 2); commands++) {
    char *end = strchr(text, '\n');
    cr_assert(end);
    *end = '\0';
    size_t bytes = expected_bytes(end + 1);
    char *got = output_of(text + 2);
    if (again) (void)fprintf(again, "%s\n%s", text, got);
    if (strlen(got) != bytes || strncmp(got, end + 1, bytes) != 0) {
      cr_log_error("%s\n%.*s--- but now:\n%s", text, (int)bytes, end + 1, got);
      different++;
    }
    free(got);
    text = end + 1 + bytes;
  }
  if (again) (void)fclose(again);
  cr_assert(*text == '\0' && commands > 20);
  cr_assert(different == 0 || again, "%zu of %zu texts", different, commands);
  free(stored);
}
