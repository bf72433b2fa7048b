/* SPDX-License-Identifier: BSD-3-Clause */
/* The cells that a path may use: windows, open ends, and whether any path is left. */
#include "dtw/dtw_problem.h"

#include "core/size.h"

tsanom_status tsn_dtw_problem_init(tsn_dtw_problem *problem, size_t n, size_t m,
                                   const tsanom_dtw_options *options) {
  *problem = (tsn_dtw_problem){
      .n = n,
      .m = m,
      .stride_x = options->stride,
      .stride_y = options->stride,
      .radius = tsn_smaller(options->radius, tsn_larger(n, m) - 1),
      .open_begin_x = tsn_smaller(options->open_begin_x, n - 1),
      .open_begin_y = tsn_smaller(options->open_begin_y, m - 1),
      .open_end_x = tsn_smaller(options->open_end_x, n - 1),
      .open_end_y = tsn_smaller(options->open_end_y, m - 1),
      .window = options->window,
  };
  bool fits = options->window != TSANOM_DTW_SLOPE || tsn_product(n, m) <= SIZE_MAX / 2;
  return fits ? TSANOM_OK : TSANOM_E_OVERFLOW;
}

/* The inequality of the header solved for j, rounded inwards. i * rise + reach is at most
 * 2*n*m, which tsn_dtw_problem_init() has checked. With one row (run 0) the diagonal is
 * that row. */
void tsn_dtw_slope_row(const tsn_dtw_problem *p, size_t i, size_t *first, size_t *last) {
  size_t rise = p->m - 1, run = p->n - 1;
  if (run == 0) {
    *first = 0;
    *last = p->m - 1;
    return;
  }
  size_t reach = p->radius * tsn_smaller(rise, run);
  *first = i * rise > reach ? (i * rise - reach + run - 1) / run : 0;
  *last = tsn_smaller((i * rise + reach) / run, p->m - 1);
}

/* Every cell of a Sakoe-Chiba band is reachable from (0,0): one of the ends has to
 * be admitted. */
static bool band_has_an_end(const tsn_dtw_problem *p) {
  size_t first, last;
  tsn_dtw_window_row(p, p->n - 1, &first, &last);
  if (first <= last && last + p->open_end_y >= p->m - 1) return true;
  /* The lowest row that reaches the last column is the first to leave it, too. */
  size_t lowest = p->n - 1 < p->m - 1 + p->radius ? p->n - 1 : p->m - 1 + p->radius;
  return lowest + p->open_end_x >= p->n - 1 && lowest + p->radius >= p->m - 1;
}

/* The cells of a row that paths reach are an interval up to the end of its window: from
 * the first one that is entered from above, or at which a path starts, all cells to the
 * right are reached. So its first column is all that a row has to pass on. O(n), and for
 * a Sakoe-Chiba band O(1). */
bool tsn_dtw_path_exists(const tsn_dtw_problem *p) {
  if (p->window == TSANOM_DTW_SAKOE_CHIBA) return band_has_an_end(p);
  size_t reachable = 0; /* first column of the row before that a path reaches */
  bool any = false;
  for (size_t i = 0; i < p->n; i++) {
    size_t first, last, above_first = 0, above_last = 0;
    tsn_dtw_window_row(p, i, &first, &last);
    if (i > 0) tsn_dtw_window_row(p, i - 1, &above_first, &above_last);
    bool starts = i == 0 ? first <= p->open_begin_y : i <= p->open_begin_x && first == 0;
    bool enters = any && last >= reachable && first <= above_last + 1;
    any = first <= last && (starts || enters);
    reachable = starts ? first : first > reachable ? first : reachable;
    bool may_end = i + 1 == p->n ? last + p->open_end_y >= p->m - 1
                                 : i + p->open_end_x >= p->n - 1 && last == p->m - 1;
    if (any && may_end) return true;
  }
  return false;
}
