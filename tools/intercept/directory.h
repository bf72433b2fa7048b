/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_INTERCEPT_DIRECTORY_H
#define TSN_INTERCEPT_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>

/* The directory of this process: the run's own, or that of its rank. False: reported. */
bool icp_choose_directory(const char *run, char directory[PATH_MAX]);

/* Let readers of a run without beats know, while it continues, that it will have none. If
 * that fails, they know it when the program has ended. */
void icp_mark_time_beats(void);

/* Write what --label says to the run, as lines. */
void icp_write_labels(void);

/* A message; returns false. The program goes on unrecorded. `error`: an errno, or 0. */
bool icp_report_failure(int error, const char *why);

/* The same. Several processes without ranks share the run: the first that comes to a
 * region has it. */
bool icp_report_other_process(void);

#endif
