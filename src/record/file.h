/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that the recorder keeps open inside a program that it does not control.
 *
 * The program may close every descriptor and open files of its own under the same
 * numbers; another process may delete the run's directory and create it again, or
 * replace a file by a link. So every use compares device and inode of the descriptor
 * with those of the file that was created. A descriptor that was lost is opened again
 * by name only if the name leads to the very same file. */
#ifndef TSN_RECORD_FILE_H
#define TSN_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { TSN_FILE_RESERVE = 4 };

typedef struct {
  int descriptor; /* -1: none */
  dev_t device;
  ino_t inode;
} tsn_file;

/* Keep a new descriptor, at a high number, out of the program's way. Returns 0 or an
 * errno, and then closes the descriptor. */
int tsn_file_keep(tsn_file *file, int descriptor);
/* Another descriptor of the same file. */
void tsn_file_duplicate(const tsn_file *file, tsn_file *copy);
/* Whether the descriptor still is that of the file. */
bool tsn_file_is_ours(const tsn_file *file);
/* Whether this descriptor leads to the file. */
bool tsn_file_is(const tsn_file *file, int descriptor);
/* Close the descriptor, if it still is ours. */
void tsn_file_close(tsn_file *file);

/* Whether a file may have that length: beyond the limit, writing ends the program. */
bool tsn_file_fits(off_t end);
/* Write all bytes at the offset. Returns 0 or an errno. */
int tsn_file_write(const tsn_file *file, const void *bytes, size_t count, off_t offset);
/* Give [begin, end), which is empty so far, disk space and pages in the page cache, so
 * that a store to their mapping cannot fail. Returns 0 or an errno. */
int tsn_file_extend(const tsn_file *file, off_t begin, off_t end);

#endif
