/* SPDX-License-Identifier: BSD-3-Clause */
/* A beat beside that of heartbeats-simple (src/hb.c), without its text log: with the
 * clock that each user reads. Ours is stored in a file, theirs in memory. */
#include <heartbeat.h> /* of heartbeats-simple */
#include <tsanom/heartbeat.h>
#include <tsanom/runs.h>

#include <filesystem>

#include "pairs.h"
#include "support/directory.h"

static uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

int main() {
  enum { WINDOW = 1000, BURST = 4096 };
  char name[DIRECTORY_CAPACITY];
  check(new_directory(name), "directory");
  tsanom_record_options options;
  tsanom_record_options_init(&options, sizeof options);
  check(tsanom_heartbeat_init(name, 1, &options, nullptr) == TSANOM_OK, "run");
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
  check(tsanom_heartbeat_finish() == TSANOM_OK, "end of the run");
  tsanom_runs *run = nullptr;
  tsanom_runs_info info{};
  info.struct_size = sizeof info;
  check(tsanom_runs_open(name, nullptr, nullptr, &run) == TSANOM_OK, "run");
  tsanom_runs_describe(run, &info);
  check(info.beats == beats, "number of beats");
  tsanom_runs_destroy(run);
  std::filesystem::remove_all(name);
  return 0;
}
