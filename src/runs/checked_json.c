/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of types and shapes over jansson. Each function either stores a value that the
 * caller can use, or writes the fault and returns a status below zero. An object has no
 * position in the file once it is parsed, so faults name the path of the member instead.
 */
#include "runs/checked_json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

/* jansson gives -1 for positions that it does not know; 0 means that in a fault. */
static tsanom_status bad_syntax(const char *file, const json_error_t *error,
                                const tsanom_exec *exec) {
  tsn_file_place place = {.file = file,
                          .line = error->line > 0 ? (uint64_t)error->line : 0,
                          .column = error->column > 0 ? (uint64_t)error->column : 0};
  return tsn_reject_file(exec, TSANOM_E_FORMAT, &place, "not JSON: %s", error->text);
}

/* A failed read looks like a syntax error to the parser, so the stream is asked first. */
tsanom_status tsn_json_load(FILE *stream, const char *file, const tsanom_exec *exec,
                            json_t **json) {
  json_error_t error;
  errno = 0;
  *json = json_loadf(stream, JSON_REJECT_DUPLICATES, &error);
  if (ferror(stream)) {
    json_decref(*json);
    *json = NULL;
    return tsn_path_fault(exec, TSANOM_E_IO, file, "cannot read the file: %s",
                          tsn_error_text(errno));
  }
  return *json ? TSANOM_OK : bad_syntax(file, &error, exec);
}

tsanom_status tsn_json_parse(const char *text, size_t bytes, const char *file,
                             const tsanom_exec *exec, json_t **json) {
  json_error_t error;
  *json = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
  return *json ? TSANOM_OK : bad_syntax(file, &error, exec);
}

bool tsn_json_is_text(const char *text) {
  json_t *value = json_string(text);
  json_decref(value);
  return value != NULL;
}

tsanom_status tsn_json_bad(const json_place *at, const char *key, const char *format,
                           ...) {
  char text[sizeof((tsanom_fault *)NULL)->text];
  va_list values;
  va_start(values, format);
  (void)vsnprintf(text, sizeof text, format, values);
  va_end(values);
  bool is_named = at->path[0] || key[0];
  return tsn_path_fault(at->exec, TSANOM_E_FORMAT, at->file, "%s%s%s%s", at->path, key,
                        is_named ? ": " : "", text);
}

tsanom_status tsn_json_no_memory(const json_place *at) {
  return tsn_path_no_memory(at->exec, at->file);
}

tsanom_status tsn_json_number(const json_place *at, const json_t *object, const char *key,
                              double *value) {
  const json_t *found = json_object_get(object, key);
  if (!found) return tsn_json_bad(at, key, "is missing");
  if (!json_is_number(found)) return tsn_json_bad(at, key, "a number is expected");
  *value = json_number_value(found);
  return TSANOM_OK;
}

json_t *tsn_json_member(const json_place *at, const json_t *object, const char *key,
                        json_type type) {
  json_t *found = json_object_get(object, key);
  if (found && json_typeof(found) == type) return found;
  (void)tsn_json_bad(at, key, "%s",
                     !found               ? "is missing"
                     : type == JSON_ARRAY ? "an array is expected"
                                          : "an object is expected");
  return NULL;
}
