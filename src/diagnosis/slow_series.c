/* SPDX-License-Identifier: BSD-3-Clause */
/* Slow iterations, by the logarithms of their times, so that a size is a ratio:
 *
 *   times ──▶ period (dpd) ──▶ slow phases ────────────────────────▶ recurring
 *         ──▶ levels (change) ──▶ base = the lowest long one ──▶ stretch, since, until
 *         ──▶ rest: above its level by 1.5 and by six deviations, or far ──▶ single, recurring
 *
 *   |            ......                 . .                |
 *   | ....'.....        ....'.....'....     ' ............ |
 *     base       stretch  '      '     until the next level: since
 *                      recurring
 *
 * Levels are medians, and higher by a tenth: what is less, processors change their speed by. */
#include <math.h>
#include <string.h>
#include <tsanom/dpd.h>

#include "core/exec.h"
#include "core/size.h"
#include "core/sort.h"
#include "diagnosis/slow.h"

enum {
  SEGMENTS = TSN_SLOW_SEGMENTS,
  EVENTS_FEWEST = 3,
  CLUSTER_FEWEST = 5,
  RARE = 5,
  PERIOD_LEAST = 8,
  SEARCHED =
      1 << 16, /* iterations for a period, four of the longest; groups for levels */
  UNUSED = -1
};

static const double least_joined = 0.0488; /* log(1.05): closer levels are one */
static const double least_step = 0.0953;   /* log(1.1) */
static const double least_phase = 0.0953;
static const double least_single = 0.4055;
static const double least_apart = 1.3863; /* log(4) */
static const double deviations = 6;
static const double of_distance = 1.4826; /* deviation of normal noise, in medians */
static const double least_lost = 0.01;

typedef tsn_slow_search search;
typedef tsn_slow_segment segment;

static double seconds_of(const search *s, size_t i) {
  return s->seconds ? s->seconds[i] : s->begin[i + 1] - s->begin[i];
}

/* The median of y in [begin, end), of each `step`. */
static double level_of(search *s, size_t begin, size_t end, size_t step) {
  size_t count = 0;
  for (size_t i = begin; i < end; i += step) s->scratch[count++] = s->y[i];
  return tsn_median(s->scratch, count);
}

/* y above its level. *k: the segment of an iteration that is not after i. */
static double excess_from(const search *s, size_t i, size_t *k) {
  while (s->segment[*k].end <= i) ++*k;
  return s->y[i] - s->segment[*k].level;
}

static double excess_at(const search *s, size_t i) {
  size_t k = 0;
  return excess_from(s, i, &k);
}

/* The median of the distances of y from its levels. */
static double distance_of(search *s) {
  for (size_t i = 0, k = 0; i < s->n; i++) s->scratch[i] = fabs(excess_from(s, i, &k));
  return tsn_median(s->scratch, s->n);
}

/* The new finding, whose iterations have class s->count; NULL: there are too many. */
static tsanom_diagnosis_slow *add(search *s, int32_t kind, size_t first, size_t last) {
  if (s->count == TSN_SLOW_MOST) return NULL;
  tsanom_diagnosis_slow *f = &s->finding[s->count++];
  *f = (tsanom_diagnosis_slow){.kind = kind,
                               .first = first,
                               .last = last,
                               .low = NAN,
                               .high = NAN,
                               .place_low = TSANOM_NONE,
                               .place_high = TSANOM_NONE};
  return f;
}

static void set_noise(search *s, double distance) {
  s->deviation = of_distance * distance;
  s->excess = fmax(least_single, deviations * s->deviation);
}

/* The first iterations take longer in most programs: threads start, and memory is used for
 * the first time. They are neither normal nor slow. */
static void leave_start(search *s) {
  size_t most = tsn_larger(s->n / 50, 3), i = 0;
  double level = s->segment[0].end > most ? s->segment[0].level : s->base;
  while (i <= most && (s->class_of[i] == UNUSED || s->y[i] - level > s->excess)) i++;
  if (i > most) return;
  while (i) s->class_of[--i] = UNUSED;
}

/* ---- what recurs with a small size */

/* The period of the series, without what is more than `limit` from its median; 0: none. Of a long series,
 * that of its beginning: of 5.6 million iterations the search would take 3.7 GB. The longest
 * period is 16384, whatever the length. */
