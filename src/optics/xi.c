/* SPDX-License-Identifier: BSD-3-Clause */
/* Clusters by the steepness of the reachability plot. */
#include <math.h>

#include "core/exec.h"
#include "core/versioned.h"
#include "optics/optics_internal.h"

static const tsanom_optics_xi_options defaults = {
    .struct_size = sizeof defaults, .xi = 0.05, .min_points = 5};

static const tsn_versioned options_type = {.size = sizeof(tsanom_optics_xi_options),
                                           .first_size = sizeof(tsanom_optics_xi_options),
                                           .defaults = &defaults};

tsanom_status tsanom_optics_xi_options_init(tsanom_optics_xi_options *options,
                                            size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status read_options(tsanom_optics_xi_options *own,
                                  const tsanom_optics_xi_options *caller) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return status;
  bool in_range = own->xi >= 0 && own->xi < 1 && own->min_points >= 1 &&
                  (own->keep_tails == 0 || own->keep_tails == 1) && own->reserved0 == 0;
  return in_range ? TSANOM_OK : TSANOM_E_OPTION;
}

/* A steep downward area that a cluster may begin with. */
typedef struct {
  double top;     /* reachability where it starts */
  double between; /* largest reachability since it ended */
  uint32_t start;
} descent;

typedef struct {
  uint32_t *position; /* in the order, by number of the point */
  descent *descents;
  int32_t *label; /* by position */
} buffers;

static void layout(tsn_arena *arena, size_t n, buffers *b) {
  b->position = tsn_arena_take(arena, n, sizeof *b->position);
  b->descents = tsn_arena_take(arena, n, sizeof *b->descents);
  b->label = tsn_arena_take(arena, n, sizeof *b->label);
}

tsanom_status tsanom_optics_xi_workspace(size_t n, const tsanom_exec *exec,
                                         size_t *bytes) {
  if (!bytes) return TSANOM_E_NULL;
  tsanom_exec how;
  tsanom_status status = tsn_exec_read(&how, exec);
  if (status == TSANOM_OK) status = tsn_optics_check_count(n);
  if (status != TSANOM_OK) return status;
  tsn_arena measured = tsn_arena_measure();
  buffers b;
  layout(&measured, n, &b);
  return tsn_arena_bytes(&measured, bytes);
}

/* The plot, the scan over it, and what has been found. */
typedef struct {
  const double *reachability;
  const size_t *predecessor;
  size_t n, min_points;
  double steep; /* 1 - xi */
  bool keep_tails;
  buffers b;
  size_t open; /* descents at hand */
  size_t at;   /* position of the scan */
  double between;
  size_t *clusters, capacity, count;
  bool labelled;
  int32_t labels;
} scan;

/* Reachability at a position; behind the last the plot rises to infinity. */
static double height(const scan *s, size_t position) {
  return position < s->n ? s->reachability[position] : INFINITY;
}

static bool falls(const scan *s, size_t position, double factor) {
  double next = height(s, position + 1);
  return next < INFINITY && next <= height(s, position) * factor;
}

static bool rises(const scan *s, size_t position, double factor) {
  double here = height(s, position);
  return here < INFINITY && here <= height(s, position + 1) * factor;
}

typedef bool direction(const scan *s, size_t position, double factor);

/* Walk to the end of the steep area that starts at the scan's position: beyond it
 * is the first step that goes the other way, or the end of too many flat ones.
 * Returns the last steep position and leaves the scan where the walk stopped. */
static size_t walk_area(scan *s, direction *steep, bool upward) {
  size_t last = s->at++;
  while (s->at < s->n && !(upward && height(s, last + 1) == INFINITY)) {
    if (steep(s, s->at, s->steep)) {
      last = s->at;
    } else if (!steep(s, s->at, 1) || s->at - last > s->min_points) {
      break;
    }
    s->at++;
  }
  return last;
}

/* Tell the descents at hand how high the plot has been since, and forget those
 * that no cluster can begin with any more. */
static void keep_descents(scan *s) {
  size_t kept = 0;
  for (size_t i = 0; i < s->open; i++) {
    descent d = s->b.descents[i];
    if (d.top * s->steep <= s->between) continue;
    if (s->between > d.between) d.between = s->between;
    s->b.descents[kept++] = d;
  }
  s->open = kept;
}

/* Predecessor correction: the last position in [first, last] that was reached from
 * within. */
static size_t without_tail(const scan *s, size_t first, size_t last) {
  if (s->keep_tails) return last;
  for (; last > first && !(s->reachability[last] < s->reachability[first]); last--) {
    size_t predecessor = s->predecessor[last];
    if (predecessor == SIZE_MAX) continue;
    size_t position = s->b.position[predecessor];
    if (position >= first && position < last) break;
  }
  return last;
}

static void add_cluster(scan *s, size_t first, size_t last) {
  if (s->count < s->capacity) {
    s->clusters[2 * s->count] = first;
    s->clusters[2 * s->count + 1] = last;
  }
  s->count++;
  if (!s->labelled) return;
  for (size_t i = last + 1; i-- > first;) {
    if (s->b.label[i] >= 0) return;
  }
  for (size_t i = first; i <= last; i++) s->b.label[i] = s->labels;
  s->labels++;
}

