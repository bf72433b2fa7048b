/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of code regions, one recorder per thread.
 *
 * A visit of region k adds clock(end) - clock(begin) to time[k], nested regions
 * included; of a recursive region only the outermost visit counts:
 *
 *   begin 0   begin 1   begin 1   end 1   end 1   end 0
 *   |         |<----------- time[1] ------>|         |
 *   |<------------------- time[0] ------------------>|       calls[1] = 2
 *
 * A stack of the open regions gives the parent of each, and rejects an end that does not
 * match. Its depth is fixed at creation, so that begin and end allocate nothing.
 *
 * A pair of begin and end takes 83 instructions besides the clock (callgrind), and 36.4
 * ns with two readings of CLOCK_MONOTONIC, which alone take 37.7 (docs/benchmarks.md). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/record.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/versioned.h"
#include "record/clock.h"
#include "record/file.h"

/* Each recorder belongs to one thread, so that nothing here is atomic.
 *
 * The parent of a region that was never entered; TSANOM_SPMD_NONE is the parent of one
 * that was entered outside of any region. */
enum { UNSEEN = -2 };

typedef struct {
  /* Nanoseconds of visits that have ended. Integers: sums of doubles would lose the
   * short visits of a long run. */
  int64_t time;
  /* Visits that have ended, inner ones of a recursive region included. */
  uint64_t calls;
  /* Of the outermost open visit. */
  int64_t start;
  /* Visits of this region that are open; above 1 where it is recursive. */
  uint32_t open;
  /* The region where it was first entered from; UNSEEN. */
  int32_t parent;
} visits;

struct tsanom_spmd_recorder {
  tsn_object owner;
  size_t regions, depth, used;
  /* Elapsed time of its initialization: the beginning of the written `elapsed`. */
  int64_t made;
  int32_t clock;
  /* A region was entered from several others. The file has one parent for each region,
   * so the result is then partial. */
  int32_t mixed;
  visits *visit;  /* of each region */
  int32_t *stack; /* the open regions, `used` of `depth` */
};

static const tsanom_spmd_recorder_options defaults = {.struct_size = sizeof defaults};
static const tsn_versioned options_type = {sizeof defaults, sizeof defaults, &defaults};

