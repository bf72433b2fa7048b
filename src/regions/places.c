/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/places.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "places.tsv"
#define HEAD "tsanom places 1\n"

enum { LINE = PATH_MAX + 64 };

tsanom_status tsn_places_fault(tsanom_heartbeat_fault *fault, tsanom_status status,
                               const char *folder, uint64_t offset, const char *text,
                               ...) {
  va_list values;
  char path[PATH_MAX + sizeof FILE_NAME];
  va_start(values, text);
  (void)snprintf(path, sizeof path, "%s/" FILE_NAME, folder);
  size_t length = strlen(path);
  size_t skip = length < sizeof fault->file ? 0 : length - sizeof fault->file + 1;
  memcpy(fault->file, path + skip, length - skip + 1);
  (void)vsnprintf(fault->text, sizeof fault->text, text, values);
  fault->offset = offset;
  va_end(values);
  return status;
}

/* number TAB kind and how TAB address TAB module */
static bool parse(const char *line, size_t expected, tsanom_regions_place *place) {
  char *end;
  if (line[0] < '0' || line[0] > '9' || strtoul(line, &end, 10) != expected) return false;
  if (end[0] != '\t' || (end[1] != 'r' && end[1] != 's') ||
      (end[2] != 'c' && end[2] != 'f') || end[3] != '\t') {
    return false;
  }
  const char kind = end[1], how = end[2];
  const char *digits = end + 4;
  if (!isxdigit((unsigned char)*digits)) return false;
  uint64_t address = strtoull(digits, &end, 16);
  if (*end != '\t') return false;
  const char *module = end + 1;
  size_t length = strlen(module) - 1; /* without the end of the line */
  size_t skip = length < sizeof place->module ? 0 : length - sizeof place->module + 1;
  *place = (tsanom_regions_place){
      .struct_size = sizeof *place,
      .address = address,
      .kind = kind == 'r' ? TSANOM_REGIONS_BEGIN : TSANOM_REGIONS_SHARE,
      .is_call = how == 'c'};
  memcpy(place->module, module + skip, length - skip);
  return true;
}

static tsanom_status read_lines(FILE *stream, const char *folder,
                                tsanom_regions_place *places, size_t *count,
                                tsanom_heartbeat_fault *fault) {
  char line[LINE];
  size_t found = 0;
  uint64_t offset = sizeof HEAD - 1;
  if (!fgets(line, sizeof line, stream) || strcmp(line, HEAD) != 0) {
    return tsn_places_fault(fault, TSANOM_E_FORMAT, folder, 0,
                            "the first line is not \"%.*s\"", (int)(sizeof HEAD - 2),
                            HEAD);
  }
  while (fgets(line, sizeof line, stream)) {
    tsanom_regions_place place;
    size_t length = strlen(line);
    bool is_whole = length > 0 && line[length - 1] == '\n';
    /* A disk that was full, or a reader that came in between, cuts the last line. */
    if (!is_whole && feof(stream)) break;
    if (!is_whole || found == TSANOM_REGIONS_PLACES_MAX - 1 ||
        !parse(line, found, &place)) {
      return tsn_places_fault(fault, TSANOM_E_FORMAT, folder, offset,
                              "line %zu is not that of place %zu: its number, rf, rc, sf "
                              "or sc, its address and its module are expected",
                              found + 2, found);
    }
    if (places && found < *count) places[found] = place;
    found++;
    offset += length;
  }
  if (!places) *count = found;
  return TSANOM_OK;
}

tsanom_status tsn_places_read(const char *folder, tsanom_regions_place *places,
                              size_t *count, tsanom_heartbeat_fault *fault) {
  char path[PATH_MAX + sizeof FILE_NAME];
  (void)snprintf(path, sizeof path, "%s/" FILE_NAME, folder);
  FILE *stream = fopen(path, "re");
  if (!stream) {
    return tsn_places_fault(fault, TSANOM_E_IO, folder, 0,
                            "the file cannot be opened: %s", strerrordesc_np(errno));
  }
  tsanom_status status = read_lines(stream, folder, places, count, fault);
  if (status == TSANOM_OK && ferror(stream)) {
    status = tsn_places_fault(fault, TSANOM_E_IO, folder, 0, "the file cannot be read");
  }
  (void)fclose(stream);
  return status;
}
