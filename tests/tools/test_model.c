/* SPDX-License-Identifier: BSD-3-Clause */
/* The model's file. */
#include <criterion/criterion.h>
#include <math.h>
#include <model_file.h>
#include <stdio.h>
#include <stdlib.h>

#include "run.h"
#include "support/random.h"

enum { BEATS = 60, THREADS = 3, RUNS = 3 };

TestSuite(command_model, .init = enter_folder, .fini = leave_folder);

/* A model of random runs, whose last thread is silent in all of them. */
static owned_model random_model(uint64_t seed) {
  static double times[RUNS][THREADS][BEATS];
  static tsanom_hsa_series series[RUNS][THREADS];
  tsanom_hsa_run runs[RUNS];
  for (int i = 0; i < RUNS; i++) {
    for (int t = 0; t < THREADS; t++) {
      double now = 0;
      for (int k = 0; k < BEATS; k++) times[i][t][k] = now += 0.5 + random_unit(&seed);
      size_t beats = t == THREADS - 1 ? 0 : BEATS - (size_t)i;
      series[i][t] = (tsanom_hsa_series){.time = times[i][t], .beats = beats};
    }
    runs[i] = (tsanom_hsa_run){.threads = series[i], .thread_count = THREADS, .start = 0};
  }
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
  options.window = random_between(&seed, 1, 5);
  options.rule = (int32_t)random_between(&seed, 0, 1);
  options.range = (int32_t)random_between(&seed, 0, 1);
  options.normalize = (int32_t)random_between(&seed, 0, 1);
  options.coverage = 0.5 + 0.49 * random_unit(&seed);
  owned_model m;
  tsanom_hsa_model *model;
  tsanom_status status = tsanom_hsa_learn(runs, RUNS, &options, NULL, &model);
  cr_assert(status >= 0, "%s", tsanom_status_text(status));
  model_take(&m, model);
  return m;
}

static json_t *json_of(const owned_model *m) {
  static char a[] = "a", b[] = "b/\xff", c[] = "\xc3\xa4";
  char *names[] = {a, b, c};
  json_t *json = model_to_json(&m->data, names);
  cr_assert(json);
  return json;
}

static int same_bits(const void *a, const void *b, size_t bytes) {
  return bytes == 0 || memcmp(a, b, bytes) == 0;
}

static void check_same(const owned_model *m, const owned_model *n) {
  cr_assert(n->data.thread_count == THREADS && n->data.run_count == RUNS);
  for (size_t t = 0; t < THREADS; t++) {
    tsanom_hsa_reference r = m->data.references[t], s = n->data.references[t];
    cr_assert(r.beats == s.beats && r.windows == s.windows && r.degree == s.degree);
    size_t bytes = r.beats ? (r.windows + 1) * sizeof(double) : 0;
    cr_assert(same_bits(r.time, s.time, bytes) && same_bits(r.rate, s.rate, bytes));
    bytes = r.beats ? (r.degree + 1) * sizeof(double) : 0;
    cr_assert(same_bits(r.coefficient, s.coefficient, bytes));
    cr_assert(same_bits(r.range, s.range, TSANOM_HSA_FEATURES * sizeof *r.range));
    cr_assert(same_bits(&r.completion, &s.completion,
                        offsetof(tsanom_hsa_reference, time) -
                            offsetof(tsanom_hsa_reference, completion)));
  }
}

