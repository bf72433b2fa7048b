/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment variables of a recorded program: those by which `tsanom record` (the
 * launcher) instructs the preloaded library (intercept). */
#ifndef TSANOM_TOOLS_ENVIRONMENT_H
#define TSANOM_TOOLS_ENVIRONMENT_H

#define ENVIRONMENT_RUN                                           \
  "TSANOM_RECORD_DIRECTORY" /* absolute path of the run directory \
                             */

#define ENVIRONMENT_LOOP "TSANOM_RECORD_LOOP" /* the place of --loop; unset: none */

/* Numbers; 0 or unset: off. */
#define ENVIRONMENT_HEARTBEAT_EVERY "TSANOM_RECORD_HEARTBEAT_EVERY"
#define ENVIRONMENT_CPU_TIME "TSANOM_RECORD_CPU_TIME"
#define ENVIRONMENT_FUNCTIONS "TSANOM_RECORD_FUNCTIONS"
#define ENVIRONMENT_MAX_SIZE "TSANOM_RECORD_MAX_SIZE" /* bytes */
#define ENVIRONMENT_BASELINE "TSANOM_RECORD_BASELINE"
#define ENVIRONMENT_BASELINE_ITERATIONS "TSANOM_RECORD_BASELINE_ITERATIONS"

#endif
