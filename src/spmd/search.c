/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for critical code regions: steps 1 to 5 of section 3 of the paper.
 *
 * The coordinates of the points are the regions of hierarchy 1, and one that is
 * free: step 4 puts the nested region there that takes the place of the region around
 * it. Leaving a region out is setting its weight to 0, which is the paper's T = 0. */
#include <math.h>
#include <string.h>

#include "spmd/spmd_internal.h"

typedef struct {
  const tsn_spmd_input *input;
  tsn_spmd_buffers *b;
  tsanom_spmd_report *report;
  uint64_t tried; /* re-clusterings, for the poll */
  int exponent;   /* of the scale of the points */
} search;

/* Note which regions have times at all, and list those of hierarchy 1, widest
 * spread first: a sum of squares then passes a limit early. */
static size_t survey(const search *s) {
  const tsanom_spmd_data *d = &s->input->data;
  tsn_spmd_buffers *b = s->b;
  size_t count = 0;
  for (size_t k = 0; k < d->regions; k++) {
    double low = d->time[k], high = d->time[k];
    for (size_t i = 1; i < d->processes; i++) {
      low = fmin(low, d->time[i * d->time_stride + k]);
      high = fmax(high, d->time[i * d->time_stride + k]);
    }
    b->role[k] =
        (uint8_t)((high > 0 ? TSN_SPMD_TIMED : 0) | (high > low ? TSN_SPMD_VARIES : 0));
    b->key[k] = high - low;
    if (b->level[k] == 1) b->list[count++] = (uint32_t)k;
  }
  tsn_spmd_sort(b->key, b->list, count);
  for (size_t c = 0; c < count; c++) b->slot[b->list[c]] = (uint32_t)c + 1;
  return count;
}

/* Scaled sums of squares neither overflow nor vanish; severity is free of scale. */
static void measure(const search *s, double *resolution) {
  const tsn_spmd_input *input = s->input;
  tsn_spmd_points *points = &s->b->points;
  double *norm = s->b->key, sum = 0, largest = 0;
  tsn_spmd_norms(points, norm);
  for (size_t i = 0; i < points->count; i++) {
    sum += norm[i];
    largest = fmax(largest, norm[i]);
  }
  double mean = sum / (double)points->count;
  double distance = tsn_spmd_diameter(points, norm);
  double base = input->options.norm == TSANOM_SPMD_MEAN_NORM ? mean : largest;
  *resolution = input->options.tolerance * largest;
  s->report->severity = base > 0 ? distance / base : 0;
  s->report->largest_distance = ldexp(distance, -s->exponent);
  s->report->largest_norm = ldexp(largest, -s->exponent);
  s->report->mean_norm = ldexp(mean, -s->exponent);
}

/* Fix eps' for the whole search. The order is made where it is needed. */
static tsanom_status choose_cut(const search *s, double resolution) {
  tsn_spmd_optics *optics = &s->b->optics;
  tsanom_spmd_report *r = s->report;
  bool is_automatic = s->input->options.cut == TSANOM_SPMD_CUT_AUTOMATIC;
  double eps = resolution;
  if (is_automatic || r->order || r->reachability) {
    tsanom_status status = tsn_spmd_order(s->input, &s->b->points, optics);
    if (status != TSANOM_OK) return status;
  }
  for (size_t i = 0; i < s->b->points.count; i++) {
    if (r->order) r->order[i] = optics->order[i];
    if (r->reachability) {
      r->reachability[i] = ldexp(optics->reachability[i], -s->exponent);
    }
  }
  if (is_automatic) {
    tsanom_status status = tsn_spmd_cut(s->input, optics, resolution, &eps);
    if (status != TSANOM_OK) return status;
  }
  s->b->points.limit = eps * eps;
  r->eps = ldexp(eps, -s->exponent);
  return TSANOM_OK;
}

