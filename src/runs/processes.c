/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of one program, put together to one matrix: the ranks of a run, or runs that the
 * caller lists, or region files. Runs are read one after the other, so that the memory is
 * that of the longest run and of the region times of all.
 *
 *   RUN/rank.0 ──process_times.c──▶ part 0 ─┐
 *   RUN/rank.1 ──process_times.c──▶ part 1 ─┼──▶ whole
 *   RUN/spmd/NAME.json ─region_json.c─▶ part ┘
 *
 * A run with functions is a row by region_rows.c instead.
 *
 * The processes run the same program, so their places are those of the first of them for
 * the most part, and the name of each is looked up once. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "core/exec.h"
#include "core/size.h"
#include "runs/memory.h"
#include "runs/run.h"
#include "runs/source.h"

/* The ranks of a run are its directories rank.K that contain a run: a rank that was ended
 * before MPI_Init, or is on a machine with another file system, has none. The file that
 * is looked for is the last one that the recorder creates.
 *
 *   ranks.tsv   tsanom ranks 1 LF size TAB 4 LF job TAB 1094451201 LF */

typedef struct {
  int32_t *rank; /* those that recorded something, in increasing order */
  size_t count;
  size_t size; /* of the job; 0: not known */
} ranks_of_run;

enum { RANK_MOST = 1 << 24 };

/* The number of rank.K; -1: another name. */
static long rank_of(const char *name) {
  static const char prefix[] = "rank.";
  char *end;
  if (strncmp(name, prefix, sizeof prefix - 1) != 0) return -1;
  const char *digits = name + sizeof prefix - 1;
  if (*digits < '0' || *digits > '9' || (*digits == '0' && digits[1])) return -1;
  long rank = strtol(digits, &end, 10);
  return *end || rank >= RANK_MOST ? -1 : rank;
}

static int in_order(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static tsanom_status read_size(const tsn_source *source, size_t *size) {
  static const char head[] = "tsanom ranks 1\nsize\t", job[] = "\njob\t";
  char text[256] = "", *end = text;
  size_t length = source->size < sizeof text ? (size_t)source->size : sizeof text - 1;
  tsanom_status status = tsn_source_read(source, 0, text, length);
  if (status < 0) return status;
  bool is_head = strncmp(text, head, sizeof head - 1) == 0;
  long value = is_head ? strtol(text + sizeof head - 1, &end, 10) : -1;
  if (value < 0 || value > RANK_MOST || strncmp(end, job, sizeof job - 1) != 0) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, 0,
                            "the lines \"tsanom ranks 1\", \"size\" and \"job\" are "
                            "expected");
  }
  *size = (size_t)value;
  return TSANOM_OK;
}

/* Not inlined: a frame has at most 8 KiB. */
__attribute__((noinline)) static bool has_run(const char *path, long rank) {
  char file[PATH_MAX + 64];
  (void)snprintf(file, sizeof file, "%s/rank.%ld/regions/places.tsv", path, rank);
  return access(file, F_OK) == 0;
}

/* Two passes over the directory: the first counts. A rank may come in between. */
static tsanom_status list(const char *path, const tsanom_exec *exec, tsn_pool *pool,
                          ranks_of_run *ranks) {
  DIR *directory = opendir(path);
  size_t capacity = 0;
  if (!directory) {
    return tsn_path_fault(exec, TSANOM_E_IO, path, "cannot read the directory: %s",
                          tsn_error_text(errno));
  }
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    capacity += rank_of(entry->d_name) >= 0;
  }
  ranks->rank = tsn_pool_take(pool, capacity, sizeof *ranks->rank);
  rewinddir(directory);
  for (struct dirent *entry; ranks->rank && (entry = readdir(directory)) != NULL;) {
    long rank = rank_of(entry->d_name);
    if (rank < 0 || ranks->count == capacity || !has_run(path, rank)) continue;
    ranks->rank[ranks->count++] = (int32_t)rank;
  }
  (void)closedir(directory);
  if (!ranks->rank) return tsn_reject(exec, TSANOM_E_MEMORY, "exec.alloc");
  qsort(ranks->rank, ranks->count, sizeof *ranks->rank, in_order);
  return TSANOM_OK;
}

