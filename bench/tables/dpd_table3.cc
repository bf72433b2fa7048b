/* SPDX-License-Identifier: BSD-3-Clause */
/* The periodicity paper's table 3: what an element of a stream costs, beside the
 * paper's milliseconds on its machine. So that the method can be told from the
 * machine, the paper's own O(N) an element is timed here too, in its plainest form.
 * The paper does not print its windows: 100 and 1024 are the sizes that it names. */
#include <tsanom/dpd.h>

#include "../report.h"
#include "dpd_streams.h"
#include "table.h"

namespace {

/* Eq. 2 by run lengths, the smallest delay last; the sum of the periods. */
uint64_t plain_periods(const std::vector<uint64_t> &event, size_t window) {
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

/* Nanoseconds an element: the best of runs, of which each takes the stream whole, and
 * a detector is made anew for each. */
template <class Work>
double cost(size_t elements, Work work) {
  return best_of(20, work) * 1e9 / (double)elements;
}

void add_row(Table &table, const SpecStream &spec) {
  std::vector<uint64_t> event = events_of(spec);
  size_t window = spec.periods.back() < 100 ? 100 : 1024, count = event.size();
  uint64_t sum = 0, plain_sum = 0;
  size_t nested = 0;
  double plain =
      best_of(3, [&] { plain_sum = plain_periods(event, window); }) * 1e9 / (double)count;
  double one = cost(count, [&] { sum = event_periods(event, window); });
  double all = cost(count, [&] { nested = nested_periods(event); });
  check(sum == plain_sum, "periods");
  check(nested == spec.periods.size(), "number of periods");
  table.add({spec.name, count, window, Cell(spec.milliseconds * 1e6, 0), Cell(plain, 1),
             Cell(one, 1), Cell(spec.milliseconds * 1e6 / one, 0), Cell(plain / one, 1),
             Cell(all, 1), Cell(spec.milliseconds * 1e6 / all, 0)});
}

}  // namespace

int main(int argc, char **argv) {
  bool json = json_wanted(argc, argv, "Nanoseconds an element, the paper's and ours.");
  Table table({"stream", "elements", "N", "paper", "plain", "one period", "paper/one",
               "plain/one", "all periods", "paper/all"});
  for (const SpecStream &spec : spec_streams()) add_row(table, spec);
  table.print(json);
  return 0;
}
