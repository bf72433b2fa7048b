/* SPDX-License-Identifier: BSD-3-Clause */
/* Seconds of a fit for polyfit_peers.py: for each n and degree given as
 * arguments, one line "name,n,degree,seconds" for each way. GSL, if it is there,
 * does what its manual shows for polynomials: gsl_multifit_linear() on powers of
 * x. Eigen, if it is there, solves the normal equations of the same powers. The
 * least of several runs counts; what GSL allocates is
 * allocated once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tsanom/polyfit.h>

#include "support/random.h"
#ifdef HAVE_GSL
#include <gsl/gsl_multifit.h>
#endif

typedef struct {
  double *x, *y;
  size_t n;
  int degree;
} problem;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(int good) {
  if (good) return;
  fprintf(stderr, "polyfit_speed: a fit failed\n");
  exit(1);
}

/* Runs of about a twentieth of a second in all, five at least. */
static void report(const char *name, const problem *p, void (*run)(void *), void *user) {
  double best = INFINITY, total = 0;
  for (int repeat = 0; repeat < 5 || (total < 0.05 && repeat < 2000); repeat++) {
    double start = now();
    int inner = p->n <= 1000 ? 100 : 1;
    for (int i = 0; i < inner; i++) run(user);
    double seconds = now() - start;
    total += seconds;
    best = fmin(best, seconds / inner);
    if (total > 3) break;
  }
  printf("%s,%zu,%d,%.4g\n", name, p->n, p->degree, best);
  fflush(stdout);
}

typedef struct {
  const problem *p;
  tsanom_polyfit_options options;
  tsanom_polyfit_model model;
  tsanom_exec exec;
} own_fit;

static void run_own(void *user) {
  own_fit *f = user;
  check(tsanom_polyfit_fit(f->p->x, f->p->y, NULL, f->p->n, &f->options, &f->exec,
                           &f->model) == TSANOM_OK);
}

static void report_own(const problem *p) {
  static const struct {
    const char *name;
    int32_t refine, selection, coefficients_only;
  } ways[] = {{"refined", 1, TSANOM_POLYFIT_FIXED, 0},
              {"plain", 0, TSANOM_POLYFIT_FIXED, 0},
              {"coefficients", 0, TSANOM_POLYFIT_FIXED, 1},
              {"selected_refined", 1, TSANOM_POLYFIT_AICC, 0},
              {"selected_plain", 0, TSANOM_POLYFIT_AICC, 0}};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    own_fit f = {.p = p};
    tsanom_polyfit_options_init(&f.options, sizeof f.options);
    f.model = (tsanom_polyfit_model){.struct_size = sizeof f.model};
    f.options.degree = p->degree;
    f.options.refine = ways[i].refine;
    f.options.selection = ways[i].selection;
    f.options.coefficients_only = ways[i].coefficients_only;
    tsanom_exec_init(&f.exec, sizeof f.exec);
    f.exec.work = &f;
    f.exec.work_needed = &f.exec.work_bytes;
    check(tsanom_polyfit_fit(NULL, NULL, NULL, p->n, &f.options, &f.exec, NULL) ==
          TSANOM_E_WORKSPACE);
    f.exec.work_needed = NULL;
    f.exec.work = malloc(f.exec.work_bytes);
    report(ways[i].name, p, run_own, &f);
    free(f.exec.work);
  }
}

#ifdef HAVE_GSL
typedef struct {
  const problem *p;
  gsl_matrix *a, *covariance;
  gsl_vector *y, *c;
  gsl_multifit_linear_workspace *work;
} gsl_fit;

static void run_gsl(void *user) {
  gsl_fit *f = user;
  double rss;
  for (size_t i = 0; i < f->p->n; i++) {
    double power = 1;
    for (int k = 0; k <= f->p->degree; k++, power *= f->p->x[i]) {
      gsl_matrix_set(f->a, i, (size_t)k, power);
    }
    gsl_vector_set(f->y, i, f->p->y[i]);
  }
  check(gsl_multifit_linear(f->a, f->y, f->c, f->covariance, &rss, f->work) == 0);
}

static void report_gsl(const problem *p) {
  size_t terms = (size_t)p->degree + 1;
  gsl_fit f = {p,
               gsl_matrix_alloc(p->n, terms),
               gsl_matrix_alloc(terms, terms),
               gsl_vector_alloc(p->n),
               gsl_vector_alloc(terms),
               gsl_multifit_linear_alloc(p->n, terms)};
  report("gsl", p, run_gsl, &f);
  gsl_multifit_linear_free(f.work);
  gsl_matrix_free(f.a);
  gsl_matrix_free(f.covariance);
  gsl_vector_free(f.y);
  gsl_vector_free(f.c);
}
#endif

#ifdef HAVE_EIGEN
/* Of polyfit_eigen.cc. */
int polyfit_eigen(const double *x, const double *y, size_t n, int degree,
                  double *coefficients);

static void run_eigen(void *user) {
  const problem *p = user;
  double coefficients[TSANOM_POLYFIT_MAX_DEGREE + 1];
  check(polyfit_eigen(p->x, p->y, p->n, p->degree, coefficients));
}
#endif

/* x in [-1, 1], where powers are at their best. */
static problem make_problem(size_t n, int degree) {
  problem p = {malloc(n * sizeof(double)), malloc(n * sizeof(double)), n, degree};
  uint64_t seed = 1;
  check(p.x && p.y);
  for (size_t i = 0; i < n; i++) {
    double u = ((double)i + 0.9 * random_unit(&seed)) / (double)n;
    p.x[i] = 2 * u - 1;
    p.y[i] = sin(7 * u) + 0.1 * random_unit(&seed);
  }
  return p;
}

int main(int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    problem p =
        make_problem(strtoul(argv[i], NULL, 10), (int)strtol(argv[i + 1], NULL, 10));
    report_own(&p);
#ifdef HAVE_GSL
    report_gsl(&p);
#endif
#ifdef HAVE_EIGEN
    report("eigen", &p, run_eigen, &p);
#endif
    free(p.x);
    free(p.y);
  }
  return 0;
}
