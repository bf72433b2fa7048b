/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a text file. Lines are collected here and given to the CSV parser one at a
 * time, so that every error has the number of its line: a parser that saw the line ends
 * would take a quote that is not closed for a field of several lines, and report it at
 * the end of the file.
 *
 * Memory is bounded by the longest line that is accepted (16 MiB) and its fields; the
 * file may be a pipe of any length. */
#include "rows.h"

#include <csv.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "number.h"
#include "reserve.h"

/* Validity of UTF-8 by the table of RFC 3629, section 4. The second byte of some forms
 * has a smaller range: this excludes overlong forms (e0, f0), surrogates (ed) and what
 * lies above U+10FFFF (f4). */

typedef struct {
  unsigned char first_low, first_high;   /* the leading byte */
  unsigned char second_low, second_high; /* the byte after it */
  unsigned char length;
} form;

/* RFC 3629, section 4. */
static const form forms[] = {
    {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static const form *form_of(unsigned char first) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (first >= forms[i].first_low && first <= forms[i].first_high) return &forms[i];
  }
  return NULL;
}

/* Tell whether `text` is UTF-8 as RFC 3629 has it: no overlong forms, no
 * surrogates, nothing above U+10FFFF. If not, *bad is the first byte that does
 * not belong. */
static int utf8_valid(const char *text, size_t bytes, size_t *bad) {
  const unsigned char *byte = (const unsigned char *)text;
  for (size_t i = 0; i < bytes;) {
    const form *f = form_of(byte[i]);
    *bad = i;
    if (!f) return 0;
    for (size_t k = 1; k < f->length; k++) {
      unsigned char low = k == 1 ? f->second_low : 0x80;
      unsigned char high = k == 1 ? f->second_high : 0xbf;
      if (i + k == bytes || byte[i + k] < low || byte[i + k] > high) return 0;
    }
    i += f->length;
  }
  return 1;
}

/* What separates the fields of a text file. */

/* What the first row shows. Blanks are spaces or tabs, one or more. */
enum {
  DELIMITER_BLANKS = -1,   /* numbers, separated by blanks */
  DELIMITER_UNDECIDED = -2 /* words with blanks between: several names, or one name */
};

enum { NUMBER_BYTES = 64 };

static int is_blank(char byte) {
  return byte == ' ' || byte == '\t';
}

/* The next word at or behind *at; its bytes, or 0 at the end of the line. */
static size_t next_word(const char *line, size_t bytes, size_t *at) {
  while (*at < bytes && is_blank(line[*at])) ++*at;
  size_t end = *at;
  while (end < bytes && !is_blank(line[end])) end++;
  return end - *at;
}

static int is_number(const char *word, size_t bytes) {
  char text[NUMBER_BYTES];
  double value;
  if (bytes >= sizeof text) return 0;
  memcpy(text, word, bytes);
  text[bytes] = '\0';
  return !number_parse(text, &value);
}

/* The number of words that blanks separate. */
static size_t delimiter_words(const char *line, size_t bytes) {
  size_t words = 0, at = 0;
  for (size_t length; (length = next_word(line, bytes, &at)) > 0; at += length) words++;
  return words;
}

/* The number of fields that blanks separate, if all of them are numbers; else 0. */
static size_t delimiter_numbers(const char *line, size_t bytes) {
  size_t words = 0, at = 0;
  for (size_t length; (length = next_word(line, bytes, &at)) > 0; at += length) {
    if (!is_number(line + at, length)) return 0;
    words++;
  }
  return words;
}

/* By the first row: the byte that separates fields, or a value above. A tab has
 * precedence over a semicolon, and that over a comma; a row without any has one field. */
static int delimiter_of(const char *line, size_t bytes) {
  int is_quoted = 0, has_quotes = 0, has_semicolon = 0, has_comma = 0;
  for (size_t i = 0; i < bytes; i++) {
    if (line[i] == '"') {
      is_quoted = !is_quoted;
      has_quotes = 1;
    } else if (!is_quoted) {
      if (line[i] == '\t') return '\t';
      has_semicolon |= line[i] == ';';
      has_comma |= line[i] == ',';
    }
  }
  if (has_semicolon) return ';';
  if (has_comma || has_quotes || delimiter_words(line, bytes) < 2) return ',';
  return delimiter_numbers(line, bytes) ? DELIMITER_BLANKS : DELIMITER_UNDECIDED;
}

/* Replace the blanks between words by one tab each and drop those at the ends, in place.
 * Returns the number of bytes left. */
static size_t delimiter_to_tabs(char *line, size_t bytes) {
  size_t kept = 0, at = 0;
  for (size_t length; (length = next_word(line, bytes, &at)) > 0; at += length) {
    if (kept) line[kept++] = '\t';
    memmove(line + kept, line + at, length);
    kept += length;
  }
  return kept;
}

