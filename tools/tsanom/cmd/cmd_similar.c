/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom similar: which processes of an SPMD program differ, where, and why. */
#include "command.h"
#include "similarity.h"

enum {
  KEY_TOLERANCE = 't',
  KEY_METRIC_TOLERANCE = KEY_OWN,
  KEY_AUTOMATIC,
  KEY_NOISE,
  KEY_DEEP,
  KEY_PROGRAM,
  KEY_MEAN_NORM,
  KEY_COMBINATIONS,
  KEY_EXPLAIN,
  KEY_CHECK
};

typedef struct {
  shared_options shared;
  tsanom_spmd_options spmd;
  int explain, check;
  const char *path;
} request;

static const struct argp_option options[] = {
    {"tolerance", KEY_TOLERANCE, "T", 0,
     "Processes are alike up to T of the largest norm (default: 0.05)", 0},
    {"metric-tolerance", KEY_METRIC_TOLERANCE, "T", 0,
     "The same for values of a metric (default: 0.05)", 0},
    {"automatic", KEY_AUTOMATIC, NULL, 0,
     "Separate kinds only at gaps that chance does not explain", 0},
    {"noise", KEY_NOISE, NULL, 0,
     "Separate kinds only by more than what varies independently in most regions", 0},
    {"deep", KEY_DEEP, NULL, 0,
     "Search on inside of regions where the paper's search ends", 0},
    {"program", KEY_PROGRAM, NULL, 0, "The one region without a parent is the program",
     0},
    {"mean-norm", KEY_MEAN_NORM, NULL, 0,
     "Severity: divide by the mean norm, not by the largest", 0},
    {"combinations", KEY_COMBINATIONS, "N", 0,
     "Try at most N combinations of regions (default: 65536)", 0},
    {"explain", KEY_EXPLAIN, NULL, 0, "Print every re-clustering", 0},
    {"check", KEY_CHECK, NULL, 0, "Exit with 1 if there is more than one kind", 0},
    {0}};

static double tolerance_argument(struct argp_state *state, const char *option,
                                 const char *text) {
  double value = number_argument(state, option, text);
  if (!(value > 0 && value <= 1)) {
    argp_error(state, "%s: a number above 0 and up to 1 is expected", option);
  }
  return value;
}

static error_t parse(int key, char *text, struct argp_state *state) {
  request *r = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &r->shared;
      tsanom_spmd_options_init(&r->spmd, sizeof r->spmd);
      return 0;
    case KEY_TOLERANCE:
      r->spmd.tolerance = tolerance_argument(state, "--tolerance", text);
      return 0;
    case KEY_METRIC_TOLERANCE:
      r->spmd.metric_tolerance = tolerance_argument(state, "--metric-tolerance", text);
      return 0;
    case KEY_AUTOMATIC:
      r->spmd.cut = TSANOM_SPMD_CUT_AUTOMATIC;
      return 0;
    case KEY_NOISE:
      r->spmd.cut = TSANOM_SPMD_CUT_NOISE;
      return 0;
    case KEY_DEEP:
      r->spmd.deep = 1;
      return 0;
    case KEY_PROGRAM:
      r->spmd.tree = TSANOM_SPMD_PROGRAM;
      return 0;
    case KEY_MEAN_NORM:
      r->spmd.norm = TSANOM_SPMD_MEAN_NORM;
      return 0;
    case KEY_COMBINATIONS:
      r->spmd.combination_limit = count_argument(state, "--combinations", text);
      return 0;
    case KEY_EXPLAIN:
      r->explain = 1;
      return 0;
    case KEY_CHECK:
      r->check = 1;
      return 0;
    case ARGP_KEY_ARG:
      r->path = text;
      return state->arg_num ? ARGP_ERR_UNKNOWN : 0;
    case ARGP_KEY_END:
      if (state->arg_num != 1) argp_error(state, "one file or run is expected");
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

static int print(const request *r, const similarity *s) {
  if (r->shared.json) {
    int ended = print_json(similarity_to_json(s));
    if (ended != EXIT_DONE) return ended;
  } else {
    similarity_print(s, r->explain);
  }
  return r->check && s->report.classes > 1 ? EXIT_FOUND : EXIT_DONE;
}

int command_similar(int argc, char **argv) {
  static const struct argp_child children[] = {{&shared_argp, 0, NULL, 0}, {0}};
  static const struct argp argp = {
      options,
      parse,
      "FILE.json|RUN",
      "Which processes of an SPMD program differ, in which region of the code, and "
      "why.\v"
      "FILE.json holds the region tree, the CPU time of each region in each process, "
      "and metrics if there are any; \"-\" is the standard input. RUN is a folder to "
      "which "
      "recorders of region times wrote, or one by tsanom record --cpu-time, whose "
      "threads are then the processes. The manual's page on SPMD similarity explains "
      "both.",
      children,
      NULL,
      NULL};
  request r = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &r);
  similarity s = {0};
  failure why;
  int failed = similarity_make(r.path, &r.spmd, &r.shared.exec, &s, &why) ||
               (r.shared.plot && similarity_draw(&s, r.shared.plot, &why));
  int ended = failed ? refuse(&why) : print(&r, &s);
  similarity_free(&s);
  return ended;
}
