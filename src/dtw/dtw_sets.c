/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions of sets: one to many, condensed and cross matrices. They read
 * options, sets and counts, then hand one tsn_dtw_pairwise to the workers. The dimensions
 * and the stride come from the sets, not from the options. */
#include "dtw/dtw_pairwise.h"

/* A call; its first member is the context of the layout and of the run. */
typedef struct {
  tsn_dtw_pairwise pairs;
  tsn_dtw_settings settings;
  const char *xs, *ys; /* names of the sets; ys NULL: one set */
  bool one;            /* xs is one series, the argument x */
  size_t *computed;    /* the caller's, or NULL */
} sets_call;

static tsanom_status run(void *context) {
  return tsn_dtw_pairwise_run(context);
}

static tsanom_status require_pointers(const sets_call *c) {
  const tsn_dtw_pairwise *m = &c->pairs;
  const tsanom_exec *exec = &c->settings.exec;
  size_t count = m->condensed ? m->xs.count * (m->xs.count - 1) / 2
                              : (m->xs.count - 1) * m->ld + m->ys.count;
  tsanom_status status = c->one ? tsn_require_array(exec, m->xs.data, m->xs.length, c->xs)
                                : tsn_series_require(&m->xs, c->xs, exec);
  if (status == TSANOM_OK && c->ys) status = tsn_series_require(&m->ys, c->ys, exec);
  return status < 0 ? status : tsn_require_array(exec, m->distances, count, "distances");
}

static tsanom_status check(void *context) {
  const sets_call *c = context;
  const series_view *xs = &c->pairs.xs;
  tsanom_status status = require_pointers(c);
  if (status < 0) return status;
  if (c->one) {
    tsn_dtw_operand x = tsn_dtw_set_at(xs, 0);
    status = tsn_dtw_operand_finite(&x, c->xs, &c->settings);
  } else {
    status = tsn_dtw_set_finite(xs, c->xs, &c->settings);
  }
  if (status < 0 || !c->ys) return status;
  return tsn_dtw_set_finite(&c->pairs.ys, c->ys, &c->settings);
}

/* Options, sets and counts are read. */
static tsanom_status compute(sets_call *c) {
  tsn_dtw_pairwise *m = &c->pairs;
  const tsanom_exec *exec = &c->settings.exec;
  m->settings = &c->settings;
  tsanom_status status = tsn_dtw_pairwise_init(m);
  if (status < 0) {
    return tsn_reject_text(exec, status, "distances", TSANOM_NONE,
                           "%zu rows of %zu, or their slope windows, exceed the address "
                           "space",
                           m->xs.count, m->condensed ? m->xs.count : m->ld);
  }
  status = tsn_workspace_run(exec, tsn_dtw_pairwise_layout, check, run, c);
  if (status >= 0 && c->computed) *c->computed = m->computed;
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
  sets_call c = {.pairs = {.distances = distances},
                 .xs = "x",
                 .ys = "series",
                 .one = true,
                 .computed = computed};
  tsn_dtw_pairwise *m = &c.pairs;
  tsanom_status status =
      tsn_dtw_settings_read(&c.settings, options, exec, TSN_DTW_USES_TAILS);
  if (status < 0 || (status = read_set(&c.settings, &m->ys, series, "series")) < 0) {
    return status;
  }
  m->xs = (series_view){.count = 1,
                        .data = x,
                        .length = n,
                        .dimensions = m->ys.dimensions,
                        .stride = m->ys.stride};
  m->ld = m->ys.count;
  tsn_dtw_operand one = {.count = n, .stride = m->ys.stride};
  status = tsn_dtw_operand_check(&one, "n", &c.settings);
  return status < 0 ? status : compute(&c);
}

tsanom_status tsanom_dtw_condensed(const series_view *series,
                                   const tsanom_dtw_options *options,
                                   const tsanom_exec *exec, real *distances,
                                   size_t *computed) {
  sets_call c = {.pairs = {.condensed = true, .distances = distances},
                 .xs = "series",
                 .computed = computed};
  tsanom_status status = tsn_dtw_settings_read(&c.settings, options, exec, 0);
  if (status < 0 || (status = read_set(&c.settings, &c.pairs.xs, series, "series")) < 0 ||
      (status = tsn_require_size(&c.settings.exec, TSANOM_E_COUNT, "series.count",
                                 c.pairs.xs.count, 2, SIZE_MAX)) < 0) {
    return status;
  }
  c.pairs.ys = c.pairs.xs;
  return compute(&c);
}

tsanom_status tsanom_dtw_cross(const series_view *xs, const series_view *ys,
                               const tsanom_dtw_options *options, const tsanom_exec *exec,
                               real *distances, size_t ld, size_t *computed) {
  sets_call c = {.pairs = {.distances = distances, .ld = ld},
                 .xs = "xs",
                 .ys = "ys",
                 .computed = computed};
  tsn_dtw_pairwise *m = &c.pairs;
  const tsanom_exec *own = &c.settings.exec;
  tsanom_status status = tsn_dtw_settings_read(&c.settings, options, exec, 0);
  if (status < 0 || (status = read_set(&c.settings, &m->xs, xs, "xs")) < 0 ||
      (status = read_set(&c.settings, &m->ys, ys, "ys")) < 0 ||
      (status = tsn_require_size(own, TSANOM_E_OPTION, "ys.dimensions", m->ys.dimensions,
                                 m->xs.dimensions, m->xs.dimensions)) < 0 ||
      (status = tsn_require_size(own, TSANOM_E_OPTION, "ld", ld, m->ys.count, SIZE_MAX)) <
          0) {
    return status;
  }
  return compute(&c);
}
