// SPDX-License-Identifier: BSD-3-Clause
// An exception of the caller's poll passes through calls of each kind: the environment is the
// caller's again, no thread still uses the frames that are gone, and what the call had allocated is
// free.
#include <tsanom/tsanom.h>
#include <unistd.h>
#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

struct left {};

long blocks, polls, throw_at;

void *counting_alloc(void *, size_t bytes) {
  blocks++;
  return std::malloc(bytes);
}

void counting_dealloc(void *, void *block) {
  blocks -= block != nullptr;
  std::free(block);
}

int32_t poll(void *, uint64_t, uint64_t) {
  if (++polls == throw_at) throw left();
  return 0;
}

enum { COUNT = 200, LENGTH = 100, LONG = 6000, POINTS = 3000 };

std::vector<double> samples(200000), other(200000), matrix(COUNT *COUNT), keys(POINTS);
std::vector<size_t> order(POINTS), found(COUNT);

tsanom_series set_of_series() {
  tsanom_series set{};
  set.struct_size = sizeof set;
  set.count = COUNT, set.length = LENGTH, set.data = samples.data();
  return set;
}

void condensed(const tsanom_exec *exec) {
  tsanom_series set = set_of_series();
  tsanom_dtw_condensed(&set, nullptr, exec, matrix.data(), nullptr);
}

// Threads that wait for each other.
void one_distance(const tsanom_exec *exec) {
  double distance;
  tsanom_dtw_distance(samples.data(), LONG, other.data(), LONG, nullptr, exec, &distance);
}

void create_index(const tsanom_exec *exec) {
  tsanom_series set = set_of_series();
  tsanom_search_index *index = nullptr;
  tsanom_search_index_create(&set, nullptr, exec, &index);
  tsanom_search_index_destroy(index);
}

void search_stream(const tsanom_exec *exec) {
  size_t start;
  double distance;
  tsanom_search_stream(other.data(), LENGTH, samples.data(), samples.size(), nullptr,
                       exec, &start, &distance, nullptr);
}

void order_points(const tsanom_exec *exec) {
  tsanom_optics_ordering ordering{};
  ordering.struct_size = sizeof ordering;
  ordering.order = order.data();
  ordering.reachability = keys.data();
  tsanom_optics_order(samples.data(), POINTS, 2, 2, nullptr, exec, &ordering);
}

void fit(const tsanom_exec *exec) {
  tsanom_polyfit_model model{};
  model.struct_size = sizeof model;
  tsanom_polyfit_fit(samples.data(), other.data(), nullptr, samples.size(), nullptr, exec,
                     &model);
}

void evaluate(const tsanom_exec *exec) {
  tsanom_polyfit_model model{};
  model.struct_size = sizeof model;
  tsanom_polyfit_fit(samples.data(), other.data(), nullptr, LENGTH, nullptr, nullptr,
                     &model);
  tsanom_polyfit_evaluate(&model, samples.data(), samples.size(), exec, other.data(),
                          nullptr);
}

void find_period(const tsanom_exec *exec) {
  tsanom_dpd_found period{};
  period.struct_size = sizeof period;
  tsanom_dpd_find(samples.data(), COUNT, nullptr, exec, &period);
}

void learn(const tsanom_exec *exec) {
  for (size_t i = 0; i < POINTS; i++) keys[i] = double(i);
  tsanom_hsa_series series{};
  series.time = keys.data(), series.beats = POINTS;
  tsanom_hsa_run runs[4]{};
  for (tsanom_hsa_run &run : runs) run.threads = &series, run.thread_count = 1;
  tsanom_hsa_model *model = nullptr;
  tsanom_hsa_learn(runs, 4, nullptr, exec, &model);
  tsanom_hsa_model_destroy(model);
}

const struct {
  const char *name;
  void (*call)(const tsanom_exec *exec);
} cases[] = {{"dtw_condensed", condensed},
             {"dtw_distance", one_distance},
             {"search_index_create", create_index},
             {"search_stream", search_stream},
             {"optics_order", order_points},
             {"polyfit_fit", fit},
             {"polyfit_evaluate", evaluate},
             {"dpd_find", find_period},
             {"hsa_learn", learn}};

// What a program does after it caught something: it uses its stack, and time passes.
__attribute__((noinline)) void go_on() {
  char stack[1 << 15];
  std::memset(stack, 0x5A, sizeof stack);
  asm volatile("" : : "r"(stack) : "memory");
  usleep(2000);
}

// Returns whether the call is right after the exception in its poll number `at`, if it has one.
bool is_right(size_t number, int threads, long at, bool *thrown) {
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.threads = threads;
  exec.poll = poll;
  exec.alloc = counting_alloc;
  exec.dealloc = counting_dealloc;
  polls = blocks = 0;
  throw_at = at;
  *thrown = false;
  std::fesetround(FE_UPWARD);
  try {
    cases[number].call(&exec);
  } catch (const left &) {
    *thrown = true;
    go_on();
  }
  bool kept = std::fegetround() == FE_UPWARD;
  std::fesetround(FE_TONEAREST);
  if (kept && blocks == 0) return true;
  std::fprintf(stderr, "%s, %d threads, poll %ld: %ld blocks lost, rounding mode %s\n",
               cases[number].name, threads, at, blocks, kept ? "kept" : "lost");
  return false;
}

}  // namespace

int main() {
  bool right = true;
  for (size_t i = 0; i < samples.size(); i++) {
    samples[i] = double(i * 37 % 101) + double(i) * 1e-6;
    other[i] = double(i * 53 % 97);
  }
  for (size_t number = 0; number < sizeof cases / sizeof *cases; number++) {
    for (int threads = 1; threads <= 2; threads++) {
      bool thrown = false;
      for (long at = 1; at <= 3; at++) {
        bool now;
        right = is_right(number, threads, at, &now) && right;
        thrown = thrown || now;
      }
      if (thrown) continue;
      std::fprintf(stderr, "%s, %d threads: never polls\n", cases[number].name, threads);
      right = false;
    }
  }
  return right ? 0 : 1;
}
