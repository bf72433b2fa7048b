/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that the recorder cannot write: the sentence has the path and the reason. Of a
 * long path it has the end, so that the reason fits. */
#include "record/reject.h"

#include <errno.h>
#include <string.h>

#include "core/fault.h"

tsanom_status tsn_reject_path(const tsanom_exec *exec, const char *verb, const char *path,
                              int error) {
  enum { MOST = 128 };
  tsn_file_place place = {.file = path};
  size_t length = strlen(path);
  const char *end = length > MOST ? path + length - MOST : path;
  const char *advice = error == EEXIST ? "; give a directory without a run" : "";
  return tsn_reject_file(exec, TSANOM_E_IO, &place, "cannot %s %s%s: %s%s", verb,
                         end == path ? "" : "...", end, strerrordesc_np(error), advice);
}
