/* SPDX-License-Identifier: BSD-3-Clause */
/* dpd_table3 WINDOW PERIODS <EVENTS: nanoseconds an element of a stream with this many
 * periods, of papers_dpd.py: by equation 2 of the paper, O(N) an element in its plainest form, by the
 * detector of one period, and by that of all. So the method can be told from the machine. */
#include <tsanom/dpd.h>

#include <iostream>

#include "../plain_dpd.h"
#include "../timing.h"

namespace {

/* The periods after each event. */
void event_periods(const std::vector<uint64_t> &event, size_t window,
                   std::vector<size_t> &period) {
  auto options = defaults(tsanom_dpd_event_options_init);
  options.window = window;
  tsanom_dpd_event *detector = nullptr;
  check(tsanom_dpd_event_create(&options, nullptr, &detector) == TSANOM_OK);
  for (size_t t = 0; t < event.size(); t++) {
    tsanom_dpd_report report;
    tsanom_dpd_event_push(detector, event[t], &report);
    period[t] = report.period;
  }
  tsanom_dpd_event_destroy(detector);
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

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  size_t window = std::strtoull(argv[1], nullptr, 10);
  size_t periods = std::strtoull(argv[2], nullptr, 10), nested = 0;
  std::vector<uint64_t> event;
  for (uint64_t e; std::cin >> e;) event.push_back(e);
  std::vector<size_t> found(event.size()), expected(event.size());
  double scale = 1e9 / (double)event.size();
  double plain =
      best_of(3, [&] { plain_periods(event, window, event.size(), expected); });
  double one = best_of(20, [&] { event_periods(event, window, found); });
  double all = best_of(20, [&] { nested = nested_periods(event); });
  check(found == expected, "periods");
  check(nested == periods, "number of periods");
  std::printf("%g %g %g\n", scale * plain, scale * one, scale * all);
  return 0;
}
