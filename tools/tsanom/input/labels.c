/* SPDX-License-Identifier: BSD-3-Clause */
/* Known statuses of runs, from a table with the columns run and status: what verdicts
 * are compared with. A run is named by its path or by the end of it after a slash, so
 * that the table can be used from any directory. */
#include "labels.h"

#include <stdio.h>
#include <string.h>

#include "rows.h"

enum { STATUS_BYTES = 32 }; /* of a name and a comma */

typedef struct {
  char *const *run;
  size_t count;
  int32_t *status;          /* of each run; -1: not found yet */
  size_t run_at, status_at; /* columns */
  size_t fields;            /* of the header; 0 before it was met */
} labelling;

/* Tell whether the path is the name, or ends with it after a slash. */
static int is_called(const char *path, const char *name) {
  size_t length = strlen(path), tail = strlen(name);
  while (length > 1 && path[length - 1] == '/') length--;
  if (tail > length || memcmp(path + length - tail, name, tail) != 0) return 0;
  return tail == length || path[length - tail - 1] == '/';
}

static int take_header(labelling *l, const row *r, failure *why) {
  l->run_at = l->status_at = r->count;
  for (size_t i = 0; i < r->count; i++) {
    if (strcmp(r->field[i], "run") == 0) l->run_at = i;
    if (strcmp(r->field[i], "status") == 0) l->status_at = i;
  }
  if (l->run_at == r->count || l->status_at == r->count) {
    return fail(why, "%s:%zu: a header with the columns run and status is expected",
                r->file, r->line);
  }
  l->fields = r->count;
  return 0;
}

/* "normal, memory_leak, ..." */
static const char *list_statuses(char text[STATUSES * STATUS_BYTES]) {
  size_t used = 0;
  for (int32_t s = 0; s < STATUSES; s++) {
    used += (size_t)snprintf(text + used, STATUS_BYTES, "%s%s", s ? ", " : "",
                             tsanom_hsa_status_name(s));
  }
  return text;
}

static int take_label(void *user, const row *r, failure *why) {
  labelling *l = user;
  if (!l->fields) return take_header(l, r, why);
  if (r->count != l->fields) {
    return fail(why, "%s:%zu: %zu fields where the header has %zu", r->file, r->line,
                r->count, l->fields);
  }
  int32_t status = 0;
  while (status < STATUSES &&
         strcmp(r->field[l->status_at], tsanom_hsa_status_name(status)) != 0) {
    status++;
  }
  if (status == STATUSES) {
    char shown[QUOTED_BYTES], known[STATUSES * STATUS_BYTES];
    return fail(why, "%s:%zu: column %zu (status): %s: one of %s is expected", r->file,
                r->line, l->status_at + 1, quoted(shown, r->field[l->status_at]),
                list_statuses(known));
  }
  for (size_t i = 0; i < l->count; i++) {
    if (!is_called(l->run[i], r->field[l->run_at])) continue;
    if (l->status[i] >= 0 && l->status[i] != status) {
      return fail(why, "%s:%zu: the run %s has two statuses", r->file, r->line,
                  l->run[i]);
    }
    l->status[i] = status;
  }
  return 0;
}

int labels_read(const char *path, char *const *run, size_t count, int32_t *status,
                failure *why) {
  labelling l = {.run = run, .count = count, .status = status};
  for (size_t i = 0; i < count; i++) status[i] = -1;
  if (rows_read_file(path, take_label, &l, why)) return -1;
  for (size_t i = 0; i < count; i++) {
    if (status[i] < 0) {
      return fail(why, "%s: the run %s is not in it: a row for each run is expected",
                  file_title(path), run[i]);
    }
  }
  return 0;
}

int is_shown(const confusion *c, int32_t status) {
  size_t runs = 0;
  for (int32_t other = 0; other < STATUSES; other++) {
    runs += c->runs[status][other] + c->runs[other][status];
  }
  return runs || status <= TSANOM_HSA_SHUTDOWN;
}

double f_score(const confusion *c, int32_t status) {
  size_t hits = c->runs[status][status], misses = 0, alarms = 0;
  for (int32_t other = 0; other < STATUSES; other++) {
    if (other == status) continue;
    misses += c->runs[status][other];
    alarms += c->runs[other][status];
  }
  size_t all = 2 * hits + misses + alarms;
  return all ? 2 * (double)hits / (double)all : -1;
}

double macro_f_score(const confusion *c) {
  double sum = 0;
  int scores = 0;
  for (int32_t status = 0; status < STATUSES; status++) {
    double score = f_score(c, status);
    if (score < 0) continue;
    sum += score;
    scores++;
  }
  return scores ? sum / scores : 0;
}
