/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom-analyze: every subcommand but `record`. The launcher executes it with its own
 * arguments (see ../launcher/main.c). Subcommands that analyze one process at a time are
 * executed for the run of each rank, RUN/rank.K, and their JSON results become the elements
 * of `ranks`. */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "plot.h"
#include "reserve.h"
#include "rows.h"
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

/* ---- options of all analyses */

enum { BAR = 30, SECONDS_SILENT = 2 };

/* A bar, the share, and the time left if the rest takes as long as what is done. Without
 * a total, which neither a pipe nor a search has: the time. */
static void write_progress(char *text, size_t bytes, uint64_t done, uint64_t total,
                           double seconds) {
  static const char bar[] = "##############################";
  static const char gap[] = "..............................";
  _Static_assert(sizeof bar == BAR + 1 && sizeof gap == BAR + 1, "a bar of BAR marks");
  if (!total) {
    (void)snprintf(text, bytes, "working, %.0f s", seconds);
    return;
  }
  double part = (double)done / (double)total;
  int marks = (int)(part * BAR);
  int used = snprintf(text, bytes, "[%.*s%.*s] %3.0f %%", marks, bar, BAR - marks, gap,
                      100 * part);
  if (used < 0 || (size_t)used >= bytes || !done || done == total) return;
  double left = seconds * (1 - part) / part;
  if (left < 90) {
    (void)snprintf(text + used, bytes - (size_t)used, ", %.0f s left", left);
  } else {
    (void)snprintf(text + used, bytes - (size_t)used, ", %.0f min left", left / 60);
  }
}

/* Poll of an execution: shows progress on standard error, from the third second on and
 * then once per second. What is left is that of a call or reading, which begins at 0. */
static int32_t progress_show(void *user, uint64_t done, uint64_t total) {
  (void)user;
  static time_t start, part, shown;
  static uint64_t before;
  time_t now = time(NULL);
  if (!start) start = now;
  if (!part || done < before) part = now;
  before = done;
  if (now - start < SECONDS_SILENT || now == shown) return 0;
  shown = now;
  char text[128];
  write_progress(text, sizeof text, done, total, difftime(now, part));
  print_bar(text);
  return 0;
}

enum { SHARED_GROUP = 90, THREADS_MOST = 4096 };

/* A name with the extension of another format is a mistake, as is an option that was
 * taken for a name. */
static void take_picture(struct argp_state *state, char *text, void *into) {
  char shown[QUOTED_BYTES];
  if (text[0] == '-' || !plot_format_known(text)) {
    argp_error(state, "--plot: %s: FILE.svg or FILE.png is expected",
               quoted(shown, text));
  }
  ((shared_options *)into)->plot = text;
}

typedef shared_options request;

/* The plot is the last row: some commands have none. */
static const option_row shared_rows[] = {
    {"json", 0, NULL, "Print JSON", FLAG(json), .group = SHARED_GROUP},
    {"threads", 0, "N", "Compute with N threads; 0: all (default: 1)",
     COUNT(threads, 0, THREADS_MOST), .group = SHARED_GROUP},
    {"plot", 0, "FILE",
     "Draw a plot: SVG or PNG, by the name of the file (needs gnuplot)",
     CALL(take_picture), .group = SHARED_GROUP},
};

enum { SHARED_ROWS = sizeof shared_rows / sizeof *shared_rows };

/* Progress is shown only if a person can see it: standard error is a terminal. */
void parse_command(const syntax *s, int argc, char **argv, void *into) {
  shared_options *shared = into;
  tsanom_exec_init(&shared->exec, sizeof shared->exec);
  shared->threads = 1;
  if (isatty(STDERR_FILENO)) shared->exec.poll = progress_show;
  parse_rows(s, shared_rows, s->no_plot ? SHARED_ROWS - 1 : SHARED_ROWS, argc, argv,
             into);
  shared->exec.threads = (int32_t)shared->threads;
}

/* ---- output, and ranks */

/* What print_json() appends to; NULL: it prints. */
static json_t *collected;
static json_int_t current;

