/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom similar: which processes of an SPMD program differ, where, and why. The
 * analysis is in input/similarity.c, its picture in plot/similarity_plot.c.
 *
 * The text is one sentence with the verdict, then the report of the
 * paper's figure 4 (kinds, severity, critical regions, root causes), then the balance of
 * each region. With --explain each re-clustering of the search follows. */
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/diagnosis.h>

#include "command.h"
#include "json_value.h"
#include "similarity.h"

enum { TEAM_TEXT = 2048 };

/* Whether a bitset of metrics holds one. */
static int has_metric(const uint64_t *set, size_t m) {
  return (int)(set[m / 64] >> (m % 64) & 1);
}

static double time_of(const similarity *s, size_t process, size_t region) {
  const tsanom_spmd_data *d = s->file.data;
  return d->time[process * (d->time_ld ? d->time_ld : d->regions) + region];
}

/* Time of a process in the outermost regions. */
static double similarity_useful(const similarity *s, size_t process) {
  double sum = 0;
  for (size_t k = 0; k < s->file.data->regions; k++) {
    if (s->region[k].level == 1) sum += time_of(s, process, k);
  }
  return sum;
}

/* Iterations and the ledger of threads show whether their work can be compared. */
static void add_run(const similarity *s, tsanom_diagnosis_summary *about) {
  const tsanom_hsa_run *view;
  about->rank = s->ranks ? 0 : -1;
  if (s->threads && tsanom_runs_hsa(s->run, NULL, &view) >= 0)
    (void)tsanom_diagnosis_summarize(view, -1, -1, NULL, 0, NULL, about);
  if (s->no_iterations) about->iterations = 0;
}

/* What balance would save is compared with the work in regions, because a program may do
 * other things for most of its time. */
static void set_work(const similarity *s, tsanom_diagnosis_summary *about) {
  tsanom_diagnosis_window *w = about->ledger.window;
  size_t n = s->file.data->processes;
  if (!about->accounted || isnan(w->ready_s)) w->ready_s = 0;
  about->accounted = 1;
  for (size_t i = 0; i < n && s->file.stalled; i++)
    w->ready_s += s->file.stalled[i] / (double)n;
  w->wall_s = s->report.region_total + w->ready_s;
}

/* Which threads or ranks take longer, as in a summary of the run; empty: none, or the processes are
 * neither. */
static tsanom_diagnosis_team similarity_put_team(const similarity *s, char *text,
                                                 size_t size) {
  tsanom_diagnosis_summary about = {.path = NULL};
  char *region = NULL;
  int is_named = s->threads || s->ranks;
  *text = 0;
  if (s->report.classes < 2) return about.team;
  add_run(s, &about);
  if (!similarity_summarize(s, &about, &region) && about.team.members && is_named) {
    set_work(s, &about);
    (void)tsanom_diagnosis_summary_text(&about, TSANOM_DIAGNOSIS_SUMMARY_TEAM, text, size,
                                        NULL);
  }
  free(region);
  return about.team;
}

/* Largest total time over elapsed time; NaN: not known. */
static double similarity_communication(const similarity *s) {
  const tsanom_spmd_report *r = &s->report;
  return r->has_elapsed ? r->max_total / s->file.data->elapsed : NAN;
}

/* ---- text */

/* The processes of a class; three and more numbers in a row as FIRST-LAST. */
static void print_kind(const similarity *s, int32_t class) {
  char number[32];
  size_t n = s->file.data->processes;
  for (size_t i = 0; i < n; i++) {
    if (s->class_of[i] != class) continue;
    size_t last = i;
    while (!s->file.process && last + 1 < n && s->class_of[last + 1] == class) last++;
    printf(" %s", process_name(s, i, number));
    if (last - i < 2) continue;
    printf("-%s", process_name(s, last, number));
    i = last;
  }
}

static void print_metrics(const similarity *s, const uint64_t *set) {
  const char *between = "";
  for (size_t m = 0; m < s->file.data->metrics; m++) {
    if (!has_metric(set, m)) continue;
    printf("%s%s", between, s->file.metric[m]);
    between = " and ";
  }
}

/* The region of hierarchy 1 in which most time is lost by one process, or its number. */
static size_t most_uneven(const similarity *s) {
  size_t at = 0;
  double most = -1;
  for (size_t k = 0; k < s->file.data->regions; k++) {
    const tsanom_spmd_region *region = &s->region[k];
    if (region->level != 1 || region->max - region->mean <= most) continue;
    most = region->max - region->mean;
    at = k;
  }
  return at;
}

