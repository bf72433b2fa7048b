/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for critical code regions: steps 1 to 5 of section 3 of the paper.
 *
 *     step 1    classes of the regions of hierarchy 1
 *     step 2    without region k the classes differ: k is a 1-CCR
 *     step 3    none is: combinations of 2, 3, ... regions; the end
 *     step 4    with k, nested directly in an (I-1)-CCR, in its place the classes are
 *               those of step 1: k is an I-CCR
 *     step 5    a CCR without a CCR in it is a CCCR, the core
 *
 *     program                  step 2 finds A; step 4 puts A1, then A2 in place of A, and
 *     +-- A     1-CCR          finds A2; nothing is nested in A2: it is the core, the
 *     |   +-- A1               smallest scope of code that explains the classes
 *     |   +-- A2  2-CCR, CCCR
 *     +-- B
 *
 * The coordinates of the points are the regions of hierarchy 1, and one that is
 * free: step 4 puts the nested region there that takes the place of the region around
 * it. Leaving a region out is setting its weight to 0, which is the paper's T = 0.
 *
 * eps' is chosen once, in step 1: an eps' that adapted to each trial would change classes
 * by itself. Steps 2 and 4 make at most one re-clustering for each region. */
#include <math.h>
#include <string.h>

#include "spmd/noise.h"
#include "spmd/spmd_internal.h"

/* The first classes, by their first points. */
enum { APART = 64 };

typedef struct {
  size_t classes; /* 0: too many */
  uint32_t first[APART];
  double radius[APART]; /* of the class around its first point */
} apart_classes;

/* A search in progress. The classes of step 1 and eps' do not change during it. */
typedef struct {
  const tsn_spmd_input *input;
  tsn_spmd_buffers *b;
  tsanom_spmd_report *report;
  size_t outermost;     /* regions of hierarchy 1 */
  uint64_t tried;       /* re-clusterings, for the poll */
  size_t left;          /* combinations that may still be tried */
  int exponent;         /* of the scale of the points */
  bool is_unknown;      /* one measurement of few processes cannot tell */
  apart_classes apart;  /* the classes of step 1 */
  tsn_spmd_pairs pairs; /* of the same, if they are too many for that */
  uint64_t compared;    /* distances that step 1 computed, about */
} searcher;

/* Mark the regions that have times at all, and list those of hierarchy 1, widest spread
 * first: a sum of squares then exceeds a limit early. */
static size_t find_candidates(const searcher *s) {
  const tsanom_spmd_data *d = &s->input->data;
  tsn_spmd_buffers *b = s->b;
  double *low = b->points.centroid, *high = b->key;
  size_t count = 0;
  memcpy(low, d->time, d->regions * sizeof *low);
  memcpy(high, d->time, d->regions * sizeof *high);
  for (size_t i = 1; i < d->processes; i++) {
    const double *time = d->time + i * d->time_ld;
    for (size_t k = 0; k < d->regions; k++) {
      low[k] = time[k] < low[k] ? time[k] : low[k];
      high[k] = time[k] > high[k] ? time[k] : high[k];
    }
  }
  for (size_t k = 0; k < d->regions; k++) {
    b->role[k] = (uint8_t)((high[k] > 0 ? TSN_SPMD_TIMED : 0) |
                           (high[k] > low[k] ? TSN_SPMD_VARIES : 0));
    b->key[k] = high[k] - low[k];
    if (b->level[k] == 1) b->list[count++] = (uint32_t)k;
  }
  tsn_spmd_poll(&b->watch, d->processes * d->regions);
  tsn_spmd_sort(b->key, b->list, count);
  for (size_t c = 0; c < count; c++) b->slot[b->list[c]] = (uint32_t)c + 1;
  return count;
}

/* Norms, severity, and the resolution: the least distance that matters, the tolerance
 * times the largest norm. Scaled sums of squares neither overflow nor underflow;
 * severity, a quotient of two lengths, has no scale. */
