/* SPDX-License-Identifier: BSD-3-Clause */
#include "model_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checked_json.h"
#include "json_value.h"
#include "rows.h"

#define FORMAT "tsanom hsa model"
enum { VERSION = 2, THREADS_MOST = 1 << 20 };

/* Where the fields of a struct are, by their names in the file. */
typedef struct {
  const char *name;
  size_t offset;
} field;

#define OPTION(name) \
  { #name, offsetof(tsanom_hsa_options, name) }
#define REFERENCE(name) \
  { #name, offsetof(tsanom_hsa_reference, name) }
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const field option_counts[] = {OPTION(window), OPTION(max_windows),
                                      OPTION(max_degree), OPTION(points), OPTION(radius)};
static const field option_numbers[] = {OPTION(r2), OPTION(coverage), OPTION(margin),
                                       OPTION(single_run_margin)};

/* By value. */
static const char *const range_words[] = {"student", "order", NULL};
static const char *const rule_words[] = {"paper", "completion", "pace", NULL};
static const char *const local_rate_words[] = {"ratio", "literal", NULL};
static const char *const normalise_words[] = {"no", "yes", NULL};

typedef struct {
  field where;
  const char *const *words;
} choice;

static const choice option_choices[] = {
    {OPTION(range), range_words},
    {OPTION(rule), rule_words},
    {OPTION(local_rate), local_rate_words},
    {{"normalise", offsetof(tsanom_hsa_options, normalize)}, normalise_words}};

static const field reference_counts[] = {REFERENCE(beats),        REFERENCE(window),
                                         REFERENCE(local_window), REFERENCE(windows),
                                         REFERENCE(degree),       REFERENCE(run),
                                         REFERENCE(sample_runs),  REFERENCE(silent_runs)};
static const field reference_numbers[] = {
    REFERENCE(completion), REFERENCE(mean_rate), REFERENCE(interval), REFERENCE(r2),
    REFERENCE(unit),       REFERENCE(center),    REFERENCE(scale)};

/* The arrays of a thread, and how many numbers beyond windows or degree. */
typedef struct {
  const char *name;
  size_t offset;       /* of the pointer in tsanom_hsa_reference */
  size_t count_offset; /* of the size_t it goes with */
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

static size_t array_count(const tsanom_hsa_reference *r, const array_field *a) {
  size_t count;
  memcpy(&count, at_offset(r, a->count_offset), sizeof count);
  return r->beats ? count + a->more : 0;
}

void model_take(owned_model *m, tsanom_hsa_model *model) {
  m->model = model;
  tsanom_hsa_model_data_init(&m->data, sizeof m->data);
  tsanom_hsa_model_read(model, &m->data);
}

void model_free(owned_model *m) {
  tsanom_hsa_model_destroy(m->model);
  *m = (owned_model){0};
}

/* Writing. */

static void put_counts(json_t *object, const void *from, const field *fields, size_t n) {
  for (size_t i = 0; i < n; i++) {
    size_t value;
    memcpy(&value, at_offset(from, fields[i].offset), sizeof value);
    json_object_set_new(object, fields[i].name, json_integer((json_int_t)value));
  }
}

static void put_numbers(json_t *object, const void *from, const field *fields, size_t n) {
  for (size_t i = 0; i < n; i++) {
    double value;
    memcpy(&value, at_offset(from, fields[i].offset), sizeof value);
    json_object_set_new(object, fields[i].name, json_finite(value));
  }
}

static json_t *options_to_json(const tsanom_hsa_options *o) {
  json_t *object = json_object();
  put_counts(object, o, option_counts, COUNT_OF(option_counts));
  put_numbers(object, o, option_numbers, COUNT_OF(option_numbers));
  for (size_t i = 0; i < COUNT_OF(option_choices); i++) {
    int32_t value;
    memcpy(&value, at_offset(o, option_choices[i].where.offset), sizeof value);
    json_object_set_new(object, option_choices[i].where.name,
                        json_string(option_choices[i].words[value]));
  }
  return object;
}

static json_t *reference_to_json(const tsanom_hsa_reference *r) {
  json_t *object = json_object(), *ranges = json_object();
  put_counts(object, r, reference_counts, COUNT_OF(reference_counts));
  put_numbers(object, r, reference_numbers, COUNT_OF(reference_numbers));
  json_object_set_new(
      object, "domain",
      json_pack("[oo]", json_finite(r->domain[0]), json_finite(r->domain[1])));
  for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
    json_object_set_new(
        ranges, tsanom_hsa_feature_name(f),
        json_pack("[oo]", json_finite(r->range[f].low), json_finite(r->range[f].high)));
  }
  json_object_set_new(object, "ranges", ranges);
  for (size_t i = 0; i < COUNT_OF(reference_arrays); i++) {
    const double *values;
    memcpy(&values, at_offset(r, reference_arrays[i].offset), sizeof values);
    json_t *array = json_array();
    for (size_t k = 0; k < array_count(r, &reference_arrays[i]); k++) {
      json_array_append_new(array, json_finite(values[k]));
    }
    json_object_set_new(object, reference_arrays[i].name, array);
  }
  return object;
}

json_t *model_to_json(const tsanom_hsa_model_data *data, char *const *runs) {
  json_t *names = json_array(), *threads = json_array();
  for (size_t i = 0; i < data->run_count; i++) {
    json_array_append_new(names, json_name(runs[i]));
  }
  for (size_t i = 0; i < data->thread_count; i++) {
    json_array_append_new(threads, reference_to_json(&data->references[i]));
  }
  return json_pack("{ss si so so so}", "format", FORMAT, "version", VERSION, "runs",
                   names, "options", options_to_json(data->options), "threads", threads);
}

/* Reading. */

static int take_counts(const json_place *at, const json_t *object, void *to,
                       const field *fields, size_t n) {
  for (size_t i = 0; i < n; i++) {
    size_t value;
    if (json_take_count(at, object, fields[i].name, &value)) return -1;
    memcpy((char *)to + fields[i].offset, &value, sizeof value);
  }
  return 0;
}

static int take_numbers(const json_place *at, const json_t *object, void *to,
                        const field *fields, size_t n) {
  for (size_t i = 0; i < n; i++) {
    double value;
    if (json_take_number(at, object, fields[i].name, &value)) return -1;
    memcpy((char *)to + fields[i].offset, &value, sizeof value);
  }
  return 0;
}

static int take_options(json_place *at, const json_t *model, tsanom_hsa_options *o) {
  const json_t *object = json_take_object(at, model, "options");
  if (!object) return -1;
  snprintf(at->path, sizeof at->path, "options.");
  tsanom_hsa_options_init(o, sizeof *o);
  if (take_counts(at, object, o, option_counts, COUNT_OF(option_counts)) ||
      take_numbers(at, object, o, option_numbers, COUNT_OF(option_numbers))) {
    return -1;
  }
  for (size_t i = 0; i < COUNT_OF(option_choices); i++) {
    int32_t value;
    const choice *c = &option_choices[i];
    if (json_take_word(at, object, c->where.name, c->words, &value)) return -1;
    memcpy((char *)o + c->where.offset, &value, sizeof value);
  }
  at->path[0] = '\0';
  return 0;
}

static int take_ranges(const json_place *at, const json_t *thread,
                       tsanom_hsa_range *range) {
  const json_t *ranges = json_take_object(at, thread, "ranges");
  if (!ranges) return -1;
  json_place inside = {.file = at->file, .why = at->why};
  snprintf(inside.path, sizeof inside.path, "%.64sranges.", at->path);
  for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
    double ends[2];
    if (json_take_interval(&inside, ranges, tsanom_hsa_feature_name(f), ends)) return -1;
    range[f] = (tsanom_hsa_range){ends[0], ends[1]};
  }
  return 0;
}

/* Take the numbers of an array into memory that free_thread() frees. */
static int take_array(const json_place *at, const json_t *thread, const array_field *a,
                      tsanom_hsa_reference *r) {
  const json_t *array = json_take_array(at, thread, a->name);
  if (!array) return -1;
  /* As long as the array is, so that a wrong count asks for no memory. */
  double *values = calloc(json_array_size(array) + 1, sizeof *values);
  if (!values) return json_bad(at, a->name, "out of memory");
  memcpy((char *)r + a->offset, &values, sizeof values);
  return json_take_numbers(at, thread, a->name, array_count(r, a), values) ? -1 : 0;
}

static int take_thread(const json_place *at, const json_t *thread,
                       tsanom_hsa_reference *r) {
  if (take_counts(at, thread, r, reference_counts, COUNT_OF(reference_counts)) ||
      take_numbers(at, thread, r, reference_numbers, COUNT_OF(reference_numbers)) ||
      json_take_numbers(at, thread, "domain", 2, r->domain) ||
      take_ranges(at, thread, r->range)) {
    return -1;
  }
  for (size_t i = 0; i < COUNT_OF(reference_arrays); i++) {
    if (take_array(at, thread, &reference_arrays[i], r)) return -1;
  }
  return 0;
}

static void free_threads(tsanom_hsa_reference *r, size_t count) {
  for (size_t i = 0; r && i < count; i++) {
    free((void *)r[i].time);
    free((void *)r[i].rate);
    free((void *)r[i].window_rate);
    free((void *)r[i].coefficient);
  }
  free(r);
}

static int take_heading(const json_place *at, const json_t *json) {
  const char *format = json_string_value(json_object_get(json, "format"));
  size_t version = 0;
  if (!format || strcmp(format, FORMAT) != 0) {
    return json_bad(at, "format",
                    "\"" FORMAT "\" is expected: is this a file by \"tsanom learn\"?");
  }
  if (json_take_count(at, json, "version", &version)) return -1;
  if (version != VERSION) {
    char sentence[96];
    snprintf(sentence, sizeof sentence, "version %d is expected, not %zu", VERSION,
             version);
    return json_bad(at, "version", sentence);
  }
  return 0;
}

/* The model of a content; a failure names the field in the file. */
static int create(json_place *at, const tsanom_hsa_options *options, size_t runs,
                  const tsanom_hsa_reference *references, size_t count, owned_model *m) {
  tsanom_hsa_model_data data;
  tsanom_hsa_model *model;
  tsanom_exec exec;
  tsanom_fault fault;
  tsanom_hsa_model_data_init(&data, sizeof data);
  data.thread_count = count;
  data.run_count = runs;
  data.options = options;
  data.references = references;
  tsanom_exec_init(&exec, sizeof exec);
  tsanom_fault_init(&fault, sizeof fault);
  exec.fault = &fault;
  tsanom_status status = tsanom_hsa_model_create(&data, &exec, &model);
  if (status >= 0) {
    model_take(m, model);
    return 0;
  }
  const char *dot = strrchr(fault.argument, '.');
  at->path[0] = '\0';
  if (fault.element != TSANOM_NONE) {
    snprintf(at->path, sizeof at->path, "threads[%zu].", fault.element);
  } else if (strncmp(fault.argument, "data.options.", 13) == 0) {
    snprintf(at->path, sizeof at->path, "options.");
  }
  return json_bad(at, dot ? dot + 1 : "", tsanom_status_text(status));
}

int model_from_json(const json_t *json, const char *file, owned_model *m, failure *why) {
  json_place at = {.file = file, .why = why};
  tsanom_hsa_options options;
  *m = (owned_model){0};
  if (take_heading(&at, json) || take_options(&at, json, &options)) return -1;
  const json_t *runs = json_take_array(&at, json, "runs");
  const json_t *threads = runs ? json_take_array(&at, json, "threads") : NULL;
  if (!threads) return -1;
  size_t count = json_array_size(threads);
  if (!count || count > THREADS_MOST) {
    return json_bad(&at, "threads", "at least one thread is expected");
  }
  if (!json_array_size(runs)) return json_bad(&at, "runs", "at least one is expected");
  tsanom_hsa_reference *references = calloc(count, sizeof *references);
  int failed = !references && json_bad(&at, "threads", "out of memory");
  for (size_t i = 0; i < count && !failed; i++) {
    snprintf(at.path, sizeof at.path, "threads[%zu].", i);
    failed = take_thread(&at, json_array_get(threads, i), &references[i]);
  }
  failed = failed || create(&at, &options, json_array_size(runs), references, count, m);
  free_threads(references, count);
  return failed ? -1 : 0;
}

int model_read(const char *path, owned_model *m, failure *why) {
  *m = (owned_model){0};
  json_t *json = json_load_path(path, why);
  if (!json) return -1;
  int status = model_from_json(json, file_title(path), m, why);
  json_decref(json);
  return status;
}
