/* SPDX-License-Identifier: BSD-3-Clause */
/* Codes of a column: by cuts, or by clusters.
 *
 *     cuts       c_0 < c_1 < c_2        code 0 | c_0  code 1 | c_1  code 2 | c_2  code 3
 *     samples    code = number of cuts <= sample; NaN: a missing value
 *     clusters   code = number of the label by first appearance; noise by an option
 *
 * Intervals are closed below, so that a cut itself has the code above it. Codes by first
 * appearance do not depend on how a clustering numbers its labels. */
#include <math.h>
#include <tsanom/roughset.h>

#include "core/check.h"
#include "core/environment.h"
#include "core/size.h"
#include "roughset/table.h"

/* Whether the last of `count` codes, `ld` apart, can exist. */
static bool codes_fit(size_t count, size_t ld) {
  return tsn_array_fits(ld, sizeof(int32_t)) &&
         tsn_array_fits(count, ld * sizeof(int32_t));
}

tsanom_status tsanom_roughset_code(const double *samples, size_t count,
                                   const double *cuts, size_t cut_count, int32_t *codes,
                                   size_t ld) {
  if (!samples || !codes || (cut_count > 0 && !cuts)) return TSANOM_E_NULL;
  if (count == 0) return TSANOM_E_COUNT;
  if (ld == 0 || cut_count > INT32_MAX) return TSANOM_E_OPTION;
  if (!tsn_array_fits(count, sizeof *samples) || !codes_fit(count, ld)) {
    return TSANOM_E_OVERFLOW;
  }
  if (!tsn_all_finite(cuts, cut_count)) return TSANOM_E_NONFINITE;
  for (size_t k = 1; k < cut_count; k++) {
    if (!(cuts[k - 1] < cuts[k])) return TSANOM_E_ORDER;
  }
  tsn_environment before = tsn_environment_enter();
  for (size_t i = 0; i < count; i++) {
    size_t low = 0, high = cut_count;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (samples[i] >= cuts[middle]) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    codes[i * ld] = isnan(samples[i]) ? TSANOM_ROUGHSET_MISSING : (int32_t)low;
  }
  tsn_environment_leave(before);
  return TSANOM_OK;
}

typedef struct {
  tsanom_exec exec;
  const int32_t *labels;
  size_t count;
  int32_t noise, *codes;
  size_t ld;
  tsn_rs_index index;
  uint32_t *group; /* of each label, numbered by first appearance */
} clusters_call;

static void layout(tsn_arena *arena, void *context) {
  clusters_call *c = context;
  tsn_rs_index_layout(arena, c->count, 1, &c->index);
  c->group = tsn_arena_take(arena, c->count, sizeof *c->group);
}

static tsanom_status read_call(clusters_call *c, const tsanom_exec *exec) {
  tsanom_status status = tsn_exec_read(&c->exec, exec);
  if (status < 0) return status;
  if (c->count >= 1 && c->count <= INT32_MAX) return TSANOM_OK;
  return tsn_reject(&c->exec, TSANOM_E_COUNT, "count");
}

tsanom_status tsanom_roughset_code_clusters_workspace(size_t count,
                                                      const tsanom_exec *exec,
                                                      size_t *bytes) {
  clusters_call c = {.count = count};
  tsanom_status status = read_call(&c, exec);
  return status < 0 ? status : tsn_workspace_query(&c.exec, layout, &c, bytes);
}

/* Number the labels. Noise is one label of the clustering, and is taken out of the
 * numbers: it becomes the code after the last cluster, a code of its own for each sample,
 * or a missing value. */
static tsanom_status body(void *context) {
  clusters_call *c = context;
  tsn_rs_projection p = {.values = c->labels, .stride = 1, .count = 1, .rows = c->count};
  size_t groups = tsn_rs_group(&p, &c->index, c->group);
  uint32_t noisy = UINT32_MAX;
  for (size_t g = 0; g < groups; g++) {
    if (c->labels[c->index.first[g]] == TSANOM_NOISE) noisy = (uint32_t)g;
  }
  int32_t next = (int32_t)(groups - (noisy != UINT32_MAX));
  for (size_t i = 0; i < c->count; i++) {
    uint32_t g = c->group[i];
    int32_t code = (int32_t)g - (g > noisy);
    if (g == noisy) {
      code = c->noise == TSANOM_ROUGHSET_NOISE_MISSING ? TSANOM_ROUGHSET_MISSING : next;
      if (c->noise == TSANOM_ROUGHSET_NOISE_APART) next++;
    }
    c->codes[i * c->ld] = code;
  }
  return TSANOM_OK;
}

tsanom_status tsanom_roughset_code_clusters(const int32_t *labels, size_t count,
                                            int32_t noise, const tsanom_exec *exec,
                                            int32_t *codes, size_t ld) {
  clusters_call c = {
      .labels = labels, .count = count, .noise = noise, .codes = codes, .ld = ld};
  tsanom_status status = read_call(&c, exec);
  if (status < 0) return status;
  exec = &c.exec;
  if (!labels) return tsn_reject(exec, TSANOM_E_NULL, "labels");
  if (!codes) return tsn_reject(exec, TSANOM_E_NULL, "codes");
  if (noise < TSANOM_ROUGHSET_NOISE_SHARED || noise > TSANOM_ROUGHSET_NOISE_MISSING) {
    return tsn_reject(exec, TSANOM_E_OPTION, "noise");
  }
  if (ld == 0) return tsn_reject(exec, TSANOM_E_OPTION, "ld");
  if (!codes_fit(count, ld)) return tsn_reject(exec, TSANOM_E_OVERFLOW, "ld");
  for (size_t i = 0; i < count; i++) {
    if (labels[i] < TSANOM_NOISE) {
      return tsn_reject_at(exec, TSANOM_E_VALUE, "labels", i);
    }
  }
  return tsn_workspace_run(exec, layout, body, &c);
}
