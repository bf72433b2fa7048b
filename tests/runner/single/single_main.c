/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs test number N, from 1 on; without N it prints how many there are. */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SKIPPED = 77 }; /* cmake/TsanomTest.cmake */

const criterion_test *criterion_current_test;

static criterion_test *all;

void single_add(criterion_test *test) {
  test->next = all;
  all = test;
}

static void write_message(const char *format, va_list values) {
  (void)vfprintf(stderr, format, values);
  (void)fputc('\n', stderr);
}

void single_fail(const char *file, int line, const char *condition, const char *format,
                 ...) {
  va_list values;
  va_start(values, format);
  (void)fprintf(stderr, "%s:%d: %s: ", file, line, condition);
  write_message(format, values);
  va_end(values);
  _exit(EXIT_FAILURE);
}

void single_skip(const char *format, ...) {
  va_list values;
  va_start(values, format);
  write_message(format, values);
  va_end(values);
  _exit(SKIPPED);
}

static void run(const criterion_test *test) {
  criterion_current_test = test;
  for (const criterion_test *common = all; common; common = common->next) {
    if (!common->run && common->init && strcmp(common->category, test->category) == 0) {
      common->init();
    }
  }
  if (test->init) test->init();
  if (test->run) test->run();
}

int main(int count, char **word) {
  unsigned long wanted = count > 1 ? strtoul(word[1], NULL, 10) : 0, number = 0;
  for (const criterion_test *test = all; test; test = test->next) {
    if (!test->run || ++number != wanted) continue;
    printf("%s::%s\n", test->category, test->name);
    (void)fflush(stdout);
    run(test);
    return EXIT_SUCCESS;
  }
  if (wanted == 0) printf("%lu\n", number);
  return wanted == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