Test(command_model, text_and_back_is_the_same_model_bit_for_bit) {
  for (uint64_t seed = 1; seed <= 100; seed++) {
    owned_model m = random_model(seed), n;
    json_t *json = json_of(&m);
    char *text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_t *parsed = json_loads(text, 0, NULL);
    failure why;
    cr_assert(model_from_json(parsed, "m", &n, &why) == 0, "%s", why.text);
    check_same(&m, &n);
    json_t *again = json_of(&n);
    char *text_again = json_dumps(again, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    cr_assert_str_eq(text, text_again);
    free(text);
    free(text_again);
    json_decref(json);
    json_decref(parsed);
    json_decref(again);
    model_free(&m);
    model_free(&n);
  }
}

typedef struct {
  const char *parent; /* object, by a path of keys and indices */
  const char *key;    /* of the member to replace */
  const char *value;  /* its new value as JSON; NULL: removed */
  const char *message;
} damage;

static const damage damages[] = {
    {"", "format", NULL, "m: format: "},
    {"", "format", "\"other\"", "tsanom learn"},
    {"", "version", "1", "m: version: version 2 is expected, not 1"},
    {"", "version", "\"1\"", "m: version: a whole number"},
    {"", "runs", "3", "m: runs: an array is expected"},
    {"", "runs", "[]", "m: runs: at least one"},
    {"", "threads", "[]", "m: threads: at least one"},
    {"", "threads", "[4]", "m: threads[0]."},
    {"", "threads", NULL, "m: threads: is missing"},
    {"", "options", "[]", "m: options: an object"},
    {"options", "radius", "-1", "m: options.radius: a whole number from 0 up"},
    {"options", "radius", "1.5", "m: options.radius: a whole number from 0 up"},
    {"options", "coverage", "\"0.9\"", "m: options.coverage: a number"},
    {"options", "coverage", "1.5", "m: options.coverage: "},
    {"options", "rule", "\"best\"", "m: options.rule: one of these words"},
    {"options", "rule", "1", "\"paper\" \"completion\" \"pace\""},
    {"threads 1", "beats", NULL, "m: threads[1].beats: is missing"},
    {"threads 1", "windows", "99999999", "m: threads[1].time: 100000000 numbers"},
    {"threads 1", "degree", "99999999", "m: threads[1].coefficient: 100000000 numbers"},
    {"threads 1", "degree", "9223372036854775807", "m: threads[1].coefficient: "},
    {"threads 1", "mean_rate", "null", "m: threads[1].mean_rate: a number"},
    {"threads 1", "domain", "[1]", "m: threads[1].domain: 2 numbers"},
    {"threads 1", "time", "{}", "m: threads[1].time: an array"},
    {"threads 1 time", "2", "\"x\"", "m: threads[1].time[2]: a number"},
    {"threads 1", "ranges", NULL, "m: threads[1].ranges: is missing"},
    {"threads 1 ranges", "gtr", NULL, "m: threads[1].ranges.gtr: is missing"},
    {"threads 1 ranges", "gtr", "[1]", "m: threads[1].ranges.gtr: two numbers"},
    {"threads 1 ranges", "gtr", "[2,1]", "m: threads[1].ranges.gtr: the first number"},
};

static json_t *follow(json_t *json, const char *path) {
  char step[32];
  int used;
  while (sscanf(path, "%31s%n", step, &used) == 1) {
    path += used;
    json = json_is_array(json) ? json_array_get(json, strtoul(step, NULL, 10))
                               : json_object_get(json, step);
    cr_assert(json, "no %s", step);
  }
  return json;
}

static void apply(const damage *d, json_t *json) {
  json_t *parent = follow(json, d->parent);
  json_t *value = d->value ? json_loads(d->value, JSON_DECODE_ANY, NULL) : NULL;
  cr_assert(!d->value || value, "no JSON: %s", d->value);
  if (!value) {
    json_object_del(parent, d->key);
  } else if (json_is_array(parent)) {
    json_array_set_new(parent, strtoul(d->key, NULL, 10), value);
  } else {
    json_object_set_new(parent, d->key, value);
  }
}

Test(command_model, a_bad_field_is_named_by_its_path) {
  owned_model m = random_model(1);
  for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
    const damage *d = &damages[i];
    json_t *json = json_of(&m);
    apply(d, json);
    owned_model n;
    failure why = {""};
    cr_assert(model_from_json(json, "m", &n, &why) < 0, "%s = %s was taken", d->key,
              d->value);
    cr_assert(strstr(why.text, d->message), "%s\n  is missing in\n%s", d->message,
              why.text);
    cr_assert(!n.model);
    json_decref(json);
  }
  model_free(&m);
}

Test(command_model, an_infinite_end_of_a_range_is_null) {
  owned_model m = random_model(1), n;
  json_t *json = json_of(&m);
  apply(&(damage){"threads 0 ranges", "gtr", "[null,null]", NULL}, json);
  failure why;
  cr_assert(model_from_json(json, "m", &n, &why) == 0, "%s", why.text);
  tsanom_hsa_reference r = n.data.references[0];
  cr_assert(r.range[0].low == -INFINITY && r.range[0].high == INFINITY);
  json_t *again = json_of(&n);
  cr_assert(json_equal(again, json));
  json_decref(again);
  json_decref(json);
  model_free(&m);
  model_free(&n);
}