/* Re-cluster and record; `member` are the regions tried. */
static int decide(search *s, int32_t step, int32_t level, const uint32_t *member,
                  size_t count) {
  tsanom_spmd_report *r = s->report;
  tsanom_spmd_decision made = {.step = step, .level = level, .count = count};
  size_t processes = s->b->points.count;
  made.first = r->members;
  made.classes = tsn_spmd_classify(&s->b->points, s->b->trial);
  made.changed = memcmp(s->b->trial, s->b->base, processes * sizeof *s->b->trial) != 0;
  made.critical = step == 4 ? !made.changed : made.changed;
  for (size_t m = 0; m < count; m++, r->members++) {
    if (r->members < r->member_capacity) r->member[r->members] = member[m];
  }
  if (r->decisions < r->decision_capacity) r->decision[r->decisions] = made;
  r->decisions++;
  s->tried++;
  return made.critical;
}

static bool stopped(search *s) {
  uint64_t regions = s->input->data.regions;
  uint64_t total = s->tried < regions ? regions : s->tried + 1;
  if (!tsn_exec_stop(&s->input->exec, s->tried, total)) return false;
  s->report->search = TSANOM_SPMD_UNFINISHED;
  return true;
}

/* Step 2. Returns how many 1-CCRs there are; they are picked. */
static size_t single_regions(search *s) {
  tsn_spmd_buffers *b = s->b;
  size_t found = 0;
  for (uint32_t k = 0; k < s->input->data.regions; k++) {
    if (b->level[k] != 1 || !(b->role[k] & TSN_SPMD_TIMED)) continue;
    if (stopped(s)) return found;
    b->points.weight[b->slot[k]] = 0;
    if (decide(s, 2, 1, &k, 1)) {
      b->role[k] |= TSN_SPMD_CCR;
      b->pick[found++] = k;
    }
    b->points.weight[b->slot[k]] = 1;
  }
  return found;
}

/* Try the combination of the n picked regions that b->list[0 ... n-1] index. */
static bool try_combination(search *s, size_t n, uint32_t *member) {
  tsn_spmd_buffers *b = s->b;
  for (size_t m = 0; m < n; m++) {
    member[m] = b->pick[b->list[m]];
    b->points.weight[b->slot[member[m]]] = 0;
  }
  bool critical = decide(s, 3, 1, member, n);
  for (size_t m = 0; m < n; m++) {
    b->points.weight[b->slot[member[m]]] = 1;
    b->meet[member[m]] += critical;
  }
  return critical;
}

/* The next n of `count` in lexicographic order. */
static bool next_combination(uint32_t *index, size_t n, size_t count) {
  size_t m = n;
  while (m > 0 && index[m - 1] == count - n + m - 1) m--;
  if (m == 0) return false;
  index[m - 1]++;
  for (; m < n; m++) index[m] = index[m - 1] + 1;
  return true;
}

/* All combinations of n regions: how many change the classes. */
static size_t combinations(search *s, size_t n, size_t count, size_t *left) {
  size_t found = 0;
  for (size_t m = 0; m < n; m++) s->b->list[m] = (uint32_t)m;
  do {
    if (*left == 0) {
      s->report->limited = 1;
      return found;
    }
    if (stopped(s)) return found;
    --*left;
    found += try_combination(s, n, s->b->list + count);
  } while (next_combination(s->b->list, n, count));
  return found;
}

/* Roles from the `found` combinations that change the classes. */
static void intersect(search *s, size_t found) {
  size_t regions = s->input->data.regions, common = 0;
  for (size_t k = 0; k < regions; k++) common += s->b->meet[k] == found;
  for (size_t k = 0; k < regions; k++) {
    if (s->b->meet[k] == 0) continue;
    bool core = common == 0 || s->b->meet[k] == found;
    s->b->role[k] |= (uint8_t)(TSN_SPMD_CCR | (core ? TSN_SPMD_CCCR : 0));
  }
  s->report->search = common ? TSANOM_SPMD_COMBINED : TSANOM_SPMD_DISJOINT;
}

