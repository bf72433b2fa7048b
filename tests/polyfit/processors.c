/* SPDX-License-Identifier: BSD-3-Clause */
/* Fits whose bits processors.sh compares. A line is "all" if the bits must be the same in every
 * build, and "own" if only in a build without LAPACKE: what a fit by QR reports besides its
 * coefficients, and all of one whose rank is in doubt. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <tsanom/polyfit.h>

enum { N = 300, KINDS = 4, MOST = 20 };

static double x[N], y[N], weights[N];

static uint64_t hash(uint64_t h, const void *data, size_t bytes) {
  for (const unsigned char *c = data; bytes > 0; bytes--, c++) {
    h = (h ^ *c) * 1099511628211u;
  }
  return h;
}

/* Evenly spaced; two clusters; falling weights; a few places of x many times. */
static void make_samples(int kind) {
  for (int i = 0; i < N; i++) {
    double t = i / (double)(N - 1);
    const double places[KINDS] = {t, i < N / 2 ? t * 1e-7 : 1 + t * 1e-3, t,
                                  (i % 11) / 10.0 + t * 1e-9};
    x[i] = places[kind];
    y[i] = sin(7 * x[i]) + 0.1 * cos(i);
    weights[i] = kind == 2 ? exp(-40 * t) : 1;
  }
}

/* The difference of a singular value from the tolerance is below the rounding error of QR. */
static void make_doubtful(void) {
  const double p = 5.7000094105885604e-05;
  for (int i = 0; i < N; i++) {
    double t = i / (double)(N - 1);
    x[i] = i < N / 2 ? t * p : 1 + t * p;
    y[i] = sin(7 * x[i]) + 0.1 * cos(i);
  }
}

static void fit(const char *name, int32_t degree, int doubtful) {
  static tsanom_polyfit_model model;
  tsanom_polyfit_options options;
  tsanom_polyfit_options_init(&options, sizeof options);
  model = (tsanom_polyfit_model){.struct_size = sizeof model};
  options.degree = degree;
  int status =
      (int)tsanom_polyfit_fit(x, y, doubtful ? NULL : weights, N, &options, NULL, &model);
  int by_qr = model.method == TSANOM_POLYFIT_QR;
  uint64_t coefficients = hash(14695981039346656037u, model.high, sizeof model.high);
  uint64_t others = hash(coefficients, &model.condition, sizeof model.condition);
  others = hash(others, &model.rss, sizeof model.rss);
  printf("%s %s %d: status %d rank %d coefficients %016llx\n", doubtful ? "own" : "all",
         name, (int)degree, status, (int)model.rank, (unsigned long long)coefficients);
  printf("%s %s %d: condition %.17g bits %016llx\n", by_qr ? "own" : "all", name,
         (int)degree, model.condition, (unsigned long long)others);
}

int main(void) {
  static const char *const names[KINDS] = {"even", "clusters", "weights", "places"};
  for (int kind = 0; kind < KINDS; kind++) {
    make_samples(kind);
    for (int32_t degree = 4; degree <= MOST; degree += 8) fit(names[kind], degree, 0);
  }
  make_doubtful();
  fit("doubtful", 6, 1);
  return 0;
}
