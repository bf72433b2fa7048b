/* SPDX-License-Identifier: BSD-3-Clause */
/* Fit N samples that are never there at once: polyfit_stream N [DEGREE]. Prints
 * the seconds and the largest memory of the process. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <tsanom/polyfit.h>

enum { PIECE = 10000 };

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000000;
  tsanom_polyfit_options options;
  tsanom_polyfit_options_init(&options, sizeof options);
  options.degree = argc > 2 ? (int32_t)strtol(argv[2], NULL, 10) : 10;
  tsanom_polyfit_stream *stream;
  tsanom_polyfit_model model = {.struct_size = sizeof model};
  if (tsanom_polyfit_stream_create(&options, NULL, &stream) < 0) return 1;
  static double x[PIECE], y[PIECE];
  double pushing = 0;
  for (size_t first = 0; first < n; first += PIECE) {
    size_t count = n - first < PIECE ? n - first : PIECE;
    for (size_t i = 0; i < count; i++) {
      x[i] = (double)(first + i);
      y[i] = sin(7 * x[i] / (double)n) + 1e-3 * (double)((first + i) % 7);
    }
    double start = cpu_seconds();
    if (tsanom_polyfit_stream_push(stream, x, y, NULL, count, NULL) < 0) return 1;
    pushing += cpu_seconds() - start;
  }
  double start = cpu_seconds();
  tsanom_status status = tsanom_polyfit_stream_fit(stream, NULL, NULL, &model);
  double fitting = cpu_seconds() - start;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("samples %zu, degree %d: %s\npush %.3g s (%.3g ns a sample), fit %.3g us\n", n,
         model.degree, tsanom_status_text(status), pushing, 1e9 * pushing / (double)n,
         1e6 * fitting);
  printf("R^2 %.15g, residual sd %.10g\nlargest memory of the process %ld KiB\n",
         model.r2, model.residual_sd, usage.ru_maxrss);
  tsanom_polyfit_stream_destroy(stream);
  return status < 0;
}
