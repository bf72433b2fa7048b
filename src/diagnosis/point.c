/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that runs is judged at points of its data, never at a look: looking more often
 * would find something in more of the normal runs. With K points until the end of a normal
 * run and alpha / K at each, at most alpha of the normal runs have a verdict before their
 * end, where alpha is tested once more. */
#include <math.h>

#include "diagnosis/judge.h"

static const double more = 1.1;

uint64_t tsn_point_after(uint64_t beats) {
  return (uint64_t)ceil(more * (double)beats);
}

double tsn_point_chance(double alpha, double beats) {
  double points = log(beats / TSANOM_HSA_FIRST_POINT) / log(more);
  return alpha / fmax(1, points);
}
