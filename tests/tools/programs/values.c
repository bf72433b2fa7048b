/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions that are given none of the function's variables, or some, or many: compilers
 * hand them over in different ways. */
#include <stdio.h>

#define FOUR(f, n) f(n##0) f(n##1) f(n##2) f(n##3)
#define TEN(f, n) FOUR(f, n) f(n##4) f(n##5) f(n##6) f(n##7) f(n##8) f(n##9)
#define SEVENTY(f) TEN(f, 1) TEN(f, 2) TEN(f, 3) TEN(f, 4) TEN(f, 5) TEN(f, 6) TEN(f, 7)
#define DECLARE(n) int v##n = n + k;
#define ADD(n) sum += v##n;
#define TAKE_AWAY(n) v##n -= 1;

/* A region that reads `some` of seventy variables and changes them. */
#define REGION(name, some)                                     \
  static long name(int k) {                                    \
    long sum = 0;                                              \
    SEVENTY(DECLARE)                                           \
    _Pragma("omp parallel reduction(+ : sum)") {               \
      some(ADD) _Pragma("omp barrier") _Pragma("omp single") { \
        some(TAKE_AWAY)                                        \
      }                                                        \
    }                                                          \
    SEVENTY(ADD)                                               \
    return sum;                                                \
  }

#define NONE(f)
#define THREE(f) f(10) f(11) f(12)
#define FOURTEEN(f) TEN(f, 1) FOUR(f, 2)
#define FORTY(f) TEN(f, 1) TEN(f, 2) TEN(f, 3) TEN(f, 4)
REGION(none, NONE)
REGION(three, THREE)
REGION(fourteen, FOURTEEN)
REGION(forty, FORTY)
REGION(seventy, SEVENTY)

int main(void) {
  for (int k = 0; k < 20; k++) {
    printf("%ld %ld %ld %ld %ld\n", none(k), three(k), fourteen(k), forty(k), seventy(k));
  }
  return 0;
}
