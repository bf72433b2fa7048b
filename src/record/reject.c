/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that the recorder cannot write: fault.file is the path, fault.text the reason. */
#include "record/reject.h"

#include <errno.h>
#include <string.h>

#include "core/fault.h"

tsanom_status tsn_reject_path(const tsanom_exec *exec, const char *verb, const char *path,
                              int error) {
  tsn_file_place place = {.file = path};
  const char *advice = error == EEXIST ? "; give a directory without a run" : "";
  return tsn_reject_file(exec, TSANOM_E_IO, &place, "cannot %s it: %s%s", verb,
                         tsn_error_text(error), advice);
}
