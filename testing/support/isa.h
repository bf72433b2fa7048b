/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_TEST_ISA_H
#define TSANOM_TEST_ISA_H

#include <tsanom/base.h>

/* The levels of instruction set that this machine can run, worst first. */
#define FOR_EACH_ISA(isa)                                          \
  for (int32_t isa = TSANOM_ISA_BASE; isa <= TSANOM_ISA_V4; isa++) \
    if (tsanom_isa_available(isa))

#endif