/* In memory of the pool. None, if the directory is not a run of ranks. */
static tsanom_status read_ranks(const char *path, const tsanom_exec *exec, tsn_pool *pool,
                                ranks_of_run *ranks) {
  *ranks = (ranks_of_run){0};
  tsn_source source = tsn_source_named(exec, path, TSN_RANKS_FILE);
  if (access(source.path, F_OK) != 0) return TSANOM_OK;
  tsanom_status status = tsn_source_open(&source);
  if (status < 0) return status;
  status = read_size(&source, &ranks->size);
  tsn_source_close(&source);
  return status < 0 ? status : list(path, exec, pool, ranks);
}

tsanom_status tsanom_runs_ranks(const char *path, const tsanom_exec *exec, int32_t *ranks,
                                size_t capacity, size_t *count, size_t *size) {
  tsanom_exec own;
  ranks_of_run found;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  if (!path) return tsn_reject_null(&own, "path", TSANOM_NONE);
  if (!ranks && capacity) return tsn_reject_null(&own, "ranks", capacity);
  if (!count) return tsn_reject_null(&own, "count", TSANOM_NONE);
  if (!size) return tsn_reject_null(&own, "size", TSANOM_NONE);
  tsn_pool pool = {.exec = &own};
  status = read_ranks(path, &own, &pool, &found);
  if (status == TSANOM_OK) {
    *count = found.count;
    *size = found.size;
    size_t filled = found.count < capacity ? found.count : capacity;
    if (filled) memcpy(ranks, found.rank, filled * sizeof *ranks);
    if (capacity && filled < found.count) status = TSANOM_PARTIAL;
  }
  tsn_pool_free(&pool);
  return status;
}

/* ---- parts */

typedef struct {
  const tsanom_exec *exec;
  const char *path; /* of the whole, for messages */
  tsn_pool scratch;
  bool symbols;
  tsn_known_places places;
  tsn_names regions; /* of the whole */
  tsn_names dropped; /* functions that were left out in some process */
  tsn_spmd_part *part;
  size_t count;     /* parts that were begun */
  size_t processes; /* of all runs */
  tsn_spmd *whole;
  /* By region, the part that first named its parent, for the message if another
   * disagrees. */
  const char **parent_from;
} reader;

static tsanom_status no_memory(const reader *r) {
  return tsn_path_no_memory(r->exec, r->path);
}

/* The numbers of a part's names in the whole; new names are added. NULL: out of memory,
 * or the set is full. */
static uint32_t *match(reader *r, const char *const *own, size_t count,
                       tsn_names *names) {
  uint32_t *number = tsn_pool_take(&r->scratch, count, sizeof *number);
  for (size_t k = 0; number && k < count; k++) {
    size_t found = tsn_names_number(names, own[k]);
    if (found == TSANOM_NONE) return NULL;
    number[k] = (uint32_t)found;
  }
  return number;
}

static tsanom_status match_regions(reader *r, const char *path, tsn_spmd_part *p) {
  p->region = match(r, p->spmd.region, p->spmd.data.regions, &r->regions);
  if (p->region) return TSANOM_OK;
  return r->regions.count == TSN_REGIONS_MOST ? tsn_reject_regions(path, r->exec)
                                              : no_memory(r);
}

/* ---- runs */

static bool create_places(reader *r) {
  enum { KEPT_MOST = 1 << 15 }; /* further ones are looked up in each process */
  r->places.known = (tsn_place **)tsn_pool_take(&r->scratch, KEPT_MOST, sizeof(void *));
  return r->places.known && tsn_names_create(&r->places.line, &r->scratch, KEPT_MOST);
}

/* Keep the names of a place that is known. False: out of memory. */
static bool keep_name(reader *r, const tsn_place *place) {
  tsn_place *known = place->known;
  if (known->name) return true;
  known->site = tsn_pool_copy(&r->scratch, place->site);
  known->name = place->about.call ? tsn_pool_copy(&r->scratch, place->name) : known->site;
  return known->site && known->name;
}

/* Names of all places; a module is opened only if one of its places is new. */
static bool name_places(reader *r, tsn_places *places) {
  for (size_t i = 0; i < places->count; i++) {
    const tsn_place *place = tsn_places_at(places, i);
    if (!tsn_places_name(places, i, r->symbols) ||
        (place->known && !keep_name(r, place))) {
      return false;
    }
  }
  return true;
}

