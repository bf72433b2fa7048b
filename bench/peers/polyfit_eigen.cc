// SPDX-License-Identifier: BSD-3-Clause
// A fit by the bare normal equations of powers of x, as a user of Eigen would write it:
// no statistics, no test of the condition.
#include <Eigen/Dense>

extern "C" int polyfit_eigen(const double *x, const double *y, size_t n, int degree,
                             double *coefficients) {
  using Eigen::Map, Eigen::MatrixXd, Eigen::VectorXd;
  Map<const VectorXd> points(x, (Eigen::Index)n), values(y, (Eigen::Index)n);
  MatrixXd powers(points.size(), degree + 1);
  powers.col(0).setOnes();
  for (int k = 1; k <= degree; k++) {
    powers.col(k) = powers.col(k - 1).cwiseProduct(points);
  }
  MatrixXd normal = powers.transpose() * powers;
  auto factors = normal.ldlt();
  Map<VectorXd>(coefficients, degree + 1) = factors.solve(powers.transpose() * values);
  return factors.info() == Eigen::Success;
}
