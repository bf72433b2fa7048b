/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of beats with and without heartbeats that take turns within one run.
 *
 * What the machine does to a run meets the blocks of a pair alike: they are the same
 * code at the same addresses, milliseconds apart. Each is timed by the processor time
 * of its thread, so that threads which beat for the program (the recorder's helper)
 * are told apart: their time is that of the process less that of the team. */
#include <stdio.h>

#include "workload.h"

uint64_t workload_plan_turns(struct workload *w, uint64_t beats) {
  /* The first block only warms up. */
  const uint64_t pairs = beats / w->alternate ? (beats / w->alternate - 1) / 2 : 0;
  for (int t = 0; pairs && t < w->threads; ++t) {
    w->team[t].turns = (struct workload_turns){
        .beats = w->alternate,
        .end = w->alternate,
        .pairs = pairs,
        .draws = w->seed,
        .seconds = workload_allocate(w, pairs, sizeof(double[2]))};
  }
  return pairs;
}

void workload_take_turn(struct workload_thread *me) {
  struct workload_turns *b = &me->turns;
  const double now = workload_cpu_seconds(me->clock);
  const uint64_t turn = b->ended++;
  if (turn) {
    b->seconds[(turn - 1) / 2][me->recording] = now - b->began;
  }
  if (turn == 2 * b->pairs) {
    me->recording = true;
    return;
  }
  me->recording = turn % 2 ? !me->recording : workload_random(&b->draws) & 1;
  b->end += b->beats;
  b->began = now;
}

void workload_print_turns(const struct workload *w) {
  for (int t = 0; t < w->threads; ++t) {
    const struct workload_turns *b = &w->team[t].turns;
    for (uint64_t p = 0; p < b->pairs && 2 * p + 2 < b->ended; ++p) {
      printf("%s: thread %d block pair: beating %.9f s, silent %.9f s\n",
             w->program->name, t, b->seconds[p][1], b->seconds[p][0]);
    }
  }
  printf("%s: helper %.6f s\n", w->program->name, w->cpu_seconds - w->team_seconds);
}
