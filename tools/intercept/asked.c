/* SPDX-License-Identifier: BSD-3-Clause */
#include "asked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "record/inside.h"
#include "thread.h"

icp_request icp_asked;

/* Read before the program's own code runs: without it the first function must not begin
 * the run. */
bool icp_wants_functions;

static uint64_t number_in(const char *name) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 10) : 0;
}

static void copy_text(const char *name, char *text, size_t bytes) {
  const char *value = getenv(name);
  if (value && strlen(value) < bytes) memcpy(text, value, strlen(value) + 1);
}

__attribute__((constructor)) void icp_read_request(void) {
  static bool is_read;
  icp_request *r = &icp_asked;
  if (is_read) return;
  is_read = true;
  copy_text(ENVIRONMENT_RUN, r->run, sizeof r->run);
  if (!*r->run) return;
  copy_text(ENVIRONMENT_LOOP, r->loop, sizeof r->loop);
  copy_text(ENVIRONMENT_LABELS, r->labels, sizeof r->labels);
  r->heartbeat_every = (uint32_t)number_in(ENVIRONMENT_HEARTBEAT_EVERY);
  r->metrics = (uint32_t)number_in(ENVIRONMENT_METRICS);
  r->baseline = (uint32_t)number_in(ENVIRONMENT_BASELINE);
  r->baseline_iterations = (uint32_t)number_in(ENVIRONMENT_BASELINE_ITERATIONS);
  r->cpu_time = number_in(ENVIRONMENT_CPU_TIME) != 0;
  r->is_rank = number_in(ENVIRONMENT_IS_RANK) == 1;
  r->program = number_in(ENVIRONMENT_PROCESS);
  r->is_plain = number_in(ENVIRONMENT_PLAIN) != 0 && r->program == (uint64_t)getpid();
  r->max_size = number_in(ENVIRONMENT_MAX_SIZE);
  r->events = number_in(ENVIRONMENT_EVENTS);
  icp_wants_functions = number_in(ENVIRONMENT_FUNCTIONS) != 0;
  r->has_rank = rank_from_environment(&r->rank);
  tsn_vital_find_sampler();
  r->messages = tsn_messages_map(r->run);
}
