/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom period: the periods of a stream of events or values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beats.h"
#include "command.h"
#include "period_plot.h"
#include "region_stream.h"

enum {
  KEY_WINDOW = 'w',
  KEY_NEXT = 'n',
  KEY_EVENTS = KEY_OWN,
  KEY_SCALE,
  KEY_DEPTH,
  KEY_ADAPT,
  KEY_COLUMN
};

typedef struct {
  shared_options shared;
  period_request stream;
  size_t next;
  int next_given;
  const char *column, *path;
} request;

static const struct argp_option options[] = {
    {"events", KEY_EVENTS, NULL, 0, "The stream is of identifiers, not of values", 0},
    {"window", KEY_WINDOW, "N", 0,
     "Samples in the window, and so the longest period that can be found (default: 1024 "
     "events, 100 values)",
     0},
    {"next", KEY_NEXT, "K", 0, "Predict K samples (default: one period)", 0},
    {"scale", KEY_SCALE, "S", 0, "Values: fixed point, in units of 1/S (exact, faster)",
     0},
    {"depth", KEY_DEPTH, "D", 0,
     "Values: least depth of a minimum of d(m), 0 to 1 (default: 0.5)", 0},
    {"adapt", KEY_ADAPT, NULL, 0,
     "Values: shrink the window to 4 periods once one has held for N samples, so that a "
     "break is over sooner, and grow it back when none has been found for 2 N",
     0},
    {"column", KEY_COLUMN, "NAME", 0, "Read this column of CSV files with a header", 0},
    {0}};

static void check_end(request *r, struct argp_state *state) {
  if (state->arg_num != 1) argp_error(state, "one file is expected");
  if (is_directory(r->path)) r->stream.events = 1;
  size_t most = r->stream.events ? (size_t)TSANOM_DPD_WINDOW_MAX / 4 : (size_t)1 << 20;
  if (r->stream.window > most) argp_error(state, "--window: at most %zu samples", most);
  const period_request *s = &r->stream;
  if (s->events && (s->scale > 0 || s->depth > 0 || s->adapt)) {
    argp_error(state, "--scale, --depth and --adapt are for values, not for --events");
  }
}

