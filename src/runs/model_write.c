/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing model files. Numbers have 17 digits, so that they read back to the same bits,
 * and a loaded model gives the same verdicts as the one in memory. All of the model is
 * checked before anything is written. The text is made in memory and written by
 * core/replace_file.h: a model that exists is replaced as a whole or not at all. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/diagnosis.h>
#include <tsanom/runs.h>

#include "core/exec.h"
#include "core/fault.h"
#include "core/replace_file.h"
#include "runs/model_fields.h"
#include "runs/source.h"

/* JSON has no infinity: null unless finite. */
static json_t *put_finite(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

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
    json_object_set_new(object, fields[i].name, put_finite(value));
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
      json_pack("[oo]", put_finite(r->domain[0]), put_finite(r->domain[1])));
  for (size_t f = 0; f < COUNT_OF(feature_names); f++) {
    json_object_set_new(
        ranges, feature_names[f],
        json_pack("[oo]", put_finite(r->range[f].low), put_finite(r->range[f].high)));
  }
  json_object_set_new(object, "ranges", ranges);
  for (size_t i = 0; i < COUNT_OF(reference_arrays); i++) {
    const double *values;
    memcpy(&values, at_offset(r, reference_arrays[i].offset), sizeof values);
    json_t *array = json_array();
    for (size_t k = 0; k < array_count(r, &reference_arrays[i]); k++) {
      json_array_append_new(array, put_finite(values[k]));
    }
    json_object_set_new(object, reference_arrays[i].name, array);
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
    for (size_t t = 0; t < n->thread_count; t++) {
      json_t *signs = json_object();
      for (size_t i = 0; i < COUNT_OF(sign_names); i++, range++) {
        json_object_set_new(
            signs, sign_names[i],
            json_pack("[oo]", put_finite(range->low), put_finite(range->high)));
      }
      json_array_append_new(threads, signs);
    }
    json_array_append_new(parts, threads);
  }
  json_t *ledger = json_array();
  for (size_t i = 0; n->ledger && i < ledger_count(n->thread_count); i++) {
    json_array_append_new(ledger, put_finite(n->ledger[i]));
  }
  return json_pack("{so so sI sI so so so}", "program", put_name(n->program), "machine",
                   put_name(n->machine), "beats", (json_int_t)n->beats, "fewest",
                   (json_int_t)n->fewest, "load", put_finite(n->load), "parts", parts,
                   "ledger", ledger);
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
                   names, "options", options_to_json(data->options), "threads", threads,
                   "normal", normal);
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
  for (size_t i = 0; i < COUNT_OF(option_choices); i++) {
    const choice *c = &option_choices[i];
    int32_t value, known = 0;
    memcpy(&value, at_offset(data->options, c->where.offset), sizeof value);
    while (c->words[known]) known++;
    if (value >= 0 && value < known) continue;
    return tsn_reject_text(exec, TSANOM_E_OPTION, "data.model.options", TSANOM_NONE,
                           "%s is %d; 0 to %d is expected", c->where.name, value,
                           known - 1);
  }
  for (size_t t = 0; t < data->thread_count; t++) {
    for (size_t i = 0; i < COUNT_OF(reference_arrays); i++) {
      const double *values;
      memcpy(&values, at_offset(&data->references[t], reference_arrays[i].offset),
             sizeof values);
      if (!values && array_count(&data->references[t], &reference_arrays[i])) {
        return tsn_reject_text(exec, TSANOM_E_NULL, "data.model.references", t,
                               "%s is NULL; an array of %zu is expected",
                               reference_arrays[i].name,
                               array_count(&data->references[t], &reference_arrays[i]));
      }
    }
  }
  return check_normal(file->normal, exec);
}

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
  char *text = json ? json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(json);
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
