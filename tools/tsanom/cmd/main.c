/* SPDX-License-Identifier: BSD-3-Clause */
/* The tsanom command: finds the subcommand and makes sure that what it printed
 * arrived. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

typedef struct {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
} subcommand;

/* To add a subcommand: write cmd_NAME.c with command_NAME() after the pattern of
 * cmd_dtw.c, declare it in command.h, list the file in CMakeLists.txt, add a row
 * here, a section in docs/command.md, and tests/tools/test_NAME.c. */
static const subcommand subcommands[] = {
    {"cluster", command_cluster, "Clusters of points by density"},
    {"diagnose", command_diagnose, "Which thread of a run leaks memory or was shut down"},
    {"dtw", command_dtw, "Warping distance of two series"},
    {"fit", command_fit, "Polynomial regression"},
    {"learn", command_learn, "A model of how a program beats, from normal runs"},
    {"period", command_period, "Periods of a stream of events or values"},
    {"rate", command_rate, "Heart rates of the threads of a run"},
    {"reduce", command_reduce, "Which columns of a table explain its decision"},
    {"record", command_record, "Run an OpenMP program and record its parallel regions"},
    {"search", command_search, "Nearest neighbours under dynamic time warping"},
    {"similar", command_similar, "Which processes differ, in which region, and why"},
    {"speedup", command_speedup, "Iterations and speedup of a recorded run"},
};

enum { SUBCOMMANDS = sizeof subcommands / sizeof *subcommands };

static char full_name[64] = "tsanom";

int refuse(const failure *why) {
  fflush(stdout);
  fprintf(stderr, "%s: %s\n", full_name, why->text);
  return EXIT_INPUT;
}

/* Keep files that are opened off the standard descriptors, should one be
 * closed: /dev/null opened the wrong way round fails as a closed one would. */
static void hold_standard_descriptors(void) {
  for (int d = STDIN_FILENO; d <= STDERR_FILENO; d++) {
    if (fcntl(d, F_GETFD) != -1) continue;
    int held = open("/dev/null", d == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (held < 0) _exit(EXIT_INPUT);
  }
}

/* A full disk shows when the buffer is flushed, which exit() would not tell. */
static void check_standard_output(void) {
  int failed_before = ferror(stdout);
  const char *reason = NULL;
  if (fflush(stdout)) {
    reason = strerror(errno);
  } else if (failed_before) {
    reason = "a write failed";
  }
  if (!reason) return;
  fprintf(stderr, "%s: cannot write the standard output: %s\n", full_name, reason);
  _exit(EXIT_INPUT);
}

static void print_help(FILE *out) {
  fprintf(out,
          "Usage: tsanom SUBCOMMAND ARGUMENT...\n"
          "       tsanom --help | --version\n"
          "Watch and diagnose running parallel programs.\n\n");
  for (size_t i = 0; i < SUBCOMMANDS; i++)
    fprintf(out, "  %-10s %s\n", subcommands[i].name, subcommands[i].summary);
  fprintf(out,
          "\n\"tsanom SUBCOMMAND --help\" explains each. The exit status is 0 when done, "
          "1 when\n--check was given and something was found, 2 after wrong usage, 3 "
          "after bad input\nor a failed write.\n");
}

static int run(const subcommand *chosen, int argc, char **argv) {
  snprintf(full_name, sizeof full_name, "tsanom %s", chosen->name);
  argv[0] = full_name;
  argp_err_exit_status = EXIT_USAGE;
  return chosen->run(argc, argv);
}

int main(int argc, char **argv) {
  hold_standard_descriptors();
  atexit(check_standard_output);
  const char *word = argc > 1 ? argv[1] : "";
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
      strcmp(word, "help") == 0) {
    print_help(stdout);
    return EXIT_DONE;
  }
  if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
    printf("tsanom %s\n", tsanom_version());
    return EXIT_DONE;
  }
  for (size_t i = 0; i < SUBCOMMANDS; i++) {
    if (strcmp(word, subcommands[i].name) == 0)
      return run(&subcommands[i], argc - 1, argv + 1);
  }
  if (*word) {
    char shown[QUOTED_BYTES];
    fprintf(stderr, "tsanom: %s is not a subcommand\n\n", quoted(shown, word));
  }
  print_help(stderr);
  return EXIT_USAGE;
}
