/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom slow: which iterations of a run were slow, where, and why. The search is in
 * input/slow_series.c, the reasons are in input/slow.c. */
#include <stdio.h>

#include "command.h"
#include "rows.h"
#include "slow.h"

typedef struct {
  shared_options shared;
  int check;
} request;

static const option_row options[] = {
    SALVAGE_ROW,
    CHECK_ROW(check, "a run has slow iterations"),
};

static void print_json_of(const slow_run *s, const char *path, json_t *runs) {
  json_t *one = slow_to_json(s);
  json_object_set_new(one, "run", json_name(file_title(path)));
  json_array_append_new(runs, one);
}

static int draw(const slow_run *s, const request *r, failure *why) {
  if (s->it.count) return slow_draw(s, r->shared.plot, why);
  return fail(why, "%s: --plot draws one rank; give its run, such as %s/rank.0",
              r->shared.argument[0], r->shared.argument[0]);
}

/* One run; its findings are added to *found. */
static int take(const request *r, size_t index, json_t *runs, size_t *found,
                failure *why) {
  const char *path = r->shared.argument[index];
  slow_run s = {0};
  int failed = slow_read(path, &r->shared.exec, r->shared.salvage, &s, why) ||
               (r->shared.plot && draw(&s, r, why));
  *found += s.count;
  if (!failed && runs) print_json_of(&s, path, runs);
  if (!failed && !runs) {
    if (r->shared.arguments > 1) printf("%s%s: ", index ? "\n" : "", file_title(path));
    slow_print(&s);
  }
  slow_run_free(&s);
  return failed;
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "RUN...",
    .help =
        "Which iterations of a run were slow, by how much, where, and why.\v"
        "RUN is a run directory by tsanom record, or a CSV file with the columns thread "
        "and time (in seconds). Iterations are numbered from 0. Slow iterations are "
        "single ones, form a stretch, recur with a period, or last since or until an "
        "iteration.",
    .expected = "at least one run is",
    .least = 1,
    .most = 0,
    .one_plot = 1,
};

int command_slow(int argc, char **argv) {
  request r = {0};
  parse_command(&command_line, argc, argv, &r);
  json_t *runs = r.shared.json ? json_array() : NULL;
  size_t found = 0;
  failure why;
  for (size_t i = 0; i < r.shared.arguments; i++) {
    if (!take(&r, i, runs, &found, &why)) continue;
    json_decref(runs);
    return report_failure(&why);
  }
  int ended = runs ? print_json(json_pack("{so}", "runs", runs)) : EXIT_DONE;
  return ended == EXIT_DONE && r.check && found ? EXIT_FOUND : ended;
}
