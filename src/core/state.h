/* SPDX-License-Identifier: BSD-3-Clause */
/* Saved states of objects, for checkpoints: tsanom_save() and tsanom_restore() serve all
 * types. An object refers to its type, a tsn_saved, in its first member. One function of
 * the type passes all fields of an object to tsn_state_field(), which copies them to the
 * state or from it, so that both directions cannot disagree:
 *
 *     | kind | version | bytes between | options | fields ... | checksum |
 *
 * Numbers are those of the machine, and pointers are not saved. The checksum detects
 * damage, not intent: a type must also accept no field that would let the object access
 * memory beyond its own. */
#ifndef TSN_CORE_STATE_H
#define TSN_CORE_STATE_H

#include <stdbool.h>
#include <tsanom/base.h>

#include "core/arena.h"

typedef struct {
  unsigned char *to;         /* saving: the next field; else NULL */
  const unsigned char *from; /* restoring: the next field; else NULL */
  size_t left;               /* restoring: bytes from there on */
  size_t used;               /* bytes of the fields so far */
  bool damaged;              /* restoring: a field is missing or not possible */
} tsn_state;

/* Save `bytes` of a field, or restore them; without a place for them, only count them. A
 * field that the state does not contain becomes 0. */
void tsn_state_field(tsn_state *state, void *field, size_t bytes);

/* How the objects of a type are saved. */
typedef struct tsn_saved {
  uint64_t kind; /* identifies the type */
  /* Place of the options in the object: a state is restored only into an object that was
   * made with the same ones, whose arrays it fits. */
  size_t options, options_bytes;
  /* Pass all other fields. Saving changes no field. */
  void (*exchange)(tsn_state *state, void *object);
  /* Build what follows from the restored fields. Returns whether they are valid; even if
   * not, another state can be restored. */
  bool (*resume)(void *object);
} tsn_saved;

/* The same for an object inside another one, made with options that follow from its. */
void tsn_state_exchange(tsn_state *state, void *object);
bool tsn_state_resume(void *object);

#endif
