/* SPDX-License-Identifier: BSD-3-Clause */
/* Call the library from C++: the workspace is a vector that is used again, so that a
 * loop over many pairs allocates once. */
#include <tsanom/dtw.h>

#include <iostream>
#include <stdexcept>
#include <vector>

namespace {

void check(tsanom_status status) {
  if (status != TSANOM_OK) throw std::runtime_error(tsanom_status_text(status));
}

class Distance {
 public:
  explicit Distance(size_t radius) {
    check(tsanom_dtw_options_init(&options_, sizeof options_));
    check(tsanom_exec_init(&exec_, sizeof exec_));
    options_.radius = radius;
  }

  double operator()(const std::vector<double> &x, const std::vector<double> &y) {
    size_t bytes = 0;
    check(tsanom_dtw_distance_workspace(x.size(), y.size(), &options_, nullptr, &bytes));
    if (work_.size() < bytes) work_.resize(bytes);
    exec_.work = work_.data();
    exec_.work_bytes = work_.size();
    double distance = 0;
    check(tsanom_dtw_distance(x.data(), x.size(), y.data(), y.size(), &options_, &exec_,
                              &distance));
    return distance;
  }

 private:
  tsanom_dtw_options options_;
  tsanom_exec exec_;
  std::vector<char> work_;
};

}  // namespace

int main() {
  Distance distance(3);
  std::cout << "distance "
            << distance({10, 10, 11, 12, 12, 12, 11, 10},
                        {10, 10, 10, 10, 11, 12, 12, 11})
            << '\n';
}