/* One form for all subcommands. Warnings about the run that was read are part of the result,
 * so that a program that reads it needs no standard error. */
int print_json(json_t *value) {
  if (value && collected) {
    (void)json_object_set_new(value, "rank", json_integer(current));
    (void)json_array_append_new(collected, value);
    return EXIT_DONE;
  }
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

/* The command for one rank; returns its exit status. */
static int run_rank(shared_options *shared, const char *path, int32_t rank,
                    int (*one)(const void *asked), const void *asked) {
  char *own = run_rank_path(path, rank), *given = shared->argument[0];
  current = rank;
  shared->argument[0] = own;
  if (!shared->json) printf(shared->brief ? "rank %d: " : "rank %d\n\n", (int)rank);
  int status = one(asked);
  shared->argument[0] = given;
  free(own);
  return status;
}

int for_each_rank(shared_options *shared, int brief, int (*one)(const void *asked),
                  const void *asked) {
  const char *path = shared->argument[0];
  int32_t *ranks;
  size_t count;
  failure why;
  if (run_ranks(path, &ranks, &count, &why)) return report_failure(&why);
  if (!count) return one(asked);
  if (shared->plot) {
    fail(&why, "%s: --plot draws one rank; give its run, such as %s/rank.%d", path, path,
         (int)ranks[0]);
    free(ranks);
    return report_failure(&why);
  }
  int worst = EXIT_DONE;
  if (shared->json) collected = json_array();
  shared->brief = brief && !shared->json;
  for (size_t i = 0; i < count; i++) {
    if (i && !shared->json && !brief) printf("\n");
    int status = run_rank(shared, path, ranks[i], one, asked);
    if (status > worst) worst = status;
  }
  if (shared->brief) {
    printf("\nMore of a rank: give its run, such as %s/rank.%d.\n", file_title(path),
           (int)ranks[0]);
  }
  free(ranks);
  json_t *all = collected;
  collected = NULL;
  if (!shared->json) return worst;
  int status =
      print_json(json_pack("{so so}", "run", json_name(file_title(path)), "ranks", all));
  return status > worst ? status : worst;
}

/* The list of arguments of a command that takes any number of runs; it lasts as long as
 * the program. */
static char **expanded;
static size_t expanded_count, expanded_capacity;

static void append(char *path) {
  reserve(&expanded, &expanded_capacity, expanded_count + 1, sizeof *expanded);
  expanded[expanded_count++] = path;
}

int expand_ranks(shared_options *shared, failure *why) {
  for (size_t i = 0; i < shared->arguments; i++) {
    int32_t *ranks;
    size_t count;
    if (run_ranks(shared->argument[i], &ranks, &count, why)) return -1;
    if (!count) append(shared->argument[i]);
    for (size_t k = 0; k < count; k++) {
      append(run_rank_path(shared->argument[i], ranks[k]));
    }
    free(ranks);
  }
  shared->argument = expanded;
  shared->arguments = expanded_count;
  return 0;
}

int for_each_run(const shared_options *shared, int check, run_taker *take,
                 const void *asked) {
  json_t *runs = shared->json ? json_array() : NULL;
  int found = 0;
  failure why;
  for (size_t i = 0; i < shared->arguments; i++) {
    if (!take(asked, i, runs, &found, &why)) continue;
    json_decref(runs);
    return report_failure(&why);
  }
  int ended = runs ? print_json(json_pack("{so}", "runs", runs)) : EXIT_DONE;
  return ended == EXIT_DONE && check && found ? EXIT_FOUND : ended;
}

void print_heading(const shared_options *shared, size_t index, const char *end) {
  if (shared->arguments < 2) return;
  printf("%s%s%s", index ? "\n" : "", file_title(shared->argument[index]), end);
}

int main(int argc, char **argv) {
  /* Without it, malloc() keeps what was freed of arrays of up to 32 MB, each as large as the
   * largest before: tsanom speedup took 124 instead of 88 MB for 2.3 million iterations. */
  enum { MAPPED_BYTES = 1 << 20 };
  (void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
  (void)signal(SIGCHLD, SIG_DFL); /* ignored, how a command ended would not be known */
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
