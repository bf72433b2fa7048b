/* SPDX-License-Identifier: BSD-3-Clause */
/* Without malloc(): an allocator that takes from one block, and nothing back. A detector
 * of periods lives in it. */
#include <stdio.h>
#include <tsanom/dpd.h>

static _Alignas(64) unsigned char memory[1 << 16];

/* alloc_user is the number of bytes taken. */
static void *take(void *alloc_user, size_t bytes) {
  size_t *used = alloc_user, size = (bytes + 63) / 64 * 64;
  if (size < bytes || size > sizeof memory - *used) return NULL;
  *used += size;
  return memory + *used - size;
}

static void keep(void *alloc_user, void *block) {
  (void)alloc_user;
  (void)block;
}

int main(void) {
  size_t used = 0, needed = 0;
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.alloc = take;
  exec.dealloc = keep;
  exec.alloc_user = &used;
  exec.work_needed = &needed; /* what the detector takes, also if there is too little */
  tsanom_dpd_event_options options;
  tsanom_dpd_event_options_init(&options, sizeof options);
  options.window = 32;
  tsanom_dpd_event *detector = NULL;
  if (tsanom_dpd_event_create(&options, &exec, &detector) != TSANOM_OK) {
    fprintf(stderr, "a detector needs %zu bytes\n", needed);
    return 1;
  }
  tsanom_dpd_report report = {0};
  for (uint64_t i = 0; i < 100; i++) tsanom_dpd_event_push(detector, i % 3, &report);
  printf("period %zu\n", report.period);
  tsanom_dpd_event_destroy(detector);
  return 0;
}