static size_t period_of(search *s, double limit) {
  size_t n = tsn_smaller(s->n, SEARCHED);
  tsanom_dpd_found found = {.struct_size = sizeof found};
  if (!(limit > 0)) return 0;
  for (size_t i = 0; i < n; i++) {
    s->scratch[i] = fmin(fmax(s->y[i], s->base - limit), s->base + limit);
  }
  tsanom_status status = tsanom_dpd_find(s->scratch, n, NULL, &s->inner, &found);
  return status == TSANOM_OK && found.period >= 4 ? found.period : 0;
}

/* The sizes of the phases of a period in n iterations, into `phase`. Slow are those with a third
 * of the largest size, or more: which size that is. */
static double measure_phases(search *s, size_t period, size_t n) {
  double least = least_phase;
  for (size_t k = 0; k < period; k++) {
    s->phase[k] = level_of(s, k, n, period) - s->base;
    least = fmax(least, s->phase[k] / 3);
  }
  return least;
}

/* How much closer the slow phases are to their iterations than the base is: twice that of the half
 * in which it is less, since a change of the level makes phases of one half longer. */
static double explained_by(search *s, size_t period, size_t n) {
  double least = measure_phases(s, period, n), sum[2] = {0, 0};
  for (size_t i = 0; i < n; i++) {
    double size = s->phase[i % period], y = s->y[i] - s->base;
    if (size > least) sum[2 * i >= n] += fabs(y) - fabs(y - size);
  }
  return 2 * fmin(sum[0], sum[1]);
}

/* The search may find a part of the period of rare slow iterations, which explains little of them:
 * up to its fourth multiple, the smallest that the others exceed by less than half. */
static size_t whole_period(search *s, size_t period) {
  enum { TRIED = 4, FEWEST = 4 };
  size_t n = tsn_smaller(s->n, SEARCHED), best = period;
  double most = explained_by(s, period, n);
  for (size_t m = 2 * period; m <= TRIED * period && FEWEST * m <= n; m += period) {
    double explained = explained_by(s, m, n);
    if (explained <= 1.5 * most) continue;
    best = m;
    most = explained;
  }
  return best;
}

/* Take out what a period repeats. Its phases that are slow, if they are few, recur. */
static void take_phases(search *s, size_t found) {
  size_t slow = 0, period = whole_period(s, found);
  double *phase = s->phase, least = measure_phases(s, period, s->n);
  for (size_t k = 0; k < period; k++) slow += phase[k] > least;
  tsanom_diagnosis_slow *f = NULL;
  if (slow && period >= RARE * slow && period >= PERIOD_LEAST) {
    f = add(s, TSANOM_DIAGNOSIS_SLOW_RECURRING, TSANOM_NONE, 0);
  }
  for (size_t i = 0, k = 0; i < s->n; i++, k = k + 1 < period ? k + 1 : 0) {
    double size = phase[k];
    bool is_slow =
        f && size > least && s->y[i] - s->base > size / 2 && s->class_of[i] != UNUSED;
    if (size <= least || !f || is_slow) s->y[i] -= size;
    if (!is_slow) continue;
    s->class_of[i] = (int32_t)s->count;
    if (f->first == TSANOM_NONE) f->first = i;
    f->last = i;
  }
  if (f) f->period = period;
}

/* ---- levels */

static void join(search *s, size_t k) {
  s->segment[k].end = s->segment[k + 1].end;
  s->segments--;
  memmove(&s->segment[k + 1], &s->segment[k + 2],
          (s->segments - k - 1) * sizeof *s->segment);
  s->segment[k].level = level_of(s, s->segment[k].begin, s->segment[k].end, 1);
}

/* Join neighbors whose levels hardly differ, the closest first. */
static void join_close(search *s) {
  while (s->segments > 1) {
    size_t closest = 0;
    double least = INFINITY;
    for (size_t k = 0; k + 1 < s->segments; k++) {
      double step = fabs(s->segment[k + 1].level - s->segment[k].level);
      if (step < least) {
        least = step;
        closest = k;
      }
    }
    if (least >= least_joined) return;
    join(s, closest);
  }
}

/* Whether the level is that of others, too, hardly higher. */
static bool is_low_elsewhere(const search *s, size_t at) {
  for (size_t k = 0; k < s->segments; k++) {
    if (k != at && s->segment[k].level - s->segment[at].level < least_step) return true;
  }
  return false;
}

