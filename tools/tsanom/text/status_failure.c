/* SPDX-License-Identifier: BSD-3-Clause */
/* Apart from failure.c, because the launcher does not link libtsanom. */
#include <stdio.h>
#include <tsanom/base.h>

#include "failure.h"

int fail_status(failure *why, const char *name, tsanom_status status) {
  return fail(why, "%s: %s", name, tsanom_status_text(status));
}

tsanom_exec exec_with_fault(const tsanom_exec *exec, tsanom_fault *fault) {
  tsanom_exec own;
  if (!exec) tsanom_exec_init(&own, sizeof own);
  if (exec) own = *exec;
  *fault = (tsanom_fault){.struct_size = sizeof *fault};
  own.fault = fault;
  return own;
}

int fail_fault(failure *why, const char *name, tsanom_status status,
               const tsanom_fault *fault) {
  char place[64] = "";
  if (fault->status == TSANOM_OK) return fail_status(why, name, status);
  if (fault->file[0] == '\0') return fail(why, "%s: %s", name, fault->text);
  unsigned long long line = fault->line, column = fault->column, byte = fault->offset;
  if (line && column) {
    snprintf(place, sizeof place, ":%llu: column %llu", line, column);
  } else if (line) {
    snprintf(place, sizeof place, ":%llu", line);
  } else if (byte) {
    snprintf(place, sizeof place, ": byte %llu", byte);
  }
  return fail(why, "%s%s: %s", fault->file, place, fault->text);
}