/* The cluster from a descent to a rise that ends at `last`, if there is one. */
static void pair(scan *s, const descent *d, size_t last) {
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
  if (last - first + 1 >= s->min_points) add_cluster(s, first, last);
}

static void find_clusters(scan *s) {
  while (s->at < s->n) {
    size_t start = s->at;
    s->between = fmax(s->between, height(s, start));
    if (falls(s, start, s->steep)) {
      keep_descents(s);
      s->b.descents[s->open++] = (descent){height(s, start), 0, (uint32_t)start};
      s->between = 0;
      walk_area(s, falls, false);
    } else if (rises(s, start, s->steep)) {
      keep_descents(s);
      size_t last = walk_area(s, rises, true);
      s->between = height(s, last);
      for (size_t i = s->open; i-- > 0;) pair(s, &s->b.descents[i], last);
    } else {
      s->at++;
    }
  }
}

static bool comes_before(const size_t *a, const size_t *b) {
  return a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]);
}

static void sift(size_t *heap, size_t root, size_t count) {
  size_t value[2] = {heap[2 * root], heap[2 * root + 1]};
  for (size_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && comes_before(heap + 2 * child, heap + 2 * (child + 1))) {
      child++;
    }
    if (!comes_before(value, heap + 2 * child)) break;
    heap[2 * root] = heap[2 * child];
    heap[2 * root + 1] = heap[2 * child + 1];
  }
  heap[2 * root] = value[0];
  heap[2 * root + 1] = value[1];
}

/* Heapsort of pairs: in place, which qsort() does not promise. */
static void sort_pairs(size_t *pairs, size_t count) {
  for (size_t i = count / 2; i-- > 0;) sift(pairs, i, count);
  for (size_t i = count; i-- > 1;) {
    for (size_t k = 0; k < 2; k++) {
      size_t top = pairs[k];
      pairs[k] = pairs[2 * i + k];
      pairs[2 * i + k] = top;
    }
    sift(pairs, 0, i);
  }
}

/* Labels by point, numbered in the order of first points. */
static void give_labels(const scan *s, const size_t *order, int32_t *labels) {
  int32_t found = -1, name = -1, next = -1;
  for (size_t i = 0; i < s->n; i++) {
    int32_t label = s->b.label[i];
    /* What is labelled is an interval, so a change of label is a new cluster. */
    if (label != found) {
      found = label;
      name = label < 0 ? -1 : ++next;
    }
    labels[order[i]] = name;
  }
}

static tsanom_status check(const size_t *order, const double *reachability,
                           const size_t *predecessor, size_t n) {
  for (size_t k = 0; k < n; k++) {
    bool bad_predecessor =
        predecessor && predecessor[k] >= n && predecessor[k] != SIZE_MAX;
    if (order[k] >= n || bad_predecessor) return TSANOM_E_VALUE;
  }
  return tsn_optics_are_distances(reachability, n) ? TSANOM_OK : TSANOM_E_VALUE;
}

/* Fill b->position; false if order is no permutation. */
static bool find_positions(const size_t *order, size_t n, const buffers *b) {
  for (size_t k = 0; k < n; k++) b->position[k] = UINT32_MAX;
  for (size_t k = 0; k < n; k++) {
    if (b->position[order[k]] != UINT32_MAX) return false;
    b->position[order[k]] = (uint32_t)k;
    b->label[k] = -1;
  }
  return true;
}

tsanom_status tsanom_optics_xi(const size_t *order, const double *reachability,
                               const size_t *predecessor, size_t n,
                               const tsanom_optics_xi_options *options,
                               const tsanom_exec *exec, void *work, size_t work_bytes,
                               size_t *clusters, size_t capacity, size_t *count,
                               int32_t *labels) {
  if (!order || !reachability || !count || (capacity && !clusters)) return TSANOM_E_NULL;
  tsanom_optics_xi_options own;
  tsanom_exec how;
  tsanom_status status = read_options(&own, options);
  if (status == TSANOM_OK) status = tsn_exec_read(&how, exec);
  if (status == TSANOM_OK) status = tsn_optics_check_count(n);
  if (status != TSANOM_OK) return status;
  if (!predecessor && !own.keep_tails) return TSANOM_E_NULL;
  status = check(order, reachability, predecessor, n);
  if (status < 0) return status;
  scan s = {.reachability = reachability,
            .predecessor = predecessor,
            .n = n,
            .min_points = own.min_points,
            .steep = 1 - own.xi,
            .keep_tails = own.keep_tails,
            .clusters = clusters,
            .capacity = capacity,
            .labelled = labels};
  tsn_arena measured = tsn_arena_measure();
  layout(&measured, n, &s.b);
  tsn_workspace workspace;
  status = tsn_workspace_borrow(&workspace, &measured, &how, work, work_bytes);
  if (status < 0) return status;
  layout(&workspace.arena, n, &s.b);
  if (find_positions(order, n, &s.b)) {
    find_clusters(&s);
    sort_pairs(clusters, s.count < capacity ? s.count : capacity);
    *count = s.count;
    if (labels) give_labels(&s, order, labels);
    status = s.count > capacity && capacity ? TSANOM_PARTIAL : TSANOM_OK;
  } else {
    status = TSANOM_E_VALUE;
  }
  tsn_workspace_close(&workspace);
  return status;
}
