/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_LINKAGE_H
#define TSANOM_COMMAND_LINKAGE_H

#include <limits.h>

enum { LINKAGE_UNKNOWN, LINKAGE_STATIC, LINKAGE_32_BIT, LINKAGE_DYNAMIC };

/* How a program is linked. A file that is not ELF of 64 bits, a script for instance, is
 * LINKAGE_UNKNOWN. */
typedef struct {
  int linkage;
  char loader[PATH_MAX]; /* PT_INTERP of a dynamic program */
  char *needed; /* the libraries that it names itself (DT_NEEDED), one per line, or NULL;
                   the caller frees it */
  char unknown_mpi[256]; /* functions of MPI that it imports and the recorder does not
                            know, separated by commas; empty: none */
  int may_load;          /* it uses a function that loads a library */
  int may_start;         /* or one that starts a program or process */
} program_link;

void read_link(const char *path, program_link *found);

#endif