/* Why there is one kind, or why several are none in a summary of the run. */
static void print_one_kind(const similarity *s) {
  size_t k = most_uneven(s);
  const tsanom_spmd_region *region = &s->region[k];
  char number[32];
  const char *members = similarity_member(s, 2);
  if (s->report.classes == 1 && s->report.verdict_saving <= s->tolerance) {
    printf("All %s behave the same", members);
    return;
  }
  if (s->report.search == TSANOM_SPMD_UNKNOWN) {
    printf(
        "One measurement per region cannot tell whether the %s differ (--fixed counts "
        "each difference of %.0f %%)",
        members, 100 * s->tolerance);
  } else {
    printf("The %s do not differ by more than the noise of this run", members);
  }
  printf("; %s %s takes longest in %s, %.3g times the mean", similarity_member(s, 1),
         process_name(s, region->max_process, number), s->file.region[k],
         region->max / region->mean);
}

static void print_verdict(const similarity *s) {
  const tsanom_spmd_report *r = &s->report;
  char text[TEAM_TEXT];
  tsanom_diagnosis_team team = similarity_put_team(s, text, sizeof text);
  bool is_noise = s->cut == TSANOM_SPMD_CUT_NOISE && (s->threads || s->ranks);
  if (*text) {
    printf("%c%s.\n\n", toupper((unsigned char)*text), text + 1);
    return;
  }
  if (r->classes == 1 || (is_noise && !team.members)) {
    print_one_kind(s);
  } else if (r->verdict_region < 0) {
    printf("There are %zu kinds of %s, which no region explains", r->classes,
           similarity_member(s, 2));
  } else {
    printf("The %s of kind %d (", similarity_member(s, 2), r->verdict_class);
    print_kind(s, r->verdict_class);
    printf(" ) are slowest in %s", s->file.region[r->verdict_region]);
    if (r->reducts > 1) {
      printf(", where the kinds differ in several metrics alike");
    } else if (r->reducts) {
      printf(", where the kinds differ in ");
      print_metrics(s, s->reduct);
    }
  }
  if (team.other_work) {
    printf(", perhaps of different work.\n\n");
    return;
  }
  printf("; ideal balance would run in %.0f %% less time.\n\n", 100 * r->verdict_saving);
}

static void print_role(const similarity *s, size_t k, const char *name) {
  printf("%s (%d-CCR%s)", name, s->region[k].level, s->region[k].cccr ? " & CCCR" : "");
}

/* The path from the outermost CCR to a CCCR. */
static void print_path(const similarity *s, size_t core) {
  size_t outer = s->file.data->regions; /* printed last */
  for (int32_t level = 1; level <= s->region[core].level; level++) {
    size_t k = core;
    while (s->region[k].level > level) k = (size_t)s->file.data->parent[k];
    if (!s->region[k].ccr) continue;
    int is_within = s->file.data->parent[k] == (int32_t)outer;
    print_role(s, k, is_within ? similarity_label(s, k) : s->file.region[k]);
    if (k != core) printf(" ---> ");
    outer = k;
  }
  printf("\n");
}

static void print_search(const similarity *s) {
  static const char *const remark[] = {
      [TSANOM_SPMD_COMBINED] = "No region alone separates the kinds; these do together.",
      [TSANOM_SPMD_DISJOINT] =
          "No region alone separates the kinds; several combinations of these do.",
      [TSANOM_SPMD_NOT_FOUND] = "No combination of regions tried separates the kinds."};
  const tsanom_spmd_report *r = &s->report;
  printf("CCCR:");
  const char *between = " ";
  for (size_t k = 0; k < s->file.data->regions; k++) {
    if (!s->region[k].cccr) continue;
    printf("%s%s", between, s->file.region[k]);
    between = ", ";
  }
  printf("%s\nCCR tree:\n", r->cccrs ? "" : " none");
  for (size_t k = 0; k < s->file.data->regions; k++) {
    if (s->region[k].cccr) print_path(s, k);
  }
  if (r->search == TSANOM_SPMD_COMBINED || r->search == TSANOM_SPMD_DISJOINT ||
      r->search == TSANOM_SPMD_NOT_FOUND) {
    printf("%s\n", remark[r->search]);
  }
  if (r->limited) printf("The limit of combinations was reached.\n");
}

