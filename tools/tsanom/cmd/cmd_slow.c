/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom slow: which iterations of a run were slow, where, and why, as the summary of the
 * library has them. */
#include "command.h"
#include "rows.h"
#include "summary.h"

typedef struct {
  shared_options shared;
  int check;
} request;

static const option_row options[] = {
    SALVAGE_ROW,
    CHECK_ROW(check, "a run has slow iterations that its machine does not explain"),
};

static int draw(const run_summary *s, const request *r, failure *why) {
  if (s->about.slow_of) return slow_draw(s, r->shared.plot, why);
  return fail(why, "%s: --plot draws one rank; give its run, such as %s/rank.0",
              r->shared.argument[0], r->shared.argument[0]);
}

static int take(const void *request_, size_t index, json_t *runs, int *found,
                failure *why) {
  const request *r = request_;
  const char *path = r->shared.argument[index];
  run_summary s = {.draws = r->shared.plot != NULL};
  int failed = summary_read_slow(path, &r->shared.exec, r->shared.salvage, &s, why) ||
               (r->shared.plot && draw(&s, r, why));
  *found |= slow_is_of_program(&s.about);
  if (!failed && runs) {
    json_t *one = slow_to_json(&s.about);
    json_object_set_new(one, "run", json_name(file_title(path)));
    json_array_append_new(runs, one);
  } else if (!failed) {
    print_heading(&r->shared, index, ": ");
    slow_print(&s.about);
  }
  summary_free(&s);
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
    .one_plot = 1,
};

int command_slow(int argc, char **argv) {
  request r = {0};
  parse_command(&command_line, argc, argv, &r);
  return for_each_run(&r.shared, r.check, take, &r);
}
