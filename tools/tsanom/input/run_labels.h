/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels of runs by tsanom record --label, and which of them tell two sets apart. */
#ifndef TSANOM_COMMAND_RUN_LABELS_H
#define TSANOM_COMMAND_RUN_LABELS_H

#include <jansson.h>
#include <stddef.h>

#include "failure.h"

enum { LABEL_KEYS = 64, LABEL_SETS = 8 };

/* Labels of several runs as a decision table. Zero it before use. */
typedef struct {
  char *key[LABEL_KEYS];
  size_t keys;
  char **value; /* of run i and key k at i * LABEL_KEYS + k; NULL: none */
  size_t runs;
  /* Smallest sets of keys whose values tell the sets of runs apart, as bits. */
  uint64_t set[LABEL_SETS];
  size_t sets;
} run_labels;

/* Add the labels of a run, which has none if it was recorded without. */
int run_labels_read(run_labels *l, const char *path, failure *why);

/* Find `set`, if all runs of the first `a` differ from all others in some label. */
int run_labels_discern(run_labels *l, size_t a, failure *why);

/* "commit (A: 1f3; B: 77c)" of a key. */
void run_labels_print(const run_labels *l, size_t key, size_t a);

json_t *run_labels_to_json(const run_labels *l);
void run_labels_free(run_labels *l);

#endif
