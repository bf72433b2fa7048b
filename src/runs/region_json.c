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
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/size.h"
#include "runs/checked_json.h"
#include "runs/memory.h"
#include "runs/source.h"
#include "runs/spmd.h"

/* The processes of a run, put together to one matrix: those of region files, or others
 * (processes.c). Regions and metrics are matched by name, in the order in which they
 * first occur:
 *
 *   rank-0.json   a b c        whole:         a  b  c  d
 *   rank-1.json   b d                 rank-0  x  x  x  0
 *                                     rank-1  0  x  0  x
 *
 * Processes come in the order of the files' names, by version: rank-2 before rank-10. So
 * the result does not depend on the order in which the processes ended.
 *
 * Names are matched through hash tables, so that the time is proportional to the cells
 * of the files and of the whole. The parts are read completely before anything is
 * merged: the size of the whole depends on all of them.
 *
 * The files must agree about the nesting of each region; a fault names both files
 * otherwise. */

enum { UNKNOWN = -2 };

typedef struct {
  const char *directory;
  const tsanom_exec *exec;
  tsn_pool scratch;
  tsn_spmd_part *part;
  size_t count;
  const tsn_names *regions; /* NULL: parts have names of their own */
  tsn_spmd *whole;
  /* By region, the file that first named its parent, for the message if another
   * disagrees. */
  const char **parent_from;
} merge;

static tsanom_status no_memory(const merge *m) {
  return tsn_path_no_memory(m->exec, m->directory);
}

/* Names that end in .json. Those that begin with a dot are files that a process has not
 * finished. */
static int is_json(const struct dirent *entry) {
  size_t length = strlen(entry->d_name);
  return entry->d_name[0] != '.' && length > 5 &&
         strcmp(entry->d_name + length - 5, ".json") == 0;
}

/* rank-2 before rank-10 */
static int by_version(const struct dirent **a, const struct dirent **b) {
  return strverscmp((*a)->d_name, (*b)->d_name);
}

/* The part is counted before it is read, so that its pool is freed after a failure too.
 */
static tsanom_status read_part(merge *m, const char *name) {
  tsn_spmd_part *p = &m->part[m->count++];
  p->spmd = tsn_spmd_empty(m->scratch.exec);
  tsn_source source = tsn_source_named(m->exec, m->directory, "%s", name);
  p->path = tsn_pool_copy(&m->scratch, source.path);
  if (!p->path) return no_memory(m);
  FILE *stream;
  tsanom_status status = tsn_source_open_stream(&source, &stream);
  if (status < 0) return status;
  status = tsn_spmd_read_json(stream, p->path, true, m->exec, &p->spmd);
  (void)fclose(stream);
  return status;
}

/* All files of the directory. The list of names is freed entry by entry, also behind a
 * failure. With salvage, a directory in which no file can be read fails as its last file
 * did. */
static tsanom_status read_parts(merge *m) {
  struct dirent **entry = NULL;
  int found = scandir(m->directory, &entry, is_json, by_version);
  if (found < 0) {
    return tsn_path_fault(m->exec, TSANOM_E_IO, m->directory,
                          "cannot read the directory: %s", tsn_error_text(errno));
  }
  tsanom_status status = TSANOM_OK, last = TSANOM_OK;
  m->part = tsn_pool_take(&m->scratch, (size_t)found, sizeof *m->part);
  if (!m->part) status = no_memory(m);
  if (found == 0) {
    status = tsn_path_fault(m->exec, TSANOM_E_STATE, m->directory,
                            "no process wrote a region file");
  }
  for (int i = 0; i < found; i++) {
    if (m->part && status == TSANOM_OK) {
      status = last = read_part(m, entry[i]->d_name);
      if (tsn_salvages(m->exec, last, m->whole->damage)) {
        tsn_pool_free(&m->part[--m->count].spmd.pool);
        status = TSANOM_OK;
      }
    }
    free(entry[i]);
  }
  free(entry);
  return status == TSANOM_OK && m->count == 0 ? last : status; /* none is left */
}

/* The numbers of a part's names in the whole; new names are added. NULL: out of memory,
 * or the set is full. */