/* What the description of the whole has of each run. */
static void add_info(tsn_spmd *whole, const tsanom_runs *run) {
  tsanom_runs_info info, *all = &whole->incomplete;
  info = (tsanom_runs_info){.struct_size = sizeof info};
  (void)tsanom_runs_describe(run, &info);
  if (info.state > all->state) all->state = info.state;
  if (info.restarts > all->restarts) all->restarts = info.restarts;
  if (info.last > all->last) all->last = info.last;
  all->events += info.events;
  all->events_dropped += info.events_dropped;
  if (!all->error) all->error = info.error;
  all->skipped += info.skipped;
  if (whole->damage && !whole->damage->status) *whole->damage = run->damage;
}

/* The set has space for the functions of one process at least; names beyond that are of
 * processes that differ. */
static bool add_dropped(reader *r, const tsn_spmd *process) {
  for (size_t i = 0; i < process->dropped_count; i++) {
    if (r->dropped.count == r->dropped.capacity) return true;
    if (tsn_names_number(&r->dropped, process->dropped[i]) == TSANOM_NONE) return false;
  }
  return true;
}

/* Copy them to the whole. */
static bool keep_dropped(const reader *r) {
  tsn_spmd *whole = r->whole;
  size_t count = r->dropped.count;
  if (!count) return true;
  whole->dropped = (const char **)tsn_pool_take(&whole->pool, count, sizeof(char *));
  if (!whole->dropped) return false;
  for (; whole->dropped_count < count; whole->dropped_count++) {
    const char *own = tsn_pool_copy(&whole->pool, r->dropped.name[whole->dropped_count]);
    if (!own) return false;
    whole->dropped[whole->dropped_count] = own;
  }
  return true;
}

/* Whether the thread that began the run recorded functions. */
static bool has_functions(const tsn_channel *channel) {
  return channel->stream_count &&
         tsn_stream_has(tsn_channel_stream(channel, tsn_channel_leader(channel)),
                        TSN_REGIONS_FUNCTION);
}

/* One run as the next part, known as `name`. The part is counted before it is read, so
 * that its pool is freed after a failure too. */
static tsanom_status read_process(reader *r, const char *path, const char *name) {
  if (tsn_exec_stop(r->exec, r->count, r->processes)) return TSANOM_STOPPED;
  tsn_spmd_part *p = &r->part[r->count++];
  tsanom_runs *run = NULL;
  tsanom_runs_options options;
  (void)tsanom_runs_options_init(&options, sizeof options);
  options.parts = TSANOM_RUNS_REGIONS;
  options.salvage = r->whole->damage != NULL;
  *p = (tsn_spmd_part){.path = path, .spmd = tsn_spmd_empty(r->scratch.exec)};
  tsanom_exec quiet = *r->exec;
  quiet.poll = NULL;
  tsanom_status status = tsn_run_open(&path, 0, &options, &r->places, &quiet, &run);
  if (status != TSANOM_OK) return status;
  tsn_region_part *regions = &run->parts.regions;
  if (!name_places(r, &regions->places)) status = no_memory(r);
  if (status == TSANOM_OK && has_functions(&regions->channel)) {
    const tsn_region_events of = {
        .channel = &regions->channel, .places = &regions->places, .is_process = true};
    status = tsn_spmd_read_events(&of, r->exec, &p->spmd);
    if (status == TSANOM_OK) status = match_regions(r, path, p);
  } else if (status == TSANOM_OK) {
    status = tsn_spmd_read_process(&regions->channel, &run->parts.profile,
                                   &regions->places, &r->regions, r->exec, p);
  }
  add_info(r->whole, run);
  tsanom_runs_destroy(run);
  if (status == TSANOM_OK && !add_dropped(r, &p->spmd)) status = no_memory(r);
  if (status < 0) return status;
  p->spmd.process = (const char **)tsn_pool_take(&p->spmd.pool, 1, sizeof name);
  if (!p->spmd.process) return no_memory(r);
  p->spmd.process[0] = name;
  return TSANOM_OK;
}

/* The ranks of one of the paths, or the run that it is. Ranks of a single run are known
 * by number. */
static tsanom_status read_path(reader *r, const char *path, bool is_only,
                               const ranks_of_run *ranks) {
  if (!ranks->rank) {
    const char *name = tsn_pool_copy(&r->scratch, path);
    return name ? read_process(r, name, name) : no_memory(r);
  }
  tsanom_status status = TSANOM_OK;
  for (size_t i = 0; i < ranks->count && status == TSANOM_OK; i++) {
    const char *own =
        tsn_pool_print(&r->scratch, "%s/rank.%" PRId32, path, ranks->rank[i]);
    const char *number = tsn_pool_print(&r->scratch, "%" PRId32, ranks->rank[i]);
    if (!own || !number) return no_memory(r);
    status = read_process(r, own, is_only ? number : own);
  }
  return status;
}

