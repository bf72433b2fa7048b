/* SPDX-License-Identifier: BSD-3-Clause */
/* Run-time speedup, in nanoseconds a region: a loop of n regions whose iterations
 * run with one thread, then with two. What is timed must find the loop, count its
 * iterations, and know its speedup. */
#include <tsanom/speedup.h>

#include "report.h"

namespace {

enum { EVENTS = 200000 };

/* Each region takes a microsecond with one thread and half of one with two. */
std::vector<tsanom_speedup_event> loop_of(size_t period) {
  std::vector<tsanom_speedup_event> events(EVENTS);
  double now = 0;
  for (size_t i = 0; i < EVENTS; i++) {
    int32_t threads = i < EVENTS / 2 ? 1 : 2;
    events[i].region = 4096 + 16 * (i % period);
    events[i].begin = now;
    events[i].end = now += 1e-6 / threads;
    events[i].threads = threads;
  }
  return events;
}

void push(benchmark::State &state) {
  auto period = (size_t)state.range(0);
  std::vector<tsanom_speedup_event> events = loop_of(period);
  tsanom_speedup_loop loop;
  double best = least(state, [&] {
    tsanom_speedup *analyzer = nullptr;
    check(tsanom_speedup_create(nullptr, nullptr, &analyzer) == TSANOM_OK);
    double time = best_of(1, [&] {
      for (const auto &event : events) tsanom_speedup_push(analyzer, &event);
    });
    size_t count = 0;
    check(tsanom_speedup_finish(analyzer) == TSANOM_OK);
    check(tsanom_speedup_loops(analyzer, &loop, 1, &count) == TSANOM_OK && count >= 1);
    tsanom_speedup_destroy(analyzer);
    return time;
  });
  check(loop.period == period && loop.iterations + 2 >= EVENTS / period);
  check(std::fabs(loop.speedup - 2) < 1e-6);
  report(state, "ns/region", 1e9 * best / EVENTS);
}

BENCHMARK(push)->ArgName("n")->Arg(1)->Arg(10)->Arg(100)->Arg(1000);

}  // namespace

BENCHMARK_MAIN();
