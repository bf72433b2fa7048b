/* SPDX-License-Identifier: BSD-3-Clause */
#include "region_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checked_json.h"
#include "rows.h"

/* Checks of names and of nesting are quadratic. */
enum { REGIONS_MOST = 1 << 14 };

static int no_memory(const json_place *at) {
  return fail(at->why, "%s: out of memory", at->file);
}

/* `count` elements, at least one. */
static void *take(size_t count, size_t size) {
  return calloc(count ? count : 1, size);
}

static void names_free(char **names, size_t count) {
  for (size_t i = 0; names && i < count; i++) free(names[i]);
  free(names);
}

void region_file_free(region_file *f) {
  names_free(f->region, f->data.regions);
  names_free(f->process, f->data.processes);
  names_free(f->metric, f->data.metrics);
  free(f->parent);
  free(f->time);
  free(f->value);
  *f = (region_file){0};
}

static int find_name(char *const *names, size_t count, const char *name, size_t *found) {
  for (*found = 0; *found < count; ++*found) {
    if (names[*found] && strcmp(names[*found], name) == 0) return 1;
  }
  return 0;
}

/* A name, not empty and not among those before it. */
static int take_name(const json_place *at, const json_t *value, const char *key,
                     char **names, size_t count) {
  const char *name = json_string_value(value);
  size_t same;
  if (!name || !*name) return json_bad(at, key, "a name is expected");
  if (find_name(names, count, name, &same)) {
    char shown[QUOTED_BYTES], sentence[160];
    snprintf(sentence, sizeof sentence, "%s names two", quoted(shown, name));
    return json_bad(at, key, sentence);
  }
  names[count] = strdup(name);
  return names[count] ? 0 : no_memory(at);
}

/* {"name": ..., "parent": name or null} */
static int take_region(json_place *at, const json_t *all, size_t k, region_file *f) {
  const json_t *region = json_array_get(all, k);
  snprintf(at->path, sizeof at->path, "regions[%zu]", k);
  if (!json_is_object(region)) return json_bad(at, "", "an object is expected");
  snprintf(at->path, sizeof at->path, "regions[%zu].", k);
  return take_name(at, json_object_get(region, "name"), "name", f->region, k);
}

static int take_parent(json_place *at, const json_t *all, size_t k, region_file *f) {
  const json_t *parent = json_object_get(json_array_get(all, k), "parent");
  snprintf(at->path, sizeof at->path, "regions[%zu].", k);
  f->parent[k] = TSANOM_SPMD_NONE;
  if (!parent || json_is_null(parent)) return 0;
  size_t found;
  if (!json_is_string(parent)) {
    return json_bad(at, "parent", "the name of a region, or null, is expected");
  }
  if (!find_name(f->region, f->data.regions, json_string_value(parent), &found)) {
    char shown[QUOTED_BYTES], sentence[160];
    snprintf(sentence, sizeof sentence, "%s is no region of this file",
             quoted(shown, json_string_value(parent)));
    return json_bad(at, "parent", sentence);
  }
  f->parent[k] = (int32_t)found;
  return 0;
}

/* Walk up from each region; more steps than regions go round. */
static int check_tree(json_place *at, int32_t tree, const region_file *f) {
  size_t roots = 0;
  for (size_t k = 0; k < f->data.regions; k++) {
    size_t steps = 0;
    for (int32_t j = (int32_t)k; j >= 0; j = f->parent[j]) {
      if (steps++ <= f->data.regions) continue;
      snprintf(at->path, sizeof at->path, "regions[%zu].", k);
      return json_bad(at, "parent", "the region is nested in itself");
    }
    if (f->parent[k] >= 0) continue;
    if (roots++ == 0 || tree != TSANOM_SPMD_PROGRAM) continue;
    snprintf(at->path, sizeof at->path, "regions[%zu].", k);
    return json_bad(at, "parent",
                    "with --program only one region, the program, is without a parent");
  }
  return 0;
}

static int take_regions(json_place *at, const json_t *json, int32_t tree, int is_part,
                        region_file *f) {
  const json_t *all = json_take_array(at, json, "regions");
  if (!all) return -1;
  size_t count = json_array_size(all);
  if ((!count && !is_part) || count > REGIONS_MOST) {
    return json_bad(at, "regions", "1 to 16384 regions are expected");
  }
  f->region = take(count, sizeof *f->region);
  f->parent = take(count, sizeof *f->parent);
  f->data.regions = count;
  if (!f->region || !f->parent) return no_memory(at);
  for (size_t k = 0; k < count; k++) {
    if (take_region(at, all, k, f)) return -1;
  }
  for (size_t k = 0; k < count; k++) {
    if (take_parent(at, all, k, f)) return -1;
  }
  int status = check_tree(at, tree, f);
  at->path[0] = '\0';
  return status;
}

/* A row of numbers for each region; null where a metric was not measured. */
static int take_row(json_place *at, const json_t *line, const region_file *f, int is_time,
                    double *values) {
  char sentence[200];
  size_t regions = f->data.regions, given = json_array_size(line);
  if (!json_is_array(line)) return json_bad(at, "", "an array is expected");
  if (given != regions) {
    char shown[QUOTED_BYTES];
    int few = given < regions;
    snprintf(sentence, sizeof sentence,
             "%zu numbers, one for each region, are expected%s%s", regions,
             few ? "; the first that is missing is that of region " : "",
             few ? quoted(shown, f->region[given]) : "");
    return json_bad(at, "", sentence);
  }
  for (size_t k = 0; k < regions; k++) {
    const json_t *item = json_array_get(line, k);
    char place[48];
    snprintf(place, sizeof place, "[%zu]", k);
    values[k] = json_is_null(item) && !is_time ? NAN : json_number_value(item);
    if (!json_is_number(item) && (is_time || !json_is_null(item))) {
      return json_bad(at, place,
                      is_time ? "a time is expected"
                              : "a number, or null where none was measured, is expected");
    }
    if (is_time && values[k] < 0) return json_bad(at, place, "a time is not negative");
  }
  return 0;
}