tsanom_status tsanom_spmd_recorder_options_init(tsanom_spmd_recorder_options *options,
                                                size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static int64_t now(const tsanom_spmd_recorder *r) {
  return r->clock == TSANOM_SPMD_CLOCK_CPU ? tsn_cpu_clock_now()
                                           : (int64_t)tsn_clock_monotonic();
}

static tsanom_status check_sizes(const tsanom_exec *exec, size_t regions, size_t depth) {
  const size_t most = INT32_MAX;
  tsanom_status status =
      tsn_require_size(exec, TSANOM_E_COUNT, "regions", regions, 1, most);
  if (status < 0) return status;
  return tsn_require_size(exec, TSANOM_E_COUNT, "depth", depth, 1, most);
}

static tsanom_status read_options(const tsanom_spmd_recorder_options *options,
                                  const tsanom_exec *exec,
                                  tsanom_spmd_recorder_options *own) {
  tsanom_status status = tsn_struct_read(exec, &options_type, own, options, "options");
  if (status < 0) return status;
  status = tsn_require_int(exec, TSANOM_E_OPTION, "options.clock", own->clock,
                           TSANOM_SPMD_CLOCK_ELAPSED, TSANOM_SPMD_CLOCK_CPU);
  if (status < 0) return status;
  return tsn_require_int(exec, TSANOM_E_OPTION, "options.reserved0", own->reserved0, 0,
                         0);
}

/* What a recorder is laid out for: the sizes, and the addresses that layout() finds. */
typedef struct {
  size_t regions, depth;
  const tsanom_exec *exec;
  tsanom_spmd_recorder **output;
  tsanom_spmd_recorder *recorder;
  visits *visit;
  int32_t *stack;
} placement;

/* Runs twice: to compute the size, and to place the parts in a block of that size. */
static void layout(tsn_arena *arena, void *context) {
  placement *p = context;
  p->recorder = tsn_arena_take(arena, 1, sizeof *p->recorder);
  p->visit = tsn_arena_take(arena, p->regions, sizeof *p->visit);
  p->stack = tsn_arena_take(arena, p->depth, sizeof *p->stack);
}

tsanom_status tsanom_spmd_recorder_size(size_t regions, size_t depth, size_t *bytes) {
  placement p = {.regions = regions, .depth = depth};
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = check_sizes(NULL, regions, depth);
  return status < 0 ? status : tsn_layout_bytes(layout, &p, bytes);
}

static tsanom_status check_output(void *context) {
  const placement *p = context;
  return tsn_require(p->exec, p->output, "recorder");
}

/* All arguments are checked before memory is taken. */
static tsanom_status make(void *memory, size_t bytes, placement p,
                          const tsanom_spmd_recorder_options *options) {
  tsanom_spmd_recorder_options own;
  tsn_object owner;
  tsanom_status status = check_sizes(p.exec, p.regions, p.depth);
  if (status < 0) return status;
  if ((status = read_options(options, p.exec, &own)) < 0) return status;
  if ((status =
           tsn_object_place(p.exec, layout, check_output, &p, memory, bytes, &owner)) < 0)
    return status;
  for (size_t k = 0; k < p.regions; k++) {
    p.visit[k] = (visits){.parent = UNSEEN};
  }
  *p.recorder = (tsanom_spmd_recorder){.owner = owner,
                                       .regions = p.regions,
                                       .depth = p.depth,
                                       .clock = own.clock,
                                       .made = (int64_t)tsn_clock_monotonic(),
                                       .visit = p.visit,
                                       .stack = p.stack};
  *p.output = p.recorder;
  return TSANOM_OK;
}

tsanom_status tsanom_spmd_recorder_init(void *memory, size_t bytes, size_t regions,
                                        size_t depth,
                                        const tsanom_spmd_recorder_options *options,
                                        const tsanom_exec *exec,
                                        tsanom_spmd_recorder **recorder) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  if ((status = tsn_require(&own, memory, "memory")) < 0) return status;
  placement p = {.regions = regions, .depth = depth, .exec = &own, .output = recorder};
  return make(memory, bytes, p, options);
}

tsanom_status tsanom_spmd_recorder_create(size_t regions, size_t depth,
                                          const tsanom_spmd_recorder_options *options,
                                          const tsanom_exec *exec,
                                          tsanom_spmd_recorder **recorder) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  placement p = {.regions = regions, .depth = depth, .exec = &own, .output = recorder};
  return make(NULL, 0, p, options);
}

void tsanom_spmd_recorder_destroy(tsanom_spmd_recorder *r) {
  if (!r) return;
  tsn_object owner = r->owner;
  tsn_object_release(&owner);
}

/* The clock is read last: the bookkeeping before it belongs to the enclosing region. */
tsanom_status tsanom_spmd_begin(tsanom_spmd_recorder *r, int32_t region) {
  if (!r) return TSANOM_E_NULL;
  if (region < 0 || (size_t)region >= r->regions) return TSANOM_E_INDEX;
  if (r->used == r->depth) return TSANOM_E_STATE;
  visits *v = &r->visit[region];
  int32_t parent = r->used ? r->stack[r->used - 1] : TSANOM_SPMD_NONE;
  r->stack[r->used++] = region;
  if (v->open++) return TSANOM_OK;
  if (v->parent == UNSEEN) v->parent = parent;
  r->mixed |= v->parent != parent;
  v->start = now(r);
  return TSANOM_OK;
}

/* The clock is read as soon as the visit is known to be the outermost one. A wrong
 * region is rejected and changes nothing. */
tsanom_status tsanom_spmd_end(tsanom_spmd_recorder *r, int32_t region) {
  if (!r) return TSANOM_E_NULL;
  if (!r->used || r->stack[r->used - 1] != region) return TSANOM_E_STATE;
  visits *v = &r->visit[region];
  r->used--;
  v->calls++;
  if (--v->open != 0) return TSANOM_OK;
  v->time += now(r) - v->start;
  return TSANOM_OK;
}

