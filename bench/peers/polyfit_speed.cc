/* SPDX-License-Identifier: BSD-3-Clause */
/* Seconds of a fit for polyfit_peers.py: for each n and degree given as arguments, one line
 * "name,n,degree,seconds" for each way. GSL and Eigen are compared if they are there. The least
 * of several runs counts; what GSL allocates is allocated once. */
#include <tsanom/polyfit.h>

#include <functional>

#include "../timing.h"
#ifdef HAVE_GSL
#include <gsl/gsl_multifit.h>
#endif
#ifdef HAVE_EIGEN
#include <Eigen/Dense>
#endif

namespace {

/* x in [-1, 1], where powers are at their best. */
struct Problem {
  std::vector<double> x, y;
  size_t n;
  int degree;

  Problem(size_t samples, int wanted)
      : x(samples), y(samples), n(samples), degree(wanted) {
    uint64_t seed = 1;
    for (size_t i = 0; i < n; i++) {
      double u = ((double)i + 0.9 * random_unit(&seed)) / (double)n;
      x[i] = 2 * u - 1;
      y[i] = std::sin(7 * u) + 0.1 * random_unit(&seed);
    }
  }
};

/* Runs of about a twentieth of a second in all, five at least. */
void print(const char *name, const Problem &p, const std::function<void()> &run) {
  int inner = p.n <= 1000 ? 100 : 1;
  auto once = [&] {
    for (int i = 0; i < inner; i++) run();
  };
  double first = best_of(1, once, CLOCK_MONOTONIC);
  int repeats = std::clamp((int)(0.05 / first), 4, 2000);
  double best = std::min(first, best_of(repeats, once, CLOCK_MONOTONIC)) / inner;
  std::printf("%s,%zu,%d,%.4g\n", name, p.n, p.degree, best);
  std::fflush(stdout);
}

void print_own(const Problem &p) {
  static const struct {
    const char *name;
    int32_t refine, selection, coefficients_only;
  } ways[] = {{"refined", 1, TSANOM_POLYFIT_FIXED, 0},
              {"plain", 0, TSANOM_POLYFIT_FIXED, 0},
              {"coefficients", 0, TSANOM_POLYFIT_FIXED, 1},
              {"selected_refined", 1, TSANOM_POLYFIT_AICC, 0}};
  for (const auto &way : ways) {
    auto options = defaults(tsanom_polyfit_options_init);
    auto model = sized<tsanom_polyfit_model>();
    options.degree = p.degree;
    options.refine = way.refine;
    options.selection = way.selection;
    options.coefficients_only = way.coefficients_only;
    Workspace work(exec_at(TSANOM_ISA_AUTO), [&](const tsanom_exec *ask) {
      return tsanom_polyfit_fit(nullptr, nullptr, nullptr, p.n, &options, ask, nullptr);
    });
    print(way.name, p, [&] {
      check(tsanom_polyfit_fit(p.x.data(), p.y.data(), nullptr, p.n, &options, &work.exec,
                               &model) == TSANOM_OK);
    });
  }
}

#ifdef HAVE_GSL
/* What its manual shows for polynomials: gsl_multifit_linear() on powers of x. */
void print_gsl(const Problem &p) {
  size_t terms = (size_t)p.degree + 1;
  gsl_matrix *a = gsl_matrix_alloc(p.n, terms),
             *covariance = gsl_matrix_alloc(terms, terms);
  gsl_vector *y = gsl_vector_alloc(p.n), *c = gsl_vector_alloc(terms);
  gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(p.n, terms);
  print("gsl", p, [&] {
    double rss;
    for (size_t i = 0; i < p.n; i++) {
      double power = 1;
      for (size_t k = 0; k < terms; k++, power *= p.x[i]) gsl_matrix_set(a, i, k, power);
      gsl_vector_set(y, i, p.y[i]);
    }
    check(gsl_multifit_linear(a, y, c, covariance, &rss, work) == 0);
  });
  gsl_multifit_linear_free(work);
  gsl_matrix_free(a);
  gsl_matrix_free(covariance);
  gsl_vector_free(y);
  gsl_vector_free(c);
}
#endif

#ifdef HAVE_EIGEN
/* The bare normal equations of powers of x: no statistics, no test of the condition. */
void print_eigen(const Problem &p) {
  using Eigen::Map, Eigen::MatrixXd, Eigen::VectorXd;
  VectorXd coefficients;
  print("eigen", p, [&] {
    Map<const VectorXd> x(p.x.data(), (Eigen::Index)p.n),
        y(p.y.data(), (Eigen::Index)p.n);
    MatrixXd powers(x.size(), p.degree + 1);
    powers.col(0).setOnes();
    for (int k = 1; k <= p.degree; k++) powers.col(k) = powers.col(k - 1).cwiseProduct(x);
    auto factors = MatrixXd(powers.transpose() * powers).ldlt();
    coefficients = factors.solve(powers.transpose() * y);
    check(factors.info() == Eigen::Success);
  });
}
#endif

}  // namespace

int main(int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    Problem p(std::strtoul(argv[i], nullptr, 10),
              (int)std::strtol(argv[i + 1], nullptr, 10));
    print_own(p);
#ifdef HAVE_GSL
    print_gsl(p);
#endif
#ifdef HAVE_EIGEN
    print_eigen(p);
#endif
  }
  return 0;
}
