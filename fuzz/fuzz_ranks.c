/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as ranks.tsv of a run of three ranks, which are 0, 2 and 77: rejected with a
 * message, or these are listed. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "support/directory.h"

enum { RANKS = 3, PATH = DIRECTORY_CAPACITY + 64 };

static const int rank_number[RANKS] = {0, 2, 77};
static char folder[DIRECTORY_CAPACITY], table[PATH];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void clean_up(void) {
  static const char *const parts[] = {"/regions/places.tsv", "/regions", ""};
  char path[PATH];
  (void)remove(table);
  for (int i = 0; i < RANKS; i++) {
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
      (void)snprintf(path, sizeof path, "%s/rank.%d%s", folder, rank_number[i], parts[k]);
      (void)remove(path);
    }
  }
  (void)remove(folder);
}

static void make_ranks(void) {
  char path[PATH];
  if (!new_directory(folder)) abort();
  (void)atexit(clean_up);
  for (int i = 0; i < RANKS; i++) {
    (void)snprintf(path, sizeof path, "%s/rank.%d", folder, rank_number[i]);
    if (mkdir(path, 0777) != 0) abort();
    (void)snprintf(path, sizeof path, "%s/rank.%d/regions", folder, rank_number[i]);
    if (mkdir(path, 0777) != 0) abort();
    (void)snprintf(path, sizeof path, "%s/rank.%d/regions/places.tsv", folder,
                   rank_number[i]);
    int file = open(path, O_CREAT | O_WRONLY, 0666);
    if (file < 0) abort();
    close(file);
  }
  (void)snprintf(table, sizeof table, "%s/ranks.tsv", folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!*table) make_ranks();
  FILE *file = fopen(table, "we");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
  tsanom_fault fault;
  tsanom_exec exec;
  int32_t rank[RANKS + 1];
  size_t count = 0, ranks = 0;
  tsanom_exec_init(&exec, sizeof exec);
  fault = (tsanom_fault){.struct_size = sizeof fault};
  exec.fault = &fault;
  if (tsanom_runs_ranks(folder, &exec, rank, RANKS + 1, &count, &ranks) != TSANOM_OK) {
    if (!*fault.text || !*fault.file) abort();
    return 0;
  }
  if (count != RANKS || ranks > 1 << 24) abort();
  for (int i = 0; i < RANKS; i++) {
    if (rank[i] != rank_number[i]) abort();
  }
  return 0;
}
