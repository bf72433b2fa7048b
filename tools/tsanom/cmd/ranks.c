/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of several ranks, for subcommands that analyze one process at a time: the
 * subcommand is executed for the run of each rank, RUN/rank.K, and its JSON results
 * become the elements of `ranks`. Other runs are left as they are. */
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "ranks.h"
#include "rows.h"
#include "run_open.h"

/* What print_json() appends to; NULL: it prints. */
static json_t *collected;
static json_int_t current;

int ranks_collect(json_t *value) {
  if (!collected) return 0;
  (void)json_object_set_new(value, "rank", json_integer(current));
  (void)json_array_append_new(collected, value);
  return 1;
}

/* The command for one rank; returns its exit status. */
static int run_rank(shared_options *shared, const char *path, int32_t rank,
                    int (*one)(const void *request), const void *request) {
  failure why;
  char *own = run_rank_path(path, rank), *given = shared->argument[0];
  if (!own) {
    fail(&why, "out of memory");
    return report_failure(&why);
  }
  current = rank;
  shared->argument[0] = own;
  if (!shared->json) printf(shared->brief ? "rank %d: " : "rank %d\n\n", (int)rank);
  int status = one(request);
  shared->argument[0] = given;
  free(own);
  return status;
}

int for_each_rank(shared_options *shared, int brief, int (*one)(const void *request),
                  const void *request) {
  const char *path = shared->argument[0];
  int32_t *ranks;
  size_t count;
  failure why;
  if (run_ranks(path, &ranks, &count, &why)) return report_failure(&why);
  if (!count) return one(request);
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
    int status = run_rank(shared, path, ranks[i], one, request);
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
static size_t expanded_count;

static int append(char *path) {
  char **longer = path ? realloc(expanded, (expanded_count + 1) * sizeof *longer) : NULL;
  if (!longer) return -1;
  expanded = longer;
  expanded[expanded_count++] = path;
  return 0;
}

int expand_ranks(shared_options *shared, failure *why) {
  for (size_t i = 0; i < shared->arguments; i++) {
    int32_t *ranks;
    size_t count;
    if (run_ranks(shared->argument[i], &ranks, &count, why)) return -1;
    int failed = !count && append(shared->argument[i]);
    for (size_t k = 0; k < count && !failed; k++) {
      failed = append(run_rank_path(shared->argument[i], ranks[k]));
    }
    free(ranks);
    if (failed) return fail(why, "out of memory");
  }
  shared->argument = expanded;
  shared->arguments = expanded_count;
  return 0;
}
