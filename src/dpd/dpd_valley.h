/* SPDX-License-Identifier: BSD-3-Clause */
/* The valley of d(m) that belongs to the fundamental period. */
#ifndef TSN_DPD_VALLEY_H
#define TSN_DPD_VALLEY_H

#include "dpd/dpd_sums.h"

/* A sum at or below it belongs to a valley. */
double tsn_valley_threshold(double least, double mean);

/* The lowest point of the first valley; 0 if there is none, or if incomplete delays may
 * belong to it. */
size_t tsn_valley_first(const tsn_sums *sums, double threshold);

#endif
