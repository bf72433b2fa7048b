/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMetrics 1.0, sections "ABNF" and "Overall Structure", as far as gauges need it. What
 * keeps these rules is also in Prometheus's older text format, which the node exporter
 * reads and which takes "# EOF" for a comment. */
#include "openmetrics_text.h"

#include <criterion/criterion.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME "([a-zA-Z_:][a-zA-Z0-9_:]*)"
#define LABEL "[a-zA-Z_][a-zA-Z0-9_]*=\"([^\"\\]|\\\\[\\\"n])*\""
#define NUMBER "(-?[0-9]+(\\.[0-9]+)?(e[-+]?[0-9]+)?|NaN|[-+]Inf)"

enum { FAMILIES = 64, SERIES = 1024, LABELS = 16, LENGTH = 512, GROUPS = 3 };

static regex_t help_line, type_line, sample_line, label;

/* What was read so far. */
static struct {
  char family[FAMILIES][LENGTH];
  size_t families;
  int helps, types, samples; /* lines of the last family */
  char series[SERIES][LENGTH];
  size_t serieses;
} seen;

static void compile(regex_t *pattern, const char *text) {
  cr_assert(regcomp(pattern, text, REG_EXTENDED) == 0, "%s", text);
}

static bool matches(const regex_t *pattern, const char *line, char *first) {
  regmatch_t group[GROUPS];
  if (regexec(pattern, line, GROUPS, group, 0) != 0) return false;
  (void)snprintf(first, LENGTH, "%.*s", (int)(group[1].rm_eo - group[1].rm_so),
                 line + group[1].rm_so);
  return true;
}

static bool is_last_family(const char *name) {
  return seen.families && strcmp(seen.family[seen.families - 1], name) == 0;
}

/* Families do not interleave: one that was left does not return. */
static const char *enter_family(const char *name) {
  if (is_last_family(name)) return seen.samples ? "metadata behind a sample" : NULL;
  for (size_t i = 0; i < seen.families; i++) {
    if (strcmp(seen.family[i], name) == 0) return "a family is in two places";
  }
  cr_assert(seen.families < FAMILIES);
  (void)snprintf(seen.family[seen.families++], LENGTH, "%s", name);
  seen.helps = seen.types = seen.samples = 0;
  return NULL;
}

/* Each label name occurs once. */
static const char *check_labels(const char *line) {
  regmatch_t group;
  char name[LABELS][LENGTH];
  size_t count = 0;
  for (; regexec(&label, line, 1, &group, 0) == 0; line += group.rm_eo) {
    const char *begin = line + group.rm_so;
    cr_assert(count < LABELS);
    (void)snprintf(name[count], LENGTH, "%.*s", (int)strcspn(begin, "="), begin);
    for (size_t i = 0; i < count; i++) {
      if (strcmp(name[i], name[count]) == 0) return "a label occurs twice";
    }
    count++;
  }
  return NULL;
}

static const char *check_sample(const char *line, const char *name) {
  static const char *const reserved[] = {"_total", "_bucket",  "_count",
                                         "_sum",   "_created", "_info"};
  if (!is_last_family(name)) return "a sample outside of its family";
  if (!seen.types) return "a sample without a type";
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
    const char *end = strstr(name, reserved[i]);
    if (end && strcmp(end, reserved[i]) == 0) return "a gauge with the name of a counter";
  }
  cr_assert(seen.serieses < SERIES);
  char *series = seen.series[seen.serieses++];
  (void)snprintf(series, LENGTH, "%.*s", (int)(strrchr(line, ' ') - line), line);
  for (size_t i = 0; i + 1 < seen.serieses; i++) {
    if (strcmp(seen.series[i], series) == 0) return "a series occurs twice";
  }
  seen.samples++;
  return check_labels(line);
}

static const char *check_line(const char *line) {
  char name[LENGTH];
  const char *fault = NULL;
  if (matches(&help_line, line, name)) {
    fault = enter_family(name);
    return fault || !seen.helps++ ? fault : "a second HELP";
  }
  if (matches(&type_line, line, name)) {
    fault = enter_family(name);
    return fault || !seen.types++ ? fault : "a second TYPE";
  }
  return matches(&sample_line, line, name) ? check_sample(line, name)
                                           : "neither HELP, TYPE nor a sample";
}

const char *openmetrics_fault(const char *text) {
  static char message[2 * LENGTH];
  const char *fault = NULL;
  compile(&help_line, "^# HELP " NAME " ([^\\]|\\\\[\\n\"])*$");
  compile(&type_line, "^# TYPE " NAME " gauge$");
  compile(&sample_line, "^" NAME "(\\{" LABEL "(," LABEL ")*\\})? " NUMBER "$");
  compile(&label, LABEL);
  memset(&seen, 0, sizeof seen);
  while (!fault && strcmp(text, "# EOF\n") != 0) {
    char line[LENGTH];
    const char *end = strchr(text, '\n');
    cr_assert(!end || end - text < LENGTH);
    (void)snprintf(line, LENGTH, "%.*s", end ? (int)(end - text) : LENGTH - 1, text);
    fault = end ? check_line(line) : "the text does not end with the line \"# EOF\"";
    if (fault) (void)snprintf(message, sizeof message, "%s: %s", fault, line);
    if (end) text = end + 1;
  }
  regfree(&help_line);
  regfree(&type_line);
  regfree(&sample_line);
  regfree(&label);
  return fault ? message : NULL;
}
