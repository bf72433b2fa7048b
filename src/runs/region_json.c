/* SPDX-License-Identifier: BSD-3-Clause */
/* The region file, JSON:
 *
 *   { "regions": [{"name": NAME, "parent": NAME or null}, ...],
 *     "time":    [[seconds by region], ... by process],
 *     "processes": [NAME, ...],                                      optional
 *     "metrics": [{"name": NAME, "value": [as time, or null]}, ...], optional
 *     "elapsed": seconds }                                           optional
 *
 * The members are taken in this order, whatever their order in the file: names of
 * regions determine the length of rows, rows of time the number of processes, both the
 * size of the metrics.
 *
 * Each matrix is passed over twice, first for its shape, then for its numbers. So memory
 * is allocated only for a matrix that is there, and never exceeds a multiple of the
 * file: 10,000 regions and 10,000 empty rows are rejected before 800 MB are taken. */
#include <math.h>
#include <string.h>

#include "core/size.h"
#include "runs/checked_json.h"
#include "runs/memory.h"
#include "runs/source.h"
#include "runs/spmd.h"

enum { SHOWN = 64 }; /* bytes of a name in a message */

typedef struct {
  json_place at;
  const json_t *json;
  /* The file is one process's, in RUN/spmd. */
  bool is_part;
  /* Freed at the end. */
  tsn_pool scratch;
  tsn_spmd *spmd;
} parser;

/* A name, not empty and not among those before it: names are the keys by which the files
 * of processes are merged. */
static tsanom_status take_name(const parser *p, const json_t *value, const char *key,
                               tsn_names *names) {
  const char *name = json_string_value(value);
  if (!name || !*name) return tsn_json_bad(&p->at, key, "a name is expected");
  size_t before = names->count, number = tsn_names_number(names, name);
  if (number == TSANOM_NONE) return tsn_json_no_memory(&p->at);
  if (names->count > before) return TSANOM_OK;
  return tsn_json_bad(&p->at, key, "\"%.*s\" is used twice", SHOWN, name);
}

static tsanom_status take_region(parser *p, const json_t *all, size_t k,
                                 tsn_names *names) {
  const json_t *region = json_array_get(all, k);
  (void)snprintf(p->at.path, sizeof p->at.path, "regions[%zu]", k);
  if (!json_is_object(region)) {
    return tsn_json_bad(&p->at, "", "an object is expected");
  }
  (void)snprintf(p->at.path, sizeof p->at.path, "regions[%zu].", k);
  return take_name(p, json_object_get(region, "name"), "name", names);
}

/* After all names, since a region may be nested in one that the file lists later. */
static tsanom_status take_parent(parser *p, const json_t *all, size_t k,
                                 const tsn_names *names) {
  const json_t *parent = json_object_get(json_array_get(all, k), "parent");
  (void)snprintf(p->at.path, sizeof p->at.path, "regions[%zu].", k);
  p->spmd->parent[k] = TSANOM_SPMD_NONE;
  if (!parent || json_is_null(parent)) return TSANOM_OK;
  if (!json_is_string(parent)) {
    return tsn_json_bad(&p->at, "parent", "the name of a region, or null, is expected");
  }
  const char *name = json_string_value(parent);
  size_t found = tsn_names_find(names, name);
  if (found == TSANOM_NONE) {
    return tsn_json_bad(&p->at, "parent", "\"%.*s\" is not a region of this file", SHOWN,
                        name);
  }
  p->spmd->parent[k] = (int32_t)found;
  return TSANOM_OK;
}

/* Regions nested in each other in a circle would make every walk to the root endless.
 * Walk up from each region to one that is known to end at a root:
 *
 *   UNKNOWN ──visited in this walk──▶ ON_PATH ──the walk ended well──▶ GOOD
 *   a walk that comes to ON_PATH has met itself
 *
 * Each region is walked over once, so that deep trees are checked in linear time. */
static tsanom_status check_tree(parser *p) {
  enum { UNSEEN, ON_PATH, GOOD };
  const tsn_spmd *s = p->spmd;
  unsigned char *state = tsn_pool_take(&p->scratch, s->data.regions, 1);
  if (!state) return tsn_json_no_memory(&p->at);
  for (size_t k = 0; k < s->data.regions; k++) {
    int32_t j = (int32_t)k;
    for (; j >= 0 && state[j] == UNSEEN; j = s->parent[j]) state[j] = ON_PATH;
    if (j >= 0 && state[j] == ON_PATH) {
      (void)snprintf(p->at.path, sizeof p->at.path, "regions[%zu].", k);
      return tsn_json_bad(&p->at, "parent", "the region is nested in itself");
    }
    for (j = (int32_t)k; j >= 0 && state[j] == ON_PATH; j = s->parent[j]) state[j] = GOOD;
  }
  return TSANOM_OK;
}

