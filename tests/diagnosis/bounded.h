/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches for which one sign has a limit. */
#ifndef TSANOM_TEST_DIAGNOSIS_BOUNDED_H
#define TSANOM_TEST_DIAGNOSIS_BOUNDED_H

#include <tsanom/diagnosis.h>

enum { BOUNDED_THREADS = 2, BOUNDED_BEATS = 20 };

/* A watch by normal runs of `threads` threads and BOUNDED_BEATS beats, in which the sign
 * is at most `limit`, and all others have no limit. */
tsanom_diagnosis_watch *bounded_watch(size_t threads, int32_t sign, double limit);

#endif
