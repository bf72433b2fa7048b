/* SPDX-License-Identifier: BSD-3-Clause */
#include "argument.h"

#include "failure.h"
#include "number.h"

size_t count_argument(struct argp_state *state, const char *option, const char *text) {
  size_t value = 0;
  const char *wrong = count_parse(text, &value);
  char shown[QUOTED_BYTES];
  if (wrong) argp_error(state, "%s: %s %s", option, quoted(shown, text), wrong);
  return value;
}