/* Join what is short and fast to its neighbor: it is not the base. At an end that is less than
 * an eighth: a program that starts or ends with less work is not slow in between. */
static void join_dips(search *s) {
  for (size_t k = 0; k < s->segments && s->segments > 1;) {
    const segment *g = &s->segment[k];
    bool is_end = k == 0 || k + 1 == s->segments;
    bool is_dip = (k == 0 || g[-1].level > g->level) &&
                  (k + 1 == s->segments || g[1].level > g->level);
    size_t part = !is_end ? 4 : is_low_elsewhere(s, k) ? 20 : 8;
    if (is_dip && g->end - g->begin < s->n / part) {
      join(s, k ? k - 1 : 0);
      k = 0;
    } else {
      k++;
    }
  }
}

/* The medians of groups of `each` iterations, in scratch; returns their number. */
static size_t take_groups(search *s, size_t each) {
  size_t groups = s->n / each;
  double *values = s->scratch + groups; /* free, since groups have two values or more */
  for (size_t k = 0; k < groups; k++) {
    memcpy(values, s->y + k * each, each * sizeof *values);
    s->scratch[k] = tsn_median(values, each);
  }
  return groups;
}

/* Of a long series, changes of the medians of groups: a level that is shorter than six of
 * them, 1/10000 of the run, is found among single iterations. Without groups, tsanom summary
 * takes 1.6 times as long for a million iterations. `is_known`: the level of all iterations
 * is, and the noise around it. */
static tsanom_status find_levels(search *s, bool is_known) {
  size_t count = 0, each = 1 + (s->n - 1) / SEARCHED;
  size_t n = each > 1 ? take_groups(s, each) : s->n;
  tsanom_status status = tsanom_change_find(each > 1 ? s->scratch : s->y, n, NULL,
                                            &s->inner, s->point, SEGMENTS, &count);
  if (status < 0) return status;
  s->is_few = status == TSANOM_INFEASIBLE;
  if (!count && is_known) return TSANOM_OK;
  if (count > SEGMENTS) count = SEGMENTS;
  s->segments = 0;
  for (size_t k = 0; k <= count; k++) {
    const tsanom_change_point *from = k ? &s->point[k - 1] : NULL;
    size_t begin = k ? (size_t)from->at * each : 0;
    size_t end = k < count ? (size_t)s->point[k].at * each : s->n;
    s->segment[s->segments++] =
        (segment){.begin = begin,
                  .end = end,
                  .level = level_of(s, begin, end, 1),
                  .low = k ? from->size_low : NAN,
                  .high = k ? from->size_high : NAN,
                  .place_low = k ? (size_t)from->low * each - (each - 1) : 0,
                  .place_high = k ? (size_t)from->high * each + (each - 1) : 0};
  }
  join_close(s);
  join_dips(s);
  join_close(s);
  s->base = INFINITY;
  for (size_t k = 0; k < s->segments; k++) s->base = fmin(s->base, s->segment[k].level);
  set_noise(s, distance_of(s));
  return TSANOM_OK;
}

/* Where a large step is can be seen: move the ends of a segment there. */
static void move_ends(search *s, size_t k) {
  segment *g = &s->segment[k];
  double middle = 0.5 * (g->level + s->base);
  size_t least = k ? s->segment[k - 1].begin + 1 : 0;
  size_t most = k + 1 < s->segments ? s->segment[k + 1].end - 1 : s->n;
  if (g->level - s->base < 8 * s->deviation) return;
  while (g->begin > least && s->y[g->begin - 1] > middle) g->begin--;
  while (g->begin + 1 < g->end && s->y[g->begin] < middle) g->begin++;
  while (g->end < most && s->y[g->end] > middle) g->end++;
  while (g->end > g->begin + 1 && s->y[g->end - 1] < middle) g->end--;
  if (k) s->segment[k - 1].end = g->begin;
  if (k + 1 < s->segments) s->segment[k + 1].begin = g->end;
}

/* Join slow neighbors, if one is not much slower than the other. */
static void join_slow(search *s) {
  for (size_t k = 0; k + 1 < s->segments;) {
    double one = s->segment[k].level - s->base;
    double other = s->segment[k + 1].level - s->base;
    if (fmin(one, other) >= least_step && 2 * fmin(one, other) >= fmax(one, other)) {
      join(s, k);
    } else {
      k++;
    }
  }
}

