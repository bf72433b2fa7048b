/* SPDX-License-Identifier: BSD-3-Clause */
/* Workspaces of the searches, and blocks of the detectors. */
#include <tsanom/dpd.h>

#include "support/workspace.h"

enum { N = 400, KINDS = 7, MOST = 10 };

typedef struct {
  tsanom_dpd_main found;
  tsanom_dpd_iteration iteration[MOST];
} main_result;

static tsanom_status main_loop(const tsanom_exec *exec, void *result) {
  uint32_t events[N];
  double times[N + 1];
  main_result own = {.found.struct_size = sizeof own.found};
  tsanom_dpd_main_options options;
  tsanom_dpd_main_options_init(&options, sizeof options);
  options.kinds = KINDS;
  if (!result) {
    return tsanom_dpd_main_loop(NULL, NULL, N, &options, exec, NULL, NULL, MOST);
  }
  for (size_t i = 0; i <= N; i++) times[i] = (double)i;
  for (size_t i = 0; i < N; i++) events[i] = (uint32_t)(i % KINDS);
  tsanom_status status = tsanom_dpd_main_loop(events, times, N, &options, exec,
                                              &own.found, own.iteration, MOST);
  if (status >= 0) memcpy(result, &own, sizeof own);
  return status;
}

static tsanom_status find(const tsanom_exec *exec, void *result) {
  double samples[N];
  tsanom_dpd_found found = {.struct_size = sizeof found};
  if (!result) return tsanom_dpd_find(NULL, N, NULL, exec, NULL);
  for (size_t i = 0; i < N; i++) samples[i] = (double)(i * i % 23);
  tsanom_status status = tsanom_dpd_find(samples, N, NULL, exec, &found);
  if (status >= 0) memcpy(result, &found, sizeof found);
  return status;
}

Test(dpd_workspace, is_as_large_as_reported) {
  static const workspace_case cases[] = {
      {"main_loop", main_loop, sizeof(main_result)},
      {"find", find, sizeof(tsanom_dpd_found)},
  };
  check_workspaces(cases, sizeof cases / sizeof *cases);
}

#define OBJECT(type)                                                       \
  static tsanom_status create_##type(const tsanom_exec *exec, bool inputs, \
                                     void **object) {                      \
    tsanom_dpd_##type *made = NULL;                                        \
    (void)inputs;                                                          \
    tsanom_status status =                                                 \
        tsanom_dpd_##type##_create(NULL, exec, object ? &made : NULL);     \
    if (status >= 0) *object = made;                                       \
    return status;                                                         \
  }                                                                        \
  static void destroy_##type(void *object) {                               \
    tsanom_dpd_##type##_destroy(object);                                   \
  }

OBJECT(event)
OBJECT(nest)
OBJECT(value)

Test(dpd_workspace, a_detector_is_one_block) {
  check_object(create_event, destroy_event);
  check_object(create_nest, destroy_nest);
  check_object(create_value, destroy_value);
  tsanom_dpd_event_destroy(NULL);
  tsanom_dpd_nest_destroy(NULL);
  tsanom_dpd_value_destroy(NULL);
}
