/* SPDX-License-Identifier: BSD-3-Clause */
/* A stack is a mapping. Those that are not in use are kept in a table, as the memory of
 * threads is (own.c). The C library's swapcontext() would do the same, but programs with an
 * address sanitizer print a warning when it is called. */
#include "section.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "record/guard.h"

enum { BYTES = 256 << 10, KEPT = 16 };

static _Atomic(void *) kept[KEPT];

static void *take(void) {
  void *found = NULL;
  for (int i = 0; i < KEPT && !found; i++) found = atomic_exchange(&kept[i], NULL);
  if (found) return found;
  found = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  return found == MAP_FAILED ? NULL : found;
}

static void keep(void *stack) {
  for (int i = 0; i < KEPT; i++) {
    void *vacant = NULL;
    if (atomic_compare_exchange_strong(&kept[i], &vacant, stack)) return;
  }
  (void)munmap(stack, BYTES);
}

/* Call work(argument) with the stack pointer at `top`. A register that functions preserve
 * has the program's meanwhile. */
#if defined(__x86_64__)
#define HAS_STACKS 1
static void run_at(char *top, void (*work)(void *argument), void *argument) {
  __asm__ volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %[top], %%rsp\n\t"
      "call *%[work]\n\t"
      "movq %%rbx, %%rsp"
      : "+D"(argument), [top] "+r"(top), [work] "+r"(work)
      :
      : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1",
        "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
}
#elif defined(__aarch64__)
#define HAS_STACKS 1
static void run_at(char *top, void (*work)(void *argument), void *argument) {
  register void *first __asm__("x0") = argument;
  __asm__ volatile(
      "mov x19, sp\n\t"
      "mov sp, %[top]\n\t"
      "blr %[work]\n\t"
      "mov sp, x19"
      : "+r"(first), [top] "+r"(top), [work] "+r"(work)
      :
      : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
        "x14", "x15", "x16", "x17", "x18", "x19", "x30", "v0", "v1", "v2", "v3", "v4",
        "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",
        "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",
        "v28", "v29", "v30", "v31", "cc", "memory");
}
#else
#define HAS_STACKS 0
static void run_at(char *top, void (*work)(void *argument), void *argument) {
  (void)top;
  work(argument);
}
#endif

void icp_section(void (*work)(void *argument), void *argument) {
  tsn_guard guard;
  tsn_guard_enter(&guard);
  char *stack = HAS_STACKS ? take() : NULL;
  if (stack) {
    run_at(stack + BYTES, work, argument);
    keep(stack);
  } else {
    work(argument);
  }
  tsn_guard_leave(&guard);
}
