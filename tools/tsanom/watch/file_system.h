/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_FILE_SYSTEM_H
#define TSANOM_COMMAND_FILE_SYSTEM_H

/* The name of a type of statfs(2), if what one machine writes into a mapping may be seen
 * late by another one; NULL: another type. */
const char *network_file_system(unsigned long type);

#endif
