/* SPDX-License-Identifier: BSD-3-Clause */
/* What takes a lock, makes system calls or asks the loader: it runs without signal handlers
 * and cancellation (record/guard.h), on a stack of the recorder's own, because the program's
 * may be of 16 KiB, and leaves errno as it was. */
#ifndef TSN_INTERCEPT_SECTION_H
#define TSN_INTERCEPT_SECTION_H

/* Sections may be nested. Where the system gives no stack, the thread's own serves. */
void icp_section(void (*work)(void *argument), void *argument);

#endif
