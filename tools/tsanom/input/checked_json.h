/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of a JSON file, taken with a message that names the file, the path of a
 * bad part, and what would be right: "m.json: threads[2].ranges.gtr: two
 * numbers are expected". */
#ifndef TSANOM_COMMAND_CHECKED_JSON_H
#define TSANOM_COMMAND_CHECKED_JSON_H

#include <jansson.h>

#include "failure.h"

typedef struct {
  const char *file; /* as messages call it */
  failure *why;
  char path[96]; /* of the object at hand, with its point: "threads[2]." */
} json_place;

/* Load a file; NULL with `why` filled if it cannot be read or is no JSON. The
 * path "-" is the standard input. */
json_t *json_load_path(const char *path, failure *why);

/* fail() with "FILE: PATH.KEY: SENTENCE". */
int json_bad(const json_place *at, const char *key, const char *sentence);

/* Each takes the member `key` of an object: 0, or -1 with at->why filled. */

/* A whole number in [0, INT64_MAX]. */
int json_take_count(const json_place *at, const json_t *object, const char *key,
                    size_t *value);

/* A number. */
int json_take_number(const json_place *at, const json_t *object, const char *key,
                     double *value);

/* An array of `count` numbers. */
int json_take_numbers(const json_place *at, const json_t *object, const char *key,
                      size_t count, double *values);

/* An interval [low, high], null for an end that is infinite. */
int json_take_interval(const json_place *at, const json_t *object, const char *key,
                       double ends[2]);

/* One of the words that NULL ends; *value is its index. */
int json_take_word(const json_place *at, const json_t *object, const char *key,
                   const char *const *words, int32_t *value);

/* An array, or an object. */
json_t *json_take_array(const json_place *at, const json_t *object, const char *key);
json_t *json_take_object(const json_place *at, const json_t *object, const char *key);

#endif
