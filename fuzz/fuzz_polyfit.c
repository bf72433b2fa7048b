/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as samples and options of a fit: the result is an error or a model without a
 * NaN, and the same on two threads at the base level. A stream that receives the samples
 * in two pushes accepts or rejects them too. */
#include <tsanom/polyfit.h>

#include "input.h"

enum { MOST = 300, OPTION_BYTES = 4 };

typedef struct {
  double x[MOST], y[MOST], weights[MOST];
  size_t n;
  int weighted;
  tsanom_polyfit_options options;
} problem;

static void read_problem(const uint8_t *data, size_t size, problem *p) {
  fuzz_input in = {data + OPTION_BYTES, data + size};
  tsanom_polyfit_options_init(&p->options, sizeof p->options);
  p->options.degree = data[0] % (TSANOM_POLYFIT_MAX_DEGREE + 2);
  p->options.selection = data[1] % 5;
  p->options.refine = data[2] & 1;
  p->weighted = data[2] >> 1 & 1;
  if (p->options.selection == TSANOM_POLYFIT_R2) p->options.r2 = data[3] / 255.0;
  for (p->n = 0; in.next < in.end && p->n < MOST; p->n++) {
    p->x[p->n] = take_number(&in);
    p->y[p->n] = take_number(&in);
    p->weights[p->n] = p->weighted ? take_number(&in) : 1;
  }
}

static void check_model(const tsanom_polyfit_model *model, const problem *p) {
  demand(model->samples == p->n && model->degree >= 0 &&
         model->degree <= p->options.degree && model->rank == model->highest + 1);
  demand(!isnan(model->aicc) && !isnan(model->bic) && !isnan(model->residual_sd));
  demand(model->rss >= 0 && model->tss >= 0 && model->r2 >= 0 && model->r2 <= 1);
  for (int k = 0; k <= model->degree; k++) {
    demand(!isnan(model->high[k]) && !isnan(model->sd[k]));
    demand(!isnan(model->monomial[k]) && !isnan(model->monomial_sd[k]));
  }
}

static tsanom_status fit(const problem *p, const tsanom_exec *exec,
                         tsanom_polyfit_model *model) {
  *model = (tsanom_polyfit_model){.struct_size = sizeof *model};
  return tsanom_polyfit_fit(p->x, p->y, p->weighted ? p->weights : NULL, p->n,
                            &p->options, exec, model);
}

static tsanom_status fit_stream(const problem *p, tsanom_polyfit_model *model) {
  tsanom_polyfit_stream *stream;
  size_t half = p->n / 2;
  *model = (tsanom_polyfit_model){.struct_size = sizeof *model};
  tsanom_status status = tsanom_polyfit_stream_create(&p->options, NULL, &stream);
  if (status < 0) return status;
  status = tsanom_polyfit_stream_push(stream, p->x, p->y, p->weights, half, NULL);
  if (status == TSANOM_OK) {
    status = tsanom_polyfit_stream_push(stream, p->x + half, p->y + half,
                                        p->weights + half, p->n - half, NULL);
  }
  if (status == TSANOM_OK) status = tsanom_polyfit_stream_fit(stream, NULL, NULL, model);
  tsanom_polyfit_stream_destroy(stream);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static problem p;
  static tsanom_polyfit_model model, again;
  if (size <= OPTION_BYTES) return 0;
  read_problem(data, size, &p);
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.threads = 2;
  exec.isa = TSANOM_ISA_BASE;
  tsanom_status status = fit(&p, NULL, &model);
  demand(fit(&p, &exec, &again) == status);
  demand(memcmp(&model, &again, sizeof model) == 0);
  if (status >= 0) check_model(&model, &p);
  tsanom_status streamed = fit_stream(&p, &again);
  demand((streamed < 0) == (status < 0));
  if (streamed >= 0) check_model(&again, &p);
  return 0;
}
