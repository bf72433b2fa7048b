/* SPDX-License-Identifier: BSD-3-Clause */
/* Clusters by the steepness of the reachability plot (M. Ankerst et al., SIGMOD 1999,
 * section 4.3; E. Schubert, M. Gertz, LWDA 2018).
 *
 *     \              /      a steep downward area, where reachability falls by the
 *      \   _/\_     /       factor 1 - xi per step, and a steep upward area enclose a
 *       \_/    \___/        cluster if the plot between them stays below both
 *     descent      rise
 *
 * One scan from left to right keeps the descents that may still begin a cluster. At the
 * end of each rise they are tried from the last, which gives inner clusters first.
 *
 * A descent can begin a cluster as long as the plot since its end has stayed below top ·
 * (1 - xi). Each descent keeps the maximum since it ended, which is updated at the next
 * steep area only, so that a pair is tested in O(1). O(n) memory. Where the published
 * definitions leave the ends of areas open, the rules are those of ELKI, with which
 * golden files agree (docs/optics.md). */
#include <math.h>

#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/sort.h"
#include "core/versioned.h"
#include "optics/optics_internal.h"

static const tsanom_optics_xi_options defaults = {
    .struct_size = sizeof defaults, .xi = 0.05, .min_points = 0};

static const tsn_versioned options_type = {.size = sizeof(tsanom_optics_xi_options),
                                           .first_size = sizeof(tsanom_optics_xi_options),
                                           .defaults = &defaults};

tsanom_status tsanom_optics_xi_options_init(tsanom_optics_xi_options *options,
                                            size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status read_options(tsanom_optics_xi_options *own,
                                  const tsanom_optics_xi_options *caller,
                                  const tsanom_exec *exec) {
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, "options");
  const tsanom_status bad = TSANOM_E_OPTION;
  if (status < 0) return status;
  if (!(isgreaterequal(own->xi, 0) && isless(own->xi, 1))) {
    return tsn_reject_value(exec, bad, "options.xi", TSANOM_NONE, TSANOM_NONE, own->xi,
                            "at least 0 and less than 1 is expected");
  }
  status = tsn_require_int(exec, bad, "options.keep_tails", own->keep_tails, 0, 1);
  if (status < 0) return status;
  return tsn_require_int(exec, bad, "options.reserved0", own->reserved0, 0, 0);
}

/* A cluster: its first and last position. */
typedef struct {
  size_t first, last;
} interval;

/* A steep downward area that a cluster may begin with. */
typedef struct {
  double top;     /* reachability where it starts */
  double between; /* largest reachability since it ended */
  uint32_t start;
} descent;

/* The plot, the scan over it, and the clusters found so far. There are at most n open
 * descents and any number of clusters, which the caller bounds by its capacity. */
typedef struct {
  tsanom_optics_ordering ordering;
  tsanom_optics_xi_options options;
  tsanom_exec exec;
  double steep;       /* 1 - xi */
  uint32_t *position; /* in the order, by index of the point */
  int32_t *label;     /* by position */
  descent *descents;  /* those that may begin a cluster */
  size_t open;        /* number of descents */
  size_t at;          /* position of the scan */
  double between;     /* largest reachability since the last steep area */
  interval *clusters; /* the caller's */
  size_t capacity, count;
  size_t *wanted;  /* the caller's count */
  int32_t *labels; /* the caller's, or NULL */
  int32_t labeled; /* clusters with a label */
} scan;

static void layout(tsn_arena *arena, void *context) {
  scan *s = context;
  size_t n = s->ordering.n;
  s->position = tsn_arena_take(arena, n, sizeof *s->position);
  s->descents = tsn_arena_take(arena, n, sizeof *s->descents);
  s->label = tsn_arena_take(arena, n, sizeof *s->label);
}

/* Reachability at a position; after the last the plot rises to infinity. */
static double height(const scan *s, size_t position) {
  return position < s->ordering.n ? s->ordering.reachability[position] : INFINITY;
}

/* Whether the step after a position falls, or rises, by the factor: 1 - xi for a steep
 * step, 1 for any. A fall from an undefined reachability, which is infinite, and a rise
 * to one are steep; between two of them the plot does neither. */
static bool falls(const scan *s, size_t position, double factor) {
  double next = height(s, position + 1);
  return next < INFINITY && next <= height(s, position) * factor;
}

