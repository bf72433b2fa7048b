/* SPDX-License-Identifier: BSD-3-Clause */
/* A recorder's row as a region file of one process, in a run folder. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spmd/cpu_clock.h"
#include "spmd/recorder.h"

enum { NAME_MOST = 64 };

/* Letters, digits, '-', '_' and '.', which does not come first: the name of a file. */
static bool is_file_name(const char *name) {
  static const char allowed[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
      "0123456789-_.";
  size_t length = strlen(name);
  return length > 0 && length <= NAME_MOST && name[0] != '.' &&
         strspn(name, allowed) == length;
}

static void put_text(FILE *out, const char *text) {
  (void)fputc('"', out);
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c < 0x20) {
      (void)fprintf(out, "\\u%04x", c);
    } else {
      if (c == '"' || c == '\\') (void)fputc('\\', out);
      (void)fputc(c, out);
    }
  }
  (void)fputc('"', out);
}

/* Whole nanoseconds as seconds: no rounding, and no locale's decimal point. */
static void put_seconds(FILE *out, int64_t nanoseconds) {
  const int64_t unit = 1000000000;
  (void)fprintf(out, "%" PRId64 ".%09" PRId64, nanoseconds / unit, nanoseconds % unit);
}

static const char *comma(bool *first) {
  const char *between = *first ? "" : ", ";
  *first = false;
  return between;
}

static bool was_visited(const tsanom_spmd_recorder *r, size_t region) {
  return r->visit[region].parent != TSN_SPMD_UNSEEN;
}

static void put_regions(FILE *out, const tsanom_spmd_recorder *r,
                        const char *const *names) {
  bool first = true;
  (void)fputs(" \"regions\": [", out);
  for (size_t k = 0; k < r->regions; k++) {
    if (!was_visited(r, k)) continue;
    (void)fprintf(out, "%s{\"name\": ", comma(&first));
    put_text(out, names[k]);
    (void)fputs(", \"parent\": ", out);
    if (r->visit[k].parent < 0) {
      (void)fputs("null}", out);
    } else {
      put_text(out, names[r->visit[k].parent]);
      (void)fputc('}', out);
    }
  }
  (void)fputs("],\n", out);
}

static void put_times(FILE *out, const tsanom_spmd_recorder *r) {
  bool first = true;
  (void)fputs(" \"time\": [[", out);
  for (size_t k = 0; k < r->regions; k++) {
    if (!was_visited(r, k)) continue;
    (void)fputs(comma(&first), out);
    put_seconds(out, r->visit[k].time);
  }
  (void)fputs("]],\n", out);
}

/* `event` is SIZE_MAX for the visits. */
static void put_metric(FILE *out, const tsanom_spmd_recorder *r, const char *name,
                       size_t event) {
  bool first = true;
  (void)fputs("  {\"name\": ", out);
  put_text(out, name);
  (void)fputs(", \"value\": [[", out);
  for (size_t k = 0; k < r->regions; k++) {
    if (!was_visited(r, k)) continue;
    uint64_t count = r->visit[k].calls;
    bool counted = event == SIZE_MAX || tsn_spmd_counted(r->counters, event, k, &count);
    (void)fputs(comma(&first), out);
    if (counted) {
      (void)fprintf(out, "%" PRIu64, count);
    } else {
      (void)fputs("null", out);
    }
  }
  (void)fputs("]]}", out);
}

static void put_process(FILE *out, const tsanom_spmd_recorder *r, const char *process,
                        const char *const *regions, const char *const *events) {
  size_t counted = r->counters && events ? tsn_spmd_counted_events(r->counters) : 0;
  (void)fputs("{\"processes\": [", out);
  put_text(out, process);
  (void)fprintf(out, "],\n \"clock\": \"%s\",\n",
                r->clock == TSANOM_SPMD_CLOCK_CPU ? "cpu" : "elapsed");
  put_regions(out, r, regions);
  put_times(out, r);
  (void)fputs(" \"metrics\": [\n", out);
  put_metric(out, r, "calls", SIZE_MAX);
  for (size_t e = 0; e < counted; e++) {
    (void)fputs(",\n", out);
    put_metric(out, r, events[e], e);
  }
  (void)fputs("],\n \"elapsed\": ", out);
  put_seconds(out, tsn_elapsed_now() - r->made);
  (void)fputs("}\n", out);
}

static bool make_folder(const char *path) {
  return mkdir(path, 0777) == 0 || errno == EEXIST;
}

/* Others see the whole file or none. */
static tsanom_status write_file(const char *folder, const tsanom_spmd_recorder *r,
                                const char *process, const char *const *regions,
                                const char *const *events) {
  char path[PATH_MAX], part[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s/spmd/%s.json", folder, process);
  int part_length = snprintf(part, sizeof part, "%s/spmd/.%s.part", folder, process);
  if (length < 0 || length >= PATH_MAX || part_length < 0 || part_length >= PATH_MAX) {
    return TSANOM_E_IO;
  }
  FILE *out = fopen(part, "we");
  if (!out) return TSANOM_E_IO;
  put_process(out, r, process, regions, events);
  bool failed = ferror(out) != 0;
  if (fclose(out) != 0 || failed || rename(part, path) != 0) {
    (void)unlink(part);
    return TSANOM_E_IO;
  }
  return TSANOM_OK;
}

tsanom_status tsanom_spmd_recorder_write(const tsanom_spmd_recorder *r,
                                         const char *folder, const char *process,
                                         const char *const *regions,
                                         const char *const *events) {
  char inner[PATH_MAX];
  if (!r || !folder || !process || !regions) return TSANOM_E_NULL;
  for (size_t k = 0; k < r->regions; k++) {
    if (!regions[k]) return TSANOM_E_NULL;
  }
  for (size_t e = 0; events && r->counters && e < tsn_spmd_counted_events(r->counters);
       e++) {
    if (!events[e]) return TSANOM_E_NULL;
  }
  if (!is_file_name(process)) return TSANOM_E_VALUE;
  int length = snprintf(inner, sizeof inner, "%s/spmd", folder);
  if (length < 0 || length >= PATH_MAX || !make_folder(folder) || !make_folder(inner)) {
    return TSANOM_E_IO;
  }
  tsanom_status status = write_file(folder, r, process, regions, events);
  if (status < 0) return status;
  return r->mixed || r->used ? TSANOM_PARTIAL : TSANOM_OK;
}
