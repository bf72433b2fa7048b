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
    double distance = 0;
    size_t needed = work_.size();
    tsanom_status status;
    exec_.work_needed = &needed;
    do {
      work_.resize(needed);
      exec_.work = work_.data();
      exec_.work_bytes = work_.size();
      status = tsanom_dtw_distance(x.data(), x.size(), y.data(), y.size(), &options_,
                                   &exec_, &distance);
    } while (status == TSANOM_E_WORKSPACE);
    check(status);
    return distance;
  }

 private:
  tsanom_dtw_options options_;
  tsanom_exec exec_;
  std::vector<char> work_ = std::vector<char>(1);
};

}  // namespace

int main() {
  Distance distance(3);
  std::cout << "distance "
            << distance({10, 10, 11, 12, 12, 12, 11, 10},
                        {10, 10, 10, 10, 11, 12, 12, 11})
            << '\n';
}
