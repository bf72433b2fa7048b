/* SPDX-License-Identifier: BSD-3-Clause */
/* An allocator triple for tsanom_exec that counts, fails on demand, and ends the program
 * when bytes behind a block were written. */
#ifndef TSANOM_TEST_ALLOCATOR_H
#define TSANOM_TEST_ALLOCATOR_H

#include <stddef.h>
#include <tsanom/base.h>

typedef struct {
  size_t calls;   /* allocations asked for */
  size_t live;    /* blocks given and not taken back */
  size_t fail_at; /* the allocation, counted from 1, that gets NULL; 0: none */
} test_allocator;

/* The defaults, with every allocation going through `allocator`. */
tsanom_exec test_exec(test_allocator *allocator);

#endif
