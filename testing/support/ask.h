/* SPDX-License-Identifier: BSD-3-Clause */
/* How a test asks a call for its workspace, as a user would:
 *
 *   tsanom_exec ask = ask_exec(&exec, &bytes);
 *   CHECK_STATUS(tsanom_x(NULL, n, &options, &ask, NULL), TSANOM_E_WORKSPACE); */
#ifndef TSANOM_TESTING_ASK_H
#define TSANOM_TESTING_ASK_H

#include <tsanom/base.h>

/* `exec` (NULL: the defaults) without memory: the call writes the size that it needs to
 * `bytes` and does nothing else. */
static inline tsanom_exec ask_exec(const tsanom_exec *exec, size_t *bytes) {
  static char none;
  tsanom_exec ask;
  if (exec) {
    ask = *exec;
  } else {
    (void)tsanom_exec_init(&ask, sizeof ask);
  }
  ask.work = &none;
  ask.work_bytes = 0;
  ask.work_needed = bytes;
  return ask;
}

#endif
