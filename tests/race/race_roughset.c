/* SPDX-License-Identifier: BSD-3-Clause */
/* Rough sets on four threads: both ways to elements, absorption, and the
 * counting of a greedy reduct. */
#include <stdio.h>
#include <stdlib.h>

#include "race/levels.h"
#include "roughset/tables.h"

enum { TALL = 5000, WIDE = 30 };

static int run(size_t rows, size_t attributes, const tsanom_exec *exec) {
  static int32_t values[TALL * WIDE], decision[TALL];
  static uint64_t elements[1 << 18];
  fill_family(FAMILY_MIXED, rows, attributes, values, decision);
  tsanom_roughset_table table = table_of(values, decision, rows, attributes);
  tsanom_roughset_options options;
  tsanom_roughset_options_init(&options, sizeof options);
  options.reduct_limit = 20000;
  size_t count, found;
  uint64_t reduct;
  if (tsanom_roughset_elements(&table, NULL, exec, elements, 1 << 18, &count) !=
      TSANOM_OK) {
    return 1;
  }
  if (tsanom_roughset_reducts(elements, count, attributes, &options, exec, NULL, &found) <
      0) {
    return 1;
  }
  return tsanom_roughset_greedy(&table, NULL, exec, &reduct, NULL) != TSANOM_OK;
}

int main(void) {
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.threads = 4;
  for (int k = 0; k < RACE_LEVELS; k++) {
    exec.isa = race_level[k];
    if (run(1500, 16, &exec) || run(500, 28, &exec) || run(TALL, 8, &exec)) return 1;
  }
  puts("no race");
  return 0;
}
