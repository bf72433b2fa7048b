/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the parallel regions that libgomp opens, those of OpenBLAS included. */
#ifndef TSANOM_TEST_CONTRACT_REGIONS_H
#define TSANOM_TEST_CONTRACT_REGIONS_H

#include <stddef.h>

extern size_t regions_opened;

#endif
