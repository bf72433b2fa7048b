/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that appear whole or not at all: written beside their final place under
 * a temporary name, then renamed. A signal that ends the command removes the
 * temporary file too. */
#ifndef TSANOM_COMMAND_OUTPUT_H
#define TSANOM_COMMAND_OUTPUT_H

#include "failure.h"

typedef struct {
  const char *path; /* as the user named it */
  char *final;      /* the file to replace, links followed */
  char *temporary;  /* NULL: `final` is a device or pipe, written directly */
  int descriptor;
} output_file;

/* Start a file. On failure nothing is left behind. */
int output_open(output_file *o, const char *path, failure *why);

/* Finish it: everything was written to o->descriptor. */
int output_commit(output_file *o, failure *why);

/* Leave no trace of it. */
void output_discard(output_file *o);

/* Write a text of `bytes` as the file at `path`. */
int output_write(const char *path, const char *text, size_t bytes, failure *why);

#endif
