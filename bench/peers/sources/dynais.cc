/* SPDX-License-Identifier: BSD-3-Clause */
/* The period of a stream of events beside DynAIS of EAR (src/library/dynais/avx512),
 * which advises windows of at most 500. It is one detector for a process. */
#include <tsanom/dpd.h>

#include "pairs.h"

extern "C" {
typedef int (*dynais_call)(unsigned sample, unsigned *size, unsigned *level);
dynais_call avx512_dynais_init(unsigned short window, unsigned short levels);
}

enum { NEW_ITERATION = 2, WINDOW = 480, PERIOD = 29, COUNT = 1000 * PERIOD, LEVELS = 10 };

int main() {
  std::vector<uint64_t> events(COUNT);
  for (size_t i = 0; i < COUNT; i++) events[i] = 1 + i % PERIOD;
  std::vector<size_t> found(COUNT);
  tsanom_dpd_event_options options;
  tsanom_dpd_event_options_init(&options, sizeof options);
  options.window = WINDOW;
  tsanom_dpd_event *detector = nullptr;
  check(tsanom_dpd_event_create(&options, nullptr, &detector) == TSANOM_OK, "detector");
  dynais_call dynais = avx512_dynais_init(WINDOW, LEVELS);
  check(dynais, "detector of DynAIS");
  unsigned length = 0;
  auto ours = [&] {
    tsanom_dpd_event_push_many(detector, events.data(), COUNT, found.data(), nullptr);
  };
  /* Level 0 looks at the events, the others at the loops of the level below. */
  auto theirs = [&] {
    for (uint64_t event : events) {
      unsigned size = 0, level = 0;
      if (dynais((unsigned)event, &size, &level) == NEW_ITERATION && level == 0) {
        length = size;
      }
    }
  };
  compare(
      "period " + std::to_string(PERIOD) + " of events, window " + std::to_string(WINDOW),
      "ns/event", COUNT, ours, theirs);
  check(found.back() == PERIOD, "period");
  check(length == PERIOD, "period of DynAIS");
  tsanom_dpd_event_destroy(detector);
  return 0;
}
