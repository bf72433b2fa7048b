/* SPDX-License-Identifier: BSD-3-Clause */
/* dpd_table3 WINDOW PERIODS <EVENTS: nanoseconds an element of a stream with this many
 * periods, of papers_dpd.py: by equation 2 of the paper, O(N) an element in its plainest form, by the
 * detector of one period, and by that of all. So the method can be told from the machine. */
#include <tsanom/dpd.h>

#include <iostream>

#include "../report.h"

namespace {

/* Eq. 2 by run lengths, the smallest delay last; the sum of the periods. Inlined, it takes half as long
 * again. */
__attribute__((noinline)) uint64_t plain_periods(const std::vector<uint64_t> &event,
                                                 size_t window) {
  std::vector<uint32_t> run(window + 1, 0);
  uint64_t total = 0;
  for (size_t t = 0; t < event.size(); t++) {
    size_t found = 0;
    for (size_t m = std::min(window, t); m >= 1; m--) {
      run[m] = event[t] == event[t - m] ? run[m] + 1 : 0;
      if (run[m] >= window) found = m;
    }
    total += found;
  }
  return total;
}

uint64_t event_periods(const std::vector<uint64_t> &event, size_t window) {
  tsanom_dpd_event_options options;
  tsanom_dpd_event_options_init(&options, sizeof options);
  options.window = window;
  tsanom_dpd_event *detector = nullptr;
  check(tsanom_dpd_event_create(&options, nullptr, &detector) == TSANOM_OK);
  uint64_t total = 0;
  for (uint64_t e : event) {
    tsanom_dpd_report report;
    tsanom_dpd_event_push(detector, e, &report);
    total += report.period;
  }
  tsanom_dpd_event_destroy(detector);
  return total;
}

size_t nested_periods(const std::vector<uint64_t> &event) {
  tsanom_dpd_nest *nest = nullptr;
  check(tsanom_dpd_nest_create(nullptr, nullptr, &nest) == TSANOM_OK);
  for (uint64_t e : event) tsanom_dpd_nest_push(nest, e, nullptr);
  size_t count = 0;
  tsanom_dpd_nest_periods(nest, nullptr, 0, &count);
  tsanom_dpd_nest_destroy(nest);
  return count;
}

/* The best of runs, of which each takes the stream whole, and a detector is made anew for each. */
template <class Work>
double cost(int runs, size_t elements, Work work) {
  return best_of(runs, work) * 1e9 / (double)elements;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  size_t window = std::strtoull(argv[1], nullptr, 10);
  size_t periods = std::strtoull(argv[2], nullptr, 10), nested = 0;
  std::vector<uint64_t> event;
  for (uint64_t e; std::cin >> e;) event.push_back(e);
  uint64_t sum = 0, plain_sum = 0;
  double plain = cost(3, event.size(), [&] { plain_sum = plain_periods(event, window); });
  double one = cost(20, event.size(), [&] { sum = event_periods(event, window); });
  double all = cost(20, event.size(), [&] { nested = nested_periods(event); });
  check(sum == plain_sum, "periods");
  check(nested == periods, "number of periods");
  std::printf("%g %g %g\n", plain, one, all);
  return 0;
}