typedef struct {
  const char *file;
  row_handler *handler;
  void *user;
  failure *why;
  struct csv_parser parser;
  /* The line as it was read, without its end. */
  char *line;
  size_t line_bytes, line_room;
  size_t line_number;
  /* Read up to here; of the file, 0 where that is not known (pipes). */
  uint64_t bytes, total;
  const char **field;
  /* The fields, each with its NUL. It may move while the line is parsed, so pointers to
   * the fields are set when the row is complete. */
  char *text;
  size_t fields, fields_room, text_bytes, text_room;
  int delimiter; /* 0: not known; else a DELIMITER */
  char *held;    /* the first row, until the second shows what separates its fields */
  size_t held_bytes, held_number;
  int failed;
} reading;

/* Read up to the next LF. Returns 1 for a line, 0 at the end, -1 on failure. */
static int next_line(reading *r, FILE *stream) {
  r->line_bytes = 0;
  r->line_number++;
  int byte;
  errno = 0;
  while ((byte = getc_unlocked(stream)) != EOF && byte != '\n') {
    if (r->line_bytes == ROWS_LINE_BYTES) {
      return fail(r->why,
                  "%s:%zu: the line is longer than %d MiB: a series holds one number a "
                  "line",
                  r->file, r->line_number, ROWS_LINE_BYTES >> 20);
    }
    reserve(&r->line, &r->line_room, r->line_bytes + 1, 1);
    r->line[r->line_bytes++] = (char)byte;
  }
  if (ferror(stream)) return fail_errno(r->why, r->file, "read");
  r->bytes += r->line_bytes + (byte == '\n');
  if (r->line_bytes && r->line[r->line_bytes - 1] == '\r') r->line_bytes--;
  return byte == '\n' || r->line_bytes > 0;
}

static void take_field(void *text, size_t bytes, void *user) {
  reading *r = user;
  if (r->failed) return;
  if (r->fields == ROWS_FIELDS) {
    r->failed =
        fail(r->why, "%s:%zu: more than %d fields", r->file, r->line_number, ROWS_FIELDS);
    return;
  }
  reserve(&r->text, &r->text_room, r->text_bytes + bytes + 1, 1);
  reserve(&r->field, &r->fields_room, r->fields + 1, sizeof *r->field);
  if (bytes) memcpy(r->text + r->text_bytes, text, bytes);
  r->text_bytes += bytes;
  r->text[r->text_bytes++] = '\0';
  r->fields++;
}

static void take_row(int end, void *user) {
  (void)end;
  reading *r = user;
  if (r->failed) return;
  const char *text = r->text;
  for (size_t i = 0; i < r->fields; i++) {
    r->field[i] = text;
    text += strlen(text) + 1;
  }
  row done = {r->file, r->line_number, r->fields, r->field, r->bytes, r->total};
  r->failed = r->handler(r->user, &done, r->why);
}

/* Reject what no text file contains. For UTF-16 the message about UTF-8 helps more. */
static int check_text(reading *r) {
  size_t bad;
  if (!utf8_valid(r->line, r->line_bytes, &bad)) {
    return fail(r->why,
                "%s:%zu: byte %zu (0x%02x) is not UTF-8: convert the file, for example "
                "with iconv",
                r->file, r->line_number, bad + 1, (unsigned char)r->line[bad]);
  }
  const char *nul = memchr(r->line, '\0', r->line_bytes);
  if (nul) {
    return fail(r->why, "%s:%zu: byte %zu is NUL: a text file is expected", r->file,
                r->line_number, (size_t)(nul - r->line) + 1);
  }
  return 0;
}

static void set_delimiter(reading *r, int delimiter) {
  r->delimiter = delimiter;
  int byte = delimiter == DELIMITER_BLANKS ? '\t' : delimiter;
  if (byte > 0) csv_set_delim(&r->parser, (unsigned char)byte);
}

static int parse_fields(reading *r) {
  if (r->delimiter == DELIMITER_BLANKS)
    r->line_bytes = delimiter_to_tabs(r->line, r->line_bytes);
  r->fields = r->text_bytes = 0;
  size_t parsed = csv_parse(&r->parser, r->line, r->line_bytes, take_field, take_row, r);
  if (parsed == r->line_bytes &&
      csv_fini(&r->parser, take_field, take_row, r) == CSV_SUCCESS)
    return r->failed;
  if (csv_error(&r->parser) != CSV_EPARSE) {
    return fail(r->why, "%s:%zu: %s", r->file, r->line_number,
                csv_strerror(csv_error(&r->parser)));
  }
  if (parsed == r->line_bytes) {
    return fail(r->why,
                "%s:%zu: a quoted field is not closed: end it with a double quote on "
                "the same line",
                r->file, r->line_number);
  }
  return fail(r->why,
              "%s:%zu: stray double quote before byte %zu: put the whole field in quotes "
              "and write a quote inside it twice",
              r->file, r->line_number, parsed + 1);
}

