/* SPDX-License-Identifier: BSD-3-Clause */
/* The region files of a run's processes, put together to one. Regions and metrics are
 * matched by name. */
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "region_run.h"

enum { UNKNOWN = -2 };

typedef struct {
  char path[PATH_MAX];
  region_file file;
  size_t *region, *metric; /* where its regions and metrics are in the whole */
} part;

typedef struct {
  part *part;
  size_t count;
  region_file *whole;
  const char **parent_from; /* for each region, the file that told its parent */
  failure *why;
} merge;

static int no_memory(const merge *m) {
  return fail(m->why, "out of memory");
}

static void *take(size_t count, size_t size) {
  return calloc(count ? count : 1, size);
}

static int is_json(const struct dirent *entry) {
  size_t length = strlen(entry->d_name);
  return entry->d_name[0] != '.' && length > 5 &&
         strcmp(entry->d_name + length - 5, ".json") == 0;
}

/* rank-2 before rank-10 */
static int by_version(const struct dirent **a, const struct dirent **b) {
  return strverscmp((*a)->d_name, (*b)->d_name);
}

static int read_part(part *p, const char *folder, const char *name, failure *why) {
  int length = snprintf(p->path, sizeof p->path, "%s/%s", folder, name);
  if (length < 0 || length >= PATH_MAX) return fail(why, "%s: path too long", name);
  return region_file_read_part(p->path, &p->file, why);
}

static int read_parts(merge *m, const char *folder) {
  struct dirent **entry = NULL;
  int found = scandir(folder, &entry, is_json, by_version);
  if (found < 0) return fail_errno(m->why, folder, "read");
  int failed = 0;
  m->part = take((size_t)found, sizeof *m->part);
  if (!m->part) failed = no_memory(m);
  if (found == 0) failed = fail(m->why, "%s: no process wrote to this run", folder);
  for (int i = 0; i < found; i++) {
    if (!failed)
      failed = read_part(&m->part[m->count++], folder, entry[i]->d_name, m->why);
    free(entry[i]);
  }
  free(entry);
  return failed;
}

/* The place of a name among `count`, or count. The processes of a program name the same
 * things in the same order, so that the place after the one before is tried first. */
static size_t find(char *const *names, size_t count, const char *name, size_t likely) {
  if (likely < count && strcmp(names[likely], name) == 0) return likely;
  for (size_t k = 0; k < count; k++) {
    if (strcmp(names[k], name) == 0) return k;
  }
  return count;
}

/* Find each of a part's names among those of the whole; new ones go to the end. */
static size_t *match(char *const *own, size_t own_count, char ***names, size_t *count) {
  size_t *place = take(own_count, sizeof *place);
  char **grown = realloc(*names, (*count + own_count + 1) * sizeof *grown);
  if (grown) *names = grown;
  if (!grown || !place) {
    free(place);
    return NULL;
  }
  size_t likely = 0;
  for (size_t k = 0; k < own_count; k++) {
    place[k] = find(grown, *count, own[k], likely);
    if (place[k] == *count) {
      grown[*count] = strdup(own[k]);
      if (!grown[*count]) {
        free(place);
        return NULL;
      }
      ++*count;
    }
    likely = place[k] + 1;
  }
  return place;
}

static int match_parts(merge *m) {
  region_file *w = m->whole;
  for (size_t i = 0; i < m->count; i++) {
    part *p = &m->part[i];
    const region_file *f = &p->file;
    p->region = match(f->region, f->data.regions, &w->region, &w->data.regions);
    p->metric = match(f->metric, f->data.metrics, &w->metric, &w->data.metrics);
    if (!p->region || !p->metric) return no_memory(m);
    w->data.processes += f->data.processes;
    w->data.elapsed = fmax(w->data.elapsed, f->data.elapsed);
  }
  return 0;
}

static const char *parent_name(const region_file *f, int32_t parent) {
  return parent < 0 ? "no region" : f->region[parent];
}

