/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment variables of a recorded program: those by which `tsanom record` (the
 * launcher) instructs the preloaded library (intercept). */
#ifndef TSANOM_TOOLS_ENVIRONMENT_H
#define TSANOM_TOOLS_ENVIRONMENT_H

#include <stddef.h>

/* Absolute path of the run directory. */
#define ENVIRONMENT_RUN "TSANOM_RECORD_DIRECTORY"

#define ENVIRONMENT_LOOP "TSANOM_RECORD_LOOP"     /* the place of --loop; unset: none */
#define ENVIRONMENT_LABELS "TSANOM_RECORD_LABELS" /* lines KEY=VALUE */
#define ENVIRONMENT_LABELS_BYTES 2048
#define ENVIRONMENT_LOOP_TIME "time" /* no place: beats are of time */

/* Numbers; 0 or unset: off. */
#define ENVIRONMENT_HEARTBEAT_EVERY "TSANOM_RECORD_HEARTBEAT_EVERY"
#define ENVIRONMENT_CPU_TIME "TSANOM_RECORD_CPU_TIME"
#define ENVIRONMENT_METRICS "TSANOM_RECORD_METRICS" /* bits of metrics */
#define ENVIRONMENT_FUNCTIONS "TSANOM_RECORD_FUNCTIONS"
#define ENVIRONMENT_MAX_SIZE "TSANOM_RECORD_MAX_SIZE" /* bytes */
/* Bytes of records behind which events are added up: as --profile and a run without
 * options have it. */
#define ENVIRONMENT_EVENTS "TSANOM_RECORD_EVENTS"
#define ENVIRONMENT_EVENTS_PROFILE ((size_t)1 << 15)
#define ENVIRONMENT_EVENTS_DEFAULT ((size_t)1 << 28)
/* The launcher is a process of mpirun, which starts further processes without it. */
#define ENVIRONMENT_IS_RANK "TSANOM_RECORD_IS_RANK"
/* What begins when the process that becomes the program is loaded; 0: nothing, the run begins at
 * its first region or call of MPI. */
#define ENVIRONMENT_AT_LOAD "TSANOM_RECORD_AT_LOAD"
#define ENVIRONMENT_PLAIN \
  1 /* the run of a program that shows no way to a region or call */
/* A run of its own until it comes to one, or a process that it starts. */
#define ENVIRONMENT_PLAIN_FOR_NOW 2
#define ENVIRONMENT_LOADED 3 /* the run, to which its regions and calls are added */
/* The same, until a process that it starts comes to one first. */
#define ENVIRONMENT_LOADED_FOR_NOW 4
/* Where that run is until it has ended, in the directory of the run. */
#define ENVIRONMENT_PLAIN_DIRECTORY "program"
/* Number of the process that becomes the program. */
#define ENVIRONMENT_PROCESS "TSANOM_RECORD_PROCESS"
/* Inode of the namespace of that number: containers inside have others. */
#define ENVIRONMENT_PROCESS_SPACE "TSANOM_RECORD_PROCESS_SPACE"
#define ENVIRONMENT_BASELINE "TSANOM_RECORD_BASELINE"
#define ENVIRONMENT_BASELINE_ITERATIONS "TSANOM_RECORD_BASELINE_ITERATIONS"

/* What a recorder reports where --max-size ends its recording; readers know by it that the
 * program went on. */
#define ENVIRONMENT_FULL \
  "the records that --max-size allows are written; the rest is not recorded"

#endif
