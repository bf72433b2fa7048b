/* SPDX-License-Identifier: BSD-3-Clause */
#include "spmd_runs.h"

#include <cmath>

#include "support/random.h"

namespace spmd {

namespace {

constexpr size_t METRICS = 5, DEPTH = 4;

/* Work of a group of regions, on average. */
constexpr double GROUP_WORK = 2.0 * DEPTH;

double &time_of(Run *r, size_t i, size_t k) {
  return r->time[i * r->regions + k];
}

double &metric_of(Run *r, size_t q, size_t i, size_t k) {
  return r->metric[(q * r->processes + i) * r->regions + k];
}

double noisy(uint64_t *seed, double noise) {
  return 1 + noise * (2 * random_unit(seed) - 1);
}

/* Each region's own work is 1 ... 3. */
void fill(Run *r, double noise, uint64_t *seed) {
  for (size_t k = 0; k < r->regions; k++) {
    double base = 1 + 2 * random_unit(seed);
    for (size_t i = 0; i < r->processes; i++) {
      time_of(r, i, k) = base * noisy(seed, noise);
      for (size_t q = 0; q < METRICS; q++)
        metric_of(r, q, i, k) = base * noisy(seed, noise);
    }
  }
}

/* Groups of DEPTH regions: each nested in the one before, or all in the first. */
void nest(Run *r, bool in_the_first) {
  for (size_t k = 0; k < r->regions; k++) {
    size_t around = in_the_first ? k - k % DEPTH : k - 1;
    r->parent[k] = k % DEPTH ? static_cast<int32_t>(around) : TSANOM_SPMD_NONE;
  }
}

void burden(Run *r, size_t k, size_t i, double work) {
  time_of(r, i, k) += work;
  r->guilty[k] = true;
}

/* The two regions that a family makes guilty; the same twice where it is one. */
struct Guilty {
  size_t a, b;
};

Guilty choose(const Run *r, Family f, size_t groups, uint64_t *seed) {
  size_t a = random_between(seed, 0, r->regions - 1);
  if (f == TWO) {
    a = random_between(seed, 0, groups - 1) * DEPTH;
    return {a, (a + DEPTH) % (groups * DEPTH)};
  }
  if (f == TWO_NESTED) { /* the last group may have no region that is nested */
    a = random_between(seed, 0, groups > 1 ? groups - 2 : 0) * DEPTH +
        random_between(seed, 1, DEPTH - 1);
    size_t b = (a / DEPTH + 1) * DEPTH + random_between(seed, 1, DEPTH - 1);
    return {a, b < r->regions ? b : r->regions - 1};
  }
  if (f == TWO_INSIDE) {
    a = random_between(seed, 0, groups > 1 ? groups - 2 : 0) * DEPTH + 1;
    return {a, a + random_between(seed, 1, DEPTH - 2)};
  }
  return {a, a};
}

/* Work that is half of what a process does in all makes a difference that matters. */
void spoil(Run *r, Family f, uint64_t *seed) {
  size_t groups = (r->regions + DEPTH - 1) / DEPTH;
  double work = GROUP_WORK * std::sqrt(static_cast<double>(groups));
  Guilty g = choose(r, f, groups, seed);
  size_t q = random_between(seed, 0, METRICS - 1), p = (q + 1) % METRICS;
  bool by_two = f == PAIR || f == TWO_INSIDE;
  r->kinds = by_two ? 4 : 2;
  r->cause = uint64_t{1} << q | (by_two ? uint64_t{1} << p : 0);
  for (size_t i = 0; i < r->processes; i++) {
    size_t kind = i % r->kinds;
    double own = work * static_cast<double>(f == TWO_INSIDE ? kind & 1 : kind);
    double other = work * static_cast<double>(f == TWO_INSIDE ? kind & 2 : kind);
    burden(r, g.a, i, own);
    if (g.a != g.b) burden(r, g.b, i, other);
    if (kind & 1) metric_of(r, q, i, g.a) *= 2;
    if (kind & 2) metric_of(r, p, i, g.b) *= 2;
  }
}

void scale(Run *r) {
  r->kinds = 2;
  for (size_t i = 1; i < r->processes; i += 2) {
    for (size_t k = 0; k < r->regions; k++) time_of(r, i, k) *= 2;
  }
}

void scatter(Run *r, uint64_t *seed) {
  for (size_t i = 0; i < r->processes; i++) {
    for (size_t k = 0; k < r->regions; k += DEPTH) {
      if (random_unit(seed) < 0.5) time_of(r, i, k) += GROUP_WORK;
    }
  }
}

void include_nested(Run *r) {
  for (size_t k = r->regions; k-- > 1;) {
    if (r->parent[k] < 0) continue;
    for (size_t i = 0; i < r->processes; i++) {
      time_of(r, i, static_cast<size_t>(r->parent[k])) += time_of(r, i, k);
    }
  }
}

void point_data(Run *r) {
  r->data = {};
  r->data.struct_size = sizeof r->data;
  r->report = {};
  r->report.struct_size = sizeof r->report;
  r->data.processes = r->processes;
  r->data.regions = r->regions;
  r->data.metrics = METRICS;
  r->data.parent = r->parent.data();
  r->data.time = r->time.data();
  r->data.metric = r->metric.data();
  r->report.class_of = r->class_of.data();
  r->report.region = r->region.data();
  r->report.reduct = &r->reduct;
  r->report.reduct_capacity = 1;
}

bool kinds_are_right(const Run *r) {
  for (size_t i = 0; i < r->processes; i++) {
    if (r->class_of[i] != static_cast<int32_t>(i % r->kinds)) return false;
  }
  return true;
}

}  // namespace

void make(Run *r, Family f, size_t processes, size_t regions, double noise,
          uint64_t *seed) {
  r->processes = processes;
  r->regions = regions;
  r->time.resize(processes * regions);
  r->metric.resize(METRICS * processes * regions);
  r->parent.resize(regions);
  r->class_of.resize(processes);
  r->region.resize(regions);
  r->guilty.assign(regions, false);
  r->kinds = 1;
  nest(r, f == TWO_INSIDE);
  fill(r, noise, seed);
  if (f == SCALED) {
    scale(r);
  } else if (f == SCATTERED) {
    scatter(r, seed);
  } else if (f != BALANCED) {
    spoil(r, f, seed);
  }
  include_nested(r);
  point_data(r);
}

bool analyse(Run *r, const tsanom_spmd_options *options, const tsanom_exec *exec) {
  return tsanom_spmd_analyze(&r->data, options, exec, &r->report) == TSANOM_OK;
}

bool is_right(Run *r, Family f, const tsanom_spmd_options *options) {
  if (!analyse(r, options)) return false;
  if (f == SCATTERED) return r->report.classes > 1;
  if (!kinds_are_right(r)) return false;
  if (f == BALANCED || f == SCALED) return true;
  for (size_t k = 0; k < r->regions; k++) {
    if ((r->region[k].cccr != 0) != r->guilty[k]) return false;
  }
  return r->report.reducts == 1 && r->reduct == r->cause;
}

}  // namespace spmd
