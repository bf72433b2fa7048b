/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as ranks.tsv of a run of three ranks, which are 0, 2 and 77: rejected with a
 * message, or these are listed. */
#include "files.h"

enum { RANKS = 3 };

static const int rank_number[RANKS] = {0, 2, 77};

static void make_ranks(void) {
  char path[PATH];
  make_folder();
  for (int i = 0; i < RANKS; i++) {
    (void)snprintf(path, sizeof path, "%s/rank.%d", folder, rank_number[i]);
    if (mkdir(path, 0777) != 0) abort();
    (void)snprintf(path, sizeof path, "%s/rank.%d/regions", folder, rank_number[i]);
    if (mkdir(path, 0777) != 0) abort();
    (void)snprintf(path, sizeof path, "rank.%d/regions/places.tsv", rank_number[i]);
    write_file(path, "", 0);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!*folder) make_ranks();
  write_file("ranks.tsv", data, size);
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  int32_t rank[RANKS + 1];
  size_t count = 0, ranks = 0;
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
