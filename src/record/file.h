/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that the recorder keeps open inside a program that it does not control.
 *
 * The program may close every descriptor and open files of its own under the same
 * numbers; another process may delete the run's directory and create it again, or
 * replace a file by a link. So every use compares device and inode of the descriptor
 * with those of the file that was created:
 *
 *   descriptor ──fstat──▶ (device, inode) == those kept at creation ?
 *        yes: use it           no: the number is the program's now; open again by name,
 *                              and use that only if it is the very same file
 *
 * The check costs one fstat() a use. Between check and use another thread of the program
 * can still close the number; the window is one system call long, and the kernel has no
 * call that does both.
 *
 * A number below the program's limit is never held between two uses: programs count on
 * all of them, close them in loops, and expect open() to return the lowest one.
 *
 * Uses are rare: when a stream grows, when a header is rewritten, and at the end. Beats
 * use the mapping, which no close() affects. */
#ifndef TSN_RECORD_FILE_H
#define TSN_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <tsanom/base.h>

typedef struct {
  int descriptor; /* -1: none */
  /* With `inode`: identifies the file while it is open or mapped. After that the file
   * system may use the number again. */
  dev_t device;
  ino_t inode;
} tsn_file;

/* Open or create a file below a directory: every file of a run is opened here. `flags`
 * are those of open(2); no link is followed, and the open of a FIFO does not wait.
 * Returns 0 or an errno: ESTALE, it is neither a regular file nor, with O_DIRECTORY, a
 * directory. `file` has no descriptor then. */
int tsn_file_open(tsn_file *file, int directory, const char *name, int flags);
/* Take ownership of a new descriptor. Returns 0 or an errno, and then closes it. */
int tsn_file_keep(tsn_file *file, int descriptor);
/* After use: move the descriptor above the numbers that the program may get. Where there
 * are none, close it, or with `stays` leave it open. Returns whether it is open. */
bool tsn_file_settle(tsn_file *file, bool stays);
/* Whether the descriptor still is that of the file. */
bool tsn_file_is_ours(const tsn_file *file);
/* Whether this descriptor leads to the file. */
bool tsn_file_is(const tsn_file *file, int descriptor);
/* Close the descriptor, if it still is ours; else the number belongs to the program. */
void tsn_file_close(tsn_file *file);

/* Whether a file may have that length: beyond the limit, writing ends the program. */
bool tsn_file_fits(off_t end);
/* Write all bytes at the offset. Returns 0 or an errno; part may be written then. */
int tsn_file_write(const tsn_file *file, const void *bytes, size_t count, off_t offset);
/* Give [begin, end), which is empty so far, disk space and pages in the page cache, so
 * that a store to their mapping cannot fail. Returns 0 or an errno. */
int tsn_file_extend(const tsn_file *file, off_t begin, off_t end);

/* Whether a limit of processes is so low that the program needs them all: then the recorder
 * starts none, not for a moment. Such a limit does not concern root. */
bool tsn_processes_are_few(void);

/* Report to exec's fault (`exec` is a checked one or NULL) that the recorder cannot
 * "create", "open", ... the file or directory; `error` is an errno. The sentence has the
 * end of a long path, so that the reason fits. Returns TSANOM_E_IO. */
tsanom_status tsn_reject_path(const tsanom_exec *exec, const char *verb, const char *path,
                              int error);

#endif
