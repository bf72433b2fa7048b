/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that do not return in the order in which they were called: longjmp() out of
 * two of them and out of a recursion, functions that call each other 1000 deep, and a
 * signal handler. The argument is the work of last(). */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;
static volatile int handled;
static volatile double sink;

static int odd(int n);

static int even(int n) {
  return n == 0 || odd(n - 1);
}

static int odd(int n) {
  return n != 0 && even(n - 1);
}

static void handle(int number) {
  handled += number > 0;
}

static void inner(void) {
  longjmp(back, 1);
}

static void outer(void) {
  inner();
  sink = 1;
}

static void down(int levels) {
  if (levels == 0) longjmp(back, 2);
  down(levels - 1);
  sink = 2;
}

static void jump(int how) {
  if (setjmp(back)) return;
  if (how) {
    down(500);
  } else {
    outer();
  }
}

static void last(int terms) {
  for (int i = 1; i <= terms; i++) sink += 1.0 / i;
}

int main(int argc, char **argv) {
  signal(SIGUSR1, handle);
  jump(0);
  jump(1);
  raise(SIGUSR1);
  int is_even = even(1000);
  last(argc > 1 ? atoi(argv[1]) : 1000);
  printf("%d %d\n", is_even, handled);
  return 0;
}
