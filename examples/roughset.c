/* SPDX-License-Identifier: BSD-3-Clause */
/* Why do the processes of Geo-ST differ? Table 2 of the SPMD paper: five metrics of
 * eight processes, coded by clustering, and the cluster of each process. */
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/roughset.h>

enum { PROCESSES = 8, METRICS = 5, PAIRS = PROCESSES * (PROCESSES - 1) / 2 };

static const char *const metric[METRICS] = {"L1 cache miss rate", "L2 cache miss rate",
                                            "disk I/O quantity", "network I/O quantity",
                                            "executed instructions"};

static const int32_t values[PROCESSES * METRICS] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 2,
    0, 1, 0, 0, 3, 1, 1, 0, 1, 4, 1, 2, 0, 1, 3, 1, 2, 0, 0, 4};
static const int32_t cluster[PROCESSES] = {0, 1, 1, 2, 3, 4, 3, 4};

static int32_t print_reduct(void *user, const uint64_t *reduct, size_t size) {
  (void)user;
  printf("reduct of %zu:", size);
  for (size_t a = 0; a < METRICS; a++) {
    if (reduct[0] >> a & 1) printf(" %s.", metric[a]);
  }
  puts("");
  return 0;
}

static int complain(tsanom_status status) {
  (void)fprintf(stderr, "%s\n", tsanom_status_text(status));
  return EXIT_FAILURE;
}

int main(void) {
  tsanom_roughset_table table;
  tsanom_roughset_options options;
  uint64_t elements[PAIRS], reduct;
  size_t count;
  tsanom_roughset_bounds bounds;
  tsanom_roughset_rule rules[PROCESSES];

  table = (tsanom_roughset_table){.struct_size = sizeof table};
  table.rows = PROCESSES;
  table.attributes = METRICS;
  table.values = values;
  table.decision = cluster;
  tsanom_roughset_options_init(&options, sizeof options);

  /* The elements of the discernibility matrix, and from them every reduct. */
  tsanom_status status =
      tsanom_roughset_elements(&table, &options, NULL, elements, PAIRS, &count);
  if (status < 0) return complain(status);
  status = tsanom_roughset_reducts(elements, count, METRICS, &options, NULL,
                                   &(tsanom_roughset_visitor){print_reduct, NULL}, NULL);
  if (status < 0) return complain(status);

  /* A smallest reduct without the matrix, and what it says. */
  status = tsanom_roughset_minimum(&table, &options, NULL, NULL, &bounds, &reduct, NULL);
  if (status < 0) return complain(status);
  status = tsanom_roughset_rules(&table, &reduct, NULL, rules, PROCESSES, &count);
  if (status < 0) return complain(status);
  for (size_t k = 0; k < count; k++) {
    printf("if");
    for (size_t a = 0; a < METRICS; a++) {
      if (!(reduct >> a & 1)) continue;
      printf(" %s is in class %d", metric[a], (int)values[rules[k].row * METRICS + a]);
    }
    printf(", then cluster %d (%zu of %zu)\n", (int)rules[k].decision, rules[k].support,
           rules[k].matching);
  }
  return EXIT_SUCCESS;
}
