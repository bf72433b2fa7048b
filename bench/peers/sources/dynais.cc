/* SPDX-License-Identifier: BSD-3-Clause */
/* Periods of streams of events beside DynAIS of EAR (src/library/dynais), which advises
 * windows of at most 500 and is one detector for a process, so that each row has its own. Like
 * for like: its two levels (with one it finds nothing) beside the detector of one period, all
 * of its levels beside the nest. */
#include <sys/wait.h>
#include <tsanom/dpd.h>
#include <unistd.h>

#include "pairs.h"

extern "C" {
typedef int (*dynais_call)(unsigned sample, unsigned *size, unsigned *level);
dynais_call avx512_dynais_init(unsigned short window, unsigned short levels);
dynais_call avx2_dynais_init(unsigned window, unsigned levels);
}

#ifdef __AVX512F__
constexpr auto dynais_init = avx512_dynais_init;
#else
constexpr auto dynais_init = avx2_dynais_init;
#endif

enum { NEW_ITERATION = 2, WINDOW = 480, LEVELS = 10, COUNT = 29000, PERIOD = 29 };

static uint64_t periodic(size_t i, uint64_t *) {
  return 1 + i % PERIOD;
}

/* 5 iterations of an inner loop of 4 events, then 3 events of the outer one. */
static uint64_t nested(size_t i, uint64_t *) {
  size_t position = i % 23;
  return position < 20 ? 1 + position % 4 : position;
}

static uint64_t arbitrary(size_t, uint64_t *seed) {
  return 1 + (uint64_t)(100 * random_unit(seed));
}

/* The length of the longest loop of which DynAIS saw an iteration begin, 0: none. */
static unsigned search(dynais_call dynais, const std::vector<uint64_t> &events) {
  unsigned length = 0;
  for (uint64_t event : events) {
    unsigned size = 0, level = 0;
    if (dynais((unsigned)event, &size, &level) == NEW_ITERATION)
      length = std::max(length, size);
  }
  return length;
}

static void beside_two_levels(const std::vector<uint64_t> &events) {
  std::vector<size_t> found(COUNT);
  auto options = defaults(tsanom_dpd_event_options_init);
  options.window = WINDOW;
  tsanom_dpd_event *detector = nullptr;
  check(tsanom_dpd_event_create(&options, nullptr, &detector) == TSANOM_OK, "detector");
  dynais_call dynais = dynais_init(WINDOW, 2);
  check(dynais, "detector of DynAIS");
  unsigned length = 0;
  compare(
      "period of events, window 480, two levels", "ns/event", COUNT,
      [&] {
        tsanom_dpd_event_push_many(detector, events.data(), COUNT, found.data(), nullptr);
      },
      [&] { length = search(dynais, events); });
  check(found.back() == PERIOD && length == PERIOD, "period");
  tsanom_dpd_event_destroy(detector);
}

/* The nest follows all periods up to a quarter of its history, which is the window of
 * DynAIS. */
static void beside_levels(const std::string &kind, const std::vector<uint64_t> &events,
                          size_t inner, size_t periods) {
  auto options = defaults(tsanom_dpd_nest_options_init);
  options.max_period = WINDOW / 4;
  tsanom_dpd_nest *nest = nullptr;
  check(tsanom_dpd_nest_create(&options, nullptr, &nest) == TSANOM_OK, "nest");
  dynais_call dynais = dynais_init(WINDOW, LEVELS);
  check(dynais, "detector of DynAIS");
  unsigned length = 0;
  compare(
      kind + " events, window 480, nested loops", "ns/event", COUNT,
      [&] { tsanom_dpd_nest_push_many(nest, events.data(), COUNT, nullptr); },
      [&] { length = search(dynais, events); });
  tsanom_dpd_period period[4];
  size_t count = 0;
  tsanom_dpd_nest_periods(nest, period, 4, &count);
  check(!inner || (length > 0 && count == periods && period[0].period == inner), "nest");
  tsanom_dpd_nest_destroy(nest);
}

/* A row in a process of its own. */
template <class Row>
static void in_child(Row row) {
  pid_t child = fork();
  if (child == 0) {
    row();
    _exit(0);
  }
  int status = 1;
  check(waitpid(child, &status, 0) == child && status == 0, "row");
}

int main() {
  uint64_t seed = 1;
  auto events_of = [&](uint64_t (*event)(size_t, uint64_t *)) {
    std::vector<uint64_t> events(COUNT);
    for (size_t i = 0; i < COUNT; i++) events[i] = event(i, &seed);
    return events;
  };
  in_child([&] { beside_two_levels(events_of(periodic)); });
  in_child([&] { beside_levels("periodic", events_of(periodic), PERIOD, 1); });
  in_child([&] { beside_levels("nested", events_of(nested), 4, 2); });
  in_child([&] { beside_levels("random", events_of(arbitrary), 0, 0); });
  return 0;
}
