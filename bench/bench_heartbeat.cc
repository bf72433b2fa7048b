/* SPDX-License-Identifier: BSD-3-Clause */
/* Nanoseconds of a beat beside those of the clock it reads, for both clocks, on one
 * thread and on two; and of a beat without a run. Thread CPU time of bursts of
 * beats with pauses between, so that what is timed is the beat and not the file
 * system's speed; `flood` times beats at full speed, growth of the stream included.
 * Each run is read back, and must hold every beat. */
#include <benchmark/benchmark.h>
#include <stdlib.h>
#include <time.h>
#include <tsanom/heartbeat.h>
#include <tsanom/heartbeat_run.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace {

constexpr int kBurst = 4096;
constexpr int kBursts = 100;

double ThreadTime() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

uint64_t ReadClock(int32_t clock) {
#if defined(__x86_64__)
  if (clock == TSANOM_HEARTBEAT_CLOCK_TSC) return __rdtsc();
#endif
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_nsec);
}

double Median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Cost {
  double beat, clock; /* ns, medians over the bursts */
};

Cost TimeBursts(int32_t thread, int32_t clock) {
  std::vector<double> beat, bare;
  for (int i = 0; i < kBursts; i++) {
    usleep(3000);
    /* Wakes the processor up, too. */
    for (int warm = 0; warm < 2; warm++) {
      double start = ThreadTime();
      for (int k = 0; k < kBurst; k++) benchmark::DoNotOptimize(ReadClock(clock));
      double end = ThreadTime();
      if (warm) bare.push_back((end - start) / kBurst);
    }
    double start = ThreadTime();
    for (int k = 0; k < kBurst; k++) {
      tsanom_heartbeat_beat(thread, static_cast<uint32_t>(k));
    }
    beat.push_back((ThreadTime() - start) / kBurst);
  }
  return {Median(beat), Median(bare)};
}

/* A run in a folder of its own, which goes when it is over. */
class Run {
 public:
  Run(int32_t threads, int32_t clock) {
    char name[] = "/tmp/tsanom-bench-XXXXXX";
    if (mkdtemp(name)) folder_ = name;
    tsanom_heartbeat_options options;
    tsanom_heartbeat_options_init(&options, sizeof options);
    options.clock = clock;
    started_ = tsanom_heartbeat_init(name, threads, &options) == TSANOM_OK;
  }
  ~Run() {
    std::filesystem::remove_all(folder_);
  }
  Run(const Run &) = delete;
  Run &operator=(const Run &) = delete;

  /* Whether all beats are there. */
  bool Holds(uint64_t beats) const {
    tsanom_heartbeat_run *run;
    tsanom_heartbeat_run_info info;
    if (!started_ || tsanom_heartbeat_finish() != TSANOM_OK ||
        tsanom_heartbeat_run_open(folder_.c_str(), nullptr, nullptr, &run) != TSANOM_OK) {
      return false;
    }
    tsanom_heartbeat_run_describe(run, &info, sizeof info);
    tsanom_heartbeat_run_close(run);
    return info.beats == beats;
  }

 private:
  std::string folder_;
  bool started_ = false;
};

void BM_Beat(benchmark::State &state) {
  auto clock = static_cast<int32_t>(state.range(0));
  auto threads = static_cast<int32_t>(state.range(1));
  for (auto _ : state) {
    Run run(threads, clock);
    std::vector<Cost> cost(static_cast<size_t>(threads));
    std::vector<std::thread> team;
    for (int32_t i = 0; i < threads; i++) {
      team.emplace_back(
          [&cost, i, clock] { cost[static_cast<size_t>(i)] = TimeBursts(i, clock); });
    }
    for (auto &thread : team) thread.join();
    if (!run.Holds(uint64_t{kBurst} * kBursts * static_cast<uint64_t>(threads))) {
      state.SkipWithError("beats are missing");
      return;
    }
    Cost worst = *std::max_element(cost.begin(), cost.end(),
                                   [](Cost a, Cost b) { return a.beat < b.beat; });
    state.SetIterationTime(worst.beat * 1e-9);
    state.counters["beat_ns"] = worst.beat;
    state.counters["clock_ns"] = worst.clock;
    state.counters["ratio"] = worst.beat / worst.clock;
  }
}
BENCHMARK(BM_Beat)
    ->ArgNames({"clock", "threads"})
#if defined(__x86_64__)
    ->Args({TSANOM_HEARTBEAT_CLOCK_TSC, 1})
    ->Args({TSANOM_HEARTBEAT_CLOCK_TSC, 2})
#endif
    ->Args({TSANOM_HEARTBEAT_CLOCK_MONOTONIC, 1})
    ->Args({TSANOM_HEARTBEAT_CLOCK_MONOTONIC, 2})
    ->UseManualTime()
    ->Iterations(3);

void BM_Flood(benchmark::State &state) {
  constexpr int kBeats = 1 << 22;
  for (auto _ : state) {
    Run run(1, TSANOM_HEARTBEAT_CLOCK_AUTO);
    double start = ThreadTime();
    for (int k = 0; k < kBeats; k++) {
      tsanom_heartbeat_beat(0, static_cast<uint32_t>(k));
    }
    double cost = (ThreadTime() - start) / kBeats;
    if (!run.Holds(kBeats)) {
      state.SkipWithError("beats are missing");
      return;
    }
    state.SetIterationTime(cost * 1e-9);
    state.counters["beat_ns"] = cost;
  }
}
BENCHMARK(BM_Flood)->UseManualTime()->Iterations(3);

void BM_BeatWithoutRun(benchmark::State &state) {
  for (auto _ : state) benchmark::DoNotOptimize(tsanom_heartbeat_beat(0, 0));
}
BENCHMARK(BM_BeatWithoutRun);

}  // namespace

BENCHMARK_MAIN();
