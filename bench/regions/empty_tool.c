/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool for OMPT whose callbacks do nothing: what the runtime itself takes for
 * calling those that `tsanom record` asks for. */
#include <omp-tools.h>
#include <stddef.h>

static void begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
                  unsigned requested, int flags, const void *address) {
  (void)task, (void)frame, (void)parallel, (void)requested, (void)flags, (void)address;
}

static void end(ompt_data_t *parallel, ompt_data_t *task, int flags,
                const void *address) {
  (void)parallel, (void)task, (void)flags, (void)address;
}

static void member(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
                   ompt_data_t *task, unsigned size, unsigned number, int flags) {
  (void)endpoint, (void)parallel, (void)task, (void)size, (void)number, (void)flags;
}

static void synchronize(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
                        ompt_data_t *parallel, ompt_data_t *task, const void *address) {
  (void)kind, (void)endpoint, (void)parallel, (void)task, (void)address;
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool) {
  (void)device, (void)tool;
  ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
  set(ompt_callback_parallel_begin, (ompt_callback_t)begin);
  set(ompt_callback_parallel_end, (ompt_callback_t)end);
  set(ompt_callback_implicit_task, (ompt_callback_t)member);
  set(ompt_callback_sync_region, (ompt_callback_t)synchronize);
  return 1;
}

static void finalize(ompt_data_t *tool) {
  (void)tool;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime) {
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  (void)version, (void)runtime;
  return &result;
}
