/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the system allows few threads, a call uses fewer: libgomp would end the process. The limit
 * of the address space works for root, too. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <tsanom/dtw.h>

enum { COUNT = 40, LENGTH = 64, PAIRS = COUNT * (COUNT - 1) / 2 };

static double samples[COUNT * LENGTH], one[PAIRS], many[PAIRS];

int main(void) {
  for (size_t i = 0; i < COUNT * LENGTH; i++) samples[i] = (double)(i * 37 % 101);
  tsanom_series set;
  tsanom_exec exec;
  set = (tsanom_series){.struct_size = sizeof set};
  tsanom_exec_init(&exec, sizeof exec);
  set.count = COUNT;
  set.length = LENGTH;
  set.data = samples;
  if (tsanom_dtw_condensed(&set, NULL, &exec, one, NULL) != TSANOM_OK) return 1;
  const struct rlimit limit = {400 << 20, 400 << 20};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
  exec.threads = 64;
  if (tsanom_dtw_condensed(&set, NULL, &exec, many, NULL) != TSANOM_OK) return 1;
  if (memcmp(one, many, sizeof one) != 0) return 1;
  puts("the same distances");
  return 0;
}
