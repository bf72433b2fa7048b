/* SPDX-License-Identifier: BSD-3-Clause */
/* The similarity analysis as text: one sentence with the verdict, then the report of the
 * paper's figure 4 (kinds, severity, critical regions, root causes), then the balance of
 * each region. With --explain each re-clustering of the search follows. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "similarity.h"

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

/* Why there is one kind. */
static void print_one_kind(const similarity *s) {
  size_t k = most_uneven(s);
  const tsanom_spmd_region *region = &s->region[k];
  char number[32];
  const char *members = similarity_member(s, 2);
  if (s->report.verdict_saving <= s->tolerance) {
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
  int other_work = similarity_put_team(s, text, sizeof text);
  if (*text && (s->threads || s->ranks)) {
    printf("%c%s.\n\n", toupper((unsigned char)*text), text + 1);
    return;
  }
  if (r->classes == 1) {
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
  if (other_work) {
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

void similarity_print(const similarity *s, int explain) {
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
