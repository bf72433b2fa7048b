/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom collect: one run of the ranks that were recorded to directories of several
 * machines (input/collection.c). */
#include <stdio.h>

#include "collection.h"
#include "command.h"
#include "run_open.h"

typedef struct {
  shared_options shared;
  const char *output;
} request;

static const option_row options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "RUN",
     TEXT(output),
     .help = "Run directory to create, or to add the ranks to"},
};

static void check(struct argp_state *state, void *into) {
  if (!((const request *)into)->output) argp_error(state, "-o RUN is expected");
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "-o RUN DIRECTORY...",
    .help =
        "Put the ranks of an MPI program together to one run.\v"
        "Each DIRECTORY is what tsanom record -o DIRECTORY wrote on one machine, on a "
        "disk of its own. The ranks are copied, also those of a program that was killed, "
        "and each copy is verified. Processes that MPI_Comm_spawn started, in "
        "DIRECTORY/spawned.N, are copied to RUN/spawned.N. The machines of a job may add "
        "to one RUN at the same time; ranks that RUN has already are left as they are.",
    .expected = "directories are",
    .least = 1,
    .no_plot = 1,
    .check = check,
};

int command_collect(int argc, char **argv) {
  request r = {0};
  collection done;
  failure why;
  parse_command(&command_line, argc, argv, &r);
  if (collect_ranks(r.shared.argument, r.shared.arguments, r.output, &r.shared.exec,
                    &done, &why)) {
    return report_failure(&why);
  }
  warn_of_missing_ranks(r.output, done.ranks, done.size);
  if (r.shared.json) {
    return print_json(json_pack("{so sI sI sI sI sI}", "run", json_name(r.output),
                                "ranks", (json_int_t)done.ranks, "size",
                                (json_int_t)done.size, "copied", (json_int_t)done.copied,
                                "spawned", (json_int_t)done.spawned, "records",
                                (json_int_t)done.records));
  }
  printf("%s: %zu ranks, of which %zu were copied", r.output, done.ranks, done.copied);
  if (done.spawned) printf(", and %zu processes that they spawned,", done.spawned);
  printf(" with %llu records\n", (unsigned long long)done.records);
  return EXIT_DONE;
}
