/* SPDX-License-Identifier: BSD-3-Clause */
/* A second source file that includes compat.h. */
#ifndef TSANOM_TESTS_DPD_OTHER_FILE_H
#define TSANOM_TESTS_DPD_OTHER_FILE_H

#include <stddef.h>

size_t window_in_other_file(void);
void resize_in_other_file(int size);

#endif
