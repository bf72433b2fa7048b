/* SPDX-License-Identifier: BSD-3-Clause */
/* Several runs as the processes of one program: the ranks of a run, or runs that the
 * caller lists. They are read one after the other, so that the memory is that of the
 * longest run and of the region times of all.
 *
 *   RUN/rank.0 ──process_times.c──▶ row 0 ─┐
 *   RUN/rank.1 ──process_times.c──▶ row 1 ─┼─ region_json.c ──▶ matrix
 *
 * A run with functions is a row by region_rows.c instead.
 *
 * The processes run the same program, so their places are those of the first of them for
 * the most part, and the name of each is looked up once. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "core/exec.h"
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

/* Places that are kept with their names; further ones are looked up in each process. */
enum { KEPT_MOST = 1 << 15 };

typedef struct {
  const tsanom_exec *exec;
  tsn_pool scratch;
  bool symbols;
  tsn_known_places places;
  tsn_names regions; /* names that the parts share */
  tsn_names dropped; /* functions that were left out in some process */
  tsn_spmd_part *part;
  size_t count;
  tsn_spmd *whole;
} reader;

static tsanom_status no_memory(const reader *r) {
  return tsn_reject(r->exec, TSANOM_E_MEMORY, "exec.alloc");
}

/* Names of all places; a module is opened only if one of its places is new. */
static bool name_places(reader *r, tsn_places *places) {
  for (size_t i = 0; i < places->count; i++) {
    const tsn_place *place = tsn_places_at(places, i);
    if (!tsn_places_name(places, i, r->symbols) ||
        (place->known && !tsn_known_place_name(&r->places, place))) {
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
    if (tsn_names_find(&r->dropped, process->dropped[i]) != TSANOM_NONE) continue;
    const char *own = tsn_pool_copy(&r->scratch, process->dropped[i]);
    if (!own) return false;
    tsn_names_add(&r->dropped, own);
  }
  return true;
}

/* Copy them to the whole. */
static bool keep_dropped(const reader *r, tsn_spmd *whole) {
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

/* The regions of a part, which have names, as numbers in the names of all. */
static tsanom_status number_regions(reader *r, tsn_spmd_part *p) {
  size_t count = p->spmd.data.regions;
  p->region = tsn_pool_take(&p->spmd.pool, count, sizeof *p->region);
  if (!p->region) return no_memory(r);
  for (size_t k = 0; k < count; k++) {
    size_t number = tsn_names_number(&r->regions, &r->scratch, p->spmd.region[k]);
    if (number == TSANOM_NONE) {
      return r->regions.count == r->regions.capacity
                 ? tsn_reject_regions(p->path, r->exec)
                 : no_memory(r);
    }
    p->region[k] = (uint32_t)number;
  }
  return TSANOM_OK;
}

/* Whether the thread that began the run recorded functions. */
static bool has_functions(const tsn_channel *channel) {
  return channel->stream_count &&
         tsn_stream_has(tsn_channel_stream(channel, 0), TSN_REGIONS_FUNCTION);
}

/* One run as the next part, known as `name`. The part is counted before it is read, so
 * that its pool is freed after a failure too. */
static tsanom_status read_process(reader *r, const char *path, const char *name) {
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
    status =
        tsn_spmd_read_functions(&regions->channel, &regions->places, r->exec, &p->spmd);
    if (status == TSANOM_OK) status = number_regions(r, p);
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
    bool stop = r->exec->poll && r->exec->poll(r->exec->poll_user, i + 1, ranks->count);
    if (status == TSANOM_OK && stop) status = TSANOM_STOPPED;
  }
  return status;
}

static tsanom_status read_all(reader *r, const char *const *paths, size_t count) {
  ranks_of_run *ranks = tsn_pool_take(&r->scratch, count, sizeof *ranks);
  size_t processes = 0;
  if (!ranks) return no_memory(r);
  for (size_t i = 0; i < count; i++) {
    tsanom_status status = read_ranks(paths[i], r->exec, &r->scratch, &ranks[i]);
    if (status < 0) return status;
    if (ranks[i].rank && !ranks[i].count) {
      return tsn_path_fault(r->exec, TSANOM_E_STATE, paths[i], "no rank recorded a run");
    }
    processes += ranks[i].rank ? ranks[i].count : 1;
  }
  r->part = tsn_pool_take(&r->scratch, processes, sizeof *r->part);
  if (!r->part || !tsn_known_places_create(&r->places, &r->scratch, KEPT_MOST) ||
      !tsn_names_create(&r->regions, &r->scratch, TSN_REGIONS_MOST) ||
      !tsn_names_create(&r->dropped, &r->scratch, TSN_REGIONS_PLACES_MAX)) {
    return no_memory(r);
  }
  tsanom_status status = TSANOM_OK;
  for (size_t i = 0; i < count && status == TSANOM_OK; i++) {
    status = read_path(r, paths[i], count == 1, &ranks[i]);
  }
  return status;
}

tsanom_status tsn_spmd_read_processes(const char *const *paths, size_t count,
                                      bool symbols, const tsanom_exec *exec,
                                      tsn_spmd *spmd) {
  reader r = {.exec = exec,
              .scratch = {.exec = spmd->pool.exec},
              .symbols = symbols,
              .whole = spmd};
  tsanom_status status = read_all(&r, paths, count);
  if (status == TSANOM_OK) {
    status = tsn_spmd_merge(paths[0], r.part, r.count, &r.regions, exec, spmd);
    if (status == TSANOM_OK && !keep_dropped(&r, spmd)) status = no_memory(&r);
  } else {
    for (size_t i = 0; i < r.count; i++) tsn_pool_free(&r.part[i].spmd.pool);
  }
  tsn_pool_free(&r.scratch);
  return status;
}