static bool rises(const scan *s, size_t position, double factor) {
  double here = height(s, position);
  return here < INFINITY && here <= height(s, position + 1) * factor;
}

typedef bool direction(const scan *s, size_t position, double factor);

/* Walk to the end of the steep area that starts at the scan's position: beyond it is the
 * first step that goes the other way, or the end of more than min_points flat ones, which
 * the paper allows within an area. A rise also ends before an infinite reachability.
 * Returns the last steep position and leaves the scan where the walk stopped. */
static size_t walk_area(scan *s, direction *steep, bool upward) {
  size_t last = s->at++;
  while (s->at < s->ordering.n && !(upward && height(s, last + 1) == INFINITY)) {
    if (steep(s, s->at, s->steep)) {
      last = s->at;
    } else if (!steep(s, s->at, 1) || s->at - last > s->options.min_points) {
      break;
    }
    s->at++;
  }
  return last;
}

/* Update the height of the plot since each descent, and drop the descents that can no
 * longer begin a cluster. */
static void keep_descents(scan *s) {
  size_t kept = 0;
  for (size_t i = 0; i < s->open; i++) {
    descent d = s->descents[i];
    if (d.top * s->steep <= s->between) continue;
    if (s->between > d.between) d.between = s->between;
    s->descents[kept++] = d;
  }
  s->open = kept;
}

/* Predecessor correction (Schubert and Gertz): the last position in [first, last] that
 * was reached from within, or whose reachability is below that of the first. Points after
 * it belong to what surrounds the cluster: the order collected them while the cluster was
 * not exhausted. */
static size_t without_tail(const scan *s, size_t first, size_t last) {
  if (s->options.keep_tails) return last;
  for (; last > first &&
         !(s->ordering.reachability[last] < s->ordering.reachability[first]);
       last--) {
    size_t predecessor = s->ordering.predecessor[last];
    if (predecessor == TSANOM_NONE) continue;
    size_t position = s->position[predecessor];
    if (position >= first && position < last) break;
  }
  return last;
}

/* Count a cluster, and store it while there is capacity. A label goes to clusters without
 * an inner one: the inner ones come first, so a labeled position marks them. */
static void add_cluster(scan *s, size_t first, size_t last) {
  if (s->count < s->capacity) {
    s->clusters[s->count] = (interval){first, last};
  }
  s->count++;
  if (!s->labels) return;
  for (size_t i = last + 1; i-- > first;) {
    if (s->label[i] >= 0) return;
  }
  for (size_t i = first; i <= last; i++) s->label[i] = s->labeled;
  s->labeled++;
}

/* Add the cluster from a descent to a rise that ends at `last`, if there is one. Its two
 * ends shall have about the same height: if one side of the plot is higher than the other
 * by more than the factor 1 - xi, the cluster starts, or ends, where the higher side
 * comes down to the other. The tail is cut again because the end may have moved. */
static void pair_with_rise(scan *s, const descent *d, size_t last) {
  size_t first = d->start;
  last = without_tail(s, first, last);
  double end = height(s, last + 1);
  if (d->between > fmin(d->top, end) * s->steep) return;
  if (d->top * s->steep >= end) {
    while (first < last && height(s, first + 1) * s->steep > end) first++;
  } else if (end * s->steep >= d->top) {
    while (last > first && height(s, last) * s->steep > d->top) last--;
  }
  last = without_tail(s, first, last);
  if (last - first + 1 >= s->options.min_points) add_cluster(s, first, last);
}

/* The scan. `between` is the largest reachability since the last steep area; it enters
 * the open descents when the next one starts, or decides against them
 * (keep_descents()). */
static void find_clusters(scan *s) {
  while (s->at < s->ordering.n) {
    size_t start = s->at;
    s->between = fmax(s->between, height(s, start));
    if (falls(s, start, s->steep)) {
      keep_descents(s);
      s->descents[s->open++] = (descent){height(s, start), 0, (uint32_t)start};
      s->between = 0;
      walk_area(s, falls, false);
    } else if (rises(s, start, s->steep)) {
      keep_descents(s);
      size_t last = walk_area(s, rises, true);
      s->between = height(s, last);
      for (size_t i = s->open; i-- > 0;) pair_with_rise(s, &s->descents[i], last);
    } else {
      s->at++;
    }
  }
}

