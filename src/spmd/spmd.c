/* SPDX-License-Identifier: BSD-3-Clause */
/* The analysis as a whole: workspace, order of the parts, report. */
#include <string.h>

#include "spmd/spmd_internal.h"

static tsanom_status layout(tsn_arena *arena, const tsn_spmd_input *input,
                            tsn_spmd_buffers *b) {
  size_t processes = input->data.processes, regions = input->data.regions;
  size_t more = processes > regions ? processes : regions;
  tsn_spmd_points *p = &b->points;
  p->count = processes;
  size_t stride = (regions + 8) / 8 * 8;
  if (processes > SIZE_MAX / stride) return TSANOM_E_OVERFLOW;
  p->at = tsn_arena_take(arena, processes * stride, sizeof *p->at);
  p->weight = tsn_arena_take(arena, stride, sizeof *p->weight);
  p->centroid = tsn_arena_take(arena, stride, sizeof *p->centroid);
  p->away = tsn_arena_take(arena, processes, sizeof *p->away);
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
  b->key = tsn_arena_take(arena, more, sizeof *b->key);
  tsanom_status status = tsn_spmd_optics_layout(arena, input, &b->optics);
  return status < 0 ? status : tsn_spmd_table_layout(arena, input, &b->table);
}

tsanom_status tsanom_spmd_workspace(size_t processes, size_t regions, size_t metrics,
                                    const tsanom_spmd_options *options,
                                    const tsanom_exec *exec, size_t *bytes) {
  tsn_spmd_input input;
  tsn_spmd_buffers buffers;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = tsn_spmd_read_options(&input, options, exec);
  if (status < 0) return status;
  if (processes < 1 || processes > INT32_MAX || regions < 1 || regions > INT32_MAX ||
      metrics > INT32_MAX) {
    return TSANOM_E_COUNT;
  }
  input.data =
      (tsanom_spmd_data){.processes = processes, .regions = regions, .metrics = metrics};
  tsn_arena arena = tsn_arena_measure();
  if ((status = layout(&arena, &input, &buffers)) < 0) return status;
  return tsn_arena_bytes(&arena, bytes);
}

/* Steps that come after every check; the report is whole whatever they return. */
static tsanom_status analyse(const tsn_spmd_input *input, tsn_spmd_buffers *b,
                             tsanom_spmd_report *report) {
  tsanom_status status = tsn_spmd_search(input, b, report);
  tsn_spmd_balance(input, b, report);
  if (report->class_of) {
    memcpy(report->class_of, b->base, input->data.processes * sizeof *b->base);
  }
  if (status == TSANOM_OK) status = tsn_spmd_cause(input, b, report);
  if (status != TSANOM_OK) return status;
  bool short_of = report->limited ||
                  (report->decision && report->decisions > report->decision_capacity) ||
                  (report->member && report->members > report->member_capacity) ||
                  (report->reduct && report->reducts > report->reduct_capacity);
  return short_of ? TSANOM_PARTIAL : TSANOM_OK;
}

tsanom_status tsanom_spmd_analyse(const tsanom_spmd_data *data,
                                  const tsanom_spmd_options *options,
                                  const tsanom_exec *exec, void *work, size_t work_bytes,
                                  tsanom_spmd_report *report) {
  tsn_spmd_input input;
  tsn_spmd_buffers buffers = {0};
  tsn_workspace workspace;
  tsanom_spmd_report own;
  tsanom_status status = tsn_spmd_read_report(report, &own);
  if (status < 0) return status;
  if ((status = tsn_spmd_read_options(&input, options, exec)) < 0) return status;
  if ((status = tsn_spmd_read_data(&input, data)) < 0) return status;
  tsn_arena measured = tsn_arena_measure();
  if ((status = layout(&measured, &input, &buffers)) < 0) return status;
  status = tsn_workspace_borrow(&workspace, &measured, &input.exec, work, work_bytes);
  if (status < 0) return status;
  layout(&workspace.arena, &input, &buffers);
  status = tsn_spmd_levels(&input, buffers.level);
  if (status == TSANOM_OK) {
    status = analyse(&input, &buffers, &own);
    if (status >= 0) {
      size_t known = own.struct_size < sizeof own ? own.struct_size : sizeof own;
      memcpy(report, &own, known);
    }
  }
  tsn_workspace_close(&workspace);
  return status;
}