static tsanom_status take_regions(parser *p) {
  tsn_spmd *s = p->spmd;
  tsn_names names;
  const json_t *all = tsn_json_member(&p->at, p->json, "regions", JSON_ARRAY);
  if (!all) return TSANOM_E_FORMAT;
  size_t count = json_array_size(all);
  if ((!count && !p->is_part) || count > TSN_REGIONS_MOST) {
    return tsn_json_bad(&p->at, "regions", "1 to 16384 regions are expected");
  }
  s->parent = tsn_pool_take(&s->pool, count, sizeof *s->parent);
  if (!s->parent || !tsn_names_create(&names, &s->pool, count)) {
    return tsn_json_no_memory(&p->at);
  }
  s->region = names.name;
  s->data.regions = count;
  tsanom_status status = TSANOM_OK;
  for (size_t k = 0; k < count && status == TSANOM_OK; k++) {
    status = take_region(p, all, k, &names);
  }
  for (size_t k = 0; k < count && status == TSANOM_OK; k++) {
    status = take_parent(p, all, k, &names);
  }
  if (status == TSANOM_OK) status = check_tree(p);
  p->at.path[0] = '\0';
  return status;
}

static tsanom_status check_row(const parser *p, const json_t *line) {
  size_t regions = p->spmd->data.regions, given = json_array_size(line);
  if (!json_is_array(line)) return tsn_json_bad(&p->at, "", "an array is expected");
  if (given == regions) return TSANOM_OK;
  if (given > regions) {
    return tsn_json_bad(&p->at, "", "%zu numbers, one for each region, are expected",
                        regions);
  }
  return tsn_json_bad(&p->at, "",
                      "%zu numbers, one for each region, are expected; the first missing "
                      "one is that of region \"%.*s\"",
                      regions, SHOWN, p->spmd->region[given]);
}

/* A number for each region; null where a metric was not measured. A time must be there.
 */
static tsanom_status take_row(const parser *p, const json_t *line, bool is_time,
                              double *values) {
  for (size_t k = 0; k < p->spmd->data.regions; k++) {
    const json_t *item = json_array_get(line, k);
    char place[48];
    (void)snprintf(place, sizeof place, "[%zu]", k);
    values[k] = json_is_null(item) && !is_time ? NAN : json_number_value(item);
    if (!json_is_number(item) && (is_time || !json_is_null(item))) {
      return tsn_json_bad(&p->at, place, "%s",
                          is_time ? "a time is expected"
                                  : "a number, or null where none was measured, is "
                                    "expected");
    }
    if (is_time && values[k] < 0) {
      return tsn_json_bad(&p->at, place, "a time must be >= 0");
    }
  }
  return TSANOM_OK;
}

/* With `values` NULL, check the shape only: memory is taken afterwards, and so never
 * exceeds a multiple of the file. */
static tsanom_status take_matrix(parser *p, const json_t *rows, const char *key,
                                 bool is_time, double *values) {
  const tsanom_spmd_data *d = &p->spmd->data;
  char prefix[sizeof p->at.path];
  if (json_array_size(rows) != d->processes) {
    return tsn_json_bad(&p->at, key, "%zu rows, one for each process, are expected",
                        d->processes);
  }
  (void)snprintf(prefix, sizeof prefix, "%s", p->at.path);
  for (size_t i = 0; i < d->processes; i++) {
    const json_t *line = json_array_get(rows, i);
    (void)snprintf(p->at.path, sizeof p->at.path, "%.40s%s[%zu]", prefix, key, i);
    tsanom_status status =
        values ? take_row(p, line, is_time, values + i * d->regions) : check_row(p, line);
    if (status < 0) return status;
  }
  (void)snprintf(p->at.path, sizeof p->at.path, "%s", prefix);
  return TSANOM_OK;
}

/* `count` matrices of processes by regions; NULL also if the size overflows. */
static double *take_cells(tsn_spmd *s, size_t count) {
  size_t cells = tsn_product(tsn_product(s->data.processes, s->data.regions), count);
  return tsn_pool_take(&s->pool, cells, sizeof(double));
}

/* The number of rows is that of the processes. */
static tsanom_status take_times(parser *p) {
  const json_t *rows = tsn_json_member(&p->at, p->json, "time", JSON_ARRAY);
  if (!rows) return TSANOM_E_FORMAT;
  tsn_spmd *s = p->spmd;
  s->data.processes = json_array_size(rows);
  if (!s->data.processes || s->data.processes > INT32_MAX) {
    return tsn_json_bad(&p->at, "time", "a row for each process is expected");
  }
  tsanom_status status = take_matrix(p, rows, "time", true, NULL);
  if (status < 0) return status;
  s->time = take_cells(s, 1);
  if (!s->time) return tsn_json_no_memory(&p->at);
  return take_matrix(p, rows, "time", true, s->time);
}