static bool comes_before(const interval *a, const interval *b) {
  return a->first < b->first || (a->first == b->first && a->last < b->last);
}

static void sort_intervals(interval *values, size_t count);
TSN_HEAPSORT(sort_intervals, interval, comes_before)

/* Labels by point, renumbered in the order of first points: clusters were found in the
 * order of their ends. */
static void write_labels(const scan *s) {
  int32_t found = TSANOM_NOISE, name = TSANOM_NOISE, next = TSANOM_NOISE;
  for (size_t i = 0; i < s->ordering.n; i++) {
    int32_t label = s->label[i];
    /* Each label covers one interval, so a change of label is a new cluster. */
    if (label != found) {
      found = label;
      name = label < 0 ? TSANOM_NOISE : ++next;
    }
    s->labels[s->ordering.order[i]] = name;
  }
}

static tsanom_status check_predecessors(const scan *s) {
  size_t n = s->ordering.n;
  const size_t *predecessor = s->ordering.predecessor;
  for (size_t k = 0; predecessor && k < n; k++) {
    if (predecessor[k] < n || predecessor[k] == TSANOM_NONE) continue;
    return tsn_reject_is(
        &s->exec, TSANOM_E_INDEX, "ordering.predecessor", k,
        "%zu; the index of one of %zu points is expected, or TSANOM_NONE", predecessor[k],
        n);
  }
  return TSANOM_OK;
}

/* Invert the order, which must be a permutation. */
static tsanom_status find_positions(const scan *s) {
  for (size_t k = 0; k < s->ordering.n; k++) s->position[k] = TSN_OPTICS_NONE;
  for (size_t k = 0; k < s->ordering.n; k++) {
    uint32_t *position = &s->position[s->ordering.order[k]];
    if (*position != TSN_OPTICS_NONE) {
      return tsn_reject_is(&s->exec, TSANOM_E_VALUE, "ordering.order", k,
                           "%zu for the second time; each point is expected once",
                           s->ordering.order[k]);
    }
    *position = (uint32_t)k;
    s->label[k] = TSANOM_NOISE;
  }
  return TSANOM_OK;
}

static tsanom_status run(void *context) {
  scan *s = context;
  tsanom_status status = find_positions(s);
  if (status < 0) return status;
  find_clusters(s);
  sort_intervals(s->clusters, tsn_smaller(s->count, s->capacity));
  if (s->labels) write_labels(s);
  return s->count > s->capacity && s->capacity ? TSANOM_PARTIAL : TSANOM_OK;
}

/* All but whether the order is a permutation. */
static tsanom_status check(void *context) {
  const scan *s = context;
  const tsanom_optics_ordering *o = &s->ordering;
  if (!s->wanted) return tsn_reject_null(&s->exec, "count", TSANOM_NONE);
  if (s->capacity && !s->clusters) {
    return tsn_reject_null(&s->exec, "clusters", 2 * s->capacity);
  }
  if (!o->predecessor && !s->options.keep_tails) {
    return tsn_reject_null(&s->exec, "ordering.predecessor", o->n);
  }
  tsanom_status status = tsn_optics_ordering_check(o, false, &s->exec);
  return status < 0 ? status : check_predecessors(s);
}

tsanom_status tsanom_optics_xi(const tsanom_optics_ordering *ordering,
                               const tsanom_optics_xi_options *options,
                               const tsanom_exec *exec, size_t *clusters, size_t capacity,
                               size_t *count, int32_t *labels) {
  scan s = {.clusters = (interval *)clusters,
            .capacity = capacity,
            .wanted = count,
            .labels = labels};
  tsanom_status status = tsn_exec_read(&s.exec, exec);
  if (status < 0) return status;
  status = read_options(&s.options, options, &s.exec);
  if (status < 0) return status;
  status = tsn_optics_plot_read(&s.ordering, ordering, &s.exec);
  if (status < 0) return status;
  status = tsn_require_size(&s.exec, TSANOM_E_OVERFLOW, "capacity", capacity, 0,
                            PTRDIFF_MAX / (2 * sizeof *clusters));
  if (status < 0) return status;
  if (s.options.min_points == 0) {
    s.options.min_points = s.ordering.min_points ? s.ordering.min_points : 5;
  }
  s.steep = 1 - s.options.xi;
  status = tsn_workspace_run(&s.exec, layout, check, run, &s);
  if (status >= 0) *count = s.count;
  return status;
}
