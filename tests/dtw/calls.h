/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function of the room that has a twin in the other precision, called on one
 * set of series. Included once with REAL and TWIN() set, as double and as float. */
#include <string.h>
#include <tsanom/dtw.h>

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
  tsanom_exec exec;
} call_input;

/* Whatever a call writes. */
typedef struct {
  double f64[CALL_SERIES * CALL_SERIES];
  float f32[CALL_SERIES * CALL_SERIES];
  size_t path[4 * CALL_LONGEST];
  size_t count;
} call_output;

/* Bytes that make finite samples in both precisions. */
static inline void call_output_fill(call_output *out) {
  memset(out, 0x40, sizeof *out);
}

typedef tsanom_status query_call(const call_input *in, size_t *bytes);
typedef tsanom_status run_call(const call_input *in, void *work, size_t bytes,
                               call_output *out);
#endif

static tsanom_status TWIN(query_distance)(const call_input *in, size_t *bytes) {
  return API(tsanom_dtw_workspace)(in->lengths[0], in->lengths[1], &in->options,
                                   &in->exec, bytes);
}

static tsanom_status TWIN(run_distance)(const call_input *in, void *work, size_t bytes,
                                        call_output *out) {
  return API(tsanom_dtw_distance)(in->REAL[0], in->lengths[0], in->REAL[1],
                                  in->lengths[1], &in->options, &in->exec, work, bytes,
                                  out->REAL);
}

static tsanom_status TWIN(query_path)(const call_input *in, size_t *bytes) {
  return API(tsanom_dtw_path_workspace)(in->lengths[0], in->lengths[1], &in->options,
                                        &in->exec, bytes);
}

static tsanom_status TWIN(run_path)(const call_input *in, void *work, size_t bytes,
                                    call_output *out) {
  return API(tsanom_dtw_path)(in->REAL[0], in->lengths[0], in->REAL[1], in->lengths[1],
                              &in->options, &in->exec, work, bytes, out->path,
                              &out->count, out->REAL);
}

static tsanom_status TWIN(query_one_to_many)(const call_input *in, size_t *bytes) {
  return API(tsanom_dtw_one_to_many_workspace)(in->lengths[0], in->longest, CALL_SERIES,
                                               &in->options, &in->exec, bytes);
}

static tsanom_status TWIN(run_one_to_many)(const call_input *in, void *work, size_t bytes,
                                           call_output *out) {
  return API(tsanom_dtw_one_to_many)(in->REAL[0], in->lengths[0], in->REAL, in->lengths,
                                     CALL_SERIES, NULL, &in->options, &in->exec, work,
                                     bytes, out->REAL, &out->count);
}

static tsanom_status TWIN(query_condensed)(const call_input *in, size_t *bytes) {
  return API(tsanom_dtw_condensed_workspace)(in->longest, CALL_SERIES, &in->options,
                                             &in->exec, bytes);
}

static tsanom_status TWIN(run_condensed)(const call_input *in, void *work, size_t bytes,
                                         call_output *out) {
  return API(tsanom_dtw_condensed)(in->REAL, in->lengths, CALL_SERIES, &in->options,
                                   &in->exec, work, bytes, out->REAL, &out->count);
}

static tsanom_status TWIN(query_cross)(const call_input *in, size_t *bytes) {
  return API(tsanom_dtw_cross_workspace)(in->longest, CALL_SERIES, in->longest,
                                         CALL_SERIES, &in->options, &in->exec, bytes);
}

static tsanom_status TWIN(run_cross)(const call_input *in, void *work, size_t bytes,
                                     call_output *out) {
  return API(tsanom_dtw_cross)(in->REAL, in->lengths, CALL_SERIES, in->REAL, in->lengths,
                               CALL_SERIES, &in->options, &in->exec, work, bytes,
                               out->REAL, CALL_SERIES, &out->count);
}

#undef REAL
#undef TWIN
#undef API
