/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream of samples for the detectors (periods.c), from a file or a run. Options
 * that only a sliding window has select it; without any, values are analyzed as a whole.
 * Words of events become numbers in the order of first occurrence; the
 * events of a run are the numbers of its places, because several places can have one
 * name. */
#include "period_stream.h"

#include <search.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "reserve.h"
#include "series.h"

/* Words of a file as numbers, by the order in which they first occur.
 *
 * Numbers for words: each new word gets the next number. The words are in a balanced
 * tree of the C library (tsearch(3)), O(log n) comparisons for each; a node holds its
 * word, so that one allocation serves both.
 *
 * A node of the tree; its text follows it. */
typedef struct {
  uint64_t number;
  char text[];
} entry;

/* What is looked up is the text alone; entries are compared by theirs. */
static const char *text_of(const void *node) {
  return ((const entry *)node)->text;
}

static int by_text(const void *a, const void *b) {
  return strcmp(text_of(a), text_of(b));
}

/* A node is made before the search, because tsearch() inserts what it does not find; of
 * a known word it is freed again. */
static int identifiers_number(identifiers *ids, const char *word, uint64_t *number) {
  size_t bytes = strlen(word) + 1;
  entry *fresh = malloc(sizeof *fresh + bytes);
  if (!fresh || reserve(&ids->word, &ids->capacity, ids->count + 1, sizeof *ids->word)) {
    free(fresh);
    return -1;
  }
  fresh->number = ids->count;
  memcpy(fresh->text, word, bytes);
  entry **found = (entry **)tsearch(fresh, &ids->tree, by_text);
  if (!found) {
    free(fresh);
    return -1;
  }
  *number = (*found)->number;
  if (*found == fresh) {
    ids->word[ids->count++] = fresh->text;
  } else {
    free(fresh);
  }
  return 0;
}

static void identifiers_free(identifiers *ids) {
  tdestroy(ids->tree, free);
  free(ids->word);
  *ids = (identifiers){0};
}

int period_stream_open(period_stream *s, const period_request *request, failure *why) {
  s->events = request->events;
  s->exec = request->exec;
  if (request->events) {
    return periods_open_events(&s->p, request->window, request->exec, why);
  }
  bool windowed = request->window || request->depth > 0 || request->adapt;
  if (!windowed) {
    return periods_open_series(&s->p, request->max_period, request->exec, why);
  }
  tsanom_dpd_value_options values;
  tsanom_dpd_value_options_init(&values, sizeof values);
  if (request->window) values.window = request->window;
  values.max_period = request->max_period ? request->max_period : (values.window + 3) / 4;
  if (request->depth > 0) {
    values.depth = request->depth;
    values.significance = 0;
  }
  values.adapt = request->adapt;
  return periods_open_values(&s->p, &values, request->exec, why);
}

static int take_word(period_stream *s, const row *line, size_t column, failure *why) {
  uint64_t event = 0;
  if (identifiers_number(&s->ids, line->field[column], &event)) {
    return fail(why, "%s: out of memory", line->file);
  }
  return periods_push_event(&s->p, event, why);
}

static int take_value(period_stream *s, const row *line, size_t column, failure *why) {
  double sample = 0;
  const char *field = line->field[column], *wrong = number_parse(field, &sample);
  if (!wrong) return periods_push_value(&s->p, sample, why);
  char shown[QUOTED_BYTES];
  return fail(why, "%s:%zu: column %zu: %s %s", line->file, line->line, column + 1,
              quoted(shown, field), wrong);
}

static int is_stopped(const period_stream *s, uint64_t bytes, uint64_t total) {
  return s->exec->poll && s->exec->poll(s->exec->poll_user, bytes, total);
}

static int take_field(void *user, const row *line, const size_t *at, failure *why) {
  enum { SAMPLES_BETWEEN_POLLS = 1 << 14 };
  period_stream *s = user;
  s->bytes = line->bytes;
  if (s->p.count % SAMPLES_BETWEEN_POLLS == 0 &&
      is_stopped(s, line->bytes, line->total)) {
    return fail(why, "%s:%zu: stopped", line->file, line->line);
  }
  return s->events ? take_word(s, line, at[0], why) : take_value(s, line, at[0], why);
}

static const char *thing_of(const period_stream *s) {
  return s->events ? "event" : "number";
}

/* The file has been read to its end, wherever that was. */
static int conclude(const period_stream *s, int status) {
  if (!status) (void)is_stopped(s, s->bytes, s->bytes);
  return status;
}

int period_stream_read(period_stream *s, const char *path, const char *column,
                       failure *why) {
  return conclude(s, fields_read(path, column, thing_of(s), take_field, s, why));
}

int period_stream_read_from(period_stream *s, FILE *stream, const char *file,
                            const char *column, failure *why) {
  return conclude(
      s, fields_read_stream(stream, file, column, thing_of(s), take_field, s, why));
}

int period_stream_read_run(period_stream *s, const char *path, int salvage, size_t limit,
                           failure *why) {
  const tsanom_speedup_event *event;
  size_t count;
  if (region_stream_open(path, s->exec, salvage, LEVEL_AUTO, limit, &s->run, why)) {
    return -1;
  }
  do {
    if (region_stream_next(&s->run, &event, &count, why)) return -1;
    for (size_t i = 0; i < count; i++) {
      if (periods_push_event(&s->p, event[i].region, why)) return -1;
    }
  } while (count);
  return 0;
}

const char *period_stream_name(period_stream *s, size_t slot) {
  uint64_t event = s->p.recent.event[slot];
  return s->run.run ? region_stream_name(&s->run, event) : s->ids.word[event];
}

uint64_t period_stream_oldest(const period_stream *s) {
  return s->p.count > s->p.kept ? s->p.count - s->p.kept : 0;
}

double period_stream_at(const period_stream *s, uint64_t index) {
  size_t slot = (size_t)(index % s->p.kept);
  return s->events ? (double)s->p.recent.event[slot] : s->p.recent.value[slot];
}

void period_stream_free(period_stream *s) {
  periods_free(&s->p);
  identifiers_free(&s->ids);
  region_stream_free(&s->run);
}
