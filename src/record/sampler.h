/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptors that tsanom-sampler is started with, and its argument: another version
 * ends at once. */
#ifndef TSN_RECORD_SAMPLER_H
#define TSN_RECORD_SAMPLER_H

#include <tsanom/base.h>

#define TSN_TEXT(value) TSN_TEXT_OF(value)
#define TSN_TEXT_OF(value) #value
#define TSN_SAMPLER_VERSION      \
  TSN_TEXT(TSANOM_VERSION_MAJOR) \
  "." TSN_TEXT(TSANOM_VERSION_MINOR) "." TSN_TEXT(TSANOM_VERSION_PATCH)

enum {
  TSN_SAMPLER_FILE = 3, /* heartbeat.vital; 0 to 2 lead nowhere */
  TSN_SAMPLER_BOARD,    /* memory with the tsn_vital_board */
  TSN_SAMPLER_PROC,     /* directory of the program in /proc */
  TSN_SAMPLER_LIFE,     /* pipe that breaks when the program ends */
  TSN_SAMPLER_END
};

#endif
