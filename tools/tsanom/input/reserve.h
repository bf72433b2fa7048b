/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow. */
#ifndef TSANOM_COMMAND_RESERVE_H
#define TSANOM_COMMAND_RESERVE_H

#include <stddef.h>

/* Make space for `needed` items of `size` bytes, doubling the capacity. `array` is the
 * address of the pointer to the items. Returns -1 without memory: nothing changes. */
int reserve(void *array, size_t *capacity, size_t needed, size_t size);

#endif
