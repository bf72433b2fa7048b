/* SPDX-License-Identifier: BSD-3-Clause */
/* The analysis as a whole:
 *
 *     critical regions          search.c; classes by classify.c, eps' by cut.c
 *                               and noise.c
 *     balance and verdict       balance.c
 *     root causes               cause.c
 *
 * A search that the poll stops leaves a report that is valid as far as it goes: balance
 * is computed in any case, root causes only for a complete search.
 *
 * Source: "A Novel Similarity Analysis and Rough Set Method", sections 3 and 4. Balance
 * is not in the paper (docs/spmd.md). */
#include <string.h>

#include "core/size.h"
#include "spmd/spmd_internal.h"

/* The region tree: nested hierarchies from parent indices in any order.
 *
 *     region     0  1  2  3  4           1
 *     parent     2  -  1  0  1           +-- 2 -- 0 -- 3
 *     level      3  1  2  4  2           +-- 4
 *
 * If the outermost region is the program itself, levels start at 0.
 *
 * A recorder notes regions in the order in which they are entered, and a caller in any
 * order, so that a parent may come after its children. Levels are found by climbing, and
 * each climb ends at a region whose level is known: O(regions) in all, without recursion,
 * as trees may be as deep as there are regions. */

enum { UNKNOWN = -1, ON_PATH = -2 };

/* Follow the parents from region k up to one whose level is known, and number the regions
 * on the way back. Each region is visited at most twice in all. */
static tsanom_status climb(const int32_t *parent, size_t k, int32_t outermost,
                           int32_t *level) {
  int32_t depth = 0;
  size_t at = k;
  while (level[at] == UNKNOWN) {
    level[at] = ON_PATH;
    depth++;
    if (parent[at] == TSANOM_SPMD_NONE) break;
    at = (size_t)parent[at];
  }
  int32_t above;
  if (level[at] == ON_PATH) {
    if (parent[at] != TSANOM_SPMD_NONE) return TSANOM_E_FORMAT;
    above = outermost - 1;
  } else {
    above = level[at];
  }
  for (at = k; depth > 0; depth--) {
    level[at] = above + depth;
    if (depth > 1) at = (size_t)parent[at];
  }
  return TSANOM_OK;
}

/* The nested hierarchy of each region, O(regions). TSANOM_E_INDEX: a parent is
 * not a region; TSANOM_E_FORMAT: the parents form a cycle; TSANOM_E_COUNT: several
 * programs. */
static tsanom_status find_levels(const tsn_spmd_input *input, int32_t *level) {
  const int32_t *parent = input->data.parent;
  size_t regions = input->data.regions, roots = 0;
  bool program = input->options.tree == TSANOM_SPMD_PROGRAM;
  for (size_t k = 0; k < regions; k++) {
    if (parent[k] < TSANOM_SPMD_NONE ||
        (parent[k] >= 0 && (size_t)parent[k] >= regions)) {
      return tsn_reject_is(&input->exec, TSANOM_E_INDEX, "data.parent", k,
                           "%d; one of %zu regions is expected, or TSANOM_SPMD_NONE",
                           (int)parent[k], regions);
    }
    roots += parent[k] == TSANOM_SPMD_NONE;
    level[k] = UNKNOWN;
  }
  for (size_t k = 0; k < regions; k++) {
    if (level[k] != UNKNOWN) continue;
    tsanom_status status = climb(parent, k, program ? 0 : 1, level);
    if (status < 0) {
      return tsn_reject_is(&input->exec, status, "data.parent", k,
                           "%d, which is nested in region %zu itself; a tree is expected",
                           (int)parent[k], k);
    }
  }
  if (!program || roots == 1) return TSANOM_OK;
  return tsn_reject_text(&input->exec, TSANOM_E_COUNT, "data.parent", TSANOM_NONE,
                         "%zu regions have no parent; one is expected, the program",
                         roots);
}

/* One call. */
typedef struct {
  tsn_spmd_input input;
  tsn_spmd_buffers buffers;
  tsanom_spmd_report *report; /* the caller's */
  tsanom_spmd_report own;
} analysis;