static void take_levels(search *s) {
  join_slow(s);
  for (size_t k = 0; k < s->segments; k++) {
    double size = s->segment[k].level - s->base;
    if (size < least_step) continue;
    move_ends(s, k);
    const segment *g = &s->segment[k];
    if (s->class_of[g->end - 1] == UNUSED) continue;
    int32_t kind = g->end == s->n ? TSANOM_DIAGNOSIS_SLOW_SINCE
                   : g->begin     ? TSANOM_DIAGNOSIS_SLOW_STRETCH
                                  : TSANOM_DIAGNOSIS_SLOW_UNTIL;
    tsanom_diagnosis_slow *f = add(s, kind, g->begin, g->end - 1);
    if (!f) return;
    if (s->segments == 2) {
      const segment *step = &s->segment[1];
      double sign = kind == TSANOM_DIAGNOSIS_SLOW_SINCE ? 1 : -1;
      f->low = exp(sign * (sign > 0 ? step->low : step->high));
      f->high = exp(sign * (sign > 0 ? step->high : step->low));
      f->place_low = step->place_low;
      f->place_high = step->place_high;
    }
    for (size_t i = g->begin; i < g->end; i++) {
      if (!s->class_of[i]) s->class_of[i] = (int32_t)s->count;
    }
  }
}

/* ---- single iterations */

enum { NO_EVENT, SLOW, FAR };

/* Whether an iteration with this excess is slow, and does not belong to what recurs or to a stretch:
 * it does not if it takes several times as long as they do. */
static int event_at(const search *s, size_t i, double excess) {
  int32_t class = s->class_of[i];
  if (class == UNUSED) return NO_EVENT;
  if (s->y[i] > s->far) return FAR;
  int32_t kind = class ? s->finding[class - 1].kind : TSANOM_DIAGNOSIS_SLOW_SINGLE;
  bool belongs = (kind == TSANOM_DIAGNOSIS_SLOW_RECURRING ||
                  kind == TSANOM_DIAGNOSIS_SLOW_STRETCH) &&
                 !(excess > least_apart);
  return excess > s->excess && !belongs ? SLOW : NO_EVENT;
}

/* Where the events begin, and how many there are: runs of slow iterations, or of far ones.
 * TSANOM_NONE: more than a quarter of all iterations are slow. */
static size_t find_events(search *s) {
  size_t events = 0, slow = 0, k = 0;
  int before = NO_EVENT;
  for (size_t i = 0; i < s->n; i++) {
    int now = event_at(s, i, excess_from(s, i, &k));
    slow += now != NO_EVENT;
    if (slow > s->n / 4) return TSANOM_NONE;
    if (now && now != before) s->event[events++] = i;
    before = now;
  }
  return events;
}

/* The distance that most events have to the next one, if that is three in four, and they
 * extend over half of the series; 0: none. */
static size_t gap_of(const search *s, const size_t *event, size_t events) {
  enum { TRIED = 64 };
  if (events < EVENTS_FEWEST || 2 * (event[events - 1] - event[0]) < s->n) return 0;
  size_t best = 0, most = 0;
  for (size_t k = 0; k + 1 < events && k < TRIED; k++) {
    size_t gap = event[k + 1] - event[k], equal = 0;
    for (size_t j = 0; j + 1 < events; j++) equal += event[j + 1] - event[j] == gap;
    if (equal <= most) continue;
    most = equal;
    best = gap;
  }
  return best > 1 && most >= 2 && 4 * most >= 3 * (events - 1) ? best : 0;
}

/* The end of the event, in which all iterations are slow, or far. */
static size_t end_of(const search *s, size_t begin) {
  size_t i = begin;
  int event = event_at(s, i, excess_at(s, i));
  while (event && i < s->n && event_at(s, i, excess_at(s, i)) == event) i++;
  return i;
}

/* Whether an iteration stands alone, and belongs to no stretch around it. */
static bool is_alone(const search *s, size_t i) {
  int32_t class = s->class_of[i];
  return class > 0 && s->finding[class - 1].kind == TSANOM_DIAGNOSIS_SLOW_SINGLE &&
         s->y[i] > s->far;
}

