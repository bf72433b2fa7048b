/* SPDX-License-Identifier: BSD-3-Clause */
/* Values as the command writes them in JSON. */
#ifndef TSANOM_COMMAND_JSON_VALUE_H
#define TSANOM_COMMAND_JSON_VALUE_H

#include <jansson.h>

/* How JSON is written: every number reads back to the same bits. */
#define JSON_FORMAT (JSON_INDENT(1) | JSON_REAL_PRECISION(17))

/* A JSON number that reads back to the same bits; null unless finite. */
json_t *json_finite(double value);

/* An array of them. */
json_t *json_numbers(const double *values, size_t count);

/* A name as a JSON string; bytes of one that is not UTF-8 become '?'. */
json_t *json_name(const char *name);

#endif
