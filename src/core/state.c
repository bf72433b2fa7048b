/* SPDX-License-Identifier: BSD-3-Clause */
/* What types use; save.c has the functions that use types. Apart from it, so that a program
 * that only links a detector needs nothing of it. */
#include "core/state.h"

#include <string.h>

void tsn_state_field(tsn_state *state, void *field, size_t bytes) {
  state->used += bytes;
  if (state->to) {
    memcpy(state->to, field, bytes);
    state->to += bytes;
  } else if (state->from && !state->damaged && bytes <= state->left) {
    memcpy(field, state->from, bytes);
    state->from += bytes;
    state->left -= bytes;
  } else if (state->from) {
    memset(field, 0, bytes);
    state->damaged = true;
  }
}

void tsn_state_exchange(tsn_state *state, void *object) {
  ((const tsn_object *)object)->saved->exchange(state, object);
}

bool tsn_state_resume(void *object) {
  return ((const tsn_object *)object)->saved->resume(object);
}
