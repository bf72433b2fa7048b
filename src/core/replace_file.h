/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that appear complete or not at all. libtsanom-runs and the command contain it. */
#ifndef TSN_CORE_REPLACE_FILE_H
#define TSN_CORE_REPLACE_FILE_H

#include <stddef.h>

/* Write a file. NULL: it is complete; else what is wrong, such as "cannot write", and in
 * `error` the errno that explains it, or 0: nothing was changed. */
const char *tsn_replace_file(const char *path, const void *bytes, size_t count,
                             int *error);

#endif
