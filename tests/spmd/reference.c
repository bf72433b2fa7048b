/* SPDX-License-Identifier: BSD-3-Clause */
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

/* Merge classes until none are neighbours; then number by first appearance. */
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
    p->vector[i][k] = whole ? p->data->time[i * p->data->time_stride + k] : 0;
  }
}

static int has_time(const problem *p, size_t k) {
  for (size_t i = 0; i < p->data->processes; i++) {
    if (p->data->time[i * p->data->time_stride + k] > 0) return 1;
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

static void steps4and5(problem *p, reference_answer *a) {
  size_t regions = p->data->regions;
  const int32_t *parent = p->data->parent;
  a->search = TSANOM_SPMD_DESCENT;
  for (size_t j = 0; j < regions; j++) { /* a parent comes before its children */
    if (!a->ccr[j]) continue;
    size_t outer = j;
    while (p->level[outer] > 1) outer = (size_t)parent[outer];
    a->cccr[j] = 1;
    for (size_t k = 0; k < regions; k++) {
      if (parent[k] != (int32_t)j || !has_time(p, k)) continue;
      step1(p);
      set(p, outer, 0);
      set(p, k, 1);
      if (!same_classes(p, a)) continue;
      a->ccr[k] = 1;
      a->cccr[j] = 0;
    }
  }
}

void reference_analyse(const tsanom_spmd_data *data, double tolerance,
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
    steps4and5(&p, a);
  } else {
    step3(&p, a);
  }
}
