/* SPDX-License-Identifier: BSD-3-Clause */
/* How far rounding takes the d(m) of the values detector in 10^8 samples: the largest
 * relative error of any d(m) against a direct evaluation in long double, looked at after
 * every 10^6 samples. Ends with status 1 where one exceeds 1e-12. */
#include <tsanom/dpd.h>

#include "../report.h"
#include "support/random.h"
#include "table.h"

namespace {

const size_t samples = 100000000, piece = 1000000;
const double allowed = 1e-12;

struct Stream {
  const char *name;
  double (*at)(size_t i, uint64_t *seed);
};

const Stream streams[] = {
    {"uniform in [0, 1000)",
     [](size_t, uint64_t *seed) { return random_unit(seed) * 1e3; }},
    {"10^u, u in [-3, 3)",
     [](size_t, uint64_t *seed) { return std::pow(10, 6 * random_unit(seed) - 3); }},
    {"sine with noise",
     [](size_t i, uint64_t *seed) {
       return 100 * std::sin((double)i * 0.7) + random_unit(seed);
     }},
};

double direct_distance(const std::vector<double> &x, size_t window, size_t m) {
  long double sum = 0;
  for (size_t i = x.size() - window; i < x.size(); i++) {
    sum += std::fabs((long double)x[i] - (long double)x[i - m]);
  }
  return (double)(sum / (long double)window);
}

double worst_error(const tsanom_dpd_value *detector, const std::vector<double> &x,
                   size_t window) {
  std::vector<double> distance(window);
  size_t count = 0;
  tsanom_dpd_value_distances(detector, distance.data(), window, &count);
  check(count == window, "number of delays");
  double worst = 0;
  for (size_t m = 1; m <= window; m++) {
    double direct = direct_distance(x, window, m);
    worst = std::max(worst, std::fabs(distance[m - 1] - direct) / direct);
  }
  return worst;
}

double largest_drift(const Stream &stream, size_t window) {
  tsanom_dpd_value_options options;
  tsanom_dpd_value_options_init(&options, sizeof options);
  options.window = options.max_period = window;
  options.significance = 0;
  tsanom_dpd_value *detector = nullptr;
  check(tsanom_dpd_value_create(&options, nullptr, &detector) == TSANOM_OK);
  uint64_t seed = 1;
  double worst = 0;
  std::vector<double> x(piece);
  for (size_t from = 0; from < samples; from += piece) {
    for (size_t i = 0; i < piece; i++) x[i] = stream.at(from + i, &seed);
    size_t done = 0;
    tsanom_dpd_value_push_many(detector, x.data(), piece, nullptr, nullptr, &done);
    check(done == piece, "number of samples");
    worst = std::max(worst, worst_error(detector, x, window));
  }
  tsanom_dpd_value_destroy(detector);
  return worst;
}

Cell scientific(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  Cell cell(text);
  cell.is_number = true;
  return cell;
}

}  // namespace

int main(int argc, char **argv) {
  bool json = json_wanted(argc, argv, "Drift of d(m) over 10^8 samples.");
  Table table({"stream", "N = M", "samples", "largest relative error"});
  bool good = true;
  for (const Stream &stream : streams) {
    for (size_t window : {16, 100}) {
      double worst = largest_drift(stream, window);
      table.add({stream.name, window, samples, scientific(worst)});
      good = good && worst <= allowed;
    }
  }
  table.print(json);
  return good ? 0 : 1;
}
