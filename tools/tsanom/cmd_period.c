/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom period: the periods of a stream of events or values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "identifiers.h"
#include "number.h"
#include "periods.h"
#include "plot.h"
#include "region_stream.h"
#include "series.h"

enum {
  KEY_WINDOW = 'w',
  KEY_NEXT = 'n',
  KEY_EVENTS = KEY_OWN,
  KEY_SCALE,
  KEY_DEPTH,
  KEY_COLUMN
};

typedef struct {
  shared_options shared;
  int events;
  tsanom_dpd_value_options values; /* window, scale and depth */
  size_t window;                   /* 0: the default */
  size_t next;
  int next_given;
  const char *column, *path;
} request;

/* A stream on its way through. */
typedef struct {
  const request *r;
  periods p;
  identifiers ids; /* of events */
} stream;

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
    {"column", KEY_COLUMN, "NAME", 0, "Read this column of CSV files with a header", 0},
    {0}};

static void check_end(request *r, struct argp_state *state) {
  if (state->arg_num != 1) argp_error(state, "one file is expected");
  if (region_stream_is_run(r->path)) r->events = 1;
  size_t most = r->events ? (size_t)TSANOM_DPD_WINDOW_MAX / 4 : (size_t)1 << 20;
  if (r->window > most) argp_error(state, "--window: at most %zu samples", most);
  if (r->events && (r->values.scale > 0 || r->values.depth > 0)) {
    argp_error(state, "--scale and --depth are for values, not for --events");
  }
}

static error_t parse(int key, char *text, struct argp_state *state) {
  request *r = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &r->shared;
      return 0;
    case KEY_EVENTS:
      r->events = 1;
      return 0;
    case KEY_WINDOW:
      r->window = count_argument(state, "--window", text);
      if (!r->window) argp_error(state, "--window: at least 1 sample is expected");
      return 0;
    case KEY_NEXT:
      r->next = count_argument(state, "--next", text);
      r->next_given = 1;
      return 0;
    case KEY_SCALE:
      r->values.scale = number_argument(state, "--scale", text);
      if (!(r->values.scale > 0)) argp_error(state, "--scale: above 0 is expected");
      return 0;
    case KEY_DEPTH:
      r->values.depth = number_argument(state, "--depth", text);
      if (!(r->values.depth > 0 && r->values.depth < 1)) {
        argp_error(state, "--depth: between 0 and 1 is expected");
      }
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

static int open_stream(stream *s, failure *why) {
  const request *r = s->r;
  if (r->events) {
    size_t window = r->window ? r->window : 1024;
    return periods_open_events(&s->p, window, &r->shared.exec, why);
  }
  tsanom_dpd_value_options values;
  tsanom_dpd_value_options_init(&values, sizeof values);
  if (r->window) values.window = r->window;
  if (r->values.scale > 0) values.scale = r->values.scale;
  if (r->values.depth > 0) values.depth = r->values.depth;
  return periods_open_values(&s->p, &values, &r->shared.exec, why);
}

static int take_field(void *user, const row *line, const size_t *at, failure *why) {
  stream *s = user;
  const char *field = line->field[at[0]];
  if (s->r->events) {
    uint64_t event = 0;
    if (identifiers_number(&s->ids, field, &event)) {
      return fail(why, "%s:%zu: out of memory", line->file, line->line);
    }
    return periods_push_event(&s->p, event, why);
  }
  double sample = 0;
  const char *wrong = number_parse(field, &sample);
  if (!wrong && periods_push_value(&s->p, sample, &wrong, why)) return -1;
  if (!wrong) return 0;
  char shown[QUOTED_BYTES];
  return fail(why, "%s:%zu: column %zu: %s %s", line->file, line->line, at[0] + 1,
              quoted(shown, field), wrong);
}

/* The regions of a recorded run are its events, by the names of their places. */
static int take_run(stream *s, failure *why) {
  region_stream regions = {0};
  const request *r = s->r;
  if (region_stream_read(r->path, &r->shared.exec, LEVEL_AUTO, &regions, why)) return -1;
  int failed = 0;
  for (size_t i = 0; i < regions.count && !failed; i++) {
    uint64_t event = 0;
    const char *name = region_stream_name(&regions, regions.event[i].region);
    failed = identifiers_number(&s->ids, name, &event)
                 ? fail(why, "%s: out of memory", r->path)
                 : periods_push_event(&s->p, event, why);
  }
  region_stream_free(&regions);
  return failed;
}

static int take_file(stream *s, failure *why) {
  const request *r = s->r;
  if (region_stream_is_run(r->path)) return take_run(s, why);
  return fields_read(r->path, r->column, r->events ? "event" : "number", take_field, s,
                     why);
}

/* How many samples are predicted: what was asked for, else one period. */
static size_t predicted(const stream *s) {
  size_t period = periods_current(&s->p);
  return period && s->r->next_given ? s->r->next : period;
}

static json_t *next_json(const stream *s) {
  json_t *next = json_array();
  for (size_t i = 0; i < predicted(s); i++) {
    size_t at = periods_next(&s->p, i);
    json_array_append_new(next, s->r->events
                                    ? json_name(s->ids.word[s->p.recent.event[at]])
                                    : json_finite(s->p.recent.value[at]));
  }
  return next;
}

static int print_as_json(const stream *s, const tsanom_dpd_period *list, size_t count) {
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
                              next_json(s)));
}

