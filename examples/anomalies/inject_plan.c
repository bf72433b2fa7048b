/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan in the environment. */
#include <stdlib.h>

#include "inject.h"

enum { NUMBERS = 8 };

struct inject_plan inject_plan;

bool inject_read_plan(void) {
  const char *text = getenv(INJECT_PLAN);
  double numbers[NUMBERS];
  for (int i = 0; text && i < NUMBERS; ++i) {
    char *end = NULL;
    numbers[i] = strtod(text, &end);
    text = end == text ? NULL : end;
  }
  if (!text || !(numbers[0] >= 0 && numbers[0] < INJECT_KINDS)) {
    return false;
  }
  inject_plan = (struct inject_plan){(int)numbers[0],     (int)numbers[1],
                                     numbers[2],          numbers[3],
                                     numbers[4],          (size_t)numbers[5],
                                     (size_t)numbers[6],  (clockid_t)numbers[7],
                                     getenv(INJECT_WHEN), getenv(INJECT_FOLDER)};
  (void)unsetenv(INJECT_PLAN); /* for the processes that the program starts */
  return true;
}
