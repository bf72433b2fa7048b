/* SPDX-License-Identifier: BSD-3-Clause */
/* The five steps as the paper words them, on whole vectors: nothing is shared with
 * the library but the definition. */
#ifndef TSANOM_TEST_SPMD_REFERENCE_H
#define TSANOM_TEST_SPMD_REFERENCE_H

#include <tsanom/spmd.h>

enum { REFERENCE_PROCESSES = 40, REFERENCE_REGIONS = 24 };

typedef struct {
  int32_t class_of[REFERENCE_PROCESSES];
  size_t classes, combination;
  int32_t search;
  int ccr[REFERENCE_REGIONS], cccr[REFERENCE_REGIONS];
  double severity;
} reference_answer;

/* Regions need parent[k] < k here, and no region be the program. With `deep` the search
 * goes on where the paper's ends. */
void reference_analyse(const tsanom_spmd_data *data, double tolerance, int deep,
                       reference_answer *answer);

#endif
