/* SPDX-License-Identifier: BSD-3-Clause */
/* What is used here of the OpenMP tools interface (OpenMP 5.1, sections 4.2 to 4.5).
 * Declared anew, because GCC has no <omp-tools.h>. The standard fixes all numbers and
 * layouts, so they hold for every runtime. */
#ifndef TSN_INTERCEPT_OMPT_ABI_H
#define TSN_INTERCEPT_OMPT_ABI_H

#include <stdint.h>

/* What the runtime keeps for the tool with each region and task: the tool's to use. */
typedef union {
  uint64_t value;
  void *pointer;
} ompt_data;

typedef void (*ompt_any_callback)(void);
typedef ompt_any_callback ompt_lookup(const char *name);
typedef int ompt_set_callback(int event, ompt_any_callback callback);

typedef struct {
  int (*initialize)(ompt_lookup *lookup, int device, ompt_data *tool);
  void (*finalize)(ompt_data *tool);
  ompt_data tool;
} ompt_start_result;

enum { /* ompt_callbacks_t */
       OMPT_CALLBACK_PARALLEL_BEGIN = 3,
       OMPT_CALLBACK_PARALLEL_END = 4,
       OMPT_CALLBACK_IMPLICIT_TASK = 7,
       OMPT_CALLBACK_SYNC_REGION = 23
};

enum { OMPT_SCOPE_BEGIN = 1, OMPT_SCOPE_END = 2 }; /* ompt_scope_endpoint_t */
enum { OMPT_TASK_INITIAL = 1 };                    /* ompt_task_flag_t */

enum { /* ompt_sync_region_t */
       OMPT_SYNC_BARRIER_IMPLICIT = 2,
       OMPT_SYNC_BARRIER_EXPLICIT = 3,
       OMPT_SYNC_BARRIER_IMPLICIT_WORKSHARE = 8,
       OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL = 9
};

#endif
