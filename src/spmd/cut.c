/* SPDX-License-Identifier: BSD-3-Clause */
/* The distance eps' of the automatic cut: OPTICS over the points with MinPts = 1, and the
 * gap of its reachabilities that chance does not explain.
 *
 * With MinPts = 1 the reachabilities are the edges of a minimum spanning tree, so that
 * cutting them at eps' is single linkage; a single slow process is then a class of its
 * own and not noise. The test of the gap is that of tsanom_optics_split(). It has no
 * scale, so it ignores noise of any size; but it compares steps with each other, and
 * cannot separate processes that all differ by about as much. */
#include <math.h>

#include "core/exec.h"
#include "core/size.h"
#include "spmd/spmd_internal.h"

/* Every point is a core point at distance 0. */
static tsanom_optics_options single_linkage(void) {
  tsanom_optics_options o;
  tsanom_optics_options_init(&o, sizeof o);
  o.min_points = 1;
  return o;
}

/* Order and split run one after the other, in the larger of their workspaces. */
tsanom_status tsn_spmd_optics_bytes(const tsn_spmd_input *input, size_t *bytes) {
  size_t processes = input->data.processes, order, split;
  size_t dimensions = tsn_round_up(input->data.regions + 1, 8);
  tsanom_optics_options o = single_linkage();
  tsanom_optics_ordering ordering = {.struct_size = sizeof ordering, .n = processes};
  tsanom_exec asking = tsn_exec_asking(&input->inner, &order);
  tsanom_status status = tsn_asked(
      tsanom_optics_order(NULL, processes, dimensions, dimensions, &o, &asking, NULL));
  if (status < 0) return status;
  asking.work_needed = &split;
  status =
      tsn_asked(tsanom_optics_split(&ordering, NULL, &asking, NULL, NULL, NULL, NULL));
  if (status >= 0) *bytes = tsn_larger(order, split);
  return status;
}

void tsn_spmd_optics_layout(tsn_arena *arena, const tsn_spmd_input *input,
                            tsn_spmd_optics *optics) {
  size_t processes = input->data.processes;
  optics->order = tsn_arena_take(arena, processes, sizeof *optics->order);
  optics->reachability = tsn_arena_take(arena, processes, sizeof *optics->reachability);
  optics->core = tsn_arena_take(arena, processes, sizeof *optics->core);
  optics->label = tsn_arena_take(arena, processes, sizeof *optics->label);
}

static tsanom_optics_ordering ordering_of(const tsn_spmd_optics *optics) {
  tsanom_optics_ordering ordering = {.struct_size = sizeof ordering, .eps = INFINITY};
  ordering.order = optics->order;
  ordering.reachability = optics->reachability;
  ordering.core_distance = optics->core;
  return ordering;
}

/* Without the free coordinate and those that fill the stride: all 0, they would change no
 * distance, only the search that optics chooses. 20,000 processes in 5 regions take a
 * third of the time. */
tsanom_status tsn_spmd_order(const tsn_spmd_input *input, const tsn_spmd_points *points,
                             size_t columns, tsn_spmd_optics *optics) {
  tsanom_optics_options o = single_linkage();
  tsanom_optics_ordering ordering = ordering_of(optics);
  return tsanom_optics_order(points->at + 1, points->count, tsn_larger(columns, 1),
                             points->stride, &o, &input->inner, &ordering);
}

tsanom_status tsn_spmd_cut(const tsn_spmd_input *input, tsn_spmd_optics *optics,
                           double resolution, double *eps) {
  tsanom_optics_split_options o;
  tsanom_optics_split_options_init(&o, sizeof o);
  o.resolution = resolution;
  size_t clusters = 0;
  tsanom_optics_ordering ordering = ordering_of(optics);
  ordering.n = input->data.processes;
  tsanom_status status = tsanom_optics_split(&ordering, &o, &input->inner, optics->label,
                                             &clusters, eps, NULL);
  if (clusters <= 1) *eps = INFINITY;
  return status;
}
