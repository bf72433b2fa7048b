/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_ARGUMENT_H
#define TSANOM_COMMAND_ARGUMENT_H

#include <argp.h>
#include <stddef.h>

/* Parses a count that is the argument of an option, or ends with EXIT_USAGE. */
size_t count_argument(struct argp_state *state, const char *option, const char *text);

#endif
