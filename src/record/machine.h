/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_RECORD_MACHINE_H
#define TSN_RECORD_MACHINE_H

#include <stddef.h>

/* Name the machine, such as "2 x AMD EPYC"; terminated by zero, cut if it does not fit.
 * The count is 0 if it is not known. */
void tsn_machine_name(char *name, size_t size);

#endif
