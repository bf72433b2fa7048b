/* SPDX-License-Identifier: BSD-3-Clause */
/* Heartbeats from a CSV file: a header with the columns thread and time in any order,
 * among any others; the separator is a comma, or a tab if the header contains one. Lines
 * that are blank or begin with '#' are skipped.
 *
 * A first pass over the lines collects the rows, then they are sorted by thread, in the
 * order of the file, by counting:
 *
 *   rows     (0, 1.0) (1, 1.1) (0, 2.0) ...      beats[0] = 2, beats[1] = 1
 *   time     | 1.0 2.0 | 1.1 |                   next[t]: where thread t's next beat goes
 *              thread 0  thread 1
 *
 * O(rows + threads), and one array for all series. The file may be a pipe, so it is read
 * once. Memory is bounded by the lines that are present and by the greatest thread
 * number, 65535.
 *
 * Every error names line and column, with the text that was found. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runs/beats.h"

enum { FIELD = 96, LINE = 1 << 16, THREAD = 0, TIME = 1, COLUMNS = 2 };

static const char *const column_names[COLUMNS] = {"thread", "time"};

typedef struct {
  /* Seconds, as in the file. */
  double time;
  uint32_t thread;
} row;

typedef struct {
  const char *file;
  const tsanom_exec *exec;
  uint64_t line;
  char *text; /* LINE bytes */
  char separator;
  /* Field of each column, from 0; TSANOM_NONE: not seen. */
  size_t at[COLUMNS];
  tsn_array rows;
  size_t count;
  /* By thread: the time of its last beat, which the next one must not precede. */
  double *latest;
  size_t *beats; /* by thread */
} reader;

/* Reject the current line; column 0: as a whole. `field` is quoted in front of the
 * sentence. */
static tsanom_status bad(const reader *r, size_t column, const char *field,
                         const char *expected) {
  tsn_file_place place = {.file = r->file, .line = r->line, .column = column};
  return tsn_reject_file(r->exec, TSANOM_E_FORMAT, &place, "%s%s%s%s", field ? "\"" : "",
                         field ? field : "", field ? "\" " : "", expected);
}

/* Cut the next field off the line: without spaces and quotes around it, and without more
 * than fits. Separators within quotes belong to the field. A field that is cut ends with "...": it is
 * no number and no name of a column, so it is rejected later. Returns what follows the
 * separator; NULL after the last field. */
static const char *next_field(const char *line, char separator, char field[FIELD]) {
  size_t used = 0;
  bool is_quoted = false, is_cut = false;
  while (*line == ' ') line++;
  for (; *line && (is_quoted || *line != separator); line++) {
    if (*line == '"') {
      is_quoted = !is_quoted;
    } else if (used + 1 < FIELD) {
      field[used++] = *line;
    } else {
      is_cut |= *line != ' ';
    }
  }
  while (!is_cut && used && field[used - 1] == ' ') used--;
  field[used] = '\0';
  if (is_cut) memcpy(field + used - 3, "...", sizeof "...");
  return *line ? line + 1 : NULL;
}

/* Find the columns. */
static tsanom_status take_header(reader *r, const char *line) {
  char field[FIELD];
  r->separator = strchr(line, '\t') ? '\t' : ',';
  for (size_t k = 0; k < COLUMNS; k++) r->at[k] = TSANOM_NONE;
  size_t index = 0;
  for (const char *rest = line; rest; index++) {
    rest = next_field(rest, r->separator, field);
    for (size_t k = 0; k < COLUMNS; k++) {
      if (strcmp(field, column_names[k]) != 0) continue;
      if (r->at[k] != TSANOM_NONE) return bad(r, index + 1, field, "names two columns");
      r->at[k] = index;
    }
  }
  for (size_t k = 0; k < COLUMNS; k++) {
    if (r->at[k] != TSANOM_NONE) continue;
    return bad(r, 0, column_names[k],
               "is missing: a header with this column is expected");
  }
  return TSANOM_OK;
}

/* strtod() accepts hexadecimal numbers, infinities and NaN as well; the set of
 * characters excludes them. */
static tsanom_status parse_number(const reader *r, size_t column, const char *field,
                                  double *value) {
  char *end;
  errno = 0;
  *value = tsn_parse_double(field, &end);
  if (end == field || *end || field[strspn(field, "+-0123456789.eE")]) {
    return bad(r, r->at[column] + 1, field, "is not a finite decimal number");
  }
  return isfinite(*value) ? TSANOM_OK
                          : bad(r, r->at[column] + 1, field, "is too large a number");
}

/* A series must not decrease, or rates would be negative; the order between threads is
 * free. */
static tsanom_status add_row(reader *r, char text[COLUMNS][FIELD]) {
  double value[COLUMNS];
  for (size_t k = 0; k < COLUMNS; k++) {
    tsanom_status status = parse_number(r, k, text[k], &value[k]);
    if (status < 0) return status;
  }
  double thread = value[THREAD];
  if (thread < 0 || thread >= TSN_THREADS_MOST || thread != floor(thread)) {
    return bad(r, r->at[THREAD] + 1, text[THREAD],
               "is not a thread number: a whole number from 0 to 65535 is expected");
  }
  size_t t = (size_t)thread;
  if (r->beats[t] && value[TIME] < r->latest[t]) {
    return bad(r, r->at[TIME] + 1, text[TIME],
               "is before the previous beat of the thread: times of a thread must not "
               "decrease");
  }
  if (!tsn_array_reserve(&r->rows, r->exec, r->count, r->count + 1, sizeof(row))) {
    return tsn_path_no_memory(r->exec, r->file);
  }
  ((row *)r->rows.data)[r->count++] = (row){value[TIME], (uint32_t)t};
  r->latest[t] = value[TIME];
  r->beats[t]++;
  return TSANOM_OK;
}

