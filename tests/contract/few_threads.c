/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the system allows few threads, a call uses fewer: libgomp would end the process. The limit
 * of the address space works for root, too. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <tsanom/dtw.h>

#include "support/rows.h"

enum { COUNT = 40, LENGTH = 64, PAIRS = COUNT * (COUNT - 1) / 2 };

static double samples[COUNT * LENGTH], one[PAIRS], many[PAIRS];

int main(void) {
  for (size_t i = 0; i < COUNT * LENGTH; i++) samples[i] = (double)(i * 37 % 101);
  const tsanom_series set = rows_of(samples, COUNT, LENGTH, 0);
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  if (tsanom_dtw_condensed(&set, NULL, &exec, one, NULL) != TSANOM_OK) return 1;
  const struct rlimit limit = {400 << 20, 400 << 20};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
  exec.threads = 64;
  if (tsanom_dtw_condensed(&set, NULL, &exec, many, NULL) != TSANOM_OK) return 1;
  if (memcmp(one, many, sizeof one) != 0) return 1;
  puts("the same distances");
  return 0;
}
