/* SPDX-License-Identifier: BSD-3-Clause */
/* Heartbeat diagnosis, in nanoseconds a beat: learning from ten normal runs, and the
 * diagnosis of a run; two threads, made-up runs. What is timed must call a normal
 * run normal and a leaking one a leak. */
#include <tsanom/hsa.h>

#include "report.h"

extern "C" {
#include "hsa/synthetic.h"
}

namespace {

enum { NORMAL_RUNS = 10, THREADS = 2 };

/* Normal runs of `beats` beats a thread, and what is learned from them, always in the same
 * memory: no page of it is new to the process. */
class Learned {
 public:
  explicit Learned(size_t beats) : kind_(synthetic_steady()) {
    kind_.threads = THREADS;
    kind_.beats = beats;
    kind_.speed_spread = 0.003; /* well within the margin of the ranges */
    for (int i = 0; i < NORMAL_RUNS; i++) runs_.push_back(synthetic_run(&kind_, &seed_));
    size_t bytes = 0;
    tsanom_exec ask = ask_exec(nullptr, &bytes);
    check(tsanom_hsa_learn(runs_.data(), NORMAL_RUNS, nullptr, &ask, nullptr) ==
          TSANOM_E_WORKSPACE);
    memory_.resize(bytes);
    tsanom_exec_init(&exec_, sizeof exec_);
    exec_.alloc = [](void *user, size_t) -> void * { return user; };
    exec_.dealloc = [](void *, void *) {};
    exec_.alloc_user = memory_.data();
  }
  ~Learned() {
    for (tsanom_hsa_run &run : runs_) synthetic_free(&run);
  }
  Learned(const Learned &) = delete;
  Learned &operator=(const Learned &) = delete;

  void learn() {
    check(tsanom_hsa_learn(runs_.data(), runs_.size(), nullptr, &exec_, &model_) ==
          TSANOM_OK);
  }
  tsanom_hsa_run another(double leak) {
    synthetic_kind kind = kind_;
    kind.leak = leak;
    return synthetic_run(&kind, &seed_);
  }
  const tsanom_hsa_model *model() const {
    return model_;
  }

 private:
  synthetic_kind kind_;
  uint64_t seed_ = 2025;
  std::vector<tsanom_hsa_run> runs_;
  std::vector<char> memory_;
  tsanom_exec exec_;
  tsanom_hsa_model *model_ = nullptr;
};

int32_t status_of(const Learned &learned, const tsanom_hsa_run &run,
                  const tsanom_exec &exec) {
  tsanom_hsa_verdict verdict[THREADS];
  *verdict = sized<tsanom_hsa_verdict>();
  check(tsanom_hsa_diagnose(learned.model(), &run, &exec, verdict, THREADS, nullptr) ==
        TSANOM_OK);
  int32_t worst = TSANOM_HSA_NORMAL;
  for (const tsanom_hsa_verdict &v : verdict) worst = std::max(worst, v.status);
  return worst;
}

void learn(benchmark::State &state) {
  auto beats = (size_t)state.range(0);
  Learned learned(beats);
  double best = best_iteration(state, [&] { learned.learn(); });
  report(state, "ns/beat", 1e9 * best / (double)(beats * THREADS * NORMAL_RUNS));
}

void diagnose(benchmark::State &state) {
  auto beats = (size_t)state.range(0);
  Learned learned(beats);
  learned.learn();
  tsanom_hsa_run normal = learned.another(0), leaking = learned.another(2);
  Workspace work(exec_at(TSANOM_ISA_AUTO), [&](const tsanom_exec *ask) {
    return tsanom_hsa_diagnose(learned.model(), &normal, ask, nullptr, THREADS, nullptr);
  });
  double best = best_iteration(
      state, [&] { check(status_of(learned, normal, work.exec) == TSANOM_HSA_NORMAL); });
  check(status_of(learned, leaking, work.exec) == TSANOM_HSA_MEMORY_LEAK);
  synthetic_free(&normal);
  synthetic_free(&leaking);
  report(state, "ns/beat", 1e9 * best / (double)(beats * THREADS));
}

BENCHMARK(learn)->ArgName("n")->Arg(1000)->Arg(10000)->Arg(100000);
BENCHMARK(diagnose)->ArgName("n")->Arg(1000)->Arg(10000)->Arg(100000);

}  // namespace

BENCHMARK_MAIN();
