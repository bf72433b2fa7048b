/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts of random pieces: aligned, apart from each other, and inside the block at
 * whatever address it begins. The size that is asked for must suffice, and a block that
 * is one byte smaller must be rejected. Allocators that fail and sizes that overflow are
 * reported. */
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/exec.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

enum { PIECES = 20 };

typedef struct {
  size_t count[PIECES];
  unsigned char *piece[PIECES];
} pieces;

static void layout(tsn_arena *arena, void *context) {
  pieces *p = context;
  for (int i = 0; i < PIECES; i++) p->piece[i] = tsn_arena_take(arena, p->count[i], 3);
}

/* Pieces are aligned and disjoint; all their bytes can be written. */
static tsanom_status fill_pieces(void *context) {
  pieces *p = context;
  unsigned char *end = p->piece[0];
  for (int i = 0; i < PIECES; i++) {
    cr_assert((uintptr_t)p->piece[i] % TSN_ARENA_ALIGN == 0);
    cr_assert(p->piece[i] >= end);
    end = p->piece[i] + 3 * p->count[i];
    memset(p->piece[i], i, 3 * p->count[i]);
  }
  return TSANOM_OK;
}

static tsanom_status never(void *context) {
  (void)context;
  cr_assert(false);
  return TSANOM_OK;
}

Test(arena, pieces_are_aligned_disjoint_and_fit_at_any_alignment) {
  uint64_t seed = 1;
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  for (int trial = 0; trial < 1000; trial++) {
    pieces p;
    for (int i = 0; i < PIECES; i++) p.count[i] = random_between(&seed, 0, 100);
    size_t bytes = 0;
    CHECK_STATUS(tsn_layout_bytes(layout, &p, &bytes), TSANOM_OK);

    size_t shift = random_between(&seed, 0, 63);
    unsigned char *block = malloc(bytes + shift);
    exec.work = block + shift;
    exec.work_bytes = bytes - 1;
    CHECK_STATUS(tsn_workspace_run(&exec, layout, NULL, never, &p), TSANOM_E_WORKSPACE);
    exec.work_bytes = bytes;
    CHECK_STATUS(tsn_workspace_run(&exec, layout, NULL, fill_pieces, &p), TSANOM_OK);
    cr_assert(p.piece[0] >= block + shift);
    cr_assert(p.piece[PIECES - 1] + 3 * p.count[PIECES - 1] <= block + shift + bytes);
    free(block);
  }
  cr_assert(allocator.calls == 0);
}

static tsanom_status no_samples(void *context) {
  (void)context;
  return TSANOM_E_NULL;
}

/* The size is known before arrays are looked at, and nothing else is done. */
Test(arena, a_call_without_memory_asks_for_the_size) {
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  pieces p = {.count = {1, 100, 3}};
  size_t bytes = 0, asked = 0;
  CHECK_STATUS(tsn_layout_bytes(layout, &p, &bytes), TSANOM_OK);
  tsanom_exec ask = tsn_exec_asking(&exec, &asked);
  CHECK_STATUS(tsn_asked(tsn_workspace_run(&ask, layout, no_samples, never, &p)),
               TSANOM_OK);
  cr_assert(asked == bytes);
  tsn_object owner = {0};
  asked = 0;
  CHECK_STATUS(tsn_object_create(&ask, layout, no_samples, &p, &owner),
               TSANOM_E_WORKSPACE);
  cr_assert(asked == bytes && !owner.block);
  ask.work_bytes = 2 * bytes;
  CHECK_STATUS(tsn_workspace_run(&ask, layout, no_samples, never, &p), TSANOM_E_NULL);
  CHECK_STATUS(tsn_object_create(&ask, layout, no_samples, &p, &owner), TSANOM_E_OPTION);
  exec.work_needed = &asked;
  CHECK_STATUS(tsn_object_create(&exec, layout, NULL, &p, &owner), TSANOM_OK);
  cr_assert(allocator.calls == 1 && allocator.live == 1);
  tsn_object_release(&owner);

  /* An object inside another one takes its piece, and no more than it. */
  unsigned char memory[4096];
  tsn_piece piece = {memory, bytes - 1};
  tsanom_exec inside = tsn_exec_in_piece(&exec, &piece);
  CHECK_STATUS(tsn_object_create(&inside, layout, NULL, &p, &owner), TSANOM_E_MEMORY);
  piece.bytes = bytes;
  CHECK_STATUS(tsn_object_create(&inside, layout, NULL, &p, &owner), TSANOM_OK);
  cr_assert(owner.block == memory && allocator.calls == 1);
  tsn_object_release(&owner);
}

/* A layout may write to a buffer that it has, so it must have none beyond the block. */
Test(arena, no_piece_lies_beyond_a_block_that_is_too_small) {
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  _Alignas(TSN_ARENA_ALIGN) unsigned char block[2 * TSN_ARENA_ALIGN];
  pieces p = {.count = {1, 1, 1}};
  for (size_t bytes = 1; bytes <= sizeof block; bytes++) {
    for (size_t shift = 0; shift + bytes <= sizeof block; shift++) {
      exec.work = block + shift;
      exec.work_bytes = bytes;
      CHECK_STATUS(tsn_workspace_run(&exec, layout, NULL, never, &p), TSANOM_E_WORKSPACE);
      unsigned char *end = block + shift + bytes;
      for (int i = 0; i < 3; i++) {
        cr_assert(!p.piece[i] ||
                  (p.piece[i] >= block + shift && p.piece[i] + TSN_ARENA_ALIGN <= end));
      }
    }
  }
}