static int take_matrix(json_place *at, const json_t *rows, const char *key,
                       const region_file *f, int is_time, double *values) {
  if (json_array_size(rows) != f->data.processes) {
    char sentence[96];
    snprintf(sentence, sizeof sentence, "%zu rows, one for each process, are expected",
             f->data.processes);
    return json_bad(at, key, sentence);
  }
  char prefix[sizeof at->path];
  snprintf(prefix, sizeof prefix, "%s", at->path);
  for (size_t i = 0; i < f->data.processes; i++) {
    snprintf(at->path, sizeof at->path, "%.40s%s[%zu]", prefix, key, i);
    if (take_row(at, json_array_get(rows, i), f, is_time, values + i * f->data.regions)) {
      return -1;
    }
  }
  snprintf(at->path, sizeof at->path, "%s", prefix);
  return 0;
}

static int take_times(json_place *at, const json_t *json, region_file *f) {
  const json_t *rows = json_take_array(at, json, "time");
  if (!rows) return -1;
  size_t processes = json_array_size(rows);
  if (!processes || processes > INT32_MAX) {
    return json_bad(at, "time", "a row for each process is expected");
  }
  f->data.processes = processes;
  f->time = take(processes * f->data.regions, sizeof *f->time);
  if (!f->time) return no_memory(at);
  return take_matrix(at, rows, "time", f, 1, f->time);
}

static int take_processes(json_place *at, const json_t *json, region_file *f) {
  if (!json_object_get(json, "processes")) return 0;
  const json_t *all = json_take_array(at, json, "processes");
  if (!all) return -1;
  if (json_array_size(all) != f->data.processes) {
    return json_bad(at, "processes", "as many names as rows of time are expected");
  }
  f->process = take(f->data.processes, sizeof *f->process);
  if (!f->process) return no_memory(at);
  for (size_t i = 0; i < f->data.processes; i++) {
    char key[48];
    snprintf(key, sizeof key, "processes[%zu]", i);
    if (take_name(at, json_array_get(all, i), key, f->process, i)) return -1;
  }
  return 0;
}

static int take_metrics(json_place *at, const json_t *json, region_file *f) {
  if (!json_object_get(json, "metrics")) return 0;
  const json_t *all = json_take_array(at, json, "metrics");
  if (!all) return -1;
  size_t count = json_array_size(all), matrix = f->data.processes * f->data.regions;
  f->metric = take(count, sizeof *f->metric);
  if (!f->metric) return no_memory(at);
  f->data.metrics = count;
  f->value = take(count * matrix, sizeof *f->value);
  if (!f->value) return no_memory(at);
  for (size_t m = 0; m < count; m++) {
    const json_t *metric = json_array_get(all, m);
    snprintf(at->path, sizeof at->path, "metrics[%zu].", m);
    if (take_name(at, json_object_get(metric, "name"), "name", f->metric, m)) return -1;
    const json_t *rows = json_take_array(at, metric, "value");
    if (!rows || take_matrix(at, rows, "value", f, 0, f->value + m * matrix)) return -1;
  }
  at->path[0] = '\0';
  return 0;
}

static int take_elapsed(const json_place *at, const json_t *json, region_file *f) {
  if (!json_object_get(json, "elapsed")) return 0;
  if (json_take_number(at, json, "elapsed", &f->data.elapsed)) return -1;
  return f->data.elapsed > 0 ? 0 : json_bad(at, "elapsed", "a time above 0 is expected");
}

/* Everything in the file; of a part, processes have names, and regions may be none. */
static int take_all(const json_t *json, const char *file, int32_t tree, int is_part,
                    region_file *f, failure *why) {
  json_place at = {.file = file, .why = why};
  tsanom_spmd_data_init(&f->data, sizeof f->data);
  int status = 0;
  if (!json_is_object(json)) status = fail(why, "%s: a JSON object is expected", file);
  if (status || take_regions(&at, json, tree, is_part, f) || take_times(&at, json, f) ||
      take_processes(&at, json, f) || take_metrics(&at, json, f) ||
      take_elapsed(&at, json, f)) {
    region_file_free(f);
    return -1;
  }
  if (is_part && !f->process) {
    region_file_free(f);
    return json_bad(&at, "processes", "the names of the processes are expected");
  }
  f->data.parent = f->parent;
  f->data.time = f->time;
  f->data.metric = f->value;
  return 0;
}

int region_file_from_json(const json_t *json, const char *file, int32_t tree,
                          region_file *f, failure *why) {
  return take_all(json, file, tree, 0, f, why);
}

int region_file_read(const char *path, int32_t tree, region_file *f, failure *why) {
  json_t *json = json_load_path(path, why);
  if (!json) return -1;
  int status = take_all(json, file_title(path), tree, 0, f, why);
  json_decref(json);
  return status;
}

int region_file_read_part(const char *path, region_file *f, failure *why) {
  json_t *json = json_load_path(path, why);
  if (!json) return -1;
  int status = take_all(json, path, TSANOM_SPMD_FOREST, 1, f, why);
  json_decref(json);
  return status;
}