static int take_parents(merge *m, const part *p) {
  region_file *w = m->whole;
  for (size_t k = 0; k < p->file.data.regions; k++) {
    size_t at = p->region[k];
    int32_t own = p->file.parent[k];
    int32_t parent = own < 0 ? TSANOM_SPMD_NONE : (int32_t)p->region[own];
    if (w->parent[at] == UNKNOWN) {
      w->parent[at] = parent;
      m->parent_from[at] = p->path;
    }
    if (w->parent[at] == parent) continue;
    return fail(m->why, "%s: region %s is nested in %s here, but in %s in %s", p->path,
                w->region[at], parent_name(w, parent), parent_name(w, w->parent[at]),
                m->parent_from[at]);
  }
  return 0;
}

static int merge_parents(merge *m) {
  region_file *w = m->whole;
  w->parent = take(w->data.regions, sizeof *w->parent);
  m->parent_from = take(w->data.regions, sizeof *m->parent_from);
  if (!w->parent || !m->parent_from) return no_memory(m);
  for (size_t k = 0; k < w->data.regions; k++) w->parent[k] = UNKNOWN;
  for (size_t i = 0; i < m->count; i++) {
    if (take_parents(m, &m->part[i])) return -1;
  }
  return 0;
}

static int take_names(merge *m, const part *p, size_t first) {
  region_file *w = m->whole;
  for (size_t i = 0; i < p->file.data.processes; i++) {
    if (find(w->process, first, p->file.process[i], 0) < first) {
      return fail(m->why, "%s: process %s wrote to another file of the run too", p->path,
                  p->file.process[i]);
    }
    w->process[first + i] = strdup(p->file.process[i]);
    if (!w->process[first + i]) return no_memory(m);
  }
  return 0;
}

/* A region that a process did not enter took no time there, and nothing of what was
 * measured. A metric that it did not measure is missing. */
static void take_rows(merge *m, const part *p, size_t first) {
  region_file *w = m->whole;
  const tsanom_spmd_data *own = &p->file.data;
  size_t regions = w->data.regions, matrix = w->data.processes * regions;
  for (size_t i = 0; i < own->processes; i++) {
    const double *from = p->file.time + i * own->regions;
    double *to = w->time + (first + i) * regions;
    for (size_t k = 0; k < own->regions; k++) to[p->region[k]] = from[k];
    for (size_t q = 0; q < own->metrics; q++) {
      from = p->file.value + (q * own->processes + i) * own->regions;
      to = w->value + p->metric[q] * matrix + (first + i) * regions;
      for (size_t k = 0; k < regions; k++) to[k] = 0;
      for (size_t k = 0; k < own->regions; k++) to[p->region[k]] = from[k];
    }
  }
}

static int merge_rows(merge *m) {
  region_file *w = m->whole;
  size_t matrix = w->data.processes * w->data.regions, first = 0;
  w->process = take(w->data.processes, sizeof *w->process);
  w->time = take(matrix, sizeof *w->time);
  w->value = take(w->data.metrics * matrix, sizeof *w->value);
  if (!w->process || !w->time || !w->value) return no_memory(m);
  for (size_t i = 0; i < w->data.metrics * matrix; i++) w->value[i] = NAN;
  for (size_t i = 0; i < m->count; i++) {
    if (take_names(m, &m->part[i], first)) return -1;
    take_rows(m, &m->part[i], first);
    first += m->part[i].file.data.processes;
  }
  return 0;
}

static void merge_free(merge *m) {
  for (size_t i = 0; i < m->count; i++) {
    region_file_free(&m->part[i].file);
    free(m->part[i].region);
    free(m->part[i].metric);
  }
  free(m->part);
  free(m->parent_from);
}

int region_merge_read(const char *folder, region_file *f, failure *why) {
  merge m = {.whole = f, .why = why};
  tsanom_spmd_data_init(&f->data, sizeof f->data);
  int failed = read_parts(&m, folder) || match_parts(&m);
  if (!failed && f->data.regions == 0) {
    failed = fail(why, "%s: no process entered a region", folder);
  }
  failed = failed || merge_parents(&m) || merge_rows(&m);
  merge_free(&m);
  if (failed) region_file_free(f);
  return failed ? -1 : 0;
}