/* Give the events a class; in a stretch, the iterations between them too. */
static void take_events(search *s, int32_t kind, size_t period, const size_t *event,
                        size_t events) {
  tsanom_diagnosis_slow *f = events ? add(s, kind, event[0], event[0]) : NULL;
  for (size_t k = 0; f && k < events; k++) {
    size_t end = end_of(s, event[k]);
    f->last = end - 1;
    if (kind == TSANOM_DIAGNOSIS_SLOW_STRETCH && k + 1 < events) end = event[k + 1];
    for (size_t i = event[k]; i < end; i++) {
      if (!is_alone(s, i)) s->class_of[i] = (int32_t)s->count;
    }
  }
  if (f) f->period = period;
}

/* Slow iterations with fewer others between them are close. */
static size_t near(const search *s) {
  return tsn_larger(s->n / 50, 4);
}

/* The number of events of which each is close to the one before; how many slow iterations they
 * have, and where the last one ends. */
static size_t chain_of(const search *s, const size_t *event, size_t events, size_t *slow,
                       size_t *end) {
  size_t k = 0;
  *slow = *end = 0;
  while (k < events && (!k || event[k] - *end < near(s))) {
    *end = end_of(s, event[k]);
    *slow += *end - event[k++];
  }
  return k;
}

/* The largest excess in the iterations of an event. */
static double size_of(const search *s, size_t begin) {
  double most = 0;
  for (size_t i = begin, end = end_of(s, begin); i < end; i++) {
    most = fmax(most, excess_at(s, i));
  }
  return most;
}

/* Put the large events in front, both in ascending order: those that are far, or whose size is at
 * least half of the largest one. Small ones are of another kind, such as what runs beside the program.
 * Returns the number of large ones. */
static size_t large_first(search *s, size_t *event, size_t events) {
  double largest = 0;
  size_t large = 0, small = 0;
  bool any_far = false;
  for (size_t k = 0; k < events; k++) {
    largest = fmax(largest, size_of(s, event[k]));
    any_far |= s->y[event[k]] > s->far;
  }
  for (size_t k = 0; k < events; k++) {
    if (any_far ? s->y[event[k]] > s->far : 2 * size_of(s, event[k]) >= largest) {
      event[large++] = event[k];
    } else {
      s->scratch[small++] = (double)event[k];
    }
  }
  for (size_t k = 0; k < small; k++) event[large + k] = (size_t)s->scratch[k];
  return large;
}

/* Recurring events, stretches, and the rest. Those of a chain form a stretch from the first on
 * from which a quarter of its iterations are slow. */
static void sort_events(search *s, size_t *event, size_t events) {
  size_t gap = gap_of(s, event, events), rest = 0;
  if (gap) {
    take_events(s, TSANOM_DIAGNOSIS_SLOW_RECURRING, gap, event, events);
    return;
  }
  size_t fewest = events == 1 ? 2 : CLUSTER_FEWEST;
  for (size_t k = 0, slow, end; k < events;) {
    size_t next = k + chain_of(s, event + k, events - k, &slow, &end);
    while (k < next && (4 * slow < end - event[k] || slow < fewest)) {
      slow -= end_of(s, event[k]) - event[k];
      event[rest++] = event[k++];
    }
    take_events(s, TSANOM_DIAGNOSIS_SLOW_STRETCH, 0, event + k, next - k);
    k = next;
  }
  take_events(s, TSANOM_DIAGNOSIS_SLOW_SINGLE, 0, event, rest);
}

/* Join stretches that are close to each other. */
static void join_stretches(search *s) {
  tsanom_diagnosis_slow *f = s->finding;
  for (size_t a = 0; a < s->count; a++) {
    for (size_t b = 0; b < s->count; b++) {
      if (a == b || f[a].kind != TSANOM_DIAGNOSIS_SLOW_STRETCH ||
          f[b].kind != TSANOM_DIAGNOSIS_SLOW_STRETCH || f[b].first <= f[a].last ||
          f[b].first - f[a].last > near(s))
        continue;
      for (size_t i = f[a].first; i <= f[b].last; i++) {
        if (!is_alone(s, i)) s->class_of[i] = (int32_t)a + 1;
      }
      f[a].last = f[b].last;
      f[b].kind = TSANOM_DIAGNOSIS_SLOW_SINGLE;
      b = 0;
    }
  }
}

/* ---- what noise reaches */

