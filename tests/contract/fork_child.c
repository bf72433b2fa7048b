/* SPDX-License-Identifier: BSD-3-Clause */
/* In the child of a process that had several threads, polyfit opens no parallel region,
 * neither its own nor one of OpenBLAS: GNU's OpenMP runtime would hang in it. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <tsanom/polyfit.h>
#include <unistd.h>

#include "contract/regions.h"

enum { SAMPLES = 20000, MATRIX = 500, SECONDS = 60 };

static double x[SAMPLES], y[SAMPLES], square[MATRIX * MATRIX], product[MATRIX * MATRIX];

static int fit_by_qr(int32_t degree, const tsanom_exec *exec,
                     tsanom_polyfit_model *model) {
  tsanom_polyfit_options options;
  tsanom_polyfit_options_init(&options, sizeof options);
  *model = (tsanom_polyfit_model){.struct_size = sizeof *model};
  options.degree = degree;
  tsanom_status status = tsanom_polyfit_fit(x, y, NULL, SAMPLES, &options, exec, model);
  return status >= 0 && (degree < 2 || model->method == TSANOM_POLYFIT_QR);
}

/* A region of two threads of the library, and one of OpenBLAS. */
static int start_threads(const tsanom_exec *exec) {
  tsanom_polyfit_model model;
  regions_opened = 0;
  if (!fit_by_qr(5, exec, &model) || regions_opened == 0) return 0;
  regions_opened = 0;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, MATRIX, MATRIX, MATRIX, 1,
              square, MATRIX, square, MATRIX, 0, product, MATRIX);
  return regions_opened > 0;
}

static int run_child(const tsanom_exec *exec, const tsanom_polyfit_model *expected) {
  tsanom_polyfit_model model;
  (void)alarm(SECONDS);
  regions_opened = 0;
  for (int32_t degree = 0; degree <= TSANOM_POLYFIT_MAX_DEGREE; degree++) {
    if (!fit_by_qr(degree, exec, &model)) return 2;
    if (degree == 5 && model.high[1] != expected->high[1]) return 3;
  }
  return regions_opened > 0;
}

int main(void) {
  tsanom_exec exec;
  tsanom_polyfit_model expected;
  tsanom_exec_init(&exec, sizeof exec);
  exec.threads = 2;
  for (int i = 0; i < SAMPLES; i++) {
    x[i] = i + 1 < SAMPLES ? 1e-6 * i / SAMPLES : 1;
    y[i] = sin(0.01 * i);
  }
  if (!start_threads(&exec) || !fit_by_qr(5, &exec, &expected)) {
    (void)fprintf(stderr, "the parent opened no region of two threads\n");
    return 1;
  }
  pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) _exit(run_child(&exec, &expected));
  int ended = 0;
  if (waitpid(child, &ended, 0) != child) return 1;
  if (WIFSIGNALED(ended)) (void)fprintf(stderr, "the child hung in a parallel region\n");
  if (WIFEXITED(ended) && WEXITSTATUS(ended)) {
    (void)fprintf(stderr, "the child returned %d\n", WEXITSTATUS(ended));
  }
  return ended != 0;
}
