/* SPDX-License-Identifier: BSD-3-Clause */
/* Saved states of objects, for checkpoints. One function of a module passes all fields of
 * an object to tsn_state_field(), which copies them to the state or from it, so that both
 * directions cannot disagree:
 *
 *     | kind | version | bytes of the fields | fields ... | checksum |
 *
 * The Python package pickles three objects by them: FitStream (polyfit_stream), PeriodDetector
 * (dpd_event, dpd_value), and SpeedupAnalyzer, whose state contains that of its nest.
 *
 * Numbers are those of the machine, and pointers are not saved. The checksum detects
 * damage, not intent: a function that restores an object must also accept no field that
 * would let the object access memory beyond its own. */
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
  bool damaged;              /* restoring: there are fewer bytes than fields */
} tsn_state;

/* Save `bytes` of a field, or restore them; without a place for them, only count them. A
 * field that the state does not contain becomes 0. */
void tsn_state_field(tsn_state *state, void *field, size_t bytes);

/* Pass all fields of an object. */
typedef void tsn_state_exchange(tsn_state *state, void *object);

/* Save an object, a copy of the caller's struct whose pointers are valid, if its state
 * fits `capacity` bytes; else return TSANOM_PARTIAL. `kind` identifies its type. */
tsanom_status tsn_state_save(uint64_t kind, tsn_state_exchange *exchange, void *object,
                             void *memory, size_t capacity, size_t *bytes);

/* Read the caller's exec, check that there is a place `name` for the restored object,
 * check a saved state of this kind, and begin to restore it. */
tsanom_status tsn_state_open(uint64_t kind, const void *memory, size_t bytes,
                             const tsanom_exec *caller, const void *place,
                             const char *name, tsanom_exec *exec, tsn_state *state);

/* Whether all fields were there, and nothing else. */
bool tsn_state_complete(const tsn_state *state);

/* The status of a restoration if an object with the saved options cannot be made: unless
 * memory is missing, the state is damaged. */
tsanom_status tsn_state_not_made(const tsanom_exec *exec, tsanom_status status);

/* The end of a restoration: release the object if its fields are not valid. */
tsanom_status tsn_state_close(bool valid, const tsanom_exec *exec,
                              const tsn_object *owner);

#endif