/* Whether the metric has a value in some region of some process. */
static int is_measured(const similarity *s, size_t metric) {
  const tsanom_spmd_data *d = s->file.data;
  size_t ld = d->metric_ld ? d->metric_ld : d->regions;
  for (size_t i = 0; i < d->processes; i++) {
    const double *row = d->metric + (metric * d->processes + i) * ld;
    for (size_t k = 0; k < d->regions; k++) {
      if (!isnan(row[k])) return 1;
    }
  }
  return 0;
}

/* Why there is no root cause. */
static void print_no_cause(const similarity *s) {
  const char *between = "root cause: unknown, as the kinds do not differ in ";
  const char *end = "root cause: unknown, as no metrics were measured\n";
  for (size_t m = 0; m < s->file.data->metrics; m++) {
    if (!is_measured(s, m)) continue;
    printf("%s%s", between, s->file.metric[m]);
    between = " or ";
    end = "\n";
  }
  printf("%s", end);
}

static void print_causes(const similarity *s) {
  const tsanom_spmd_report *r = &s->report;
  if (!r->reducts) print_no_cause(s);
  for (size_t c = 0; c < r->reducts && c < r->reduct_capacity; c++) {
    printf(c ? "        or: " : "root cause: ");
    print_metrics(s, s->reduct + c * s->words);
    printf("\n");
  }
  if (r->reducts > 1) {
    printf(
        "%zu metrics or sets of metrics separate the kinds equally well; %zu %s cannot "
        "tell which is the cause.\n",
        r->reducts, s->file.data->processes,
        similarity_member(s, s->file.data->processes));
  }
  if (r->dependency > 0 && r->dependency < 1) {
    printf("The metrics determine the kind of %.0f %% of the %s only.\n",
           100 * r->dependency, similarity_member(s, 2));
  }
}

/* Regions are indented by their depth. */
static int indent_of(const similarity *s, size_t k) {
  return 2 * (s->region[k].level - 1);
}

static int longest_name(const similarity *s) {
  size_t longest = 24;
  for (size_t k = 0; k < s->file.data->regions; k++) {
    size_t length = (size_t)indent_of(s, k) + strlen(similarity_label(s, k));
    if (length > longest) longest = length;
  }
  return longest < 100 ? (int)longest : 100;
}

/* The efficiencies of ranks, as the POP project names them: the second is what waiting
 * and transfer leave. */
static void print_efficiencies(const similarity *s) {
  enum { SHOWN = 64 };
  const tsanom_spmd_report *r = &s->report;
  size_t n = s->file.data->processes;
  printf("\nrank   useful s  stalled s   in MPI s  kind\n");
  for (size_t i = 0; i < n && i < SHOWN; i++) {
    printf("%4s %10.4g %10.4g %10.4g  %4d\n", s->file.process[i], similarity_useful(s, i),
           s->file.stalled ? s->file.stalled[i] : NAN, s->file.waiting[i],
           s->class_of[i]);
  }
  if (n > SHOWN) printf("... and %zu more\n", n - SHOWN);
  printf(
      "\nload balance              %.3f\ncommunication efficiency  %.3f\n"
      "parallel efficiency       %.3f\n",
      r->load_balance, similarity_communication(s), r->efficiency);
}

static void print_balance(const similarity *s) {
  const tsanom_spmd_report *r = &s->report;
  char number[32];
  int width = longest_name(s);
  printf("\n%-*s %5s %11s %11s %11s %9s  %s\n", width, "region", "level", "min", "mean",
         "max", "imbalance", "slowest");
  for (size_t row = 0; row < s->file.data->regions; row++) {
    size_t k = s->order[row];
    const tsanom_spmd_region *g = &s->region[k];
    int indent = indent_of(s, k);
    printf("%*s%-*s %5d %11.4g %11.4g %11.4g %7.1f %%  %s\n", indent, "",
           width > indent ? width - indent : 0, similarity_label(s, k), g->level, g->min,
           g->mean, g->max, 100 * g->imbalance, process_name(s, g->max_process, number));
  }
  if (s->ranks) {
    print_efficiencies(s);
    return;
  }
  printf("\nload balance   %.3f\nserialization  %.3f\n", r->load_balance,
         r->serialization);
  if (r->has_elapsed) {
    printf("scheduling     %.3f\n", r->scheduling);
  } else {
    printf("scheduling     not known: the file has no elapsed time\n");
  }
  printf("efficiency     %.3f\n", r->efficiency);
}

