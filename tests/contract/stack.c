/* SPDX-License-Identifier: BSD-3-Clause */
/* The need of stack that base.h states: every call runs on a stack whose free part was painted
 * before it. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "contract/modules.h"

enum {
  STACK = 1 << 20,
  NEAR = 1024,     /* what painting takes itself */
  MOST = 12 << 10, /* 10,480 with AVX-512 */
  PAINT = 0x5A
};

static unsigned char *stack;
static size_t free_part, calls, failures, largest;

void watch_begin(void) {
  free_part = (size_t)((unsigned char *)__builtin_frame_address(0) - stack) - NEAR;
  memset(stack, PAINT, free_part);
}

void watch_end(const char *call, tsanom_status status) {
  size_t untouched = 0;
  while (untouched < free_part && stack[untouched] == PAINT) untouched++;
  size_t need = free_part - untouched;
  if (need > largest) largest = need;
  calls++;
  if (status < 0 || need > MOST) {
    (void)fprintf(stderr, "%s\n  gave %s and took %zu bytes of stack\n", call,
                  tsanom_status_name(status), need);
    failures++;
  }
}

static void *call_all(void *exec) {
  call_modules(exec);
  return NULL;
}

int main(void) {
  tsanom_exec exec;
  pthread_attr_t attributes;
  tsanom_exec_init(&exec, sizeof exec);
  stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return 1;
  for (exec.threads = 1; exec.threads <= 2; exec.threads++) {
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stack, STACK) != 0 ||
        pthread_create(&thread, &attributes, call_all, &exec) != 0) {
      return 1;
    }
    pthread_join(thread, NULL);
  }
  printf("%zu calls took at most %zu bytes of stack\n", calls, largest);
  return calls == 0 || failures > 0;
}
