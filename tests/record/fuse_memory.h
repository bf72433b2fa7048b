/* SPDX-License-Identifier: BSD-3-Clause */
/* A file system in memory without fallocate(2), by the kernel's FUSE protocol. It rejects
 * the C library's emulation, too. */
#ifndef TSANOM_TEST_FUSE_MEMORY_H
#define TSANOM_TEST_FUSE_MEMORY_H

#include <stdbool.h>

/* Mount one at an empty directory, in the mount namespace of this process. The process
 * that serves it ends with this one. False: the kernel or its configuration does not
 * allow it. */
bool fuse_memory_mount(const char *directory);

#endif
