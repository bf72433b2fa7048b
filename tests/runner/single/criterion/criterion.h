/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of kernels use of Criterion's interface, for machines that are emulated: Criterion
 * starts the file of its program again for each test, which an emulator of one program cannot do. Here
 * a call of the program runs one test. */
#ifndef TSANOM_TEST_SINGLE_H
#define TSANOM_TEST_SINGLE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct criterion_test {
  const char *category, *name;
  void (*run)(void);  /* NULL: what the tests of a category have in common */
  void (*init)(void); /* called before it */
  double timeout;     /* not used: the time limit of all tests ends them */
  struct criterion_test *next;
} criterion_test;

extern const criterion_test *criterion_current_test;

void single_add(criterion_test *test);
_Noreturn void single_fail(const char *file, int line, const char *condition,
                           const char *format, ...);
_Noreturn void single_skip(const char *format, ...);

#define SINGLE_ADD(suite, title, ...)                                           \
  static criterion_test test_##suite##_##title##_case = {                       \
      .category = #suite, .name = #title, __VA_ARGS__};                         \
  __attribute__((constructor)) static void test_##suite##_##title##_add(void) { \
    single_add(&test_##suite##_##title##_case);                                 \
  }
#define Test(suite, title, ...)                                        \
  static void test_##suite##_##title(void);                            \
  SINGLE_ADD(suite, title, .run = test_##suite##_##title, __VA_ARGS__) \
  static void test_##suite##_##title(void)
#define TestSuite(suite, ...) SINGLE_ADD(suite, all, __VA_ARGS__) struct criterion_test

/* A message may follow the condition; the empty one is there if none does. */
#define SINGLE_ASSERT(condition, ...) \
  ((condition) ? (void)0 : single_fail(__FILE__, __LINE__, #condition, __VA_ARGS__))
#define SINGLE_COMPARE(a, relation, b, ...) SINGLE_ASSERT((a)relation(b), __VA_ARGS__)
#define SINGLE_NEAR(a, b, most, ...) \
  SINGLE_ASSERT(fabs((double)((a) - (b))) <= (most), __VA_ARGS__)
#define SINGLE_BYTES(a, b, size, ...) SINGLE_ASSERT(memcmp(a, b, size) == 0, __VA_ARGS__)
#define SINGLE_TEXT(a, relation, b, ...) \
  SINGLE_ASSERT(strcmp(a, b) relation 0, __VA_ARGS__)

#define cr_assert(...) SINGLE_ASSERT(__VA_ARGS__, "")
#define cr_expect(...) SINGLE_ASSERT(__VA_ARGS__, "")
#define cr_assert_eq(a, ...) SINGLE_COMPARE(a, ==, __VA_ARGS__, "")
#define cr_assert_lt(a, ...) SINGLE_COMPARE(a, <, __VA_ARGS__, "")
#define cr_assert_gt(a, ...) SINGLE_COMPARE(a, >, __VA_ARGS__, "")
#define cr_assert_leq(a, ...) SINGLE_COMPARE(a, <=, __VA_ARGS__, "")
#define cr_assert_geq(a, ...) SINGLE_COMPARE(a, >=, __VA_ARGS__, "")
#define cr_assert_null(...) SINGLE_COMPARE(NULL, ==, __VA_ARGS__, "")
#define cr_assert_not_null(...) SINGLE_COMPARE(NULL, !=, __VA_ARGS__, "")
#define cr_assert_float_eq(a, ...) SINGLE_NEAR(a, __VA_ARGS__, "")
#define cr_assert_arr_eq(a, ...) SINGLE_BYTES(a, __VA_ARGS__, "")
#define cr_assert_str_eq(a, ...) SINGLE_TEXT(a, ==, __VA_ARGS__, "")
#define cr_assert_str_neq(a, ...) SINGLE_TEXT(a, !=, __VA_ARGS__, "")
#define cr_skip_test(...) single_skip(__VA_ARGS__)

#endif