static uint32_t *match(merge *m, const char *const *own, size_t count, tsn_names *names) {
  uint32_t *number = tsn_pool_take(&m->scratch, count, sizeof *number);
  for (size_t k = 0; number && k < count; k++) {
    size_t found = tsn_names_number(names, &m->whole->pool, own[k]);
    if (found == TSANOM_NONE) return NULL;
    number[k] = (uint32_t)found;
  }
  return number;
}

/* Names of regions that the parts have as numbers. */
static bool copy_names(merge *m, const tsn_names *known, tsn_names *regions) {
  for (size_t k = 0; k < known->count; k++) {
    if (tsn_names_number(regions, &m->whole->pool, known->name[k]) == TSANOM_NONE) {
      return false;
    }
  }
  return true;
}

/* Sets for the names of the whole: no more than the parts have, and than are allowed. */
static bool create_names(merge *m, tsn_names *regions, tsn_names *metrics) {
  tsn_spmd *w = m->whole;
  size_t region_most = 0, metric_most = 0;
  for (size_t i = 0; i < m->count; i++) {
    const tsanom_spmd_data *d = &m->part[i].spmd.data;
    region_most += d->regions;
    metric_most += d->metrics;
    w->data.processes += d->processes;
    w->data.elapsed = fmax(w->data.elapsed, d->elapsed);
  }
  if (region_most > TSN_REGIONS_MOST) region_most = TSN_REGIONS_MOST;
  return tsn_names_create(regions, &w->pool, region_most) &&
         tsn_names_create(metrics, &w->pool, metric_most);
}

/* Names and sizes of the whole. The run lasted as long as its longest process. */
static tsanom_status match_parts(merge *m) {
  tsn_spmd *w = m->whole;
  tsn_names regions, metrics;
  if (!create_names(m, &regions, &metrics) ||
      (m->regions && !copy_names(m, m->regions, &regions))) {
    return no_memory(m);
  }
  for (size_t i = 0; i < m->count; i++) {
    tsn_spmd_part *p = &m->part[i];
    if (!m->regions) {
      p->region = match(m, p->spmd.region, p->spmd.data.regions, &regions);
    }
    if (!p->region && regions.count == TSN_REGIONS_MOST) {
      return tsn_reject_regions(m->directory, m->exec);
    }
    p->metric = match(m, p->spmd.metric, p->spmd.data.metrics, &metrics);
    if (!p->region || !p->metric) return no_memory(m);
  }
  w->region = regions.name;
  w->metric = metrics.name;
  w->data.regions = regions.count;
  w->data.metrics = metrics.count;
  if (regions.count) return TSANOM_OK;
  return tsn_path_fault(m->exec, TSANOM_E_STATE, m->directory,
                        "no process entered a region");
}

static const char *parent_name(const tsn_spmd *w, int32_t parent) {
  return parent < 0 ? "no region" : w->region[parent];
}

/* Parents as numbers of the whole. The first file that has a region decides, and the
 * others must agree. No circle can arise: a file that has a region also has all regions
 * around it, and is a tree. */
static tsanom_status take_parents(merge *m, const tsn_spmd_part *p) {
  enum { SHOWN = 40 };
  tsn_spmd *w = m->whole;
  for (size_t k = 0; k < p->spmd.data.regions; k++) {
    size_t at = p->region[k];
    int32_t own = p->spmd.parent[k];
    int32_t parent = own < 0 ? TSANOM_SPMD_NONE : (int32_t)p->region[own];
    if (w->parent[at] == UNKNOWN) {
      w->parent[at] = parent;
      m->parent_from[at] = p->path;
    }
    if (w->parent[at] == parent) continue;
    const char *other = strrchr(m->parent_from[at], '/');
    return tsn_path_fault(m->exec, TSANOM_E_FORMAT, p->path,
                          "region %.*s is nested in %.*s here, but in %.*s in %.*s",
                          SHOWN, w->region[at], SHOWN, parent_name(w, parent), SHOWN,
                          parent_name(w, w->parent[at]), SHOWN,
                          other ? other + 1 : m->parent_from[at]);
  }
  return TSANOM_OK;
}

