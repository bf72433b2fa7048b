/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of LLVM's runtime, and the stubs that stand for those of the watched thread.
 *
 * The runtime tells the threads of a team which function to run and the values for it.
 * Whatever else they had to fetch from the opener's processor would cost more than all
 * that recording does. So they learn the rest by which function they are to run: there
 * is a stub for each place and number of iterations since one that they know. */
#ifndef TSN_INTERCEPT_KMP_STUBS_H
#define TSN_INTERCEPT_KMP_STUBS_H

#include <stdint.h>

#include "intercept.h"

/* A region's outlined function, to be cast: it gets where the thread's number in the
 * program and that in the team are kept, and then pointers of its own. */
typedef void microtask(void);

/* A function may be called with more arguments than it takes: where they lie does not
 * depend on how many follow. */
enum { FEW = 4, SOME = 16, MANY = 64 };

#define TYPES_4 void *, void *, void *, void *
#define TYPES_16 TYPES_4, TYPES_4, TYPES_4, TYPES_4
#define VALUES_4(v) (v)[0], (v)[1], (v)[2], (v)[3]
#define VALUES_16(v) VALUES_4(v), VALUES_4((v) + 4), VALUES_4((v) + 8), VALUES_4((v) + 12)
typedef void microtask_of_few(int32_t *, int32_t *, TYPES_4);
typedef void microtask_of_some(int32_t *, int32_t *, TYPES_16);

#define PARAMETERS_16                                                             \
  void *v0, void *v1, void *v2, void *v3, void *v4, void *v5, void *v6, void *v7, \
      void *v8, void *v9, void *v10, void *v11, void *v12, void *v13, void *v14,  \
      void *v15
#define ARGUMENTS_16 v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15

/* Places beyond have none. Every so many iterations a line has to be fetched after
 * all. */
enum { SITES = 128, STEPS = 8 };

/* What a place stands for; another thing once a library was loaded anew. */
typedef struct {
  microtask *function; /* NULL: nothing yet */
  int32_t count;       /* of its values */
} site;

/* The watched thread writes these before it hands a region on. */
static site sites[SITES];
static struct {
  _Alignas(128) uint32_t iteration; /* that of the region, or shortly before it */
  char alone[124];                  /* processors fetch lines in pairs */
} base;

/* The stub that this thread came by. */
static _Thread_local uint32_t stub_run ICP_INITIAL_EXEC;

static void run_site(int32_t *thread, int32_t *number, PARAMETERS_16);

/* Its values are where run_site() expects them, so that this is a store and a jump. */
#define DEFINE_STUB(n)                                                    \
  static void stub_##n(int32_t *thread, int32_t *number, PARAMETERS_16) { \
    stub_run = n;                                                         \
    run_site(thread, number, ARGUMENTS_16);                               \
  }
#define NAME_STUB(n) stub_##n,

#define STUBS_16(s, n)                                                            \
  s(n##0) s(n##1) s(n##2) s(n##3) s(n##4) s(n##5) s(n##6) s(n##7) s(n##8) s(n##9) \
      s(n##a) s(n##b) s(n##c) s(n##d) s(n##e) s(n##f)
#define STUBS_256(s, n) \
  STUBS_16(s, n##0)     \
  STUBS_16(s, n##1)     \
  STUBS_16(s, n##2)     \
  STUBS_16(s, n##3)     \
  STUBS_16(s, n##4)     \
  STUBS_16(s, n##5)     \
  STUBS_16(s, n##6)     \
  STUBS_16(s, n##7)     \
  STUBS_16(s, n##8)     \
  STUBS_16(s, n##9)     \
  STUBS_16(s, n##a)     \
  STUBS_16(s, n##b)     \
  STUBS_16(s, n##c) STUBS_16(s, n##d) STUBS_16(s, n##e) STUBS_16(s, n##f)
#define STUBS(s) STUBS_256(s, 0x0) STUBS_256(s, 0x1) STUBS_256(s, 0x2) STUBS_256(s, 0x3)

#endif