static tsanom_status take_row(reader *r, const char *line) {
  char field[FIELD], text[COLUMNS][FIELD] = {{0}};
  size_t index = 0, found = 0;
  for (const char *rest = line; rest; index++) {
    rest = next_field(rest, r->separator, field);
    for (size_t k = 0; k < COLUMNS; k++) {
      if (r->at[k] != index) continue;
      memcpy(text[k], field, sizeof field);
      found++;
    }
  }
  if (found < COLUMNS) {
    return bad(r, 0, NULL, "the line has fewer fields than the header");
  }
  return add_row(r, text);
}

/* The next line without its end; false at the end of the file. A device or a sparse file
 * can be one endless line, which is not read beyond LINE, and a binary file is not taken
 * for text. */
static bool next_line(reader *r, FILE *stream, tsanom_status *status) {
  char *line = r->text;
  size_t length = 0;
  int c;
  while ((c = getc_unlocked(stream)) != EOF && c != '\n' && c && length < LINE - 1) {
    line[length++] = (char)c;
  }
  if (c == EOF && !length) return false;
  r->line++;
  while (length && line[length - 1] == '\r') length--;
  line[length] = '\0';
  if (c == 0) {
    *status = bad(r, 0, NULL, "a text file is expected, but the line contains a NUL");
  } else if (c != '\n' && c != EOF) {
    *status = bad(r, 0, NULL, "the line is longer than 65535 bytes");
  }
  return true;
}

/* All lines of the file, in front of which a spreadsheet may have put a byte-order mark. */
static tsanom_status read_lines(reader *r, FILE *stream) {
  static const char mark[] = "\xef\xbb\xbf";
  bool has_header = false;
  tsanom_status status = TSANOM_OK;
  while (status == TSANOM_OK && next_line(r, stream, &status)) {
    const char *line = r->text;
    if (r->line == 1 && strncmp(line, mark, sizeof mark - 1) == 0)
      line += sizeof mark - 1;
    if (status < 0 || !line[strspn(line, " \t")] || *line == '#') continue;
    status = has_header ? take_row(r, line) : take_header(r, line);
    has_header = true;
  }
  if (status < 0) return status;
  if (ferror(stream)) {
    return tsn_path_fault(r->exec, TSANOM_E_IO, r->file, "cannot read the file: %s",
                          tsn_error_text(errno));
  }
  r->line = 0;
  if (!has_header) {
    return bad(r, 0, NULL, "a header with the columns thread and time is expected");
  }
  return r->count ? TSANOM_OK : bad(r, 0, NULL, "no numbers: at least one is expected");
}

/* Counting sort by thread; stable, so that each series keeps the order of the file. The
 * run starts at its earliest beat. */
static tsanom_status sort_rows(const reader *r, tsn_pool *pool, tsanom_hsa_run *run) {
  size_t threads = 0;
  const row *rows = r->rows.data;
  double start = INFINITY;
  for (size_t t = 0; t < TSN_THREADS_MOST; t++) {
    if (r->beats[t] > 0) threads = t + 1;
  }
  tsanom_hsa_series *series = tsn_pool_take(pool, threads, sizeof *series);
  double *time = tsn_pool_take(pool, r->count, sizeof *time);
  if (!series || !time) return tsn_path_no_memory(r->exec, r->file);
  double **next = (double **)tsn_pool_take(pool, threads, sizeof *next);
  if (!next) return tsn_path_no_memory(r->exec, r->file);
  for (size_t t = 0; t < threads; t++) {
    series[t] = (tsanom_hsa_series){.time = time, .beats = r->beats[t]};
    next[t] = time;
    time += r->beats[t];
  }
  for (size_t i = 0; i < r->count; i++) {
    *next[rows[i].thread]++ = rows[i].time;
    start = fmin(start, rows[i].time);
  }
  *run = (tsanom_hsa_run){.threads = series, .thread_count = threads, .start = start};
  return TSANOM_OK;
}

tsanom_status tsn_beats_read_csv(const char *path, const tsanom_exec *exec,
                                 tsn_pool *pool, tsanom_hsa_run *run) {
  FILE *stream;
  tsn_pool own = {.exec = exec};
  reader r = {.file = tsn_path_title(path), .exec = exec};
  tsanom_status status = tsn_stream_open(path, exec, &stream);
  if (status < 0) return status;
  r.latest = tsn_pool_take(&own, TSN_THREADS_MOST, sizeof *r.latest);
  r.beats = tsn_pool_take(&own, TSN_THREADS_MOST, sizeof *r.beats);
  r.text = tsn_pool_take(&own, LINE, 1);
  status = r.latest && r.beats && r.text ? read_lines(&r, stream)
                                         : tsn_path_no_memory(exec, r.file);
  tsn_stream_close(stream);
  if (r.beats && status == TSANOM_OK) status = sort_rows(&r, pool, run);
  tsn_array_free(&r.rows, exec);
  tsn_pool_free(&own);
  return status;
}
