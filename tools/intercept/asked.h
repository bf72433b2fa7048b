/* SPDX-License-Identifier: BSD-3-Clause */
/* What `tsanom record` asks for, read before the program's own code runs: the program may
 * change its environment, its root and its user. And messages: this library never writes
 * to a descriptor, which may be the program's file. */
#ifndef TSN_INTERCEPT_ASKED_H
#define TSN_INTERCEPT_ASKED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "environment.h"
#include "rank_file.h"
#include "record/messages.h"

enum { ICP_LOOP_BYTES = 512 };

typedef struct {
  char run[PATH_MAX];        /* the run directory; empty: nothing is recorded */
  char loop[ICP_LOOP_BYTES]; /* of --loop; empty: none is named */
  char labels[ENVIRONMENT_LABELS_BYTES];
  uint32_t heartbeat_every, metrics, baseline, baseline_iterations;
  bool cpu_time;
  /* The run begins when this process is loaded: that of a program without OpenMP and MPI,
   * or one to which its regions and calls are added. */
  bool is_plain, is_loaded;
  bool gives_way;   /* its place to the process that comes to a region first: record.c */
  bool is_rank;     /* mpirun started the launcher */
  uint64_t program; /* number of the process that the launcher has become */
  uint64_t max_size, events;
  rank_identity rank;
  bool has_rank;
  tsn_message_page *messages;
} icp_request;

extern icp_request icp_asked;

/* A constructor does it; that of a library which comes earlier may need it before. */
void icp_read_request(void);

/* A message to the readers of the run. `error`: an errno that explains it, or 0. */
#define ICP_REPORT(error, ...) tsn_messages_add(icp_asked.messages, error, __VA_ARGS__)

#endif
