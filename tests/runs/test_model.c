/* SPDX-License-Identifier: BSD-3-Clause */
/* Model files. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <tsanom/diagnosis.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "support/allocator.h"
#include "support/check.h"
#include "support/exec.h"
#include "support/random.h"
#include "support/run_directory.h"
#include "support/sanitized.h"

enum { BEATS = 60, THREADS = 3, RUNS = 3 };

TestSuite(runs_model, .init = make_directory, .fini = remove_directory);

static const char *const run_names[RUNS] = {"a", "b/\xff", "\xc3\xa4"};

enum { RANGES = TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS * THREADS };
enum { NUMBERS = TSANOM_DIAGNOSIS_LEDGER_RUN + TSANOM_DIAGNOSIS_LEDGER_THREAD * THREADS };

/* A model of random runs, whose last thread is silent in all of them. */
typedef struct {
  tsanom_hsa_model *model;
  tsanom_hsa_options options;
  tsanom_hsa_reference reference[THREADS];
  tsanom_hsa_model_data content;
  tsanom_hsa_range range[RANGES];
  double ledger[NUMBERS];
  tsanom_diagnosis_normal normal;
  tsanom_runs_model_data data;
} learned;

static void learn(uint64_t seed, learned *l) {
  bool with_normal = seed % 2;
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
    runs[i] = (tsanom_hsa_run){.threads = series[i], .thread_count = THREADS};
  }
  tsanom_hsa_options_init(&l->options, sizeof l->options);
  l->options.window = random_between(&seed, 1, 5);
  l->options.rule = (int32_t)random_between(&seed, 0, 1);
  l->options.coverage = 0.5 + 0.49 * random_unit(&seed);
  cr_assert(tsanom_hsa_learn(runs, RUNS, &l->options, NULL, &l->model) >= 0);
  l->content = (tsanom_hsa_model_data){.struct_size = sizeof l->content};
  CHECK_STATUS(tsanom_hsa_model_read(l->model, &l->content), TSANOM_OK);
  memcpy(l->reference, l->content.references, sizeof l->reference);
  l->content.references = l->reference;
  l->content.options = &l->options;
  l->data = (tsanom_runs_model_data){.model = &l->content, .run = run_names};
  for (int i = 0; i < RUNS; i++) {
    runs[i].program = "a program";
    runs[i].machine = "2 x a processor";
  }
  l->normal = (tsanom_diagnosis_normal){.struct_size = sizeof l->normal};
  l->normal.range = l->range;
  l->normal.range_count = RANGES;
  l->normal.ledger = l->ledger;
  l->normal.ledger_count = NUMBERS;
  CHECK_STATUS(tsanom_diagnosis_learn_normal(runs, RUNS, 0.9, NULL, &l->normal),
               TSANOM_OK);
  if (with_normal) l->data.normal = &l->normal;
}

static void check_same_normal(const tsanom_diagnosis_normal *m,
                              const tsanom_diagnosis_normal *n) {
  cr_assert(!m == !n);
  if (!m) return;
  cr_assert(m->thread_count == n->thread_count && m->run_count == n->run_count);
  cr_assert(m->beats == n->beats && m->fewest == n->fewest && n->beats == BEATS);
  cr_assert_str_eq(m->program, n->program);
  cr_assert_str_eq(m->machine, n->machine);
  cr_assert(n->range_count == RANGES);
  cr_assert(memcmp(m->range, n->range, RANGES * sizeof *m->range) == 0);
  cr_assert(n->ledger_count == NUMBERS && n->misfit == TSANOM_NONE);
  cr_assert(memcmp(m->ledger, n->ledger, sizeof((learned *)NULL)->ledger) == 0);
}

static json_t *json_of(const tsanom_runs_model_data *data) {
  const char *path = in_directory("m.json");
  CHECK_STATUS(tsanom_runs_model_save(path, data, NULL), TSANOM_OK);
  json_t *json = json_load_file(path, 0, NULL);
  cr_assert(json);
  return json;
}

static tsanom_status parse(const json_t *json, tsanom_fault *fault,
                           tsanom_runs_model **model) {
  char *text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
  tsanom_exec exec = exec_reporting(fault);
  tsanom_status status = tsanom_runs_model_parse(text, strlen(text), "m", &exec, model);
  free(text);
  return status;
}

static bool same_bits(const void *a, const void *b, size_t bytes) {
  return bytes == 0 || memcmp(a, b, bytes) == 0;
}

