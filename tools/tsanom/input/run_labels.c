/* SPDX-License-Identifier: BSD-3-Clause */
/* The file RUN/regions/labels, or that of the first rank, has a line KEY=VALUE for each label. The
 * runs are the rows of a decision table, keys its attributes, and the set of a run is the
 * decision: a reduct distinguishes the sets. */
#include "run_labels.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/roughset.h>
#include <unistd.h>

#include "environment.h"
#include "json_value.h"
#include "run_open.h"

/* The place of a key, a new one for a new key; LABEL_KEYS: there are too many. */
static size_t place_of(run_labels *l, const char *key) {
  size_t k = 0;
  while (k < l->keys && strcmp(l->key[k], key) != 0) k++;
  if (k < l->keys || k == LABEL_KEYS) return k;
  l->key[k] = strdup(key);
  return l->key[k] ? l->keys++ : LABEL_KEYS;
}

static int read_lines(run_labels *l, FILE *file, char **value, failure *why) {
  char *line = NULL;
  size_t bytes = 0;
  int failed = 0;
  while (!failed && getline(&line, &bytes, file) >= 0) {
    line[strcspn(line, "\n")] = '\0';
    char *equals = strchr(line, '=');
    if (!equals) continue;
    *equals = '\0';
    size_t k = place_of(l, line);
    if (k == LABEL_KEYS) continue;
    free(value[k]);
    value[k] = strdup(equals + 1);
    if (!value[k]) failed = fail(why, "out of memory");
  }
  free(line);
  return failed;
}

/* A run without the file, or a file of beats, has no labels. What somebody else put there is neither waited for
 * nor read without an end. */
static int read_file(run_labels *l, const char *name, char **value, failure *why) {
  struct stat about;
  int descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR)) return 0;
  if (descriptor < 0) return fail_errno(why, name, "read");
  if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode) ||
      about.st_size > ENVIRONMENT_LABELS_BYTES) {
    close(descriptor);
    return fail(why, "%s: a file of at most %d bytes is expected", name,
                ENVIRONMENT_LABELS_BYTES);
  }
  FILE *file = fdopen(descriptor, "r");
  if (!file) {
    close(descriptor);
    return fail(why, "out of memory");
  }
  int failed = read_lines(l, file, value, why);
  (void)fclose(file);
  return failed;
}

int run_labels_read(run_labels *l, const char *path, failure *why) {
  int32_t *ranks;
  size_t count;
  char *name = NULL;
  char **longer = realloc(l->value, (l->runs + 1) * LABEL_KEYS * sizeof *longer);
  if (!longer) return fail(why, "out of memory");
  l->value = longer;
  char **value = l->value + l->runs++ * LABEL_KEYS;
  memset(value, 0, LABEL_KEYS * sizeof *value);
  if (run_ranks(path, &ranks, &count, why)) return -1;
  char *own = count ? run_rank_path(path, ranks[0]) : strdup(path);
  free(ranks);
  int failed = 0;
  if (!own || asprintf(&name, "%s/regions/labels", own) < 0) {
    failed = fail(why, "out of memory");
  } else {
    failed = read_file(l, name, value, why);
    free(name);
  }
  free(own);
  return failed;
}

/* The first run that has the same value. */
static int32_t code_of(const run_labels *l, size_t run, size_t key) {
  const char *own = l->value[run * LABEL_KEYS + key];
  for (size_t i = 0; own && i < run; i++) {
    const char *other = l->value[i * LABEL_KEYS + key];
    if (other && !strcmp(own, other)) return (int32_t)i;
  }
  return own ? (int32_t)run : TSANOM_ROUGHSET_MISSING;
}

/* A key of which each run has its own value, such as a date, would tell all apart. */
static int is_name(const run_labels *l, size_t key) {
  size_t i = 0;
  while (i < l->runs && code_of(l, i, key) == (int32_t)i) i++;
  return i == l->runs;
}

static int32_t keep(void *labels, const uint64_t *reduct, size_t size) {
  run_labels *l = labels;
  if (size) l->set[l->sets++] = *reduct;
  return l->sets == LABEL_SETS;
}

static tsanom_status discern(run_labels *l, const tsanom_roughset_table *table) {
  tsanom_roughset_visitor visitor = {keep, l};
  tsanom_roughset_bounds bounds;
  uint64_t first;
  size_t alike;
  tsanom_status status = tsanom_roughset_inconsistent(table, NULL, NULL, NULL, 0, &alike);
  if (status < 0 || alike) return status;
  return tsanom_roughset_minimum(table, NULL, NULL, &visitor, &bounds, &first, NULL);
}

int run_labels_discern(run_labels *l, size_t a, failure *why) {
  tsanom_roughset_table table;
  if (!l->keys) return 0;
  int32_t *codes = calloc(l->runs * (l->keys + 1), sizeof *codes);
  if (!codes) return fail(why, "out of memory");
  int32_t *decision = codes + l->runs * l->keys;
  for (size_t k = 0; k < l->keys; k++) {
    for (size_t i = 0; i < l->runs && !is_name(l, k); i++) {
      codes[i * l->keys + k] = code_of(l, i, k);
    }
  }
  for (size_t i = 0; i < l->runs; i++) decision[i] = i >= a;
  table = (tsanom_roughset_table){.struct_size = sizeof table};
  table.rows = l->runs;
  table.attributes = l->keys;
  table.values = codes;
  table.decision = decision;
  tsanom_status status = discern(l, &table);
  free(codes);
  return status < 0 ? fail_status(why, "labels", status) : 0;
}

static void print_values(const run_labels *l, size_t key, size_t first, size_t end) {
  enum { SHOWN = 3 };
  size_t shown = 0;
  for (size_t i = first; i < end; i++) {
    int32_t code = code_of(l, i, key);
    if (code != (int32_t)i && code >= (int32_t)first) continue;
    const char *value = l->value[i * LABEL_KEYS + key];
    if (shown++ < SHOWN) printf("%s%s", shown > 1 ? ", " : "", value ? value : "none");
    if (!value) break;
  }
  if (shown > SHOWN) printf(" and more");
}

void run_labels_print(const run_labels *l, size_t key, size_t a) {
  printf("%s (A: ", l->key[key]);
  print_values(l, key, 0, a);
  printf("; B: ");
  print_values(l, key, a, l->runs);
  printf(")");
}

json_t *run_labels_to_json(const run_labels *l) {
  json_t *all = json_array();
  for (size_t s = 0; s < l->sets; s++) {
    json_t *one = json_array();
    for (size_t k = 0; k < l->keys; k++) {
      if (l->set[s] >> k & 1) json_array_append_new(one, json_name(l->key[k]));
    }
    json_array_append_new(all, one);
  }
  return all;
}

void run_labels_free(run_labels *l) {
  for (size_t i = 0; i < l->runs * LABEL_KEYS; i++) free(l->value[i]);
  for (size_t k = 0; k < l->keys; k++) free(l->key[k]);
  free(l->value);
  *l = (run_labels){0};
}