tsanom_status tsanom_spmd_recorder_read(const tsanom_spmd_recorder *r, double *time,
                                        uint64_t *calls, int32_t *parent) {
  if (!r) return TSANOM_E_NULL;
  for (size_t k = 0; k < r->regions; k++) {
    const visits *v = &r->visit[k];
    if (time) time[k] = 1e-9 * (double)v->time;
    if (calls) calls[k] = v->calls;
    if (parent) parent[k] = v->parent == UNSEEN ? TSANOM_SPMD_NONE : v->parent;
  }
  return r->mixed || r->used ? TSANOM_PARTIAL : TSANOM_OK;
}

/* ---- the region file
 *
 * The result of a region recorder as a region file of one process, in a run directory:
 *
 *   RUN/spmd/.PROCESS.part ──rename──▶ RUN/spmd/PROCESS.json
 *
 * Nothing else contains the times, so that tsanom similar needs the file.
 *
 * Other processes of the same run, and a reader, see a whole file or none. A process
 * that is killed while it writes leaves a file whose name begins with a dot, which
 * readers skip.
 *
 * The JSON is written by hand, in the format of docs/formats.md: the recorder needs the C
 * library alone. Only regions that were entered are written. printf() takes the decimal
 * point from the program's locale, so numbers are written as integers where that is
 * possible and corrected where it is not. */

enum { NAME_MOST = 64 };

static const tsanom_spmd_row row_defaults = {.struct_size = sizeof row_defaults};
static const tsn_versioned row_type = {sizeof row_defaults, sizeof row_defaults,
                                       &row_defaults};

/* Letters, digits, '-', '_' and '.', which does not come first: a name that cannot leave
 * the directory, on any file system. */
