/* SPDX-License-Identifier: BSD-3-Clause */
/* A beat beside that of heartbeats-simple (src/hb.c), without its text log: with the
 * clock that each user reads. Ours is stored in a file, theirs in memory. */
#include <heartbeat.h> /* of heartbeats-simple */

#include "../../recording.h"
#include "pairs.h"

static uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

int main() {
  enum { WINDOW = 1000, BURST = 4096 };
  Recording run(1);
  std::vector<heartbeat_record> window(WINDOW);
  heartbeat_context context;
  check(heartbeat_init(&context, WINDOW, window.data(), -1, nullptr) == 0, "context");
  uint64_t beats = 0, last = now_ns();
  auto ours = [&] {
    for (uint32_t i = 0; i < BURST; i++) tsanom_heartbeat_beat(0, i);
    beats += BURST;
  };
  auto theirs = [&] {
    for (uint32_t i = 0; i < BURST; i++) {
      uint64_t now = now_ns();
      heartbeat(&context, i, 1, last, now);
      last = now;
    }
  };
  compare("beat of one thread", "ns/beat", BURST, ours, theirs);
  check(context.counter % BURST == 0, "number of beats of heartbeats-simple");
  run.finish(beats);
  return 0;
}
