/* SPDX-License-Identifier: BSD-3-Clause */
/* How often each cut of the SPMD analysis reports several kinds of processes: in
 * balanced programs, and if one process works longer in one region.
 *
 * A run has 2 to 16 processes. Regions have lengths between 1 and 10, the same in all
 * processes; every time is multiplied by exp(s z), z standard normal. An imbalance of x
 * % adds x % of the program's time to a region of the last process. */
#include <tsanom/spmd.h>

#include <cmath>

#include "support/random.h"
#include "table.h"

namespace {

enum { RUNS = 1000, MOST_PROCESSES = 16 };

struct Regions {
  const char *name;
  size_t least, most;
};
const Regions sizes[] = {{"1-3", 1, 3}, {"4-20", 4, 20}};

double normal(uint64_t *seed) {
  double u = 1 - random_unit(seed), v = random_unit(seed);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
}

/* Number of kinds in a random run. */
size_t kinds(int32_t cut, const Regions &size, double noise, double imbalance,
             uint64_t *seed) {
  tsanom_spmd_data data{};
  tsanom_spmd_options options;
  tsanom_spmd_report report{};
  data.struct_size = sizeof data;
  tsanom_spmd_options_init(&options, sizeof options);
  report.struct_size = sizeof report;
  data.processes = random_between(seed, 2, MOST_PROCESSES);
  data.regions = random_between(seed, size.least, size.most);
  std::vector<double> length(data.regions), time(data.processes * data.regions);
  double total = 0;
  for (double &value : length) total += value = 1 + 9 * random_unit(seed);
  for (size_t i = 0; i < data.processes; i++) {
    for (size_t k = 0; k < data.regions; k++) {
      bool late = i + 1 == data.processes && k == 0;
      time[i * data.regions + k] =
          (length[k] + (late ? imbalance * total : 0)) * std::exp(noise * normal(seed));
    }
  }
  std::vector<int32_t> parent(data.regions, TSANOM_SPMD_NONE);
  data.parent = parent.data();
  data.time = time.data();
  options.cut = cut;
  options.combination_limit = 0; /* the kinds are all that counts here */
  if (tsanom_spmd_analyze(&data, &options, nullptr, &report) < 0) std::abort();
  return report.classes;
}

}  // namespace

int main(int argc, char **argv) {
  bool json = json_wanted(argc, argv, "How often each cut finds several kinds.");
  static const char *const cuts[] = {"tolerance", "automatic", "noise"};
  Table table(
      {"cut", "regions", "noise, %", "balanced", "2 %", "5 %", "10 %", "20 %", "50 %"});
  for (int32_t cut = TSANOM_SPMD_CUT_TOLERANCE; cut <= TSANOM_SPMD_CUT_NOISE; cut++) {
    for (const Regions &size : sizes) {
      for (size_t noise : {1, 3, 5, 7}) {
        uint64_t seed = 2011;
        std::vector<Cell> row = {cuts[(size_t)cut], size.name, noise};
        for (double imbalance : {0., .02, .05, .1, .2, .5}) {
          size_t several = 0;
          for (int run = 0; run < RUNS; run++) {
            several += kinds(cut, size, .01 * (double)noise, imbalance, &seed) > 1;
          }
          row.push_back(percent(several, RUNS));
        }
        table.add(row);
      }
    }
  }
  table.print(json);
  return 0;
}
