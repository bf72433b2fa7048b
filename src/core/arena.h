/* SPDX-License-Identifier: BSD-3-Clause */
/* Workspaces and objects in one block. One layout function describes the buffers of a
 * call; run against a measuring arena it yields the size, run against an open arena it
 * yields the addresses, so that the two cannot disagree:
 *
 *   typedef struct { size_t n; double *row; } frame;
 *
 *   static void layout(tsn_arena *arena, void *context) {
 *     frame *f = context;
 *     f->row = tsn_arena_take(arena, f->n, sizeof *f->row);
 *   }
 *
 *   tsanom_status x(...) {
 *     ...                           exec, options, sizes of structs, counts: into f
 *     return tsn_workspace_run(&exec, layout, check, body, &f);
 *   }
 *
 *   block   | skip | piece 0      | piece 1 | piece 2          |
 *                  ^ base, a multiple of 64                    ^ base + used
 *
 * A block has any alignment; 63 bytes more than the pieces always suffice. Nothing is
 * freed piece by piece: the block belongs to the caller, or to the call. */
#ifndef TSN_CORE_ARENA_H
#define TSN_CORE_ARENA_H

#include <stdbool.h>
#include <tsanom/base.h>

/* Every piece starts on a cache line, which is also the size of the widest vector. */
enum { TSN_ARENA_ALIGN = 64 };

typedef struct {
  unsigned char *base; /* NULL: the arena only measures */
  size_t capacity;     /* bytes from base on */
  size_t used;         /* bytes taken so far, a multiple of TSN_ARENA_ALIGN */
  bool overflow;       /* a size did not fit a size_t: sticky */
} tsn_arena;

/* An arena that only measures. */
static inline tsn_arena tsn_arena_measure(void) {
  return (tsn_arena){.base = NULL};
}

/* Take `count` elements of `size` bytes; NULL while measuring, on overflow, and beyond
 * the capacity. */
void *tsn_arena_take(tsn_arena *arena, size_t count, size_t size);

/* An arena from the first address of the block that is a multiple of TSN_ARENA_ALIGN. */
tsn_arena tsn_arena_in(void *block, size_t bytes);

/* Bytes to request for what the arena measured, including the slack that allows a block
 * of any alignment. */
tsanom_status tsn_arena_bytes(const tsn_arena *measured, size_t *bytes);

/* Take all buffers of a call from the arena; `context` holds sizes and receives the
 * addresses. A context may be laid out twice, and in a block that is too small, so a
 * layout may not depend on addresses, and writes to no buffer without checking it. */
typedef void tsn_layout(tsn_arena *arena, void *context);

/* The answer of an object size query. */
tsanom_status tsn_layout_bytes(tsn_layout *layout, void *context, size_t *bytes);

/* Lay out `context` in the workspace of `exec` (a checked exec), or in one block from
 * its allocator; run the body; free the block. The body runs with the default
 * floating-point environment (see core/environment.h). Before, `check` looks at pointers
 * and samples, or is NULL: it comes after the size of the workspace is known and tested,
 * since a caller who asks for the size has neither. */
typedef tsanom_status tsn_body(void *context);
tsanom_status tsn_workspace_run(const tsanom_exec *exec, tsn_layout *layout,
                                tsn_body *check, tsn_body *body, void *context);

/* First member of each object: the allocator that its block came from, and its type. */
typedef struct {
  void *block;  /* NULL: the memory is the caller's */
  size_t bytes; /* of the block */
  void (*dealloc)(void *alloc_user, void *block);
  void *alloc_user;
  const struct tsn_saved *saved; /* core/state.h; NULL: it cannot be saved */
} tsn_object;

/* Lay out an object in one block from the allocator of the checked exec, after `check`, as
 * above. `owner` must be stored as the first member of the object. */
tsanom_status tsn_object_create(const tsanom_exec *exec, tsn_layout *layout,
                                tsn_body *check, void *context, tsn_object *owner);

/* An allocator of one block, for an object inside of another one. */
typedef struct {
  void *memory;
  size_t bytes;
} tsn_piece;

/* `exec` with this allocator, and without poll, workspace and fault. */
tsanom_exec tsn_exec_in_piece(const tsanom_exec *exec, tsn_piece *piece);

/* The same in `memory` of `bytes`, of any alignment, unless that is NULL. */
tsanom_status tsn_object_place(const tsanom_exec *exec, tsn_layout *layout,
                               tsn_body *check, void *context, void *memory, size_t bytes,
                               tsn_object *owner);

/* Free the block, with the object in it; nothing for an object in caller memory. */
void tsn_object_release(const tsn_object *owner);

#endif