static tsanom_status read_runs(reader *r, const char *const *paths, size_t count) {
  ranks_of_run *ranks = tsn_pool_take(&r->scratch, count, sizeof *ranks);
  if (!ranks) return no_memory(r);
  for (size_t i = 0; i < count; i++) {
    tsanom_status status = read_ranks(paths[i], r->exec, &r->scratch, &ranks[i]);
    if (status < 0) return status;
    if (ranks[i].rank && !ranks[i].count) {
      return tsn_path_fault(r->exec, TSANOM_E_STATE, paths[i], "no rank recorded a run");
    }
    r->processes += ranks[i].rank ? ranks[i].count : 1;
  }
  r->part = tsn_pool_take(&r->scratch, r->processes, sizeof *r->part);
  if (!r->part || !create_places(r) ||
      !tsn_names_create(&r->regions, &r->whole->pool, TSN_REGIONS_MOST) ||
      !tsn_names_create(&r->dropped, &r->scratch, TSN_REGIONS_PLACES_MAX)) {
    return no_memory(r);
  }
  tsanom_status status = TSANOM_OK;
  for (size_t i = 0; i < count && status == TSANOM_OK; i++) {
    status = read_path(r, paths[i], count == 1, &ranks[i]);
  }
  return status;
}

/* ---- region files */

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
static tsanom_status read_file(reader *r, const char *name) {
  tsn_spmd_part *p = &r->part[r->count++];
  p->spmd = tsn_spmd_empty(r->scratch.exec);
  tsn_source source = tsn_source_named(r->exec, r->path, "%s", name);
  p->path = tsn_pool_copy(&r->scratch, source.path);
  if (!p->path) return no_memory(r);
  FILE *stream;
  tsanom_status status = tsn_source_open_stream(&source, &stream);
  if (status < 0) return status;
  status = tsn_spmd_read_json(stream, p->path, true, r->exec, &p->spmd);
  (void)fclose(stream);
  return status;
}

/* All files of the directory. The list of names is freed entry by entry, also behind a
 * failure. With salvage, a directory in which no file can be read fails as its last file
 * did. */
static tsanom_status read_files(reader *r) {
  struct dirent **entry = NULL;
  int found = scandir(r->path, &entry, is_json, by_version);
  if (found < 0) {
    return tsn_path_fault(r->exec, TSANOM_E_IO, r->path, "cannot read the directory: %s",
                          tsn_error_text(errno));
  }
  tsanom_status status = TSANOM_OK, last = TSANOM_OK;
  r->part = tsn_pool_take(&r->scratch, (size_t)found, sizeof *r->part);
  if (!r->part) status = no_memory(r);
  if (found == 0) {
    status = tsn_path_fault(r->exec, TSANOM_E_STATE, r->path,
                            "no process wrote a region file");
  }
  for (int i = 0; i < found; i++) {
    if (r->part && status == TSANOM_OK) {
      status = last = read_file(r, entry[i]->d_name);
      if (tsn_salvages(r->exec, last, r->whole->damage)) {
        tsn_pool_free(&r->part[--r->count].spmd.pool);
        status = TSANOM_OK;
      }
    }
    free(entry[i]);
  }
  free(entry);
  return status == TSANOM_OK && r->count == 0 ? last : status; /* none is left */
}

/* ---- the whole
 *
 * Regions and metrics of the processes are matched by name, in the order in which they
 * first occur:
 *
 *   rank-0.json   a b c        whole:         a  b  c  d
 *   rank-1.json   b d                 rank-0  x  x  x  0
 *                                     rank-1  0  x  0  x
 *
 * Region files come in the order of their names, by version: rank-2 before rank-10. So
 * the result does not depend on the order in which the processes ended.
 *
 * Names are matched through hash tables, so that the time is proportional to the cells
 * of the files and of the whole. The parts are read completely before anything is
 * merged: the size of the whole depends on all of them.
 *
 * The files must agree about the nesting of each region; a fault names both files
 * otherwise. */

enum { UNKNOWN = -2 };