static tsanom_status take_processes(const parser *p) {
  if (!json_object_get(p->json, "processes")) {
    return p->is_part ? tsn_json_bad(&p->at, "processes",
                                     "the names of the processes are expected")
                      : TSANOM_OK;
  }
  tsn_spmd *s = p->spmd;
  tsn_names names;
  const json_t *all = tsn_json_member(&p->at, p->json, "processes", JSON_ARRAY);
  if (!all) return TSANOM_E_FORMAT;
  if (json_array_size(all) != s->data.processes) {
    return tsn_json_bad(&p->at, "processes", "one name per row of time is expected");
  }
  if (!tsn_names_create(&names, &s->pool, s->data.processes)) {
    return tsn_json_no_memory(&p->at);
  }
  s->process = names.name;
  for (size_t i = 0; i < s->data.processes; i++) {
    char key[48];
    (void)snprintf(key, sizeof key, "processes[%zu]", i);
    tsanom_status status = take_name(p, json_array_get(all, i), key, &names);
    if (status < 0) return status;
  }
  return TSANOM_OK;
}

/* Metric m: its name first, then, with memory, its values. */
static tsanom_status take_metric(parser *p, const json_t *metric, size_t m,
                                 tsn_names *names) {
  tsn_spmd *s = p->spmd;
  (void)snprintf(p->at.path, sizeof p->at.path, "metrics[%zu].", m);
  const json_t *rows = tsn_json_member(&p->at, metric, "value", JSON_ARRAY);
  if (!rows) return TSANOM_E_FORMAT;
  if (s->value) {
    double *values = s->value + m * s->data.processes * s->data.regions;
    return take_matrix(p, rows, "value", false, values);
  }
  tsanom_status status = take_name(p, json_object_get(metric, "name"), "name", names);
  return status < 0 ? status : take_matrix(p, rows, "value", false, NULL);
}

/* First pass: names and shapes of all metrics. Then one block for all values, and a
 * second pass that fills it. */
static tsanom_status take_metrics(parser *p) {
  if (!json_object_get(p->json, "metrics")) return TSANOM_OK;
  tsn_spmd *s = p->spmd;
  tsn_names names;
  const json_t *all = tsn_json_member(&p->at, p->json, "metrics", JSON_ARRAY);
  if (!all) return TSANOM_E_FORMAT;
  size_t count = json_array_size(all);
  if (!tsn_names_create(&names, &s->pool, count)) return tsn_json_no_memory(&p->at);
  for (int pass = 0; pass < 2; pass++) {
    for (size_t m = 0; m < count; m++) {
      tsanom_status status = take_metric(p, json_array_get(all, m), m, &names);
      if (status < 0) return status;
    }
    if (!s->value) s->value = take_cells(s, count);
    if (!s->value) return tsn_json_no_memory(&p->at);
  }
  s->metric = names.name;
  s->data.metrics = count;
  p->at.path[0] = '\0';
  return TSANOM_OK;
}

static tsanom_status take_elapsed(const parser *p) {
  if (!json_object_get(p->json, "elapsed")) return TSANOM_OK;
  double *elapsed = &p->spmd->data.elapsed;
  tsanom_status status = tsn_json_number(&p->at, p->json, "elapsed", elapsed);
  if (status < 0 || *elapsed > 0) return status;
  return tsn_json_bad(&p->at, "elapsed", "a time > 0 is expected");
}

tsanom_status tsn_spmd_read_json(FILE *stream, const char *file, bool is_part,
                                 const tsanom_exec *exec, tsn_spmd *spmd) {
  json_t *json;
  tsanom_status status = tsn_json_load(stream, file, exec, &json);
  if (status < 0) return status;
  parser p = {.at = {.file = file, .exec = exec},
              .json = json,
              .is_part = is_part,
              .scratch = {.exec = spmd->pool.exec},
              .spmd = spmd};
  if (!json_is_object(json)) {
    status = tsn_json_bad(&p.at, "", "a JSON object is expected");
  }
  if (status == TSANOM_OK) status = take_regions(&p);
  if (status == TSANOM_OK) status = take_times(&p);
  if (status == TSANOM_OK) status = take_processes(&p);
  if (status == TSANOM_OK) status = take_metrics(&p);
  if (status == TSANOM_OK) status = take_elapsed(&p);
  tsn_pool_free(&p.scratch);
  json_decref(json);
  tsn_spmd_complete(spmd);
  return status;
}
