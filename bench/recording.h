/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that is recorded into a directory of its own, and read back. */
#ifndef TSANOM_BENCH_RECORDING_H
#define TSANOM_BENCH_RECORDING_H

#include <tsanom/heartbeat.h>
#include <tsanom/runs.h>

#include <filesystem>

#include "support/directory.h"
#include "timing.h"

class Recording {
 public:
  explicit Recording(int32_t threads, const tsanom_record_options *options = nullptr) {
    check(new_directory(path_) != nullptr, "directory");
    check(tsanom_heartbeat_init(path_, threads, options, nullptr) == TSANOM_OK, "run");
  }
  ~Recording() {
    (void)tsanom_heartbeat_finish();
    std::filesystem::remove_all(path_);
  }
  Recording(const Recording &) = delete;
  Recording &operator=(const Recording &) = delete;

  const char *path() const {
    return path_;
  }
  tsanom_runs *open() const {
    tsanom_runs *run = nullptr;
    check(tsanom_runs_open(path_, nullptr, nullptr, &run) == TSANOM_OK, "run");
    return run;
  }
  /* Ends the run, which must hold all beats. */
  void finish(uint64_t beats) const {
    check(tsanom_heartbeat_finish() == TSANOM_OK, "end of the run");
    tsanom_runs *run = open();
    check(beats_of(run) == beats, "number of beats");
    tsanom_runs_destroy(run);
  }

  static uint64_t beats_of(const tsanom_runs *run) {
    auto info = sized<tsanom_runs_info>();
    check(tsanom_runs_describe(run, &info) == TSANOM_OK, "run");
    return info.beats;
  }

 private:
  char path_[DIRECTORY_CAPACITY];
};

#endif
