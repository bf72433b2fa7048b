/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading model files: JSON whose members have the names of the fields of
 * ::tsanom_hsa_options and ::tsanom_hsa_reference (their tables are below).
 *
 * A model decides about verdicts, so nothing has a default: a member that is missing is
 * an error, and another version is rejected. Whether the values make sense is checked by
 * the functions of hsa that use the model, which must do so for models from any source.
 *
 * Memory is taken only for numbers that the file contains: arrays are allocated by their
 * length in the file, and only then compared with the count that goes with them. */
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/diagnosis.h>
#include <tsanom/runs.h>

#include "core/exec.h"
#include "core/fault.h"
#include "core/names.h"
#include "core/replace_file.h"
#include "runs/checked_json.h"
#include "runs/memory.h"
#include "runs/source.h"

/* Members that only models have; see checked_json.h. */

/* A whole number in [0, INT64_MAX]. */
static tsanom_status json_count(const json_place *at, const json_t *object,
                                const char *key, size_t *value) {
  const json_t *found = json_object_get(object, key);
  if (!found) return tsn_json_bad(at, key, "is missing");
  if (!json_is_integer(found) || json_integer_value(found) < 0) {
    return tsn_json_bad(at, key, "a whole number >= 0 is expected");
  }
  *value = (size_t)json_integer_value(found);
  return TSANOM_OK;
}

/* An array of `count` numbers. */
static tsanom_status json_numbers(const json_place *at, const json_t *object,
                                  const char *key, size_t count, double *values) {
  const json_t *found = tsn_json_member(at, object, key, JSON_ARRAY);
  if (!found) return TSANOM_E_FORMAT;
  if (json_array_size(found) != count) {
    return tsn_json_bad(at, key, "%zu numbers are expected, not %zu", count,
                        json_array_size(found));
  }
  for (size_t i = 0; i < count; i++) {
    const json_t *item = json_array_get(found, i);
    if (!json_is_number(item)) {
      char place[64];
      (void)snprintf(place, sizeof place, "%s[%zu]", key, i);
      return tsn_json_bad(at, place, "a number is expected");
    }
    values[i] = json_number_value(item);
  }
  return TSANOM_OK;
}

/* A range [low, high], null for an end that is infinite. */
static tsanom_status json_range(const json_place *at, const json_t *object,
                                const char *key, tsanom_hsa_range *range) {
  double ends[2];
  const json_t *found = tsn_json_member(at, object, key, JSON_ARRAY);
  if (!found) return TSANOM_E_FORMAT;
  for (size_t i = 0; i < 2; i++) {
    const json_t *end = json_array_get(found, i);
    if (json_array_size(found) != 2 || !(json_is_number(end) || json_is_null(end))) {
      return tsn_json_bad(at, key,
                          "two numbers are expected, with null for an infinite end");
    }
    double infinite = i == 0 ? -INFINITY : INFINITY;
    ends[i] = json_is_null(end) ? infinite : json_number_value(end);
  }
  *range = (tsanom_hsa_range){ends[0], ends[1]};
  if (ends[0] <= ends[1]) return TSANOM_OK;
  return tsn_json_bad(at, key, "the first number must be the smaller one");
}

/* One of the words, which NULL ends; *value is its index. The fault lists them. */
static tsanom_status json_word(const json_place *at, const json_t *object,
                               const char *key, const char *const *words,
                               int32_t *value) {
  const json_t *found = json_object_get(object, key);
  if (!found) return tsn_json_bad(at, key, "is missing");
  char list[128] = "";
  for (size_t i = 0; words[i]; i++) {
    if (json_is_string(found) && strcmp(json_string_value(found), words[i]) == 0) {
      *value = (int32_t)i;
      return TSANOM_OK;
    }
    size_t used = strlen(list);
    (void)snprintf(list + used, sizeof list - used, " \"%s\"", words[i]);
  }
  return tsn_json_bad(at, key, "one of these words is expected:%s", list);
}

