/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom slow: which iterations of a run were slow, where, and why, as the summary of the
 * library has them. */
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "rows.h"
#include "summary.h"

/* Those of a process; 1: it has too few iterations, as *why says. */
static int read_slow(const char *path, int32_t rank, const tsanom_exec *exec, int salvage,
                     run_summary *s, failure *why) {
  tsanom_runs_info info;
  uint64_t before = s->about.searched;
  if (summary_add_process(path, rank, NULL, exec, salvage, &info, s, why)) return -1;
  size_t most = beats_most(&s->b);
  if (!s->b.no_iterations && s->about.searched > before) return 0;
  if (s->b.no_iterations || !most) {
    (void)fail(why, NO_ITERATIONS, file_title(path));
  } else {
    (void)fail(why, "%s: too few iterations: %zu; at least 21 are needed",
               file_title(path), most);
  }
  return 1;
}

/* Slow iterations of a run, or of the ranks of a job, of which one must have iterations. */
static int summary_read_slow(const char *path, const tsanom_exec *exec, int salvage,
                             run_summary *s, failure *why) {
  int32_t *ranks;
  size_t count;
  if (run_ranks(path, &ranks, &count, why)) return -1;
  int failed = count ? 0 : read_slow(path, -1, exec, salvage, s, why);
  for (size_t i = 0; i < count && failed >= 0; i++) {
    char *own = run_rank_path(path, ranks[i]);
    failed = read_slow(own, ranks[i], exec, salvage, s, why);
    free(own);
  }
  free(ranks);
  return failed > 0 && s->about.searched ? 0 : failed;
}

/* Whether there are slow iterations that neither a slower processor nor what ran beside the
 * program explains, which the verdict of a summary calls a fault if they cost much. */
static int slow_is_of_program(const tsanom_diagnosis_summary *s) {
  for (size_t i = 0; i < s->slow_count; i++) {
    const tsanom_diagnosis_slow *one = &s->slow[i];
    if (!one->of_machine && one->reason != TSANOM_DIAGNOSIS_REASON_READY) return 1;
  }
  return 0;
}

static void print_ratio(double ratio) {
  printf(ratio < 100 ? "%.2g" : "%.0f", ratio);
}

/* What would be found. No single iteration is longer than all together. */
static void print_detectable(const tsanom_diagnosis_summary *s) {
  printf("Single ones ");
  if (s->slow_single * s->slow_median_s < s->slow_whole_s) {
    printf("of ");
    print_ratio(s->slow_single);
    printf(" times the median would be seen, or");
  } else {
    printf("would not be seen, since their times differ too much, but");
  }
  printf(" a lasting change to %.3g times", s->slow_lasting);
  if (s->slow_worked_single > 0) {
    printf("; of the processor time, ");
    print_ratio(s->slow_worked_single);
    printf(" and %.3g times", s->slow_worked_lasting);
  }
  printf(".\n");
}

/* A sentence of each of them. */
static void slow_print(const tsanom_diagnosis_summary *s) {
  double lost = 0;
  if (!s->slow_count) {
    printf("No slow iterations: %llu of %.4g s, and their level did not change.\n",
           (unsigned long long)s->slow_beats, s->slow_median_s);
    print_detectable(s);
  }
  for (size_t i = 0; i < s->slow_count; i++) {
    slow_print_one(s, i);
    lost += s->slow[i].lost_s;
  }
  if (s->slow_few) {
    printf("There are too few independent iterations to show a change of their level.\n");
  }
  if (!s->slow_count) return;
  if (!slow_is_of_program(s)) {
    printf("A slower processor, or what ran beside the program, may explain %s.\n",
           s->slow_count > 1 ? "all of them" : "that");
  }
  printf("\nmedian of the other iterations %.4g s; lost %.3g of %.4g s\n",
         s->slow_median_s, lost, s->slow_whole_s);
}

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