static const char *way_of(const tsanom_spmd_decision *d) {
  switch (d->step) {
    case 1:
      return "all outermost regions";
    case 2:
      return "without";
    case 3:
      return d->level == 1 ? "without together:" : "together for the parent:";
    default:
      return d->level == 1 ? "alone of these:" : "in place of its parent:";
  }
}

static void print_decision(const similarity *s, const tsanom_spmd_decision *d) {
  printf("%4d  %-24s", d->step, way_of(d));
  for (size_t m = 0; m < d->count; m++) {
    printf("%s %s", m ? "," : "", s->file.region[s->member[d->first + m]]);
  }
  printf("%s %zu kinds, %s%s\n", d->count ? ":" : "", d->classes,
         d->step == 1 ? "the classification"
         : d->changed ? "changed"
                      : "as before",
         d->critical ? ": critical" : "");
}

static void print_dropped(const similarity *s) {
  size_t count = s->file.dropped_count;
  if (!count) return;
  printf(
      "\nleft out, as tasks are their work, or as they were called too often to be "
      "recorded:\n");
  for (size_t i = 0; i < count; i++) printf("  %s\n", s->file.dropped[i]);
}

/* The report in the manner of the paper's figure 4, and the verdict on top;
 * `explain` adds every re-clustering. */
static void similarity_print(const similarity *s, int explain) {
  const tsanom_spmd_report *r = &s->report;
  print_verdict(s);
  printf("Performance similarity\nthere are %zu kinds of %s\n", r->classes,
         similarity_member(s, 2));
  for (size_t c = 0; c < r->classes; c++) {
    printf("kind %zu:", c);
    print_kind(s, (int32_t)c);
    printf("\n");
  }
  printf("dissimilarity severity: %.6f\n", r->severity);
  if (r->classes > 1) {
    print_search(s);
    print_causes(s);
  }
  print_balance(s);
  print_dropped(s);
  if (!explain) return;
  printf("\nstep  re-clustering\n");
  for (size_t d = 0; d < r->decisions && d < r->decision_capacity; d++) {
    print_decision(s, &s->decision[d]);
  }
}

/* ---- JSON */

static json_t *metric_names(const similarity *s, const uint64_t *set) {
  json_t *names = json_array();
  for (size_t m = 0; m < s->file.data->metrics; m++) {
    if (has_metric(set, m)) json_array_append_new(names, json_name(s->file.metric[m]));
  }
  return names;
}

static json_t *clusters(const similarity *s) {
  json_t *all = json_array();
  for (size_t c = 0; c < s->report.classes; c++) json_array_append_new(all, json_array());
  for (size_t i = 0; i < s->file.data->processes; i++) {
    json_array_append_new(
        json_array_get(all, (size_t)s->class_of[i]),
        s->file.process ? json_name(s->file.process[i]) : json_integer((json_int_t)i));
  }
  return all;
}

static json_t *regions(const similarity *s) {
  json_t *all = json_array();
  for (size_t k = 0; k < s->file.data->regions; k++) {
    const tsanom_spmd_region *r = &s->region[k];
    int32_t parent = s->file.data->parent[k];
    json_array_append_new(
        all,
        json_pack("{so so si sb sb so so so so sI sI}", "region",
                  json_name(s->file.region[k]), "parent",
                  parent < 0 ? json_null() : json_name(s->file.region[parent]), "level",
                  r->level, "ccr", r->ccr, "cccr", r->cccr, "min", json_finite(r->min),
                  "mean", json_finite(r->mean), "max", json_finite(r->max), "imbalance",
                  json_finite(r->imbalance), "min_process", (json_int_t)r->min_process,
                  "max_process", (json_int_t)r->max_process));
  }
  return all;
}

static json_t *decisions(const similarity *s) {
  json_t *all = json_array();
  for (size_t d = 0; d < s->report.decisions && d < s->report.decision_capacity; d++) {
    const tsanom_spmd_decision *made = &s->decision[d];
    json_t *tried = json_array();
    for (size_t m = 0; m < made->count; m++) {
      json_array_append_new(tried, json_name(s->file.region[s->member[made->first + m]]));
    }
    json_array_append_new(
        all, json_pack("{si si so sI sb sb}", "step", made->step, "level", made->level,
                       "regions", tried, "clusters", (json_int_t)made->classes, "changed",
                       made->changed, "critical", made->critical));
  }
  return all;
}