/* Fields of a model file: names in the file, and offsets in ::tsanom_hsa_options and
 * ::tsanom_hsa_reference. Reading and writing go through the same tables, so that they
 * cannot disagree: a field is added in one line.
 *
 *   "options": { "window": 10, "rule": "pace", ...     option_fields
 *   "threads": [{ "beats": 1000, "r2": 0.999, ...      reference_fields
 *                 "time": [...], ...                   reference_arrays    doubles
 *                 "ranges": {"gtr": [0.9, 1.1], ...    feature_names       two doubles
 *   "normal": {"parts": [[{"wait": [0, 0.2], ...       sign_names          two doubles
 *              "ledger": [2, 300, ...                  doubles */

#define FORMAT "tsanom hsa model"
enum { VERSION = 9 };

/* A field of a struct: its name in the file, and where and what it is. An option with
 * `words` is one of them, by value: the file stays readable when constants are added. */
typedef struct {
  const char *name;
  size_t offset;
  int32_t type;
  const char *const *words;
} field;

enum { COUNT, NUMBER, WORD }; /* size_t, double, int32_t */

#define OPTION(name, ...) \
  { #name, offsetof(tsanom_hsa_options, name), __VA_ARGS__ }
#define REFERENCE(name, type) \
  { #name, offsetof(tsanom_hsa_reference, name), type, NULL }
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *const rule_words[] = {"paper", "completion", "pace", NULL};
static const char *const local_rate_words[] = {"ratio", "literal", NULL};

static const field option_fields[] = {OPTION(window, COUNT, NULL),
                                      OPTION(max_windows, COUNT, NULL),
                                      OPTION(max_degree, COUNT, NULL),
                                      OPTION(points, COUNT, NULL),
                                      OPTION(radius, COUNT, NULL),
                                      OPTION(r2, NUMBER, NULL),
                                      OPTION(coverage, NUMBER, NULL),
                                      OPTION(margin, NUMBER, NULL),
                                      OPTION(single_run_margin, NUMBER, NULL),
                                      OPTION(rule, WORD, rule_words),
                                      OPTION(local_rate, WORD, local_rate_words)};

static const field reference_fields[] = {
    REFERENCE(beats, COUNT),        REFERENCE(window, COUNT),
    REFERENCE(local_window, COUNT), REFERENCE(windows, COUNT),
    REFERENCE(degree, COUNT),       REFERENCE(run, COUNT),
    REFERENCE(sample_runs, COUNT),  REFERENCE(silent_runs, COUNT),
    REFERENCE(completion, NUMBER),  REFERENCE(mean_rate, NUMBER),
    REFERENCE(interval, NUMBER),    REFERENCE(r2, NUMBER),
    REFERENCE(unit, NUMBER),        REFERENCE(center, NUMBER),
    REFERENCE(scale, NUMBER)};

/* The arrays of a thread, and how many numbers beyond windows or degree. */
typedef struct {
  const char *name;
  /* Of the pointer in tsanom_hsa_reference. */
  size_t offset;
  /* Of the size_t that gives its length. */
  size_t count_offset;
  size_t more;
} array_field;

#define ARRAY(name, count, more)                                                        \
  {                                                                                     \
#name, offsetof(tsanom_hsa_reference, name), offsetof(tsanom_hsa_reference, count), \
        more                                                                            \
  }

static const array_field reference_arrays[] = {
    ARRAY(time, windows, 1), ARRAY(rate, windows, 1), ARRAY(window_rate, windows, 0),
    ARRAY(coefficient, degree, 1)};

static const void *at_offset(const void *start, size_t offset) {
  return (const char *)start + offset;
}

static const double *array_of(const tsanom_hsa_reference *r, const array_field *a) {
  return *(const double *const *)at_offset(r, a->offset);
}

/* A thread without beats in the normal runs has no arrays, whatever its counts are. */
static size_t array_count(const tsanom_hsa_reference *r, const array_field *a) {
  return r->beats ? *(const size_t *)at_offset(r, a->count_offset) + a->more : 0;
}

/* Numbers of a ledger. There are threads for which ranges are in memory. */
static inline size_t ledger_count(size_t threads) {
  return TSANOM_DIAGNOSIS_LEDGER_RUN + threads * TSANOM_DIAGNOSIS_LEDGER_THREAD;
}

/* Names of the features in a file, by TSANOM_HSA_*. */
static const char *const feature_names[] = {TSN_HSA_FEATURE_NAMES};
_Static_assert(COUNT_OF(feature_names) == TSANOM_HSA_FEATURES, "a feature has no name");

/* Names of the signs in a file, by TSANOM_DIAGNOSIS_SIGN_*. */
static const char *const sign_names[] = {TSN_DIAGNOSIS_SIGN_NAMES};
_Static_assert(COUNT_OF(sign_names) == TSANOM_DIAGNOSIS_SIGNS, "a sign has no name");

/* Writing model files. Numbers have 17 digits, so that they read back to the same bits,
 * and a loaded model gives the same verdicts as the one in memory. All of the model is
 * checked before anything is written. The text is made in memory and written by
 * core/replace_file.h: a model that exists is replaced as a whole or not at all. */

/* JSON has no infinity: null unless finite. */
static json_t *put_finite(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

static json_t *put_finites(const double *values, size_t count) {
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++) json_array_append_new(array, put_finite(values[i]));
  return array;
}

static json_t *put_ranges(const tsanom_hsa_range *range, const char *const *names,
                          size_t count) {
  json_t *object = json_object();
  for (size_t i = 0; i < count; i++) {
    const double ends[] = {range[i].low, range[i].high};
    json_object_set_new(object, names[i], put_finites(ends, 2));
  }
  return object;
}

static json_t *put_fields(const void *from, const field *fields, size_t n) {
  json_t *object = json_object();
  for (size_t i = 0; i < n; i++) {
    const field *f = &fields[i];
    const void *at = at_offset(from, f->offset);
    json_t *value = f->type == COUNT    ? json_integer((json_int_t)(*(const size_t *)at))
                    : f->type == NUMBER ? put_finite(*(const double *)at)
                                        : json_string(f->words[*(const int32_t *)at]);
    json_object_set_new(object, f->name, value);
  }
  return object;
}

static json_t *reference_to_json(const tsanom_hsa_reference *r) {
  json_t *object = put_fields(r, reference_fields, COUNT_OF(reference_fields));
  json_object_set_new(object, "domain", put_finites(r->domain, 2));
  json_object_set_new(object, "ranges",
                      put_ranges(r->range, feature_names, COUNT_OF(feature_names)));
  for (size_t i = 0; i < COUNT_OF(reference_arrays); i++) {
    const array_field *a = &reference_arrays[i];
    json_object_set_new(object, a->name, put_finites(array_of(r, a), array_count(r, a)));
  }
  return object;
}

/* A name as a JSON string. Names of runs are paths, which may have any bytes; those of
 * one that is not UTF-8 become '?', because the name is only shown. */
static json_t *put_name(const char *name) {
  json_t *text = json_string(name);
  if (text) return text;
  char *plain = strdup(name);
  for (char *byte = plain; byte && *byte; byte++) {
    if ((unsigned char)*byte >= 0x80) *byte = '?';
  }
  text = plain ? json_string(plain) : NULL;
  free(plain);
  return text;
}

/* Ranges by part, thread and sign, with the conditions of the normal runs. */
static json_t *normal_to_json(const tsanom_diagnosis_normal *n) {
  json_t *parts = json_array();
  const tsanom_hsa_range *range = n->range;
  for (size_t p = 0; p < TSANOM_DIAGNOSIS_PARTS; p++) {
    json_t *threads = json_array();
    for (size_t t = 0; t < n->thread_count; t++, range += COUNT_OF(sign_names)) {
      json_array_append_new(threads, put_ranges(range, sign_names, COUNT_OF(sign_names)));
    }
    json_array_append_new(parts, threads);
  }
  json_t *ledger = put_finites(n->ledger, n->ledger ? ledger_count(n->thread_count) : 0);
  return json_pack("{so so sI sI so so}", "program", put_name(n->program), "machine",
                   put_name(n->machine), "beats", (json_int_t)n->beats, "fewest",
                   (json_int_t)n->fewest, "parts", parts, "ledger", ledger);
}

static json_t *model_to_json(const tsanom_runs_model_data *file) {
  const tsanom_hsa_model_data *data = file->model;
  json_t *names = json_array(), *threads = json_array();
  for (size_t i = 0; i < data->run_count; i++) {
    json_array_append_new(names, put_name(file->run[i]));
  }
  for (size_t i = 0; i < data->thread_count; i++) {
    json_array_append_new(threads, reference_to_json(&data->references[i]));
  }
  json_t *normal = file->normal ? normal_to_json(file->normal) : json_null();
  return json_pack("{ss si so so so so}", "format", FORMAT, "version", VERSION, "runs",
                   names, "options",
                   put_fields(data->options, option_fields, COUNT_OF(option_fields)),
                   "threads", threads, "normal", normal);
}

static tsanom_status check_normal(const tsanom_diagnosis_normal *normal,
                                  const tsanom_exec *exec) {
  size_t needed;
  tsanom_status status;
  if (!normal) return TSANOM_OK;
  if (normal->struct_size != sizeof *normal) {
    return tsn_reject_size(exec, TSANOM_E_VERSION, "data.normal.struct_size",
                           normal->struct_size, sizeof *normal, sizeof *normal);
  }
  if (!normal->range) {
    return tsn_reject_null(exec, "data.normal.range", normal->range_count);
  }
  if (!normal->thread_count ||
      __builtin_mul_overflow(normal->thread_count,
                             (size_t)TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS,
                             &needed) ||
      normal->range_count < needed) {
    return tsn_reject_is(
        exec, TSANOM_E_COUNT, "data.normal.range_count", TSANOM_NONE,
        "%zu; %d ranges for each of %zu threads, at least 1, are expected",
        normal->range_count, TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS,
        normal->thread_count);
  }
  size_t ledgers = normal->ledger ? ledger_count(normal->thread_count) : 0;
  status = tsn_require_size(exec, TSANOM_E_COUNT, "data.normal.ledger_count",
                            normal->ledger_count, ledgers, SIZE_MAX);
  if (status < 0) return status;
  bool ends = memchr(normal->program, 0, sizeof normal->program) &&
              memchr(normal->machine, 0, sizeof normal->machine);
  if (ends) return TSANOM_OK;
  return tsn_reject_text(exec, TSANOM_E_FORMAT, "data.normal.program", TSANOM_NONE,
                         "a terminating zero is expected, also in data.normal.machine");
}

/* An unknown value of an option, or an array that is missing, cannot be written. */
static tsanom_status check_data(const tsanom_runs_model_data *file,
                                const tsanom_exec *exec) {
  if (!file) return tsn_require(exec, file, "data");
  if (!file->model) return tsn_require(exec, file->model, "data.model");
  const tsanom_hsa_model_data *data = file->model;
  if (!file->run) return tsn_reject_null(exec, "data.run", data->run_count);
  if (!data->options) return tsn_require(exec, data->options, "data.model.options");
  if (!data->references) {
    return tsn_reject_null(exec, "data.model.references", data->thread_count);
  }
  tsanom_status status = tsn_require_size(exec, TSANOM_E_COUNT, "data.model.thread_count",
                                          data->thread_count, 1, SIZE_MAX);
  if (status < 0) return status;
  status = tsn_require_size(exec, TSANOM_E_COUNT, "data.model.run_count", data->run_count,
                            1, SIZE_MAX);
  if (status < 0) return status;
  for (size_t i = 0; i < data->run_count; i++) {
    if (file->run[i]) continue;
    return tsn_reject_is(exec, TSANOM_E_NULL, "data.run", i, "NULL; a name is expected");
  }
  for (size_t i = 0; i < COUNT_OF(option_fields); i++) {
    const field *f = &option_fields[i];
    if (!f->words) continue;
    int32_t value = *(const int32_t *)at_offset(data->options, f->offset), known = 0;
    while (f->words[known]) known++;
    if (value >= 0 && value < known) continue;
    return tsn_reject_text(exec, TSANOM_E_OPTION, "data.model.options", TSANOM_NONE,
                           "%s is %d; 0 to %d is expected", f->name, value, known - 1);
  }
  for (size_t t = 0; t < data->thread_count; t++) {
    for (size_t i = 0; i < COUNT_OF(reference_arrays); i++) {
      const array_field *a = &reference_arrays[i];
      size_t count = array_count(&data->references[t], a);
      if (!count || array_of(&data->references[t], a)) continue;
      return tsn_reject_text(exec, TSANOM_E_NULL, "data.model.references", t,
                             "%s is NULL; an array of %zu is expected", a->name, count);
    }
  }
  return check_normal(file->normal, exec);
}

enum { THREADS_MOST = 1 << 20 };

struct tsanom_runs_model {
  tsanom_exec exec;
  tsn_pool pool;
  tsanom_hsa_options options;
  tsanom_hsa_reference *reference;
  const char **run;
  tsanom_hsa_model_data data;
  tsanom_diagnosis_normal normal;
  bool has_normal;
};

/* Fields of one struct. */
static tsanom_status take_fields(const json_place *at, const json_t *object, void *to,
                                 const field *fields, size_t n) {
  tsanom_status status = TSANOM_OK;
  for (size_t i = 0; i < n && status == TSANOM_OK; i++) {
    const field *f = &fields[i];
    void *target = (char *)to + f->offset;
    status = f->type == COUNT    ? json_count(at, object, f->name, target)
             : f->type == NUMBER ? tsn_json_number(at, object, f->name, target)
                                 : json_word(at, object, f->name, f->words, target);
  }
  return status;
}

static tsanom_status take_ranges(const json_place *at, const json_t *object,
                                 const char *const *names, size_t count,
                                 tsanom_hsa_range *range) {
  tsanom_status status = TSANOM_OK;
  for (size_t i = 0; i < count && status == TSANOM_OK; i++) {
    status = json_range(at, object, names[i], &range[i]);
  }
  return status;
}

/* An array of `count` numbers. Memory is taken for those that are there, so that a wrong
 * count takes none. */
static tsanom_status take_array(const json_place *at, const json_t *object,
                                const char *key, size_t count, tsn_pool *pool,
                                double **values) {
  size_t given = json_array_size(json_object_get(object, key)); /* 0: it is none */
  *values = tsn_pool_take(pool, given, sizeof **values);
  return *values ? json_numbers(at, object, key, count, *values) : tsn_json_no_memory(at);
}

/* All options of learning, since the features of a new run must be computed in the same
 * way. */
static tsanom_status take_options(json_place *at, const json_t *json,
                                  tsanom_hsa_options *options) {
  const json_t *object = tsn_json_member(at, json, "options", JSON_OBJECT);
  if (!object) return TSANOM_E_FORMAT;
  (void)snprintf(at->path, sizeof at->path, "options.");
  *options = (tsanom_hsa_options){.struct_size = sizeof *options};
  tsanom_status status =
      take_fields(at, object, options, option_fields, COUNT_OF(option_fields));
  at->path[0] = '\0';
  return status;
}

/* The normal range of each feature. */
static tsanom_status take_features(const json_place *at, const json_t *thread,
                                   tsanom_hsa_range *range) {
  const json_t *ranges = tsn_json_member(at, thread, "ranges", JSON_OBJECT);
  if (!ranges) return TSANOM_E_FORMAT;
  json_place inside = {.file = at->file, .exec = at->exec};
  (void)snprintf(inside.path, sizeof inside.path, "%.64sranges.", at->path);
  return take_ranges(&inside, ranges, feature_names, COUNT_OF(feature_names), range);
}

/* Counts before arrays, because they determine the arrays' lengths. */
static tsanom_status take_thread(const json_place *at, const json_t *thread,
                                 tsn_pool *pool, tsanom_hsa_reference *r) {
  tsanom_status status =
      take_fields(at, thread, r, reference_fields, COUNT_OF(reference_fields));
  if (status == TSANOM_OK) status = json_numbers(at, thread, "domain", 2, r->domain);
  if (status == TSANOM_OK) status = take_features(at, thread, r->range);
  for (size_t i = 0; i < COUNT_OF(reference_arrays) && status == TSANOM_OK; i++) {
    const array_field *a = &reference_arrays[i];
    double *values = NULL;
    status = take_array(at, thread, a->name, array_count(r, a), pool, &values);
    *(const double **)((char *)r + a->offset) = values;
  }
  return status;
}

/* First of all: a file of another kind has none of the other members. */
static tsanom_status take_heading(const json_place *at, const json_t *json) {
  const char *format = json_string_value(json_object_get(json, "format"));
  size_t version = 0;
  if (!format || strcmp(format, FORMAT) != 0) {
    return tsn_json_bad(at, "format",
                        "\"" FORMAT "\" is expected: give a file by \"tsanom learn\"");
  }
  tsanom_status status = json_count(at, json, "version", &version);
  if (status < 0 || version == VERSION) return status;
  return tsn_json_bad(
      at, "version", "version %d is expected, not %zu%s", VERSION, version,
      version > VERSION ? ""
                        : ": older models lack the ledger; learn this one "
                          "again by \"tsanom learn\"");
}

static tsanom_status take_runs(const json_place *at, const json_t *json,
                               tsanom_runs_model *m) {
  const json_t *runs = tsn_json_member(at, json, "runs", JSON_ARRAY);
  if (!runs) return TSANOM_E_FORMAT;
  m->data.run_count = json_array_size(runs);
  if (!m->data.run_count) return tsn_json_bad(at, "runs", "at least one is expected");
  m->run = (const char **)tsn_pool_take(&m->pool, m->data.run_count, sizeof *m->run);
  if (!m->run) return tsn_json_no_memory(at);
  for (size_t i = 0; i < m->data.run_count; i++) {
    const char *name = json_string_value(json_array_get(runs, i));
    char key[48];
    (void)snprintf(key, sizeof key, "runs[%zu]", i);
    if (!name) return tsn_json_bad(at, key, "a name is expected");
    m->run[i] = tsn_pool_copy(&m->pool, name);
    if (!m->run[i]) return tsn_json_no_memory(at);
  }
  return TSANOM_OK;
}

static tsanom_status take_name(const json_place *at, const json_t *object,
                               const char *key, char *name, size_t size) {
  const char *text = json_string_value(json_object_get(object, key));
  if (!text || strlen(text) >= size) {
    return tsn_json_bad(at, key, "a name of less than %zu bytes is expected", size);
  }
  (void)snprintf(name, size, "%s", text);
  return TSANOM_OK;
}

static tsanom_status take_conditions(const json_place *at, const json_t *object,
                                     tsanom_diagnosis_normal *n) {
  size_t beats = 0, fewest = 0;
  tsanom_status status = take_name(at, object, "program", n->program, sizeof n->program);
  if (status == TSANOM_OK) {
    status = take_name(at, object, "machine", n->machine, sizeof n->machine);
  }
  if (status == TSANOM_OK) status = json_count(at, object, "beats", &beats);
  if (status == TSANOM_OK) status = json_count(at, object, "fewest", &fewest);
  n->beats = beats;
  n->fewest = fewest;
  return status;
}

/* The ranges of all threads in one part. */
static tsanom_status take_part(const json_t *parts, size_t part, const json_place *outer,
                               tsanom_hsa_range *range, size_t threads) {
  const json_t *part_threads = json_array_get(parts, part);
  json_place at = {.file = outer->file, .exec = outer->exec};
  tsanom_status status = TSANOM_OK;
  (void)snprintf(at.path, sizeof at.path, "normal.parts[%zu]", part);
  if (json_array_size(part_threads) != threads) {
    return tsn_json_bad(&at, "", "%zu threads are expected", threads);
  }
  for (size_t t = 0; t < threads && status == TSANOM_OK; t++) {
    (void)snprintf(at.path, sizeof at.path, "normal.parts[%zu][%zu].", part, t);
    status = take_ranges(&at, json_array_get(part_threads, t), sign_names,
                         COUNT_OF(sign_names), range + t * COUNT_OF(sign_names));
  }
  return status;
}

/* A model may have none. */
static tsanom_status take_ledger(const json_place *at, const json_t *object,
                                 tsanom_runs_model *m) {
  tsanom_diagnosis_normal *n = &m->normal;
  n->misfit = TSANOM_NONE;
  const json_t *found = tsn_json_member(at, object, "ledger", JSON_ARRAY);
  if (!found) return TSANOM_E_FORMAT;
  if (!json_array_size(found)) return TSANOM_OK;
  n->ledger_count = ledger_count(n->thread_count);
  return take_array(at, object, "ledger", n->ledger_count, &m->pool, &n->ledger);
}

/* The ranges of signs; null if the model has none. Memory is taken for threads that the
 * file contains already. */
static tsanom_status take_normal(json_place *at, const json_t *json,
                                 tsanom_runs_model *m) {
  if (json_is_null(json_object_get(json, "normal"))) return TSANOM_OK;
  const json_t *object = tsn_json_member(at, json, "normal", JSON_OBJECT);
  if (!object) return TSANOM_E_FORMAT;
  tsanom_diagnosis_normal *n = &m->normal;
  *n = (tsanom_diagnosis_normal){.struct_size = sizeof *n,
                                 .thread_count = m->data.thread_count,
                                 .run_count = m->data.run_count};
  (void)snprintf(at->path, sizeof at->path, "normal.");
  tsanom_status status = take_conditions(at, object, n);
  const json_t *parts =
      status == TSANOM_OK ? tsn_json_member(at, object, "parts", JSON_ARRAY) : NULL;
  if (!parts) return TSANOM_E_FORMAT;
  if (json_array_size(parts) != TSANOM_DIAGNOSIS_PARTS) {
    return tsn_json_bad(at, "parts", "%d parts are expected", TSANOM_DIAGNOSIS_PARTS);
  }
  n->range_count =
      (size_t)TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS * n->thread_count;
  n->range = tsn_pool_take(&m->pool, n->range_count, sizeof *n->range);
  if (!n->range) return tsn_json_no_memory(at);
  size_t ranges = n->thread_count * COUNT_OF(sign_names); /* of a part */
  for (size_t p = 0; p < TSANOM_DIAGNOSIS_PARTS && status == TSANOM_OK; p++) {
    status = take_part(parts, p, at, n->range + p * ranges, n->thread_count);
  }
  if (status == TSANOM_OK) status = take_ledger(at, object, m);
  m->has_normal = status == TSANOM_OK;
  return status;
}

/* All elements of `threads` are known to be objects before memory is taken for them: a
 * long array of other values would take a multiple of the file's size. */
static tsanom_status take_model(json_place *at, const json_t *json,
                                tsanom_runs_model *m) {
  tsanom_status status = take_heading(at, json);
  if (status == TSANOM_OK) status = take_options(at, json, &m->options);
  if (status == TSANOM_OK) status = take_runs(at, json, m);
  if (status < 0) return status;
  const json_t *threads = tsn_json_member(at, json, "threads", JSON_ARRAY);
  if (!threads) return TSANOM_E_FORMAT;
  m->data.thread_count = json_array_size(threads);
  if (!m->data.thread_count || m->data.thread_count > THREADS_MOST) {
    return tsn_json_bad(at, "threads", "1 to %d threads are expected", THREADS_MOST);
  }
  for (size_t i = 0; i < m->data.thread_count; i++) {
    if (json_is_object(json_array_get(threads, i))) continue;
    (void)snprintf(at->path, sizeof at->path, "threads[%zu]", i);
    return tsn_json_bad(at, "", "an object is expected");
  }
  m->reference = tsn_pool_take(&m->pool, m->data.thread_count, sizeof *m->reference);
  if (!m->reference) return tsn_json_no_memory(at);
  for (size_t i = 0; i < m->data.thread_count && status == TSANOM_OK; i++) {
    (void)snprintf(at->path, sizeof at->path, "threads[%zu].", i);
    status = take_thread(at, json_array_get(threads, i), &m->pool, &m->reference[i]);
  }
  at->path[0] = '\0';
  return status == TSANOM_OK ? take_normal(at, json, m) : status;
}

/* The object keeps the allocator, not exec. It owns a copy of every name and number, so
 * that the JSON can be freed. */
static tsanom_status model_from_json(const json_t *json, const char *file,
                                     const tsanom_exec *exec, tsanom_runs_model **model) {
  json_place at = {.file = file, .exec = exec};
  tsanom_runs_model *m = exec->alloc(exec->alloc_user, sizeof *m);
  if (!m) return tsn_json_no_memory(&at);
  *m = (tsanom_runs_model){.exec = tsn_exec_for_object(exec),
                           .data = {.struct_size = sizeof m->data}};
  m->pool.exec = &m->exec;
  tsanom_status status = take_model(&at, json, m);
  if (status == TSANOM_OK) {
    m->data.options = &m->options;
    m->data.references = m->reference;
    *model = m;
  } else {
    tsanom_runs_model_destroy(m);
  }
  return status;
}

tsanom_status tsanom_runs_model_load(const char *path, const tsanom_exec *exec,
                                     tsanom_runs_model **model) {
  tsanom_exec own;
  FILE *stream;
  json_t *json;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  if (!path) return tsn_reject_null(&own, "path", TSANOM_NONE);
  if (!model) return tsn_reject_null(&own, "model", TSANOM_NONE);
  status = tsn_stream_open(path, &own, &stream);
  if (status < 0) return status;
  status = tsn_json_load(stream, tsn_path_title(path), &own, &json);
  tsn_stream_close(stream);
  if (status == TSANOM_OK) {
    status = model_from_json(json, tsn_path_title(path), &own, model);
    json_decref(json);
  }
  return status;
}

tsanom_status tsanom_runs_model_parse(const char *text, size_t bytes, const char *name,
                                      const tsanom_exec *exec,
                                      tsanom_runs_model **model) {
  tsanom_exec own;
  json_t *json;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  if (!text) return tsn_reject_null(&own, "text", TSANOM_NONE);
  if (!name) return tsn_reject_null(&own, "name", TSANOM_NONE);
  if (!model) return tsn_reject_null(&own, "model", TSANOM_NONE);
  status = tsn_json_parse(text, bytes, name, &own, &json);
  if (status < 0) return status;
  status = model_from_json(json, name, &own, model);
  json_decref(json);
  return status;
}

/* What could not be read back is not written. */
tsanom_status tsanom_runs_model_save(const char *path, const tsanom_runs_model_data *data,
                                     const tsanom_exec *exec) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  if (!path) return tsn_reject_null(&own, "path", TSANOM_NONE);
  status = check_data(data, &own);
  if (status < 0) return status;
  tsn_file_place place = {.file = tsn_path_title(path)};
  json_t *json = model_to_json(data);
  tsanom_runs_model *read = NULL;
  status = json ? model_from_json(json, place.file, &own, &read) : TSANOM_OK;
  tsanom_runs_model_destroy(read);
  char *text = json && status == TSANOM_OK
                   ? json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(17))
                   : NULL;
  json_decref(json);
  if (status < 0) return status;
  if (!text) return tsn_reject_file(&own, TSANOM_E_MEMORY, &place, "out of memory");
  size_t length = strlen(text);
  text[length] = '\n'; /* in place of the zero */
  if (strcmp(path, "-") != 0) {
    int error;
    const char *failed = tsn_replace_file(path, text, length + 1, &error);
    if (failed) {
      status = tsn_reject_file(&own, TSANOM_E_IO, &place, error ? "%s: %s" : "%s", failed,
                               tsn_error_text(error));
    }
  } else if (fwrite(text, 1, length + 1, stdout) != length + 1) {
    status = tsn_reject_file(&own, TSANOM_E_IO, &place, "cannot write standard output");
  }
  free(text);
  return status;
}

tsanom_status tsanom_runs_model_get(const tsanom_runs_model *model,
                                    tsanom_runs_model_data *data) {
  if (!model || !data) return TSANOM_E_NULL;
  *data = (tsanom_runs_model_data){.model = &model->data,
                                   .run = model->run,
                                   .normal = model->has_normal ? &model->normal : NULL};
  return TSANOM_OK;
}

void tsanom_runs_model_destroy(tsanom_runs_model *model) {
  if (!model) return;
  tsanom_exec exec = model->exec;
  tsn_pool_free(&model->pool);
  exec.dealloc(exec.alloc_user, model);
}
