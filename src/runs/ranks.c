/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a run are its directories rank.K that contain a run: a rank that was ended
 * before MPI_Init, or is on a machine with another file system, has none. The file that
 * is looked for is the last one that the recorder creates.
 *
 *   ranks.tsv   tsanom ranks 1 LF size TAB 4 LF job TAB 1094451201 LF */
#include "runs/ranks.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/exec.h"
#include "runs/source.h"

#include <tsanom/runs.h>

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
                          tsn_ranks *ranks) {
  tsn_file_place place = {.file = path};
  DIR *directory = opendir(path);
  size_t capacity = 0;
  if (!directory) {
    return tsn_reject_file(exec, TSANOM_E_IO, &place, "cannot read the directory: %s",
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

tsanom_status tsn_ranks_read(const char *path, const tsanom_exec *exec, tsn_pool *pool,
                             tsn_ranks *ranks) {
  *ranks = (tsn_ranks){0};
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
  tsn_ranks found;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  if (!path) return tsn_reject_null(&own, "path", TSANOM_NONE);
  if (!ranks && capacity) return tsn_reject_null(&own, "ranks", capacity);
  if (!count) return tsn_reject_null(&own, "count", TSANOM_NONE);
  if (!size) return tsn_reject_null(&own, "size", TSANOM_NONE);
  tsn_pool pool = {.exec = &own};
  status = tsn_ranks_read(path, &own, &pool, &found);
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