/* Names and sizes of the whole. The run lasted as long as its longest process. */
static tsanom_status match_parts(reader *r) {
  tsn_spmd *w = r->whole;
  tsn_names metrics;
  size_t region_most = 0, metric_most = 0;
  for (size_t i = 0; i < r->count; i++) {
    const tsanom_spmd_data *d = &r->part[i].spmd.data;
    region_most += d->regions;
    metric_most += d->metrics;
    w->data.processes += d->processes;
    w->data.elapsed = fmax(w->data.elapsed, d->elapsed);
  }
  if ((!r->regions.name &&
       !tsn_names_create(&r->regions, &w->pool,
                         tsn_smaller(region_most, TSN_REGIONS_MOST))) ||
      !tsn_names_create(&metrics, &w->pool, metric_most)) {
    return no_memory(r);
  }
  for (size_t i = 0; i < r->count; i++) {
    tsn_spmd_part *p = &r->part[i];
    tsanom_status status = p->region ? TSANOM_OK : match_regions(r, r->path, p);
    if (status < 0) return status;
    p->metric = match(r, p->spmd.metric, p->spmd.data.metrics, &metrics);
    if (!p->metric) return no_memory(r);
  }
  w->region = r->regions.name;
  w->metric = metrics.name;
  w->data.regions = r->regions.count;
  w->data.metrics = metrics.count;
  if (w->data.regions) return TSANOM_OK;
  return tsn_path_fault(r->exec, TSANOM_E_STATE, r->path, "no process entered a region");
}

static const char *parent_name(const tsn_spmd *w, int32_t parent) {
  return parent < 0 ? "no region" : w->region[parent];
}

/* Parents as numbers of the whole. The first file that has a region decides, and the
 * others must agree. No circle can arise: a file that has a region also has all regions
 * around it, and is a tree. */
static tsanom_status take_parents(reader *r, const tsn_spmd_part *p) {
  enum { SHOWN = 40 };
  tsn_spmd *w = r->whole;
  for (size_t k = 0; k < p->spmd.data.regions; k++) {
    size_t at = p->region[k];
    int32_t own = p->spmd.parent[k];
    int32_t parent = own < 0 ? TSANOM_SPMD_NONE : (int32_t)p->region[own];
    if (w->parent[at] == UNKNOWN) {
      w->parent[at] = parent;
      r->parent_from[at] = p->path;
    }
    if (w->parent[at] == parent) continue;
    const char *other = strrchr(r->parent_from[at], '/');
    return tsn_path_fault(r->exec, TSANOM_E_FORMAT, p->path,
                          "region %.*s is nested in %.*s here, but in %.*s in %.*s",
                          SHOWN, w->region[at], SHOWN, parent_name(w, parent), SHOWN,
                          parent_name(w, w->parent[at]), SHOWN,
                          other ? other + 1 : r->parent_from[at]);
  }
  return TSANOM_OK;
}

static tsanom_status merge_parents(reader *r) {
  tsn_spmd *w = r->whole;
  w->parent = tsn_pool_take(&w->pool, w->data.regions, sizeof *w->parent);
  r->parent_from =
      (const char **)tsn_pool_take(&r->scratch, w->data.regions, sizeof *r->parent_from);
  if (!w->parent || !r->parent_from) return no_memory(r);
  for (size_t k = 0; k < w->data.regions; k++) w->parent[k] = UNKNOWN;
  for (size_t i = 0; i < r->count; i++) {
    tsanom_status status = take_parents(r, &r->part[i]);
    if (status < 0) return status;
  }
  return TSANOM_OK;
}

/* Two files with one process would be counted twice. */
static tsanom_status take_names(reader *r, const tsn_spmd_part *p, tsn_names *names) {
  for (size_t i = 0; i < p->spmd.data.processes; i++) {
    const char *name = p->spmd.process[i];
    size_t before = names->count, number = tsn_names_number(names, name);
    if (number == TSANOM_NONE) return no_memory(r);
    if (names->count > before) continue;
    return tsn_path_fault(r->exec, TSANOM_E_FORMAT, p->path,
                          "process %.64s is in another file of the run too", name);
  }
  return TSANOM_OK;
}

