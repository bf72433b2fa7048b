/* SPDX-License-Identifier: BSD-3-Clause */
/* The input of a fuzzer as sizes, options and samples. Behind its end are zeros. */
#ifndef TSANOM_FUZZ_INPUT_H
#define TSANOM_FUZZ_INPUT_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/base.h>

#include "support/random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
  const uint8_t *next, *end;
} fuzz_input;

static inline void demand(int holds) {
  if (!holds) abort();
}

static inline size_t take_byte(fuzz_input *in) {
  return in->next < in->end ? *in->next++ : 0;
}

/* Uniform in [low, high], which are less than 256 apart. */
static inline size_t take_between(fuzz_input *in, size_t low, size_t high) {
  return low + take_byte(in) % (high - low + 1);
}

/* A byte is a small number, or opens eight that are any double. */
static inline double take_number(fuzz_input *in) {
  if (in->next == in->end) return 0;
  size_t first = take_byte(in);
  if (first != UINT8_MAX || in->end - in->next < 8) return (double)first - 100;
  double number;
  memcpy(&number, in->next, sizeof number);
  in->next += sizeof number;
  return number;
}

/* The same, and bytes that are an extreme. */
static inline double take_extreme(fuzz_input *in) {
  static const double extremes[] = {-0.0,   0x1p-1074, -0x1p-1074, 1e-310,  DBL_MIN,
                                    1e-160, 1e-40,     0.1,        1e9,     1e17,
                                    1e150,  -1e160,    DBL_MAX,    -DBL_MAX};
  enum { FIRST = UINT8_MAX - sizeof extremes / sizeof *extremes };
  size_t next = in->next < in->end ? *in->next : 0;
  return next < FIRST || next == UINT8_MAX ? take_number(in)
                                           : extremes[take_byte(in) - FIRST];
}

/* Samples: each from the input, a pattern that repeats, or few random values. */
static inline void take_samples(fuzz_input *in, double *x, size_t count) {
  size_t kind = take_byte(in), period = kind % 4 ? count : 1 + kind / 4;
  uint64_t seed = kind;
  for (size_t i = 0; i < count; i++) {
    x[i] = kind % 4 == 1 ? (double)random_between(&seed, 0, kind / 4)
           : i < period  ? take_extreme(in)
                         : x[i - period];
  }
}

static inline int all_finite(const double *x, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(x[i])) return 0;
  }
  return 1;
}

static inline double largest_magnitude(const double *x, size_t count) {
  double largest = 0;
  for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs(x[i]));
  return largest;
}

/* One or two threads at one of the levels of this machine. */
static inline tsanom_exec take_exec(fuzz_input *in) {
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.threads = (int32_t)take_between(in, 1, 2);
  exec.isa = (int32_t)take_between(in, TSANOM_ISA_AUTO, TSANOM_ISA_V4);
  if (exec.isa && !tsanom_isa_available(exec.isa)) exec.isa = TSANOM_ISA_BASE;
  return exec;
}

/* The same with a workspace of exactly `bytes`, misaligned; free it with drop_work(). */
static inline tsanom_exec with_work(tsanom_exec exec, size_t bytes) {
  char *block = malloc(bytes + 1);
  demand(block != NULL);
  exec.work = block + 1;
  exec.work_bytes = bytes;
  return exec;
}

static inline void drop_work(tsanom_exec *exec) {
  free((char *)exec->work - 1);
}

#endif
