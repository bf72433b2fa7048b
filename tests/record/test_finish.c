/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that beat while the run is finished. Functions of the C library that the
 * recorder calls on the way stop a thread at a given place. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <tsanom/heartbeat.h>
#include <tsanom/record.h>

#include "support/check.h"
#include "support/run_directory.h"

TestSuite(record_finish, .init = make_directory, .fini = remove_directory);

static void await(_Atomic int *flag) {
  while (!atomic_load(flag)) sched_yield();
}

static _Thread_local bool stops;
static _Atomic int has_stopped, may_go_on, sleeps;

/* Called in the first beat of a thread, between the checks of the run and the search for
 * a stream. */
int __real_pthread_setspecific(pthread_key_t key, const void *value);
int __wrap_pthread_setspecific(pthread_key_t key, const void *value);
int __wrap_pthread_setspecific(pthread_key_t key, const void *value) {
  if (stops) {
    atomic_store(&has_stopped, 1);
    await(&may_go_on);
  }
  return __real_pthread_setspecific(key, value);
}

int __real_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest) {
  atomic_fetch_add(&sleeps, 1);
  return __real_nanosleep(time, rest);
}

static void *beat_late(void *status) {
  stops = true;
  *(tsanom_status *)status = tsanom_heartbeat_beat(1, 7);
  return NULL;
}

Test(record_finish, a_stream_of_a_finished_run_has_no_new_owner) {
  pthread_t thread;
  tsanom_status status = TSANOM_OK;
  CHECK_STATUS(tsanom_heartbeat_init(directory, 2, NULL, NULL), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_beat(0, 7), TSANOM_OK);
  cr_assert(pthread_create(&thread, NULL, beat_late, &status) == 0);
  await(&has_stopped);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  atomic_store(&may_go_on, 1);
  cr_assert(pthread_join(thread, NULL) == 0);
  CHECK_STATUS(status, TSANOM_E_STATE);
  tsanom_runs *run = open_run(directory);
  cr_assert(describe(run).beats == 1);
  tsanom_runs_destroy(run);
}

/* Beats have no fence between their state and the ownership of their stream: the pause of
 * finish between revoking the one and reading the other stands for it. */
Test(record_finish, pauses_before_it_looks_for_beats) {
  tsanom_record *record = NULL;
  tsanom_record_options options;
  CHECK_STATUS(tsanom_record_options_init(&options, sizeof options), TSANOM_OK);
  options.helper = TSANOM_RECORD_HELPER_NONE;
  CHECK_STATUS(tsanom_record_create(directory, 1, &options, NULL, &record), TSANOM_OK);
  CHECK_STATUS(tsanom_record_beat(record, 0, 7), TSANOM_OK);
  int before = atomic_load(&sleeps);
  CHECK_STATUS(tsanom_record_finish(record), TSANOM_OK);
  cr_assert(atomic_load(&sleeps) > before);
  tsanom_record_destroy(record);
}
