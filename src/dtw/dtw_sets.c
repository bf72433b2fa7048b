/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions of sets: one to many, condensed and cross matrices. They check in
 * the order options, sets, samples, outputs, then hand one tsn_dtw_pairwise to the
 * workers. The dimensions and the stride come from the sets, not from the options. */
#include "dtw/dtw_pairwise.h"

static tsanom_status run(void *context) {
  return tsn_dtw_pairwise_run(context);
}

/* Both sets are read, and the samples are checked. */
static tsanom_status compute(tsn_dtw_pairwise *m, size_t *computed) {
  const tsanom_exec *exec = &m->settings->exec;
  tsanom_status status = tsn_require(&m->settings->exec, m->distances, "distances");
  if (status < 0) return status;
  if ((status = tsn_dtw_pairwise_init(m)) < 0) {
    return tsn_reject(exec, status, "distances");
  }
  status = tsn_workspace_run(exec, tsn_dtw_pairwise_layout, NULL, run, m);
  if (status >= 0 && computed) *computed = m->computed;
  return status;
}

/* Read a set, whose dimensions become those of the call. */
static tsanom_status read_set(tsn_dtw_settings *settings, series_view *own,
                              const series_view *caller, const char *name) {
  tsanom_status status = tsn_dtw_set_read(own, caller, name, settings);
  if (status == TSANOM_OK) settings->options.dimensions = own->dimensions;
  return status;
}

tsanom_status tsanom_dtw_one_to_many(const real *x, size_t n, const series_view *series,
                                     const tsanom_dtw_options *options,
                                     const tsanom_exec *exec, real *distances,
                                     size_t *computed) {
  tsn_dtw_settings settings;
  tsn_dtw_pairwise m = {.settings = &settings, .distances = distances};
  tsanom_status status =
      tsn_dtw_settings_read(&settings, options, exec, TSN_DTW_USES_TAILS);
  if (status < 0 || (status = read_set(&settings, &m.ys, series, "series")) < 0) {
    return status;
  }
  tsn_dtw_operand one = {.samples = x, .count = n, .stride = m.ys.stride};
  if ((status = tsn_dtw_operand_check(&one, "x", "n", &settings)) < 0 ||
      (status = tsn_dtw_operand_finite(&one, "x", &settings)) < 0 ||
      (status = tsn_dtw_set_finite(&m.ys, "series", &settings)) < 0) {
    return status;
  }
  m.xs = (series_view){.count = 1,
                       .data = x,
                       .length = n,
                       .dimensions = m.ys.dimensions,
                       .stride = m.ys.stride};
  m.ld = m.ys.count;
  return compute(&m, computed);
}

tsanom_status tsanom_dtw_condensed(const series_view *series,
                                   const tsanom_dtw_options *options,
                                   const tsanom_exec *exec, real *distances,
                                   size_t *computed) {
  tsn_dtw_settings settings;
  tsn_dtw_pairwise m = {.settings = &settings, .condensed = true, .distances = distances};
  tsanom_status status = tsn_dtw_settings_read(&settings, options, exec, 0);
  if (status < 0 || (status = read_set(&settings, &m.xs, series, "series")) < 0) {
    return status;
  }
  if (m.xs.count < 2) {
    return tsn_reject(&settings.exec, TSANOM_E_COUNT, "series.count");
  }
  m.ys = m.xs;
  if ((status = tsn_dtw_set_finite(&m.xs, "series", &settings)) < 0) return status;
  return compute(&m, computed);
}

tsanom_status tsanom_dtw_cross(const series_view *xs, const series_view *ys,
                               const tsanom_dtw_options *options, const tsanom_exec *exec,
                               real *distances, size_t ld, size_t *computed) {
  tsn_dtw_settings settings;
  tsn_dtw_pairwise m = {.settings = &settings, .distances = distances, .ld = ld};
  tsanom_status status = tsn_dtw_settings_read(&settings, options, exec, 0);
  if (status < 0 || (status = read_set(&settings, &m.xs, xs, "xs")) < 0 ||
      (status = read_set(&settings, &m.ys, ys, "ys")) < 0) {
    return status;
  }
  if (m.ys.dimensions != m.xs.dimensions) {
    return tsn_reject(&settings.exec, TSANOM_E_OPTION, "ys.dimensions");
  }
  if (ld < m.ys.count) return tsn_reject(&settings.exec, TSANOM_E_OPTION, "ld");
  if ((status = tsn_dtw_set_finite(&m.xs, "xs", &settings)) < 0 ||
      (status = tsn_dtw_set_finite(&m.ys, "ys", &settings)) < 0) {
    return status;
  }
  return compute(&m, computed);
}
