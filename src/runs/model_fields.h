/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of a model file: names in the file, and offsets in ::tsanom_hsa_options and
 * ::tsanom_hsa_reference. Reading and writing go through the same tables, so that they
 * cannot disagree: a field is added in one line.
 *
 *   "threads": [{ "beats": 1000, "degree": 3, ...      reference_counts    size_t
 *                 "r2": 0.999, ...                     reference_numbers   double
 *                 "time": [...], ...                   reference_arrays    doubles
 *                 "ranges": {"gtr": [0.9, 1.1], ...    feature_names       two doubles
 *   "normal": {"parts": [[{"wait": [0, 0.2], ...       sign_names          two doubles
 *              "ledger": [2, 300, ...                  doubles */
#ifndef TSN_RUNS_MODEL_FIELDS_H
#define TSN_RUNS_MODEL_FIELDS_H

#include <stddef.h>
#include <string.h>
#include <tsanom/diagnosis.h>

#include "core/names.h"

#define FORMAT "tsanom hsa model"
enum { VERSION = 8 };

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

/* Words for the values of an option, by value: the file stays readable when constants
 * are added. */
static const char *const range_words[] = {"student", "order", NULL};
static const char *const rule_words[] = {"paper", "completion", "pace", NULL};
static const char *const local_rate_words[] = {"ratio", "literal", NULL};
static const char *const degree_words[] = {"r2", "noise", NULL};
static const char *const normalize_words[] = {"no", "yes", NULL};

typedef struct {
  field where;
  const char *const *words;
} choice;

static const choice option_choices[] = {
    {OPTION(range), range_words},
    {OPTION(rule), rule_words},
    {OPTION(local_rate), local_rate_words},
    {OPTION(degree), degree_words},
    {{"normalise", offsetof(tsanom_hsa_options, normalize)}, normalize_words}};

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

/* A thread without beats in the normal runs has no arrays, whatever its counts are. */
static size_t array_count(const tsanom_hsa_reference *r, const array_field *a) {
  size_t count;
  memcpy(&count, at_offset(r, a->count_offset), sizeof count);
  return r->beats ? count + a->more : 0;
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

#endif
