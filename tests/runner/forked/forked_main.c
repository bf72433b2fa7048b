/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs each test in a child process, one after the other. */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SKIPPED = 77 }; /* cmake/TsanomTest.cmake */

const criterion_test *criterion_current_test;

static criterion_test *all;

void forked_add(criterion_test *test) {
  test->next = all;
  all = test;
}

static void write_message(const char *format, va_list values) {
  (void)vfprintf(stderr, format, values);
  (void)fputc('\n', stderr);
}

void forked_fail(const char *file, int line, const char *condition, const char *format,
                 ...) {
  va_list values;
  va_start(values, format);
  (void)fprintf(stderr, "%s:%d: %s: ", file, line, condition);
  write_message(format, values);
  va_end(values);
  _exit(EXIT_FAILURE);
}

void forked_skip(const char *format, ...) {
  va_list values;
  va_start(values, format);
  write_message(format, values);
  va_end(values);
  _exit(SKIPPED);
}

static void run(const criterion_test *test) {
  criterion_current_test = test;
  for (const criterion_test *common = all; common; common = common->next) {
    if (!common->run && common->init && strcmp(common->category, test->category) == 0)
      common->init();
  }
  if (test->init) test->init();
  test->run();
  exit(EXIT_SUCCESS);
}

int main(void) {
  int passed = 0, skipped = 0, failed = 0;
  for (const criterion_test *test = all; test; test = test->next) {
    if (!test->run) continue;
    time_t start = time(NULL);
    pid_t child = fork();
    if (child == 0) run(test);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return EXIT_FAILURE;
    printf("%s::%s: %g s\n", test->category, test->name, difftime(time(NULL), start));
    (void)fflush(stdout);
    if (status == 0) {
      passed++;
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
      skipped++;
    } else {
      failed++;
      (void)fprintf(stderr, "FAILED: %s::%s: status %#x\n", test->category, test->name,
                    (unsigned)status);
    }
  }
  printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  if (failed > 0 || passed + skipped == 0) return EXIT_FAILURE;
  return passed > 0 ? EXIT_SUCCESS : SKIPPED;
}
