/* SPDX-License-Identifier: BSD-3-Clause */
/* The levels that races are looked for at. ThreadSanitizer of clang 14 passes over
 * accesses wider than 16 bytes: what vectors do is seen at the base level only. */
#ifndef TSANOM_TEST_RACE_LEVELS_H
#define TSANOM_TEST_RACE_LEVELS_H

#include <tsanom/base.h>

enum { RACE_LEVELS = 2 };
static const int32_t race_level[RACE_LEVELS] = {TSANOM_ISA_BASE, TSANOM_ISA_AUTO};

#endif
