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
    {"tolerance", 't', "T",
     "Processes are similar up to T of the largest norm, or more in noise (default: "
     "0.05)",
     NUMBER(spmd.tolerance, 0, 1, LOW_OPEN)},
    {"metric-tolerance", 0, "T",
     "Values of a metric are similar up to T of the largest (default: 0.05)",
     NUMBER(spmd.metric_tolerance, 0, 1, LOW_OPEN)},
    {"automatic", 0, NULL, "Separate kinds only at gaps that chance does not explain",
     FLAG(spmd.cut), .value = TSANOM_SPMD_CUT_AUTOMATIC},
    {"noise", 0, NULL,
     "Separate kinds only by more than what varies independently in most regions "
     "(default)",
     FLAG(spmd.cut), .value = TSANOM_SPMD_CUT_NOISE},
    {"fixed", 0, NULL, "Separate kinds by the tolerance alone, as in the paper",
     FLAG(fixed)},
    {"deep", 0, NULL,
     "Continue the search inside of regions where that of the paper ends",
     FLAG(spmd.deep)},
    {"program", 0, NULL, "The one region without a parent is the program",
     FLAG(spmd.tree), .value = TSANOM_SPMD_PROGRAM},
    {"mean-norm", 0, NULL, "Severity: divide by the mean norm, not by the largest",
     FLAG(spmd.norm), .value = TSANOM_SPMD_MEAN_NORM},
    {"combinations", 0, "N", "Try at most N combinations of regions (default: 65536)",
     COUNT(spmd.combination_limit, 0, 0)},
    {"explain", 0, NULL, "Print every re-clustering", FLAG(explain)},
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
