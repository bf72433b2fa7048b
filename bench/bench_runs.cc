/* SPDX-License-Identifier: BSD-3-Clause */
/* Milliseconds to open a run of many heartbeats, and to refresh it while its program
 * adds some. Both verify every new byte. Thread CPU time. The plain form reads the same
 * bytes by read() and looks at none. */
#include <fcntl.h>
#include <unistd.h>

#include "recording.h"
#include "report.h"

namespace {

enum { ADDED = 10000, RECORD = 16, BLOCK = 1 << 20 };

/* A run that goes on, with this many beats. */
class Growing : public Recording {
 public:
  explicit Growing(uint64_t beats) : Recording(1), block_(BLOCK) {
    add(beats);
    stream_ = open_stream();
  }
  ~Growing() {
    (void)close(stream_);
  }

  void add(uint64_t beats) {
    for (uint64_t i = 0; i < beats; i++) (void)tsanom_heartbeat_beat(0, (uint32_t)i);
    beats_ += beats;
  }

  /* Read the last `beats` records of the stream. */
  void read_plainly(uint64_t beats) {
    uint64_t left = beats * RECORD;
    check(lseek(stream_, (off_t)((beats_ - beats) * RECORD), SEEK_SET) >= 0, "stream");
    while (left > 0) {
      ssize_t count = ::read(stream_, block_.data(), std::min<uint64_t>(left, BLOCK));
      check(count > 0, "stream");
      left -= (uint64_t)count;
    }
  }

 private:
  /* The stream is the largest file. */
  int open_stream() const {
    std::filesystem::path largest;
    for (const auto &file : std::filesystem::directory_iterator(path())) {
      if (largest.empty() || file.file_size() > std::filesystem::file_size(largest)) {
        largest = file.path();
      }
    }
    return ::open(largest.c_str(), O_RDONLY);
  }

  uint64_t beats_ = 0;
  int stream_;
  std::vector<char> block_;
};

void open(benchmark::State &state) {
  auto beats = (uint64_t)state.range(0);
  Growing growing(beats);
  std::vector<double> times, plain;
  for (auto _ : state) {
    double start = cpu_seconds();
    tsanom_runs *run = growing.open();
    times.push_back(cpu_seconds() - start);
    check(Recording::beats_of(run) == beats, "number of beats");
    tsanom_runs_destroy(run);
    plain.push_back(best_of(1, [&] { growing.read_plainly(beats); }));
  }
  report(state, "ms", median(times) * 1e3, median(plain) * 1e3);
}
BENCHMARK(open)->ArgName("beats")->Arg(10000000)->Iterations(7);

void refresh(benchmark::State &state) {
  Growing growing((uint64_t)state.range(0));
  tsanom_runs *run = growing.open();
  std::vector<double> times, plain;
  for (auto _ : state) {
    uint64_t added = 0;
    growing.add(ADDED);
    double start = cpu_seconds();
    check(tsanom_runs_refresh(run, nullptr, &added) == TSANOM_OK, "refresh");
    times.push_back(cpu_seconds() - start);
    check(added == ADDED, "number of beats");
    plain.push_back(best_of(1, [&] { growing.read_plainly(ADDED); }));
  }
  tsanom_runs_destroy(run);
  report(state, "ms", median(times) * 1e3, median(plain) * 1e3);
}
BENCHMARK(refresh)->ArgName("beats")->Arg(1000000)->Arg(10000000)->Iterations(51);

}  // namespace

BENCHMARK_MAIN();
