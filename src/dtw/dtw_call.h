/* SPDX-License-Identifier: BSD-3-Clause */
/* What every public function of the room does first. */
#ifndef TSN_DTW_CALL_H
#define TSN_DTW_CALL_H

#include "core/check.h"
#include "dtw/dtw_wave.h"

#ifdef TSN_DTW_F32
#define ALL_FINITE tsn_all_finite_f32
#else
#define ALL_FINITE tsn_all_finite
#endif

/* The caller's options and exec, checked and with the defaults filled in. */
typedef struct {
  tsanom_dtw_options options;
  tsanom_exec exec;
} tsn_dtw_call;

static inline tsanom_status tsn_dtw_call_read(tsn_dtw_call *call,
                                              const tsanom_dtw_options *options,
                                              const tsanom_exec *exec) {
  tsanom_status status = tsn_dtw_options_read(&call->options, options);
  return status < 0 ? status : tsn_exec_read(&call->exec, exec);
}

#define tsn_dtw_call_kernels(call) \
  TSN_PASTE_EXPANDED(NAME(tsn_dtw_kernels), at)((call)->exec.isa)

/* Whether every component of a series is finite. */
static inline bool NAME(tsn_dtw_finite)(const real *x, size_t n,
                                        const tsanom_dtw_options *options) {
  if (options->stride == options->dimensions) return ALL_FINITE(x, n * options->stride);
  for (size_t i = 0; i < n; i++) {
    if (!ALL_FINITE(x + i * options->stride, options->dimensions)) return false;
  }
  return true;
}

/* A series of n samples fits the address space, and its columns fit a tick. */
static inline bool NAME(tsn_dtw_length_fits)(size_t n,
                                             const tsanom_dtw_options *options) {
  size_t elements, bytes;
  size_t longest = sizeof(real) == sizeof(float) ? INT32_MAX / 2 : (size_t)1 << 52;
  return n <= longest && !__builtin_mul_overflow(n, options->stride, &elements) &&
         !__builtin_mul_overflow(elements, sizeof(real), &bytes);
}

/* The options as they read when the two series change places. */
static inline void tsn_dtw_options_swap(tsanom_dtw_options *options) {
  size_t begin = options->open_begin_x, end = options->open_end_x;
  options->open_begin_x = options->open_begin_y;
  options->open_end_x = options->open_end_y;
  options->open_begin_y = begin;
  options->open_end_y = end;
}

/* Threads that pay for one pair. */
static inline int tsn_dtw_pair_threads(const tsanom_exec *exec, size_t strips,
                                       size_t columns) {
  enum { STEPS_PER_THREAD = 1 << 14 };
  size_t most = columns / STEPS_PER_THREAD * strips +
                strips * (columns % STEPS_PER_THREAD) / STEPS_PER_THREAD;
  most = most < strips / 2 ? most : strips / 2;
  return most < 2 ? 1 : most < (size_t)exec->threads ? (int)most : exec->threads;
}

#endif