static void layout(tsn_arena *arena, void *context) {
  analysis *a = context;
  tsn_spmd_buffers *b = &a->buffers;
  size_t processes = a->input.data.processes, regions = a->input.data.regions;
  size_t ld = tsn_round_up(regions + 1, 8);
  tsn_spmd_points *p = &b->points;
  p->count = processes;
  p->at = tsn_arena_take(arena, processes, ld * sizeof *p->at);
  p->weight = tsn_arena_take(arena, ld, sizeof *p->weight);
  p->centroid = tsn_arena_take(arena, ld, sizeof *p->centroid);
  p->tile = tsn_arena_take(arena, tsn_spmd_tile_elements(ld), sizeof *p->tile);
  p->away = tsn_arena_take(arena, processes, sizeof *p->away);
  p->split = tsn_arena_take(arena, tsn_spmd_near_nodes(processes), sizeof *p->split);
  p->node = tsn_arena_take(arena, 2 * tsn_spmd_near_nodes(processes), sizeof *p->node);
  p->open = tsn_arena_take(arena, processes, sizeof *p->open);
  p->queued = tsn_arena_take(arena, processes, sizeof *p->queued);
  b->base = tsn_arena_take(arena, processes, sizeof *b->base);
  b->trial = tsn_arena_take(arena, processes, sizeof *b->trial);
  b->level = tsn_arena_take(arena, regions, sizeof *b->level);
  b->list = tsn_arena_take(arena, regions * 2, sizeof *b->list);
  b->slot = tsn_arena_take(arena, regions, sizeof *b->slot);
  b->pick = tsn_arena_take(arena, regions, sizeof *b->pick);
  b->meet = tsn_arena_take(arena, regions, sizeof *b->meet);
  b->role = tsn_arena_take(arena, regions, sizeof *b->role);
  b->key = tsn_arena_take(arena, tsn_larger(processes, regions), sizeof *b->key);
  tsn_spmd_optics_layout(arena, &a->input, &b->optics);
  tsn_spmd_table_layout(arena, &a->input, &b->table);
  a->input.inner.work = tsn_arena_take(arena, a->input.inner.work_bytes, 1);
  p->row = a->input.inner.work; /* the order of the points takes more, and is over */
  p->isa = a->input.exec.isa;
}

/* Workspace of the inner calls: the largest of them. It is part of the workspace of this
 * call, so that with a workspace of the caller nothing is allocated anywhere. */
static tsanom_status measure_inner(tsn_spmd_input *input) {
  size_t optics, table;
  tsanom_status status = tsn_spmd_optics_bytes(input, &optics);
  if (status >= 0) status = tsn_spmd_table_bytes(input, &table);
  if (status < 0) {
    return tsn_reject_is(
        &input->exec, status, "data.processes", TSANOM_NONE,
        "%zu; fewer are expected: the workspace exceeds the address space",
        input->data.processes);
  }
  input->inner.work_bytes = tsn_larger(optics, table);
  return TSANOM_OK;
}

/* Everything after the checks. The report is complete whatever the result. */
static tsanom_status analyze(analysis *a) {
  const tsn_spmd_input *input = &a->input;
  tsn_spmd_buffers *b = &a->buffers;
  tsanom_spmd_report *report = &a->own;
  b->watch = (tsn_spmd_watch){.exec = &input->exec, .total = input->data.regions};
  b->points.watch = &b->watch;
  tsn_spmd_poll(&b->watch, input->data.processes * input->data.regions); /* the checks */
  tsanom_status status = tsn_spmd_search(input, b, report);
  tsn_spmd_balance(input, b, report);
  if (report->class_of) {
    memcpy(report->class_of, b->base, input->data.processes * sizeof *b->base);
  }
  if (status == TSANOM_OK) status = tsn_spmd_cause(input, b, report);
  if (status != TSANOM_OK) return status;
  bool is_cut = report->limited ||
                (report->decision && report->decisions > report->decision_capacity) ||
                (report->member && report->members > report->member_capacity) ||
                (report->reduct && report->reducts > report->reduct_capacity);
  return is_cut ? TSANOM_PARTIAL : TSANOM_OK;
}

static tsanom_status body(void *context) {
  analysis *a = context;
  tsanom_status status = find_levels(&a->input, a->buffers.level);
  if (status < 0) return status;
  status = analyze(a);
  if (status < 0) {
    return tsn_reject_text(&a->input.exec, status, "data", TSANOM_NONE,
                           "a part of the analysis is not possible: %s",
                           tsanom_status_text(status));
  }
  tsn_spmd_write_report(a->report, &a->own);
  return status;
}

static tsanom_status check(void *context) {
  const analysis *a = context;
  tsanom_status status = tsn_require(&a->input.exec, a->report, "report");
  return status < 0 ? status : tsn_spmd_check_arrays(&a->input);
}

tsanom_status tsanom_spmd_analyze(const tsanom_spmd_data *data,
                                  const tsanom_spmd_options *options,
                                  const tsanom_exec *exec, tsanom_spmd_report *report) {
  analysis a = {.report = report};
  tsanom_status status = tsn_spmd_read_options(&a.input, options, exec);
  if (status < 0) return status;
  exec = &a.input.exec;
  if (report) {
    status = tsn_spmd_read_report(report, exec, &a.own);
    if (status < 0) return status;
  }
  if ((status = tsn_spmd_read_data(&a.input, data)) < 0) return status;
  if ((status = measure_inner(&a.input)) < 0) return status;
  return tsn_workspace_run(exec, layout, check, body, &a);
}
