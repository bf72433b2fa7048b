/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of executions. What slows both executions of a pair cancels out, and the order
 * ABBA cancels what changes steadily. After each pair the sequential test looks at all of
 * them; its error rate holds for all looks together. */
#include "compare_run.h"

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

int compare_run(const char *const command[2], size_t pairs, double threshold,
                run_sets *sets, comparison *c, failure *why) {
  sets->a = sets->b = pairs;
  sets->run = calloc(2 * pairs, sizeof *sets->run);
  if (!sets->run) return fail(why, "out of memory");
  for (size_t pair = 0; pair < pairs; pair++) {
    if (execute_pair(command, pair, pairs, sets->run, why) ||
        look(sets, pairs, pair + 1, c, why)) {
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