/* Keep a row of words until the next one. */
static void hold(reading *r) {
  r->held = memcpy(allocate(r->line_bytes, 1), r->line, r->line_bytes);
  r->held_bytes = r->line_bytes;
  r->held_number = r->line_number;
}

/* Parse the row that was kept and then, unless the file is at its end, the one that was
 * read: blanks separate names if they separate as many numbers below them. */
static int parse_held(reading *r) {
  size_t names = delimiter_words(r->held, r->held_bytes);
  int is_table = delimiter_numbers(r->line, r->line_bytes) == names;
  set_delimiter(r, is_table ? DELIMITER_BLANKS : ',');
  char *line = r->line;
  size_t bytes = r->line_bytes, number = r->line_number;
  r->line = r->held;
  r->line_bytes = r->held_bytes;
  r->line_number = r->held_number;
  int failed = parse_fields(r);
  r->line = line;
  r->line_bytes = bytes;
  r->line_number = number;
  return failed || !bytes ? failed : parse_fields(r);
}

static int parse_line(reading *r) {
  if (r->line_number == 1 && r->line_bytes >= 3 && !memcmp(r->line, "\xef\xbb\xbf", 3)) {
    r->line_bytes -= 3;
    memmove(r->line, r->line + 3, r->line_bytes);
  }
  size_t blank = 0;
  while (blank < r->line_bytes && strchr(" \t", r->line[blank])) blank++;
  if (blank == r->line_bytes && !memchr(r->line, '\0', r->line_bytes)) return 0;
  if (check_text(r)) return -1;
  if (r->line[0] == '#') return 0;
  if (!r->delimiter) set_delimiter(r, delimiter_of(r->line, r->line_bytes));
  if (r->delimiter != DELIMITER_UNDECIDED) return parse_fields(r);
  if (r->held) return parse_held(r);
  hold(r);
  return 0;
}

/* The parser is handed lines without their ends: none of its own are left. */
static int ends_a_row(unsigned char byte) {
  (void)byte;
  return 0;
}

/* The size of a regular file, for the progress; 0: unknown. */
static uint64_t bytes_of(FILE *stream) {
  struct stat about;
  int descriptor = fileno(stream);
  if (descriptor < 0 || fstat(descriptor, &about) || !S_ISREG(about.st_mode)) return 0;
  return (uint64_t)about.st_size;
}

static int rows_read(FILE *stream, const char *file, row_handler *handler, void *user,
                     failure *why) {
  reading r = {.file = file, .handler = handler, .user = user, .why = why};
  r.total = bytes_of(stream);
  if (csv_init(&r.parser, CSV_STRICT | CSV_STRICT_FINI)) end_without_memory();
  csv_set_term_func(&r.parser, ends_a_row);
  int more;
  while ((more = next_line(&r, stream)) > 0) {
    if (r.line_bytes && parse_line(&r)) {
      more = -1;
      break;
    }
  }
  if (!more && r.delimiter == DELIMITER_UNDECIDED) {
    r.line_bytes = 0;
    more = parse_held(&r);
  }
  csv_free(&r.parser);
  free(r.held);
  free(r.line);
  free(r.text);
  free(r.field);
  return more;
}

int row_number(const row *r, size_t at, double *value, failure *why) {
  char shown[QUOTED_BYTES];
  const char *wrong = number_parse(r->field[at], value);
  return wrong ? fail(why, "%s:%zu: column %zu: %s %s", r->file, r->line, at + 1,
                      quoted(shown, r->field[at]), wrong)
               : 0;
}

const char *file_title(const char *path) {
  return strcmp(path, "-") == 0 ? "standard input" : path;
}

int rows_read_file(const char *path, row_handler *handler, void *user, failure *why) {
  if (strcmp(path, "-") == 0)
    return rows_read(stdin, file_title(path), handler, user, why);
  FILE *stream = fopen(path, "re");
  if (!stream) return fail_errno(why, path, "open");
  struct stat about;
  int status;
  if (fstat(fileno(stream), &about) == 0 && S_ISDIR(about.st_mode)) {
    status = fail(why, "%s: is a directory: give the path of a file", path);
  } else {
    status = rows_read(stream, path, handler, user, why);
  }
  fclose(stream);
  return status;
}
