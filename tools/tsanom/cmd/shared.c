/* SPDX-License-Identifier: BSD-3-Clause */
/* Printing the JSON result of a subcommand, in one form for all of them. Warnings about
 * the run that was read are part of the result, so that a program that reads it needs no
 * standard error. */
#include <stdio.h>

#include "command.h"
#include "ranks.h"
#include "run_open.h"

int print_json(json_t *value) {
  if (value && ranks_collect(value)) return EXIT_DONE;
  if (run_messages()) (void)json_object_set(value, "messages", run_messages());
  if (run_warnings()) (void)json_object_set(value, "warnings", run_warnings());
  int failed = !value || json_dumpf(value, stdout, JSON_FORMAT);
  putchar('\n');
  json_decref(value);
  if (!failed || ferror(stdout))
    return EXIT_DONE; /* a failed write is reported at exit */
  failure why;
  fail(&why, "the result cannot be written as JSON: out of memory");
  return report_failure(&why);
}
