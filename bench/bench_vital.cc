/* SPDX-License-Identifier: BSD-3-Clause */
/* What sampling the vital signs costs: processor time of a process whose threads sleep,
 * with samples minus without, by sample and as a share of the elapsed time, which must
 * stay below 0.1 %; and how often the process and each thread are sampled. The plain form
 * reads what /proc says of a thread by fopen() and fscanf(). */
#include <tsanom/hsa.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include "recording.h"
#include "report.h"

namespace {

enum { SECONDS = 8 };

struct Sampling {
  double cpu; /* seconds of processor time */
  size_t of_process, of_threads;
};

/* Samples of the run, without the first and the last ones; each thread has some. */
void count_samples(tsanom_runs *run, int32_t threads, Sampling *sampling) {
  const tsanom_hsa_vital *samples;
  size_t count;
  check(tsanom_runs_vitals(run, TSANOM_RUNS_PROCESS, nullptr, &samples, &count) ==
            TSANOM_OK &&
        count > 2);
  sampling->of_process = count - 2;
  for (int32_t i = 0; i < threads; i++) {
    check(tsanom_runs_vitals(run, i, nullptr, &samples, &count) == TSANOM_OK && count);
    sampling->of_threads += count - 1;
  }
  tsanom_runs_destroy(run);
}

/* Seconds of processor time of one sample of this thread: state, page faults, processor
 * time and time without a processor. As the sampler, it sleeps in between. */
double plain_sample() {
  enum { SAMPLES = 100, SLEEP_MS = 20 };
  unsigned long minor = 0, major = 0, user = 0, system = 0, waited = 0;
  unsigned long long ran = 0;
  char state = 0;
  double elapsed = best_of(1, [&] {
    for (int i = 0; i < SAMPLES; i++) {
      FILE *file = std::fopen("/proc/thread-self/stat", "r");
      check(file && std::fscanf(file,
                                "%*d (%*[^)]) %c %*d %*d %*d %*d %*d %*u %lu %*u %lu %*u "
                                "%lu %lu",
                                &state, &minor, &major, &user, &system) == 5,
            "stat");
      std::fclose(file);
      file = std::fopen("/proc/thread-self/schedstat", "r");
      check(file && std::fscanf(file, "%llu %lu", &ran, &waited) == 2, "schedstat");
      std::fclose(file);
      std::this_thread::sleep_for(std::chrono::milliseconds(SLEEP_MS));
    }
  });
  check(state == 'R' && ran > 0, "sample");
  return elapsed / SAMPLES;
}

Sampling sleep_and_sample(int32_t threads, int32_t period_ms) {
  auto options = defaults(tsanom_record_options_init);
  options.vital_ms = period_ms;
  Recording recording(threads, &options);
  std::promise<void> end;
  std::shared_future<void> ended(end.get_future());
  std::atomic<int32_t> beating{0};
  std::vector<std::thread> team;
  for (int32_t i = 0; i < threads; i++) {
    team.emplace_back([&beating, ended, i] {
      tsanom_heartbeat_beat(i, 0);
      beating++;
      ended.wait();
    });
  }
  while (beating < threads) std::this_thread::yield();
  double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
  std::this_thread::sleep_for(std::chrono::seconds(SECONDS));
  Sampling sampling{seconds(CLOCK_PROCESS_CPUTIME_ID) - start, 0, 0};
  check(tsanom_heartbeat_finish() == TSANOM_OK, "run");
  end.set_value();
  for (auto &thread : team) thread.join();
  if (period_ms != TSANOM_RECORD_VITAL_OFF) {
    count_samples(recording.open(), threads, &sampling);
  }
  return sampling;
}

void vital(benchmark::State &state) {
  auto threads = (int32_t)state.range(0);
  for (auto _ : state) {
    double without = sleep_and_sample(threads, TSANOM_RECORD_VITAL_OFF).cpu;
    Sampling with = sleep_and_sample(threads, 0);
    double cost = with.cpu - without;
    auto samples = (double)(with.of_process + with.of_threads);
    state.SetIterationTime(cost);
    report(state, "ns/sample", 1e9 * cost / std::max(samples, 1.0), 1e9 * plain_sample());
    state.counters["percent"] = 100 * cost / SECONDS;
    state.counters["process/s"] = (double)with.of_process / SECONDS;
    state.counters["thread/s"] = (double)with.of_threads / (SECONDS * (double)threads);
  }
}
BENCHMARK(vital)
    ->ArgName("threads")
    ->Arg(2)
    ->Arg(64)
    ->Arg(256)
    ->UseManualTime()
    ->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
