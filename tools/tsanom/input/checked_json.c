/* SPDX-License-Identifier: BSD-3-Clause */
#include "checked_json.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "rows.h"

json_t *json_load_path(const char *path, failure *why) {
  int is_input = strcmp(path, "-") == 0;
  FILE *stream = is_input ? stdin : fopen(path, "re");
  if (!stream) {
    fail_errno(why, path, "open");
    return NULL;
  }
  json_error_t error;
  errno = 0;
  json_t *value = json_loadf(stream, JSON_REJECT_DUPLICATES, &error);
  if (ferror(stream)) {
    json_decref(value);
    value = NULL;
    fail_errno(why, file_title(path), "read");
  } else if (!value) {
    fail(why, "%s:%d: column %d: no JSON: %s", file_title(path), error.line, error.column,
         error.text);
  }
  if (!is_input) fclose(stream);
  return value;
}

int json_bad(const json_place *at, const char *key, const char *sentence) {
  return fail(at->why, "%s: %s%s: %s", at->file, at->path, key, sentence);
}

static const json_t *member(const json_place *at, const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (!value) json_bad(at, key, "is missing");
  return value;
}

int json_take_count(const json_place *at, const json_t *object, const char *key,
                    size_t *value) {
  const json_t *found = member(at, object, key);
  if (!found) return -1;
  if (!json_is_integer(found) || json_integer_value(found) < 0) {
    return json_bad(at, key, "a whole number from 0 up is expected");
  }
  *value = (size_t)json_integer_value(found);
  return 0;
}

int json_take_number(const json_place *at, const json_t *object, const char *key,
                     double *value) {
  const json_t *found = member(at, object, key);
  if (!found) return -1;
  if (!json_is_number(found)) return json_bad(at, key, "a number is expected");
  *value = json_number_value(found);
  return 0;
}

int json_take_numbers(const json_place *at, const json_t *object, const char *key,
                      size_t count, double *values) {
  const json_t *found = json_take_array(at, object, key);
  if (!found) return -1;
  if (json_array_size(found) != count) {
    char sentence[64];
    snprintf(sentence, sizeof sentence, "%zu numbers are expected, not %zu", count,
             json_array_size(found));
    return json_bad(at, key, sentence);
  }
  for (size_t i = 0; i < count; i++) {
    const json_t *item = json_array_get(found, i);
    if (!json_is_number(item)) {
      char place[64];
      snprintf(place, sizeof place, "%s[%zu]", key, i);
      return json_bad(at, place, "a number is expected");
    }
    values[i] = json_number_value(item);
  }
  return 0;
}

int json_take_interval(const json_place *at, const json_t *object, const char *key,
                       double ends[2]) {
  const json_t *found = json_take_array(at, object, key);
  if (!found) return -1;
  for (size_t i = 0; i < 2; i++) {
    const json_t *end = json_array_get(found, i);
    if (json_array_size(found) != 2 || !(json_is_number(end) || json_is_null(end))) {
      return json_bad(at, key,
                      "two numbers are expected, with null for an end that is infinite");
    }
    double infinite = i == 0 ? -INFINITY : INFINITY;
    ends[i] = json_is_null(end) ? infinite : json_number_value(end);
  }
  if (ends[0] > ends[1]) return json_bad(at, key, "the first number is the smaller one");
  return 0;
}

int json_take_word(const json_place *at, const json_t *object, const char *key,
                   const char *const *words, int32_t *value) {
  const json_t *found = member(at, object, key);
  if (!found) return -1;
  char sentence[256] = "one of these words is expected:";
  for (size_t i = 0; words[i]; i++) {
    if (json_is_string(found) && strcmp(json_string_value(found), words[i]) == 0) {
      *value = (int32_t)i;
      return 0;
    }
    size_t used = strlen(sentence);
    snprintf(sentence + used, sizeof sentence - used, " \"%s\"", words[i]);
  }
  return json_bad(at, key, sentence);
}

static json_t *take_container(const json_place *at, const json_t *object, const char *key,
                              json_type type, const char *sentence) {
  json_t *found = json_object_get(object, key);
  if (found && json_typeof(found) == type) return found;
  json_bad(at, key, found ? sentence : "is missing");
  return NULL;
}

json_t *json_take_array(const json_place *at, const json_t *object, const char *key) {
  return take_container(at, object, key, JSON_ARRAY, "an array is expected");
}

json_t *json_take_object(const json_place *at, const json_t *object, const char *key) {
  return take_container(at, object, key, JSON_OBJECT, "an object is expected");
}