Test(arena, bytes_suffice_at_any_alignment_and_are_no_more) {
  tsn_arena arena = tsn_arena_measure();
  tsn_arena_take(&arena, 1, 1);
  size_t bytes = 0;
  CHECK_STATUS(tsn_arena_bytes(&arena, &bytes), TSANOM_OK);
  cr_assert(bytes == 2 * TSN_ARENA_ALIGN - 1);
}

Test(arena, sizes_that_overflow_are_remembered) {
  const size_t counts[][2] = {
      {SIZE_MAX, 1}, {SIZE_MAX / 2, 3}, {SIZE_MAX - 62, 1}, {PTRDIFF_MAX, 1}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    tsn_arena arena = tsn_arena_measure();
    tsn_arena_take(&arena, counts[i][0], counts[i][1]);
    tsn_arena_take(&arena, 1, 1);
    size_t bytes = 5;
    CHECK_STATUS(tsn_arena_bytes(&arena, &bytes), TSANOM_E_OVERFLOW);
    cr_assert(bytes == 5);
  }
  tsn_arena arena = tsn_arena_measure();
  for (int i = 0; i < 3; i++) tsn_arena_take(&arena, SIZE_MAX / 2 - 100, 1);
  size_t bytes;
  CHECK_STATUS(tsn_arena_bytes(&arena, &bytes), TSANOM_E_OVERFLOW);
}

typedef struct {
  size_t count;
  double *values;
  double sum;
} frame;

static void layout_frame(tsn_arena *arena, void *context) {
  frame *f = context;
  f->values = tsn_arena_take(arena, f->count, sizeof *f->values);
}

static tsanom_status sum_up(void *context) {
  frame *f = context;
  for (size_t i = 0; i < f->count; i++) f->values[i] = (double)i;
  for (size_t i = 0; i < f->count; i++) f->sum += f->values[i];
  return TSANOM_PARTIAL;
}

Test(arena, a_body_runs_in_one_block_or_in_the_workspace) {
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  frame f = {.count = 10};
  CHECK_STATUS(tsn_workspace_run(&exec, layout_frame, NULL, sum_up, &f), TSANOM_PARTIAL);
  cr_assert(f.sum == 45 && allocator.calls == 1 && allocator.live == 0);
  allocator.fail_at = 2;
  CHECK_STATUS(tsn_workspace_run(&exec, layout_frame, NULL, never, &f), TSANOM_E_MEMORY);

  unsigned char work[10 * sizeof(double) + 2 * TSN_ARENA_ALIGN];
  exec.work = work + 1;
  exec.work_bytes = sizeof work - 1;
  f.sum = 0;
  CHECK_STATUS(tsn_workspace_run(&exec, layout_frame, NULL, sum_up, &f), TSANOM_PARTIAL);
  cr_assert(f.sum == 45 && allocator.calls == 2);
  size_t bytes;
  CHECK_STATUS(tsn_layout_bytes(layout_frame, &f, &bytes), TSANOM_OK);
  cr_assert(bytes <= sizeof work - 1);
  f.count = SIZE_MAX;
  CHECK_STATUS(tsn_workspace_run(&exec, layout_frame, NULL, sum_up, &f),
               TSANOM_E_OVERFLOW);
}

typedef struct {
  tsn_object owner;
  double *values;
} object;

typedef struct {
  object *made;
  double *values;
} parts;

static void layout_object(tsn_arena *arena, void *context) {
  parts *p = context;
  p->made = tsn_arena_take(arena, 1, sizeof *p->made);
  p->values = tsn_arena_take(arena, 4, sizeof *p->values);
}

Test(arena, an_object_is_placed_in_memory_or_in_a_block) {
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  parts p;
  tsn_object owner;
  size_t bytes;
  CHECK_STATUS(tsn_layout_bytes(layout_object, &p, &bytes), TSANOM_OK);
  unsigned char *memory = malloc(bytes + 3);
  CHECK_STATUS(
      tsn_object_place(&exec, layout_object, NULL, &p, memory + 3, bytes - 1, &owner),
      TSANOM_E_WORKSPACE);
  CHECK_STATUS(
      tsn_object_place(&exec, layout_object, NULL, &p, memory + 3, bytes, &owner),
      TSANOM_OK);
  cr_assert((unsigned char *)(p.values + 4) <= memory + 3 + bytes);
  *p.made = (object){owner, p.values};
  tsn_object_release(&p.made->owner);
  cr_assert(allocator.calls == 0);
  free(memory);

  CHECK_STATUS(tsn_object_place(&exec, layout_object, NULL, &p, NULL, 0, &owner),
               TSANOM_OK);
  *p.made = (object){owner, p.values};
  cr_assert(allocator.live == 1);
  tsn_object_release(&p.made->owner);
  cr_assert(allocator.live == 0);
  allocator.fail_at = allocator.calls + 1;
  CHECK_STATUS(tsn_object_place(&exec, layout_object, NULL, &p, NULL, 0, &owner),
               TSANOM_E_MEMORY);
}