/* Values by process, if the part has them. */
static bool take_values(reader *r, const double *from, size_t count, size_t first,
                        double **to) {
  tsn_spmd *w = r->whole;
  if (!from) return true;
  if (!*to) *to = tsn_pool_take(&w->pool, w->data.processes, sizeof **to);
  if (*to) memcpy(*to + first, from, count * sizeof **to);
  return *to != NULL;
}

/* Seconds in MPI, and without a processor. */
static bool take_seconds(reader *r) {
  size_t first = 0;
  for (size_t i = 0; i < r->count; i++) {
    const tsn_spmd *own = &r->part[i].spmd;
    size_t count = own->data.processes;
    if (!take_values(r, own->waiting, count, first, &r->whole->waiting) ||
        !take_values(r, own->stalled, count, first, &r->whole->stalled)) {
      return false;
    }
    first += count;
  }
  return true;
}

/* In a region that a process did not enter, it took no time, and all that it measured is
 * 0 there. A metric that it did not measure stays NaN. */
static void take_rows(reader *r, const tsn_spmd_part *p, size_t first) {
  tsn_spmd *w = r->whole;
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
static bool merge_errors(reader *r) {
  tsn_spmd *w = r->whole;
  size_t regions = w->data.regions, rows = w->data.processes, columns = 0;
  bool has_batches = false;
  for (size_t i = 0; i < r->count; i++) has_batches |= r->part[i].spmd.batch != NULL;
  if (!has_batches) return true;
  uint32_t *column = tsn_pool_take(&r->scratch, regions, sizeof *column);
  for (size_t k = 0; column && k < regions; k++) {
    if (w->parent[k] == TSANOM_SPMD_NONE) column[k] = (uint32_t)++columns;
  }
  tsn_spmd_samples samples;
  w->error = tsn_pool_take(&w->pool, rows * regions, sizeof *w->error);
  double *error = tsn_pool_take(&r->scratch, rows * columns, sizeof *error);
  if (!column || !w->error || !error ||
      !tsn_spmd_take_samples(&samples, &r->scratch, rows * columns)) {
    return false;
  }
  for (size_t i = 0; i < r->count; i++) {
    take_batches(&r->part[i], i, columns, column, &samples);
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
static tsanom_status merge_rows(reader *r) {
  tsn_spmd *w = r->whole;
  tsn_names names;
  size_t matrix = tsn_product(w->data.processes, w->data.regions);
  size_t cells = tsn_product(w->data.metrics, matrix);
  if (!tsn_names_create(&names, &w->pool, w->data.processes)) return no_memory(r);
  w->process = names.name;
  w->time = tsn_pool_take(&w->pool, matrix, sizeof *w->time);
  w->value = tsn_pool_take(&w->pool, cells, sizeof *w->value);
  if (!w->time || !w->value || !take_seconds(r)) return no_memory(r);
  for (size_t i = 0; i < cells; i++) w->value[i] = NAN;
  for (size_t i = 0; i < r->count; i++) {
    size_t first = names.count;
    tsanom_status status = take_names(r, &r->part[i], &names);
    if (status < 0) return status;
    take_rows(r, &r->part[i], first);
  }
  return merge_errors(r) ? TSANOM_OK : no_memory(r);
}

/* After the parts were read; frees them in any case. */
static tsanom_status merge(reader *r, tsanom_status status) {
  if (status == TSANOM_OK) status = match_parts(r);
  if (status == TSANOM_OK) status = merge_parents(r);
  if (status == TSANOM_OK) status = merge_rows(r);
  if (status == TSANOM_OK && !keep_dropped(r)) status = no_memory(r);
  for (size_t i = 0; i < r->count; i++) tsn_pool_free(&r->part[i].spmd.pool);
  tsn_pool_free(&r->scratch);
  tsn_spmd_complete(r->whole);
  return status;
}

tsanom_status tsn_spmd_read_directory(const char *directory, const tsanom_exec *exec,
                                      tsn_spmd *spmd) {
  reader r = {.exec = exec,
              .path = directory,
              .scratch = {.exec = spmd->pool.exec},
              .whole = spmd};
  return merge(&r, read_files(&r));
}

tsanom_status tsn_spmd_read_processes(const char *const *paths, size_t count,
                                      bool symbols, const tsanom_exec *exec,
                                      tsn_spmd *spmd) {
  reader r = {.exec = exec,
              .path = paths[0],
              .scratch = {.exec = spmd->pool.exec},
              .symbols = symbols,
              .whole = spmd};
  return merge(&r, read_runs(&r, paths, count));
}