static tsanom_status merge_parents(merge *m) {
  tsn_spmd *w = m->whole;
  w->parent = tsn_pool_take(&w->pool, w->data.regions, sizeof *w->parent);
  m->parent_from =
      (const char **)tsn_pool_take(&m->scratch, w->data.regions, sizeof *m->parent_from);
  if (!w->parent || !m->parent_from) return no_memory(m);
  for (size_t k = 0; k < w->data.regions; k++) w->parent[k] = UNKNOWN;
  for (size_t i = 0; i < m->count; i++) {
    tsanom_status status = take_parents(m, &m->part[i]);
    if (status < 0) return status;
  }
  return TSANOM_OK;
}

/* Two files with one process would be counted twice. */
static tsanom_status take_names(merge *m, const tsn_spmd_part *p, tsn_names *names) {
  for (size_t i = 0; i < p->spmd.data.processes; i++) {
    const char *name = p->spmd.process[i];
    if (tsn_names_find(names, name) != TSANOM_NONE) {
      return tsn_path_fault(m->exec, TSANOM_E_FORMAT, p->path,
                            "process %.64s is in another file of the run too", name);
    }
    const char *own = tsn_pool_copy(&m->whole->pool, name);
    if (!own) return no_memory(m);
    tsn_names_add(names, own);
  }
  return TSANOM_OK;
}

/* Values by process, if the part has them. */
static bool take_values(merge *m, const double *from, size_t count, size_t first,
                        double **to) {
  tsn_spmd *w = m->whole;
  if (!from) return true;
  if (!*to) *to = tsn_pool_take(&w->pool, w->data.processes, sizeof **to);
  if (*to) memcpy(*to + first, from, count * sizeof **to);
  return *to != NULL;
}

/* Seconds in MPI, and without a processor. */
static bool take_seconds(merge *m) {
  size_t first = 0;
  for (size_t i = 0; i < m->count; i++) {
    const tsn_spmd *own = &m->part[i].spmd;
    size_t count = own->data.processes;
    if (!take_values(m, own->waiting, count, first, &m->whole->waiting) ||
        !take_values(m, own->stalled, count, first, &m->whole->stalled)) {
      return false;
    }
    first += count;
  }
  return true;
}

/* In a region that a process did not enter, it took no time, and all that it measured is
 * 0 there. A metric that it did not measure stays NaN. */
static void take_rows(merge *m, const tsn_spmd_part *p, size_t first) {
  tsn_spmd *w = m->whole;
  const tsanom_spmd_data *own = &p->spmd.data;
  size_t regions = w->data.regions, matrix = w->data.processes * regions;
  for (size_t i = 0; i < own->processes; i++) {
    const double *from = p->spmd.time + i * own->regions;
    double *to = w->time + (first + i) * regions;
    for (size_t k = 0; k < own->regions; k++) to[p->region[k]] = from[k];
    for (size_t q = 0; q < own->metrics; q++) {
      from = p->spmd.value + (q * own->processes + i) * own->regions;
      to = w->value + p->metric[q] * matrix + (first + i) * regions;
      for (size_t k = 0; k < regions; k++) to[k] = 0;
      for (size_t k = 0; k < own->regions; k++) to[p->region[k]] = from[k];
    }
  }
}

/* The batches of a part in the outermost regions, whose column is not 0. */
static void take_batches(const tsn_spmd_part *p, size_t row, size_t columns,
                         const uint32_t *column, const tsn_spmd_samples *to) {
  const tsn_spmd *own = &p->spmd;
  for (size_t k = 0; own->batch && k < own->data.regions; k++) {
    if (!column[p->region[k]]) continue;
    size_t cell = row * columns + column[p->region[k]] - 1;
    to->count[cell] = own->samples[k];
    memcpy(to->batch + cell * TSN_SPMD_BATCHES, own->batch + k * TSN_SPMD_BATCHES,
           TSN_SPMD_BATCHES * sizeof *own->batch);
  }
}

/* Standard errors of the times of outermost regions, if a part has batches of samples:
 * then each part is one process. */