/* Noise may have a tail that falls more slowly than that of a normal variable, such as of
 * what runs beside the program. It is taken to fall exponentially, as between the median
 * and the last tenth of the iterations that are not slow: what n iterations exceed in one
 * of a hundred runs. */
static double tail_of(search *s) {
  size_t count = 0, k = 0;
  for (size_t i = 0; i < s->n; i++) {
    double excess = excess_from(s, i, &k);
    if (!s->class_of[i] && !(excess > s->excess)) s->scratch[count++] = excess;
  }
  if (count < TSN_SLOW_FEWEST) return 0;
  size_t tenth = count - 1 - count / 10;
  tsn_select(s->scratch, count, tenth);
  double last = s->scratch[tenth];
  tsn_select(s->scratch, tenth, count / 2);
  double middle = s->scratch[count / 2];
  return last + (last - middle) / log(5) * log(0.1 * (double)count / 0.01);
}

/* What is rare, takes four times as long as all others, and lost a hundredth of the time alone, is
 * slow whatever the tail: where iterations wait for a processor, that may reach any size. The y above
 * which they are: behind the highest such gap. */
static double far_of(search *s) {
  static const size_t rare = 20;
  double total = 0, *values = s->scratch;
  size_t count = 0;
  for (size_t i = 0; i < s->n; i++) {
    total += seconds_of(s, i);
    if (s->class_of[i] != UNUSED) values[count++] = s->y[i];
  }
  double least = log(exp(s->base) + least_lost * total);
  if (!count) return least;
  size_t last = count - 1, first = last - last / rare, i = last;
  tsn_select(values, count, first);
  tsn_sort(values + first, count - first);
  while (i > first && values[i] > least && values[i] <= values[i - 1] + least_apart) i--;
  bool is_gap = i > first && values[i] > least;
  return fmax(least, values[is_gap ? i - 1 : last] + least_apart);
}

/* The ratio of a change that lasts for a fifth of the iterations, and is found in most
 * runs: its gain is twice a critical one. */
static double detectable_of(search *s) {
  static const double gain = 2 * 15;
  double product = 0, square = 0, before = 0, n = (double)s->n;
  size_t k = 0;
  for (size_t i = 0; i < s->n; i++) {
    double most = 3 * s->deviation;
    double r = fmin(fmax(excess_from(s, i, &k), -most), most);
    product += r * before;
    square += r * r;
    before = r;
  }
  double phi = square > 0 ? fmin(fmax(product / square, 0), 0.98) : 0;
  double step = s->deviation * sqrt((1 + phi) / (1 - phi) * gain / (0.16 * n));
  return exp(fmax(least_step, step));
}

/* ---- sizes */

/* Sizes of the findings; those that lost little are dropped, and the others sorted. */
static void measure(search *s) {
  double total = 0, sum[TSN_SLOW_MOST] = {0};
  size_t normal = 0, kept = 0, origin[TSN_SLOW_MOST];
  int32_t now_at[TSN_SLOW_MOST + 1] = {0};
  for (size_t i = 0; i < s->n; i++) {
    double seconds = seconds_of(s, i);
    total += seconds;
    if (!s->class_of[i]) s->scratch[normal++] = seconds;
    if (s->class_of[i] < 1) continue;
    s->finding[s->class_of[i] - 1].count++;
    sum[s->class_of[i] - 1] += seconds;
  }
  s->median_s = normal ? tsn_median(s->scratch, normal) : exp(s->base);
  for (size_t k = 0; k < s->count; k++) {
    tsanom_diagnosis_slow f = s->finding[k];
    f.lost_s = sum[k] - (double)f.count * s->median_s;
    f.ratio = sum[k] / ((double)f.count * s->median_s);
    if (!(f.low <= f.ratio && f.ratio <= f.high))
      f.low = f.high = NAN; /* of the medians */
    now_at[k + 1] = UNUSED;
    if (!f.count || !(f.lost_s >= least_lost * total)) continue;
    size_t at = kept++;
    for (; at && s->finding[at - 1].lost_s < f.lost_s; at--) {
      s->finding[at] = s->finding[at - 1];
      origin[at] = origin[at - 1];
    }
    s->finding[at] = f;
    origin[at] = k;
  }
  s->count = kept;
  for (size_t k = 0; k < kept; k++) now_at[origin[k] + 1] = (int32_t)k + 1;
  for (size_t i = 0; i < s->n; i++) {
    if (s->class_of[i] > 0) s->class_of[i] = now_at[s->class_of[i]];
  }
}

