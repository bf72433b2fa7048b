/* SPDX-License-Identifier: BSD-3-Clause */
/* A series of any finite samples: changes in order, within their intervals, the same bits
 * at every level and in every split; and comparisons of its halves, whose exact
 * significance does not depend on the order of the runs. */
#include <tsanom/change.h>

#include "input.h"
#include "support/ask.h"

enum { LONGEST = 160, POINTS = 32 };

static void check_point(const tsanom_change_point *p, size_t n) {
  demand(p->low <= p->at && p->at <= p->high && p->high < n);
  demand(!isnan(p->before) && !isnan(p->after) && !isnan(p->size));
  demand(!(p->size_low > p->size) && !(p->size_high < p->size));
  demand(p->significance >= 0 && p->significance <= 1 && p->reserved == 0);
}

static void check_find(const double *x, size_t n, const tsanom_change_options *options,
                       const tsanom_exec *exec) {
  tsanom_change_point points[POINTS], again[POINTS];
  size_t count, other, bytes;
  tsanom_exec ask = ask_exec(exec, &bytes);
  demand(tsanom_change_find(NULL, n, options, &ask, NULL, 0, NULL) == TSANOM_E_WORKSPACE);
  tsanom_exec own = with_work(*exec, bytes);
  tsanom_status status = tsanom_change_find(x, n, options, &own, points, POINTS, &count);
  drop_work(&own);
  demand(status == TSANOM_OK || (status == TSANOM_INFEASIBLE && count == 0));
  demand(count <= n / 6);
  for (size_t i = 0; i < count; i++) {
    check_point(&points[i], n);
    demand(i == 0 || points[i].at >= points[i - 1].at + 6);
  }
  demand(tsanom_change_find(x, n, options, NULL, again, POINTS, &other) == status);
  demand(other == count && memcmp(points, again, count * sizeof *points) == 0);
}

static void check_push(fuzz_input *in, const double *x, size_t n) {
  tsanom_change_detector *one = NULL, *two = NULL;
  tsanom_change_options options;
  tsanom_change_point whole[POINTS], points[POINTS];
  size_t expected, taken, count = 0, found;
  tsanom_change_options_init(&options, sizeof options);
  options.reference = 50;
  demand(tsanom_change_create(&options, NULL, &one) == TSANOM_OK);
  demand(tsanom_change_create(&options, NULL, &two) == TSANOM_OK);
  demand(tsanom_change_push(one, x, n, whole, POINTS, &expected, &taken) == TSANOM_OK);
  for (size_t i = 0; i < n; i += taken) {
    size_t piece = take_between(in, 1, 40);
    if (piece > n - i) piece = n - i;
    demand(tsanom_change_push(two, x + i, piece, points + count, POINTS - count, &found,
                              &taken) == TSANOM_OK);
    count += found;
  }
  demand(count == expected && memcmp(points, whole, count * sizeof *points) == 0);
  for (size_t i = 0; i < count; i++) check_point(&points[i], n);
  tsanom_change_destroy(one);
  tsanom_change_destroy(two);
}

static void check_compare(const double *x, size_t a_count, size_t b_count,
                          const tsanom_change_options *options, const tsanom_exec *exec) {
  tsanom_change_comparison c = {.struct_size = sizeof c}, d = c;
  const double *b = x + a_count;
  tsanom_status expected =
      options->paired && a_count != b_count ? TSANOM_E_COUNT : TSANOM_OK;
  demand(tsanom_change_compare(x, a_count, b, b_count, options, exec, &c) == expected);
  if (expected != TSANOM_OK) return;
  demand(c.significance >= 0 && c.significance <= 1);
  demand(!isnan(c.difference) && !(c.low > c.high) && !isnan(c.detectable));
  demand(tsanom_change_compare(b, b_count, x, a_count, options, exec, &d) == TSANOM_OK);
  demand(d.a == c.b && d.difference == -c.difference);
  demand(fabs(c.significance - d.significance) <= 1e-9);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_input in = {data, data + size};
  double x[LONGEST];
  tsanom_change_options options;
  tsanom_exec exec = take_exec(&in);
  size_t flags = take_byte(&in), n = take_between(&in, 2, LONGEST), count;
  size_t a_count = take_between(&in, 1, n - 1);
  tsanom_change_options_init(&options, sizeof options);
  options.level = flags & 1 ? 0.05 : 0.01;
  take_samples(&in, x, n);
  if (!all_finite(x, n)) {
    demand(tsanom_change_find(x, n, &options, &exec, NULL, 0, &count) ==
           TSANOM_E_NONFINITE);
    return 0;
  }
  check_find(x, n, &options, &exec);
  check_push(&in, x, n);
  options.paired = flags >> 1 & 1;
  options.sequential = options.paired && flags >> 2 & 1;
  if (a_count > 40) a_count = 40;
  check_compare(x, a_count, n - a_count > 40 ? a_count : n - a_count, &options, &exec);
  return 0;
}
