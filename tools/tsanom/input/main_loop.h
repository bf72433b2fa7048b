/* SPDX-License-Identifier: BSD-3-Clause */
/* The main loop of a recorded run. */
#ifndef TSANOM_COMMAND_MAIN_LOOP_H
#define TSANOM_COMMAND_MAIN_LOOP_H

#include <jansson.h>
#include <tsanom/dpd.h>

#include "region_stream.h"

/* A place of the loop: how often it occurs in an iteration, and in how many. */
typedef struct {
  size_t place, least, most, iterations;
} loop_part;

/* Zero it before use. */
typedef struct {
  tsanom_dpd_main about;
  tsanom_dpd_iteration *iteration;
  size_t iterations;  /* 0: there is no main loop */
  size_t least, most; /* events of an iteration */
  loop_part *part;    /* in the order of their first events */
  size_t parts;
  size_t events, anchor; /* as the call that found it had them */
} main_loop;

/* Set the level whose main loop counts (tsanom_speedup_choose_level()). *loop is the one of
 * that level, or empty. */
int main_loop_choose_level(region_stream *s, const tsanom_exec *exec, main_loop *loop,
                           failure *why);

/* Find it among the first `used` events, unless that is what *loop is; `anchor` TSANOM_NONE:
 * choose. */
int main_loop_find(region_stream *s, size_t used, size_t anchor, const tsanom_exec *exec,
                   main_loop *loop, failure *why);

/* Print one line about the loop, and one about its parts. */
void main_loop_print(const main_loop *loop, region_stream *s);

/* The same as JSON; null: there is no main loop. */
json_t *main_loop_json(const main_loop *loop, region_stream *s);

/* Where a main loop may begin, if none is clear. */
json_t *main_loop_candidates(const main_loop *loop, region_stream *s);

void main_loop_free(main_loop *loop);

#endif
