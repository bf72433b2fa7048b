/* SPDX-License-Identifier: BSD-3-Clause */
/* For test_spmd.c: all processes are classified anew for each set of regions that is left
 * out or combined, and all subsets of a size are tried. After the paper's steps comes the
 * deeper search, which the paper does not have. */
#include "reference.h"

#include <math.h>
#include <string.h>

typedef struct {
  const tsanom_spmd_data *data;
  double eps;
  double vector[REFERENCE_PROCESSES][REFERENCE_REGIONS];
  int level[REFERENCE_REGIONS];
} problem;

static double distance(const problem *p, size_t i, size_t j) {
  double sum = 0;
  for (size_t k = 0; k < p->data->regions; k++) {
    sum += pow(p->vector[i][k] - p->vector[j][k], 2);
  }
  return sqrt(sum);
}

static double norm(const problem *p, size_t i) {
  double sum = 0;
  for (size_t k = 0; k < p->data->regions; k++) sum += pow(p->vector[i][k], 2);
  return sqrt(sum);
}

/* Merge classes until none are neighbors; then number by first appearance. */
static size_t classify(const problem *p, int32_t *class_of) {
  size_t n = p->data->processes;
  size_t own[REFERENCE_PROCESSES];
  for (size_t i = 0; i < n; i++) own[i] = i;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      if (distance(p, i, j) > p->eps) continue;
      size_t from = own[i] > own[j] ? own[i] : own[j];
      size_t to = own[i] < own[j] ? own[i] : own[j];
      for (size_t q = 0; q < n; q++) {
        if (own[q] == from) own[q] = to;
      }
    }
  }
  size_t classes = 0;
  for (size_t i = 0; i < n; i++) {
    class_of[i] = own[i] == i ? (int32_t)classes++ : class_of[own[i]];
  }
  return classes;
}

static void set(problem *p, size_t k, int whole) {
  for (size_t i = 0; i < p->data->processes; i++) {
    p->vector[i][k] = whole ? p->data->time[i * p->data->time_ld + k] : 0;
  }
}

static int has_time(const problem *p, size_t k) {
  for (size_t i = 0; i < p->data->processes; i++) {
    if (p->data->time[i * p->data->time_ld + k] > 0) return 1;
  }
  return 0;
}

static int same_classes(const problem *p, const reference_answer *a) {
  int32_t again[REFERENCE_PROCESSES];
  classify(p, again);
  return memcmp(again, a->class_of, p->data->processes * sizeof *again) == 0;
}

static void step1(problem *p) {
  for (size_t k = 0; k < p->data->regions; k++) set(p, k, p->level[k] == 1);
}

static int step2(problem *p, reference_answer *a) {
  int found = 0;
  for (size_t k = 0; k < p->data->regions; k++) {
    if (p->level[k] != 1 || !has_time(p, k)) continue;
    set(p, k, 0);
    if (!same_classes(p, a)) found = a->ccr[k] = 1;
    set(p, k, 1);
  }
  return found;
}

static void step3(problem *p, reference_answer *a) {
  size_t regions = p->data->regions;
  unsigned top = 0;
  for (size_t k = 0; k < regions; k++) top |= (unsigned)(p->level[k] == 1) << k;
  a->search = TSANOM_SPMD_NOT_FOUND;
  for (int n = 2; n <= __builtin_popcount(top) && !a->combination; n++) {
    unsigned all = ~0u, any = 0;
    for (unsigned subset = top; subset; subset = (subset - 1) & top) {
      if (__builtin_popcount(subset) != n) continue;
      step1(p);
      for (size_t k = 0; k < regions; k++) {
        if (subset >> k & 1) set(p, k, 0);
      }
      if (same_classes(p, a)) continue;
      all &= subset;
      any |= subset;
    }
    if (!any) continue;
    a->combination = (size_t)n;
    a->search = all ? TSANOM_SPMD_COMBINED : TSANOM_SPMD_DISJOINT;
    for (size_t k = 0; k < regions; k++) {
      a->ccr[k] = any >> k & 1;
      a->cccr[k] = (all ? all : any) >> k & 1;
    }
  }
}

