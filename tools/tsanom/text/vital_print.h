/* SPDX-License-Identifier: BSD-3-Clause */
/* Vital signs of a run, as a table and as JSON. */
#ifndef TSANOM_COMMAND_VITAL_PRINT_H
#define TSANOM_COMMAND_VITAL_PRINT_H

#include <jansson.h>
#include <tsanom/diagnosis.h>

/* Whether the process or a thread was sampled. */
int vitals_exist(const tsanom_hsa_run *run);

/* For the process and each thread: the number of its samples, and the totals at its last
 * one; of memory, the most. */
void vitals_print(const tsanom_hsa_run *run);

/* An object with an array for each number; what is not known is null. */
json_t *vitals_json(const tsanom_hsa_vital *vital, size_t count);

#endif
