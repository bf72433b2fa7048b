/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom: a launcher that needs only libc.
 *
 *   tsanom --version, --help    answered here
 *   tsanom record               sets LD_PRELOAD and executes the program to record
 *   tsanom ANALYSIS             executes tsanom-analyze with the same arguments
 *
 * The OpenMP runtime of the analyses reads OMP_* variables and binds threads to processors. None
 * of that may happen before a program is recorded. */
#include <argp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"
#include "rank_file.h"

typedef struct {
  const char *name, *summary;
} subcommand;

/* The names and summaries for the help. cmd/main.c holds the functions of the analyses.
 */
static const subcommand subcommands[] = {
    {"cluster", "Cluster points by density"},
    {"collect", "Put the ranks of a run together that machines recorded"},
    {"compare", "Find out whether one set of runs is slower than another"},
    {"diagnose", "Find threads of a run that leak memory, slow down or stop"},
    {"dtw", "Compute the warping distance of two series"},
    {"fit", "Fit a polynomial"},
    {"learn", "Learn a model of a program from normal runs"},
    {"period", "Find periods in a stream of events or values"},
    {"rate", "Print the heart rates of the threads of a run"},
    {"record", "Run an OpenMP program and record its parallel regions"},
    {"reduce", "Find the columns of a table that explain its decision"},
    {"search", "Find nearest neighbors under dynamic time warping"},
    {"similar", "Find processes that differ, in which region, and why"},
    {"slow", "Find slow iterations of a run, where, and why"},
    {"speedup", "Print the iterations and the speedup of a recorded run"},
    {"summary", "Say what happened in a run, on one page"},
    {"watch", "Watch a running program, and report hangs and other anomalies"},
};

enum { SUBCOMMANDS = sizeof subcommands / sizeof *subcommands };

static const char *const analysis_directories[] = {TSANOM_ANALYZE_INSTALLED, "."};

static void print_help(FILE *out) {
  fprintf(out,
          "Usage: tsanom SUBCOMMAND ARGUMENT...\n"
          "       tsanom help [SUBCOMMAND]\n"
          "       tsanom --help | --version\n"
          "Monitor and diagnose parallel programs.\n\n");
  for (size_t i = 0; i < SUBCOMMANDS; i++)
    fprintf(out, "  %-10s %s\n", subcommands[i].name, subcommands[i].summary);
  fprintf(
      out,
      "\nA program that was recorded:          summary\n"
      "A program that is slow:               slow (which iterations), speedup\n"
      "A program that is slower than before: compare\n"
      "A program that is uneven:             similar (which threads, ranks, regions)\n"
      "A program that is stuck:              watch\n"
      "A program that grows:                 rate --vitals, or learn and diagnose\n"
      "\n\"tsanom SUBCOMMAND --help\" describes each subcommand. Exit status:\n"
      "  0  success\n"
      "  1  --check was given, and an anomaly or a difference was found\n"
      "  2  wrong usage\n"
      "  3  invalid input, or a failed write\n");
}

/* The analysis program takes the place of this one, with the same arguments: its exit
 * status and its output are those of `tsanom`. Returns only if it could not be started.
 */
static int analyze(char **argv) {
  char path[PATH_MAX];
  failure why;
  (void)set_subcommand(argv[1]);
  if (find_companion(analysis_directories, 2, "tsanom-analyze", path, &why))
    return report_failure(&why);
  execv(path, argv);
  fail_errno(&why, path, "run");
  return report_failure(&why);
}

/* argv[1] becomes the name in front of messages. */
static int run(const char *name, int argc, char **argv) {
  if (strcmp(name, "record") != 0) return analyze(argv);
  argv[1] = set_subcommand(name);
  argp_err_exit_status = EXIT_USAGE;
  return command_record(argc - 1, argv + 1);
}

static int is_one_of(const char *word, const char *a, const char *b, const char *c) {
  return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

int main(int argc, char **argv) {
  prepare_output();
  char *word = argc > 1 ? argv[1] : NULL;
  char help[] = "--help", program[] = "tsanom";
  char *help_arguments[] = {program, argc > 2 ? argv[2] : NULL, help, NULL};
  if (word && is_one_of(word, "--version", "-V", "version")) {
    printf("tsanom %s\n", TSANOM_LAUNCHER_VERSION);
    return EXIT_DONE;
  }
  if (word && is_one_of(word, "--help", "-h", "help")) {
    if (argc == 2) {
      print_help(stdout);
      return EXIT_DONE;
    }
    word = argv[2];
    argc = 3;
    argv = help_arguments;
  }
  for (size_t i = 0; word && i < SUBCOMMANDS; i++) {
    if (strcmp(word, subcommands[i].name) == 0) return run(word, argc, argv);
  }
  rank_identity job;
  if (word && (ranks_has_run(word) || ranks_read(word, &job) == RANKS_SAME)) {
    fprintf(stderr, "tsanom: %s is a recording: tsanom summary %s\n", word, word);
    return EXIT_USAGE;
  }
  if (word) {
    char shown[QUOTED_BYTES];
    fprintf(stderr, "tsanom: %s: unknown subcommand; one of these is expected:\n\n",
            quoted(shown, word));
  }
  print_help(stderr);
  return EXIT_USAGE;
}
