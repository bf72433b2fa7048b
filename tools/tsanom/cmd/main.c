/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom-analyze: every subcommand but `record`. The launcher executes it with its own
 * arguments (see ../launcher/main.c). */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "ranks.h"
#include "run_open.h"

/* To add a subcommand: write cmd_NAME.c with command_NAME() after the pattern of
 * cmd_dtw.c, declare it in command.h, list the file in CMakeLists.txt, its man page in
 * ../launcher/CMakeLists.txt, add a row here and in ../launcher/main.c, a section in
 * docs/command.md, and tests/tools/test_NAME.c. */
static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
} subcommands[] = {
    {"cluster", command_cluster}, {"collect", command_collect},
    {"compare", command_compare}, {"diagnose", command_diagnose},
    {"dtw", command_dtw},         {"fit", command_fit},
    {"learn", command_learn},     {"period", command_period},
    {"rate", command_rate},       {"reduce", command_reduce},
    {"search", command_search},   {"similar", command_similar},
    {"slow", command_slow},       {"speedup", command_speedup},
    {"summary", command_summary}, {"watch", command_watch},
};

/* One form for all subcommands. Warnings about the run that was read are part of the result,
 * so that a program that reads it needs no standard error. */
int print_json(json_t *value) {
  if (value && ranks_collect(value)) return EXIT_DONE;
  if (run_messages()) (void)json_object_set(value, "messages", run_messages());
  if (run_warnings()) (void)json_object_set(value, "warnings", run_warnings());
  int failed = !value || json_dumpf(value, stdout, JSON_FORMAT);
  putchar('\n');
  json_decref(value);
  if (!failed || ferror(stdout))
    return EXIT_DONE; /* a failed write is reported at exit */
  failure why;
  fail(&why, "the result cannot be written as JSON: out of memory");
  return report_failure(&why);
}

int main(int argc, char **argv) {
  prepare_output();
  const char *word = argc > 1 ? argv[1] : "";
  for (size_t i = 0; i < sizeof subcommands / sizeof *subcommands; i++) {
    if (strcmp(word, subcommands[i].name) != 0) continue;
    argv[1] = set_subcommand(word);
    argp_err_exit_status = EXIT_USAGE;
    return subcommands[i].run(argc - 1, argv + 1);
  }
  char shown[QUOTED_BYTES];
  fprintf(stderr, "tsanom-analyze: %s: not an analysis; run tsanom instead\n",
          quoted(shown, word));
  return EXIT_USAGE;
}
