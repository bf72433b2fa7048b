/* SPDX-License-Identifier: BSD-3-Clause */
/* The core of units of equal rows: the attributes that are in every reduct, which are
 * those that form an element alone. */
#ifndef TSN_ROUGHSET_CORE_H
#define TSN_ROUGHSET_CORE_H

#include "roughset/units.h"

/* Add to `core` every attribute without which two units of different labels are
 * indiscernible. The units are classes of equal rows; `hash` holds a word for each.
 * Returns TSANOM_OK, or TSANOM_STOPPED. */
tsanom_status tsn_rs_core_of_classes(const tsn_rs_input *input,
                                     tsn_rs_unit_buffers *buffers, uint64_t *hash,
                                     uint64_t *core);

#endif
