/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the modules that compute on small and on large inputs, with workspaces. */
#ifndef TSANOM_TEST_CONTRACT_MODULES_H
#define TSANOM_TEST_CONTRACT_MODULES_H

#include <tsanom/base.h>

/* What the program that runs the modules does around each call. */
void watch_begin(void);
void watch_end(const char *call, tsanom_status status);

void call_modules(const tsanom_exec *exec);

#endif