/* Step 3. */
static void combined_regions(search *s) {
  tsn_spmd_buffers *b = s->b;
  size_t count = 0, left = s->input->options.combination_limit;
  for (uint32_t k = 0; k < s->input->data.regions; k++) {
    b->meet[k] = 0;
    if (b->level[k] == 1 && (b->role[k] & TSN_SPMD_VARIES)) b->pick[count++] = k;
  }
  s->report->search = TSANOM_SPMD_NOT_FOUND;
  for (size_t n = 2; n <= count && n <= s->input->options.combination_size; n++) {
    size_t found = combinations(s, n, count, &left);
    if (s->report->search == TSANOM_SPMD_UNFINISHED) return;
    s->report->combination = n;
    if (found) intersect(s, found);
    if (found || s->report->limited) return;
  }
}

/* Try the regions nested directly in CCR j; those that are CCRs are picked too. */
static size_t nested_regions(search *s, uint32_t j, size_t picked) {
  const tsanom_spmd_data *d = &s->input->data;
  tsn_spmd_buffers *b = s->b;
  for (uint32_t k = 0; k < d->regions; k++) {
    if (d->parent[k] != (int32_t)j || !(b->role[k] & TSN_SPMD_TIMED)) continue;
    if (stopped(s)) return picked;
    tsn_spmd_set_free(&b->points, d->time + k, d->time_stride, s->exponent);
    if (decide(s, 4, b->level[k], &k, 1)) {
      b->role[k] |= TSN_SPMD_CCR;
      b->pick[picked++] = k;
    }
  }
  return picked;
}

/* Steps 4 and 5, level by level, from the 1-CCRs that are picked. */
static void descend(search *s, size_t picked) {
  tsn_spmd_buffers *b = s->b;
  double *weight = b->points.weight;
  s->report->search = TSANOM_SPMD_DESCENT;
  weight[0] = 1;
  for (size_t at = 0; at < picked; at++) {
    uint32_t j = b->pick[at], outer = j;
    while (b->level[outer] > 1) outer = (uint32_t)s->input->data.parent[outer];
    weight[b->slot[outer]] = 0;
    size_t before = picked;
    picked = nested_regions(s, j, picked);
    weight[b->slot[outer]] = 1;
    if (s->report->search == TSANOM_SPMD_UNFINISHED) return;
    if (picked == before) b->role[j] |= TSN_SPMD_CCCR;
  }
}

tsanom_status tsn_spmd_search(const tsn_spmd_input *input, tsn_spmd_buffers *b,
                              tsanom_spmd_report *report) {
  const tsanom_spmd_data *d = &input->data;
  search s = {.input = input, .b = b, .report = report};
  size_t outermost = survey(&s);
  s.exponent =
      tsn_spmd_exponent(d->time, d->processes, d->time_stride, b->list, outermost);
  tsn_spmd_gather(&b->points, d->time, d->time_stride, b->list, outermost, s.exponent);
  double resolution;
  measure(&s, &resolution);
  tsanom_status status = choose_cut(&s, resolution);
  if (status < 0) return status;
  if (status == TSANOM_STOPPED) { /* one class for want of a better answer */
    s.b->points.limit = INFINITY;
    report->eps = INFINITY;
  }
  report->classes = tsn_spmd_classify(&b->points, b->base);
  decide(&s, 1, 1, NULL, 0);
  report->search =
      status == TSANOM_STOPPED ? TSANOM_SPMD_UNFINISHED : TSANOM_SPMD_SIMILAR;
  if (report->classes > 1) {
    size_t found = single_regions(&s);
    if (report->search != TSANOM_SPMD_UNFINISHED) {
      if (found) {
        descend(&s, found);
      } else {
        combined_regions(&s);
      }
    }
  }
  for (size_t k = 0; k < d->regions; k++) {
    report->ccrs += (b->role[k] & TSN_SPMD_CCR) != 0;
    report->cccrs += (b->role[k] & TSN_SPMD_CCCR) != 0;
  }
  return report->search == TSANOM_SPMD_UNFINISHED ? TSANOM_STOPPED : TSANOM_OK;
}
