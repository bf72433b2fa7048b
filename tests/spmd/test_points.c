/* SPDX-License-Identifier: BSD-3-Clause */
/* Points in the numbers that decide: distances of exactly eps', and two processes. */
#include "spmd/spmd_internal.h"
#include "support/check.h"

enum { STRIDE = 16, POINTS = 3 };

typedef struct {
  double at[POINTS * STRIDE], weight[STRIDE], centroid[STRIDE], away[POINTS];
  uint32_t open[POINTS], queued[POINTS];
} buffers;

static tsn_spmd_points points_in(buffers *b, size_t count, double eps) {
  *b = (buffers){.at = {0}};
  for (size_t d = 0; d < STRIDE; d++) b->weight[d] = 1;
  return (tsn_spmd_points){.count = count,
                           .stride = STRIDE,
                           .at = b->at,
                           .weight = b->weight,
                           .centroid = b->centroid,
                           .limit = eps * eps,
                           .away = b->away,
                           .open = b->open,
                           .queued = b->queued};
}

Test(spmd_points, a_distance_of_eps_connects) {
  buffers b;
  tsn_spmd_points points = points_in(&b, 3, 3);
  int32_t class_of[POINTS];
  for (size_t i = 0; i < 3; i++) b.at[i * STRIDE] = 3 * (double)i;
  cr_assert(tsn_spmd_classify(&points, class_of) == 1);
  b.at[2 * STRIDE] = 6.001;
  cr_assert(tsn_spmd_classify(&points, class_of) == 2);
}

/* From the second point to the third, the first coordinates add up to eps'^2 already. */
Test(spmd_points, every_coordinate_counts) {
  buffers b;
  tsn_spmd_points points = points_in(&b, 3, 3);
  int32_t class_of[POINTS];
  b.at[STRIDE] = b.at[2 * STRIDE] = b.at[2 * STRIDE + 1] = 3;
  b.at[2 * STRIDE + STRIDE - 1] = 1;
  cr_assert(tsn_spmd_classify(&points, class_of) == 2);
  cr_assert(class_of[0] == 0 && class_of[1] == 0 && class_of[2] == 1);
}

Test(spmd_points, two_processes_have_a_noise_reach) {
  buffers b;
  tsn_spmd_points points = points_in(&b, 2, 1);
  double key[POINTS];
  for (size_t i = 0; i < 2; i++) b.at[i * STRIDE + 1] = b.at[i * STRIDE + 2] = 5;
  tsn_spmd_noise_deviations(&points, 2, 0.1, key);
  cr_assert(tsn_spmd_noise_reach(&points, 2, 0.01) > 0);
  points.count = 1;
  cr_assert(tsn_spmd_noise_reach(&points, 2, 0.01) == 0);
}
