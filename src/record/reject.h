/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_RECORD_REJECT_H
#define TSN_RECORD_REJECT_H

#include <tsanom/base.h>

/* Report to exec's fault (`exec` is a checked one or NULL) that the recorder cannot
 * "create", "open", ... the file or directory; `error` is an errno. The sentence has the
 * end of a long path, so that the reason fits. Returns TSANOM_E_IO. */
tsanom_status tsn_reject_path(const tsanom_exec *exec, const char *verb, const char *path,
                              int error);

#endif