/* Which iterations these are. */
static void take_ranges(search *s) {
  for (size_t i = 0; i < s->n; i++) {
    int32_t class = s->class_of[i];
    if (class < 1) continue;
    tsanom_diagnosis_slow *f = &s->finding[class - 1];
    bool begins = !i || s->class_of[i - 1] != class;
    f->ranges += begins;
    if (f->ranges > TSANOM_DIAGNOSIS_RANGES) continue;
    uint64_t *range = f->range[f->ranges - 1];
    if (begins) range[0] = i;
    range[1] = i;
  }
}

tsanom_status tsn_slow_search_ask(search *s, const tsanom_exec *exec, size_t n) {
  size_t most = tsn_smaller(n, SEARCHED), changes = 0, periods = 0;
  tsanom_exec ask = tsn_exec_asking(exec, &changes);
  tsanom_status status =
      tsn_asked(tsanom_change_find(NULL, most, NULL, &ask, NULL, SEGMENTS, NULL));
  if (status < 0) return status;
  ask.work_needed = &periods;
  status = tsn_asked(tsanom_dpd_find(NULL, most, NULL, &ask, NULL));
  s->inner = tsn_exec_for_object(exec);
  s->inner.work_bytes = tsn_larger(changes, periods);
  return status < 0 ? status : TSANOM_OK;
}

/* Periods and changes are searched in at most SEARCHED numbers, and medians of all wait: the
 * workspace for that is behind these numbers in scratch. Of 2.3 million iterations, the 14 MB
 * were a tenth of the memory of tsanom rate. */
void tsn_slow_search_layout(tsn_arena *arena, search *s, size_t n) {
  size_t searched = tsn_smaller(n, SEARCHED);
  size_t inner = s->inner.work_bytes / sizeof *s->scratch + 1;
  s->y = tsn_arena_take(arena, n, sizeof *s->y);
  s->scratch = tsn_arena_take(arena, tsn_larger(n, searched + inner), sizeof *s->scratch);
  s->inner.work = s->scratch ? s->scratch + searched : NULL;
  s->event = s->scratch ? (size_t *)(s->scratch + n / 2) : NULL;
  s->phase = tsn_arena_take(arena, searched, sizeof *s->phase);
  s->point = tsn_arena_take(arena, SEGMENTS, sizeof *s->point);
  s->segment = tsn_arena_take(arena, SEGMENTS + 1, sizeof *s->segment);
  s->finding = tsn_arena_take(arena, TSN_SLOW_MOST, sizeof *s->finding);
  s->class_of = tsn_arena_take(arena, n, sizeof *s->class_of);
}

tsanom_status tsn_slow_find(search *s, const double *begin, const double *seconds,
                            size_t n) {
  s->begin = begin;
  s->seconds = seconds;
  s->n = n;
  s->count = 0;
  memset(s->class_of, 0, n * sizeof *s->class_of);
  /* The clock has nanoseconds; two beats at the same time are as close as that. */
  for (size_t i = 0; i < n; i++) s->y[i] = log(fmax(seconds_of(s, i), 1e-9));
  s->base = level_of(s, 0, s->n, 1);
  s->segment[0] = (segment){.end = s->n, .level = s->base};
  s->segments = 1;
  double distance = distance_of(s);
  set_noise(s, distance);
  leave_start(s);
  size_t period = s->n >= 4 * (size_t)TSN_SLOW_FEWEST ? period_of(s, 8 * distance) : 0;
  if (period) take_phases(s, period);
  tsanom_status status = find_levels(s, !period);
  if (status < 0) return status;
  leave_start(s);
  take_levels(s);
  if (s->segments > 1) set_noise(s, distance_of(s));
  s->far = far_of(s);
  s->excess = fmax(tail_of(s), s->excess);
  s->lasting = detectable_of(s);
  size_t events = find_events(s);
  if (events == TSANOM_NONE) {
    s->excess = INFINITY;
    events = find_events(s);
  }
  s->single = exp(fmin(s->excess, s->far - s->base));
  size_t large = large_first(s, s->event, events);
  sort_events(s, s->event, large);
  sort_events(s, s->event + large, events - large);
  join_stretches(s);
  measure(s);
  take_ranges(s);
  return TSANOM_OK;
}