/* Rows of processes by metrics, null where not measured; the decision is the last. */
static json_t *decision_table(const similarity *s) {
  const tsanom_spmd_data *d = s->file.data;
  json_t *attributes = json_array(), *rows = json_array();
  for (size_t m = 0; m < d->metrics; m++) {
    json_array_append_new(attributes, json_name(s->file.metric[m]));
  }
  for (size_t i = 0; i < d->processes; i++) {
    json_t *line = json_array();
    for (size_t m = 0; m < d->metrics; m++) {
      int32_t code = s->code[i * d->metrics + m];
      json_array_append_new(line, code < 0 ? json_null() : json_integer(code));
    }
    json_array_append_new(line, json_integer(s->class_of[i]));
    json_array_append_new(rows, line);
  }
  return json_pack("{so so so so}", "attributes", attributes, "rows", rows, "core",
                   metric_names(s, s->core), "dependency",
                   json_finite(s->report.dependency));
}

/* Useful time and time in MPI of each process, where they are known. */
static json_t *ranks(const similarity *s) {
  json_t *all = json_array();
  for (size_t i = 0; i < s->file.data->processes && s->file.waiting; i++) {
    json_array_append_new(
        all, json_pack("{so so so so sI}", "process", json_name(s->file.process[i]),
                       "useful_s", json_finite(similarity_useful(s, i)), "mpi_s",
                       json_finite(s->file.waiting[i]), "stalled_s",
                       json_finite(s->file.stalled ? s->file.stalled[i] : NAN), "kind",
                       (json_int_t)s->class_of[i]));
  }
  return all;
}

static json_t *balance(const similarity *s) {
  const tsanom_spmd_report *r = &s->report;
  return json_pack(
      "{so so so so so so so so so}", "mean_total", json_finite(r->mean_total),
      "max_total", json_finite(r->max_total), "region_total",
      json_finite(r->region_total), "load_balance", json_finite(r->load_balance),
      "serialization", json_finite(r->serialization), "scheduling",
      r->has_elapsed ? json_finite(r->scheduling) : json_null(), "communication",
      r->has_elapsed ? json_finite(similarity_communication(s)) : json_null(),
      "efficiency", json_finite(r->efficiency), "saving", json_finite(r->verdict_saving));
}

static json_t *verdict(const similarity *s) {
  char text[TEAM_TEXT];
  const tsanom_spmd_report *r = &s->report;
  const tsanom_runs_spmd_data *f = &s->file;
  bool other_work = similarity_put_team(s, text, sizeof text).other_work;
  return json_pack(
      "{so so so so so sb}", "region",
      r->verdict_region < 0 ? json_null() : json_name(f->region[r->verdict_region]),
      "metric",
      r->verdict_metric < 0 ? json_null() : json_name(f->metric[r->verdict_metric]),
      "cluster", r->verdict_class < 0 ? json_null() : json_integer(r->verdict_class),
      "saving", json_finite(r->verdict_saving), "sentence",
      *text ? json_name(text) : json_null(), "other_work", other_work);
}

static json_t *dropped(const similarity *s) {
  json_t *names = json_array();
  for (size_t i = 0; i < s->file.dropped_count; i++) {
    json_array_append_new(names, json_name(s->file.dropped[i]));
  }
  return names;
}

static json_t *similarity_to_json(const similarity *s) {
  static const char *const search[] = {"similar",   "descent",    "combined", "disjoint",
                                       "not_found", "unfinished", "unknown"};
  const tsanom_spmd_report *r = &s->report;
  json_t *ccr = json_array(), *cccr = json_array(), *reducts = json_array();
  json_t *causes = r->reducts ? metric_names(s, s->reduct) : json_array();
  for (size_t k = 0; k < s->file.data->regions; k++) {
    const char *name = s->file.region[k];
    if (s->region[k].ccr) {
      json_array_append_new(ccr, json_pack("{so si}", "region", json_name(name), "level",
                                           s->region[k].level));
    }
    if (s->region[k].cccr) json_array_append_new(cccr, json_name(name));
  }
  for (size_t c = 0; c < r->reducts && c < r->reduct_capacity; c++) {
    json_array_append_new(reducts, metric_names(s, s->reduct + c * s->words));
  }
  return json_pack("{so so ss so so so so so so so so so so sb so}", "clusters",
                   clusters(s), "severity", json_finite(r->severity), "search",
                   search[r->search], "ccr", ccr, "cccr", cccr, "decision_table",
                   decision_table(s), "root_causes", causes, "reducts", reducts,
                   "verdict", verdict(s), "regions", regions(s), "ranks", ranks(s),
                   "balance", balance(s), "decisions", decisions(s), "limited",
                   r->limited, "dropped_functions", dropped(s));
}

