/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function of the module that exists in both precisions, called on one set of
 * series. Included once per precision with REAL, SERIES, API() and TWIN() set. */
#include <string.h>
#include <tsanom/dtw.h>

#include "series.h"

#ifndef TSANOM_TEST_CALLS_ONCE
#define TSANOM_TEST_CALLS_ONCE
enum { CALL_SERIES = 24, CALL_LONGEST = 60 };

/* A set in both precisions, and how to compute with it. */
typedef struct {
  const double *f64[CALL_SERIES];
  const float *f32[CALL_SERIES];
  size_t lengths[CALL_SERIES];
  size_t longest;
  tsanom_dtw_options options;
  tsanom_dtw_options path_options; /* the same with a path_memory */
  tsanom_exec exec;
} call_input;

/* Whatever a call writes; a call that asks for a workspace gets NULL. */
typedef struct {
  double f64[CALL_SERIES * CALL_SERIES];
  float f32[CALL_SERIES * CALL_SERIES];
  size_t path[4 * CALL_LONGEST];
  size_t count;
} call_output;

#define OUT(address, field) (out ? address out->field : NULL)

/* Bytes that make finite samples in both precisions. */
static inline void call_output_fill(call_output *out) {
  memset(out, 0x40, sizeof *out);
}

typedef tsanom_status run_call(const call_input *in, call_output *out);
#endif

static tsanom_status TWIN(run_distance)(const call_input *in, call_output *out) {
  return API(tsanom_dtw_distance)(in->REAL[0], in->lengths[0], in->REAL[1],
                                  in->lengths[1], &in->options, &in->exec, OUT(, REAL));
}

static tsanom_status TWIN(run_path)(const call_input *in, call_output *out) {
  return API(tsanom_dtw_path)(in->REAL[0], in->lengths[0], in->REAL[1], in->lengths[1],
                              &in->path_options, &in->exec, OUT(, path), OUT(&, count),
                              OUT(, REAL));
}

static tsanom_status TWIN(run_one_to_many)(const call_input *in, call_output *out) {
  SERIES set = API(series_of)(in->REAL, in->lengths, CALL_SERIES);
  return API(tsanom_dtw_one_to_many)(in->REAL[0], in->lengths[0], &set, &in->options,
                                     &in->exec, OUT(, REAL), OUT(&, count));
}

static tsanom_status TWIN(run_condensed)(const call_input *in, call_output *out) {
  SERIES set = API(series_of)(in->REAL, in->lengths, CALL_SERIES);
  return API(tsanom_dtw_condensed)(&set, &in->options, &in->exec, OUT(, REAL),
                                   OUT(&, count));
}

static tsanom_status TWIN(run_cross)(const call_input *in, call_output *out) {
  SERIES set = API(series_of)(in->REAL, in->lengths, CALL_SERIES);
  return API(tsanom_dtw_cross)(&set, &set, &in->options, &in->exec, OUT(, REAL),
                               CALL_SERIES, OUT(&, count));
}

#undef REAL
#undef SERIES
#undef TWIN
#undef API
