/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and reading files without waiting for what never comes. Two kinds of paths
 * differ:
 *
 *   inside a run directory   tsn_source: regular files only, read at offsets
 *   given by the caller      tsn_stream: pipes too; "-" is standard input; read once */
#ifndef TSN_RUNS_SOURCE_H
#define TSN_RUNS_SOURCE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/fault.h"

/* A file of a run, being read; faults name it. */
typedef struct {
  /* Whose fault is written; NULL: failures are silent. */
  const tsanom_exec *exec;
  char path[PATH_MAX];
  int file;
  uint64_t size; /* bytes */
  /* Bytes with disk space behind them, at most this many are data. A sparse file can
   * state any size, so memory is taken by the smaller of both. */
  uint64_t stored;
} tsn_source;

/* Name the file DIRECTORY/FORMAT...; a path that is too long fails when it is opened. */
__attribute__((format(printf, 3, 4))) tsn_source tsn_source_named(const tsanom_exec *exec,
                                                                  const char *directory,
                                                                  const char *format,
                                                                  ...);

/* Open a file, which must be a regular file. After a failure nothing is open. */
tsanom_status tsn_source_open(tsn_source *source);
void tsn_source_close(tsn_source *source);
/* The same as a stream, which fclose() closes. */
tsanom_status tsn_source_open_stream(tsn_source *source, FILE **stream);

/* Write a fault about the file; returns the status. */
__attribute__((format(printf, 4, 5))) tsanom_status tsn_source_fault(
    const tsn_source *source, tsanom_status status, uint64_t offset, const char *format,
    ...);

tsanom_status tsn_source_no_memory(const tsn_source *source);

/* A file or a directory is rejected as a whole. */
#define tsn_path_fault(exec, status, path, ...) \
  tsn_reject_file(exec, status, &(tsn_file_place){.file = (path)}, __VA_ARGS__)
#define tsn_path_no_memory(exec, path) \
  tsn_path_fault(exec, TSANOM_E_MEMORY, path, "out of memory")

/* Salvage: whether a file that fails with this status is used up to its damage. `damage`
 * keeps the first such failure; NULL: damage is not passed over. */
bool tsn_salvages(const tsanom_exec *exec, tsanom_status status, tsanom_fault *damage);

/* Read exactly `count` bytes; a file that ends before them is cut short
 * (TSANOM_E_FORMAT, whereas a read that the system fails is TSANOM_E_IO). */
tsanom_status tsn_source_read(const tsn_source *source, uint64_t offset, void *bytes,
                              size_t count);

/* Offset of the first byte from `offset` on that is not in a hole; `size` if none is. */
uint64_t tsn_source_next_data(const tsn_source *source, uint64_t offset);

/* Bytes before the first hole: what is behind it was not written by a recorder. */
uint64_t tsn_source_data_end(const tsn_source *source);

/* A file that the caller named, as a stream; "-" is standard input. Pipes are read, a
 * FIFO that nobody writes to is empty. */
tsanom_status tsn_stream_open(const char *path, const tsanom_exec *exec, FILE **stream);
void tsn_stream_close(FILE *stream);

/* What messages call a path. */
const char *tsn_path_title(const char *path);

bool tsn_is_directory(const char *path);

#endif
