/* SPDX-License-Identifier: BSD-3-Clause */
/* Made-up runs of SPMD programs of which the right answer is known. */
#ifndef TSANOM_BENCH_SPMD_RUNS_H
#define TSANOM_BENCH_SPMD_RUNS_H

#include <tsanom/spmd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spmd {

enum Family {
  BALANCED,   /* one kind of processes */
  ONE,        /* a region of any depth makes two kinds */
  TWO,        /* two outermost regions make the same two kinds */
  TWO_NESTED, /* so do two regions, one nested, in different outermost ones */
  TWO_INSIDE, /* two regions in one make four kinds together */
  PAIR,       /* a region makes four kinds, which two metrics tell apart together */
  SCALED,     /* all regions take longer in every second process */
  SCATTERED,  /* each outermost region takes longer in a half of the processes */
  FAMILIES
};

struct Run {
  size_t processes, regions;
  std::vector<double> time, metric;
  std::vector<int32_t> parent, class_of;
  std::vector<tsanom_spmd_region> region;
  uint64_t reduct;
  tsanom_spmd_data data;
  tsanom_spmd_report report;
  std::vector<bool> guilty; /* regions */
  uint64_t cause;           /* metrics */
  size_t kinds;             /* process i is of kind i % kinds */
};

/* Make a run; noise is uniform in +-`noise` of each time and metric. */
void make(Run *run, Family family, size_t processes, size_t regions, double noise,
          uint64_t *seed);

bool analyse(Run *run, const tsanom_spmd_options *options,
             const tsanom_exec *exec = nullptr);

/* Analyse: whether kinds, regions and cause are all exactly those put in; of SCALED
 * whether the kinds are, of SCATTERED whether there are several. */
bool is_right(Run *run, Family family, const tsanom_spmd_options *options);

}  // namespace spmd

#endif
