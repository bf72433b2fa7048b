/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom compare: is one set of runs slower than another one, where, and is it
 * significant? The runs were recorded, or are executed in turn. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "compare.h"
#include "number.h"
#include "rows.h"

/* Pairs of executions. What slows both executions of a pair cancels out, and the order
 * ABBA cancels what changes steadily. After each pair the sequential test looks at all of
 * them; its error rate holds for all looks together. */

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double seconds_of(struct timeval t) {
  return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* The command with the number of the pair in place of each "{}", to be freed. */
static char *numbered(const char *command, size_t pair) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&text, &bytes);
  if (!out) return NULL;
  while (*command) {
    int is_place = command[0] == '{' && command[1] == '}';
    if (is_place) {
      fprintf(out, "%zu", pair);
    } else {
      fputc(*command, out);
    }
    command += is_place ? 2 : 1;
  }
  return fclose(out) ? (free(text), NULL) : text;
}

static int start(char *command, pid_t *child) {
  char shell[] = "sh", option[] = "-c";
  char *arguments[] = {shell, option, command, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  int error = posix_spawn(child, "/bin/sh", &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static int execute(const char *command, size_t pair, run_numbers *n, failure *why) {
  char *own = numbered(command, pair), shown[QUOTED_BYTES];
  struct rusage used;
  int ended = 0;
  pid_t child = 0;
  if (!own) return fail(why, "out of memory");
  double begin = seconds_now();
  int error = start(own, &child);
  free(own);
  if (error) {
    errno = error;
    return fail_errno(why, "/bin/sh", "start");
  }
  while (wait4(child, &ended, 0, &used) < 0 && errno == EINTR) continue;
  double elapsed = seconds_now() - begin;
  if (ended) {
    return fail(why, "--run: %s ended by %s %d in pair %zu", quoted(shown, command),
                WIFSIGNALED(ended) ? "signal" : "status",
                WIFSIGNALED(ended) ? WTERMSIG(ended) : WEXITSTATUS(ended), pair);
  }
  return run_numbers_add(n, NUMBER_LOOP, "an execution", elapsed, why) ||
         run_numbers_add(n, NUMBER_SIGN, "processor time, s",
                         seconds_of(used.ru_utime) + seconds_of(used.ru_stime), why) ||
         run_numbers_add(n, NUMBER_SIGN, "most memory, MiB",
                         (double)used.ru_maxrss / 1024, why);
}

/* The second set follows the first: runs of pair i are at i and pairs + i. */
static int execute_pair(const char *const command[2], size_t pair, size_t pairs,
                        run_numbers *run, failure *why) {
  for (size_t k = 0; k < 2; k++) {
    size_t set = (pair % 2) ^ k;
    if (execute(command[set], pair + 1, &run[set * pairs + pair], why)) return -1;
  }
  return 0;
}

static int is_decided(const comparison *c, double threshold) {
  const compared *first = &c->row[0];
  if (first->changed) return 1;
  return threshold > 0 && first->low > 1 / (1 + threshold) && first->high < 1 + threshold;
}

/* The pairs so far, as two sets one behind the other. */
static int look(const run_sets *all, size_t pairs, size_t done, comparison *c,
                failure *why) {
  tsanom_change_options options;
  tsanom_change_options_init(&options, sizeof options);
  options.paired = options.sequential = 1;
  options.level = compare_level;
  run_numbers *run = calloc(2 * done, sizeof *run);
  if (!run) return fail(why, "out of memory");
  for (size_t i = 0; i < done; i++) {
    run[i] = all->run[i];
    run[done + i] = all->run[pairs + i];
  }
  comparison_free(c);
  run_sets sets = {.run = run, .a = done, .b = done};
  int failed = compare_sets(&sets, &options, c, why);
  free(run);
  return failed;
}

/* Execute the commands by sh in the order ABBA ABBA ..., at most `pairs` times each, until
 * the time of both differs with significance, or differs by less than `threshold`
 * (0: only the former). "{}" in a command is the number of the pair. What the commands
 * print on standard output is dropped. A command that does not end with status 0 is a
 * failure. The runs get elapsed time, processor time and memory of each execution. */
static int compare_run(const char *const command[2], size_t pairs, double threshold,
                       run_sets *sets, comparison *c, failure *why) {
  sets->a = sets->b = pairs;
  sets->run = calloc(2 * pairs, sizeof *sets->run);
  if (!sets->run) return fail(why, "out of memory");
  for (size_t pair = 0; pair < pairs; pair++) {
    if (execute_pair(command, pair, pairs, sets->run, why) ||
        look(sets, pairs, pair + 1, c, why) || !c->row) {
      return -1;
    }
    if (isatty(STDERR_FILENO)) {
      fprintf(stderr, "\rpair %zu of at most %zu: %.3f times as long", pair + 1, pairs,
              c->row[0].ratio);
    }
    if (is_decided(c, threshold)) break;
  }
  if (isatty(STDERR_FILENO)) fprintf(stderr, "\n");
  return 0;
}

enum { PAIRS_DEFAULT = 60 };

typedef struct {
  shared_options shared;
  const char *command[2];
  size_t commands, pairs;
  double threshold;
  int check, paired;
} request;

/* The runs behind --against, which the parser does not see. */
static char **against;
static size_t against_count;

static void take_command(struct argp_state *state, char *text, void *request_) {
  request *r = request_;
  if (r->commands == 2) argp_error(state, "--run: two commands are expected");
  r->command[r->commands++] = text;
}

/* "5%" or "0.05". */
static void take_threshold(struct argp_state *state, char *text, void *request_) {
  request *r = request_;
  char shown[QUOTED_BYTES], *end = strchr(text, '%');
  int is_percent = end && !end[1];
  if (is_percent) *end = '\0';
  const char *wrong = number_parse(text, &r->threshold);
  if (is_percent) r->threshold /= 100;
  if (!wrong && r->threshold >= 0 && r->threshold < 10) return;
  argp_error(state, "--threshold: %s: a part such as 5%% is expected",
             quoted(shown, text));
}

static void reject_against(struct argp_state *state, char *text, void *request_) {
  (void)text;
  (void)request_;
  argp_error(state, "--against: given twice");
}

static const option_row options[] = {
    {.name = "against",
     .letter = 'a',
     .argument = "RUN...",
     CALL(reject_against),
     .help = "The second set: all runs up to the next option"},
    {.name = "run",
     .argument = "COMMAND",
     CALL(take_command),
     .help = "Execute COMMAND by sh; given twice, for both sets. {} in it is the number "
             "of the pair"},
    {.name = "pairs",
     .argument = "N",
     COUNT(pairs, 1, 100000),
     .help = "--run: execute each command at most N times (default: 60)"},
    {.name = "paired",
     FLAG(paired),
     .help = "The runs of both sets were executed in turn: the first of each are a pair, "
             "and so on"},
    {.name = "threshold",
     .argument = "P%",
     CALL(take_threshold),
     .help =
         "--check: allow P % more time. --run: stop, too, when the difference is less "
         "than P % (default: 0%)"},
    SALVAGE_ROW,
    CHECK_ROW(check,
              "the second set takes longer, with significance, by more than the "
              "--threshold"),
};

static void check_line(struct argp_state *state, void *request_) {
  request *r = request_;
  if (r->commands == 1) argp_error(state, "--run: two commands are expected");
  if (r->commands && (r->shared.arguments || against_count)) {
    argp_error(state, "--run or runs, not both");
  }
  if (r->pairs && !r->commands) argp_error(state, "--pairs needs --run");
  if (r->paired && r->commands) argp_error(state, "--paired is for recorded runs");
  if (r->commands) return;
  if (!r->shared.arguments || !against_count) {
    argp_error(state, "runs, --against and runs are expected");
  }
  if (r->paired && r->shared.arguments != against_count) {
    argp_error(state, "--paired: as many runs of both sets are expected");
  }
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "A... --against B...\n--run COMMAND --run COMMAND",
    .help =
        "Is one set of runs slower than another one, where, and by how much?\v"
        "A and B are run directories by tsanom record. Runs are the units: five of each "
        "set are the fewest that can differ, or eight pairs. With --run, both commands "
        "are executed in the order ABBA until the answer is known, and must end with "
        "status 0.",
    .expected = "runs are",
    .least = 0,
    .most = 0,
    .check = check_line,
};

static int read_sets(const request *r, run_sets *sets, failure *why) {
  sets->a = r->shared.arguments;
  sets->b = against_count;
  sets->run = calloc(sets->a + sets->b, sizeof *sets->run);
  if (!sets->run) return fail(why, "out of memory");
  for (size_t i = 0; i < sets->a + sets->b; i++) {
    const char *path = i < sets->a ? r->shared.argument[i] : against[i - sets->a];
    if (run_numbers_read(path, &r->shared.exec, r->shared.salvage, &sets->run[i], why))
      return -1;
  }
  return 0;
}

/* The labels of the runs, if these differ. */
static int read_labels(const request *r, comparison *c, failure *why) {
  if (!c->row[0].changed) return 0;
  for (size_t i = 0; i < c->a + c->b; i++) {
    const char *path = i < c->a ? r->shared.argument[i] : against[i - c->a];
    if (run_labels_read(&c->labels, path, why)) return -1;
  }
  return run_labels_discern(&c->labels, c->a, why);
}

static int make(const request *r, run_sets *sets, comparison *c, failure *why) {
  tsanom_change_options how;
  if (r->commands) {
    return compare_run(r->command, r->pairs ? r->pairs : PAIRS_DEFAULT, r->threshold,
                       sets, c, why);
  }
  tsanom_change_options_init(&how, sizeof how);
  how.level = compare_level;
  how.paired = r->paired;
  return read_sets(r, sets, why) || compare_sets(sets, &how, c, why) ||
         read_labels(r, c, why);
}

/* Take --against and the runs behind it off the command line. */
static int split(int argc, char **argv) {
  int first = 1;
  while (first < argc && strcmp(argv[first], "--against") != 0 &&
         strcmp(argv[first], "-a") != 0) {
    first++;
  }
  if (first == argc) return argc;
  int end = first + 1;
  while (end < argc && argv[end][0] != '-') end++;
  against_count = (size_t)(end - first - 1);
  against = calloc(against_count + 1, sizeof *against);
  if (!against) return argc;
  memcpy(against, argv + first + 1, against_count * sizeof *against);
  memmove(argv + first, argv + end, (size_t)(argc - end + 1) * sizeof *argv);
  return argc - (end - first);
}

int command_compare(int argc, char **argv) {
  request r = {0};
  parse_command(&command_line, split(argc, argv), argv, &r);
  run_sets sets = {0};
  comparison c = {0};
  failure why;
  int status = EXIT_DONE;
  if (make(&r, &sets, &c, &why) ||
      (r.shared.plot && comparison_draw(&c, r.shared.plot, &why))) {
    status = report_failure(&why);
  } else if (r.shared.json) {
    status = print_json(comparison_to_json(&c, r.threshold));
  } else {
    comparison_print(&c);
  }
  if (status == EXIT_DONE && r.check && comparison_is_slower(&c, r.threshold)) {
    status = EXIT_FOUND;
  }
  for (size_t i = 0; sets.run && i < sets.a + sets.b; i++) run_numbers_free(&sets.run[i]);
  free(sets.run);
  free(against);
  comparison_free(&c);
  return status;
}
