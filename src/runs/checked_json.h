/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of a JSON file, checked. Faults name the file, the path of the member, and
 * what is expected: "threads[2].ranges.gtr: two numbers are expected". A reader that
 * takes a member by one of these functions cannot forget the type or the absence of it.
 *
 * Syntax errors have line and column instead. Two members of one name are rejected,
 * since which of them counts would depend on the library. */
#ifndef TSN_RUNS_CHECKED_JSON_H
#define TSN_RUNS_CHECKED_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "runs/source.h"

typedef struct {
  const char *file;
  const tsanom_exec *exec;
  /* Of the present object, with its period: "threads[2]." */
  char path[96];
} json_place;

/* Parse all of a stream, or a text. */
tsanom_status tsn_json_load(FILE *stream, const char *file, const tsanom_exec *exec,
                            json_t **json);
tsanom_status tsn_json_parse(const char *text, size_t bytes, const char *file,
                             const tsanom_exec *exec, json_t **json);

/* Whether a text can be in a JSON file: libraries accept nothing but UTF-8, and so do their
 * users. */
bool tsn_json_is_text(const char *text);

/* Reject the member: "PATH.KEY: SENTENCE". Returns TSANOM_E_FORMAT. */
__attribute__((format(printf, 3, 4))) tsanom_status tsn_json_bad(const json_place *at,
                                                                 const char *key,
                                                                 const char *format, ...);
tsanom_status tsn_json_no_memory(const json_place *at);

/* Each takes the member `key` of an object. */

tsanom_status tsn_json_number(const json_place *at, const json_t *object, const char *key,
                              double *value);

/* A JSON_ARRAY or a JSON_OBJECT, owned by its object; NULL after a fault. */
json_t *tsn_json_member(const json_place *at, const json_t *object, const char *key,
                        json_type type);

#endif
