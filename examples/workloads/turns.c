/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of beats that take turns within one run: with heartbeats, without, and with the
 * bare reading of the clock that a heartbeat contains.
 *
 * What the machine does to a run meets the blocks of a round alike: they are the same
 * code at the same addresses, milliseconds apart. Each is timed by the processor time
 * of its thread, so that threads which beat for the program (the recorder's helper)
 * are distinguished: their time is that of the process less that of the team. */
#include <stdio.h>

#include "workload.h"

/* The first beats of a block are not timed: they find nothing of theirs in the caches,
 * where a program that always beats would. */
static uint64_t warming_beats(uint64_t beats) {
  return beats / 8 + 1;
}

/* What the next block does at a beat. */
static enum workload_mark next_mark(struct workload_thread *me) {
  struct workload_turns *b = &me->turns;
  if (b->ended == WORKLOAD_MARKS * b->rounds) return WORKLOAD_BEATING;
  if (b->ended % WORKLOAD_MARKS) return (me->mark + b->stride) % WORKLOAD_MARKS;
  const uint64_t draw = workload_random(&b->draws);
  b->stride = 1 + (draw & 1);
  return (draw >> 1) % WORKLOAD_MARKS;
}

uint64_t workload_plan_turns(struct workload *w, uint64_t beats) {
  const uint64_t block = warming_beats(w->alternate) + w->alternate;
  const uint64_t rounds = beats / block / WORKLOAD_MARKS;
  for (int t = 0; rounds && t < w->threads; ++t) {
    w->team[t].turns = (struct workload_turns){
        .beats = w->alternate,
        .end = warming_beats(w->alternate),
        .warming = true,
        .rounds = rounds,
        .draws = w->seed,
        .seconds = workload_allocate(w, rounds, sizeof(double[WORKLOAD_MARKS]))};
    w->team[t].mark = next_mark(&w->team[t]);
  }
  return rounds;
}

void workload_take_turn(struct workload_thread *me) {
  struct workload_turns *b = &me->turns;
  const double now = workload_cpu_seconds(me->clock);
  if (b->warming) {
    b->began = now;
    b->end += b->beats;
  } else {
    b->seconds[b->ended / WORKLOAD_MARKS][me->mark] = now - b->began;
    ++b->ended;
    me->mark = next_mark(me);
    b->end += b->ended < WORKLOAD_MARKS * b->rounds ? warming_beats(b->beats) : 0;
  }
  b->warming = !b->warming;
}

void workload_print_turns(const struct workload *w) {
  for (int t = 0; t < w->threads; ++t) {
    const struct workload_turns *b = &w->team[t].turns;
    for (uint64_t r = 0; r < b->rounds && WORKLOAD_MARKS * (r + 1) <= b->ended; ++r) {
      const double *seconds = b->seconds[r];
      printf("%s: thread %d round: beating %.9f s, reading %.9f s, silent %.9f s\n",
             w->program->name, t, seconds[WORKLOAD_BEATING], seconds[WORKLOAD_READING],
             seconds[WORKLOAD_SILENT]);
    }
  }
  printf("%s: helper %.6f s\n", w->program->name, w->cpu_seconds - w->team_seconds);
}