static bool is_file_name(const char *name) {
  static const char allowed[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
      "0123456789-_.";
  size_t length = strlen(name);
  return length > 0 && length <= NAME_MOST && name[0] != '.' &&
         strspn(name, allowed) == length;
}

/* A JSON string: quotes, backslashes and control characters are escaped; all other bytes
 * are copied, so that UTF-8 stays as it is. */
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

/* 17 digits, which read back to the same bits, with a point whatever the locale's. NaN
 * means that the program did not measure the value: null. */
static void put_number(FILE *out, double value) {
  char text[32];
  if (isnan(value)) {
    (void)fputs("null", out);
    return;
  }
  (void)snprintf(text, sizeof text, "%.17g", value);
  size_t whole = strspn(text, "-0123456789");
  size_t point = strcspn(text + whole, "0123456789e");
  (void)fprintf(out, "%.*s%s%s", (int)whole, text, point ? "." : "",
                text + whole + point);
}

/* The separator in front of an element: nothing before the first. */
static const char *comma(bool *first) {
  const char *between = *first ? "" : ", ";
  *first = false;
  return between;
}

/* Region numbers are the program's; one process may enter only a few of them. */
static bool was_visited(const tsanom_spmd_recorder *r, size_t region) {
  return r->visit[region].parent != UNSEEN;
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

/* `value`: the program's own, by region; NULL: the visits. */
static void put_metric(FILE *out, const tsanom_spmd_recorder *r, const char *name,
                       const double *value) {
  bool first = true;
  (void)fputs("  {\"name\": ", out);
  put_text(out, name);
  (void)fputs(", \"value\": [[", out);
  for (size_t k = 0; k < r->regions; k++) {
    if (!was_visited(r, k)) continue;
    (void)fputs(comma(&first), out);
    if (value) {
      put_number(out, value[k]);
    } else {
      (void)fprintf(out, "%" PRIu64, r->visit[k].calls);
    }
  }
  (void)fputs("]]}", out);
}

static void put_metrics(FILE *out, const tsanom_spmd_recorder *r,
                        const tsanom_spmd_row *row) {
  (void)fputs(" \"metrics\": [\n", out);
  put_metric(out, r, "calls", NULL);
  for (size_t m = 0; m < row->metrics; m++) {
    (void)fputs(",\n", out);
    put_metric(out, r, row->metric[m], row->value + m * r->regions);
  }
  (void)fputs("],\n", out);
}

static void put_row(FILE *out, const tsanom_spmd_recorder *r,
                    const tsanom_spmd_row *row) {
  (void)fputs("{\"processes\": [", out);
  put_text(out, row->process);
  (void)fprintf(out, "],\n \"clock\": \"%s\",\n",
                r->clock == TSANOM_SPMD_CLOCK_CPU ? "cpu" : "elapsed");
  put_regions(out, r, row->region);
  put_times(out, r);
  put_metrics(out, r, row);
  (void)fputs(" \"elapsed\": ", out);
  put_seconds(out, (int64_t)tsn_clock_monotonic() - r->made);
  (void)fputs("}\n", out);
}

static tsanom_status make_directory(const char *path, const tsanom_exec *exec) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return TSANOM_OK;
  return tsn_reject_path(exec, "create", path, errno);
}

/* The row as text, which the caller frees; NULL: an errno. */
static char *print_row(const tsanom_spmd_recorder *r, const tsanom_spmd_row *row,
                       size_t *bytes) {
  char *text = NULL;
  FILE *out = open_memstream(&text, bytes);
  if (!out) return NULL;
  put_row(out, r, row);
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

/* The row in a new file. Returns 0 or an errno. */
static int write_part(const char *part, const tsanom_spmd_recorder *r,
                      const tsanom_spmd_row *row) {
  tsn_file file;
  int failed = tsn_file_open(&file, AT_FDCWD, part, O_WRONLY | O_CREAT | O_EXCL);
  if (failed == EEXIST && unlink(part) == 0) { /* of a process that was killed */
    failed = tsn_file_open(&file, AT_FDCWD, part, O_WRONLY | O_CREAT | O_EXCL);
  }
  if (failed) return failed;
  size_t bytes = 0;
  char *text = print_row(r, row, &bytes);
  failed = text ? tsn_file_write(&file, text, bytes, 0) : errno;
  free(text);
  tsn_file_close(&file);
  return failed;
}

/* The path is shorter than that of the part. In a frame of its own: two paths take more than
 * 8 KiB. */
__attribute__((noinline)) static tsanom_status finish_part(const char *part, int error,
                                                           const char *directory,
                                                           const char *process,
                                                           const tsanom_exec *exec) {
  char path[PATH_MAX];
  (void)snprintf(path, sizeof path, "%s/spmd/%s.json", directory, process);
  if (!error && rename(part, path) != 0) error = errno;
  if (!error) return TSANOM_OK;
  (void)unlink(part);
  return tsn_reject_path(exec, "write", path, error);
}

/* Other processes see the whole file or none. */
static tsanom_status write_file(const char *directory, const tsanom_spmd_recorder *r,
                                const tsanom_spmd_row *row, const tsanom_exec *exec) {
  char part[PATH_MAX];
  int length = snprintf(part, sizeof part, "%s/spmd/.%s.part", directory, row->process);
  if (length < 0 || length >= PATH_MAX) {
    return tsn_reject_path(exec, "write", part, ENAMETOOLONG);
  }
  int error = write_part(part, r, row);
  return finish_part(part, error, directory, row->process, exec);
}

static tsanom_status check_names(const tsanom_exec *exec, const char *field,
                                 const char *const *names, size_t count) {
  if (count && !names) return tsn_reject_null(exec, field, count);
  for (size_t i = 0; i < count; i++) {
    if (names[i]) continue;
    return tsn_reject_is(exec, TSANOM_E_NULL, field, i, "NULL; a name is expected");
  }
  return TSANOM_OK;
}

typedef struct {
  const char *name;
  size_t element;
} row_name;

static int compare_names(const void *a, const void *b) {
  const row_name *first = a, *second = b;
  int order = strcmp(first->name, second->name);
  return order ? order : (first->element > second->element) * 2 - 1;
}

/* Readers know regions by their names; only those that were visited are written. Without memory, the
 * names are not checked. */
static tsanom_status check_different(const tsanom_spmd_recorder *r,
                                     const char *const *names, const tsanom_exec *exec) {
  row_name *row = malloc(r->regions * sizeof *row);
  size_t count = 0, wrong = 0;
  for (size_t k = 0; row && k < r->regions; k++) {
    if (was_visited(r, k)) row[count++] = (row_name){names[k], k};
  }
  if (count) qsort(row, count, sizeof *row, compare_names);
  while (wrong < count && *row[wrong].name &&
         (wrong == 0 || strcmp(row[wrong - 1].name, row[wrong].name) != 0)) {
    wrong++;
  }
  tsanom_status status = TSANOM_OK;
  if (wrong < count) {
    status = tsn_reject_is(exec, TSANOM_E_VALUE, "row.region", row[wrong].element,
                           "\"%.64s\"; a name that no other region has is expected",
                           row[wrong].name);
  }
  free(row);
  return status;
}

/* Infinity has no form in JSON; NaN becomes null. */
static tsanom_status check_values(const tsanom_exec *exec, const tsanom_spmd_row *row,
                                  size_t regions) {
  if (row->metrics && !row->value) {
    return tsn_reject_null(exec, "row.value", row->metrics * regions);
  }
  for (size_t v = 0; v < row->metrics * regions; v++) {
    if (!isinf(row->value[v])) continue;
    return tsn_reject_value(exec, TSANOM_E_NONFINITE, "row.value", v / regions,
                            v % regions, row->value[v],
                            "a finite value, or NaN for one not measured, is expected");
  }
  return TSANOM_OK;
}

static tsanom_status check_row(const tsanom_spmd_recorder *r, const tsanom_spmd_row *row,
                               const tsanom_exec *exec) {
  tsanom_status status = tsn_require(exec, row->process, "row.process");
  if (status < 0) return status;
  status = check_names(exec, "row.region", row->region, r->regions);
  if (status < 0) return status;
  if ((status = check_different(r, row->region, exec)) < 0) return status;
  status = check_names(exec, "row.metric", row->metric, row->metrics);
  if (status < 0) return status;
  if ((status = check_values(exec, row, r->regions)) < 0) return status;
  if (is_file_name(row->process)) return TSANOM_OK;
  return tsn_reject_is(exec, TSANOM_E_VALUE, "row.process", TSANOM_NONE,
                       "\"%.64s\"; 1 to %d letters, digits and \"-_.\" are expected, the "
                       "first not a dot",
                       row->process, NAME_MOST);
}

/* Not inlined: a frame has at most 8 KiB. */
__attribute__((noinline)) static tsanom_status make_directories(const char *directory,
                                                                const tsanom_exec *exec) {
  char inner[PATH_MAX];
  int length = snprintf(inner, sizeof inner, "%s/spmd", directory);
  if (length < 0 || length >= PATH_MAX) {
    return tsn_reject_path(exec, "create", directory, ENAMETOOLONG);
  }
  tsanom_status status = make_directory(directory, exec);
  return status < 0 ? status : make_directory(inner, exec);
}

/* All of the row is checked before the first directory is created. TSANOM_PARTIAL: the
 * file is written, but a region was entered from several others, or some are still open.
 */
tsanom_status tsanom_spmd_recorder_write(const tsanom_spmd_recorder *r,
                                         const char *directory,
                                         const tsanom_spmd_row *row,
                                         const tsanom_exec *exec) {
  tsanom_spmd_row own;
  tsanom_exec how;
  tsanom_status status = tsn_exec_read_base(&how, exec);
  if (status < 0) return status;
  if ((status = tsn_require(&how, r, "recorder")) < 0) return status;
  if ((status = tsn_require(&how, directory, "directory")) < 0) return status;
  if ((status = tsn_require(&how, row, "row")) < 0) return status;
  status = tsn_struct_read(&how, &row_type, &own, row, "row");
  if (status < 0) return status;
  if ((status = check_row(r, &own, &how)) < 0) return status;
  if ((status = make_directories(directory, &how)) < 0) return status;
  if ((status = write_file(directory, r, &own, &how)) < 0) return status;
  return r->mixed || r->used ? TSANOM_PARTIAL : TSANOM_OK;
}
