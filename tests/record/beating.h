/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that beat in a child process, and what their run then holds. */
#ifndef TSANOM_TEST_BEATING_H
#define TSANOM_TEST_BEATING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "support/run_directory.h"

enum { RUN_PATH = DIRECTORY_CAPACITY + 32 };

/* Counts that a child shares with its parent. */
typedef struct {
  _Atomic uint64_t started; /* 1: the run was started */
  _Atomic uint64_t recorded, rejected;
  _Atomic int64_t finish; /* status; 1000: not called */
} beat_counts;

/* The counts, which are zero; shared by processes forked later. */
beat_counts *new_counts(void);

/* Run `body` in a child process, which has a minute; its wait status. */
int in_child(int (*body)(void));

/* Mounts of this process do not concern others from now on. Root of a new user namespace
 * may mount what it could not otherwise; false: not permitted here, or the root directory
 * is none of a file system, as in a chroot, so that the mounts might appear outside. */
bool leave_mount_namespace(void);

/* Beat `count` times as thread 0; each tag is one more than that of the beat before. */
void beat(beat_counts *counts, uint32_t count);

/* Start a run, beat and finish; 0 if every beat had a documented status. */
int record_beats(beat_counts *counts, const char *path, int32_t helper, uint32_t count);

/* Assert that the run reads, and has the recorded beats of thread 0 and no others. */
void check_beats(const beat_counts *counts, const char *path);

#endif
