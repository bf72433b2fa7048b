/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading places.tsv, the lines that are new since the last look. The program that is
 * recorded appends a line by one write() before it writes the first event of the place;
 * it may be killed, or run out of disk space, in the middle of one. So a last line
 * without its end is not an error but not there yet, and is read again at the next look.
 *
 *   | lines read before | new lines | cut line
 *   0              offset       offset_seen
 *
 * The number in a line must be that of the line: numbers are the keys of the events. */
#include "runs/places.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runs/channel.h"
#include "runs/source.h"

#define FILE_NAME "places.tsv"
#define HEAD "tsanom places 3\n"
enum { VERSION_AT = sizeof HEAD - 3 }; /* of the digit, in the heading */

/* An identity is "build-id:" and up to 128 digits, or device, inode and time of change.
 */
enum { LONGEST_IDENTITY = 160, LINE = PATH_MAX + LONGEST_IDENTITY + 64 };

static const char no_identity[] = "-";

/* Of a call of MPI, behind all else: TAB communicator, which is cut off. False: not there. */
static bool take_communicator(char *text, uint64_t *communicator) {
  char *digits = strrchr(text, '\t'), *end;
  if (!digits) return false;
  *digits++ = '\0';
  if (!isdigit((unsigned char)*digits)) return false;
  *communicator = strtoul(digits, &end, 10);
  return *end == '\0';
}

/* kind and how TAB address TAB identity TAB module, and of a call TAB function. Cuts the text
 * into strings, to which *place then points. False: not such a text. */
static bool parse(char *text, const tsn_places *places, tsn_place *place) {
  char *end, *module;
  if (!text[0] || !strchr(places->has_calls ? "rsthm" : "rs", text[0]) ||
      (text[1] != 'c' && text[1] != 'f') || text[2] != '\t') {
    return false;
  }
  const char kind = text[0], how = text[1];
  const char *digits = text + 3;
  if (!isxdigit((unsigned char)*digits)) return false;
  uint64_t address = strtoull(digits, &end, 16);
  if (*end != '\t') return false;
  module = end + 1;
  place->identity = no_identity;
  place->is_thread = kind == 'h';
  if (places->has_identities) {
    place->identity = module;
    module = strchr(module, '\t');
    if (!module) return false;
    *module++ = '\0';
  }
  place->about = (tsanom_runs_place){.module = module,
                                     .address = address,
                                     .kind = kind == 's'   ? TSANOM_RUNS_VISIT_PART
                                             : kind == 't' ? TSANOM_RUNS_VISIT_TASKS
                                                           : TSANOM_RUNS_VISIT_BEGIN,
                                     .is_call = how == 'c'};
  if (kind != 'm') return true;
  char *call = strchr(module, '\t');
  if (!call) return false;
  *call++ = '\0';
  place->about.call = call;
  return !strchr(call, '\t');
}

/* Keep the strings of a line, which is overwritten by the next. Most places share a
 * module with the one before, so the strings of a module are stored a few times at most.
 */
static bool keep_module(tsn_places *places, tsn_place *place) {
  if (!place->about.module || place->known) return place->about.module;
  const tsn_place *last = places->seen ? tsn_places_at(places, places->seen - 1) : NULL;
  if (place->about.call) {
    place->about.call = tsn_pool_copy(&places->pool, place->about.call);
    if (!place->about.call) return false;
  }
  if (last && tsn_places_share_module(last, place)) {
    place->identity = last->identity;
    place->about.module = last->about.module;
    return true;
  }
  place->identity = tsn_pool_copy(&places->pool, place->identity);
  place->about.module = tsn_pool_copy(&places->pool, place->about.module);
  return place->identity && place->about.module;
}

static bool add(tsn_places *places, const tsn_place *place) {
  if (!tsn_array_reserve(&places->place, places->pool.exec, places->seen,
                         places->seen + 1, sizeof *place)) {
    return false;
  }
  *tsn_places_at(places, places->seen++) = *place;
  return true;
}

/* The place of a line; NULL: it is not known. */
static tsn_place *find_line(tsn_known_places *places, const char *line) {
  size_t number = places->expected;
  if (number >= places->line.count || strcmp(places->line.name[number], line) != 0) {
    number = tsn_names_find(&places->line, line);
  }
  if (number == TSANOM_NONE) return NULL;
  places->expected = number + 1;
  return places->known[number];
}

/* A new place for that line, to be filled with what parse() makes of `*copy`, which lasts as
 * long as the places. There must be space for it. NULL: out of memory. */
static tsn_place *add_line(tsn_known_places *places, const char *line, char **copy) {
  tsn_pool *pool = places->line.pool;
  const char *own = tsn_pool_copy(pool, line);
  tsn_place *known = tsn_pool_take(pool, 1, sizeof *known);
  *copy = tsn_pool_copy(pool, line);
  if (!own || !known || !*copy) return NULL;
  places->known[places->line.count] = known;
  tsn_names_add(&places->line, own);
  places->expected = places->line.count;
  return known;
}

