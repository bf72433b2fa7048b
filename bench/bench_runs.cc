/* SPDX-License-Identifier: BSD-3-Clause */
/* Milliseconds to open a run of many heartbeats, and to refresh it while its program
 * adds some. Both verify every new byte. Thread CPU time. */
#include <tsanom/heartbeat.h>
#include <tsanom/runs.h>

#include <filesystem>
#include <string>

#include "report.h"
#include "support/directory.h"

namespace {

enum { ADDED = 10000 };

/* A run that goes on, with this many beats. */
class Growing {
 public:
  explicit Growing(uint64_t beats) {
    char name[DIRECTORY_CAPACITY];
    if (new_directory(name)) path_ = name;
    check(tsanom_heartbeat_init(path_.c_str(), 1, nullptr) == TSANOM_OK, "run");
    add(beats);
  }
  ~Growing() {
    (void)tsanom_heartbeat_finish();
    std::filesystem::remove_all(path_);
  }
  Growing(const Growing &) = delete;
  Growing &operator=(const Growing &) = delete;

  static void add(uint64_t beats) {
    for (uint64_t i = 0; i < beats; i++) (void)tsanom_heartbeat_beat(0, (uint32_t)i);
  }
  tsanom_runs *open() const {
    tsanom_runs *run = nullptr;
    check(tsanom_runs_open(path_.c_str(), nullptr, nullptr, &run) == TSANOM_OK, "run");
    return run;
  }

 private:
  std::string path_;
};

void open(benchmark::State &state) {
  Growing growing((uint64_t)state.range(0));
  std::vector<double> times;
  for (auto _ : state) {
    double start = cpu_seconds();
    tsanom_runs *run = growing.open();
    times.push_back(cpu_seconds() - start);
    tsanom_runs_close(run);
  }
  report(state, "ms", median(times) * 1e3);
}
BENCHMARK(open)->ArgName("beats")->Arg(10000000)->Iterations(7);

void refresh(benchmark::State &state) {
  Growing growing((uint64_t)state.range(0));
  tsanom_runs *run = growing.open();
  std::vector<double> times;
  for (auto _ : state) {
    uint64_t added = 0;
    Growing::add(ADDED);
    double start = cpu_seconds();
    check(tsanom_runs_refresh(run, nullptr, &added) == TSANOM_OK, "refresh");
    times.push_back(cpu_seconds() - start);
    check(added == ADDED, "number of beats");
  }
  tsanom_runs_close(run);
  report(state, "ms", median(times) * 1e3);
}
BENCHMARK(refresh)->ArgName("beats")->Arg(1000000)->Arg(10000000)->Iterations(51);

}  // namespace

BENCHMARK_MAIN();
