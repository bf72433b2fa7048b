/* SPDX-License-Identifier: BSD-3-Clause */
/* What the preloaded recorders, which are linked with this library, ask it besides its
 * public functions. */
#ifndef TSN_RECORD_INSIDE_H
#define TSN_RECORD_INSIDE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <tsanom/record.h>

#include "record/file.h"
#include "record/format.h"

/* The clock of a run, TSANOM_RECORD_CLOCK_*, and its time 0. */
int32_t tsn_record_clock(const tsanom_record *record, tsn_moment *first);

/* Take back the latest event that this thread has recorded by that number, if it is `event`
 * and younger than `age` ticks: what it ended continues, and ends later. Its place in the
 * file is free for the next event. */
bool tsn_record_take_back(const tsanom_record *record, int32_t thread, uint32_t event,
                          uint64_t age);

/* Which visits have processor times, TSN_CPU_TIMES_*: in the header from now on. */
void tsn_record_set_cpu_times(const tsanom_record *record, uint32_t which);

/* Of several threads that open regions of their own, the one that readers show: in the headers from now
 * on. */
void tsn_record_set_opener(const tsanom_record *record, uint32_t opener);

/* Files besides the streams in the directory of the events. The first creates one, the
 * second makes sure that its descriptor is open, and each use ends with the third. Return 0
 * or an errno. */
int tsn_record_create_file(const tsanom_record *record, tsn_file *file, const char *name);
int tsn_record_use_file(const tsanom_record *record, tsn_file *file, const char *name);
void tsn_record_settle(const tsanom_record *record, tsn_file *file);

/* Go on with the run, of beats and events, in another directory, which exists, by its absolute
 * path. Returns 0 or an errno, and goes on where it is: EEXIST, there is a run. */
int tsn_record_move(const tsanom_record *record, const char *directory);

/* What the sampler reads of a thread and its team: the thread of that number alone writes.
 * NULL: nothing samples it. The child of a fork has no such memory. */
enum { TSN_TEAM_UNKNOWN = 0, TSN_TEAM_WORKS, TSN_TEAM_WAITS };
enum { TSN_TEAM_MOST = 256 };
typedef struct {
  _Alignas(64) _Atomic uint64_t spun; /* ns of processor time in which it waited */
  _Atomic uint32_t state;             /* TSN_TEAM_* */
} tsn_team_thread;
tsn_team_thread *tsn_record_team(const tsanom_record *record, uint32_t thread);

/* Announce threads of a run that began with less, before they beat. As long as other streams are
 * there, or if one cannot be created, they get theirs when they beat. */
void tsn_record_announce(const tsanom_record *record, int32_t threads);

/* Let the sampler know the calling thread by a number, without a beat. */
void tsn_record_enter(const tsanom_record *record, int32_t thread);

/* Finish the run in exit(): a signal handler that called it does not return to the beat
 * that it interrupted. */
tsanom_status tsn_record_end(const tsanom_record *record);

/* Look for the sampler of vital signs now: later the program may have cleared its
 * environment, or have another root. */
void tsn_vital_find_sampler(void);

#endif
