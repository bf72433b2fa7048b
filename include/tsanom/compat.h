/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  The calls of the papers under the papers' own names: include this header to compile
 *  their listings. In a new program, use the functions of the library instead:
 *
 *  | name in the papers                     | in the library                           |
 *  |----------------------------------------|------------------------------------------|
 *  | Heartbeat_OpenMP_Init(), _Generate(), _Finished() | tsanom_heartbeat_init(), _beat(), _finish() of <tsanom/heartbeat.h> |
 *  | DPD(), DPDWindowSize()                 | ::tsanom_dpd_event: any number of them   |
 *  | Par_begin(), Par_end()                 | tsanom_spmd_begin(), tsanom_spmd_end() of <tsanom/record.h> |
 *
 *  @code{.c}
 *  int period;
 *  DPDWindowSize(6);
 *  for (long i = 0; i < 15; i++) {
 *    if (DPD(i % 3, &period)) printf("event %ld starts a period of %d\n", i, period);
 *  }
 *  // -> event 8 starts a period of 3
 *  // -> event 11 starts a period of 3
 *  // -> event 14 starts a period of 3
 *  @endcode
 *
 *  They are thin wrappers, and inline, against the rule of the other headers, because the
 *  libraries export no name that does not begin with tsanom_. <tsanom/tsanom.h> does not
 *  include them. */
#ifndef TSANOM_COMPAT_H
#define TSANOM_COMPAT_H

#include <stdio.h>
#include <stdlib.h>
#include <tsanom/dpd.h>
#include <tsanom/heartbeat.h>
#include <tsanom/record.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/** @addtogroup compat
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/** Start to record heartbeats (heartbeat paper, section 2): a run with as many
 *  announced threads as OpenMP would use, or one where the program is compiled
 *  without OpenMP. Its folder is the value of the environment variable
 *  TSANOM_HEARTBEAT_FOLDER, or "heartbeat.PID" in the working directory.
 *  @return as tsanom_heartbeat_init() */
static inline tsanom_status Heartbeat_OpenMP_Init(void) {
  char own[40];
  const char *folder = getenv("TSANOM_HEARTBEAT_FOLDER");
  int32_t threads = 1;
#ifdef _OPENMP
  threads = (int32_t)omp_get_max_threads();
#endif
  if (!folder || !*folder) {
    (void)snprintf(own, sizeof own, "heartbeat.%ld", (long)getpid());
    folder = own;
  }
  return tsanom_heartbeat_init(folder, threads, NULL, NULL);
}

/** Beat in every `cycle`-th iteration (heartbeat paper, section 2 and table 1).
 *  @param thread     number of the thread, as omp_get_thread_num() gives it
 *  @param cycle      the beat cycle, >= 1
 *  @param iteration  number of the iteration, the tag of the beat
 *  @retval TSANOM_E_OPTION  cycle is below 1
 *  @return TSANOM_OK where `iteration` is no multiple of `cycle`; else of
 *          tsanom_heartbeat_beat() */
static inline tsanom_status Heartbeat_OpenMP_Generate(int thread, int cycle,
                                                      long iteration) {
  if (cycle < 1) return TSANOM_E_OPTION;
  if (iteration % cycle != 0) return TSANOM_OK;
  return tsanom_heartbeat_beat((int32_t)thread, (uint32_t)iteration);
}

/** Stop the heartbeat (heartbeat paper, section 2).
 *  @return as tsanom_heartbeat_finish() */
static inline tsanom_status Heartbeat_OpenMP_Finished(void) {
  return tsanom_heartbeat_finish();
}

/** Heartbeat_OpenMP_Init() as listing 1 spells it. @return as there */
static inline tsanom_status L_Heartbeat_OpenMP_Init(void) {
  return Heartbeat_OpenMP_Init();
}

/** Heartbeat_OpenMP_Generate() as listing 1 spells it.
 *  @param thread     as there
 *  @param cycle      as there
 *  @param iteration  as there
 *  @return as there */
static inline tsanom_status L_Heartbeat_OpenMP_Generate(int thread, int cycle,
                                                        long iteration) {
  return Heartbeat_OpenMP_Generate(thread, cycle, iteration);
}

/** Heartbeat_OpenMP_Finished() in the spelling of the other two. @return as there */
static inline tsanom_status L_Heartbeat_OpenMP_Finished(void) {
  return Heartbeat_OpenMP_Finished();
}

/** The detector of DPD(): one per program. The definition is weak, so that all source
 *  files share it. NULL until the first call. */
__attribute__((weak)) tsanom_dpd_event *tsanom_compat_dpd = NULL;

/** Set the window of DPD() (periodicity paper, section 4 and table 1); initially 1024
 *  events. The history is kept unless the window becomes larger than ever before. Not
 *  thread-safe.
 *  @param size  N, 1 to ::TSANOM_DPD_WINDOW_MAX; other values change nothing, nor does a
 *               failed allocation */
static inline void DPDWindowSize(int size) {
  tsanom_dpd_event_options options;
  tsanom_dpd_event *made = NULL;
  if (size < 1) return;
  if (tsanom_compat_dpd &&
      tsanom_dpd_event_resize(tsanom_compat_dpd, (size_t)size) == TSANOM_OK) {
    return;
  }
  (void)tsanom_dpd_event_options_init(&options, sizeof options);
  options.window = (size_t)size;
  if (tsanom_dpd_event_create(&options, NULL, &made) != TSANOM_OK) return;
  tsanom_dpd_event_destroy(tsanom_compat_dpd);
  tsanom_compat_dpd = made;
}

/** Periodicity detection and segmentation (periodicity paper, section 4 and table 1):
 *  push one event of the program's stream. Not thread-safe.
 *  @param      sample  an identifier, such as the address of a parallel loop
 *  @param[out] period  the period in events; 0: none. NULL: not wanted
 *  @return 1 if this event starts a period, else 0; also 0 if the detector could not be
 *          allocated */
static inline int DPD(long sample, int *period) {
  tsanom_dpd_report report;
  report.period = 0;
  report.start = 0;
  if (!tsanom_compat_dpd) DPDWindowSize(1024);
  (void)tsanom_dpd_event_push(tsanom_compat_dpd, (uint64_t)sample, &report);
  if (period) *period = (int)report.period;
  return report.start;
}

/** Enter a code region (similarity paper, section 2, which leaves the arguments open).
 *  @param recorder  of the calling thread
 *  @param region    its number, from 0
 *  @return as tsanom_spmd_begin() */
static inline tsanom_status Par_begin(tsanom_spmd_recorder *recorder, int32_t region) {
  return tsanom_spmd_begin(recorder, region);
}

/** Leave a code region (similarity paper, section 2).
 *  @param recorder  of the calling thread
 *  @param region    the region entered last
 *  @return as tsanom_spmd_end() */
static inline tsanom_status Par_end(tsanom_spmd_recorder *recorder, int32_t region) {
  return tsanom_spmd_end(recorder, region);
}

#ifdef __cplusplus
}
#endif
/** @} */
#endif
