/* SPDX-License-Identifier: BSD-3-Clause */
/* A FIFO or a device can stand where a file is expected, put there by accident or by an
 * attacker: open(2) without O_NONBLOCK would wait for it forever, and reading /dev/zero
 * would not end. So files are opened with O_NONBLOCK and then examined by their
 * descriptor, which no later rename can change; inside a run directory only regular
 * files are accepted. */
#include "runs/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A path that does not fit becomes empty, which open() rejects: truncated, it could name
 * another file. */
tsn_source tsn_source_named(const tsanom_exec *exec, const char *directory,
                            const char *format, ...) {
  tsn_source source = {.exec = exec, .file = -1};
  int length = snprintf(source.path, sizeof source.path, "%s/", directory);
  if (length < 0 || (size_t)length >= sizeof source.path) length = 0;
  va_list values;
  va_start(values, format);
  int name = vsnprintf(source.path + length, sizeof source.path - (size_t)length, format,
                       values);
  va_end(values);
  if (length == 0 || name < 0 || (size_t)name >= sizeof source.path - (size_t)length) {
    source.path[0] = '\0'; /* no file has this name */
  }
  return source;
}

tsanom_status tsn_source_fault(const tsn_source *source, tsanom_status status,
                               uint64_t offset, const char *format, ...) {
  char text[sizeof((tsanom_fault *)NULL)->text];
  va_list values;
  va_start(values, format);
  (void)vsnprintf(text, sizeof text, format, values);
  va_end(values);
  tsn_file_place place = {.file = source->path, .offset = offset};
  return tsn_reject_file(source->exec, status, &place, "%s", text);
}

tsanom_status tsn_source_no_memory(const tsn_source *source) {
  return tsn_source_fault(source, TSANOM_E_MEMORY, 0, "out of memory");
}

bool tsn_salvages(const tsanom_exec *exec, tsanom_status status, tsanom_fault *damage) {
  if (!damage || (status != TSANOM_E_FORMAT && status != TSANOM_E_IO)) return false;
  if (damage->status == TSANOM_OK) {
    if (exec->fault) *damage = *exec->fault;
    damage->status = status;
  }
  return true;
}

tsanom_status tsn_source_open(tsn_source *source) {
  struct stat facts;
  source->file = open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (source->file < 0) {
    return tsn_source_fault(source, TSANOM_E_IO, 0, "cannot open the file: %s",
                            tsn_error_text(errno));
  }
  if (fstat(source->file, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    tsn_source_close(source);
    return tsn_source_fault(source, TSANOM_E_IO, 0, "not a regular file");
  }
  enum { BLOCK = 512 }; /* the unit of st_blocks */
  source->size = (uint64_t)facts.st_size;
  source->stored = (uint64_t)facts.st_blocks * BLOCK;
  return TSANOM_OK;
}

void tsn_source_close(tsn_source *source) {
  (void)close(source->file);
  source->file = -1;
}

tsanom_status tsn_source_open_stream(tsn_source *source, FILE **stream) {
  tsanom_status status = tsn_source_open(source);
  if (status < 0) return status;
  *stream = fdopen(source->file, "r");
  if (*stream) return TSANOM_OK;
  tsn_source_close(source);
  return tsn_source_no_memory(source);
}

tsanom_status tsn_source_read(const tsn_source *source, uint64_t offset, void *bytes,
                              size_t count) {
  unsigned char *next = bytes;
  while (count) {
    ssize_t got = pread(source->file, next, count, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return tsn_source_fault(source, TSANOM_E_IO, offset, "cannot read the file: %s",
                              tsn_error_text(errno));
    }
    if (got == 0) {
      return tsn_source_fault(source, TSANOM_E_FORMAT, offset,
                              "the file ends here, but %zu more bytes must follow",
                              count);
    }
    next += got;
    offset += (uint64_t)got;
    count -= (size_t)got;
  }
  return TSANOM_OK;
}

/* File systems without holes, or without SEEK_DATA, report data everywhere. ENXIO: none
 * is left. */
uint64_t tsn_source_next_data(const tsn_source *source, uint64_t offset) {
  off_t data = lseek(source->file, (off_t)offset, SEEK_DATA);
  if (data < 0) return errno == ENXIO ? source->size : offset;
  return (uint64_t)data;
}

uint64_t tsn_source_data_end(const tsn_source *source) {
  off_t hole = lseek(source->file, 0, SEEK_HOLE);
  return hole < 0 || (uint64_t)hole > source->size ? source->size : (uint64_t)hole;
}

const char *tsn_path_title(const char *path) {
  return strcmp(path, "-") == 0 ? "standard input" : path;
}

bool tsn_is_directory(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* O_NONBLOCK is for the open only: reads of a pipe must wait for its writer. */
tsanom_status tsn_stream_open(const char *path, const tsanom_exec *exec, FILE **stream) {
  if (strcmp(path, "-") == 0) {
    *stream = stdin;
    return TSANOM_OK;
  }
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  int flags = file < 0 ? -1 : fcntl(file, F_GETFL);
  if (flags < 0 || fcntl(file, F_SETFL, flags & ~O_NONBLOCK) != 0 ||
      !(*stream = fdopen(file, "r"))) {
    tsanom_status status =
        tsn_path_fault(exec, TSANOM_E_IO, path, "cannot open: %s", tsn_error_text(errno));
    if (file >= 0) (void)close(file);
    return status;
  }
  return TSANOM_OK;
}

void tsn_stream_close(FILE *stream) {
  if (stream != stdin) (void)fclose(stream);
}