/* What a text without a communicator describes, of the places that other processes have too.
 * Texts of versions 1 and 2 mean something else. Out of memory: no module. False: none. */
static bool find_known(const tsn_places *places, char *text, tsn_place *place) {
  tsn_known_places *shared = places->has_calls ? places->shared : NULL;
  if (!shared) return parse(text, places, place);
  tsn_place *known = find_line(shared, text);
  if (!known) {
    char *copy = NULL;
    if (shared->line.count == shared->line.capacity) return parse(text, places, place);
    known = add_line(shared, text, &copy);
    if (!known) return true;
    known->known = known;
    if (!parse(copy, places, known)) known->about.module = NULL;
  }
  *place = *known;
  return place->about.module != NULL;
}

static bool find_place(const tsn_places *places, char *text, tsn_place *place) {
  uint64_t communicator = 0;
  bool is_call = places->has_calls && text[0] == 'm';
  if (is_call && !take_communicator(text, &communicator)) return false;
  if (!find_known(places, text, place)) return false;
  place->about.communicator = communicator;
  return true;
}

/* The number of a line and what is behind it; false: not such a line. */
static bool take_number(char *line, size_t *number, char **text) {
  if (line[0] < '0' || line[0] > '9') return false;
  *number = strtoul(line, text, 10);
  return *(*text)++ == '\t';
}

/* One whole line: the next place. The last number is that of places beyond the table,
 * which have no line. */
static tsanom_status take_line(tsn_places *places, const tsn_source *source, char *line,
                               size_t length) {
  tsn_place place = {.name = NULL};
  size_t number = 0, expected = places->seen;
  bool is_whole = length > 0 && line[length - 1] == '\n';
  if (is_whole) line[length - 1] = '\0';
  char *text = line;
  bool is_place = is_whole && take_number(line, &number, &text) && number == expected &&
                  number < TSN_REGIONS_PLACES_MAX - 1 && find_place(places, text, &place);
  if (!is_place) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, places->offset_seen,
                            "line %zu does not describe place %zu: its number, its kind "
                            "such as rf, its address, and its module%s are expected",
                            expected + 2, expected,
                            places->has_identities ? " (identity and path)" : "");
  }
  if (!keep_module(places, &place) || !add(places, &place)) {
    return tsn_source_no_memory(source);
  }
  places->offset_seen += length;
  return TSANOM_OK;
}

/* Where the next line begins; lines may contain NUL bytes, so lengths of strings do not
 * show it. */
static uint64_t position(FILE *stream) {
  long offset = ftell(stream);
  return offset < 0 ? 0 : (uint64_t)offset;
}

/* The heading, at the first look, and all lines behind the offset. Not inlined: a frame has at
 * most 8 KiB. */
__attribute__((noinline)) static tsanom_status take_lines(tsn_places *places,
                                                          const tsn_source *source,
                                                          FILE *stream) {
  char line[LINE];
  if (places->offset_seen == 0) {
    bool is_head = fgets(line, sizeof line, stream) && strlen(line) == sizeof HEAD - 1 &&
                   strncmp(line, HEAD, VERSION_AT) == 0 && line[VERSION_AT + 1] == '\n';
    char version = is_head ? line[VERSION_AT] : '\0';
    if (version < '1' || version > '3') {
      return tsn_source_fault(source, TSANOM_E_FORMAT, 0,
                              "the first line must be \"%.*s\", or that of version 1 or "
                              "2",
                              (int)(sizeof HEAD - 2), HEAD);
    }
    places->has_identities = version != '1';
    places->has_calls = version != '1' && version != '2';
    places->offset_seen = position(stream);
  } else if (fseek(stream, (long)places->offset_seen, SEEK_SET) != 0) {
    return tsn_source_fault(source, TSANOM_E_IO, places->offset_seen,
                            "cannot read the file");
  }
  while (fgets(line, sizeof line, stream)) {
    size_t length = strlen(line);
    /* A full disk, or a look at a running program, cuts the last line. */
    if ((length == 0 || line[length - 1] != '\n') && feof(stream)) break;
    tsanom_status status = take_line(places, source, line, length);
    if (status < 0) return status;
  }
  if (!ferror(stream)) return TSANOM_OK;
  return tsn_source_fault(source, TSANOM_E_IO, places->offset_seen,
                          "cannot read the file");
}

tsanom_status tsn_places_read(tsn_places *places, const char *directory,
                              const tsanom_exec *exec) {
  tsn_source source = tsn_source_named(exec, directory, FILE_NAME);
  FILE *stream;
  places->seen = places->count;
  places->offset_seen = places->offset;
  tsanom_status status = tsn_source_open_stream(&source, &stream);
  if (status < 0) return status;
  status = take_lines(places, &source, stream);
  (void)fclose(stream);
  return tsn_salvages(exec, status, places->damage) ? TSANOM_OK : status;
}

void tsn_places_free(tsn_places *places) {
  tsn_array_free(&places->place, places->pool.exec);
  tsn_pool_free(&places->pool);
}
