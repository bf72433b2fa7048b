/* SPDX-License-Identifier: BSD-3-Clause */
/* Explicit tasks are counted by their functions, by the thread that executes them. A
 * record for each would take longer than a small task. So a thread adds up, for the
 * latest function, and writes the sum before it starts with another function, or when it
 * is a 64th of all tasks of the thread, at least one and at most 64: the sums of a run
 * that ends lack less than that.
 *
 * Where no main loop is followed, a thread beats every 64 tasks that it creates, and
 * every 16 chunks of dynamic loops that it takes in one region: its progress in a program
 * that has one region around everything. The tags of these beats are the thread's own.
 * When a loop is found, they begin anew as those of an inner loop do. */
#include "tasks.h"

#include "intercept.h"

enum { TASKS_A_BEAT = 64, CHUNKS_A_BEAT = 16, TASKS_A_RECORD = 64 };

typedef struct {
  uint32_t place, pending; /* tasks of that place without a record yet */
  uint64_t count;          /* of all places */
  uint32_t beats;
} task_counts;

/* NULL: there is no memory for the thread. */
static task_counts *own_counts(void) {
  return icp_own_part(ICP_OWN_TASKS, sizeof(task_counts));
}

static void write_pending(task_counts *t) {
  if (t->pending) icp_record(TSN_REGIONS_TASK, t->place, t->pending);
  t->pending = 0;
}

static void beat(task_counts *t) {
  if (icp_set.beats_at_tasks && !icp_iteration()) icp_write_beat(++t->beats);
}

static void count_task(task_counts *t, uint32_t place) {
  uint64_t enough = ++t->count / TASKS_A_RECORD;
  if (place != t->place) write_pending(t);
  t->place = place;
  t->pending++;
  if (t->pending >= TASKS_A_RECORD || t->pending >= enough) write_pending(t);
  if (t->count % TASKS_A_BEAT == 0) beat(t);
}

/* At the end of a region, threads execute tasks, which may create others, after they have
 * left it: there the number of a member is the runtime's. */
uint16_t icp_task(const void *function, int family) {
  uint16_t runtime;
  if (!icp_recording_at(function, family)) return icp_runtime_at(function, family);
  uint32_t place = icp_place((uintptr_t)function, TSN_REGIONS_TASK, false);
  if (!icp_use_runtime(place, function, family, &runtime)) return runtime;
  icp_state before = icp_me.state;
  if (before.depth == 0) {
    icp_me.state.number = (uint32_t)icp_runtimes[runtime].thread_number();
  }
  task_counts *t = own_counts();
  if (t) count_task(t, place);
  icp_me.state = before;
  return runtime;
}

/* Of the team of the watched thread, as iterations are. */
void icp_chunk(void) {
  if (icp_me.state.role == ICP_OTHER || !icp_recording()) return;
  if (++icp_me.chunks % CHUNKS_A_BEAT != 0) return;
  task_counts *t = own_counts();
  if (t) beat(t);
}
