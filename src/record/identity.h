/* SPDX-License-Identifier: BSD-3-Clause */
/* Where process numbers and CLOCK_MONOTONIC have one meaning: the same boot of a machine,
 * and the same namespaces. The recorder writes it, and readers compare it with their own:
 * this file is part of both libraries, and of the launcher. */
#ifndef TSN_RECORD_IDENTITY_H
#define TSN_RECORD_IDENTITY_H

#include <stdbool.h>

#include "record/format.h"

/* Host, boot and namespaces of this process. What is not known is zeros. */
void tsn_identify(tsn_run_header *header);

/* Whether the process number of a run names the process here, too, and whether its
 * CLOCK_MONOTONIC is the one here. False where one of both is not known. */
bool tsn_is_same_process_space(const tsn_run_header *run, const tsn_run_header *here);
bool tsn_is_same_clock(const tsn_run_header *run, const tsn_run_header *here);

#endif
