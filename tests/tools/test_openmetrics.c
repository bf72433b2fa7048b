/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules by which the tests read metrics: each is found broken. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "openmetrics_text.h"

static const char good[] =
    "# HELP a_seconds A \\\\ text.\n"
    "# TYPE a_seconds gauge\n"
    "a_seconds{run=\"a \\\"b\\\\ \\n{,}\",thread=\"1\"} 1.5\n"
    "a_seconds{run=\"a\",thread=\"2\"} -1e-05\n"
    "# HELP b None.\n"
    "# TYPE b gauge\n"
    "b +Inf\n"
    "# TYPE c gauge\n"
    "# EOF\n";

Test(openmetrics_text, a_text_that_keeps_the_rules_has_no_fault) {
  const char *fault = openmetrics_fault(good);
  cr_assert(!fault, "%s", fault);
  cr_assert(!openmetrics_fault("# EOF\n"));
}

Test(openmetrics_text, each_broken_rule_is_found) {
  static const struct {
    const char *old, *new;
  } cases[] = {
      {"# EOF\n", ""},
      {"# EOF\n", "# EOF"},
      {"# EOF\n", "# EOF\nb 1\n"},
      {"# EOF\n", "\n# EOF\n"},
      {"# TYPE b gauge\n", ""},
      {"# TYPE b gauge\n", "# TYPE b gauge\n# TYPE b gauge\n"},
      {"# TYPE b gauge\n", "# TYPE b gage\n"},
      {"# TYPE b gauge\n", "# a comment\n"},
      {"# HELP b None.\n", "# HELP b None.\n# HELP b None.\n"},
      {"# HELP b None.\n", "# HELP b None\\t.\n"},
      {"# TYPE c gauge\n", "# TYPE a_seconds gauge\n"},
      {"# TYPE c gauge\n", "# HELP b None.\n"},
      {"# TYPE c gauge\n", "a_seconds 2\n"},
      {"# TYPE c gauge\n", "# TYPE c_total gauge\nc_total 1\n"},
      {"# TYPE c gauge\n", "# TYPE c-d gauge\n"},
      {"# TYPE c gauge\n", "# TYPE 1c gauge\n"},
      {"a \\\"b", "a \"b"},
      {"\\\\ \\n{", "\\ \\n{"},
      {"\\n{", "\n{"},
      {"thread=\"2\"", "run=\"2\""},
      {"thread=\"2\"", "thread=2"},
      {"thread=\"2\"", "thread=\"2\","},
      {"thread=\"2\"", "th-read=\"2\""},
      {"run=\"a\",thread=\"2\"", "run=\"a \\\"b\\\\ \\n{,}\",thread=\"1\""},
      {"1.5\n", "1,5\n"},
      {"1.5\n", "nan\n"},
      {"1.5\n", "0x1p3\n"},
      {"1.5\n", "\n"},
      {"1.5\n", "1.5 \n"},
      {"1.5\n", "1.5\r\n"},
      {"} 1.5\n", "}  1.5\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[2 * sizeof good];
    const char *place = strstr(good, cases[i].old);
    cr_assert(place);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(place - good), good, cases[i].new,
                   place + strlen(cases[i].old));
    cr_assert(openmetrics_fault(text), "case %zu is taken:\n%s", i, text);
  }
}
