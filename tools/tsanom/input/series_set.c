/* SPDX-License-Identifier: BSD-3-Clause */
/* Series of equal length, one a row, with or without a label in the first field. The
 * first row determines the length, so that all lie in one matrix. */
#include "series_set.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "reserve.h"
#include "rows.h"

typedef struct {
  series_set *set;
  size_t skip; /* fields before the samples */
} reader;

void series_set_free(series_set *set) {
  for (size_t i = 0; set->label && i < set->count; i++) free(set->label[i]);
  free(set->label);
  free(set->sample);
  memset(set, 0, sizeof *set);
}

static int grow(series_set *set, int labelled) {
  size_t labels = set->capacity, needed = set->count + 1;
  if (labelled && reserve(&set->label, &labels, needed, sizeof *set->label)) return -1;
  return reserve(&set->sample, &set->capacity, needed, set->length * sizeof *set->sample);
}

static int take_row(void *user, const row *r, failure *why) {
  const reader *in = user;
  series_set *set = in->set;
  if (r->count <= in->skip) {
    return fail(why, "%s:%zu: a label alone: samples are expected behind it", r->file,
                r->line);
  }
  size_t length = r->count - in->skip;
  if (set->length == 0) set->length = length;
  if (length != set->length) {
    return fail(why, "%s:%zu: %zu samples where all series have %zu", r->file, r->line,
                length, set->length);
  }
  if (grow(set, in->skip > 0)) {
    return fail(why, "%s:%zu: out of memory", r->file, r->line);
  }
  double *sample = set->sample + set->count * length;
  for (size_t i = 0; i < length; i++) {
    const char *field = r->field[in->skip + i], *wrong = number_parse(field, sample + i);
    char shown[QUOTED_BYTES];
    if (wrong) {
      return fail(why, "%s:%zu: column %zu: %s %s", r->file, r->line, in->skip + i + 1,
                  quoted(shown, field), wrong);
    }
  }
  if (in->skip > 0) {
    set->label[set->count] = strdup(r->field[0]);
    if (!set->label[set->count]) {
      return fail(why, "%s:%zu: out of memory", r->file, r->line);
    }
  }
  set->count++;
  return 0;
}

int series_set_read(const char *path, int labelled, series_set *set, failure *why) {
  reader in = {.set = set, .skip = labelled ? 1 : 0};
  if (rows_read_file(path, take_row, &in, why)) return -1;
  if (set->count > 0) return 0;
  return fail(why, "%s: holds no series: at least one is expected", file_title(path));
}
