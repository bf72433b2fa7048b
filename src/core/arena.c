/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes are added with checks for overflow, and an overflow is remembered rather than
 * reported: a layout is a list of pieces without a test after each, and is asked once
 * at its end. A piece beyond the capacity is NULL and counts all the same, so that `used`
 * is the size needed even in a block that is too small. */
#include "core/arena.h"

#include "core/exec.h"
#include "core/fault.h"

void *tsn_arena_take(tsn_arena *arena, size_t count, size_t size) {
  size_t bytes, rounded, used;
  if (__builtin_mul_overflow(count, size, &bytes) ||
      __builtin_add_overflow(bytes, TSN_ARENA_ALIGN - 1, &rounded) ||
      __builtin_add_overflow(arena->used, rounded - rounded % TSN_ARENA_ALIGN, &used)) {
    arena->overflow = true;
    return NULL;
  }
  unsigned char *piece =
      arena->base && used <= arena->capacity ? arena->base + arena->used : NULL;
  arena->used = used;
  return piece;
}

/* No object is larger than PTRDIFF_MAX bytes. At least one line, so that a workspace of 0
 * bytes is always too small: that is how a caller asks. */
tsanom_status tsn_arena_bytes(const tsn_arena *measured, size_t *bytes) {
  size_t sum;
  if (measured->overflow ||
      __builtin_add_overflow(measured->used, TSN_ARENA_ALIGN - 1, &sum) ||
      sum > PTRDIFF_MAX) {
    return TSANOM_E_OVERFLOW;
  }
  *bytes = measured->used ? sum : TSN_ARENA_ALIGN;
  return TSANOM_OK;
}

tsanom_status tsn_layout_bytes(tsn_layout *layout, void *context, size_t *bytes) {
  tsn_arena arena = tsn_arena_measure();
  layout(&arena, context);
  return tsn_arena_bytes(&arena, bytes);
}

tsn_arena tsn_arena_in(void *block, size_t bytes) {
  size_t skip = -(uintptr_t)block % TSN_ARENA_ALIGN;
  if (skip > bytes) skip = bytes;
  return (tsn_arena){.base = (unsigned char *)block + skip, .capacity = bytes - skip};
}

tsanom_status tsn_object_create(const tsanom_exec *exec, tsn_layout *layout,
                                tsn_body *check, void *context, tsn_object *owner) {
  size_t needed;
  tsanom_status status = tsn_layout_bytes(layout, context, &needed);
  if (status < 0) return tsn_reject(exec, status, "exec.alloc");
  if (exec->work_needed) *exec->work_needed = needed;
  if (exec->work) {
    status = exec->work_bytes ? TSANOM_E_OPTION : TSANOM_E_WORKSPACE;
    return tsn_reject_text(exec, status, "exec.work", TSANOM_NONE,
                           "an object is not made in a workspace; exec.alloc is asked "
                           "for %zu bytes",
                           needed);
  }
  if (check && (status = check(context)) < 0) return status;
  void *block = exec->alloc(exec->alloc_user, needed);
  if (!block) return tsn_reject_memory(exec, needed);
  *owner = (tsn_object){block, needed, exec->dealloc, exec->alloc_user, NULL};
  tsn_arena arena = tsn_arena_in(block, needed);
  layout(&arena, context);
  return TSANOM_OK;
}

tsanom_status tsn_object_place(const tsanom_exec *exec, tsn_layout *layout,
                               tsn_body *check, void *context, void *memory, size_t bytes,
                               tsn_object *owner) {
  if (!memory) return tsn_object_create(exec, layout, check, context, owner);
  size_t needed;
  tsanom_status status = tsn_layout_bytes(layout, context, &needed);
  if (status < 0) return tsn_reject(exec, status, "bytes");
  if (check && (status = check(context)) < 0) return status;
  if (bytes < needed) {
    return tsn_reject_text(exec, TSANOM_E_WORKSPACE, "bytes", TSANOM_NONE,
                           "%zu bytes; the object needs %zu", bytes, needed);
  }
  *owner = (tsn_object){.block = NULL};
  tsn_arena arena = tsn_arena_in(memory, needed);
  layout(&arena, context);
  return TSANOM_OK;
}

static void *take_piece(void *alloc_user, size_t bytes) {
  const tsn_piece *piece = alloc_user;
  return bytes <= piece->bytes ? piece->memory : NULL;
}

static void keep_piece(void *alloc_user, void *block) {
  (void)alloc_user;
  (void)block;
}

tsanom_exec tsn_exec_in_piece(const tsanom_exec *exec, tsn_piece *piece) {
  tsanom_exec own = tsn_exec_for_object(exec);
  own.alloc = take_piece;
  own.dealloc = keep_piece;
  own.alloc_user = piece;
  return own;
}

void tsn_object_release(const tsn_object *owner) {
  if (owner->block) owner->dealloc(owner->alloc_user, owner->block);
}
