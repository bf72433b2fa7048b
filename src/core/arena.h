/* SPDX-License-Identifier: BSD-3-Clause */
/* Workspaces: one description of a room's buffers serves both the size query
 * and the carving, so that the two cannot disagree.
 *
 *   static void layout(tsn_arena *arena, size_t n, buffers *b) {
 *     b->row = tsn_arena_take(arena, n, sizeof *b->row);
 *   }
 *
 * Against a measuring arena the pointers are NULL and only the size counts. */
#ifndef TSN_CORE_ARENA_H
#define TSN_CORE_ARENA_H

#include <stdbool.h>
#include <tsanom/base.h>

/* Every piece starts on a cache line, which also is the widest vector. */
enum { TSN_ARENA_ALIGN = 64 };

typedef struct {
  unsigned char *base; /* NULL while measuring */
  size_t used;         /* bytes taken so far, a multiple of TSN_ARENA_ALIGN */
  bool overflow;       /* a size did not fit a size_t: sticky */
} tsn_arena;

/* An arena that only measures. */
tsn_arena tsn_arena_measure(void);

/* Take `count` elements of `size` bytes; NULL while measuring or on overflow. */
void *tsn_arena_take(tsn_arena *arena, size_t count, size_t size);

/* Bytes to ask of a caller for what the arena measured, including the slack
 * that lets his block have any alignment. */
tsanom_status tsn_arena_bytes(const tsn_arena *measured, size_t *bytes);

/* A workspace in use: the caller's, or one block borrowed from his allocator. */
typedef struct {
  tsn_arena arena;
  const tsanom_exec *exec;
  void *borrowed; /* NULL: the caller's */
} tsn_workspace;

/* Make ready to carve what `measured` measured out of `work`; work == NULL
 * borrows from exec, a checked exec that outlives the workspace. */
tsanom_status tsn_workspace_open(tsn_workspace *workspace, const tsn_arena *measured,
                                 const tsanom_exec *exec, void *work, size_t work_bytes);

/* Give back what was borrowed. */
void tsn_workspace_close(tsn_workspace *workspace);

#endif