/* ---- the command */

typedef struct {
  shared_options shared;
  tsanom_spmd_options spmd;
  int fixed, explain, check;
} request;

static const option_row options[] = {
    {"tolerance", 't', "T",
     "Processes are similar up to T of the largest norm, or more in noise (default: "
     "0.05)",
     NUMBER(spmd.tolerance, 0, 1, LOW_OPEN)},
    {"metric-tolerance", 0, "T",
     "Values of a metric are similar up to T of the largest (default: 0.05)",
     NUMBER(spmd.metric_tolerance, 0, 1, LOW_OPEN)},
    {"automatic", 0, NULL, "Separate kinds only at gaps that chance does not explain",
     FLAG(spmd.cut), .value = TSANOM_SPMD_CUT_AUTOMATIC},
    {"noise", 0, NULL,
     "Separate kinds only by more than what varies independently in most regions "
     "(default)",
     FLAG(spmd.cut), .value = TSANOM_SPMD_CUT_NOISE},
    {"fixed", 0, NULL, "Separate kinds by the tolerance alone, as in the paper",
     FLAG(fixed)},
    {"deep", 0, NULL,
     "Continue the search inside of regions where that of the paper ends",
     FLAG(spmd.deep)},
    {"program", 0, NULL, "The one region without a parent is the program",
     FLAG(spmd.tree), .value = TSANOM_SPMD_PROGRAM},
    {"mean-norm", 0, NULL, "Severity: divide by the mean norm, not by the largest",
     FLAG(spmd.norm), .value = TSANOM_SPMD_MEAN_NORM},
    {"combinations", 0, "N", "Try at most N combinations of regions (default: 65536)",
     COUNT(spmd.combination_limit, 0, 0)},
    {"explain", 0, NULL, "Print every re-clustering", FLAG(explain)},
    SALVAGE_ROW,
    CHECK_ROW(check, "there is more than one kind"),
};

static int print(const request *r, const similarity *s) {
  if (r->shared.json) {
    int ended = print_json(similarity_to_json(s));
    if (ended != EXIT_DONE) return ended;
  } else {
    similarity_print(s, r->explain);
  }
  return r->check && s->report.classes > 1 ? EXIT_FOUND : EXIT_DONE;
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "FILE.json|RUN...",
    .help =
        "Which processes of an SPMD program differ, in which region of the code, and "
        "why.\v"
        "FILE.json contains the region tree, the CPU time of each region in each "
        "process, and optional metrics; \"-\" is standard input. RUN is a directory "
        "to which region recorders wrote, or a run by tsanom record, whose "
        "threads are then the processes, or a run of an MPI program, whose ranks are. "
        "Several RUNs by tsanom record are the processes of one program. The pages on "
        "SPMD similarity and on MPI of the manual describe them.",
    .expected = "one file or runs are",
    .least = 1,
};

int command_similar(int argc, char **argv) {
  request r = {0};
  tsanom_spmd_options_init(&r.spmd, sizeof r.spmd);
  r.spmd.cut = TSANOM_SPMD_CUT_NOISE;
  parse_command(&command_line, argc, argv, &r);
  if (r.fixed) r.spmd.cut = TSANOM_SPMD_CUT_TOLERANCE;
  similarity s = {0};
  failure why;
  int failed = similarity_make(r.shared.argument, r.shared.arguments, &r.spmd,
                               &r.shared.exec, r.shared.salvage, &s, &why) ||
               (r.shared.plot && similarity_draw(&s, r.shared.plot, &why));
  int ended = failed ? report_failure(&why) : print(&r, &s);
  similarity_free(&s);
  return ended;
}
