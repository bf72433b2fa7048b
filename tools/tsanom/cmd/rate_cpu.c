/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom rate --cpu: the processors that each thread or rank uses over time, as in
 * figures 7 and 8 of the SPMD paper. */
#include "rate_cpu.h"

#include <math.h>
#include <stdio.h>

#include "cpu_use.h"
#include "plot.h"
#include "ranks.h"
#include "rows.h"

static const char *member(const cpu_use *use) {
  return use->is_ranks ? "rank" : "thread";
}

static int print_lines_json(const char *run, const cpu_use *use) {
  json_t *lines = json_array();
  for (size_t i = 0; i < use->count; i++) {
    const cpu_line *l = &use->line[i];
    json_array_append_new(lines, json_pack("{si so so so}", member(use), (int)l->number,
                                           "begin", json_numbers(l->begin, l->count),
                                           "time", json_numbers(l->time, l->count), "cpu",
                                           json_numbers(l->use, l->count)));
  }
  return print_json(json_pack("{so so}", "run", json_name(file_title(run)),
                              use->is_ranks ? "ranks" : "threads", lines));
}

static void print_csv(const cpu_use *use) {
  printf("%s,begin,time,cpu\n", member(use));
  for (size_t i = 0; i < use->count; i++) {
    const cpu_line *l = &use->line[i];
    for (size_t k = 0; k < l->count; k++) {
      printf("%d,%.17g,%.17g,%.17g\n", (int)l->number, l->begin[k], l->time[k],
             l->use[k]);
    }
  }
}

static void print_table(const cpu_use *use) {
  printf("processors in use between samples\n\n%6s  %8s %7s %7s %7s\n", member(use),
         "samples", "mean", "lowest", "highest");
  for (size_t i = 0; i < use->count; i++) {
    const cpu_line *l = &use->line[i];
    double sum = 0, elapsed = 0, low = INFINITY, high = 0;
    for (size_t k = 0; k < l->count; k++) {
      double length = l->time[k] - l->begin[k];
      sum += l->use[k] * length;
      elapsed += length;
      low = fmin(low, l->use[k]);
      high = fmax(high, l->use[k]);
    }
    printf("%6d  %8zu", (int)l->number, l->count);
    if (l->count) {
      printf(" %7.3f %7.3f %7.3f\n", sum / elapsed, low, high);
    } else {
      printf("  too few\n");
    }
  }
}

static int draw(const shared_options *shared, const cpu_use *use, failure *why) {
  plot p;
  if (plot_open(&p, shared->plot, "Processors in use", why)) return -1;
  for (size_t i = 0; i < use->count; i++) {
    const cpu_line *l = &use->line[i];
    char name[32];
    (void)snprintf(name, sizeof name, "t%zu", i);
    if (l->count) plot_series(&p, name, l->time, l->use, l->count);
  }
  fprintf(p.script,
          "set xlabel 'time, s'\nset ylabel 'processors'\nset yrange [0:*]\n" PLOT_LABELS
          "plot ");
  for (size_t i = 0; i < use->count; i++) {
    const cpu_line *l = &use->line[i];
    if (!l->count) continue;
    fprintf(p.script, "$t%zu with lines title '%s %d' at end, ", i, member(use),
            (int)l->number);
  }
  fprintf(p.script, "\n");
  return plot_close(&p, why);
}

int rate_cpu(shared_options *shared, int csv) {
  cpu_use use = {0};
  failure why;
  char *given = shared->argument[0];
  int failed = expand_ranks(shared, &why) ||
               cpu_use_read(shared->argument, shared->arguments, &shared->exec,
                            shared->salvage, &use, &why);
  if (!failed && shared->plot) {
    size_t drawn = 0;
    for (size_t i = 0; i < use.count; i++) drawn += use.line[i].count > 0;
    failed = drawn ? draw(shared, &use, &why)
                   : fail(&why, "%s: too few vital signs to draw", file_title(given));
  }
  int status = EXIT_DONE;
  if (failed) {
    status = report_failure(&why);
  } else if (shared->json) {
    status = print_lines_json(given, &use);
  } else if (csv) {
    print_csv(&use);
  } else {
    print_table(&use);
  }
  cpu_use_free(&use);
  return status;
}
