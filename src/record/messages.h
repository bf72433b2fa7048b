/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of recorders inside of a program, which must not write to a descriptor of the
 * program: one page of the run, RUN/messages, which all processes of the run map. The
 * launcher creates it, and readers of the run print it.
 *
 *   launcher ──create──▶ RUN/messages ◀──map── process 1, process 2, ...
 *                             │
 *                             ▼
 *                     tsanom_runs_messages() */
#ifndef TSN_RECORD_MESSAGES_H
#define TSN_RECORD_MESSAGES_H

#include <stdbool.h>

#include "record/format.h"

/* Create the page in a directory, or find the one that another process has created;
 * `anew`: instead of that one. Returns 0 or an errno. */
int tsn_messages_create(const char *directory, bool anew);

/* Map the page of a directory; NULL: there is none. */
tsn_message_page *tsn_messages_map(const char *directory);

/* Add a message; `error`: an errno that explains it, or 0. For any thread, also in signal
 * handlers: it takes no lock, and of more than TSN_MESSAGES the latest stay. */
__attribute__((format(printf, 3, 4))) void tsn_messages_add(tsn_message_page *page,
                                                            int error, const char *format,
                                                            ...);

#endif