/* Hierarchy 1 without the regions in `out` and without that around j. */
static void without(problem *p, unsigned out, size_t j) {
  step1(p);
  while (p->level[j] > 1) j = (size_t)p->data->parent[j];
  set(p, j, 0);
  for (size_t k = 0; k < p->data->regions; k++) {
    if (out >> k & 1) set(p, k, 0);
  }
}

/* The regions of a combination as one, whose time is the sum. */
static int stands_for(problem *p, const reference_answer *a, unsigned out, size_t j,
                      unsigned subset) {
  without(p, out, j);
  size_t first = (size_t)__builtin_ctz(subset);
  set(p, first, 1);
  for (size_t k = first + 1; k < p->data->regions; k++) {
    for (size_t i = 0; subset >> k & 1 && i < p->data->processes; i++) {
      p->vector[i][first] += p->data->time[i * p->data->time_ld + k];
    }
  }
  return same_classes(p, a);
}

static void combine_nested(problem *p, reference_answer *a, unsigned out, size_t j,
                           unsigned nested) {
  unsigned any = 0, all = ~0u;
  for (int n = 2; n <= __builtin_popcount(nested) && !any; n++) {
    for (unsigned subset = nested; subset; subset = (subset - 1) & nested) {
      if (__builtin_popcount(subset) != n || !stands_for(p, a, out, j, subset)) continue;
      any |= subset;
      all &= subset;
    }
  }
  if (!any) return;
  a->cccr[j] = 0;
  for (size_t k = 0; k < p->data->regions; k++) {
    if (any >> k & 1) a->ccr[k] = 1;
    if ((all ? all : any) >> k & 1) a->cccr[k] = 1;
  }
}

/* Steps 4 and 5 from CCR j, with the regions in `out` left out. */
static void descend(problem *p, reference_answer *a, unsigned out, size_t j, int deep) {
  unsigned nested = 0, found = 0;
  for (size_t k = 0; k < p->data->regions; k++) {
    if (p->data->parent[k] != (int32_t)j || !has_time(p, k)) continue;
    nested |= 1u << k;
    if (stands_for(p, a, out, j, 1u << k)) found |= 1u << k;
  }
  a->cccr[j] = !found;
  for (size_t k = 0; k < p->data->regions; k++) {
    if (!(found >> k & 1)) continue;
    a->ccr[k] = 1;
    descend(p, a, out, k, deep);
  }
  if (!found && deep) combine_nested(p, a, out, j, nested);
}

static void steps4and5(problem *p, reference_answer *a, int deep) {
  a->search = TSANOM_SPMD_DESCENT;
  for (size_t j = 0; j < p->data->regions; j++) {
    if (p->level[j] == 1 && a->ccr[j]) descend(p, a, 0, j, deep);
  }
}

/* Each region of the core alone, if it gives the classes, and on inside of it. */
static void after_step3(problem *p, reference_answer *a) {
  unsigned out = 0;
  for (size_t k = 0; k < p->data->regions; k++) out |= (unsigned)(a->cccr[k] != 0) << k;
  for (size_t j = 0; j < p->data->regions; j++) {
    if (!(out >> j & 1)) continue;
    if (stands_for(p, a, out, j, 1u << j)) descend(p, a, out, j, 1);
  }
}

void reference_analyse(const tsanom_spmd_data *data, double tolerance, int deep,
                       reference_answer *a) {
  problem p = {.data = data};
  memset(a, 0, sizeof *a);
  for (size_t k = 0; k < data->regions; k++) {
    p.level[k] = data->parent[k] < 0 ? 1 : p.level[data->parent[k]] + 1;
  }
  step1(&p);
  double largest = 0, apart = 0;
  for (size_t i = 0; i < data->processes; i++) {
    largest = fmax(largest, norm(&p, i));
    for (size_t j = 0; j < i; j++) apart = fmax(apart, distance(&p, i, j));
  }
  p.eps = tolerance * largest;
  a->severity = largest > 0 ? apart / largest : 0;
  a->classes = classify(&p, a->class_of);
  if (a->classes == 1) return;
  if (step2(&p, a)) {
    steps4and5(&p, a, deep);
  } else {
    step3(&p, a);
    if (deep) after_step3(&p, a);
  }
}