static bool merge_errors(merge *m) {
  tsn_spmd *w = m->whole;
  size_t regions = w->data.regions, rows = w->data.processes, columns = 0;
  bool has_batches = false;
  for (size_t i = 0; i < m->count; i++) has_batches |= m->part[i].spmd.batch != NULL;
  if (!has_batches) return true;
  uint32_t *column = tsn_pool_take(&m->scratch, regions, sizeof *column);
  for (size_t k = 0; column && k < regions; k++) {
    if (w->parent[k] == TSANOM_SPMD_NONE) column[k] = (uint32_t)++columns;
  }
  tsn_spmd_samples samples;
  w->error = tsn_pool_take(&w->pool, rows * regions, sizeof *w->error);
  double *error = tsn_pool_take(&m->scratch, rows * columns, sizeof *error);
  if (!column || !w->error || !error ||
      !tsn_spmd_take_samples(&samples, &m->scratch, rows * columns)) {
    return false;
  }
  for (size_t i = 0; i < m->count; i++) {
    take_batches(&m->part[i], i, columns, column, &samples);
  }
  tsn_spmd_errors(&samples, rows, columns, error);
  for (size_t i = 0; i < rows; i++) {
    for (size_t k = 0; k < regions; k++) {
      w->error[i * regions + k] = column[k] ? error[i * columns + column[k] - 1] : NAN;
    }
  }
  return true;
}

/* Values are NaN at first, which means not measured; times are 0, from the pool. */
static tsanom_status merge_rows(merge *m) {
  tsn_spmd *w = m->whole;
  tsn_names names;
  size_t matrix = tsn_product(w->data.processes, w->data.regions);
  size_t cells = tsn_product(w->data.metrics, matrix);
  if (!tsn_names_create(&names, &w->pool, w->data.processes)) return no_memory(m);
  w->process = names.name;
  w->time = tsn_pool_take(&w->pool, matrix, sizeof *w->time);
  w->value = tsn_pool_take(&w->pool, cells, sizeof *w->value);
  if (!w->time || !w->value || !take_seconds(m)) return no_memory(m);
  for (size_t i = 0; i < cells; i++) w->value[i] = NAN;
  for (size_t i = 0; i < m->count; i++) {
    size_t first = names.count;
    tsanom_status status = take_names(m, &m->part[i], &names);
    if (status < 0) return status;
    take_rows(m, &m->part[i], first);
  }
  return merge_errors(m) ? TSANOM_OK : no_memory(m);
}

static tsanom_status merge_parts(merge *m) {
  tsanom_status status = match_parts(m);
  if (status == TSANOM_OK) status = merge_parents(m);
  if (status == TSANOM_OK) status = merge_rows(m);
  for (size_t i = 0; i < m->count; i++) tsn_pool_free(&m->part[i].spmd.pool);
  tsn_pool_free(&m->scratch);
  tsn_spmd_complete(m->whole);
  return status;
}

tsanom_status tsn_spmd_merge(const char *directory, tsn_spmd_part *part, size_t count,
                             const tsn_names *regions, const tsanom_exec *exec,
                             tsn_spmd *whole) {
  merge m = {.directory = directory,
             .exec = exec,
             .scratch = {.exec = whole->pool.exec},
             .part = part,
             .count = count,
             .regions = regions,
             .whole = whole};
  return merge_parts(&m);
}

tsanom_status tsn_spmd_read_directory(const char *directory, const tsanom_exec *exec,
                                      tsn_spmd *spmd) {
  merge m = {.directory = directory,
             .exec = exec,
             .scratch = {.exec = spmd->pool.exec},
             .whole = spmd};
  tsanom_status status = read_parts(&m);
  if (status == TSANOM_OK) return merge_parts(&m);
  for (size_t i = 0; i < m.count; i++) tsn_pool_free(&m.part[i].spmd.pool);
  tsn_pool_free(&m.scratch);
  tsn_spmd_complete(spmd);
  return status;
}

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
  if (tsn_names_find(names, name) != TSANOM_NONE) {
    return tsn_json_bad(&p->at, key, "\"%.*s\" is used twice", SHOWN, name);
  }
  const char *own = tsn_pool_copy(&p->spmd->pool, name);
  if (!own) return tsn_json_no_memory(&p->at);
  tsn_names_add(names, own);
  return TSANOM_OK;
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
