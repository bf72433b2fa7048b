/* SPDX-License-Identifier: BSD-3-Clause */
/* The interception library: what its front ends (gomp.c, ompt.c) tell the
 * recorder (record.c) of the program's parallel regions. */
#ifndef TSN_INTERCEPT_INTERCEPT_H
#define TSN_INTERCEPT_INTERCEPT_H

#include <stdbool.h>
#include <stdint.h>

/* The state of a thread with regard to the regions that it is in. Eight bytes, so that
 * OMPT can keep one for us. */
typedef struct {
  uint16_t number;   /* its stream: its number in the outermost team */
  uint16_t team;     /* threads of the innermost team */
  uint16_t depth;    /* regions that it is in */
  uint8_t in_team;   /* of the watched thread, at depth 1: beats at iterations */
  uint8_t is_leader; /* the watched thread itself: its worksharing is recorded */
} icp_state;

/* A region as its opener began it. */
typedef struct {
  uint32_t place;
  uint32_t iteration; /* of the program */
  uint16_t depth;     /* of the opener */
  uint8_t watched;    /* opened by the watched thread outside of any region */
  uint8_t recorded;   /* 0: nothing is */
} icp_region;

/* Whether the program runs on LLVM's runtime: then the entry points of GNU's pass
 * through, for that runtime has them too and reports them itself. */
extern bool icp_by_ompt;

/* The opener, before and after the runtime's work. *threads is what was asked for,
 * 0: nothing; the recorder may change it to measure a baseline. `is_call`: the
 * address is one to return to. */
icp_region icp_open(const void *address, bool is_call, unsigned *threads);
void icp_close(const icp_region *region);

/* Each thread of the team: before the region's code; when the code is done and the
 * thread waits for the others; and when it leaves the team, with the state that
 * icp_enter() returned. `cpu` is for the recorder. */
icp_state icp_enter(const icp_region *region, int32_t number, int32_t size,
                    uint64_t *cpu);
void icp_work_done(const icp_region *region, int32_t number, uint64_t cpu);
void icp_leave(icp_state before);

/* A thread comes to the end of a worksharing construct, and has passed it. */
void icp_share(const void *return_address);
void icp_shared(void);

/* The thread number and team size, asked of the runtime. */
int32_t icp_thread_number(void);
int32_t icp_team_size(void);

#endif