static error_t parse(int key, char *text, struct argp_state *state) {
  request *r = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &r->shared;
      return 0;
    case KEY_EVENTS:
      r->stream.events = 1;
      return 0;
    case KEY_WINDOW:
      r->stream.window = count_argument(state, "--window", text);
      if (!r->stream.window) argp_error(state, "--window: at least 1 sample is expected");
      return 0;
    case KEY_NEXT:
      r->next = count_argument(state, "--next", text);
      r->next_given = 1;
      return 0;
    case KEY_SCALE:
      r->stream.scale = number_argument(state, "--scale", text);
      if (!(r->stream.scale > 0)) argp_error(state, "--scale: above 0 is expected");
      return 0;
    case KEY_DEPTH:
      r->stream.depth = number_argument(state, "--depth", text);
      if (!(r->stream.depth > 0 && r->stream.depth < 1)) {
        argp_error(state, "--depth: between 0 and 1 is expected");
      }
      return 0;
    case KEY_ADAPT:
      r->stream.adapt = 1;
      return 0;
    case KEY_COLUMN:
      r->column = text;
      return 0;
    case ARGP_KEY_ARG:
      r->path = text;
      return state->arg_num ? ARGP_ERR_UNKNOWN : 0;
    case ARGP_KEY_END:
      check_end(r, state);
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

/* The regions of a recorded run are its events, by the names of their places. */
static int take_run(const request *r, period_stream *s, failure *why) {
  region_stream regions = {0};
  if (region_stream_read(r->path, &r->shared.exec, LEVEL_AUTO, &regions, why)) return -1;
  int failed = 0;
  for (size_t i = 0; i < regions.count && !failed; i++) {
    const char *name = region_stream_name(&regions, regions.event[i].region);
    failed = period_stream_take(s, name, r->path, why);
  }
  region_stream_free(&regions);
  return failed;
}

static int take_all(const request *r, period_stream *s, failure *why) {
  int failed = is_directory(r->path) ? take_run(r, s, why)
                                     : period_stream_read(s, r->path, r->column, why);
  return failed || periods_finish(&s->p, why);
}

/* How many samples are predicted: what was asked for, else one period. */
static size_t predicted(const request *r, const period_stream *s) {
  size_t period = periods_current(&s->p);
  return period && r->next_given ? r->next : period;
}

static json_t *next_json(const request *r, const period_stream *s) {
  json_t *next = json_array();
  for (size_t i = 0; i < predicted(r, s); i++) {
    size_t at = periods_next(&s->p, i);
    json_array_append_new(next, s->events ? json_name(s->ids.word[s->p.recent.event[at]])
                                          : json_finite(s->p.recent.value[at]));
  }
  return next;
}

static int print_as_json(const request *r, const period_stream *s,
                         const tsanom_dpd_period *list, size_t count) {
  json_t *found = json_array(), *segments = json_array();
  for (size_t i = 0; i < count; i++) {
    json_array_append_new(
        found,
        json_pack("{sI sI sI sI sI sI}", "period", (json_int_t)list[i].period, "level",
                  (json_int_t)list[i].level, "first", (json_int_t)list[i].first, "last",
                  (json_int_t)list[i].last, "loops", (json_int_t)list[i].loops, "samples",
                  (json_int_t)list[i].events));
  }
  for (size_t i = 0; i < s->p.segments; i++) {
    const stretch *t = &s->p.segment[i];
    json_array_append_new(
        segments, json_pack("{sI sI sI}", "first", (json_int_t)t->first, "last",
                            (json_int_t)t->last, "period", (json_int_t)t->period));
  }
  return print_json(json_pack("{sI so so so}", "samples", (json_int_t)s->p.count,
                              "periods", found, "segments", segments, "next",
                              next_json(r, s)));
}

static void print_table(const request *r, const period_stream *s,
                        const tsanom_dpd_period *list, size_t count) {
  printf("%llu samples, window %zu\n\n", (unsigned long long)s->p.count, s->p.window);
  if (!count) {
    printf("no period\n");
    return;
  }
  printf("  period  level       first        last    loops     samples\n");
  for (size_t i = 0; i < count; i++) {
    printf("%8zu  %5zu  %10llu  %10llu %8llu  %10llu\n", list[i].period, list[i].level,
           (unsigned long long)list[i].first, (unsigned long long)list[i].last,
           (unsigned long long)list[i].loops, (unsigned long long)list[i].events);
  }
  printf("\nsegments: ");
  for (size_t i = 0; i < s->p.segments && i < 20; i++) {
    const stretch *t = &s->p.segment[i];
    printf("%s%llu-%llu by %zu", i ? ", " : "", (unsigned long long)t->first,
           (unsigned long long)t->last, t->period);
  }
  printf(s->p.segments > 20 ? ", and %zu more\n" : "\n", s->p.segments - 20);
  if (!predicted(r, s)) return;
  printf("next:");
  for (size_t i = 0; i < predicted(r, s) && i < 50; i++) {
    size_t at = periods_next(&s->p, i);
    if (s->events) {
      printf(" %s", s->ids.word[s->p.recent.event[at]]);
    } else {
      printf(" %.6g", s->p.recent.value[at]);
    }
  }
  printf(predicted(r, s) > 50 ? " ...\n" : "\n");
}

static int report(const request *r, const period_stream *s, failure *why) {
  tsanom_dpd_period *list = NULL;
  size_t count = 0;
  int status = EXIT_DONE;
  if ((r->shared.plot && period_plot(s, r->shared.plot, why)) ||
      periods_list(&s->p, &list, &count, why)) {
    status = refuse(why);
  } else if (r->shared.json) {
    status = print_as_json(r, s, list, count);
  } else {
    print_table(r, s, list, count);
  }
  free(list);
  return status;
}

int command_period(int argc, char **argv) {
  static const struct argp_child children[] = {{&shared_argp, 0, NULL, 0}, {0}};
  static const struct argp argp = {
      options,
      parse,
      "FILE|RUN",
      "Periods of a stream of values or, with --events, of identifiers.\v"
      "FILE holds one sample a line, or is a CSV file with a header and --column; \"-\" "
      "is "
      "the standard input. Of events, the loops of all periods up to the window are "
      "found, nested ones too: a loop repeats its pattern at least three times. RUN is a "
      "run folder by tsanom "
      "record: its parallel regions are the events.",
      children,
      NULL,
      NULL};
  request r = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &r);
  r.stream.exec = &r.shared.exec;
  period_stream s = {0};
  failure why;
  int status;
  if (period_stream_open(&s, &r.stream, &why) || take_all(&r, &s, &why)) {
    status = refuse(&why);
  } else {
    status = report(&r, &s, &why);
  }
  period_stream_free(&s);
  return status;
}
