/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread opens no OpenMP region, neither in the library nor in OpenBLAS. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

#include "contract/modules.h"
#include "contract/regions.h"

static size_t watched, seen, failures;

static int may_open;

void watch_begin(void) {
  regions_opened = 0;
}

void watch_end(const char *call, tsanom_status status) {
  watched++;
  seen += regions_opened;
  int opened = regions_opened > 0 && !may_open;
  if (status < 0 || opened) {
    (void)fprintf(stderr, "%s\n  gave %s and opened %zu regions\n", call,
                  tsanom_status_name(status), regions_opened);
    failures++;
  }
}

/* OpenBLAS's regions pass here too, or the silence of the rest means nothing. */
static void check_openblas(void) {
  enum { SIZE = 500 };
  double *a = calloc((size_t)SIZE * SIZE, sizeof *a);
  double *b = calloc((size_t)SIZE * SIZE, sizeof *b);
  if (!a || !b) abort();
  regions_opened = 0;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, SIZE, SIZE, SIZE, 1, a, SIZE, a,
              SIZE, 0, b, SIZE);
  if (regions_opened == 0) {
    (void)fprintf(stderr, "a region of OpenBLAS was not seen\n");
    failures++;
  }
  free(a);
  free(b);
}

int main(void) {
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  check_openblas();
  call_modules(NULL);
  exec.threads = 1;
  call_modules(&exec);
  printf("%zu calls on one thread opened %zu regions\n", watched, seen);
  exec.threads = 2;
  may_open = 1;
  watched = seen = 0;
  call_modules(&exec);
  printf("%zu calls on two threads opened %zu regions\n", watched, seen);
  if (seen == 0) {
    (void)fprintf(stderr, "a region of the library was not seen\n");
    failures++;
  }
  return failures > 0;
}
