/* SPDX-License-Identifier: BSD-3-Clause */
/* What a stored measurement must say of itself, beside what Google Benchmark says of
 * the machine: it stands in "context" of each program's JSON. */
#include <benchmark/benchmark.h>
#include <omp.h>
#include <tsanom/base.h>

#include <string>

extern "C" char *openblas_get_config(void);

namespace {

struct Context {
  Context() {
    benchmark::AddCustomContext("tsanom", tsanom_version());
    static const char *const names[] = {"auto", "base", "v3", "v4"};
    benchmark::AddCustomContext("isa", names[tsanom_isa_best()]);
    benchmark::AddCustomContext("compiler", TSANOM_BENCH_COMPILER);
    benchmark::AddCustomContext("flags", TSANOM_BENCH_FLAGS);
    benchmark::AddCustomContext("openblas", openblas_get_config());
    benchmark::AddCustomContext("threads", std::to_string(omp_get_max_threads()));
  }
} context;

}  // namespace