static void print_table(const stream *s, const tsanom_dpd_period *list, size_t count) {
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
  if (!predicted(s)) return;
  printf("next:");
  for (size_t i = 0; i < predicted(s) && i < 50; i++) {
    size_t at = periods_next(&s->p, i);
    if (s->r->events) {
      printf(" %s", s->ids.word[s->p.recent.event[at]]);
    } else {
      printf(" %.6g", s->p.recent.value[at]);
    }
  }
  printf(predicted(s) > 50 ? " ...\n" : "\n");
}

/* The last samples kept, with a mark where each period of a segment starts. */
static void plot_stream(const stream *s, const plot *p) {
  const periods *q = &s->p;
  uint64_t first = q->count > q->kept ? q->count - q->kept : 0;
  fprintf(p->script, "$stream << END\n");
  for (uint64_t i = first; i < q->count; i++) {
    double y = s->r->events ? (double)q->recent.event[i % q->kept]
                            : q->recent.value[i % q->kept];
    fprintf(p->script, "%llu %.17g\n", (unsigned long long)i, y);
  }
  fprintf(p->script, "END\n$starts << END\n");
  for (size_t k = 0; k < q->segments; k++) {
    const stretch *t = &q->segment[k];
    for (uint64_t i = t->first; i <= t->last; i += t->period) {
      if (i < first) continue;
      double y = s->r->events ? (double)q->recent.event[i % q->kept]
                              : q->recent.value[i % q->kept];
      fprintf(p->script, "%llu %.17g\n", (unsigned long long)i, y);
    }
  }
  fprintf(p->script, "END\n");
}

static int plot_distances(const stream *s, const plot *p, failure *why) {
  double *distance = calloc(s->p.window, sizeof *distance);
  if (!distance) return fail(why, "out of memory");
  size_t count = 0;
  tsanom_dpd_value_distances(s->p.value, distance, s->p.window, &count);
  fprintf(p->script, "$distances << END\n");
  for (size_t m = 1; m <= count; m++) {
    fprintf(p->script, "%zu %.17g\n", m, distance[m - 1]);
  }
  fprintf(p->script, "END\n");
  free(distance);
  return 0;
}

static int draw(const stream *s, failure *why) {
  plot p;
  if (plot_open(&p, s->r->shared.plot, "", why)) return -1;
  plot_stream(s, &p);
  if (!s->r->events && plot_distances(s, &p, why)) {
    plot_abandon(&p);
    return -1;
  }
  if (!s->r->events) {
    fprintf(p.script,
            "set multiplot layout 2,1\nset xlabel 'delay m'\nset ylabel 'd(m)'\n"
            "set yrange [0:*]\nplot $distances with lines notitle\n"
            "set yrange [*:*]\n");
  }
  fprintf(p.script,
          "set xlabel 'sample'\nset ylabel '%s'\n"
          "plot $stream with lines title 'stream', "
          "$starts with points pointtype 3 title 'start of a period'\n",
          s->r->events ? "event" : "value");
  return plot_close(&p, why);
}

static int report(const stream *s, failure *why) {
  tsanom_dpd_period *list = NULL;
  size_t count = 0;
  int status = EXIT_DONE;
  if ((s->r->shared.plot && draw(s, why)) || periods_list(&s->p, &list, &count, why)) {
    status = refuse(why);
  } else if (s->r->shared.json) {
    status = print_as_json(s, list, count);
  } else {
    print_table(s, list, count);
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
  stream s = {.r = &r};
  failure why;
  int status;
  if (open_stream(&s, &why) || take_file(&s, &why) || periods_finish(&s.p, &why)) {
    status = refuse(&why);
  } else {
    status = report(&s, &why);
  }
  periods_free(&s.p);
  identifiers_free(&s.ids);
  return status;
}
