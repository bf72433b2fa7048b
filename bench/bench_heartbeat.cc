/* SPDX-License-Identifier: BSD-3-Clause */
/* Nanoseconds of a beat beside those of the clock it reads, for both clocks, on one
 * thread and on two; and of a beat without a run. Thread CPU time of bursts of
 * beats with pauses between, so that what is timed is the beat and not the file
 * system's speed; `flood` times beats at full speed, growth of the stream included;
 * `beat_amid_work` beats among the work of a program.
 * Each run is read back, and must hold every beat. */
#include <unistd.h>

#include <thread>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "recording.h"
#include "report.h"

namespace {

enum { BURST = 4096, BURSTS = 100, BEATS = 1 << 22 };

uint64_t read_clock(int32_t clock) {
#if defined(__x86_64__)
  if (clock == TSANOM_RECORD_CLOCK_TSC) return __rdtsc();
#endif
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_nsec;
}

struct Cost {
  double beat, clock; /* ns, medians over the bursts */
};

Cost time_bursts(int32_t thread, int32_t clock) {
  std::vector<double> beats, bare;
  for (int i = 0; i < BURSTS; i++) {
    usleep(3000);
    /* Wakes the processor up, too. */
    for (int warm = 0; warm < 2; warm++) {
      double start = cpu_seconds();
      for (int k = 0; k < BURST; k++) benchmark::DoNotOptimize(read_clock(clock));
      double end = cpu_seconds();
      if (warm) bare.push_back(1e9 * (end - start) / BURST);
    }
    double start = cpu_seconds();
    for (int k = 0; k < BURST; k++) {
      tsanom_heartbeat_beat(thread, (uint32_t)k);
    }
    beats.push_back(1e9 * (cpu_seconds() - start) / BURST);
  }
  return {median(beats), median(bare)};
}

void beat(benchmark::State &state) {
  auto clock = (int32_t)state.range(0);
  auto threads = (int32_t)state.range(1);
  for (auto _ : state) {
    auto options = defaults(tsanom_record_options_init);
    options.clock = clock;
    Recording run(threads, &options);
    std::vector<Cost> cost((size_t)threads);
    std::vector<std::thread> team;
    for (int32_t i = 0; i < threads; i++) {
      team.emplace_back([&cost, i, clock] { cost[(size_t)i] = time_bursts(i, clock); });
    }
    for (auto &thread : team) thread.join();
    run.finish(uint64_t{BURST} * BURSTS * (uint64_t)threads);
    Cost worst = *std::max_element(cost.begin(), cost.end(),
                                   [](Cost a, Cost b) { return a.beat < b.beat; });
    state.SetIterationTime(worst.beat * 1e-9);
    report(state, "ns/beat", worst.beat);
    state.counters["clock_ns"] = worst.clock;
    state.counters["beat/clock"] = worst.beat / worst.clock;
  }
}
BENCHMARK(beat)
    ->ArgNames({"clock", "threads"})
#if defined(__x86_64__)
    ->Args({TSANOM_RECORD_CLOCK_TSC, 1})
    ->Args({TSANOM_RECORD_CLOCK_TSC, 2})
#endif
    ->Args({TSANOM_RECORD_CLOCK_MONOTONIC, 1})
    ->Args({TSANOM_RECORD_CLOCK_MONOTONIC, 2})
    ->UseManualTime()
    ->Iterations(3);

void flood(benchmark::State &state) {
  for (auto _ : state) {
    Recording run(1);
    double start = cpu_seconds();
    for (int k = 0; k < BEATS; k++) tsanom_heartbeat_beat(0, (uint32_t)k);
    double cost = 1e9 * (cpu_seconds() - start) / BEATS;
    run.finish(BEATS);
    state.SetIterationTime(cost * 1e-9);
    report(state, "ns/beat", cost);
  }
}
BENCHMARK(flood)->UseManualTime()->Iterations(3);

/* Iterations that use up the first cache, so that a beat among them finds nothing of its
 * own there, with and without beats by turns. */
void beat_amid_work(benchmark::State &state) {
  enum { FIELD = 1 << 18, STEP = 2048, BLOCK = 512, PAIRS = 200 };
  std::vector<double> field(FIELD, 1.0);
  size_t at = 0;
  auto block = [&](bool beating) {
    double start = cpu_seconds();
    for (uint32_t k = 0; k < BLOCK; k++) {
      for (size_t i = at; i < at + STEP; i++) field[i] = 0.999 * field[i] + 1;
      at = (at + STEP) % FIELD;
      if (beating) tsanom_heartbeat_beat(0, k);
    }
    benchmark::DoNotOptimize(field.data());
    return cpu_seconds() - start;
  };
  for (auto _ : state) {
    Recording run(1);
    std::vector<double> costs;
    block(true);
    for (int pair = 0; pair < PAIRS; pair++) {
      bool first = pair % 2 != 0;
      double one = block(first), other = block(!first);
      costs.push_back(1e9 * (first ? one - other : other - one) / BLOCK);
    }
    run.finish(uint64_t{BLOCK} * (PAIRS + 1));
    double cost = median(costs);
    state.SetIterationTime(cost * 1e-9);
    report(state, "ns/beat", cost);
  }
}
BENCHMARK(beat_amid_work)->UseManualTime()->Iterations(3);

void beat_without_run(benchmark::State &state) {
  double start = cpu_seconds();
  for (auto _ : state) benchmark::DoNotOptimize(tsanom_heartbeat_beat(0, 0));
  report(state, "ns/beat", 1e9 * (cpu_seconds() - start) / (double)state.iterations());
}
BENCHMARK(beat_without_run);

}  // namespace

BENCHMARK_MAIN();