static void check_same(const tsanom_hsa_model_data *m, const tsanom_hsa_model_data *n) {
  cr_assert(m->thread_count == n->thread_count && m->run_count == n->run_count);
  cr_assert(same_bits(m->options, n->options, sizeof *m->options));
  for (size_t t = 0; t < THREADS; t++) {
    const tsanom_hsa_reference *r = &m->references[t], *s = &n->references[t];
    cr_assert(r->beats == s->beats && r->windows == s->windows && r->degree == s->degree);
    size_t bytes = r->beats ? (r->windows + 1) * sizeof(double) : 0;
    cr_assert(same_bits(r->time, s->time, bytes) && same_bits(r->rate, s->rate, bytes));
    bytes = r->beats ? (r->degree + 1) * sizeof(double) : 0;
    cr_assert(same_bits(r->coefficient, s->coefficient, bytes));
    cr_assert(same_bits(r->range, s->range, TSANOM_HSA_FEATURES * sizeof *r->range));
    cr_assert(same_bits(&r->completion, &s->completion,
                        offsetof(tsanom_hsa_reference, time) -
                            offsetof(tsanom_hsa_reference, completion)));
  }
}

Test(runs_model, text_and_back_is_the_same_model_bit_for_bit) {
  for (uint64_t seed = 1; seed <= 50; seed++) {
    learned l;
    tsanom_runs_model *read = NULL;
    tsanom_runs_model_data data;
    learn(seed, &l);
    json_t *json = json_of(&l.data);
    CHECK_STATUS(tsanom_runs_model_load(in_directory("m.json"), NULL, &read), TSANOM_OK);
    CHECK_STATUS(tsanom_runs_model_get(read, &data), TSANOM_OK);
    check_same(l.data.model, data.model);
    check_same_normal(l.data.normal, data.normal);
    cr_assert(strcmp(data.run[0], "a") == 0 && strcmp(data.run[1], "b/?") == 0);
    json_t *again = json_of(&data);
    cr_assert(json_equal(json, again));
    json_decref(json);
    json_decref(again);
    tsanom_runs_model_destroy(read);
    tsanom_hsa_model_destroy(l.model);
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
    {"", "version", "4", "m: version: version 9 is expected, not 4: older models"},
    {"", "version", "10", "m: version: version 9 is expected, not 10"},
    {"", "normal", NULL, "m: normal: is missing"},
    {"", "normal", "[]", "m: normal: an object"},
    {"normal", "program", "3", "m: normal.program: a name"},
    {"normal", "machine", NULL, "m: normal.machine: a name"},
    {"normal", "beats", "-1", "m: normal.beats: a whole number"},
    {"normal", "parts", "[]", "m: normal.parts: 8 parts"},
    {"normal parts", "3", "[]", "m: normal.parts[3]: 3 threads"},
    {"normal parts 7", "2", "{}", "m: normal.parts[7][2].gap_s: is missing"},
    {"normal", "ledger", "[1,2]", "m: normal.ledger: 293 numbers"},
    {"normal parts 7 2", "tail", "[2,1]", "m: normal.parts[7][2].tail: the first"},
    {"", "version", "\"1\"", "m: version: a whole number"},
    {"", "runs", "3", "m: runs: an array is expected"},
    {"", "runs", "[]", "m: runs: at least one"},
    {"", "threads", "[]", "m: threads: 1 to"},
    {"", "threads", "[4]", "m: threads[0]: an object"},
    {"", "runs", "[1]", "m: runs[0]: a name"},
    {"", "threads", NULL, "m: threads: is missing"},
    {"", "options", "[]", "m: options: an object"},
    {"options", "radius", "-1", "m: options.radius: a whole number >= 0"},
    {"options", "radius", "1.5", "m: options.radius: a whole number >= 0"},
    {"options", "coverage", "\"0.9\"", "m: options.coverage: a number"},
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

Test(runs_model, a_bad_field_is_named_by_its_path) {
  learned l;
  learn(1, &l);
  for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
    const damage *d = &damages[i];
    tsanom_fault fault;
    tsanom_runs_model *model = NULL;
    char message[sizeof fault.file + sizeof fault.text + 2];
    json_t *json = json_of(&l.data);
    apply(d, json);
    cr_assert(parse(json, &fault, &model) == TSANOM_E_FORMAT, "%s = %s was accepted",
              d->key, d->value);
    (void)snprintf(message, sizeof message, "%s: %s", fault.file, fault.text);
    cr_assert(strstr(message, d->message), "%s\n  is missing in\n%s", d->message,
              message);
    cr_assert(!model);
    json_decref(json);
  }
  tsanom_hsa_model_destroy(l.model);
}

Test(runs_model, an_infinite_end_of_a_range_is_null) {
  learned l;
  tsanom_fault fault;
  tsanom_runs_model *model = NULL;
  tsanom_runs_model_data data;
  learn(1, &l);
  json_t *json = json_of(&l.data);
  apply(&(damage){"threads 0 ranges", "gtr", "[null,null]", NULL}, json);
  CHECK_STATUS(parse(json, &fault, &model), TSANOM_OK);
  tsanom_runs_model_get(model, &data);
  cr_assert(data.model->references[0].range[0].low == -INFINITY);
  cr_assert(data.model->references[0].range[0].high == INFINITY);
  json_t *again = json_of(&data);
  cr_assert(json_equal(again, json));
  json_decref(again);
  json_decref(json);
  tsanom_runs_model_destroy(model);
  tsanom_hsa_model_destroy(l.model);
}

/* A small file that promises much: 8.3 GB were allocated for one of 1 KB. */
Test(runs_model, memory_is_bounded_by_the_file) {
  learned l;
  test_allocator counter = {0};
  tsanom_exec exec = test_exec(&counter);
  struct rlimit limit = {(rlim_t)1 << 30, (rlim_t)1 << 30};
  tsanom_runs_model *model = NULL;
  learn(1, &l);
  json_t *json = json_of(&l.data);
  apply(&(damage){"options", "max_windows", "16777216", NULL}, json);
  apply(&(damage){"threads 1", "windows", "16777216", NULL}, json);
  char *text = json_dumps(json, 0);
#if !SANITIZED
  cr_assert(setrlimit(RLIMIT_AS, &limit) == 0);
#endif
  (void)limit;
  CHECK_STATUS(tsanom_runs_model_parse(text, strlen(text), "m", &exec, &model),
               TSANOM_E_FORMAT);
  cr_assert(counter.live == 0);
  free(text);
  json_decref(json);
  tsanom_hsa_model_destroy(l.model);
}

Test(runs_model, what_cannot_be_written_is_rejected) {
  learned l;
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  learn(1, &l);
  tsanom_runs_model_data data = l.data;
  l.content.run_count = 0;
  CHECK_STATUS(tsanom_runs_model_save("m", &data, &exec), TSANOM_E_COUNT);
  cr_assert(strcmp(fault.argument, "data.model.run_count") == 0);
  l.content.run_count = RUNS;
  l.options.rule = 99;
  CHECK_STATUS(tsanom_runs_model_save("m", &data, &exec), TSANOM_E_OPTION);
  l.options.rule = 0;
  l.reference[1].time = NULL;
  CHECK_STATUS(tsanom_runs_model_save("m", &data, &exec), TSANOM_E_NULL);
  cr_assert(strcmp(fault.argument, "data.model.references") == 0 && fault.element == 1);
  tsanom_hsa_model_destroy(l.model);
  learn(1, &l);
  l.reference[1].r2 = NAN; /* what could not be read back */
  CHECK_STATUS(tsanom_runs_model_save("m", &l.data, &exec), TSANOM_E_FORMAT);
  cr_assert(strstr(fault.text, "threads[1].r2"), "%s", fault.text);
  tsanom_hsa_model_destroy(l.model);
  learn(1, &l);
  l.reference[1].run = TSANOM_NONE;
  CHECK_STATUS(tsanom_runs_model_save("m", &l.data, &exec), TSANOM_E_FORMAT);
  cr_assert(access("m", F_OK) != 0);
  tsanom_hsa_model_destroy(l.model);
  learn(1, &l);
  CHECK_STATUS(tsanom_runs_model_save(directory, &l.data, &exec), TSANOM_E_IO);
  cr_assert(strcmp(fault.file, directory) == 0 && strstr(fault.text, "directory"));
  tsanom_runs_model *model = NULL;
  CHECK_STATUS(tsanom_runs_model_load("/nonexistent", &exec, &model), TSANOM_E_IO);
  cr_assert(strcmp(fault.file, "/nonexistent") == 0);
  tsanom_hsa_model_destroy(l.model);
}

Test(runs_model, dash_is_standard_output) {
  learned l;
  const char *path = in_directory("m");
  tsanom_runs_model *model = NULL;
  learn(1, &l);
  int saved = dup(STDOUT_FILENO);
  cr_assert(saved >= 0 && freopen(path, "w", stdout));
  tsanom_status status = tsanom_runs_model_save("-", &l.data, NULL);
  cr_assert(fflush(stdout) == 0 && dup2(saved, STDOUT_FILENO) >= 0);
  CHECK_STATUS(status, TSANOM_OK);
  CHECK_STATUS(tsanom_runs_model_load(path, NULL, &model), TSANOM_OK);
  tsanom_runs_model_destroy(model);
  tsanom_hsa_model_destroy(l.model);
}

/* A FIFO without a writer is an empty file; it is not waited for. */
Test(runs_model, a_fifo_does_not_hang) {
  const char *path = in_directory("fifo");
  tsanom_runs_model *model = NULL;
  cr_assert(mkfifo(path, 0600) == 0);
  CHECK_STATUS(tsanom_runs_model_load(path, NULL, &model), TSANOM_E_FORMAT);
}
