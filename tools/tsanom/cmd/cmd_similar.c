/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom similar: which processes of an SPMD program differ, where, and why. The
 * analysis and its JSON are in input/similarity.c, the text in text/similarity_print.c,
 * the picture in plot/. */
#include "command.h"
#include "similarity.h"

typedef struct {
  shared_options shared;
  tsanom_spmd_options spmd;
  int fixed, explain, check;
} request;

static const option_row options[] = {
    {.name = "tolerance",
     .letter = 't',
     .argument = "T",
     NUMBER(spmd.tolerance, 0, 1, LOW_OPEN),
     .help = "Processes are similar up to T of the largest norm, or more in noise "
             "(default: 0.05)"},
    {.name = "metric-tolerance",
     .argument = "T",
     NUMBER(spmd.metric_tolerance, 0, 1, LOW_OPEN),
     .help = "Values of a metric are similar up to T of the largest (default: 0.05)"},
    {.name = "automatic",
     FLAG(spmd.cut),
     .value = TSANOM_SPMD_CUT_AUTOMATIC,
     .help = "Separate kinds only at gaps that chance does not explain"},
    {.name = "noise",
     FLAG(spmd.cut),
     .value = TSANOM_SPMD_CUT_NOISE,
     .help = "Separate kinds only by more than what varies independently in most "
             "regions (default)"},
    {.name = "fixed",
     FLAG(fixed),
     .help = "Separate kinds by the tolerance alone, as in the paper"},
    {.name = "deep",
     FLAG(spmd.deep),
     .help = "Continue the search inside of regions where that of the paper ends"},
    {.name = "program",
     FLAG(spmd.tree),
     .value = TSANOM_SPMD_PROGRAM,
     .help = "The one region without a parent is the program"},
    {.name = "mean-norm",
     FLAG(spmd.norm),
     .value = TSANOM_SPMD_MEAN_NORM,
     .help = "Severity: divide by the mean norm, not by the largest"},
    {.name = "combinations",
     .argument = "N",
     COUNT(spmd.combination_limit, 0, 0),
     .help = "Try at most N combinations of regions (default: 65536)"},
    {.name = "explain", FLAG(explain), .help = "Print every re-clustering"},
    SALVAGE_ROW,
    CHECK_ROW(check, "there is more than one kind"),
};

static int print(const request *r, const similarity *s) {
  if (r->shared.json) {
    int ended = print_json(similarity_to_json(s));
    if (ended != EXIT_DONE) return ended;
  } else {
    similarity_print(s, r->explain);
  }
  return r->check && s->report.classes > 1 ? EXIT_FOUND : EXIT_DONE;
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "FILE.json|RUN...",
    .help =
        "Which processes of an SPMD program differ, in which region of the code, and "
        "why.\v"
        "FILE.json contains the region tree, the CPU time of each region in each "
        "process, and optional metrics; \"-\" is standard input. RUN is a directory "
        "to which region recorders wrote, or a run by tsanom record, whose "
        "threads are then the processes, or a run of an MPI program, whose ranks are. "
        "Several RUNs by tsanom record are the processes of one program. The pages on "
        "SPMD similarity and on MPI of the manual describe them.",
    .expected = "one file or runs are",
    .least = 1,
    .most = 0,
};

int command_similar(int argc, char **argv) {
  request r = {0};
  tsanom_spmd_options_init(&r.spmd, sizeof r.spmd);
  r.spmd.cut = TSANOM_SPMD_CUT_NOISE;
  parse_command(&command_line, argc, argv, &r);
  if (r.fixed) r.spmd.cut = TSANOM_SPMD_CUT_TOLERANCE;
  similarity s = {0};
  failure why;
  int failed = similarity_make(r.shared.argument, r.shared.arguments, &r.spmd,
                               &r.shared.exec, r.shared.salvage, &s, &why) ||
               (r.shared.plot && similarity_draw(&s, r.shared.plot, &why));
  int ended = failed ? report_failure(&why) : print(&r, &s);
  similarity_free(&s);
  return ended;
}