static void measure(const searcher *s, double *resolution) {
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

/* eps' of what noise explains, INFINITY if that is everything. */
static double cut_by_noise(searcher *s, double resolution) {
  const tsanom_spmd_data *d = &s->input->data;
  tsn_spmd_buffers *b = s->b;
  tsn_spmd_noise noise = {.columns = s->outermost,
                          .error = d->error,
                          .error_ld = d->time_ld,
                          .column = b->list,
                          .exponent = s->exponent};
  size_t different;
  tsn_spmd_evidence evidence =
      tsn_spmd_differ(&b->points, &noise, resolution, b->key, b->optics.reachability,
                      b->trial, &different);
  s->is_unknown = different == 0 && evidence == TSN_SPMD_ASSUMED;
  if (different == 0) return INFINITY;
  double reach = tsn_spmd_noise_reach(&b->points, s->outermost, 0.01);
  return tsn_spmd_noise_cut(&b->points, s->outermost, b->trial, resolution, reach);
}

/* Choose eps' for the whole search. The order is computed only if it is needed: classes
 * do not need it (classify.c), nor do processes whose noise is below the tolerance: 20,000
 * in 5 regions take 50 to 130 times as long with it. */
static tsanom_status choose_cut(searcher *s, double resolution) {
  tsn_spmd_optics *optics = &s->b->optics;
  tsanom_spmd_report *r = s->report;
  bool is_automatic = s->input->options.cut == TSANOM_SPMD_CUT_AUTOMATIC;
  double eps = resolution;
  if (s->input->options.cut == TSANOM_SPMD_CUT_NOISE) {
    eps = cut_by_noise(s, resolution);
  } else if (is_automatic) {
    is_automatic = !tsn_spmd_cut_without_order(s->input, s->b, resolution, &eps);
  }
  if (is_automatic && s->b->watch.stopped) return TSANOM_STOPPED;
  if (is_automatic || r->order || r->reachability) {
    tsanom_status status = tsn_spmd_order(s->input, &s->b->points, s->outermost, optics);
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

/* Some processes differ, but a chain of others, each less than noise explains from the
 * next, connects them: the largest step of all chains separates. */
static tsanom_status cut_largest_gap(const searcher *s, double resolution) {
  const tsn_spmd_buffers *b = s->b;
  double largest = 0;
  tsanom_status status =
      tsn_spmd_order(s->input, &b->points, s->outermost, &s->b->optics);
  if (status == TSANOM_STOPPED) s->report->classes = 0;
  if (status != TSANOM_OK) return status;
  for (size_t i = 1; i < b->points.count; i++) {
    largest = fmax(largest, b->optics.reachability[i]);
  }
  double eps = fmax(resolution, largest * (1 - 1e-12));
  s->b->points.limit = eps * eps;
  s->report->eps = ldexp(eps, -s->exponent);
  s->report->classes = tsn_spmd_classify(&b->points, b->base);
  if (s->report->classes == 1) s->report->eps = INFINITY;
  return TSANOM_OK;
}

/* Whether classes remain if regions are left out, without classifying again.
 *
 * Leaving out a region makes no distance larger: points of a class stay connected, and
 * what may happen is that classes merge. Let a be the first point of a class, and r the
 * largest distance from it to a point of the class, with all regions. Classes a and b
 * remain apart if, without the regions,
 *
 *     |ab| > r_a + eps' + r_b          ( r_a a )--- eps' ---( b r_b )
 *
 * because every pair of their points is then farther apart than eps'. That is a distance
 * for each pair of classes in place of one for each pair of a point and a class: without
 * it the row `bench_growth_two` takes 30 times as long (3,125 processes, Zen 5). If it
 * does not hold, nothing is known, and the points are classified again. */

static void measure_classes(const tsn_spmd_points *p, const int32_t *class_of,
                            size_t classes, apart_classes *apart) {
  apart->classes = classes > APART ? 0 : classes;
  if (apart->classes == 0) return;
  for (size_t i = 0, known = 0; i < p->count; i++) {
    size_t c = (size_t)class_of[i];
    if (c == known) {
      known++;
      apart->first[c] = (uint32_t)i;
      apart->radius[c] = 0;
      continue;
    }
    const double *at = p->at + apart->first[c] * p->stride;
    double square = tsn_spmd_square_distance(at, p->at + i * p->stride, p->weight,
                                             p->stride, INFINITY);
    apart->radius[c] = fmax(apart->radius[c], sqrt(square));
  }
}

/* Whether the classes are certain to be the same with other weights, none larger than
 * those with which the classes were measured. */
static bool remain_apart(const tsn_spmd_points *p, const apart_classes *apart) {
  const double slack = 1 + 1e-9; /* for the rounding of distances */
  const double least = 1e-150;   /* shorter ones have no normal square */
  double eps = sqrt(p->limit);
  for (size_t b = 1; b < apart->classes; b++) {
    for (size_t a = 0; a < b; a++) {
      double far = (apart->radius[a] + eps + apart->radius[b]) * slack + least;
      double square = tsn_spmd_square_distance(p->at + apart->first[a] * p->stride,
                                               p->at + apart->first[b] * p->stride,
                                               p->weight, p->stride, far * far);
      if (!(square > far * far)) return false;
    }
  }
  return apart->classes > 0;
}

/* The class that stands for those joined with one. */
static int32_t root_of(int32_t *joined, int32_t class) {
  while (joined[class] != class) class = joined[class] = joined[joined[class]];
  return class;
}

/* The number of classes that are left of `classes` if those of the pairs are joined that are
 * neighbors with the present weights. `joined` is scratch, one for each class. */
static size_t join_pairs(const tsn_spmd_points *p, const tsn_spmd_pairs *pairs,
                         const int32_t *class_of, size_t classes, int32_t *joined) {
  size_t left = classes;
  for (size_t k = 0; k < pairs->count; k++) {
    size_t a = (size_t)pairs->first[k], b = pairs->second[k];
    double square = tsn_spmd_square_distance(p->at + a * p->stride, p->at + b * p->stride,
                                             p->weight, p->stride, p->limit);
    if (!(square <= p->limit)) continue;
    for (size_t c = 0; left == classes && c < classes; c++) joined[c] = (int32_t)c;
    int32_t first = root_of(joined, class_of[a]), second = root_of(joined, class_of[b]);
    joined[first] = second;
    left -= first != second;
  }
  return left;
}

/* How many times points are classified without `count` regions, at most. */
static double times_without(const searcher *s, size_t count) {
  double combinations = 1, most = (double)(count > 1 ? s->left : s->outermost);
  for (size_t m = 0; m < count && combinations < most; m++) {
    combinations *= (double)(s->outermost - m) / (double)(m + 1);
  }
  return fmin(combinations, most);
}

/* Whether the pairs of many classes without `count` regions are known. They are sought once
 * for each count, if that can save many classifications, with an eighth of their work: one
 * takes about the distances of step 1. */
static bool has_pairs(searcher *s, size_t count) {
  enum { MANY = 16 };
  if (s->apart.classes || !s->compared) return false;
  if (s->pairs.size < count) {
    double times = times_without(s, count);
    s->pairs.size = count;
    s->pairs.is_complete =
        times >= MANY && tsn_spmd_find_pairs(&s->b->points, s->b->base,
                                             times * (double)s->compared / 8, &s->pairs);
  }
  return s->pairs.is_complete;
}

/* Classify again. Leaving `count` regions out, of the points of step 1, only removes
 * weights. Returns the number of classes, 0 if the poll ended the call. */
static size_t recluster(searcher *s, int32_t step, size_t count, bool *changed) {
  const tsn_spmd_points *p = &s->b->points;
  bool is_left_out = p->weight[0] == 0;
  *changed = false;
  if (step == 1 || (is_left_out && remain_apart(p, &s->apart))) {
    return s->report->classes;
  }
  if (is_left_out && has_pairs(s, count)) {
    size_t left = join_pairs(p, &s->pairs, s->b->base, s->report->classes, s->b->trial);
    *changed = left < s->report->classes;
    return left;
  }
  size_t classes = tsn_spmd_classify(p, s->b->trial);
  *changed = classes && memcmp(s->b->trial, s->b->base, p->count * sizeof(int32_t)) != 0;
  return classes;
}

/* Re-cluster and record; `member` are the regions tried. Returns whether what was tried
 * is critical: regions left out are, if the classes changed; regions put in place of the
 * one around them are, if the classes did not change. */
static bool decide(searcher *s, int32_t step, int32_t level, const uint32_t *member,
                   size_t count) {
  tsanom_spmd_report *r = s->report;
  tsanom_spmd_decision made = {.step = step, .level = level, .count = count};
  bool changed = false, is_put_in = step == 4 || level > 1;
  made.first = r->members;
  made.classes = recluster(s, step, count, &changed);
  if (made.classes == 0) {
    r->search = TSANOM_SPMD_UNFINISHED;
    return false;
  }
  made.changed = changed;
  made.critical = is_put_in ? !made.changed : made.changed;
  for (size_t m = 0; m < count; m++, r->members++) {
    if (r->members < r->member_capacity) r->member[r->members] = member[m];
  }
  if (r->decisions < r->decision_capacity) r->decision[r->decisions] = made;
  r->decisions++;
  s->tried++;
  return made.critical;
}

/* Whether the poll ended the search. It is called before each re-clustering; the total is
 * an estimate, at least one for each region, as the length of the search is not known. */
static bool is_stopped(searcher *s) {
  uint64_t regions = s->input->data.regions;
  tsn_spmd_watch *watch = &s->b->watch;
  watch->done = s->tried;
  watch->total = s->tried < regions ? regions : s->tried + 1;
  watch->stopped =
      watch->stopped || tsn_exec_stop(watch->exec, watch->done, watch->total);
  if (!watch->stopped) return false;
  s->report->search = TSANOM_SPMD_UNFINISHED;
  return true;
}

/* Step 3 of the search: combinations of n = 2, 3, ... regions.
 *
 * If several regions separate the same classes, leaving out any one of them changes
 * nothing, so that step 2 finds none. Left out together they change the classes:
 *
 *     regions    A      B      C        without A: still {0}, {1}, by B
 *     process 0  1      1      5        without B: still {0}, {1}, by A
 *     process 1  9      9      5        without A and B: {0, 1}; the critical combination
 *
 * All combinations of the first n at which some are critical are tried; the core is what
 * they have in common, or, if that is nothing, all of their regions. This is exponential:
 * C(r, n) re-clusterings for r regions. Hence the limits of the options, and only regions
 * whose times differ between processes are candidates: the others add 0 to every
 * distance. */

/* Re-cluster with these regions left out, or put in; whether they are critical. */
typedef bool try_members(searcher *s, const uint32_t *member, size_t n);

/* At hierarchy 1: without the members. */
static bool leave_out(searcher *s, const uint32_t *member, size_t n) {
  tsn_spmd_buffers *b = s->b;
  for (size_t m = 0; m < n; m++) b->points.weight[b->slot[member[m]]] = 0;
  bool critical = decide(s, 3, 1, member, n);
  for (size_t m = 0; m < n; m++) b->points.weight[b->slot[member[m]]] = 1;
  return critical;
}

/* Combined to one region, as the paper says: its time is the sum. */
static bool put_in(searcher *s, const uint32_t *member, size_t n) {
  const tsanom_spmd_data *d = &s->input->data;
  tsn_spmd_set_free(&s->b->points, d->time, d->time_ld, member, n, s->exponent);
  return decide(s, 3, s->b->level[member[0]], member, n);
}

/* The next n of `count` in lexicographic order: the last index that is not at its end
 * advances, those after it follow. False: it was the last combination. */
static bool next_combination(uint32_t *index, size_t n, size_t count) {
  size_t m = n;
  while (m > 0 && index[m - 1] == count - n + m - 1) m--;
  if (m == 0) return false;
  index[m - 1]++;
  for (; m < n; m++) index[m] = index[m - 1] + 1;
  return true;
}

/* Try all combinations of n candidates; count the critical ones, in all and by member. A
 * region is in all of them iff its count is the number of them, which needs no list. */
static size_t combinations(searcher *s, try_members *try, const uint32_t *candidate,
                           size_t count, size_t n) {
  uint32_t *index = s->b->list, *member = s->b->list + s->input->data.regions;
  size_t found = 0;
  for (size_t m = 0; m < n; m++) index[m] = (uint32_t)m;
  do {
    if (s->left == 0) {
      s->report->limited = 1;
      return found;
    }
    if (is_stopped(s)) return found;
    s->left--;
    for (size_t m = 0; m < n; m++) member[m] = candidate[index[m]];
    bool critical = try(s, member, n);
    for (size_t m = 0; m < n; m++) s->b->meet[member[m]] += critical;
    found += critical;
  } while (next_combination(index, n, count));
  return found;
}

/* Set roles by the `found` combinations that are critical: their regions are CCRs, those
 * in all of them cores; if no region is in all, each is. Returns the number of regions in
 * all of them. */
static size_t intersect(tsn_spmd_buffers *b, const uint32_t *candidate, size_t count,
                        size_t found) {
  size_t common = 0;
  for (size_t c = 0; c < count; c++) common += b->meet[candidate[c]] == found;
  for (size_t c = 0; c < count; c++) {
    uint32_t k = candidate[c];
    if (b->meet[k] == 0) continue;
    bool core = common == 0 || b->meet[k] == found;
    b->role[k] |= (uint8_t)(TSN_SPMD_CCR | (core ? TSN_SPMD_CCCR : 0));
  }
  return common;
}

/* The number of critical combinations of the smallest size that has any, and this size.
 * Larger sizes are not tried: the algorithm of the paper ends there. */
static size_t smallest(searcher *s, try_members *try, const uint32_t *candidate,
                       size_t count, size_t *size) {
  size_t most = s->input->options.combination_size;
  for (size_t c = 0; c < count; c++) s->b->meet[candidate[c]] = 0;
  for (size_t n = 2; n <= count && n <= most; n++) {
    size_t found = combinations(s, try, candidate, count, n);
    if (s->report->search == TSANOM_SPMD_UNFINISHED) return 0;
    *size = n;
    if (found || s->report->limited) return found;
  }
  return 0;
}

/* Step 3: combinations of the outermost regions are left out. */
static void combine_outermost(searcher *s) {
  tsn_spmd_buffers *b = s->b;
  size_t count = 0;
  for (uint32_t k = 0; k < s->input->data.regions; k++) {
    if (b->level[k] == 1 && (b->role[k] & TSN_SPMD_VARIES)) b->pick[count++] = k;
  }
  s->report->search = TSANOM_SPMD_NOT_FOUND;
  size_t found = smallest(s, leave_out, b->pick, count, &s->report->combination);
  if (!found) return;
  size_t common = intersect(b, b->pick, count, found);
  s->report->search = common ? TSANOM_SPMD_COMBINED : TSANOM_SPMD_DISJOINT;
}

/* Step 3 within a region: combinations of the `count` regions that are candidates, nested
 * directly in one, take its place together. Returns the number of critical ones. */
static size_t combine_nested(searcher *s, const uint32_t *candidate, size_t count) {
  size_t size = 0, found = smallest(s, put_in, candidate, count, &size);
  if (found) intersect(s->b, candidate, count, found);
  return found;
}

/* Step 2. Returns the number of 1-CCRs; they are picked. A region without times cannot
 * change a distance, and is passed over. */
static size_t single_regions(searcher *s) {
  tsn_spmd_buffers *b = s->b;
  size_t found = 0;
  for (uint32_t k = 0; k < s->input->data.regions; k++) {
    if (b->level[k] != 1 || !(b->role[k] & TSN_SPMD_TIMED)) continue;
    if (is_stopped(s)) return found;
    b->points.weight[b->slot[k]] = 0;
    if (decide(s, 2, 1, &k, 1)) {
      b->role[k] |= TSN_SPMD_CCR;
      b->pick[found++] = k;
    }
    b->points.weight[b->slot[k]] = 1;
  }
  return found;
}

/* Try the regions nested directly in CCR j; those that are CCRs are picked too. */
static size_t nested_regions(searcher *s, uint32_t j, size_t picked) {
  const tsanom_spmd_data *d = &s->input->data;
  tsn_spmd_buffers *b = s->b;
  for (uint32_t k = 0; k < d->regions; k++) {
    if (d->parent[k] != (int32_t)j || !(b->role[k] & TSN_SPMD_TIMED)) continue;
    if (is_stopped(s)) return picked;
    tsn_spmd_set_free(&b->points, d->time, d->time_ld, &k, 1, s->exponent);
    if (decide(s, 4, b->level[k], &k, 1)) {
      b->role[k] |= TSN_SPMD_CCR;
      b->pick[picked++] = k;
    }
  }
  return picked;
}

/* Beyond the paper: no region in CCR j stands for it alone; some may together. */
static bool nested_combination(searcher *s, uint32_t j, size_t picked) {
  const tsanom_spmd_data *d = &s->input->data;
  uint32_t *candidate = s->b->pick + picked;
  size_t count = 0;
  for (uint32_t k = 0; k < d->regions; k++) {
    bool varies = (s->b->role[k] & TSN_SPMD_VARIES) != 0;
    if (d->parent[k] == (int32_t)j && varies) candidate[count++] = k;
  }
  return combine_nested(s, candidate, count) > 0;
}

/* Steps 4 and 5, level by level, from the CCRs of hierarchy 1 that are picked. `pick` is
 * the queue of a breadth-first walk: CCRs found on the way are appended, and regions are
 * appended once, as each is nested in one other. While a CCR is looked into, the region
 * of hierarchy 1 around it is left out, and the free coordinate takes its place. */
static void descend(searcher *s, size_t picked) {
  tsn_spmd_buffers *b = s->b;
  double *weight = b->points.weight;
  weight[0] = 1;
  for (size_t at = 0; at < picked; at++) {
    uint32_t j = b->pick[at], outer = j;
    while (b->level[outer] > 1) outer = (uint32_t)s->input->data.parent[outer];
    double before = weight[b->slot[outer]];
    weight[b->slot[outer]] = 0;
    size_t more = nested_regions(s, j, picked);
    bool is_core = more == picked;
    if (is_core && s->input->options.deep &&
        s->report->search != TSANOM_SPMD_UNFINISHED) {
      is_core = !nested_combination(s, j, picked);
    }
    picked = more;
    weight[b->slot[outer]] = before;
    if (s->report->search == TSANOM_SPMD_UNFINISHED) return;
    if (is_core) b->role[j] |= TSN_SPMD_CCCR;
  }
}

/* Beyond the paper: on from the regions that step 3 found, each while the others are
 * left out, if it separates the classes alone. */
static void descend_from_combined(searcher *s) {
  const tsanom_spmd_data *d = &s->input->data;
  tsn_spmd_buffers *b = s->b;
  double *weight = b->points.weight;
  for (size_t k = 0; k < d->regions; k++) {
    if (!(b->role[k] & TSN_SPMD_CCCR)) continue;
    b->role[k] |= TSN_SPMD_TOGETHER;
    weight[b->slot[k]] = 0;
  }
  for (uint32_t j = 0; j < d->regions; j++) {
    if (!(b->role[j] & TSN_SPMD_TOGETHER)) continue;
    if (is_stopped(s)) return;
    weight[0] = 1;
    tsn_spmd_set_free(&b->points, d->time, d->time_ld, &j, 1, s->exponent);
    if (!decide(s, 4, 1, &j, 1)) continue;
    b->role[j] &= (uint8_t)~TSN_SPMD_CCCR;
    b->pick[0] = j;
    descend(s, 1);
    if (s->report->search == TSANOM_SPMD_UNFINISHED) return;
  }
}

/* Steps 2 to 5. */
static void find_regions(searcher *s) {
  size_t found = single_regions(s);
  if (s->report->search == TSANOM_SPMD_UNFINISHED) return;
  if (found) {
    s->report->search = TSANOM_SPMD_DESCENT;
    descend(s, found);
    return;
  }
  combine_outermost(s);
  bool is_found = s->report->search == TSANOM_SPMD_COMBINED ||
                  s->report->search == TSANOM_SPMD_DISJOINT;
  if (is_found && s->input->options.deep) descend_from_combined(s);
}

tsanom_status tsn_spmd_search(const tsn_spmd_input *input, tsn_spmd_buffers *b,
                              tsanom_spmd_report *report) {
  const tsanom_spmd_data *d = &input->data;
  searcher s = {.input = input,
                .b = b,
                .report = report,
                .left = input->options.combination_limit,
                .pairs = {.first = b->optics.label, .second = b->optics.order}};
  size_t outermost = s.outermost = find_candidates(&s);
  s.exponent = tsn_spmd_exponent(d->time, d->processes, d->time_ld, b->list, outermost);
  tsn_spmd_gather(&b->points, d->time, d->time_ld, b->list, outermost, s.exponent);
  double resolution;
  measure(&s, &resolution);
  tsanom_status status = choose_cut(&s, resolution);
  if (status < 0) return status;
  if (status == TSANOM_OK) report->classes = tsn_spmd_classify(&b->points, b->base);
  if (report->classes == 1 && input->options.cut == TSANOM_SPMD_CUT_NOISE &&
      isfinite(report->eps)) {
    status = cut_largest_gap(&s, resolution);
    if (status < 0) return status;
  }
  bool is_stopped = report->classes == 0;
  if (is_stopped) { /* report one class */
    memset(b->base, 0, d->processes * sizeof *b->base);
    report->classes = 1;
    report->eps = INFINITY;
  }
  decide(&s, 1, 1, NULL, 0);
  report->search = is_stopped     ? TSANOM_SPMD_UNFINISHED
                   : s.is_unknown ? TSANOM_SPMD_UNKNOWN
                                  : TSANOM_SPMD_SIMILAR;
  if (report->classes > 1) {
    measure_classes(&b->points, b->base, report->classes, &s.apart);
    s.compared = b->watch.compared;
    find_regions(&s);
  }
  for (size_t k = 0; k < d->regions; k++) {
    report->ccrs += (b->role[k] & TSN_SPMD_CCR) != 0;
    report->cccrs += (b->role[k] & TSN_SPMD_CCCR) != 0;
  }
  return report->search == TSANOM_SPMD_UNFINISHED ? TSANOM_STOPPED : TSANOM_OK;
}
