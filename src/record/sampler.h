/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptors that tsanom-sampler is started with. */
#ifndef TSN_RECORD_SAMPLER_H
#define TSN_RECORD_SAMPLER_H

enum {
  TSN_SAMPLER_FILE = 3, /* heartbeat.vital; 0 to 2 lead nowhere */
  TSN_SAMPLER_BOARD,    /* memory with the tsn_vital_board */
  TSN_SAMPLER_PROC,     /* directory of the program in /proc */
  TSN_SAMPLER_LIFE,     /* pipe that breaks when the program ends */
  TSN_SAMPLER_END
};

#endif
