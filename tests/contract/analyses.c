/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of roughset, hsa, optics and spmd, each on a small and on a large input. The
 * program that calls them decides what is checked around a call. Each call has a
 * workspace of exactly the size that it asked for; where it creates a model, one block of
 * that size. */
#include "contract/calls.h"
#include "hsa/synthetic.h"
#include "roughset/tables.h"
#include "support/exec.h"

static void roughset(size_t rows, size_t attributes, const tsanom_exec *exec) {
  enum { CAPACITY = 1 << 18 };
  int32_t *values = take(rows * attributes, sizeof *values);
  int32_t *decision = take(rows, sizeof *decision),
          *positive = take(rows, sizeof *positive);
  uint64_t *elements = take(CAPACITY, sizeof *elements), core, reduct;
  fill_family(FAMILY_MIXED, rows, attributes, values, decision);
  tsanom_roughset_table table = table_of(values, decision, rows, attributes);
  tsanom_roughset_options options; /* of reducts; the others use the defaults */
  tsanom_roughset_options_init(&options, sizeof options);
  options.reduct_limit = 20000;
  tsanom_roughset_bounds bounds;
  size_t count, found, size;
  double gamma;
  WATCH_IN_WORKSPACE(
      exec, tsanom_roughset_elements(&table, NULL, &own, elements, CAPACITY, &count));
  WATCH_IN_WORKSPACE(exec, tsanom_roughset_reducts(elements, count, attributes, &options,
                                                   &own, NULL, &found));
  WATCH_IN_WORKSPACE(exec, tsanom_roughset_core(&table, NULL, &own, &core));
  WATCH_IN_WORKSPACE(
      exec, tsanom_roughset_minimum(&table, NULL, &own, NULL, &bounds, &reduct, &found));
  WATCH_IN_WORKSPACE(exec, tsanom_roughset_greedy(&table, NULL, &own, &reduct, &size));
  WATCH_IN_WORKSPACE(exec, tsanom_roughset_dependency(&table, &reduct, NULL, &own,
                                                      positive, &size, &gamma));
  free(elements);
  free(positive);
  free(decision);
  free(values);
}

/* An allocator that does not touch the heap: it gives one block. */
typedef struct {
  void *memory;
  size_t bytes;
} one_block;

static void *take_block(void *user, size_t bytes) {
  const one_block *block = user;
  return bytes <= block->bytes ? block->memory : NULL;
}

static void keep_block(void *user, void *memory) {
  (void)user;
  (void)memory;
}

static tsanom_exec in_block(const tsanom_exec *exec, one_block *block) {
  tsanom_exec own;
  tsanom_exec_init(&own, sizeof own);
  if (exec) own = *exec;
  own.alloc = take_block;
  own.dealloc = keep_block;
  own.alloc_user = block;
  return own;
}

static void hsa(size_t run_count, size_t beats, const tsanom_exec *exec) {
  uint64_t seed = 8;
  synthetic_kind kind = synthetic_steady();
  kind.beats = beats;
  tsanom_hsa_run *runs = take(run_count, sizeof *runs);
  for (size_t i = 0; i < run_count; i++) runs[i] = synthetic_run(&kind, &seed);
  tsanom_hsa_verdict *verdict = take(kind.threads, sizeof *verdict);
  *verdict = (tsanom_hsa_verdict){.struct_size = sizeof *verdict};
  size_t bytes;
  tsanom_hsa_model *model;
  tsanom_exec ask = ask_exec(exec, &bytes);
  NEED(tsanom_hsa_learn(runs, run_count, NULL, &ask, &model) == TSANOM_E_WORKSPACE);
  one_block block = {take(bytes, 1), bytes};
  tsanom_exec with_work = in_block(exec, &block);
  WATCH(tsanom_hsa_learn(runs, run_count, NULL, &with_work, &model));
  WATCH_IN_WORKSPACE(exec,
                     tsanom_hsa_diagnose(model, runs, &own, verdict, kind.threads, NULL));
  free(block.memory);
  free(verdict);
  for (size_t i = 0; i < run_count; i++) synthetic_free(&runs[i]);
  free(runs);
}

static void optics(size_t n, const tsanom_exec *exec) {
  double *points = random_series(2 * n, 9), *reachability = take(n, sizeof(double));
  double *core_distance = take(n, sizeof(double)), cut, probability;
  size_t *order = take(n, sizeof *order), *predecessor = take(n, sizeof *order);
  int32_t *labels = take(n, sizeof *labels);
  size_t clusters;
  tsanom_optics_ordering ordering = {.struct_size = sizeof ordering};
  ordering.order = order;
  ordering.reachability = reachability;
  ordering.predecessor = predecessor;
  ordering.core_distance = core_distance;
  for (int32_t way = TSANOM_OPTICS_SEARCH_EXHAUSTIVE; way <= TSANOM_OPTICS_SEARCH_TREE;
       way++) {
    tsanom_optics_options options;
    tsanom_optics_options_init(&options, sizeof options);
    options.search = way;
    WATCH_IN_WORKSPACE(exec,
                       tsanom_optics_order(points, n, 2, 2, &options, &own, &ordering));
  }
  for (size_t min_points = 0; min_points <= 5; min_points += 5) {
    ordering.min_points = min_points;
    WATCH_IN_WORKSPACE(exec, tsanom_optics_split(&ordering, NULL, &own, labels, &clusters,
                                                 &cut, &probability));
  }
  size_t *found = take(2 * n, sizeof *found);
  WATCH_IN_WORKSPACE(
      exec, tsanom_optics_xi(&ordering, NULL, &own, found, n, &clusters, labels));
  free(found);
  free(labels);
  free(predecessor);
  free(order);
  free(core_distance);
  free(reachability);
  free(points);
}

static void spmd(size_t processes, size_t regions, const tsanom_exec *exec) {
  int32_t *parent = take(regions, sizeof *parent);
  double *time = take(processes * regions, sizeof *time);
  for (size_t k = 0; k < regions; k++) parent[k] = k % 4 ? (int32_t)(k / 4 * 4) : -1;
  for (size_t i = 0; i < processes; i++) {
    for (size_t k = 0; k < regions; k++) {
      time[i * regions + k] = k % 4 ? 1 : 3;
      if (k < 2) time[i * regions + k] += (double)(i % 3);
    }
  }
  tsanom_spmd_data data;
  tsanom_spmd_report report;
  data = (tsanom_spmd_data){.struct_size = sizeof data};
  report = (tsanom_spmd_report){.struct_size = sizeof report};
  data.processes = processes;
  data.regions = regions;
  data.parent = parent;
  data.time = time;
  WATCH_IN_WORKSPACE(exec, tsanom_spmd_analyze(&data, NULL, &own, &report));
  free(time);
  free(parent);
}

void call_analyses(const tsanom_exec *exec) {
  roughset(20, 6, exec);
  roughset(1500, 16, exec);
  hsa(3, 300, exec);
  hsa(150, 300, exec);
  optics(20, exec);
  optics(3000, exec);
  spmd(4, 8, exec);
  spmd(64, 40, exec);
}
